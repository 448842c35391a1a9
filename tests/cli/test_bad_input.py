"""Bad input gives the right exit code and one clear sentence, and leaves nothing half-written."""
import gzip
import os
import pathlib
import re
import resource
import signal
import subprocess
import time

import pytest

from conftest import HANG, PROGRAM

ROWS = "".join(f"u{u},i{i},{1 + (u * i) % 5}\n" for u in range(30) for i in range(6 + u % 5))


def prepare(poise, tmp_path, content, *flags, code=3, name="log.csv", names_file=True):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = poise("prepare", path, "--out", tmp_path / "data", *flags, code=code)
    if code != 0:
        assert not (tmp_path / "data").exists(), "nothing half-written stays"
        if names_file:
            assert str(path) in result.err
    return result


def test_missing_file(poise, tmp_path):
    assert "missing.csv" in poise("prepare", tmp_path / "missing.csv", "--out", tmp_path / "data", code=3).err


def test_directory_instead_of_file(poise, tmp_path):
    (tmp_path / "folder").mkdir()
    assert "folder" in poise("prepare", tmp_path / "folder", "--out", tmp_path / "data", code=3).err
    poise("prepare", tmp_path / "folder", "--format", "csv", "--out", tmp_path / "data", code=3)


def test_empty_file(poise, tmp_path):
    prepare(poise, tmp_path, "")
    prepare(poise, tmp_path, "user,item,rating\n")
    prepare(poise, tmp_path, "\n\n\n")


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.9, 0.99])
def test_truncated_compression(poise, tmp_path, keep):
    packed = gzip.compress(ROWS.encode())
    prepare(poise, tmp_path, packed[:int(len(packed) * keep)], name="log.csv.gz")
    (tmp_path / "plain").write_text(ROWS)
    packed = subprocess.run(["zstd", "-qc", tmp_path / "plain"], capture_output=True, check=True).stdout
    prepare(poise, tmp_path, packed[:int(len(packed) * keep)], name="log.csv.zst")


def test_corrupt_gzip(poise, tmp_path):
    packed = bytearray(gzip.compress(ROWS.encode()))
    packed[len(packed) // 2] ^= 0x55
    prepare(poise, tmp_path, bytes(packed), name="log.csv.gz")


def test_wrong_column_name(poise, tmp_path):
    error = prepare(poise, tmp_path, "user,item,rating\n" + ROWS, "--columns", "user,film,rating").err
    assert "film" in error and "item" in error, "it names the column, and those there are"


@pytest.mark.parametrize("line, what", [
    (b"u1,i1,good", "number"),
    (b"u1,i1,", "number"),
    (b"u1,i1,nan", "finite"),
    (b"u1,i1,inf", "finite"),
    (b"u1,i1,1e999", "finite"),
    (b"u1", "field"),
    (b"u1,i1", "field"),
    (b"u\x001,i1,1", "NUL"),
    (b"u\xff,i1,1", "UTF-8"),
    (b"u1,i\xc3(,1", "UTF-8"),
    (b"u" * 1_000_000 + b",i1,1", "long"),
    (b"x" * 1_000_000, "field"),
    (b'u1,"i1,1', "quote"),
    (b'u1,"i1"x,1', "quote"),
], ids=["word", "empty", "nan", "inf", "overflow", "one_field", "two_fields", "nul", "not_utf8", "cut_utf8", "long_id", "long_line",
        "open_quote", "text_after_quote"])
def test_bad_line(poise, tmp_path, line, what):
    content = b"user,item,rating\n" + ROWS.encode()
    lines = content.count(b"\n")
    error = prepare(poise, tmp_path, content + line + b"\nu1,i1,1\n").err
    assert f"log.csv:{lines + 1}: " in error and what in error
    assert len(error) < 500, "a sentence, not the line itself"
    skipped = prepare(poise, tmp_path, content + line + b"\nu1,i1,1\n", "--skip-bad-lines", "--json", code=0).json
    assert skipped["skipped_lines"] >= 1


def test_one_user(poise, tmp_path):
    assert "1 user" in prepare(poise, tmp_path, "".join(f"u,i{k}\n" for k in range(9)), names_file=False).err


def test_no_user_left(poise, tmp_path):
    assert "no user is left" in prepare(poise, tmp_path, ROWS, "--min-user-items", "1000", names_file=False).err
    assert "no user is left" in prepare(poise, tmp_path, ROWS, "--keep-above", "100", names_file=False).err


def test_held_out_users_more_than_users(poise, tmp_path):
    assert "--held-out-users" in prepare(poise, tmp_path, ROWS, "--held-out-users", "500", code=2, names_file=False).err


def test_output_not_writable(poise, tmp_path, log, data):
    poise("prepare", tmp_path / "missing.csv", "--out", "/proc/poise", code=4)  # said before the input is read
    poise("train", tmp_path / "missing", "--model", "popularity", "--out", "/proc/poise", code=4)
    (tmp_path / "file").write_text("")
    assert "file" in poise("prepare", log, "--out", tmp_path / "file" / "data", code=4).err
    poise("prepare", log, "--out", "/proc/poise", code=4)
    poise("train", data, "--model", "popularity", "--out", tmp_path / "no" / "such" / "folder", code=4)
    poise("synth", "--like", "demo", "--out", tmp_path / "file" / "x.csv", code=4)


def test_export_not_writable(poise, tmp_path, log):
    poise("prepare", log, "--out", tmp_path / "data", "--export-pro-sg", "/proc/poise", code=4)
    assert not (tmp_path / "data").exists(), "either both appear or none"


def test_output_through_a_link(poise, tmp_path, data):
    (tmp_path / "real").mkdir()
    (tmp_path / "model").symlink_to("real/model")
    for _ in range(2):
        poise("train", data, "--model", "popularity", "--out", tmp_path / "model")
        assert (tmp_path / "model").is_symlink() and (tmp_path / "real" / "model").is_file()
    (tmp_path / "loop").symlink_to("loop")
    poise("train", data, "--model", "popularity", "--out", tmp_path / "loop", code=4)


def test_long_file_name(poise, tmp_path, data):
    poise("train", data, "--model", "popularity", "--out", tmp_path / ("x" * 255))
    poise("train", data, "--model", "popularity", "--out", tmp_path / ("x" * 256), code=4)


class TestDiskFull:
    """A small tmpfs where the tests may mount one, otherwise a limit on the size of files."""

    @pytest.fixture
    def small_disk(self, tmp_path):
        folder = tmp_path / "disk"
        folder.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True).returncode == 0
        limit = None if mounted else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, 64 << 10))
        yield folder, limit
        if mounted:
            subprocess.run(["umount", folder], check=True)

    def test_synth_csv(self, poise, small_disk):
        folder, limit = small_disk
        error = poise("synth", "--like", "demo", "--out", folder / "x.csv", code=4, preexec_fn=limit).err
        assert "x.csv" in error
        assert list(folder.iterdir()) == []

    def test_prepare(self, poise, small_disk):
        folder, limit = small_disk
        poise("synth", "--like", "demo", "--out", folder / "data", code=4, preexec_fn=limit)
        assert list(folder.iterdir()) == []


def test_file_size_limit(poise, tmp_path):
    poise("synth", "--like", "demo", "--out", tmp_path / "x.csv", code=4,
          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
    assert list(tmp_path.iterdir()) == []


def interrupt(process, number=signal.SIGINT):
    process.send_signal(number)
    _, error = process.communicate(timeout=HANG)
    assert process.returncode == 130, error
    assert error.strip().split("\n")[-1] == "poise: interrupted"


def start(*arguments):
    return subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(condition, process):
    while not condition():
        assert process.poll() is None, "it ended before it could be interrupted"
        time.sleep(0.001)


def handles_signals(process):
    """Whether the program has got as far as its signal handlers (see man 5 proc, SigCgt)."""
    with open(f"/proc/{process.pid}/status") as status:
        caught = next(line for line in status if line.startswith("SigCgt")).split()[1]
    return int(caught, 16) >> (signal.SIGTERM - 1) & 1


def cpu_seconds(process):
    with open(f"/proc/{process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bytes_in(folder):
    """Of its files; one that is tried and removed may vanish meanwhile."""
    total = 0
    for path in folder.iterdir():
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            pass
    return total


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("out, moment", [("data", "at once"), ("data", "at work"), ("x.csv", "at work"), ("x.csv", "writing")])
def test_interruption(tmp_path, number, out, moment):
    process = start("synth", "--like", "netflix", "--out", tmp_path / out)
    wait_for(lambda: handles_signals(process), process)
    if moment == "at work":
        wait_for(lambda: cpu_seconds(process) > 0.5, process)
    if moment == "writing":
        wait_for(lambda: bytes_in(tmp_path) > 0, process)
    interrupt(process, number)
    assert list(tmp_path.iterdir()) == [], "nothing half-written stays"


def test_interruption_while_reading(tmp_path):
    rows = "".join(f"{u},{i}\n" for u in range(2000) for i in range(0, 1000, 2))
    (tmp_path / "log.csv").write_text("user,item\n" + rows)
    process = start("prepare", *[tmp_path / "log.csv"] * 40, "--out", tmp_path / "data")
    wait_for(lambda: handles_signals(process) and cpu_seconds(process) > 0.5, process)
    interrupt(process)
    assert [p.name for p in tmp_path.iterdir()] == ["log.csv"]


@pytest.mark.parametrize("writer", [False, True])
def test_interruption_while_waiting_for_a_pipe(tmp_path, writer):
    os.mkfifo(tmp_path / "pipe")
    process = start("prepare", tmp_path / "pipe", "--format", "pairs", "--out", tmp_path / "data")
    if writer:
        with open(tmp_path / "pipe", "w") as pipe:  # returns when the program has opened it
            pipe.write("u1 i1\n")
            pipe.flush()
            interrupt(process)
    else:
        wait_for(lambda: handles_signals(process), process)
        interrupt(process)
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]


def test_memory_limit(poise, tmp_path):
    """Refused beforehand, and what is said to fit does."""
    error = poise("synth", "--like", "netflix", "--out", tmp_path / "data", "--memory-limit", "150M", code=4).err
    assert "memory" in error and list(tmp_path.iterdir()) == []
    scale = re.search(r"--scale ([0-9.e-]+) fits", error).group(1)
    assert 0.01 < float(scale) < 1
    if b"__asan_init" in pathlib.Path(PROGRAM).read_bytes():
        pytest.skip("AddressSanitizer's own memory counts")
    poise("synth", "--like", "netflix", "--out", tmp_path / "data", "--memory-limit", "150M", "--scale", scale)


def test_amounts_that_are_compared_differ(poise, tmp_path):
    """However near the limit is to what is needed."""
    rows = "".join(f"u{u},i{(u * 41 + k * 97) % 3000}\n" for u in range(400) for k in range(40))
    (tmp_path / "log.csv").write_text("user,item\n" + rows)
    poise("prepare", tmp_path / "log.csv", "--out", tmp_path / "data")

    def refused(limit):
        error = poise("train", tmp_path / "data", "--model", "ease", "--alpha", "2", "--memory-limit", limit, "--out", tmp_path / "m", code=4).err
        return re.search(r"needs (about )?([0-9.]+) ([MG])B and the memory limit is ([0-9.]+) ([MG])B", error).groups()[1:]

    needed, unit, _, _ = refused("64M")
    limit = int(float(needed) * {"M": 1e6, "G": 1e9}[unit]) - 60_000
    needed, unit, there, same = refused(limit)
    assert needed != there and float(needed) > float(there) and unit == same


def test_memory_limit_of_prepare(poise, tmp_path):
    with open(tmp_path / "log.csv", "wb") as file:
        file.truncate(1 << 30)
    error = poise("prepare", tmp_path / "log.csv", "--out", tmp_path / "data", "--memory-limit", "100M", code=4).err
    assert "--memory-limit" in error and "expected: about" in error
    assert not (tmp_path / "data").exists()


def test_threads_that_do_not_fit(poise, tmp_path, log):
    error = poise("prepare", log, "--out", tmp_path / "data", "--threads", 1000, "--memory-limit", "400M", code=4).err
    assert "--threads" in error
    most = int(re.search(r"--threads (\d+) or fewer", error).group(1))
    poise("prepare", log, "--out", tmp_path / "data", "--threads", most, "--memory-limit", "400M")
    poise("doctor", "--threads", 1025, code=2)


def test_damaged_data_and_model(poise, tmp_path, data, model):
    """Bytes flipped, files cut: exit 3 whatever the place. (Every byte of small files: the unit tests.)"""
    for path, command in ((data / "data.poise", ("info", data)), (model, ("info", model))):
        whole = path.read_bytes()
        for position in range(0, len(whole), max(1, len(whole) // 60)):
            broken = bytearray(whole)
            broken[position] ^= 1 << (position % 8)
            path.write_bytes(broken)
            poise(*command, code=3)
        for length in range(0, len(whole), max(1, len(whole) // 40)):
            path.write_bytes(whole[:length])
            poise(*command, code=3)
        path.write_bytes(whole + b"x")
        poise(*command, code=3)
        for length in (2**63 - 1, 2**64 - 1, len(whole), 0):
            path.write_bytes(length.to_bytes(8, "little") + whole[8:])
            poise(*command, code=3)
        path.write_bytes(whole)
        poise(*command)


def test_data_and_model_confused(poise, tmp_path, data, model):
    assert "model" in poise("evaluate", data / "data.poise", data, code=3).err
    poise("evaluate", model, model, code=3)
    poise("info", tmp_path / "nothing", code=3)
    poise("train", tmp_path, "--model", "popularity", "--out", tmp_path / "x", code=3)


def test_model_of_other_items(poise, tmp_path, model):
    poise("synth", "--like", "demo", "--scale", "0.2", "--out", tmp_path / "other")
    assert "other items" in poise("evaluate", model, tmp_path / "other", code=3).err
