#!/usr/bin/env bash
# squeue --jobs=9998 fails for a job that Slurm does not know, while squeue --jobs=9998,9999 exits with 0 and prints
# nothing.
#
# Surprising: for a single number, squeue asks the controller for that job and passes on its error; for two or more it
# requests the whole list and filters it. A program that watches several jobs sees them disappear silently, as it expects,
# until one is left: then the same command suddenly fails as if the caller had made a mistake.
#
# Version: slurm-wlm 22.05.8-4+deb12u3, munge 0.5.15 (Debian 12). A controller without nodes is started for it and stopped.
# Seen:
#     squeue --noheader --jobs=9998            code 1, slurm_load_jobs error: Invalid job id specified
#     squeue --noheader --jobs=9998,9999       code 0, nothing
#     squeue --noheader --jobs=9998,1          code 0, 1:PENDING
# Source: squeue(1), "--jobs", which does not mention unknown jobs.
# Ours: core/cluster/slurm.cpp queries all jobs by --name, and by --job only the one that runs in the same allocation;
# tests/process/slurm_test.py lets a cluster forget its jobs after ten seconds (MinJobAge).
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

failed=0
ask() {  # EXPECTED COMMAND … → what it prints and its exit code
    local expected=$1 printed code=0
    shift
    printed=$("$@" 2>&1) || code=$?
    printf '%-40s code %s, %s\n' "$*" $code "$(tr '\n' ' ' <<<"${printed:-nothing}")"
    [ $code = "$expected" ] || failed=1
}
squeue --version
ask 1 squeue --noheader --jobs=9998
ask 0 squeue --noheader --jobs=9998,9999
job=$(sbatch --parsable --hold --wrap true)
ask 0 squeue --noheader --jobs="9998,$job" --format=%i:%T
[ $failed = 0 ] || { echo "Changed: jobs that Slurm does not know are answered in another way."; exit 1; }
