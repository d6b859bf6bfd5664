#!/usr/bin/env bash
# A Slurm of four nodes on this machine, for tests: needs root and the packages slurm-wlm and munge.
#   slurm.sh up FOLDER      configures and starts it; its configuration is FOLDER/slurm.conf
#   slurm.sh down FOLDER    ends what `up` started, jobs included
# All of it, munge included, is in FOLDER and on ports of its own: several may run beside each other.
set -euo pipefail
action=$1 folder=$2
export SLURM_CONF=$folder/slurm.conf

if [ "$action" = down ]; then
  scancel --user=root 2>/dev/null || true
  for _ in $(seq 100); do
    [ -z "$(squeue -h 2>/dev/null || true)" ] && break
    sleep 0.1
  done
  pids=$(cat "$folder"/*.pid 2>/dev/null || true)
  for signal in TERM KILL; do
    for pid in $pids; do kill -$signal "$pid" 2>/dev/null || true; done
    [ $signal = KILL ] || sleep 1
  done
  exit 0
fi

mkdir -p "$folder/state"
chmod 755 "$folder"
(umask 077; dd if=/dev/urandom of="$folder/munge.key" bs=128 count=8 status=none)
# --force: folders of tests lie where other users may write.
munged --force --socket="$folder/munge.socket" --key-file="$folder/munge.key" --pid-file="$folder/munged.pid" \
  --log-file="$folder/munged.log" --seed-file="$folder/munge.seed" 2>/dev/null

taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
port=0
while [ "$port" = 0 ]; do
  port=$((10000 + RANDOM % 20000))
  for offset in 0 1 2 3 4; do
    if taken $((port + offset)); then port=0; break; fi
  done
done
host=$(hostname -s)
# No accounting, no control groups: it works in a container. Nodes of one machine differ by their ports.
cat > "$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1,bf_interval=1
KillWait=2
ReturnToService=2
SwitchType=switch/none
MpiDefault=none
NodeName=DEFAULT CPUs=2 RealMemory=1000 State=UNKNOWN
$(for n in 1 2 3 4; do echo "NodeName=n$n NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + n))"; done)
PartitionName=main Nodes=ALL Default=YES State=UP
CONF
slurmctld -f "$SLURM_CONF" -L "$folder/slurmctld.log"
for n in 1 2 3 4; do
  mkdir -p "$folder/spool-n$n"
  slurmd -N "n$n" -f "$SLURM_CONF" -L "$folder/n$n.log"
done
for _ in $(seq 150); do
  [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 4 ] && exit 0
  sleep 0.2
done
tail -5 "$folder"/*.log
exit 1
