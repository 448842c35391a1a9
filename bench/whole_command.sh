#!/usr/bin/env bash
# The whole commands at the shape of the Netflix data, from start to the file on disk:
#
#     bench/whole_command.sh PROGRAM OUTDIR [SCALE]
#
# synthesizes the data into OUTDIR (kept there for the next time), trains the weighted full-rank model three times and
# evaluates it three times, and prints wall times, the time of each phase, and the medians. The model file is removed before
# each training, so that no training waits for that file's space. SCALE (default 1) is that of `poise synth`.
set -euo pipefail
if [ $# -lt 2 ]; then
  echo "usage: $0 PROGRAM OUTDIR [SCALE]" >&2
  exit 2
fi
program=$1
folder=$2
scale=${3:-1}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
data=$folder/netflix-$scale
model=$folder/netflix-$scale.model

[ -e "$data/data.poise" ] || "$program" synth --like netflix --scale "$scale" --out "$data"
rm -f "$model"
python3 "$here/disk_bound.py" "$folder"

now() { date +%s.%N; }
times=$folder/times
rm -f "$times"
run() {  # NAME COMMAND...: its wall time and its JSON, a line each
  local name=$1 begin end
  shift
  begin=$(now)
  "$@" > "$folder/json"
  end=$(now)
  printf '%s %s %s ' "$name" "$begin" "$end" >> "$times"
  cat "$folder/json" >> "$times"
}
for _ in 1 2 3; do
  rm -f "$model"
  sync
  run train "$program" train "$data" --model full-rank --alpha 2 --out "$model" --json
done
for _ in 1 2 3; do
  run evaluate "$program" evaluate "$model" "$data" --json
done

python3 - "$times" <<'PYTHON'
import json, statistics, sys

walls = {}
for line in open(sys.argv[1]):
    name, begin, end, text = line.split(" ", 3)
    result = json.loads(text)
    wall = float(end) - float(begin)
    walls.setdefault(name, []).append(wall)
    phases = result["seconds"] if name == "train" else result["phases"]
    # The rest is the shell's fork before the command's own clock starts, and freeing everything after it ends.
    print(f"{name}: {wall:.2f} s on {result['device']}; by its own clock {phases['total']:.2f}, outside it {wall - phases['total']:.2f}")
    print("  " + ", ".join(f"{phase} {time:.3f}" for phase, time in phases.items() if phase != "total" and time >= 0.0005))
for name, times in walls.items():
    print(f"{name}: median {statistics.median(times):.2f} s of {', '.join(f'{time:.2f}' for time in times)}")
PYTHON
