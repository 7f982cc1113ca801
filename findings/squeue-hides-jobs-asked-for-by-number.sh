#!/usr/bin/env bash
# squeue --jobs=NUMBER prints nothing and exits with 0 for a pending job if SQUEUE_STATES=RUNNING is in the environment.
#
# Surprising: the manual says that options of the command line always override the environment, and --jobs names the job.
# But an option overrides only the variable of its own kind: SQUEUE_STATES, SQUEUE_USERS and SQUEUE_NAMES still filter, so
# that a program that queries a job by its number believes that it is gone. In contrast, --format does override
# SQUEUE_FORMAT2.
#
# Version: slurm-wlm 22.05.8-4+deb12u3, munge 0.5.15 (Debian 12). A controller without nodes is started for it and stopped.
# Seen, for a job that is held (each ends with 0):
#     squeue --noheader --jobs=1 --format=%i:%T                          1:PENDING
#     SQUEUE_FORMAT2=JobID, the same                                     1:PENDING
#     SQUEUE_STATES=RUNNING, the same                                    (nothing)
#     SQUEUE_NAMES=other, the same                                       (nothing)
#     SQUEUE_STATES=RUNNING, the same with --states=all                  1:PENDING
# Source: squeue(1), "ENVIRONMENT VARIABLES": "Command line options will always override these settings".
# Ours: core/cluster/sbatch_options.cpp removes such variables for all programs that query; tests/process/slurm_test.py
# (test_the_environment_changes_nothing) sets them for a real Slurm.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
for package in slurm-wlm munge; do
    dpkg-query --show "$package" >/dev/null 2>&1 || { echo "Debian's package $package is needed: apt-get install $package"; exit 2; }
done
unset "${!SQUEUE_@}" "${!SBATCH_@}"
folder=$(mktemp -d)
started=()
stop() {
    for one in "${started[@]}"; do kill "$one" 2>/dev/null || true; done
    wait
    rm -rf "$folder"
}
trap stop EXIT
mkdir -m 700 "$folder/state" "$folder/munge"
(umask 077 && head --bytes=1024 /dev/urandom >"$folder/munge/key")
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$folder/slurm.conf" <<CONFIGURATION
ClusterName=test
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$(id --user --name)
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
AccountingStorageType=accounting_storage/none
SlurmctldPidFile=$folder/slurmctld.pid
StateSaveLocation=$folder/state
SlurmctldLogFile=$folder/slurmctld.log
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=1 CPUs=1 State=FUTURE
PartitionName=main Nodes=n1 Default=YES State=UP
CONFIGURATION
export SLURM_CONF=$folder/slurm.conf
timeout 60 munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
    --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" >"$folder/munge.out" 2>&1 &
started+=($!)
timeout 60 slurmctld -D -c >"$folder/slurmctld.out" 2>&1 &
started+=($!)
for ((i = 0; i < 100; ++i)); do
    if squeue >"$folder/squeue.out" 2>&1; then break; fi
    sleep 0.2
done
squeue >/dev/null 2>&1 || { echo "Slurm's controller does not answer here, so nothing could be seen."; exit 2; }
job=$(sbatch --parsable --hold --wrap true)

failed=0
ask() {  # WHAT EXPECTED [VARIABLE=VALUE …] [OPTION …]
    local what=$1 expected=$2 printed
    shift 2
    printed=$(env "${@:1:1}" squeue --noheader --jobs="$job" --format=%i:%T "${@:2}")
    printf '%-66s %s\n' "$what" "${printed:-(nothing)}"
    [ "$printed" = "$expected" ] || failed=1
}
squeue --version
ask "squeue --noheader --jobs=$job --format=%i:%T" "$job:PENDING" LC_ALL=C
ask "SQUEUE_FORMAT2=JobID, the same" "$job:PENDING" SQUEUE_FORMAT2=JobID
ask "SQUEUE_STATES=RUNNING, the same" "" SQUEUE_STATES=RUNNING
ask "SQUEUE_NAMES=other, the same" "" SQUEUE_NAMES=other
ask "SQUEUE_STATES=RUNNING, the same with --states=all" "$job:PENDING" SQUEUE_STATES=RUNNING --states=all
[ $failed = 0 ] || { echo "Changed: squeue treats its variables beside --jobs in another way."; exit 1; }
