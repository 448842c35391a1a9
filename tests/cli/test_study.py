"""The study from the command line: what it chooses, says and writes."""
import csv
import html
import io

import pytest

from conftest import shop_log
from studying import FILES, METRICS, identity, kind_of, score, study, table_rows, train_flags, trained_rows, whole  # noqa: F401, fixtures

BEYOND = ["coverage@20", "gini@20", "entropy@20", "popularity@20", "tail-share@20", "novelty@20", "diversity@20", "calibration@20"]
NAMES = {("awmf/weight-decay", False): "1. AWMF, weight decay", ("wmf", False): "2. WMF", ("awmf/dropout", False): "3. AWMF, dropout",
         ("awmf/data-weight-decay", False): "4. AWMF, data/weight decay", ("full-rank", False): "5. Full rank",
         ("full-rank", True): "Full rank, zero diagonal", ("full-rank/dropout", True): "EDLAE (full rank, dropout)",
         ("popularity", False): "Popularity"}


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
