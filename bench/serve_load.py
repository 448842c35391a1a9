#!/usr/bin/env python3
"""Load on `poise serve` by wrk: `serve_load.py PROGRAM [--seconds 20] [--connections 64] [--models ease,wmf] [--work DIR]`.

Makes data of the shape of MovieLens 20M (20 108 items), trains EASE and WMF of rank 128, and asks for recommendations for histories of 10
items with wrk, the packaged load generator, on the same machine. Prints requests a second, latencies and memory, and, with --reloads N,
reloads the model so often under that load. With --seconds 600 it is the long run: memory at its beginning and end."""
import argparse
import http.client
import json
import pathlib
import re
import subprocess
import sys
import threading
import time

LUA = """
local bodies = dofile("BODIES")
local requests = {}
local k = 0
function init(args)
  for i, body in ipairs(bodies) do
    requests[i] = wrk.format("POST", "/v1/recommend", {["Content-Type"] = "application/json", Host = "localhost"}, body)
  end
  k = math.random(#requests)
end
function request()
  k = k % #requests + 1
  return requests[k]
end
function done(summary, latency, requests)
  io.write(string.format("RESULT %d %d %d %d %d %d %d %d\\n", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    latency.max, summary.errors.status, summary.errors.read + summary.errors.write + summary.errors.connect, summary.errors.timeout))
end
"""


def poise(program, *arguments):
    subprocess.run([program, *map(str, arguments)], check=True, stdout=sys.stderr)


def ask(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
    answer = connection.getresponse()
    text = answer.read().decode()
    if answer.status != 200:
        sys.exit(f"{path}: {answer.status} {text}")
    return text


def memory(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def make(program, work, names):
    """Data and models, unless they are there."""
    if not (work / "data").exists():
        poise(program, "synth", "--like", "ml-20m", "--out", work / "data")
    options = {"ease": ["--lambda", 500], "wmf": ["--rank", 128, "--lambda", 5, "--alpha", 5, "--rounds", 3]}
    for name in names:
        if not (work / f"{name}.model").exists():
            poise(program, "train", work / "data", "--model", name, *options[name], "--out", work / f"{name}.model")


def write_bodies(port, work):
    """Requests with 10 items each from the histories of users."""
    bodies = []
    for user in range(1, 3000):
        history = [row["item"] for row in json.loads(ask(port, "GET", f"/v1/users/{user}/history"))["history"]]
        if len(history) >= 10:
            bodies.append(json.dumps({"history": history[:: len(history) // 10][:10]}))
    (work / "bodies.lua").write_text("return {\n" + "".join(f"[==[{body}]==],\n" for body in bodies) + "}\n")
    (work / "load.lua").write_text(LUA.replace("BODIES", str(work / "bodies.lua")))


def measure(program, work, name, options):
    arguments = [program, "serve", str(work / f"{name}.model"), "--histories", str(work / "data"), "--port", "0", "--json", "--quiet",
                 "--threads", str(options.threads)]
    server = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    port = json.loads(server.stdout.readline())["port"]
    write_bodies(port, work)
    wrk = ["wrk", "-t1", f"-c{options.connections}", "-s", str(work / "load.lua"), f"http://127.0.0.1:{port}/"]
    subprocess.run([*wrk, "-d2s"], check=True, capture_output=True)
    before, processor = memory(server.pid), processor_seconds(server.pid)
    stop = threading.Event()
    reloads = 0

    def reload_often():
        nonlocal reloads
        while reloads < options.reloads and not stop.is_set():
            ask(port, "POST", "/v1/reload", "{}")
            reloads += 1

    thread = threading.Thread(target=reload_often)
    thread.start()
    begin = time.monotonic()
    out = subprocess.run([*wrk, f"-d{options.seconds}s"], check=True, capture_output=True, text=True).stdout
    requests, duration, p50, p99, most, wrong, broken, late = map(int, re.search(r"RESULT (.*)", out)[1].split())
    used = (processor_seconds(server.pid) - processor) / (time.monotonic() - begin)
    stop.set()
    thread.join()
    print(f"{name:6} {requests / duration * 1e6:9.0f} requests/s   p50 {p50 / 1000:6.2f} ms   p99 {p99 / 1000:6.2f} ms   most {most / 1000:6.1f} ms   "
          f"{wrong + broken + late} lost   {used:.2f} cores   memory {before:.0f} -> {memory(server.pid):.0f} MiB"
          + (f"   {reloads} reloads" if options.reloads else ""), flush=True)
    server.terminate()
    if server.wait() != 0:
        sys.exit("the server did not end with 0")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--models", default="ease,wmf")
    parser.add_argument("--reloads", type=int, default=0)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/serve-load"))
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    names = options.models.split(",")
    make(options.program, options.work, names)
    for name in names:
        measure(options.program, options.work, name, options)


if __name__ == "__main__":
    main()
