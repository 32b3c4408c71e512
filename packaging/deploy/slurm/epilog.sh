#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Epilog of slurmd, as root on each node after a job: what the job left behind, in the log of the
# system and in $TTMEM_LEFT_DIR (/var/log/ttmem), one file a job. Epilog= in slurm.conf names this
# file. Slurm has ended the job's processes; one that holds device memory now would not let the next
# job have it. Never fails: an instrument shall not drain a node.
#
# `ttmem serve` removes what dead processes leave within a second, and reports it in its own log: on
# these nodes start it with --no-reap, then it is still there for this script, and prolog.sh removes
# it. A job that sets TTMEM_JOB has that name for ttmem, and is not found by its number.

# slurmd gives no PATH, and what `timeout` starts needs one. An empty part would be the current folder.
PATH=${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
umask 027
job=${SLURM_JOB_ID:-}
folder=${TTMEM_LEFT_DIR:-/var/log/ttmem}
say() { logger -t ttmem -- "job $job: $1" || true; }
say_each() { while IFS= read -r line; do say "$1$line"; done; }

case $job in '' | *[!0-9]*) exit 0 ;; esac # a number, as it becomes a part of a file's name
command -v ttmem >/dev/null || exit 0
# Fails when no process of the job is there, alive or dead: then it left nothing.
if ! left=$(timeout 20 ttmem --job "$job" --json 2>/dev/null); then
  timeout 20 ttmem --job "$job" 2>&1 >/dev/null | grep -v "no process of job $job " |
    say_each 'cannot say what it left: '
  exit 0
fi
say "left device memory behind: ttmem --job $job"
# The table of the processes ends with an empty line.
timeout 20 ttmem --job "$job" --columns pid,user,state,rank,dev,dram,cb,command --long 2>/dev/null |
  sed -n '/^ *PID /,/^$/{/^$/d;p;}' | say_each ''
# Whole or not at all: a full disk shall not leave half a document.
file=$folder/job-$job.json
if ! { mkdir -p "$folder" && printf '%s\n' "$left" >"$file.part" &&
  mv -f "$file.part" "$file"; } 2>/dev/null; then
  rm -f "$file.part"
  say "cannot write $file: is the disk full?"
fi
exit 0
