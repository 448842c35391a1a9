"""What several processes send each other, what that costs on links of given latency and bandwidth, and what it would cost elsewhere.

    python3 bench/mpi_network.py measure PROGRAM WORK [--processes 2,4] [--latencies 0,0.02] [--megabytes 1000,25] > measured.json
    python3 bench/mpi_network.py model [measured.json] [--rate 60] [--alpha 50] [--gigabits 25] [--processes-of-host 32]

`measure` (as root) trains on hosts made of network namespaces (bench/shaped_hosts.py), one process of one thread on each, and counts the bytes that
leave each host, which do not depend on how busy the machine is; seconds do. `model` fits the constants of

    T = operations / (P rate) + messages alpha + bytes / beta

to it (messages: those that wait for each other) and prints times and memory for catalogues and numbers of processes that were not measured."""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys

from shaped_hosts import ShapedHosts

PANEL = 256
MODELS = {"closed": ["--model", "ease", "--lambda", "50"],
          "weighted": ["--model", "ease", "--lambda", "50", "--weighting", "item-oriented", "--alpha", "2"],
          "wmf": ["--model", "wmf", "--rank", "32", "--lambda", "5", "--alpha", "3", "--start", "random", "--rounds", "6"]}
INVERSE, ITERATIONS = ("inverse",), ("iterations", "others' iterations")


def block(n, P):
    return min(512, max(256, n // (20 * P)))


def steps(n, P):
    """Of the inverse: tiles of the grid along a side."""
    share = min(128, max(8, n // (4 * P) // 8 * 8))
    rows = max(r for r in range(1, math.isqrt(P) + 1) if P % r == 0)
    return math.ceil(n / (max(1, min(n // (10 * (P // rows)), 512) // share) * share))


def rounds(n, P, iterations):
    """Rounds of products with A^-1: an iteration, or the end of a block, of each block of a process' columns."""
    return math.ceil(n / P / block(n, P)) * (iterations + 1)


def measure(options):
    options.work.mkdir(parents=True, exist_ok=True)
    data = options.work / "demo"
    if not data.exists():
        subprocess.run([options.program, "synth", "--like", "demo", "--scale", "0.5", "--quiet", "--out", data], check=True, stdout=subprocess.DEVNULL)
    info = json.loads(subprocess.run([options.program, "info", data, "--json"], check=True, stdout=subprocess.PIPE).stdout)
    found = {"items": info["items"], "users": info["users"], "runs": []}
    links = [(latency, 1e12) for latency in options.latencies] + [(0.0, 1e6 * each) for each in options.megabytes]
    for P in options.processes:
        for latency, bandwidth in links:
            for name, flags in MODELS.items():
                with ShapedHosts(P, options.work, latency, bandwidth) as hosts:
                    out = json.loads(hosts.run(options.program, "train", data, *flags, "--threads", 1, "--quiet", "--json", "--out", options.work / "model"))
                    sent = hosts.counted()
                run = {"model": name, "P": P, "latency": latency, "bandwidth": bandwidth, "iterations": out.get("iterations", 0),
                       "rounds": out.get("rounds", 0), "seconds": out["seconds"], **sent}
                found["runs"].append(run)
                print(name, P, latency, bandwidth, sent, {k: round(v, 2) for k, v in out["seconds"].items() if k in (*INVERSE, *ITERATIONS, "train")},
                      file=sys.stderr, flush=True)
    json.dump(found, sys.stdout, indent=1)


def phase(run, names):
    return sum(run["seconds"].get(name, 0) for name in names)


def fit(found):
    """Bytes in units of the formulas, and messages in units of theirs."""
    n, m = found["items"], found["users"]
    of = {}
    for run in found["runs"]:
        of.setdefault((run["model"], run["P"]), []).append(run)
    result = {}
    for P in sorted({run["P"] for run in found["runs"]}):
        mean = {name: statistics.mean(sum(run["bytes"]) for run in of[name, P]) / P for name in MODELS}
        weighted = of["weighted", P]
        count = rounds(n, P, weighted[0]["iterations"])
        panels = count * (P - 1) / P * 4 * n * n
        result[P] = {"closed bytes / 4 n^2 / sqrt(P)": mean["closed"] / (4 * n * n / math.sqrt(P)),
                     "weighted - closed bytes / panels": (mean["weighted"] - mean["closed"]) / panels,
                     "wmf bytes / 4 (m + n) d a round": mean["wmf"] / (of["wmf", P][0]["rounds"] * (P - 1) / P * 4 * (m + n) * 32)}

        def slope(name, names):
            runs = [run for run in of[name, P] if run["bandwidth"] > 1e11]
            low, high = min(runs, key=lambda run: run["latency"]), max(runs, key=lambda run: run["latency"])
            if high["latency"] == low["latency"]:
                return float("nan")
            return (phase(high, names) - phase(low, names)) / (high["latency"] - low["latency"])

        result[P]["inverse messages / (steps log2 P)"] = slope("closed", INVERSE) / (steps(n, P) * math.log2(P))
        result[P]["iteration messages / (rounds (n / 256 + 2) log2 P)"] = slope("weighted", ITERATIONS) / (count * (n / PANEL + 2) * math.log2(P))
    return result


def gigabytes(n, P, entries):
    """Of one process: see docs/cluster.md."""
    return (8 * n * n / P + 16 * block(n, P) * n + 2048 * n + 16 * entries) * 1e-9


def text(seconds):
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} s"


def model(options):
    constants = {"inverse bytes": 3.0, "inverse messages": 16.0, "iteration messages": 6.0}
    if options.measured:
        fitted = fit(json.loads(options.measured.read_text()))
        for P, figures in fitted.items():
            for name, value in figures.items():
                print(f"P = {P}  {name}: {value:.3g}")
        largest = fitted[max(fitted)]
        constants["inverse bytes"] = largest["closed bytes / 4 n^2 / sqrt(P)"]
        constants["inverse messages"] = max(1.0, largest["inverse messages / (steps log2 P)"])
        constants["iteration messages"] = max(1.0, largest["iteration messages / (rounds (n / 256 + 2) log2 P)"])
    rate, alpha = options.rate * 1e9, options.alpha * 1e-6
    print(f"constants {constants}, {options.threads} threads a process\n| n | P | memory | inverse | columns ({options.iterations} iterations) | messages and bytes of it |")
    for n in (40_000, 200_000, 1_000_000):
        for P in options.counts:
            # On one host messages are copied through its memory.
            beta = options.gigabits * 1e9 / 8 / min(P, options.processes_of_host) if P > options.processes_of_host else 10e9 / P
            log = max(1e-9, math.log2(P))
            inverse_network = (constants["inverse messages"] * steps(n, P) * log * alpha + constants["inverse bytes"] * 4 * n * n / math.sqrt(P) / beta) * (P > 1)
            inverse = 2 * n**3 / P / (rate * options.threads) + inverse_network
            count = rounds(n, P, options.iterations)
            network = (constants["iteration messages"] * count * (n / PANEL + 2) * log * alpha + count * (P - 1) / P * 4 * n * n / beta) * (P > 1)
            columns = 2 * options.iterations * n**3 / P / (rate * options.threads) + network
            print(f"| {n} | {P} | {gigabytes(n, P, options.entries):.3g} GB | {text(inverse)} | {text(columns)} | "
                  f"{(inverse_network + network) / (inverse + columns):.0%} |")


def numbers(kind):
    return lambda value: [kind(each) for each in value.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("measure")
    one.add_argument("program")
    one.add_argument("work", type=pathlib.Path)
    one.add_argument("--processes", type=numbers(int), default=[2, 4])
    one.add_argument("--latencies", type=numbers(float), default=[0.0, 0.02])
    one.add_argument("--megabytes", type=numbers(float), default=[25.0])
    one.set_defaults(do=measure)
    other = commands.add_parser("model")
    other.add_argument("measured", type=pathlib.Path, nargs="?")
    other.add_argument("--rate", type=float, default=60, help="Gflop/s of a product on one core, in float32")
    other.add_argument("--alpha", type=float, default=50, help="microseconds from a message's departure to its use")
    other.add_argument("--gigabits", type=float, default=25, help="a second, of each host's link")
    other.add_argument("--processes-of-host", type=int, default=32)
    other.add_argument("--counts", type=numbers(int), default=[1, 4, 16, 64, 256, 1024])
    other.add_argument("--threads", type=int, default=1)
    other.add_argument("--iterations", type=int, default=10)
    other.add_argument("--entries", type=float, default=50e6)
    other.set_defaults(do=model)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
