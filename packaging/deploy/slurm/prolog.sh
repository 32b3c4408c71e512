#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prolog of slurmd; runs as root on each node before a job. Removes segments of dead processes from
# shared memory, and logs the device memory that other processes still hold. Prolog= in slurm.conf
# names this file. Never fails, because a monitoring tool must not delay a job or drain a node.

# slurmd sets no PATH, but commands of `timeout` need one. An empty part would be the current directory.
PATH=${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
say() { logger -t ttmem -- "job ${SLURM_JOB_ID:-?}: $1" || true; }
say_each() { while IFS= read -r line; do say "$1$line"; done; }

command -v ttmem >/dev/null || exit 0
timeout 20 ttmem clean 2>&1 | sed '/^$/d; /^Nothing to clean/d' | say_each 'before: '
# The table of the processes ends with an empty line.
timeout 20 ttmem --columns pid,user,job,dev,dram,cb,command --long 2>/dev/null |
  sed -n '/^ *PID /,/^$/{/^$/d;p;}' | say_each 'still there: '
exit 0
