#!/usr/bin/env bash
# A job that is requeued and started again within the same second on the same node ends as FAILED and is gone; no task
# of it runs, and nothing is tried again.
#
# Surprising: requeueing exists so that a job is not lost. Slurm delays a requeued job by two minutes, and the manual lets
# its owner shorten the delay (scontrol update StartTime=now). But the node still refuses the credentials of this job
# for the rest of the second in which its first run was ended, since a revocation counts in whole seconds, and the
# controller takes that refusal ("Job credential revoked") for an error of the job: it "kills the non-startable batch
# job". A start three seconds later works.
#
# Version: slurm-wlm 22.05.8-4+deb12u3, munge 0.5.15 (Debian 12). A controller and a node are started for it and stopped.
# Seen, for a job that sleeps and is requeued while it runs:
#     started three seconds after its requeue    RUNNING
#     started at once                            FAILED
# Source: scontrol(1), "requeue" and "StartTime"; slurmctld's log: "Killing non-startable batch JobId=… : Job credential
# revoked". Ours: trainers requeue themselves at a time limit and wait the two minutes; tests/process/slurm_test.py (hurry)
# shortens them to three seconds.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
for package in slurm-wlm munge; do
    dpkg-query --show "$package" >/dev/null 2>&1 || { echo "Debian's package $package is needed: apt-get install $package"; exit 2; }
done
unset "${!SQUEUE_@}" "${!SBATCH_@}"
folder=$(mktemp -d)
started=()
stop() {
    scancel --user="$(id --user --name)" 2>/dev/null || true
    sleep 1
    for one in "${started[@]}"; do kill "$one" 2>/dev/null || true; done
    wait
    rm -rf "$folder"
}
trap stop EXIT
mkdir -m 700 "$folder/state" "$folder/spool" "$folder/munge"
(umask 077 && head --bytes=1024 /dev/urandom >"$folder/munge/key")
ports=($(python3 -c '
import socket
both = [socket.socket() for _ in range(2)]
for one in both:
    one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in both))'))
cat >"$folder/slurm.conf" <<CONFIGURATION
ClusterName=test
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=$(id --user --name)
SlurmdUser=$(id --user --name)
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmdSpoolDir=$folder/spool
StateSaveLocation=$folder/state
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
MinJobAge=300
SchedulerParameters=sched_interval=1,sched_min_interval=200000
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=1 State=UNKNOWN
PartitionName=main Nodes=n1 Default=YES State=UP
CONFIGURATION
export SLURM_CONF=$folder/slurm.conf
timeout 240 munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
    --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" >"$folder/munge.out" 2>&1 &
started+=($!)
timeout 240 slurmctld -D -c >"$folder/slurmctld.out" 2>&1 &
started+=($!)
sleep 2
timeout 240 slurmd -D -N n1 -c >"$folder/slurmd.out" 2>&1 &
started+=($!)

state() { squeue --noheader --states=all --jobs="$1" --format=%T 2>/dev/null || true; }
wait_for() {  # JOB STATE
    for ((i = 0; i < 300; ++i)); do
        [ "$(state "$1")" != "$2" ] || return 0
        sleep 0.1
    done
    echo "Slurm does not run jobs here ($(state "$1") in place of $2), so nothing could be seen."
    exit 2
}
failed=0
# observe EXPECTED WHEN WHAT: the state of a job that is requeued while it runs and is to start again then.
observe() {
    local job now
    # Early in a second, so that its rest is long enough.
    for ((i = 0; i < 1000; ++i)); do
        now=$(date +%N)
        [ "${now:0:1}" != 0 ] || [ -z "${job:-}" ] || break
        [ -n "${job:-}" ] || { job=$(sbatch --parsable --requeue --output=/dev/null --wrap "exec sleep 100") && wait_for "$job" RUNNING && sleep 2; }
        sleep 0.01
    done
    scontrol requeue "$job"
    while [ "$(state "$job")" != PENDING ]; do sleep 0.02; done
    scontrol update JobId="$job" StartTime="$2"
    for ((i = 0; i < 100; ++i)); do
        case $(state "$job") in RUNNING | FAILED) break ;; esac
        sleep 0.1
    done
    sleep 1
    printf '%-42s %s\n' "$3" "$(state "$job")"
    [ "$(state "$job")" = "$1" ] || failed=1
    scancel "$job"
    sleep 2
}
squeue --version
observe RUNNING now+3 "started three seconds after its requeue"
observe FAILED now "started at once"
[ $failed = 0 ] || { echo "Changed: Slurm treats a requeued job that starts at once in another way."; exit 1; }
