# SPDX-License-Identifier: Apache-2.0
# fish: completes the word before the cursor with `ttmem complete` (docs/reference/completion.md).
function __ttmem_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l lines ($words[1] complete -- $words[2..] "$typed" 2>/dev/null)
    switch "$lines[1]"
        case :files
            __ttmem_paths "$typed" __fish_complete_path
        case :folders
            __ttmem_paths "$typed" __fish_complete_directories
        case ':command *'
            set -l skip (string split ' ' $lines[1])[2]
            complete -C (string join ' ' -- (string escape -- $words[(math $skip + 2)..]) "$typed")
        case '*'
            printf '%s\n' $lines
    end
end

# Completes paths, also after --option=.
function __ttmem_paths
    set -l option (string match -r -- '^-[^=]*=' $argv[1])
    $argv[2] (string replace -r -- '^-[^=]*=' '' $argv[1]) | string replace -r '^' -- "$option"
end

complete -c ttmem -f -a '(__ttmem_complete)'
