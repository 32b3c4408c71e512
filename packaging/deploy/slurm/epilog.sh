#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Epilog of slurmd; runs as root on each node after a job. Writes the memory that the job left behind to
# the system log and to $TTMEM_LEFT_DIR (/var/log/ttmem), one file per job. Epilog= in slurm.conf names
# this file. Slurm has ended the job's processes; a process that still holds device memory would keep
# the memory from the next job. Never fails, because a monitoring tool must not drain a node.
#
# On these nodes start `ttmem serve` with --no-reap. Otherwise the server reaps dead processes within a
# second and reports them only in its own log, before this script sees them; prolog.sh removes their
# segments. A job that sets TTMEM_JOB is known to ttmem by that name, and is not found by its number.

# slurmd sets no PATH, but commands of `timeout` need one. An empty part would be the current directory.
PATH=${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
umask 027
job=${SLURM_JOB_ID:-}
folder=${TTMEM_LEFT_DIR:-/var/log/ttmem}
say() { logger -t ttmem -- "job $job: $1" || true; }
say_each() { while IFS= read -r line; do say "$1$line"; done; }

case $job in '' | *[!0-9]*) exit 0 ;; esac # must be a number, because it is part of a file name
command -v ttmem >/dev/null || exit 0
# ttmem fails if the job has no process, alive or dead. Such a job left nothing behind.
if ! left=$(timeout 20 ttmem --job "$job" --json 2>/dev/null); then
  timeout 20 ttmem --job "$job" 2>&1 >/dev/null | grep -v "no process of job $job " |
    say_each 'cannot say what it left: '
  exit 0
fi
say "left device memory behind: ttmem --job $job"
# The table of the processes ends with an empty line.
timeout 20 ttmem --job "$job" --columns pid,user,state,rank,dev,dram,cb,command --long 2>/dev/null |
  sed -n '/^ *PID /,/^$/{/^$/d;p;}' | say_each ''
# Writes a temporary file and renames the complete file. A full disk then leaves no partial
# document.
file=$folder/job-$job.json
if ! { mkdir -p "$folder" && printf '%s\n' "$left" >"$file.part" &&
  mv -f "$file.part" "$file"; } 2>/dev/null; then
  rm -f "$file.part"
  say "cannot write $file: is the disk full?"
fi
exit 0
