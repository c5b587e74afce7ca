#!/bin/sh
# usage: slurm_test.sh BUILD
# Starts a Slurm of one node in a private folder, has common/grader/slurm/grade_array.sbatch grade a small class there, and compares
# the results with those of a run without Slurm. Needs root and the packages slurmctld, slurmd, slurm-client and
# munge; exit 77 where something is missing, 75 where patience ended. Everything that it starts is stopped, and its folder removed.
set -eu
not_run() {
  echo "NOT RUN: $1"
  exit 77
}
fail() {
  echo "${2:-FAILED}: $1" >&2
  for log in "$place"/*.log "$place"/job-*; do
    [ ! -s "$log" ] || { echo "--- $log" >&2; tail -n 20 "$log" >&2; }
  done
  exit "${3:-1}"
}
# The machine may be busy.
no_verdict() { fail "$1" "no verdict" 75; }

[ $# = 1 ] || { echo "usage: slurm_test.sh BUILD" >&2; exit 2; }
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
halo=$build/common/cli/halo-grade
[ "$(id -u)" = 0 ] || not_run "Slurm's programs are started as root only"
PATH=$PATH:/usr/sbin
for program in slurmctld slurmd sbatch squeue scontrol munged; do
  command -v $program >/dev/null ||
    not_run "$program is missing: apt-get install slurmctld slurmd slurm-client munge"
done
[ -x "$halo" ] || not_run "$halo is not built"

place=$(mktemp -d /tmp/halo-slurm.XXXXXX)
started=
stop() {
  # Only what was started here, the last first.
  for pid in $started; do kill "$pid" 2>/dev/null || true; done
  for pid in $started; do
    for _ in 1 2 3 4 5 6 7 8 9 10; do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.5
    done
    kill -KILL "$pid" 2>/dev/null || true
  done
  rm -rf "$place"
}
trap stop EXIT
trap 'exit 130' INT TERM

# A class of seven: what the repository has, as files and a folder.
mkdir "$place/class" "$place/class/folder"
for name in tile_and_halo:04_tile_and_halo two_pixels:08_two_pixels shuffles:05_shuffles; do
  file=${name%%:*}
  folder=${name##*:}
  cp "$root/solutions/$folder/$file.cu" "$place/class/good_$file.cu"
  cp "$root/exercises/$folder/start.cu" "$place/class/begun_$file.cu"
done
cp "$root/solutions/04_tile_and_halo/tile_and_halo.cu" "$place/class/folder/"
"$halo" grade --class "$place/class" --results "$place/alone" --jobs 2 >"$place/alone.log" 2>&1 ||
  fail "the run without Slurm ended with $?"

# Ports that nobody has.
ports=$(python3 -c 'import socket
ends = [socket.socket() for _ in range(2)]
for end in ends: end.bind(("127.0.0.1", 0))
print(*(end.getsockname()[1] for end in ends))')
node=$(hostname -s)
chmod 755 "$place"
mkdir -m 755 "$place/munge" "$place/state" "$place/spool"
dd if=/dev/urandom of="$place/munge/key" bs=128 count=1 2>/dev/null
chmod 400 "$place/munge/key"
cat >"$place/slurm.conf" <<END
ClusterName=halo
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=${ports% *}
SlurmdPort=${ports#* }
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$place/munge/socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
StateSaveLocation=$place/state
SlurmdSpoolDir=$place/spool
SlurmctldPidFile=$place/slurmctld.pid
SlurmdPidFile=$place/slurmd.pid
SlurmdParameters=config_overrides
NodeName=$node NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=halo Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$place/slurm.conf"
munged --foreground --force --key-file="$place/munge/key" --socket="$place/munge/socket" --pid-file="$place/munge/pid" \
  --log-file="$place/munge/log" --seed-file="$place/munge/seed" >"$place/munged.log" 2>&1 &
started="$! $started"
for _ in $(seq 3000); do
  [ -S "$place/munge/socket" ] && break
  sleep 0.1
done
slurmctld -D -i >"$place/slurmctld.log" 2>&1 &
started="$! $started"
slurmd -D >"$place/slurmd.log" 2>&1 &
started="$! $started"
state=none
for _ in $(seq 600); do
  state=$(sinfo -h -o %T 2>/dev/null || true)
  [ "$state" = idle ] && break
  sleep 0.5
done
[ "$state" = idle ] || no_verdict "the node is not ready after five minutes, but: ${state:-none}"

script=$root/common/grader/slurm/grade_array.sbatch
set -- "$build" "$place/class" "$place/slurm"
job=$(sbatch --parsable --array=1-3 --cpus-per-task=1 --output="$place/job-%a" "$script" "$@") || fail "sbatch refused the array"
last=$(sbatch --parsable --dependency="afterany:$job" --output="$place/job-last" "$script" "$@") ||
  fail "sbatch refused the last job"
for _ in $(seq 3600); do
  [ -z "$(squeue -h 2>/dev/null)" ] && break
  sleep 0.5
done
[ -z "$(squeue -h)" ] || no_verdict "the jobs have not ended after half an hour"
scontrol show job "$last" | grep -q JobState=COMPLETED || fail "the last job has not completed"

cmp "$place/alone/class.csv" "$place/slurm/class.csv" || fail "class.csv differs"
python3 - "$place/alone" "$place/slurm" <<'END' || fail "grades differ"
import json, pathlib, sys

def bare(value):
    if isinstance(value, dict):
        return {key: bare(one) for key, one in value.items() if key != "seconds"}
    return [bare(one) for one in value] if isinstance(value, list) else value

one, other = ({file.relative_to(folder): bare(json.loads(file.read_text())) for file in folder.rglob("*.json")}
              for folder in map(pathlib.Path, sys.argv[1:]))
if one != other or len(one) != 8:
    sys.exit(f"{len(one)} and {len(other)} files: {[str(file) for file in one if one[file] != other.get(file)]}")
END
shards=$(cat "$place"/job-[123] | grep '^shard')
[ "$(echo "$shards" | grep -c ' 0 errors')" = 3 ] || fail "a shard has errors"
grep -q '0 graded now, 7 kept' "$place/job-last" || fail "the last job graded what the shards had graded"
echo "$shards"
cat "$place/job-last"
echo "slurm_test: $(slurmctld -V): a class of 7 in an array of 3 jobs and one behind them: the results are those without Slurm"
