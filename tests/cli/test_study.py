"""The study from the command line: what it chooses, says and writes, and that no interruption changes it."""
import csv
import html
import io
import json
import os
import random
import shutil
import subprocess
import time

import pytest

from conftest import PROGRAM, run, shop_log

FILES = ["report.html", "results.csv", "results.json", "tables.md", "tables.tex"]
METRICS = ["recall@20", "recall@50", "ndcg@100"]
BEYOND = ["coverage@20", "gini@20", "entropy@20", "popularity@20", "tail-share@20", "novelty@20", "diversity@20", "calibration@20"]
FLAGS = ["--ranks", "3,500", "--grid", "extended", "--refine", "1"]
NAMES = {("awmf/weight-decay", False): "1. AWMF, weight decay", ("wmf", False): "2. WMF", ("awmf/dropout", False): "3. AWMF, dropout",
         ("awmf/data-weight-decay", False): "4. AWMF, data/weight decay", ("full-rank", False): "5. Full rank",
         ("full-rank", True): "Full rank, zero diagonal", ("full-rank/dropout", True): "EDLAE (full rank, dropout)",
         ("popularity", False): "Popularity"}


class Study:
    def __init__(self, folder, result=None):
        self.folder = folder
        self.result = result

    def text(self, name):
        return (self.folder / name).read_text()

    @property
    def json(self):
        return json.loads(self.text("results.json"))

    @property
    def files(self):
        return sorted(path.name for path in self.folder.iterdir())


def study(data, out, *flags, threads=1, **kwargs):
    """A study of a fixed grid, unless it says otherwise. One thread, for the problems are small; more of them wait without turning,
    so that a busy machine does not stall."""
    flags = flags if "--grid" in flags else ["--grid", "paper", *flags]
    data = data if isinstance(data, list) else [data]
    kwargs["env"] = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    return Study(out, run("study", *data, "--out", out, "--threads", threads, *flags, **kwargs))


@pytest.fixture(scope="module")
def whole(shop, tmp_path_factory):
    """A study of everything that ran through."""
    return study(shop, tmp_path_factory.mktemp("whole") / "study", *FLAGS)


def identity(row):
    return row["data"], row["model"], row["zero_diagonal"], row["rank"]


def kind_of(point):
    return "unweighted" if point["alpha"] == 1 else "weighted" if point["alpha"] > 1 else "down-weighted"


def score(entry, metric="ndcg@100"):
    return entry["validation"][metric]["mean"]


def train_flags(row):
    """The flags of `poise train` for a row."""
    family, _, variant = row["model"].partition("/")
    flags = ["--model", family, "--lambda", row["lambda"], "--alpha", row["alpha"]]
    if family == "full-rank":
        flags += ["--dropout", row["dropout"], "--lambda-exponent", row["lambda_exponent"]]
        return flags + (["--zero-diagonal"] if row["zero_diagonal"] else [])
    return flags + ["--rank", row["rank"], "--rounds", 1000] + (["--regularizer", variant] if variant else [])


def trained_rows(results):
    return [row for row in results["rows"] if row["model"] != "popularity"]


def table_rows(markdown, heading):
    """The cells of the table under a heading."""
    lines = markdown.split(f"## {heading}\n")[1].strip().split("\n")
    table = [line for line in lines[:next((k for k, line in enumerate(lines) if not line.startswith("|")), len(lines))]]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_files_and_keys(whole):
    assert whole.files == sorted(FILES + ["study.journal"])
    assert whole.result.out == whole.text("tables.md")
    results = whole.json
    assert {"version", "metrics", "choice", "conclusions", "data", "rows", "pairs", "against_popularity", "points", "options",
            "seconds"} <= set(results)
    assert results["metrics"] == METRICS and results["choice"] == "ndcg@100"
    assert {identity(row)[1:] for row in results["rows"]} == \
        {(model, zero, None if model.startswith(("full-rank", "popularity")) else 3) for model, zero in NAMES}
    for row in results["rows"]:
        assert {"data", "model", "rank", "zero_diagonal", "weighted", "alpha", "lambda", "validation", "test", "certificate",
                "seconds"} <= set(row)
        for part in ("validation", "test"):
            assert list(row[part]) == METRICS and all(set(estimate) == {"mean", "stderr"} for estimate in row[part].values())
        assert list(row["beyond_accuracy"]) == BEYOND
        assert [name for name, figure in row["beyond_accuracy"].items() if figure["stderr"] is None] == BEYOND[:3]
        assert row["converged"] and row["weighted"] == (row["kind"] != "unweighted")
        if row["model"] != "popularity":
            assert 0 <= row["certificate"]["relative"] < 1e-3
            assert kind_of(row) == row["kind"]
    for pair in results["pairs"]:
        assert {"data", "model", "rank", "metric", "difference", "interval", "p"} <= set(pair)
        low, high = pair["interval"]
        assert low <= pair["difference"] <= high and 0 <= pair["p"] <= 1
    assert "<html" in whole.text("report.html") and "\\begin{document}" in whole.text("tables.tex")
    page = html.unescape(whole.text("report.html"))
    assert all(conclusion["sentence"] in page for conclusion in results["conclusions"])


def test_csv_is_what_the_json_says(whole):
    lines = list(csv.DictReader(io.StringIO(whole.text("results.csv"))))
    rows = whole.json["rows"]
    assert len(lines) == len(rows) * len(METRICS)
    for line, (row, metric) in zip(lines, [(row, metric) for row in rows for metric in METRICS]):
        assert (line["data"], line["model"], line["kind"], line["metric"]) == ("shop", row["model"], row["kind"], metric)
        assert float(line["test_mean"]) == row["test"][metric]["mean"]
        assert float(line["validation_mean"]) == row["validation"][metric]["mean"]
        if row["model"] != "popularity":
            assert float(line["lambda"]) == row["lambda"] and float(line["objective"]) == row["objective"]
    assert "seconds" not in lines[0] and str(whole.folder) not in whole.text("results.csv")


def test_validation_chooses(whole):
    results = whole.json
    for row in trained_rows(results):
        kind = [point for point in results["points"] if identity(point) == identity(row) and kind_of(point) == row["kind"]]
        highest = max(map(score, kind))
        assert any((point["lambda"], point["alpha"], point["dropout"]) == (row["lambda"], row["alpha"], row["dropout"])
                   and score(point) == highest for point in kind), row
    # A third row stands only where weights below one are better than both others.
    for model in {identity(row) for row in trained_rows(results)}:
        best = {}
        for point in results["points"]:
            if identity(point) == model:
                best[kind_of(point)] = max(score(point), best.get(kind_of(point), 0))
        kinds = {row["kind"] for row in results["rows"] if identity(row) == model}
        assert {"unweighted", "weighted"} <= kinds
        assert ("down-weighted" in kinds) == (best["down-weighted"] > max(best["unweighted"], best["weighted"])), model


def test_rows_are_what_train_and_evaluate_say(poise, shop, whole, tmp_path):
    results = whole.json
    per_user, shown = {}, {}
    for row in trained_rows(results):
        report = poise("train", shop, *train_flags(row), "--out", tmp_path / "m", "--threads", 1, "--json").json
        assert report["objective"] == row["objective"] and report["certificate"] == row["certificate"], row
        test = poise("evaluate", tmp_path / "m", shop, "--metrics", ",".join(METRICS + BEYOND), "--per-user", tmp_path / "users.csv",
                     "--threads", 1, "--json").json
        assert test["metrics"] == {**row["test"], **row["beyond_accuracy"]}
        with (tmp_path / "users.csv").open() as file:
            users = list(csv.DictReader(file))
        per_user[identity(row), row["kind"]] = [float(user["ndcg@100"]) for user in users]
        for metric in BEYOND[3:]:
            shown[identity(row), row["kind"], metric] = [float(user[metric]) for user in users]
    poise("train", shop, "--model", "popularity", "--out", tmp_path / "m")
    popularity = next(row for row in results["rows"] if row["model"] == "popularity")
    assert poise("evaluate", tmp_path / "m", shop, "--json").json["metrics"] == popularity["test"]
    for pair in results["pairs"]:
        if pair["metric"] == "ndcg@100":
            ours, base = (per_user[identity(pair), kind] for kind in (pair["kind"], "unweighted"))
            assert pair["users"] == len(ours) == len(base)
            assert pair["difference"] == pytest.approx(sum(a - b for a, b in zip(ours, base)) / len(ours), abs=1e-6)
    pairs = results["beyond_accuracy_pairs"]
    assert len(pairs) == len(BEYOND[3:]) * sum(row["weighted"] for row in results["rows"])
    for pair in pairs:
        ours, base = (shown[identity(pair), kind, pair["metric"]] for kind in (pair["kind"], "unweighted"))
        assert pair["difference"] == pytest.approx(sum(a - b for a, b in zip(ours, base)) / len(ours), abs=1e-6)
    best = max(results["rows"], key=score)
    assert [row for row in results["rows"] if row["best_on_validation"]] == [best]
    compared = [(identity(row), row["kind"]) for row in results["against_best"]]
    assert compared == [key for key in per_user if key != (identity(best), best["kind"])]
    for row in results["against_best"]:
        ours, others = per_user[identity(row), row["kind"]], per_user[identity(best), best["kind"]]
        assert row["metric"] == "ndcg@100" and row["users"] == len(ours)
        assert row["difference"] == pytest.approx(sum(a - b for a, b in zip(ours, others)) / len(ours), abs=1e-6)
        assert row["interval"][0] <= row["difference"] <= row["interval"][1] and row["p"] <= row["corrected_p"] <= 1


def test_tables(whole):
    results = whole.json
    markdown = whole.text("tables.md")
    for conclusion in results["conclusions"]:
        assert conclusion["sentence"].replace("*", "\\*") in markdown
    for heading, rank in (("Full rank", None), ("Rank 3", 3)):
        cells = table_rows(markdown, heading)
        assert cells[2][2:] == ["Recall@20", "Recall@50", "nDCG@100", "alpha", "Wins"]
        name = ""
        seen = []
        for line in cells[3:]:
            name = line[0] or name
            row = next(row for row in results["rows"] if NAMES[row["model"], row["zero_diagonal"]] == name
                       and (row["rank"] == rank or name == "Popularity") and line[1] in ("", row["kind"]))
            seen.append((name, row["kind"]))
            # A win is a cell that alone has the largest figure in the digits shown.
            rivals = [other for other in results["rows"] if identity(other) == identity(row)]
            wins = 0
            for metric, cell in zip(METRICS, line[2:]):
                shown = [f"{other['test'][metric]['mean']:.3f}" for other in rivals]
                ours = f"{row['test'][metric]['mean']:.3f}"
                bold = len(rivals) > 1 and ours == max(shown) and shown.count(ours) == 1
                wins += bold
                assert cell.split(" ±")[0] == (f"**{ours}**" if bold else ours)
            assert line[6] == ("" if name == "Popularity" else f"{wins}/3")
        assert sorted(seen) == sorted((NAMES[row["model"], row["zero_diagonal"]], row["kind"]) for row in results["rows"]
                                      if row["rank"] == rank or row["model"] == "popularity")


def test_holm(whole):
    rows = whole.json["against_popularity"]
    assert len(rows) == len(trained_rows(whole.json))
    order = sorted(rows, key=lambda row: row["p"])
    highest = 0
    for k, row in enumerate(order):
        highest = max(highest, min(1, row["p"] * (len(rows) - k)))
        assert row["corrected_p"] == pytest.approx(highest)


def test_ranks_that_are_too_large_are_left_out(whole):
    assert "rank 500 is left out" in whole.result.err
    assert not any(row["rank"] == 500 for row in whole.json["rows"] + whole.json["points"])


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


def test_two_data_sets_and_the_papers_figures(poise, shop, tmp_path):
    (tmp_path / "log.csv").write_text(shop_log(8))
    poise("prepare", tmp_path / "log.csv", "--out", tmp_path / "shop")
    flags = ["--models", "1,full-rank", "--ranks", 10, "--no-expand"]
    both = study([shop, tmp_path / "shop"], tmp_path / "both", *flags, "--compare-paper", "ml-20m,msd")
    results = both.json
    assert [data["name"] for data in results["data"]] == ["shop", "shop (2)"]
    assert [data["paper_data"] for data in results["data"]] == ["ml-20m", "msd"]
    assert {identity(row)[:2] for row in results["rows"]} == \
        {(data, model) for data in ("shop", "shop (2)") for model in ("awmf/weight-decay", "full-rank", "popularity")}
    assert "rank 10" not in both.result.err or "left out" not in both.result.err
    full, low = table_rows(both.text("tables.md"), "Full rank"), table_rows(both.text("tables.md"), "Rank 10")
    paper = [line for line in full if line[1] == "the paper"]
    assert [line[2:6] for line in paper] == [["0.360", "0.499", "0.389", "2"], ["0.376", "0.511", "0.407", "1"]]
    paper = [line for line in low if line[1] == "the paper"]
    assert [line[2:6] for line in paper] == [["0.305", "0.426", "0.338", "5"], ["0.297", "0.415", "0.332", "1"]]
    assert [line[-1] for line in paper] == ["9/9", "0/9"]
    # Beside another data set a data set's figures are its own.
    alone = study(tmp_path / "shop", tmp_path / "alone", *flags)
    assert both.text("results.csv").replace("shop (2)", "other").count("other,") == 5 * 3
    assert [line.split(",", 1)[1] for line in both.text("results.csv").splitlines() if line.startswith("shop (2),")] == \
        [line.split(",", 1)[1] for line in alone.text("results.csv").splitlines()[1:]]


def test_a_lambda_that_depends_on_popularity(poise, shop, tmp_path):
    flags = ["--models", "full-rank,ease-nu,full-rank-nu", "--no-expand"]
    found = study(shop, tmp_path / "study", *flags)
    results = found.json
    names = {("full-rank", False): "5. Full rank", ("full-rank/lambda-exponent", False): "Full rank, popularity-dependent lambda",
             ("full-rank/lambda-exponent", True): "EASE, popularity-dependent lambda", ("popularity", False): "Popularity"}
    assert {(row["model"], row["zero_diagonal"]) for row in results["rows"]} == set(names)
    assert [line[0] for line in table_rows(found.text("tables.md"), "Full rank")[3:] if line[0]] == list(names.values())
    assert "EASE, popularity-{}dependent lambda" in found.text("tables.tex") and "& exponent &" in found.text("tables.tex")
    assert "Exponent of" in found.text("report.html")
    assert len(results["points"]) == 25 + 2 * 3 * 25
    lines = list(csv.DictReader(io.StringIO(found.text("results.csv"))))
    for row in trained_rows(results):
        points = [point for point in results["points"] if identity(point) == identity(row)]
        tried = {0} if row["model"] == "full-rank" else {0.25, 0.5, 0.75}
        assert {point["lambda_exponent"] for point in points} == tried and row["lambda_exponent"] in tried
        assert score(row) == max(score(point) for point in points if kind_of(point) == row["kind"])
        line = next(line for line in lines if line["model"] == row["model"] and line["kind"] == row["kind"]
                    and line["zero_diagonal"] == str(row["zero_diagonal"]).lower())
        assert float(line["lambda_exponent"]) == row["lambda_exponent"]
        report = poise("train", shop, *train_flags(row), "--out", tmp_path / "m", "--threads", 1, "--json").json
        assert report["objective"] == row["objective"] and report["certificate"] == row["certificate"], row
    # The journal has it all: both diagonals, and the rows with their exponents.
    again = study(shop, tmp_path / "study", *flags)
    assert " 0 points to train" in again.result.err and again.text("results.csv") == found.text("results.csv")


def test_time_limit(shop, tmp_path):
    flags = ["--models", "full-rank,ease", "--no-expand"]
    assert "next would be 25 points:\n  full-rank: lambda" in study(shop, tmp_path / "study", *flags, "--time-limit", "0s").result.out
    begun = study(shop, tmp_path / "study", *flags, "--time-limit", "0s", "--json")
    assert not begun.result.json["complete"] and len(begun.result.json["missing"]) == 25
    assert [row["model"] for row in begun.json["rows"]] == ["popularity"]
    ended = study(shop, tmp_path / "study", *flags, "--json")
    assert len(ended.result.json["rows"]) == 5 and ended.files == sorted(FILES + ["study.journal"])
    assert len(ended.json["points"]) == 50


@pytest.mark.parametrize("flags", [
    ["--models", "svd"], ["--models", ","], ["--ranks", "0"], ["--ranks", "ten"], ["--grid", "all"], ["--metric", "nonsense"],
    ["--compare-paper", "lastfm"], ["--compare-paper", "msd,netflix"], ["--time-limit", "soon"], ["--tolerance", "0"],
])
def test_bad_flags(shop, tmp_path, flags):
    study(shop, tmp_path / "study", *flags, code=2)
    assert not (tmp_path / "study").exists()


def test_bad_data(poise, shop, log, tmp_path):
    error = study([shop, shop], tmp_path / "study", code=2).result.err
    assert "same data" in error
    poise("prepare", log, "--split", "none", "--out", tmp_path / "untested")
    assert "validation" in study(tmp_path / "untested", tmp_path / "study", code=3).result.err
    study(tmp_path / "nowhere", tmp_path / "study", code=3)
    (tmp_path / "file").write_text("x")
    study(shop, tmp_path / "file", code=4)
    assert (tmp_path / "file").read_text() == "x"


def shuffled(pairs, seed):
    """Swaps the items of random pairs of interactions: every user and item keeps its number of them."""
    draw = random.Random(seed)
    pairs = list(pairs)
    present = set(pairs)
    for _ in range(8 * len(pairs)):
        a, b = draw.randrange(len(pairs)), draw.randrange(len(pairs))
        (u, i), (v, j) = pairs[a], pairs[b]
        if (u, j) not in present and (v, i) not in present:
            present -= {pairs[a], pairs[b]}
            pairs[a], pairs[b] = (u, j), (v, i)
            present |= {pairs[a], pairs[b]}
    return pairs


def test_shuffled_data_teach_nothing(poise, tmp_path):
    poise("synth", "--like", "demo", "--out", tmp_path / "demo.csv")
    pairs = [tuple(line.split(",")) for line in (tmp_path / "demo.csv").read_text().splitlines()[1:]]
    counts = {}
    for _, item in pairs:
        counts[item] = counts.get(item, 0) + 1
    head = set(sorted(counts, key=counts.get)[-120:])  # quick, and no fewer users
    pairs = [pair for pair in pairs if pair[1] in head]
    results = {}
    for name, rows in (("real", pairs), ("shuffled", shuffled(pairs, 3))):
        assert all(sorted(row[k] for row in rows) == sorted(pair[k] for pair in pairs) for k in (0, 1))
        (tmp_path / f"{name}.csv").write_text("user,item\n" + "".join(f"{user},{item}\n" for user, item in rows))
        poise("prepare", tmp_path / f"{name}.csv", "--out", tmp_path / name)
        results[name] = study(tmp_path / name, tmp_path / f"study-{name}", "--models", "weight-decay,ease", "--ranks", 10,
                              "--no-expand")
    statement = "No model is measurably better than popularity"
    for row in results["shuffled"].json["against_popularity"]:
        assert row["difference"] < 0 or row["corrected_p"] > 0.05
    assert results["shuffled"].text("tables.md").startswith(f"# {statement}\n")
    assert [conclusion["sentence"].startswith(statement) for conclusion in results["shuffled"].json["conclusions"]
            if conclusion["overall"]] == [True]
    assert "No row beats popularity" in results["shuffled"].text("tables.md")
    assert statement in results["shuffled"].text("report.html")
    for row in results["real"].json["against_popularity"]:
        assert row["difference"] > 0.05 and row["corrected_p"] < 1e-6
    assert statement not in results["real"].text("tables.md")
    assert "All 4 rows beat popularity" in results["real"].text("tables.md")
