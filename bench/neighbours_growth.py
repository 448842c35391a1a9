"""How the time of `train --neighbours` grows with the data.

    python3 bench/neighbours_growth.py PROGRAM WORK [--scales 0.1,0.3,1] [--neighbours 100] [--threads 2]

Synthesizes `--like million` at each scale into WORK (kept there for the next time), trains EASE with that many neighbours, its certificate
included, and prints a line for each: training interactions, items, processor and wall seconds, the wall seconds of each phase, and the peak
of memory. Then the exponent of processor and of wall time in the number of interactions: between neighbouring sizes, and of the line through
all of them (least squares in logarithms)."""
import argparse
import json
import math
import os
import pathlib
import subprocess
import time

PHASES = ("transpose", "supports", "gram", "columns", "comparison", "rows")


def measured(command):
    """Processor and wall seconds of a command, and what it printed."""
    before, begin = os.times(), time.monotonic()
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    after = os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return processor, time.monotonic() - begin, json.loads(output)


def slope(sizes, seconds):
    """The exponent of the line through all points, in logarithms."""
    x, y = [math.log(size) for size in sizes], [math.log(each) for each in seconds]
    middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y)) / sum((a - middle_x) ** 2 for a in x)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--scales", default="0.1,0.3,1")
    parser.add_argument("--neighbours", default="100")
    parser.add_argument("--threads", default="2")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    model = options.work / "growth.model"
    sizes, processors, walls = [], [], []
    print(f"{'interactions':>13} {'items':>9} {'processor s':>11} {'wall s':>8} {'GB':>6}  " + "  ".join(PHASES))
    for scale in options.scales.split(","):
        data = options.work / f"million-{scale}"
        if not data.exists():
            subprocess.run([options.program, "synth", "--like", "million", "--scale", scale, "--quiet", "--out", data], check=True,
                           stdout=subprocess.DEVNULL)
        sizes_of = json.loads(subprocess.run([options.program, "info", data, "--json"], check=True, stdout=subprocess.PIPE).stdout)
        processor, wall, trained = measured([options.program, "train", data, "--model", "ease", "--lambda", "50", "--lambda-exponent", "0.5",
                                             "--neighbours", options.neighbours, "--threads", options.threads, "--quiet", "--out", model, "--json"])
        model.unlink()
        sizes.append(sizes_of["train"]["interactions"])
        processors.append(processor)
        walls.append(wall)
        print(f"{sizes[-1]:>13} {sizes_of['items']:>9} {processor:>11.1f} {wall:>8.1f} {trained['peak_bytes'] * 1e-9:>6.2f}  " +
              "  ".join(f"{trained['seconds'].get(phase, 0):{len(phase)}.1f}" for phase in PHASES), flush=True)
    for name, seconds in (("processor", processors), ("wall", walls)):
        between = ", ".join(f"{slope(sizes[k:k + 2], seconds[k:k + 2]):.2f}" for k in range(len(sizes) - 1))
        print(f"{name} time grows as interactions^{slope(sizes, seconds):.2f} (from size to size: {between})")


if __name__ == "__main__":
    main()
