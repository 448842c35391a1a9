"""Do two builds of the program write the same bytes?

    python3 tests/digests/compare.py BEFORE AFTER [--threads 1,2] [--device cpu]

Runs a fixed list of commands with both programs, at each number of threads, on generated data, and compares the SHA-256 of every file that
is written (prepared data, models, csv, NumPy files, reports and journals less their times) and of what is printed. For steps that must change no number; bytes depend
on the machine's BLAS kernels, so both run here and no digest is stored. Exits with 1 and names the commands that differ."""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WEIGHTINGS = [["--weighting", "none"], ["--alpha", "3"], ["--alpha", "0.3"], ["--weighting", "linear", "--alpha", "0.5"],
              ["--weighting", "log", "--alpha", "2"], ["--weighting", "user-oriented", "--alpha", "2"],
              ["--weighting", "item-oriented", "--alpha", "2"], ["--weighting", "inverse-popularity", "--gamma", "0.4", "--alpha", "2"]]
FULL_RANK = [["full-rank"], ["ease"], ["edlae", "--dropout", "0.3"], ["full-rank", "--lambda-exponent", "0.5"],
             ["edlae", "--lambda-exponent", "0.5", "--dropout", "0.2"]]
LOW_RANK = [["wmf"], ["weight-decay"], ["dropout"], ["data-weight-decay"]]


def models():
    """Name and flags of each model that is trained."""
    yield "popularity", ["--model", "popularity"]
    for flags in FULL_RANK:
        for weighting in WEIGHTINGS:
            yield "-".join(flags + weighting).replace("--", ""), ["--model", *flags, "--lambda", "50", *weighting]
    for flags in LOW_RANK:
        for weighting in WEIGHTINGS:
            yield "-".join(flags + weighting).replace("--", ""), ["--model", *flags, "--rank", "12", "--lambda", "5", *weighting]
    yield "wmf-random", ["--model", "wmf", "--rank", "12", "--start", "random", "--alpha", "3", "--lambda", "5", "--seed", "7"]
    for regularizer in ("weight-decay", "dropout", "data-weight-decay"):
        yield f"{regularizer}-random", ["--model", regularizer, "--rank", "12", "--start", "random", "--alpha", "3", "--lambda", "5", "--seed", "7"]
    yield "wmf-rounds", ["--model", "wmf", "--rank", "12", "--alpha", "3", "--lambda", "5", "--least-decrease", "1e-13"]
    yield "weight-decay-rounds", ["--model", "weight-decay", "--rank", "12", "--alpha", "3", "--lambda", "5", "--least-decrease", "1e-13"]
    yield "wmf-exponent", ["--model", "wmf", "--rank", "12", "--alpha", "3", "--lambda", "1", "--lambda-exponent", "1"]
    yield "full-rank-keep-top", ["--model", "ease", "--alpha", "2", "--keep-top", "20"]
    yield "full-rank-column", ["--model", "full-rank", "--alpha", "2", "--weighting", "column"]
    yield "full-rank-little-memory", ["--model", "full-rank", "--alpha", "2", "--memory-limit", "100M"]


def commands(threads, device):
    """(name, arguments, files that are written); {} is the folder."""
    common = ["--threads", str(threads), "--quiet"]
    on = [*common, "--device", device]
    yield "synth", ["synth", "--like", "demo", "--out", "{}/demo", *common], ["demo"]
    yield "synth-log", ["synth", "--like", "demo", "--values", "--out", "{}/log.csv", *common], ["log.csv"]
    for name, flags in {"users": [], "seed": ["--seed", "3", "--held-out-users", "50"], "core": ["--k-core", "--min-item-users", "3"],
                        "none": ["--split", "none"], "valued": ["--columns", "user,item,value"]}.items():
        yield f"prepare-{name}", ["prepare", "{}/shop.csv", "--out", f"{{}}/{name}", *flags, *common], [name]
    yield "pro-sg", ["prepare", "{}/shop.csv", "--out", "{}/sg", "--export-pro-sg", "{}/pro-sg", *common], ["sg", "pro-sg"]
    for name, flags in models():
        yield f"train-{name}", ["train", "{}/valued", *flags, "--out", f"{{}}/{name}.model", "--json", *on], [f"{name}.model"]
        yield f"evaluate-{name}", ["evaluate", f"{{}}/{name}.model", "{}/valued", "--per-user", f"{{}}/{name}.csv",
                                   "--metrics", "recall@20,recall@50,ndcg@100,coverage@20", "--json", *on], [f"{name}.csv"]
    for name in ("ease-alpha-3", "wmf-alpha-3", "dropout-alpha-0.3"):
        yield f"recommend-{name}", ["recommend", f"{{}}/{name}.model", "--history", "{}/history", "-k", "10", "--explain", "--format", "json",
                                    *common], []
        yield f"similar-{name}", ["similar", f"{{}}/{name}.model", "--item", "i2", "--format", "json", *common], []
    yield "export", ["export", "{}/wmf-alpha-3.model", "--item-factors", "{}/V.npy", "--item-ids", "{}/ids.txt", *common], ["V.npy", "ids.txt"]
    for grid in ("best", "paper"):
        flags = ["--grid", grid, "--journal", f"{{}}/{grid}.journal"]
        yield f"search-{grid}", ["search", "{}/users", "--model", "ease", *flags, "--out", f"{{}}/{grid}.model", "--report", f"{{}}/report-{grid}",
                                 "--json", *on], [f"{grid}.model", f"{grid}.journal", *reports(f"report-{grid}")]
        yield f"study-{grid}", ["study", "{}/users", "--models", "ease,full-rank,wmf", "--ranks", "8", "--grid", grid, "--out", f"{{}}/study-{grid}",
                                *on], [*reports(f"study-{grid}"), f"study-{grid}/study.journal"]
    yield "study-seeds", ["study", "{}/users", "--models", "ease,wmf", "--ranks", "8", "--grid", "paper", "--refine", "0", "--no-expand", "--seeds",
                          "1,2", "--out", "{}/seeds", *on], [*reports("seeds"), *reports("seeds/seed-2"), "seeds/study.journal"]


def reports(folder):
    return [f"{folder}/{name}" for name in ("results.csv", "results.json", "tables.md", "tables.tex", "report.html")]


PRINTED = ("peak_bytes", "bytes_before_training", "phases", "threads", "journal", "out", "model", "data", "path")


def untimed(value, without=()):
    """Without what two equal runs may differ in: times, and these keys."""
    if isinstance(value, dict):
        return {key: untimed(each, without) for key, each in value.items() if "second" not in key and key not in without}
    return [untimed(each, without) for each in value] if isinstance(value, list) else value


def content(path):
    """The bytes of a file without times, keys in their order."""
    if path.suffix == ".json":
        return json.dumps(untimed(json.loads(path.read_text()))).encode()
    if path.suffix == ".journal":
        return "\n".join(json.dumps(untimed(json.loads(line), ("checksum", "memory-limit"))) for line in path.read_text().splitlines()).encode()
    if path.suffix == ".html":
        return re.sub(rb"(time of the last run</dt><dd>)[^<]*", rb"\1", path.read_bytes())
    return path.read_bytes()


def digest(path):
    if path.is_dir():
        files = sorted(each for each in path.rglob("*") if each.is_file())
        return hashlib.sha256("".join(f"{each.relative_to(path)} {digest(each)}\n" for each in files).encode()).hexdigest()
    return hashlib.sha256(content(path)).hexdigest() if path.exists() else "missing"


def shop():
    """A log with tastes and values, made of nothing but integers."""
    state = 12345
    rows = ["user,item,value"]
    for user in range(400):
        seen = set()
        for _ in range(6 + user % 13):
            state = (1103515245 * state + 12345) % 2**31
            item = (user % 7) * 17 + (state >> 8) % 40 if state % 3 else (state >> 8) % 150
            if item not in seen:
                seen.add(item)
                rows.append(f"u{user},i{item},{1 + state % 5}")
    return "\n".join(rows) + "\n"


def digests(program, folder, threads, device):
    """Of every command: its exit status, what it printed, what it wrote."""
    (folder / "shop.csv").write_text(shop())
    (folder / "history").write_text("i1\ni2\ni3\n")
    found = {}
    for name, arguments, files in commands(threads, device):
        full = [argument.replace("{}", str(folder)) for argument in arguments]
        ran = subprocess.run([program, *full], capture_output=True, text=True, env={**os.environ, "OMP_WAIT_POLICY": "passive"})
        printed = ran.stdout.replace(str(folder), "FOLDER")
        if "--json" in arguments and ran.returncode == 0:
            printed = json.dumps(untimed(json.loads(ran.stdout), PRINTED), sort_keys=True)
        elif "--format" not in arguments:
            printed = ""  # how long it took
        found[name] = {"exit": ran.returncode, "error": ran.stderr.replace(str(folder), "FOLDER") if ran.returncode else "",
                       "printed": hashlib.sha256(printed.encode()).hexdigest(), **{file: digest(folder / file) for file in files}}
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    runs = {}
    for which in ("before", "after"):
        for threads in arguments.threads.split(","):
            folder = pathlib.Path(tempfile.mkdtemp())
            try:
                runs[which, threads] = digests(getattr(arguments, which), folder, threads, arguments.device)
            finally:
                shutil.rmtree(folder)
    first = runs["before", arguments.threads.split(",")[0]]
    different = 0
    for name, expected in first.items():
        if expected["exit"]:
            different += 1
            print(f"{name}: exit {expected['exit']}: {expected['error'].strip()}")
        for run, found in runs.items():
            for what, value in expected.items():
                if found[name].get(what) != value:
                    different += 1
                    print(f"{name}: {what} of {run[0]} at {run[1]} threads differs")
    print(f"{len(first)} commands, {sum(len(each) - 3 for each in first.values())} files, {len(runs)} runs: {different} differences")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
