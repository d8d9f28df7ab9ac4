#!/usr/bin/env bash
# A real Slurm on one machine: munged, slurmctld and slurmd, as root on Debian, without systemd and without cgroups.
#
#   up.sh up       install what is missing (apt), start all three, run a job to see that it works
#   up.sh down     cancel all jobs, stop what the pid files of its own folder name
#   up.sh status   partitions and jobs
#
# Settings, from the environment:
#   SLURM_BASE       folder of keys, state, logs and pid files        [/var/tmp/backbone-slurm]
#   SLURM_CPUS       CPUs that the node pretends to have              [those it has, at least 4]
#   SLURMCTLD_PORT   SLURMD_PORT   where the two daemons listen       [6817 6818]
#
# Afterwards: export SLURM_CONF=$SLURM_BASE/slurm.conf   (sbatch, squeue and scancel read it)
set -euo pipefail

base=${SLURM_BASE:-/var/tmp/backbone-slurm}
controller_port=${SLURMCTLD_PORT:-6817}
node_port=${SLURMD_PORT:-6818}
cpus=${SLURM_CPUS:-$(($(nproc) > 4 ? $(nproc) : 4))}
host=$(hostname -s)
export SLURM_CONF=$base/slurm.conf

fail() {
    echo "up.sh: $*" >&2
    exit 1
}

install_missing() {
    local program missing=""
    for program in munged slurmctld slurmd sbatch; do
        command -v "$program" >/dev/null || missing=yes
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null || fail "Slurm is not installed, and there is no apt-get to install it with"
    export DEBIAN_FRONTEND=noninteractive
    # Another script may be installing at the same time.
    exec 9>/var/lock/backbone-dask-apt && flock 9
    apt-get -qq update
    apt-get -qq install -o DPkg::Lock::Timeout=300 -y --no-install-recommends munge slurmctld slurmd slurm-client >"$base/log/apt.log" 2>&1 ||
        fail "apt-get could not install Slurm: see $base/log/apt.log"
    # The daemons would inherit the lock.
    exec 9>&-
}

write_configuration() {
    local megabytes
    megabytes=$(awk '/^MemTotal/ {print int($2 / 1024 * 0.9)}' /proc/meminfo)
    cat >"$SLURM_CONF" <<SETTINGS
ClusterName=backbone
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller_port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$base/run/munge.socket
CredType=cred/munge
MpiDefault=none
StateSaveLocation=$base/state
SlurmdSpoolDir=$base/spool
SlurmctldPidFile=$base/run/slurmctld.pid
SlurmdPidFile=$base/run/slurmd.pid
SlurmctldLogFile=$base/log/slurmctld.log
SlurmdLogFile=$base/log/slurmd.log
# With the default, cgroups, slurmd starts without a word and every job fails where there are no cgroups.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
# A walltime is kept to the second: no grace, and two seconds between SIGTERM and SIGKILL.
OverTimeLimit=0
KillWait=2
MinJobAge=600
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=5
# More CPUs than the machine has: jobs of a small machine can still run side by side.
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 Port=$node_port CPUs=$cpus RealMemory=$megabytes State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
SETTINGS
}

make_folders() {
    # Whoever submits a job has to reach munged's socket, so the folders above it are open.
    mkdir -p "$base"/{run,log,state,spool,munge}
    chmod 755 "$base" "$base/run"
    chmod 700 "$base/munge" "$base/state"
    if [ ! -s "$base/munge/key" ]; then
        (umask 077 && head -c 1024 /dev/urandom >"$base/munge/key")
    fi
}

start_daemons() {
    getent hosts "$host" >/dev/null || echo "127.0.0.1 $host" >>/etc/hosts
    munged --key-file="$base/munge/key" --seed-file="$base/munge/seed" --socket="$base/run/munge.socket" \
        --pid-file="$base/run/munged.pid" --log-file="$base/log/munged.log"
    slurmctld -c
    slurmd
}

wait_for_node() {
    local look
    for look in $(seq 150); do
        [ "$(timeout 5 sinfo --noheader --format %t 2>/dev/null)" = idle ] && return 0
        [ "$look" -lt 25 ] || running slurmctld || fail "slurmctld has ended: $(tail -n 1 "$base/log/slurmctld.log")"
        sleep 0.2
    done
    fail "the node is not idle after 30 seconds: see $base/log"
}

# srun ends with 0 even where a step could not start, so what counts is what the job printed.
try_a_job() {
    [ "$(timeout 30 srun --chdir=/ echo it works)" = "it works" ] || fail "no job runs: see $base/log"
}

up() {
    [ "$(id -u)" = 0 ] || fail "munged and Slurm's daemons are started by root"
    if running slurmctld; then
        fail "a Slurm runs in $base already; 'up.sh down' stops it"
    fi
    make_folders
    install_missing
    write_configuration
    # What was started goes down again if the rest does not come up.
    trap down EXIT
    start_daemons
    wait_for_node
    try_a_job
    trap - EXIT
    echo "Slurm is up: export SLURM_CONF=$SLURM_CONF"
}

# Whether the process that a pid file names is alive and still the program of that name.
running() {
    local pid
    [ -s "$base/run/$1.pid" ] || return 1
    pid=$(<"$base/run/$1.pid")
    case $(readlink "/proc/$pid/exe" 2>/dev/null) in */"$1" | */"$1"-*) return 0 ;; esac
    return 1
}

stop() {
    local pid _
    running "$1" || return 0
    pid=$(<"$base/run/$1.pid")
    kill "$pid"
    for _ in $(seq 100); do
        [ -d "/proc/$pid" ] || return 0
        sleep 0.1
    done
    kill -KILL "$pid"
}

cancel_all() {
    local _
    timeout 5 scancel --quiet --partition=main 2>/dev/null || return 0
    for _ in $(seq 50); do
        [ -n "$(timeout 5 squeue --noheader 2>/dev/null)" ] || return 0
        sleep 0.2
    done
}

down() {
    if running slurmctld; then
        cancel_all
    fi
    stop slurmd
    stop slurmctld
    stop munged
    echo "Slurm is down"
}

status() {
    running slurmctld || fail "no Slurm runs in $base"
    sinfo
    squeue
}

case ${1:-} in
up | down | status) "$1" ;;
*)
    echo "usage: up.sh up|down|status" >&2
    exit 2
    ;;
esac
