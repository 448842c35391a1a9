"""A study over several splits of the same data: `poise study --seeds`."""
import csv
import io
import json
import math
import subprocess
import time

import pytest

from conftest import PROGRAM, run
from test_given_validation import given  # noqa: F401, a fixture
from studying import FILES, study

FLAGS = ["--grid", "best", "--models", "ease,wmf", "--ranks", "3", "--seeds", "1,2,3"]


@pytest.fixture(scope="module")
def whole(shop, tmp_path_factory):
    return study(shop, tmp_path_factory.mktemp("seeds") / "study", *FLAGS)


def of_split(whole, seed):
    return json.loads((whole.folder / f"seed-{seed}" / "results.json").read_text())


def mean_and_spread(values):
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def like(entry, entries):
    keys = [key for key in ("data", "model", "rank", "zero_diagonal", "kind", "metric") if key in entry]
    return next(other for other in entries if all(other[key] == entry[key] for key in keys))


def test_files(whole):
    assert whole.files == sorted(FILES + ["study.journal", "seed-1", "seed-2", "seed-3"])
    for seed in (1, 2, 3):
        assert sorted(path.name for path in (whole.folder / f"seed-{seed}").iterdir()) == FILES
        assert of_split(whole, seed)["options"]["--seeds"] == str(seed)
    assert whole.result.out == whole.text("tables.md") and whole.json["options"]["--seeds"] == "1,2,3"
    assert [line for line in whole.result.err.splitlines() if line.startswith("split ")] == \
        ["split 1 of 3, by seed 1", "split 2 of 3, by seed 2", "split 3 of 3, by seed 3"]
    assert "\\begin{document}" in whole.text("tables.tex") and 'href="seed-2/report.html"' in whole.text("report.html")


def test_means_and_spreads_are_those_of_the_splits(whole):
    results = whole.json
    splits = [of_split(whole, seed) for seed in (1, 2, 3)]
    assert [split["seed"] for split in results["splits"]] == [1, 2, 3]
    assert [split["data"] for split in results["splits"]] == [split["data"] for split in splits]
    assert len({split["data"][0]["checksum"] for split in results["splits"]}) == 3
    assert len(results["rows"]) == len(splits[0]["rows"]) and len(results["pairs"]) == len(splits[0]["pairs"])
    for row in results["rows"]:
        rows = [like(row, split["rows"]) for split in splits]
        assert row["splits"] == 3 and row["best_in"] == sum(each["best_on_validation"] for each in rows)
        for part in ("validation", "test"):
            for metric, estimate in row[part].items():
                values = [each[part][metric]["mean"] for each in rows]
                assert estimate["by_split"] == values
                assert (estimate["mean"], estimate["spread"]) == pytest.approx(mean_and_spread(values), abs=1e-12)
        if row["model"] != "popularity":
            assert row["by_split"]["alpha"] == [each["alpha"] for each in rows]
            assert row["by_split"]["lambda"] == [each["lambda"] for each in rows]
            popular = [like({"model": "popularity"}, split["rows"]) for split in splits]
            assert row["above_popularity_in"] == sum(
                a["test"]["ndcg@100"]["mean"] > b["test"]["ndcg@100"]["mean"] for a, b in zip(rows, popular))
    for pair in results["pairs"]:
        values = [like(pair, split["pairs"])["difference"] for split in splits]
        assert pair["by_split"] == values and pair["positive_in"] == sum(value > 0 for value in values)
        mean, spread = mean_and_spread(values)
        assert (pair["difference"], pair["spread"]) == pytest.approx((mean, spread), abs=1e-12)
        sizes = splits[0]["data"][0]
        student = 0.95 * math.sqrt(2 / 0.0975)  # of 2 degrees of freedom
        reach = student * spread * math.sqrt(1 / 3 + sizes["test_users"] / sizes["train_users"])
        assert pair["interval"] == pytest.approx([mean - reach, mean + reach], abs=1e-12)
    best = max(results["rows"], key=lambda row: row["validation"]["ndcg@100"]["mean"])
    assert [row for row in results["rows"] if row["best_on_validation"]] == [best]


def test_splits_have_the_sizes_of_the_prepared_data(poise, shop, whole):
    sizes = poise("info", shop, "--json").json
    for split in whole.json["splits"]:
        data = split["data"][0]
        assert data["users"] == sizes["users"] and data["train_users"] == sizes["train"]["users"]
        assert data["validation_users"] == sizes["validation"]["users"] and data["test_users"] == sizes["test"]["users"]
        assert sizes["interactions"] - 20 <= data["interactions"] <= sizes["interactions"]


def test_csv(whole):
    lines = list(csv.DictReader(io.StringIO(whole.text("results.csv"))))
    assert len(lines) == 3 * len(whole.json["rows"])
    for line in lines:
        row = next(row for row in whole.json["rows"] if (row["model"], row["kind"]) == (line["model"], line["kind"]))
        estimate = row["test"][line["metric"]]
        assert (float(line["test_mean"]), float(line["test_spread"])) == (estimate["mean"], estimate["spread"])
        if row["kind"] != "unweighted":
            pair = like({**{key: row[key] for key in ("model", "kind")}, "metric": line["metric"]}, whole.json["pairs"])
            assert float(line["difference_mean"]) == pair["difference"] and int(line["difference_positive"]) == pair["positive_in"]
    assert str(whole.folder) not in whole.text("results.csv")


def test_sentences_follow_from_the_splits(whole):
    for conclusion in whole.json["conclusions"]:
        sentence = conclusion["sentence"]
        assert sentence.replace("*", "\\*") in whole.text("tables.md")
        best = max((row for row in whole.json["rows"] if row["rank"] == conclusion["rank"] and row["model"] != "popularity"),
                   key=lambda row: row["validation"]["ndcg@100"]["mean"])
        pair = like({**{key: best[key] for key in ("model", "rank", "zero_diagonal")}, "kind": "weighted", "metric": "ndcg@100"},
                    whole.json["pairs"])
        low, high = pair["interval"]
        said = "Weighting helps" if low > 0 else "Weighting hurts" if high < 0 else "3 splits do not show whether weighting"
        assert sentence.startswith(said) and f"{pair['difference']:+.4f} nDCG@100 on average" in sentence


def test_resuming_trains_nothing_and_more_seeds_go_on(shop, whole, tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "study.journal").write_bytes((whole.folder / "study.journal").read_bytes())
    again = study(shop, tmp_path / "study", *FLAGS, threads=2)
    assert again.result.err.count(" 0 points to train") == 3
    for name in ("results.csv", "tables.md", "tables.tex", "seed-2/results.csv", "seed-2/tables.md"):
        assert again.text(name) == whole.text(name)
    assert (tmp_path / "study" / "study.journal").read_bytes() == (whole.folder / "study.journal").read_bytes()
    more = study(shop, tmp_path / "study", *FLAGS[:-1], "3,1,4")
    assert more.result.err.count(" 0 points to train") == 2
    assert [split["seed"] for split in more.json["splits"]] == [3, 1, 4]
    assert more.text("seed-3/results.csv") == whole.text("seed-3/results.csv")


def test_kills_change_nothing(shop, whole, tmp_path):
    out = tmp_path / "study"
    journal = out / "study.journal"
    lines = (whole.folder / "study.journal").read_bytes().count(b"\n")
    for moment in (5, lines // 2, lines * 4 // 5):
        process = subprocess.Popen(list(map(str, [PROGRAM, "study", shop, "--out", out, "--threads", 1, *FLAGS])),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < moment):
            time.sleep(0.001)
        process.kill()
        process.wait()
    resumed = study(shop, out, *FLAGS)
    for name in ("results.csv", "tables.md", "tables.tex", "seed-1/results.csv", "seed-3/tables.md"):
        assert resumed.text(name) == whole.text(name)


def test_interruption(shop, whole, tmp_path):
    out = tmp_path / "study"
    process = subprocess.Popen(list(map(str, [PROGRAM, "study", shop, "--out", out, "--threads", 1, *FLAGS])),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (out / "seed-1" / "report.html").exists():
        time.sleep(0.001)
    process.send_signal(2)
    printed, said = process.communicate()
    if process.returncode != 0:
        assert process.returncode == 130 and printed == "" and "the same command goes on from there" in said
        assert not (out / "tables.md").exists() and not list(out.rglob("*.partial"))
    assert study(shop, out, *FLAGS).text("results.csv") == whole.text("results.csv")


def test_the_preparations_own_seed_gives_the_prepared_split(shop, tmp_path):
    flags = ["--grid", "best", "--models", "ease", "--ranks", "3"]
    plain = study(shop, tmp_path / "plain", *flags)
    seeds = study(shop, tmp_path / "seeds", *flags, "--seeds", "98765")
    assert seeds.text("seed-98765/results.csv") == plain.text("results.csv")
    assert seeds.json["splits"][0]["data"] == plain.json["data"]
    assert seeds.text("tables.md").startswith("# One split, by seed 98765\n")
    assert all(row["test"]["ndcg@100"]["spread"] is None for row in seeds.json["rows"])
    assert all(pair["spread"] is None and pair["interval"] == [None, None] for pair in seeds.json["pairs"])
    assert all("A single split cannot show" in conclusion["sentence"] for conclusion in seeds.json["conclusions"])


def test_json(shop, tmp_path):
    found = study(shop, tmp_path / "study", "--grid", "best", "--models", "ease", "--seeds", "5,6", "--json")
    assert {key: each for key, each in found.result.json.items()} == found.json


def test_given_split(given, tmp_path):  # noqa: F811
    found = study(given, tmp_path / "study", "--grid", "best", "--models", "ease", "--seeds", "1,2")
    assert "the given split is drawn again" in found.result.err
    data = [split["data"][0] for split in found.json["splits"]]
    assert data[0]["checksum"] != data[1]["checksum"]
    assert data[0]["train_interactions"] == data[1]["train_interactions"]
    assert all(each["validation_from_training"] > 0 for each in data)
    assert "There is no validation part" in found.text("tables.md")


@pytest.mark.parametrize("seeds", ["1,1", "x", "", "1,x", "-1", "1.5", "4294967296"])
def test_bad_seeds(shop, tmp_path, seeds):
    study(shop, tmp_path / "study", "--seeds", seeds, code=2)
    assert not (tmp_path / "study").exists()


def test_data_that_no_seed_splits(poise, log, tmp_path):
    poise("prepare", log, "--split", "none", "--out", tmp_path / "untested")
    error = study(tmp_path / "untested", tmp_path / "study", "--seeds", "1,2", code=3).result.err
    assert "no seed can draw again" in error and not (tmp_path / "study").exists()


def test_time_limit(shop, tmp_path):
    """Splits for which the time was too short are named, and no figure is over some splits for one row and others for the next."""
    flags = ["--grid", "best", "--models", "ease,wmf", "--ranks", "3", "--seeds", "1,2"]
    begun = study(shop, tmp_path / "study", *flags, "--time-limit", "0s", "--json").result.json
    assert not begun["complete"] and begun["missing"] and begun["unstudied"] == [1, 2] and begun["rows"] == begun["splits"] == []
    assert study(shop, tmp_path / "study", *flags, "--time-limit", "0s").text("tables.md").startswith("# Not complete: 0 of 2 splits")
    study(shop, tmp_path / "study", *flags[:-1], "1")
    one = study(shop, tmp_path / "study", *flags, "--time-limit", "0s")
    assert one.text("tables.md").startswith("# Not complete: 1 of 2 splits is done\n\nThere was too little time for the splits of the seeds 2;")
    assert one.json["unstudied"] == [2] and [split["seed"] for split in one.json["splits"]] == [1]
    assert {row["splits"] for row in one.json["rows"]} == {1}
    whole = study(shop, tmp_path / "study", *flags)
    fresh = study(shop, tmp_path / "fresh", *flags)
    assert whole.json["complete"] and whole.text("results.csv") == fresh.text("results.csv")


def test_searches_that_run_out_of_points_decide_nothing(shop, tmp_path):
    cut = study(shop, tmp_path / "study", "--grid", "best", "--models", "ease", "--seeds", "1,2", "--points", "40")
    assert cut.text("tables.md").startswith("# No search is complete in all of 2 splits, so nothing is said about weighting\n")
    assert not cut.json["complete"] and cut.json["unstudied"] == [] and not any(pair["complete"] for pair in cut.json["pairs"])
    assert all("is not complete in" in conclusion["sentence"] for conclusion in cut.json["conclusions"])
