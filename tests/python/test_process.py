"""Ctrl-C, callbacks, threads and forked processes."""
import io
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from conftest import HANG, taste_matrix

import poise
from poise._progress import Progress

# Work that does not end by itself: whoever returns from it has answered the signal. On random data rounds go on and on.
ENDLESS_FIT = """poise.WMF(factors=60, regularization=0.01, alpha=50, iterations=10**9, least_decrease=0, tolerance=1e-12).fit(
        data.train, show_progress=False)"""
ENDLESS_SEARCH = "poise.search(data, poise.EASE(), regularization=np.geomspace(1, 1e4, 200_000), alpha=[1], grid='paper', show_progress=False)"
LONG = """
import numpy as np, scipy.sparse
import poise
random = np.random.RandomState(1)
entries = (random.randint(20000, size=300000), random.randint(1500, size=300000))
x = scipy.sparse.csr_matrix((np.ones(300000, np.float32), entries), shape=(20000, 1500))
data = poise.split(x, min_user_items=0)
print("ready", flush=True)
try:
    {work}
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    model = poise.EASE(regularization=10).fit(x[:, :50], show_progress=False)  # all is well afterwards
    print("well" if model.converged_ else "ill", flush=True)
"""


def cpu_ticks(process):
    """User and system time of a process (man 5 proc)."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def wait_until_at_work(process):
    """Until it has computed for half a second more."""
    wanted = cpu_ticks(process) + os.sysconf("SC_CLK_TCK") // 2
    while cpu_ticks(process) < wanted:
        assert process.poll() is None, "it ended before it could be interrupted"
        time.sleep(0.01)


@pytest.mark.parametrize("work", [ENDLESS_FIT, ENDLESS_SEARCH], ids=["fit", "search"])
def test_ctrl_c(work):
    process = subprocess.Popen([sys.executable, "-c", LONG.format(work=work)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        wait_until_at_work(process)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=HANG)[0] == "interrupted\nwell\n"
        assert process.returncode == 0
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
    clock = [0.0]
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("poise._progress.time.monotonic", lambda: clock[0])
    with Progress(True) as progress:
        progress.report("solving", 0, 10, "columns")
        clock[0] += 0.2
        progress.report("solving", 5, 10, "columns")
    assert "solving [############            ]  50 %" in screen.getvalue()
    assert screen.getvalue().endswith("\r\x1b[K")
    assert Progress(False).report is None


def test_the_interpreter_goes_on_meanwhile():
    """Other Python threads run while a model trains: one of them ends work that would never end."""
    entered = threading.Event()

    def interrupt():
        entered.wait()
        for _ in range(50):  # naps in which the training has surely begun
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    data = poise.split(taste_matrix())
    # Compiled: an interrupt that leaves eval() of a string ends the interpreter by SIGINT at its exit, caught or not.
    search = compile(ENDLESS_SEARCH, "search", "eval")
    with pytest.raises(KeyboardInterrupt):
        entered.set()
        eval(search, {"poise": poise, "np": np, "data": data})
    thread.join()


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
        there = pool.map_async(_train, [1, 2]).get(timeout=HANG)
    assert there == here


def test_os_fork():
    """A child that uses a model which its parent has trained and used."""
    train = taste_matrix()
    model = poise.EASE(regularization=10, num_threads=2).fit(train, show_progress=False)
    expected = model.recommend(np.arange(300), train)[0]
    child = os.fork()
    if child == 0:
        signal.alarm(HANG)
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
    out = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, timeout=HANG)
    assert out.returncode == 0, out.stderr
    more, entries = map(int, out.stdout.split())
    assert entries > 190e6
    assert more < 0.1 * entries, f"{more} bytes more for a matrix of {entries}"


@pytest.mark.parametrize("variables, right", [({}, True), ({"OMPI_COMM_WORLD_SIZE": "1"}, True), ({"OMPI_COMM_WORLD_SIZE": "4"}, False),
                                              ({"PMI_SIZE": "2"}, False), ({"OMPI_COMM_WORLD_SIZE": "4", "POISE_EACH_PROCESS": "1"}, True)])
def test_several_processes_of_a_launcher_are_refused(variables, right):
    """Each would do all the work, and write the same files."""
    process = subprocess.run([sys.executable, "-c", "import poise"], capture_output=True, text=True, timeout=HANG, env={**os.environ, **variables})
    assert (process.returncode == 0) == right
    if not right:
        assert "each of them would do all the work" in process.stderr
