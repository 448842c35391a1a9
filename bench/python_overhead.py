"""The overhead of the Python package in training: python_overhead.py PROGRAM [--like ml-20m] [--model ease|wmf|popularity] [--rounds N].

Makes data of the shape with `poise synth`, then trains the same model with the program and with Python, in turns, each in a
process of its own. Prints seconds of both (the program's `seconds.train`; Python's whole `fit` of a scipy CSR), their
processor time, the part of `fit` outside the library's training, the memory to pass the matrix, and
whether the tensors have the same bytes. The package is found through PYTHONPATH.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

FLAGS = {
    "ease": ["--model", "full-rank", "--zero-diagonal", "--lambda", "500"],
    "wmf": ["--model", "wmf", "--rank", "32", "--lambda", "5", "--alpha", "5", "--rounds", "10"],
    "popularity": ["--model", "popularity"],
}


def peak():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no VmHWM")


def forget_peak():
    pathlib.Path("/proc/self/clear_refs").write_text("5")


def fit(kind, data, out):
    """Runs in a process of its own and prints one JSON line with times and memory."""
    import poise
    import poise._poise as native
    import warnings

    warnings.simplefilter("ignore")
    models = {
        "ease": poise.EASE(regularization=500),
        "wmf": poise.WMF(factors=32, regularization=5, alpha=5, iterations=10),
        "popularity": poise.Popularity(),
    }
    matrix = poise.Dataset.from_file(data, show_progress=False).train
    inside = 0.0
    train = native.train_csr

    def timed(*arguments):
        nonlocal inside
        begin = time.monotonic()
        result = train(*arguments)
        inside = time.monotonic() - begin
        return result

    native.train_csr = timed
    poise.Popularity().fit(matrix[:1000], show_progress=False)
    forget_peak()
    before = peak()
    poise.Popularity().fit(matrix, show_progress=False)
    handed_over = peak() - before
    usage = resource.getrusage(resource.RUSAGE_SELF)
    begin = time.monotonic()
    model = models[kind].fit(matrix, show_progress=False)
    seconds = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_SELF)
    model.save(out)
    print(
        json.dumps(
            {
                "seconds": seconds,
                "outside": seconds - inside,
                "processor": after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime,
                "handed_over": handed_over,
                "matrix": matrix.data.nbytes + matrix.indices.nbytes,
                "peak": peak(),
            }
        )
    )


def tensors(path):
    raw = pathlib.Path(path).read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    return {
        name: raw[8 + size + entry["data_offsets"][0] : 8 + size + entry["data_offsets"][1]]
        for name, entry in header.items()
        if name not in ("__metadata__", "checksums", "item_ids", "item_id_offsets")
    }


def program(arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(out), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--like", default="ml-20m")
    parser.add_argument("--scale", default="1.0")
    parser.add_argument("--model", default="ease", choices=FLAGS)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, model, other = (os.path.join(folder, name) for name in ("data", "program.model", "python.model"))
        subprocess.run([options.program, "synth", "--like", options.like, "--scale", options.scale, "--out", data, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        ours, theirs = [], []
        for _ in range(options.rounds):
            trained, processor = program([options.program, "train", data, *FLAGS[options.model], "--out", model, "--json", "--quiet"])
            for spectrum in pathlib.Path(data).glob("spectrum-*"):
                spectrum.unlink()  # a matrix has no folder to store eigenpairs in
            theirs.append({"seconds": trained["seconds"]["train"], "processor": processor, "peak": trained["peak_bytes"]})
            line = subprocess.run([sys.executable, __file__, "--fit", options.model, data, other], capture_output=True, text=True, check=True).stdout
            ours.append(json.loads(line))
            print(f"program {theirs[-1]['seconds']:.2f} s, python {ours[-1]['seconds']:.2f} s", flush=True)
        same = tensors(model) == tensors(other)

    def least(runs, key):
        return min(run[key] for run in runs)

    seconds, reference = least(ours, "seconds"), least(theirs, "seconds")
    outside = least(ours, "outside")
    print(f"{options.model} at the shape of {options.like}, best of {options.rounds}")
    print(f"  program     {reference:9.3f} s of training, {least(theirs, 'processor'):.1f} s of processor time with loading, {least(theirs, 'peak') / 1e9:.2f} GB at most")
    print(f"  python      {seconds:9.3f} s of fit, {least(ours, 'processor'):.1f} s of processor time, {least(ours, 'peak') / 1e9:.2f} GB at most")
    print(f"  difference  {100 * (seconds / reference - 1):+9.2f} %")
    print(f"  outside     {outside:9.3f} s of fit are not the library's: {100 * outside / (seconds - outside):.2f} %")
    print(f"  handed over {least(ours, 'handed_over') / 1e6:9.2f} MB more for a matrix whose entries take {ours[0]['matrix'] / 1e6:.1f} MB")
    print(f"  tensors     {'the same bytes' if same else 'DIFFERENT'}")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "--fit":
        fit(*sys.argv[2:])
    else:
        main()
