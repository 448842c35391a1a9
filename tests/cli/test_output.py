"""What commands write: JSON, files, messages, and what happens where nothing can be written."""
import json
import os
import pty
import subprocess

import pytest

from conftest import PROGRAM


def test_json_keys(poise, tmp_path, log, data, model):
    prepared = poise("prepare", log, "--out", tmp_path / "again", "--json").json
    assert list(prepared)[:12] == ["users", "items", "interactions", "density", "duplicates", "empty_ids", "below_threshold",
                                   "outside_catalogue", "skipped_lines", "train", "validation", "test"]
    assert list(prepared)[12:] == ["filtered_users", "filtered_items", "filtered_interactions"]
    trained = poise("train", data, "--model", "popularity", "--out", tmp_path / "m", "--json").json
    assert set(trained) >= {"model", "rank", "lambda", "alpha", "weighting", "objective", "observed_weight", "certificate",
                            "iterations", "rounds", "converged", "seconds", "peak_bytes"}
    assert trained["seconds"]["total"] > 0 and trained["peak_bytes"] > 0
    phases = ["start", "load", "weights", "estimate", "device", "train", "report", "save"]
    seconds = trained["seconds"]
    assert sum(seconds[phase] for phase in phases) <= seconds["total"]
    assert seconds["save write"] + seconds["save sync"] <= seconds["save"]
    evaluated = poise("evaluate", model, data, "--metrics", "coverage@5,map@3", "--json").json
    assert set(evaluated) == {"users", "users_without_targets", "known_targets", "metrics", "same_data", "device", "seconds", "phases"}
    phases = evaluated["phases"]
    assert evaluated["seconds"] == phases["evaluate"]
    assert set(phases) == {"total", "start", "load model", "load data", "device", "evaluate", "report"}
    assert sum(time for phase, time in phases.items() if phase != "total") <= phases["total"]
    assert evaluated["metrics"]["coverage@5"]["stderr"] is None
    assert evaluated["metrics"]["map@3"]["stderr"] >= 0
    assert poise("info", data, "--json").json["interactions"] == prepared["interactions"]
    info = poise("info", model, "--json").json
    assert info["data_checksum"] == poise("info", data, "--json").json["checksum"]
    assert info["options"] == {"model": "popularity"}
    shown = poise("info", model).out
    assert "--model popularity" in shown and "converged" in shown and "objective" not in shown, "null is not shown"


def test_quiet(poise, tmp_path, log):
    result = poise("prepare", log, "--out", tmp_path / "d", "--quiet", "--json")
    assert result.err == ""


@pytest.mark.parametrize("name", ["x.csv.gz", "x.zst", "x.tsv", "x.TXT"])
def test_synth_writes_no_such_file(poise, tmp_path, name):
    assert ".csv" in poise("synth", "--like", "demo", "--out", tmp_path / name, code=2).err
    assert list(tmp_path.iterdir()) == []


def test_synth_csv_in_capitals(poise, tmp_path):
    poise("synth", "--like", "demo", "--scale", "0.1", "--out", tmp_path / "X.CSV")
    assert (tmp_path / "X.CSV").read_text().startswith("user,item\n")


def test_synth_folder_is_the_prepared_csv(poise, tmp_path):
    poise("synth", "--like", "demo", "--seed", 5, "--out", tmp_path / "x.csv")
    poise("prepare", tmp_path / "x.csv", "--out", tmp_path / "a")
    poise("synth", "--like", "demo", "--seed", 5, "--out", tmp_path / "b")
    assert (tmp_path / "a" / "data.poise").read_bytes() == (tmp_path / "b" / "data.poise").read_bytes()


def test_same_bytes_for_any_thread_count(poise, tmp_path):
    seen = set()
    for threads in (1, 2, 5):
        folder = tmp_path / str(threads)
        poise("synth", "--like", "demo", "--values", "--out", tmp_path / f"{threads}.csv", "--threads", threads)
        poise("prepare", tmp_path / f"{threads}.csv", "--out", folder, "--threads", threads)
        poise("train", folder, "--model", "popularity", "--out", folder / "model", "--threads", threads)
        result = poise("evaluate", folder / "model", folder, "--metrics", "recall@20,ndcg@100,map@10,stratified-recall@20",
                       "--per-user", folder / "users.csv", "--threads", threads, "--json").json
        seen.add(((tmp_path / f"{threads}.csv").read_bytes(), (folder / "data.poise").read_bytes(),
                  (folder / "model").read_bytes(), (folder / "users.csv").read_bytes(), json.dumps(result["metrics"])))
    assert len(seen) == 1


def test_progress_bar_only_on_a_terminal(tmp_path):
    command = [PROGRAM, "synth", "--like", "netflix", "--scale", "0.2", "--out", str(tmp_path / "x.csv")]
    plain = subprocess.run(command, capture_output=True, text=True)
    assert "\r" not in plain.stderr
    main, worker = pty.openpty()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=worker)
    os.close(worker)
    shown = b""
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    assert process.wait() == 0
    assert b"\r" in shown and b"% " in shown and b"left" in shown


def test_messages_that_cannot_be_written(tmp_path, log):
    """The work counts, not who listens."""
    for k, redirection in enumerate(("2>&-", "2>/dev/full", "<&- 2>&-")):
        for arguments, code in ((f"prepare '{log}' --out '{tmp_path / str(k)}'", 0), ("frobnicate", 2), ("doctor --threads x", 2), ("", 2)):
            command = f"'{PROGRAM}' {arguments} {redirection}"
            process = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE)
            assert process.returncode == code, command
        assert (tmp_path / str(k) / "data.poise").exists()


def test_results_that_cannot_be_written(log):
    for arguments in (["--help"], ["--version"], ["prepare", "--help"], ["help", "train"], ["completion", "bash"], ["doctor"],
                      ["doctor", "--json"], ["doctor", "--print-config"]):
        full = subprocess.run([PROGRAM, *arguments], stdout=open("/dev/full", "w"), stderr=subprocess.PIPE, text=True)
        assert full.returncode == 4 and "standard output" in full.stderr, arguments
    closed = subprocess.run(["bash", "-c", f"'{PROGRAM}' doctor >&-"], stderr=subprocess.PIPE, text=True)
    assert closed.returncode == 4 and "standard output" in closed.stderr


def test_closed_output(model):
    process = subprocess.Popen(["bash", "-c", f"'{PROGRAM}' info '{model}' | true; exit ${{PIPESTATUS[0]}}"], stderr=subprocess.PIPE)
    process.communicate()
    assert process.returncode == 0
    full = subprocess.run([PROGRAM, "info", model], stdout=open("/dev/full", "w"), stderr=subprocess.PIPE, text=True)
    assert full.returncode == 4 and "standard output" in full.stderr
