#!/usr/bin/env python3
"""Poise beside implicit, irspack, SANSA and cmfrec, where these are installed: `python3 bench/peers/compare.py [FOLDER]`.

FOLDER is prepared data with a test part; without it the shape of ML-20M is synthesized (--like, --scale). Each package trains in a process of
its own, on the same training matrix and with corresponding parameters, and the same code scores the same test users. Printed are the
seconds of training, the process' largest memory beyond that of the data, recall@20 and nDCG@100, then what was compared and what was not
installed."""
import argparse
import importlib.util
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from peers import PEERS  # noqa: E402

BLOCK = 500  # users scored at once
CUT = 100


def measures(scores_of, fold_in, held_out):
    """Mean recall@20 (of at most 20 targets) and nDCG@100 over the users with targets."""
    discount = 1 / np.log2(np.arange(2, CUT + 2))
    recalls, gains = [], []
    for first in range(0, fold_in.shape[0], BLOCK):
        rows, targets = fold_in[first : first + BLOCK], held_out[first : first + BLOCK].toarray() > 0
        scores = np.array(scores_of(rows), dtype=np.float64)
        scores[rows.nonzero()] = -np.inf
        best = np.argsort(-scores, axis=1, kind="stable")[:, :CUT]
        hits = np.take_along_axis(targets, best, axis=1)
        for hit, wanted in zip(hits, targets.sum(axis=1)):
            if wanted:
                recalls.append(hit[:20].sum() / min(20, wanted))
                gains.append((hit * discount[: len(hit)]).sum() / discount[: min(CUT, wanted)].sum())
    return float(np.mean(recalls)), float(np.mean(gains))


def load(folder):
    return [scipy.sparse.load_npz(pathlib.Path(folder) / f"{name}.npz").tocsr() for name in ("train", "fold_in", "held_out")]


def run_one(name, folder):
    """In a process of its own: one line of JSON."""
    train, fold_in, held_out = load(folder)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.monotonic()
    scores_of = PEERS[name].train(train)
    seconds = time.monotonic() - begin
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20
    recall, ndcg = measures(scores_of, fold_in, held_out)
    print(json.dumps({"seconds": seconds, "gigabytes": memory, "recall": recall, "ndcg": ndcg}))


def split_data(arguments):
    import poise

    if arguments.folder:
        return poise.Dataset.load(arguments.folder, show_progress=False)
    return poise.split(poise.synth(arguments.like, scale=arguments.scale))


def compare(arguments):
    data = split_data(arguments)
    shown, missing = [], []
    with tempfile.TemporaryDirectory(prefix="poise-peers-") as folder:
        for name, matrix in (("train", data.train), ("fold_in", data.test.fold_in), ("held_out", data.test.held_out)):
            scipy.sparse.save_npz(pathlib.Path(folder) / f"{name}.npz", matrix)
        users, items = data.train.shape
        print(f"{users} training users x {items} items, {data.train.nnz} interactions; {data.test.fold_in.shape[0]} test users\n")
        print("| package | model | s | GB | recall@20 | nDCG@100 |\n|---|---|---:|---:|---:|---:|")
        for name, peer in PEERS.items():
            if importlib.util.find_spec(peer.module) is None:
                missing.append(peer.module)
                continue
            done = subprocess.run([sys.executable, __file__, "--one", name, folder], capture_output=True, text=True)
            if done.returncode != 0:
                print(f"| {peer.module} | {peer.model} | failed: {done.stderr.strip().splitlines()[-1]} | | | |")
                continue
            one = json.loads(done.stdout.splitlines()[-1])
            shown.append(f"{peer.module} ({peer.model})")
            print(f"| {peer.module} | {peer.model} | {one['seconds']:.1f} | {one['gigabytes']:.2f} | {one['recall']:.4f} | {one['ndcg']:.4f} |",
                  flush=True)
    print(f"\nCompared: {', '.join(shown)}.")
    print(f"Not installed, and so not measured: {', '.join(sorted(set(missing))) or 'none'}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", help="prepared data with a test part")
    parser.add_argument("--like", default="ml-20m", help="the shape to synthesize without a folder")
    parser.add_argument("--scale", type=float, default=0.1, help="multiplies its users")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    run_one(*arguments.one) if arguments.one else compare(arguments)


if __name__ == "__main__":
    main()
