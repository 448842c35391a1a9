"""Compares `--grid best` with an exhaustive grid and with equally many random points.

    python3 bench/search_quality.py PROGRAM WORK DATA... [--models full,ease,...] [--threads 1]

For each model it runs the exhaustive grid (lambda in thirds of a decade from 0.1 to 2.15e5, 17 alphas from 0.02 to 50) and the default
search; results in WORK (JSON) are not computed again. The grid stops low-rank models early, which moves each point by another amount, so
of these the eight best weighted ones of each kind are trained to convergence, as the points found are, and the best of these counts. Prints
a table: for each kind (alpha below 1, 1, above 1) how far the point found is below the best of the grid (negative: above it), points and
seconds of training and evaluation, and how far the best of all kinds is below the grid's best, for the search and on average for equally
many random grid points (scored as the grid stops)."""
import argparse
import json
import os
import pathlib
import random
import subprocess

LAMBDAS = ",".join(f"{10 ** (k / 3):.3g}" for k in range(-3, 17))
ALPHAS = ".02,.05,.1,.2,.35,.5,.7,.85,1,1.2,1.5,2,3,5,10,20,50"
MODELS = {"full": ["--model", "full-rank"], "ease": ["--model", "ease"]}
for rank in (10, 50):
    for name, model in (("wd", "weight-decay"), ("dropout", "dropout"), ("dwd", "data-weight-decay"), ("wmf", "wmf")):
        MODELS[f"{name}{rank}"] = ["--model", model, "--rank", str(rank)]
KINDS = {"below": lambda alpha: alpha < 1, "one": lambda alpha: alpha == 1, "above": lambda alpha: alpha > 1}
CHOSEN = {"below": "best_down_weighted", "one": "best_unweighted", "above": "best_weighted"}


def score(point):
    return point["validation"]["ndcg@100"]["mean"]


def result(program, work, name, data, flags, threads):
    path = work / f"{name}.json"
    if not path.exists() or path.stat().st_size == 0:
        journal = work / f"{name}.journal"
        run = subprocess.run([program, "search", data, *flags, "--threads", str(threads), "--quiet", "--json", "--journal", journal],
                             check=True, capture_output=True, text=True, env={**os.environ, "OMP_WAIT_POLICY": "passive"})
        path.write_text(run.stdout)
    found = json.loads(path.read_text())
    found["points"] = [point for point in found["points"] if "validation" in point]
    return found


def converged(program, work, data, name, point, threads):
    """The score of a point that is trained to convergence."""
    path = work / f"conv-{data.name}-{name}-{point['alpha']}-{point['lambda']}.json"
    if not path.exists():
        model, common = path.with_suffix(".model"), ["--threads", str(threads), "--quiet"]
        subprocess.run([program, "train", data, *MODELS[name], "--lambda", str(point["lambda"]), "--alpha", str(point["alpha"]), "--out", model,
                        *common], check=True)
        run = subprocess.run([program, "evaluate", model, data, "--on", "validation", "--metrics", "ndcg@100", "--json", *common], check=True,
                             capture_output=True, text=True)
        model.unlink()
        path.write_text(run.stdout)
    return json.loads(path.read_text())["metrics"]["ndcg@100"]["mean"]


def best_of(points, kind, final):
    """The best score of a kind; `final`: of a point as it is in the end."""
    ours = sorted((point for point in points if KINDS[kind](point["alpha"])), key=score, reverse=True)
    return max(map(final, ours[:8]) if final and kind != "one" else map(score, ours), default=0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("data", nargs="+", type=pathlib.Path)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    print("| data | model | below 1 | 1 | above 1 | points | of | seconds | of | best of all | at random |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for data in arguments.data:
        for name in arguments.models.split(","):
            make = lambda kind, extra: result(arguments.program, arguments.work, f"{kind}-{data.name}-{name}", data,  # noqa: E731
                                              MODELS[name] + extra, arguments.threads)
            every = make("ex", ["--grid", "paper", "--no-expand", "--lambda", LAMBDAS, "--alpha", ALPHAS])
            found = make("best", [])
            final = lambda point: converged(arguments.program, arguments.work, data, name, point, arguments.threads)  # noqa: E731
            best = {kind: best_of(every["points"], kind, final if name not in ("full", "ease") else None) for kind in KINDS}
            short = {kind: best[kind] - score(found[CHOSEN[kind]]) for kind in KINDS}
            highest = max(map(score, every["points"]))
            of_all = max(best.values()) - max(score(found[CHOSEN[kind]]) for kind in KINDS)
            draw = random.Random(1)
            draws = []
            for _ in range(200):
                some = draw.sample(every["points"], len(found["points"]))
                draws.append(highest - max(map(score, some)))
            seconds = [sum(point["seconds"] for point in each["points"]) for each in (found, every)]
            print(f"| {data.name} | {name} | " + " | ".join(f"{short[kind]:+.4f}" for kind in KINDS) +
                  f" | {len(found['points'])} | {len(every['points'])} | {seconds[0]:.0f} | {seconds[1]:.0f} | "
                  f"{of_all:+.4f} | {sum(draws) / len(draws):+.4f} |", flush=True)


if __name__ == "__main__":
    main()
