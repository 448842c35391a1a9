"""Ctrl-C, callbacks, threads and forked processes."""
import io
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import scipy.sparse
from conftest import taste_matrix

import poise
from poise._progress import Progress

LONG = """
import signal, sys, time
import numpy as np, scipy.sparse
import poise
random = np.random.RandomState(1)
entries = (random.randint(30000, size={entries}), random.randint({items}, size={entries}))
x = scipy.sparse.csr_matrix((np.ones({entries}, np.float32), entries), shape=(30000, {items}))
print("ready", flush=True)
try:
    {work}
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    model = poise.EASE(regularization=10).fit(x[:, :50], show_progress=False)  # all is well afterwards
    print("well" if model.converged_ else "ill", flush=True)
"""


@pytest.mark.parametrize(
    "items, entries, work",
    [
        (9000, 500_000, 'poise.EASE(regularization=10).fit(x, show_progress=False)'),
        (3000, 900_000, 'poise.WMF(factors=150, regularization=0.01, alpha=50, iterations=10000, tolerance=1e-12).fit(x, show_progress=False)'),
        (2000, 600_000, 'poise.search(poise.split(x, min_user_items=0), poise.FullRank(), show_progress=False)'),
    ],
    ids=["ease", "wmf", "search"],
)
def test_ctrl_c(items, entries, work):
    process = subprocess.Popen(
        [sys.executable, "-c", LONG.format(items=items, entries=entries, work=work)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        # A second where the machine is ours; tests share it.
        assert time.monotonic() - begin < 4
        assert process.stdout.readline() == "well\n"
        assert process.wait(60) == 0
    finally:
        process.kill()


def test_a_callback_is_told_and_may_stop():
    told = []
    threads = threading.active_count()
    train = taste_matrix()
    model = poise.WMF(factors=8, regularization=1, alpha=10).fit(
        train, show_progress=False, callback=lambda task, done, total: told.append((task, done, total))
    )
    assert told[-1][0] == "training" and told[-1][1] == model.n_iter_

    class Enough(Exception):
        pass

    def stop(task, done, total):
        raise Enough(task)

    with pytest.raises(Enough):
        poise.WMF(factors=8, regularization=1, alpha=10).fit(train, show_progress=False, callback=stop)
    assert threading.active_count() == threads


def test_a_callback_runs_on_the_calling_thread():
    threads = set()
    poise.WMF(factors=8, regularization=1, alpha=10).fit(
        taste_matrix(), show_progress=False, callback=lambda *_: threads.add(threading.get_ident())
    )
    assert threads == {threading.get_ident()}


def test_progress_on_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress(True) as progress:
        progress.report("solving", 0, 10, "columns")
        time.sleep(0.12)
        progress.report("solving", 5, 10, "columns")
    assert "solving [############            ]  50 %" in screen.getvalue()
    assert screen.getvalue().endswith("\r\x1b[K")
    assert Progress(False).report is None


def test_the_interpreter_goes_on_meanwhile():
    """Other Python threads run while a model trains: the GIL is released."""
    random = np.random.RandomState(1)
    x = scipy.sparse.random(8000, 2500, density=0.01, format="csr", dtype=np.float32, random_state=random)
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    poise.EASE(regularization=10).fit(x, show_progress=False)
    end = time.monotonic()
    done.set()
    thread.join()
    during = [t for t in ticks if begin < t < end]
    assert end - begin > 0.1 and len(during) > (end - begin) / 0.1


def test_two_threads_at_once():
    expected = poise.EASE(regularization=10).fit(taste_matrix(), show_progress=False).weights_
    found = [None] * 4

    def work(k):
        found[k] = poise.EASE(regularization=10).fit(taste_matrix(), show_progress=False).weights_

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(each, expected) for each in found)


def _train(seed):
    model = poise.WMF(factors=8, regularization=1, alpha=10, num_threads=2).fit(taste_matrix(seed=seed), show_progress=False)
    ids, _ = model.recommend(np.arange(300), taste_matrix(seed=seed))
    ease = poise.EASE(regularization=10, num_threads=2).fit(taste_matrix(seed=seed), show_progress=False)
    return ids.tolist(), ease.objective_


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method):
    """Forked children train too, after their parent has used many threads."""
    here = [_train(seed) for seed in (1, 2)]
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        there = pool.map_async(_train, [1, 2]).get(timeout=100)
    assert there == here


def test_os_fork():
    """A child that uses a model which its parent has trained and used."""
    train = taste_matrix()
    model = poise.EASE(regularization=10, num_threads=2).fit(train, show_progress=False)
    expected = model.recommend(np.arange(300), train)[0]
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        same = np.array_equal(model.recommend(np.arange(300), train)[0], expected)
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


MEMORY = textwrap.dedent("""
    import os, sys
    import numpy as np, scipy.sparse
    import poise
    users, items, each = 400_000, 200, 60
    indices = np.concatenate([np.sort(np.random.RandomState(k % 97).choice(items, each, replace=False)).astype(np.int32)
                              for k in range(97)])
    indices = np.resize(indices, users * each)
    x = scipy.sparse.csr_matrix((np.ones(indices.size, np.float32), indices, np.arange(0, indices.size + 1, each)),
                                shape=(users, items))
    entries = x.data.nbytes + x.indices.nbytes
    # Counting needs no memory of its own: what it takes is what handing the matrix over takes.
    poise.Popularity().fit(x[:1000], show_progress=False)
    def peak():
        for line in open("/proc/self/status"):
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    open("/proc/self/clear_refs", "w").write("5")
    before = peak()
    model = poise.Popularity().fit(x, show_progress=False)
    ids, _ = model.recommend(np.arange(100), x[:100])
    print(peak() - before, entries)
""")


def test_no_second_copy_of_the_matrix():
    out = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, timeout=200)
    assert out.returncode == 0, out.stderr
    more, entries = map(int, out.stdout.split())
    assert entries > 190e6
    assert more < 0.1 * entries, f"{more} bytes more for a matrix of {entries}"
