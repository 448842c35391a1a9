"""poise study --alpha-negative: the weight of dislikes in every search of a study."""
import csv

import pytest

from conftest import run
from studying import study, trained_rows, train_flags


@pytest.fixture(scope="module")
def rated(tmp_path_factory):
    """Ratings of 5 for items of a user's kind, 1 for the others, which are dislikes."""
    folder = tmp_path_factory.mktemp("rated")
    rows = [f"u{u},i{i},{5 if (i + u // 7) % 4 == u % 4 else 1}" for u in range(120) for i in range(u % 3, 90, 3)]
    (folder / "log.csv").write_text("user,item,rating\n" + "\n".join(rows) + "\n")
    run("prepare", folder / "log.csv", "--keep-above", 3.5, "--dislike-below", 3, "--held-out-users", 25, "--min-user-items", 2, "--out", folder / "data")
    return folder / "data"


MODELS = ("--models", "ease,full-rank,wmf", "--ranks", 3)


def test_one_weight_for_all_models(poise, rated, tmp_path):
    done = study(rated, tmp_path / "study", *MODELS, "--no-expand", "--alpha-negative", 4)
    plain = study(rated, tmp_path / "plain", *MODELS, "--no-expand")
    rows = trained_rows(done.json)
    assert {row["alpha_negative"] for row in rows} == {4} and {row["alpha_negative"] for row in trained_rows(plain.json)} == {1}
    assert done.json["options"]["--alpha-negative"] == "4" and "--alpha-negative" not in plain.json["options"]
    with open(tmp_path / "study" / "results.csv", newline="") as file:
        assert {line["alpha_negative"] for line in csv.DictReader(file) if line["model"] != "popularity"} == {"4"}
    for name, said in (("report.html", "α of dislikes"), ("tables.md", "alpha of dislikes"), ("tables.tex", "$\\alpha_-$")):
        assert said in done.text(name) and (name == "report.html" or said not in plain.text(name))
    assert ">α of dislikes<" not in plain.text("report.html")
    # A row is the model that `train` makes.
    row = next(row for row in rows if row["model"] == "full-rank" and row["kind"] == "weighted")
    poise("train", rated, *train_flags(row), "--alpha-negative", 4, "--out", tmp_path / "m")
    measured = poise("evaluate", tmp_path / "m", rated, "--json").json["metrics"]["ndcg@100"]
    assert measured["mean"] == pytest.approx(row["test"]["ndcg@100"]["mean"], abs=1e-9)
    again = study(rated, tmp_path / "study", *MODELS, "--no-expand", "--alpha-negative", 4)
    assert again.text("results.csv") == done.text("results.csv")


def test_it_is_an_axis(rated, tmp_path):
    listed = study(rated, tmp_path / "listed", "--models", "ease", "--no-expand", "--alpha-negative", "0.5,1,4").json
    assert {point["alpha_negative"] for point in listed["points"]} == {0.5, 1, 4}
    for row in trained_rows(listed):
        of_kind = [point for point in listed["points"] if point["kind"] == row["kind"]]
        best = max(of_kind, key=lambda point: point["validation"]["ndcg@100"]["mean"])
        assert row["validation"]["ndcg@100"]["mean"] == pytest.approx(best["validation"]["ndcg@100"]["mean"], abs=1e-3)
    searched = study(rated, tmp_path / "auto", "--grid", "best", "--models", "ease", "--alpha-negative", "auto", "--points", 60).json
    assert len({point["alpha_negative"] for point in searched["points"]}) > 1
    within = study(rated, tmp_path / "within", "--grid", "best", "--models", "ease", "--alpha-negative", "0.5,4", "--points", 60).json
    assert all(0.5 <= point["alpha_negative"] <= 4 for point in within["points"])


def test_means_over_splits_have_it(rated, tmp_path):
    done = study(rated, tmp_path / "seeds", "--models", "ease", "--no-expand", "--alpha-negative", "0.5,8", "--seeds", "1,2").json
    row = trained_rows(done)[0]
    values = row["by_split"]["alpha_negative"]
    assert set(values) <= {0.5, 8} and row["alpha_negative"] == pytest.approx((values[0] * values[1]) ** 0.5)


def test_what_cannot_be(poise, rated, shop, tmp_path):
    common = ("--models", "ease", "--out", tmp_path / "out")
    assert "the data have none" in poise("study", shop, *common, "--alpha-negative", 2, code=2).err
    assert "--alpha-negative" in poise("study", rated, *common, "--alpha-negative", 0, code=2).err
    assert "--alpha-negative" in poise("study", rated, *common, "--alpha-negative", "often", code=2).err
    assert "auto is for --grid best" in poise("study", rated, *common, "--grid", "paper", "--alpha-negative", "auto", code=2).err
