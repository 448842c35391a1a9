"""Features of items, from a file to lists with items that nobody has."""
import csv
import json
import random

import pytest

from conftest import run
from serving import serving


def rows():
    draw = random.Random(5)
    return [(f"u{u}", f"i{i}") for u in range(150) for i in draw.sample(range(40), 8)]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.csv"
    path.write_text("user,item\n" + "".join(f"{u},{i}\n" for u, i in rows()))
    return path


@pytest.fixture(scope="module")
def features(log):
    path = log.with_name("features.csv")
    lines = [f"i{k},kind {k % 4},{1 + k % 3}" for k in range(44)]  # i40 to i43 are in no row
    path.write_text("item,feature,value\n" + "\n".join(lines) + "\n")
    return path


def test_prepare_reads_and_counts(log, features, tmp_path):
    plain = run("prepare", log, "--out", tmp_path / "plain", "--json").json
    assert "features" not in plain
    report = run("prepare", log, "--item-features", features, "--out", tmp_path / "data", "--json").json
    assert (report["features"], report["items_with_features"], report["cold_items"]) == (4, 44, 4)
    assert report["items"] == plain["items"] + 4
    assert report["interactions"] == plain["interactions"]
    info = run("info", tmp_path / "data", "--json").json
    assert info["features"] == 4 and info["cold_items"] == 4
    text = run("prepare", log, "--item-features", features, "--out", tmp_path / "again").out
    assert "4 features of 44 items; 4 items have no training row" in text
    assert (tmp_path / "data/data.poise").read_bytes() == (tmp_path / "again/data.poise").read_bytes()


def test_filtered_items_are_not_cold_items(log, features, tmp_path):
    common = ("--min-item-users", 29, "--out", tmp_path / "data")
    kept = run("prepare", log, *common, "--json").json
    report = run("prepare", log, *common, "--item-features", features, "--json").json
    assert report["unknown_feature_items"] == kept["filtered_items"] > 0
    assert report["items"] == kept["items"] + 4


@pytest.mark.parametrize("line, problem", [("i1,red,nan", "the value 'nan'"), ("i1,red,-2", "the value '-2'"),
                                           ("i1,red", "2 fields"), (",red,1", "no item id"), ("i1,,1", "no feature")])
def test_bad_lines_have_numbers(log, tmp_path, line, problem):
    path = tmp_path / "bad.csv"
    path.write_text(f"item,feature,value\ni0,red,1\n{line}\ni2,red,1\n")
    result = run("prepare", log, "--item-features", path, "--out", tmp_path / "data", code=3)
    assert f"{path}:3: {problem}" in result.err
    assert not (tmp_path / "data").exists()
    report = run("prepare", log, "--item-features", path, "--skip-bad-lines", "--out", tmp_path / "data", "--json").json
    assert report["skipped_lines"] == 1 and report["items_with_features"] == 2


def test_a_flipped_bit_is_found(log, features, tmp_path):
    run("prepare", log, "--item-features", features, "--out", tmp_path / "data")
    path = tmp_path / "data/data.poise"
    content = bytearray(path.read_bytes())
    content[-3] ^= 4
    path.write_bytes(content)
    run("info", tmp_path / "data", code=3)


def test_the_inverse_is_kept_with_features(prepared, tmp_path):
    """The same model, and beside it the inverse of its own system: without features it has other bytes."""
    for name, weight in (("kept", 3), ("other", 0)):
        plain, kept = tmp_path / f"{name}.plain", tmp_path / name
        trained(prepared, plain, "--feature-weight", weight)
        trained(prepared, kept, "--feature-weight", weight, "--keep-inverse")
        assert tensor(plain) == tensor(kept)
    assert (tmp_path / "kept.inverse").read_bytes() != (tmp_path / "other.inverse").read_bytes()


def test_the_estimate_counts_features(log, prepared, tmp_path):
    run("prepare", log, "--out", tmp_path / "plain")
    bytes_of = lambda *arguments: run("train", *arguments, "--model", "ease", "--out", tmp_path / "m", "--json").json["expected_bytes"]
    with_features, without = bytes_of(prepared), bytes_of(prepared, "--feature-weight", 0)
    assert with_features - without > 4 * 8 * 64  # products of the features with the probes


@pytest.fixture(scope="module")
def prepared(log, features, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "data"
    run("prepare", log, "--item-features", features, "--out", folder)
    return folder


def trained(data, path, *flags):
    return run("train", data, "--model", "ease", "--lambda", 20, *flags, "--out", path, "--json").json


def tensor(path):
    """The bytes of B."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    first, last = json.loads(content[8:8 + size])["B"]["data_offsets"]
    return content[8 + size + first:8 + size + last]


@pytest.mark.parametrize("alpha", [1, 3])
def test_training_learns_and_proves(prepared, tmp_path, alpha):
    weighted = trained(prepared, tmp_path / "one", "--alpha", alpha)
    more = trained(prepared, tmp_path / "two", "--alpha", alpha, "--feature-weight", 5)
    none = trained(prepared, tmp_path / "none", "--alpha", alpha, "--feature-weight", 0)
    assert none["observed_weight"] < weighted["observed_weight"] < more["observed_weight"]
    for report in (weighted, more, none):
        assert report["converged"] and report["certificate"]["worst_column"] <= 1e-6
    assert len({tensor(tmp_path / name) for name in ("one", "two", "none")}) == 3
    for name, report in (("one", weighted), ("two", more), ("none", none)):
        proven = run("certify", tmp_path / name, prepared, "--json").json
        assert proven["converged"] and proven["observed_weight"] == pytest.approx(report["observed_weight"])
        assert proven["objective"] == pytest.approx(report["objective"], rel=1e-6)


def test_without_weight_and_cold_items_it_is_the_plain_model(log, tmp_path):
    path = tmp_path / "features.csv"
    path.write_text("item,feature\n" + "".join(f"i{k},kind {k % 4}\n" for k in range(40)))
    run("prepare", log, "--out", tmp_path / "plain")
    run("prepare", log, "--item-features", path, "--out", tmp_path / "featured")
    for flags in (("--alpha", 1), ("--alpha", 3), ("--alpha", 0.4, "--lambda-exponent", 0.5)):
        trained(tmp_path / "plain", tmp_path / "a", *flags)
        trained(tmp_path / "featured", tmp_path / "b", "--feature-weight", 0, *flags)
        trained(tmp_path / "featured", tmp_path / "c", *flags)
        assert tensor(tmp_path / "a") == tensor(tmp_path / "b") != tensor(tmp_path / "c")


def test_lists_have_items_that_nobody_has(prepared, tmp_path):
    trained(prepared, tmp_path / "model", "--feature-weight", 20)
    # i40 has the feature of i0, i4, i8, ...
    (tmp_path / "new").write_text("i40\ni41\ni42\ni43\n")
    answer = run("recommend", tmp_path / "model", "--items", "i0,i4,i8,i12", "--only", tmp_path / "new", "--json", "-k", 4).json["recommendations"]
    assert answer[0]["item"] == "i40" and answer[0]["score"] > 0


def test_explanations_name_features(prepared, tmp_path):
    trained(prepared, tmp_path / "model", "--feature-weight", 20)
    ask = ("recommend", tmp_path / "model", "--items", "i0,i4,i1", "--explain", "-k", 5)
    text = run(*ask, "--json").out
    for each in json.loads(text)["recommendations"]:
        kind = int(each["item"][1:]) % 4
        for reason in each["because"]:
            assert reason["features"] == ([f"kind {kind}"] if int(reason["item"][1:]) % 4 == kind else [])
        assert sum(reason["contribution"] for reason in each["because"]) == pytest.approx(each["score"], abs=1e-5)
    assert "(kind 0)" in run(*ask).out
    with serving(tmp_path / "server", tmp_path / "model") as server:
        answer = server.post("/v1/recommend", {"history": ["i0", "i4", "i1"], "k": 5, "explain": True})
        assert answer["recommendations"] == json.loads(text)["recommendations"]
        assert server.post("/v1/similar", {"item": "i40", "k": 3})["similar"][0]["score"] > 0
        # Items that nobody has are a history, too.
        cold = server.post("/v1/recommend", {"history": ["i41"], "k": 3})["recommendations"]
        assert {int(each["item"][1:]) % 4 for each in cold} == {1}
    trained(prepared, tmp_path / "plain", "--feature-weight", 0)
    because = run("recommend", tmp_path / "plain", *ask[2:], "--json").json["recommendations"][0]["because"]
    assert all("features" not in reason for reason in because)


def test_models_that_do_not_know_features_say_so(log, prepared, tmp_path):
    run("prepare", log, "--out", tmp_path / "plain")
    out = ("--out", tmp_path / "model")
    assert "--item-features" in run("train", tmp_path / "plain", "--model", "ease", "--feature-weight", 2, *out, code=2).err
    assert "the data have none" in run("train", tmp_path / "plain", "--model", "ease-features", *out, code=2).err
    assert "--feature-weight" in run("train", prepared, "--model", "wmf", "--feature-weight", 2, *out, code=2).err
    run("train", prepared, "--model", "ease", "--feature-weight", -1, *out, code=2)
    run("train", prepared, "--model", "wmf", "--rank", 3, *out)


def weight(point):
    return point.get("feature_weight", 1)


def test_a_search_finds_the_weight(prepared, tmp_path):
    common = ("search", prepared, "--model", "ease", "--alpha", 1, "--lambda", 20, "--json")
    found = run(*common, "--grid", "paper", "--no-expand", "--feature-weight", "0,1,50").json
    assert sorted(weight(point) for point in found["points"]) == [0, 1, 50]
    best = max(found["points"], key=lambda point: point["validation"]["ndcg@100"]["mean"])
    assert weight(found["best"]) == weight(best)
    profile = run("search", prepared, "--model", "ease-features", "--alpha", 1, "--lambda", 20, "--json").json
    assert profile["complete"] and len({weight(point) for point in profile["points"]}) >= 3
    config = tmp_path / "config.toml"
    config.write_text("feature-weight = \"0,1,50\"\n")
    again = run(*common, "--grid", "paper", "--no-expand", "--config", config).json
    assert [weight(point) for point in again["points"]] == [weight(point) for point in found["points"]]


def test_a_study_has_rows_with_features(prepared, tmp_path):
    run("study", prepared, "--models", "ease-features", "--grid", "paper", "--points", 8, "--out", tmp_path / "study")
    results = json.loads((tmp_path / "study/results.json").read_text())
    assert {row["model"] for row in results["rows"]} == {"popularity", "full-rank/feature-weight"}
    assert all(row["feature_weight"] > 0 for row in results["rows"] if row["model"] != "popularity")
    with open(tmp_path / "study/results.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    for row in results["rows"]:
        figures = {line["feature_weight"] for line in lines if (line["model"], line["kind"]) == (row["model"], row["kind"])}
        assert figures == {"" if row["model"] == "popularity" else repr(row["feature_weight"]).removesuffix(".0")}


def test_cold_items_are_ranked_alone(log, features, tmp_path):
    data = tmp_path / "data"
    split = ("prepare", log, "--split", "cold-items", "--min-user-items", 1, "--out", data)
    assert "--item-features" in run(*split, code=2).err
    report = run(*split, "--item-features", features, "--json").json
    assert report["cold_items"] == 4 + 4  # those of the file alone, and a tenth of those with users
    assert report["interactions"] == 150 * 8 and report["users"] == 150
    run("prepare", log, "--split", "cold-items", "--min-user-items", 1, "--item-features", features, "--seed", 3, "--out", tmp_path / "other")
    assert (data / "data.poise").read_bytes() != (tmp_path / "other/data.poise").read_bytes()
    trained(data, tmp_path / "none", "--feature-weight", 0)
    run("train", data, "--model", "popularity", "--out", tmp_path / "popularity")
    figures = [run("evaluate", tmp_path / name, data, "--metrics", "recall@8,ndcg@3,auc", "--json").json["metrics"] for name in ("none", "popularity")]
    assert figures[0] == figures[1]
    assert figures[0]["recall@8"]["mean"] == 1  # there are no more than eight
    assert figures[0]["auc"]["mean"] == pytest.approx(0.5)
    run("search", data, "--model", "ease", "--alpha", 1, "--points", 3)
    log_with_values = tmp_path / "rated.csv"
    log_with_values.write_text("user,item,rating\n" + "".join(f"{u},{i},{1 + k % 5}\n" for k, (u, i) in enumerate(rows())))
    refused = run("prepare", log_with_values, "--split", "cold-items", "--item-features", features, "--keep-above", 2, "--dislike-below", 2,
                  "--out", tmp_path / "rated", code=2)
    assert "cold-items" in refused.err


def test_what_features_take_is_known_before_any_work(log, tmp_path):
    """200 000 features of few items take more than everything else, and a search or study that cannot have them ends before it begins."""
    (tmp_path / "many.csv").write_text("item,feature\n" + "".join(f"i{k % 40},feature {k}\n" for k in range(200_000)))
    run("prepare", log, "--item-features", tmp_path / "many.csv", "--out", tmp_path / "data")
    limit = ("--memory-limit", "95M", "--threads", 1)
    out = ("--out", tmp_path / "out")
    for command, model in (("train", "--model"), ("search", "--model"), ("study", "--models")):
        flags = ("--ranks", 2) if command == "study" else ()
        for more in ((), ("--neighbours", 5)):
            error = run(command, tmp_path / "data", model, "ease", *more, *flags, *out, *limit, code=4).err
            assert "the memory limit is" in error and "usually" not in error and "searches" not in error
    assert not (tmp_path / "data" / "search.journal").exists() and not (tmp_path / "out" / "results.json").exists()
    run("train", tmp_path / "data", "--model", "ease", "--feature-weight", 0, "--out", tmp_path / "model", *limit)
