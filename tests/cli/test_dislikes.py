"""Known dislikes, from a log with ratings to the lists that leave them out."""
import csv
import io
import json
import random

import pytest

from conftest import run
from serving import serving


def ratings():
    """Ratings of 1 to 5: users of four tastes, who like what they know of their own taste and little else."""
    draw = random.Random(3)
    rows = []
    for user in range(200):
        for item in draw.sample(range(48), 18):
            high = item % 4 == user % 4 or draw.random() < 0.25
            rows.append((f"u{user}", f"i{item}", draw.choice((4, 5)) if high else draw.choice((1, 2, 3))))
    rows += [("u0", "i1", 5), ("u0", "i1", 1), ("grump", "i1", 1), ("u3", "unloved", 1)]
    return rows


def pairs(test):
    high = {(u, i) for u, i, r in ratings() if r > 3.5}
    return {(u, i) for u, i, r in ratings() if test(r)} - (set() if test(5) else high)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "ratings.csv"
    path.write_text("user,item,rating\n" + "".join(f"{u},{i},{r}\n" for u, i, r in ratings()))
    return path


THRESHOLDS = ("--keep-above", 3.5, "--dislike-below", 2.5)


@pytest.fixture(scope="module")
def rated(log, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rated")
    report = run("prepare", log, *THRESHOLDS, "--min-user-items", 2, "--held-out-users", 30, "--out", folder / "data", "--json").json
    return folder / "data", report


def lists_of(result):
    lists = {}
    for row in csv.DictReader(io.StringIO(result.out)):
        lists.setdefault(row["user"], []).append(row["item"])
    return lists


def test_counted_per_part(poise, rated, log, tmp_path):
    folder, report = rated
    low = pairs(lambda rating: rating < 2.5)
    parts = [report[part]["dislikes"] for part in ("train", "validation", "test")]
    assert min(parts) > 0
    assert sum(parts) + report["dropped_dislikes"] == len({(u, i) for u, i, r in ratings() if r < 2.5})
    assert report["dropped_dislikes"] >= 3  # liked too, of a user without likes, of an item without likes
    assert sum(parts) <= len(low)
    assert report["below_threshold"] == sum(2.5 <= r <= 3.5 for _, _, r in ratings())
    info = poise("info", folder, "--json").json
    assert info["train"]["dislikes"] == parts[0]
    # The rest is what the same command gives without them.
    plain = poise("prepare", log, "--keep-above", 3.5, "--min-user-items", 2, "--held-out-users", 30, "--out", tmp_path / "plain", "--json").json
    for part in ("train", "validation", "test"):
        assert "dislikes" not in plain[part]
        assert plain[part].items() <= report[part].items()


def test_data_without_dislikes_keep_their_bytes(poise, log, tmp_path):
    poise("prepare", log, "--keep-above", 3.5, "--out", tmp_path / "a")
    poise("prepare", log, "--keep-above", 3.5, "--dislike-below", 0, "--out", tmp_path / "b")
    assert (tmp_path / "a" / "data.poise").read_bytes() == (tmp_path / "b" / "data.poise").read_bytes()


@pytest.mark.parametrize("arguments, said", [
    (("--keep-above", 3, "--dislike-below", 3.5), "--dislike-below"),
    (("--columns", "user,item", "--dislike-below", 2), "value"),
    (("--dislike-below", "nan"), "--dislike-below"),
    (("--dislike-below", 9), "all"),
])
def test_thresholds_that_do_not_fit(poise, log, tmp_path, arguments, said):
    code = 3 if said == "all" else 2
    assert said in poise("prepare", log, *arguments, "--out", tmp_path / "data", code=code).err
    assert not (tmp_path / "data").exists()


FAMILIES = [("ease", "--lambda", 5), ("full-rank", "--lambda", 5), ("ease", "--lambda", 5, "--neighbours", 12),
            ("awmf", "--rank", 4, "--lambda", 2, "--regularizer", "dropout"), ("wmf", "--rank", 4, "--lambda", 2, "--alpha", 3)]


def trained(poise, folder, out, model, *arguments):
    report = poise("train", folder, "--model", model, *arguments, "--out", out, "--json").json
    return report


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: "-".join(map(str, family)))
def test_trained_in_every_family_and_never_recommended(poise, rated, log, tmp_path, family):
    folder, _ = rated
    plain = trained(poise, folder, tmp_path / "plain", *family)
    one = trained(poise, folder, tmp_path / "one", *family, "--alpha-negative", 1)
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "one").read_bytes()
    weighed = trained(poise, folder, tmp_path / "weighed", *family, "--alpha-negative", 6)
    assert (tmp_path / "weighed").read_bytes() != (tmp_path / "one").read_bytes()
    assert weighed["alpha_negative"] == 6 and plain["alpha_negative"] == one["alpha_negative"] == 1
    assert weighed["converged"] and weighed["objective"] > plain["objective"]
    assert weighed["observed_weight"] == plain["observed_weight"]
    trained(poise, folder, tmp_path / "threads", *family, "--alpha-negative", 6, "--threads", 3)
    assert (tmp_path / "threads").read_bytes() == (tmp_path / "weighed").read_bytes()

    disliked = pairs(lambda rating: rating < 2.5)
    neither = {(u, i) for u, i, r in ratings() if r <= 3.5}
    for model in ("plain", "weighed"):
        result = poise("recommend", tmp_path / model, "--histories", log, *THRESHOLDS, "-k", 100, "--format", "csv")
        for user, items in lists_of(result).items():
            assert not {(user, item) for item in items} & (disliked | neither)
        assert "rows are dislikes" in result.err
    assert poise("evaluate", tmp_path / "weighed", folder, "--json").json["users"] > 0


def test_a_new_user_states_them(poise, rated, tmp_path):
    folder, _ = rated
    trained(poise, folder, tmp_path / "ease", "ease", "--lambda", 5)
    trained(poise, folder, tmp_path / "wmf", "wmf", "--rank", 4, "--lambda", 2, "--alpha", 3, "--alpha-negative", 10)
    for model in ("ease", "wmf"):
        plain = poise("recommend", tmp_path / model, "--items", "i0,i4", "-k", 60, "--json").json["recommendations"]
        worst = plain[0]["item"]
        told = poise("recommend", tmp_path / model, "--items", "i0,i4", "--dislikes", worst, "-k", 60, "--json").json["recommendations"]
        rest = [row for row in plain if row["item"] != worst]
        assert sorted(row["item"] for row in told) == sorted(row["item"] for row in rest)
        assert (told == rest) == (model == "ease"), "wmf solves for the user with them"
    shared = poise("recommend", tmp_path / "ease", "--items", "i0,i4", "--dislikes", "i1,i2", "--dislike-share", 0.5, "-k", 60,
                   "--explain", "--json").json["recommendations"]
    for row in shared:
        reasons = {each["item"]: each["contribution"] for each in row["because"]}
        assert set(reasons) == {"i0", "i4", "i1", "i2"}
        assert sum(reasons.values()) == pytest.approx(row["score"], abs=1e-5)
    explained = poise("recommend", tmp_path / "wmf", "--items", "i0,i4", "--dislikes", "i1,i2", "-k", 5, "--explain", "--json").json
    for row in explained["recommendations"]:
        assert sum(each["contribution"] for each in row["because"]) == pytest.approx(row["score"], abs=1e-5)
    assert "--dislike-share" in poise("recommend", tmp_path / "wmf", "--items", "i0", "--dislike-share", 1, code=2).err
    assert "--dislike-share" in poise("evaluate", tmp_path / "wmf", folder, "--dislike-share", 1, code=2).err
    poise("recommend", tmp_path / "ease", "--items", "i0", "--dislike-share", -1, code=2)
    assert "no such" in poise("recommend", tmp_path / "ease", "--items", "i0", "--dislikes", "no such", code=3).err
    with_share = poise("evaluate", tmp_path / "ease", folder, "--dislike-share", 0.5, "--json").json
    assert with_share["metrics"] != poise("evaluate", tmp_path / "ease", folder, "--json").json["metrics"]


def test_refused_without_dislikes(poise, log, tmp_path):
    poise("prepare", log, "--keep-above", 3.5, "--out", tmp_path / "data")
    for value, said in ((3, "the data have none"), (0, "--alpha-negative"), (-1, "--alpha-negative"), (1e-4, "--alpha-negative")):
        assert said in poise("train", tmp_path / "data", "--model", "ease", "--alpha-negative", value, "--out", tmp_path / "m", code=2).err
    assert "--alpha-negative" in poise("train", tmp_path / "data", "--model", "popularity", "--alpha-negative", 2, "--out", tmp_path / "m", code=2).err
    assert not (tmp_path / "m").exists()


def test_search_config_and_certify(poise, rated, tmp_path):
    folder, _ = rated
    (tmp_path / "run.toml").write_text('alpha-negative = 4\n')
    found = poise("search", folder, "--model", "ease", "--grid", "paper", "--lambda", "1,10", "--alpha", "1,2", "--no-expand", "--config",
                  tmp_path / "run.toml", "--out", tmp_path / "best", "--json").json
    assert found["best"]["alpha_negative"] == 4
    poise("train", folder, "--model", "ease", "--lambda", 5, "--config", tmp_path / "run.toml", "--out", tmp_path / "ease")
    certified = poise("certify", tmp_path / "ease", folder, "--json").json
    assert certified["converged"] and certified["certificate"]["worst_column"] <= 1e-6


def test_split_given(poise, tmp_path):
    (tmp_path / "train.csv").write_text("user,item,rating\n" + "".join(f"u{k},i{k % 3},5\nu{k},i{(k + 1) % 3},1\n" for k in range(9)))
    (tmp_path / "test.csv").write_text("user,item,rating\nu0,i1,5\nu0,i2,5\nu1,i0,5\nu2,i1,1\n")
    report = poise("prepare", tmp_path / "train.csv", "--test", tmp_path / "test.csv", "--split", "given", "--dislike-below", 3,
                   "--out", tmp_path / "data", "--json").json
    assert report["train"]["dislikes"] == 9
    assert report["disliked_targets"] == 1  # u0 disliked i1 when training knew them
    assert report["test"]["interactions"] == 2


def test_served_histories_leave_them_out(rated, log, poise, tmp_path):
    folder, _ = rated
    trained(poise, folder, tmp_path / "wmf.model", "wmf", "--rank", 4, "--lambda", 2, "--alpha", 3, "--alpha-negative", 10)
    disliked = pairs(lambda rating: rating < 2.5)
    users = sorted({user for user, _ in disliked if user != "grump"})[:20]
    for name, histories in (("data", (folder,)), ("log", (log, *THRESHOLDS))):
        with serving(tmp_path / name, tmp_path / "wmf.model", "--histories", *histories) as server:
            for user in users:
                answer = server.post("/v1/recommend", {"user": user, "k": 48})
                items = {row["item"] for row in answer["recommendations"]}
                assert items and not {(user, item) for item in items} & disliked


def test_what_has_no_effect_is_said(poise, rated, log, tmp_path):
    """A share of dislikes where nobody has any, the parameters of other weightings, and a target that nothing can find."""
    folder, _ = rated
    poise("prepare", log, "--keep-above", 3.5, "--held-out-users", 30, "--out", tmp_path / "plain")
    said = poise("train", tmp_path / "plain", "--model", "ease", "--gamma", 1, "--epsilon", 2, "--clip", 3, "--out", tmp_path / "m").err
    for flag, scheme in (("gamma", "inverse-popularity"), ("epsilon", "log"), ("clip", "user-oriented, item-oriented, inverse-popularity")):
        assert f"note: --{flag} has no effect here; --weighting {scheme} reads it" in said
    read = poise("train", tmp_path / "plain", "--model", "ease", "--weighting", "inverse-popularity", "--gamma", 1, "--clip", 3, "--out", tmp_path / "r")
    assert "no effect" not in read.err
    note = "no user has dislikes, so --dislike-share has no effect"
    assert note in poise("evaluate", tmp_path / "m", tmp_path / "plain", "--dislike-share", 0.5).err
    assert note in poise("recommend", tmp_path / "m", "--items", "i1", "--dislike-share", 0.5).err
    assert note not in poise("recommend", tmp_path / "m", "--items", "i1", "--dislikes", "i2", "--dislike-share", 0.5).err
    poise("train", folder, "--model", "ease", "--out", tmp_path / "rated")
    assert note not in poise("evaluate", tmp_path / "rated", folder, "--dislike-share", 0.5).err


def test_the_flag_that_is_too_large_is_blamed(poise, rated, tmp_path):
    folder, _ = rated
    arguments = ("train", folder, "--model", "full-rank", "--out", tmp_path / "m")
    assert "use a --alpha-negative nearer to 1" in poise(*arguments, "--alpha-negative", 1e20, code=5).err
    assert "use a smaller --alpha or --clip" in poise(*arguments, "--alpha", 1e20, "--alpha-negative", 2, code=5).err
    assert "--seed: '-1' is not a whole number of at least 0" in poise(*arguments, "--seed", -1, code=2).err


def test_targets_that_nothing_can_find(poise, log, tmp_path):
    """A test file that repeats the training rows: what cannot be found is counted, and an error where it is all."""
    rows = [f"u{user},i{item}" for user in range(20) for item in range(user % 3, 24, 3)]
    (tmp_path / "train.csv").write_text("user,item\n" + "\n".join(rows) + "\n")
    (tmp_path / "test.csv").write_text("user,item\n" + "\n".join([*rows[:5], "u0,i1"]) + "\n")
    poise("prepare", tmp_path / "train.csv", "--test", tmp_path / "test.csv", "--split", "given", "--out", tmp_path / "data")
    poise("train", tmp_path / "data", "--model", "ease", "--out", tmp_path / "m")
    result = poise("evaluate", tmp_path / "m", tmp_path / "data", "--json")
    assert result.json["known_targets"] == 5
    assert "note: 5 targets are in their users' histories or disliked" in result.err
    (tmp_path / "test.csv").write_text("user,item\n" + "\n".join(rows[:5]) + "\n")
    poise("prepare", tmp_path / "train.csv", "--test", tmp_path / "test.csv", "--split", "given", "--out", tmp_path / "data")
    assert "every target is in its user's history" in poise("evaluate", tmp_path / "m", tmp_path / "data", code=3).err


def test_a_search_finds_the_weight(poise, rated, tmp_path):
    folder, _ = rated
    common = ("search", folder, "--model", "ease", "--alpha", 1, "--lambda", 20, "--json")
    weight = lambda point: point.get("alpha_negative", 1)
    found = poise(*common, "--grid", "paper", "--no-expand", "--alpha-negative", "0.5,1,4", "--journal", tmp_path / "journal").json
    assert sorted(weight(point) for point in found["points"]) == [0.5, 1, 4]
    best = max(found["points"], key=lambda point: point["validation"]["ndcg@100"]["mean"])
    assert weight(found["best"]) == weight(best)
    # Each point is the model that `train` makes.
    poise("train", folder, "--model", "ease", "--lambda", 20, "--alpha-negative", 4, "--out", tmp_path / "m")
    mean = poise("evaluate", tmp_path / "m", folder, "--on", "validation", "--json").json["metrics"]["ndcg@100"]["mean"]
    four = next(point for point in found["points"] if weight(point) == 4)
    assert four["validation"]["ndcg@100"]["mean"] == pytest.approx(mean, abs=1e-9)
    again = poise(*common, "--grid", "paper", "--no-expand", "--alpha-negative", "0.5,1,4", "--journal", tmp_path / "journal").json
    assert [weight(point) for point in again["points"]] == [weight(point) for point in found["points"]]
    profile = poise(*common, "--alpha-negative", "auto", "--report", tmp_path / "report").json
    assert profile["complete"] and len({weight(point) for point in profile["points"]}) >= 3
    within = poise(*common, "--alpha-negative", "0.5,4").json
    assert within["complete"] and all(0.5 <= weight(point) <= 4 for point in within["points"])
    results = json.loads((tmp_path / "report" / "results.json").read_text())
    chosen = [row["alpha_negative"] for row in results["rows"] if row["model"] != "popularity"]
    assert weight(profile["best"]) in chosen
    with open(tmp_path / "report" / "results.csv", newline="") as file:
        assert {line["alpha_negative"] for line in csv.DictReader(file)} >= {f"{value:g}" for value in chosen}


def test_a_search_without_dislikes_is_refused(poise, log, tmp_path):
    poise("prepare", log, "--keep-above", 3.5, "--held-out-users", 30, "--out", tmp_path / "plain")
    result = poise("search", tmp_path / "plain", "--model", "ease", "--alpha-negative", "auto", code=2)
    assert "the data have none" in result.err
    assert "auto is for --grid best" in poise("search", tmp_path / "plain", "--model", "ease", "--grid", "paper", "--alpha-negative", "auto", code=2).err
