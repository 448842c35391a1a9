"""No interruption changes what a study says: journals, kills, time limits."""
import json
import random
import shutil
import subprocess
import time

from conftest import PROGRAM
from studying import FILES, FLAGS, study, whole  # noqa: F401, fixtures


def test_resuming_a_finished_study_trains_nothing(shop, whole, tmp_path):
    copy = tmp_path / "study"
    copy.mkdir()
    (copy / "study.journal").write_bytes((whole.folder / "study.journal").read_bytes())
    again = study(shop, copy, *FLAGS)
    assert (copy / "study.journal").read_bytes() == (whole.folder / "study.journal").read_bytes()
    for name in ("results.csv", "tables.md", "tables.tex"):
        assert again.text(name) == whole.text(name)
    assert " 0 points to train" in again.result.err


def test_progress_is_a_line_every_few_seconds(shop, tmp_path):
    """However fast the points are; how many lines there may be follows from the time that the run took."""
    begin = time.monotonic()
    result = study(shop, tmp_path / "study", "--models", "full-rank,ease,wmf", "--ranks", "3,5", "--no-expand")
    seconds = time.monotonic() - begin
    assert len(result.json["points"]) == 100
    lines = result.result.err.splitlines()
    progress = [line for line in lines if " done" in line]
    assert len(progress) <= seconds / 5 + 1
    assert all("best ndcg@100" in line for line in progress)
    others = [line for line in lines if line not in progress and not line.startswith("warning: matrix products")]
    assert len(others) == 2 and "100 points to train" in others[0] and "report.html" in others[1], others


def test_kills_change_nothing(shop, whole, tmp_path):
    """Killed at ten moments. Where a run ends before its signal comes, its journal loses its end and counts for nothing."""
    out = tmp_path / "study"
    journal = out / "study.journal"
    entries = lambda: journal.read_bytes().count(b"\n") if journal.exists() else 0  # noqa: E731
    draw = random.Random(11)
    lines = (whole.folder / "study.journal").read_bytes().count(b"\n")
    for moment in sorted(draw.choices(range(lines), k=10)):
        while True:
            process = subprocess.Popen(list(map(str, [PROGRAM, "study", shop, "--out", out, "--threads", 1, *FLAGS])),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while entries() < moment and process.poll() is None:
                time.sleep(0.0005)
            time.sleep(draw.uniform(0, 0.004))
            process.kill()
            if process.wait() != 0:
                break
            kept = journal.read_bytes().splitlines(keepends=True)
            shutil.rmtree(out)
            out.mkdir()
            journal.write_bytes(b"".join(kept[:max(1, moment // 2)]))
    resumed = study(shop, out, *FLAGS)
    assert resumed.text("results.csv") == whole.text("results.csv")
    assert resumed.files == whole.files


def test_order_and_threads_change_nothing(shop, whole, tmp_path):
    header, *lines = (whole.folder / "study.journal").read_bytes().splitlines(keepends=True)
    draw = random.Random(12)
    draw.shuffle(lines)
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "study.journal").write_bytes(header + b"".join(lines[:len(lines) * 3 // 4]) + lines[-1][:40])
    resumed = study(shop, tmp_path / "study", *FLAGS, threads=2)
    assert resumed.text("results.csv") == whole.text("results.csv")
    keys = [json.loads(line)["key"] for line in (tmp_path / "study" / "study.journal").read_text().splitlines()[1:]]
    assert len(set(keys)) == len(keys) and set(keys) <= {json.loads(line)["key"] for line in lines}


def test_another_metric_on_the_same_journal(shop, tmp_path):
    flags = ["--models", "full-rank", "--no-expand", "--metrics", "recall@20,ndcg@90,ndcg@100"]
    study(shop, tmp_path / "one", *flags, "--journal", tmp_path / "journal")
    # With 60 items ndcg@90 chooses as ndcg@100 does, and what is said against popularity is about it all the same.
    for metric in ("ndcg@90", "recall@20"):
        reused = study(shop, tmp_path / "two", *flags, "--journal", tmp_path / "journal", "--metric", metric)
        fresh = study(shop, tmp_path / metric, *flags, "--metric", metric)
        assert {row["metric"] for row in reused.json["against_popularity"]} == {metric}
        assert reused.json["against_popularity"] == fresh.json["against_popularity"]
        assert reused.text("tables.md") == fresh.text("tables.md") and reused.text("results.csv") == fresh.text("results.csv")


def test_time_limit(shop, tmp_path):
    flags = ["--models", "full-rank,ease", "--no-expand"]
    assert "next would be 25 points:\n  full-rank: lambda" in study(shop, tmp_path / "study", *flags, "--time-limit", "0s").result.out
    begun = study(shop, tmp_path / "study", *flags, "--time-limit", "0s", "--json")
    assert not begun.result.json["complete"] and len(begun.result.json["missing"]) == 25
    assert [row["model"] for row in begun.json["rows"]] == ["popularity"]
    ended = study(shop, tmp_path / "study", *flags, "--json")
    assert len(ended.result.json["rows"]) == 5 and ended.files == sorted(FILES + ["study.journal"])
    assert len(ended.json["points"]) == 50
