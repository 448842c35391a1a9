"""Searching by profiles: `--grid best`, the default."""
import json
import random
import signal
import subprocess
import time

import pytest

from conftest import HANG, PROGRAM, run
from test_search import score, untimed, values

KINDS = ["best_unweighted", "best_weighted", "best_down_weighted"]


@pytest.fixture
def search(poise, shop, tmp_path):
    """A search with a journal of its own; one thread, for the problems are small."""
    def call(*flags, journal="journal", data=shop, **kwargs):
        return poise("search", data, "--journal", tmp_path / journal, "--threads", 1, *flags, **kwargs)
    return call


def exhaustive(search, *flags):
    """The best of each kind over lambda in thirds of a decade and twelve alphas, and how many points that takes."""
    lambdas = ",".join(f"{10 ** (k / 3):.3g}" for k in range(-3, 13))
    alphas = ".02,.05,.1,.2,.5,.8,1,1.5,2,5,10,20,50"
    result = search(*flags, "--grid", "paper", "--no-expand", "--lambda", lambdas, "--alpha", alphas, "--json", journal="all").json
    return [score(result[kind]) for kind in KINDS], len(result["points"])


@pytest.mark.parametrize("model", [
    ["--model", "full-rank"], ["--model", "wmf", "--rank", 4], ["--model", "weight-decay", "--rank", 4],
    ["--model", "data-weight-decay", "--rank", 4]])
def test_as_good_as_an_exhaustive_grid(search, model):
    """On so few users (24) single hits make a surface of steps, a paired standard error of some hundredths: what is found may
    fall short of the luckiest of 208 points by a part of that, and hardly any point can be told from the best."""
    best, count = exhaustive(search, *model)
    result = search(*model, "--json").json
    assert result["complete"] and len(result["points"]) <= count * 2 / 3
    for kind, highest in zip(KINDS, best):
        assert score(result[kind]) >= highest - 0.01, kind


# The best validation nDCG@100 of each kind over lambda in thirds of a decade from 0.1 to 2.15e5 and 17 alphas from 0.02 to 50, 340 points
# of EASE on `poise synth --like demo` (bench/search_quality.py makes such grids).
EXHAUSTIVE = [0.55471, 0.55330, 0.55692]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    run("synth", "--like", "demo", "--out", folder / "log.csv")
    run("prepare", folder / "log.csv", "--out", folder / "demo")
    return folder / "demo"


def test_as_good_as_a_known_grid_and_a_race_changes_nothing(search, demo):
    result = search("--model", "ease", "--json", data=demo).json
    assert len(result["points"]) <= 340 / 3
    for kind, highest in zip(KINDS, EXHAUSTIVE):
        assert score(result[kind]) >= highest - 0.0005, kind
    cut = [point for point in result["points"] if "cut" in point]
    assert cut and result["scorings_spared"] == sum(point["cut"]["of"] - point["cut"]["users"] for point in cut) > 0
    for point in cut:
        assert point["validation"]["ndcg@100"]["mean"] < score(result["best"])
    everyone = search("--model", "ease", "--no-race", "--json", data=demo, journal="everyone").json
    assert everyone["scorings_spared"] == 0 and not any("cut" in point for point in everyone["points"])
    for kind in KINDS:
        assert everyone[kind] == result[kind]


def test_json(search):
    result = search("--model", "full-rank", "--json").json
    assert result["complete"] and "missing" not in result
    assert {"lambda", "alpha", "dropout", "lambda_exponent", "gamma", "validation", "test"} <= set(result["best"])
    assert score(result["best"]) == max(score(result[kind]) for kind in KINDS)
    assert [profile["kind"] for profile in result["profiles"]] == ["unweighted", "weighted", "down-weighted"]
    for profile, kind in zip(result["profiles"], KINDS):
        assert profile["complete"] and profile["best"] == result[kind]
        alphas = [point["alpha"] for point in profile["curve"]]
        assert alphas == sorted(set(alphas)) and profile["best"]["alpha"] in alphas
        assert all({"lambda", "mean", "stderr", "paired_stderr"} <= set(point) for point in profile["curve"])
        assert all((alpha > 1) - (alpha < 1) == {"unweighted": 0, "weighted": 1, "down-weighted": -1}[profile["kind"]]
                   for alpha in alphas)
        # The best lambda is none of the outermost that its alpha was tried with.
        if profile["interior"]:
            tried = sorted(point["lambda"] for point in result["points"] if point["alpha"] == profile["best"]["alpha"])
            assert tried[0] < profile["best"]["lambda"] < tried[-1]
    paired = [abs(score(result["best_weighted"]) - score(result["best_unweighted"])), 0.02]
    assert score(result["best_weighted"]) >= score(result["best_unweighted"]) - max(paired)


def test_text(search):
    result = search("--model", "full-rank")
    assert "* best: lambda " in result.out and "no weights" in result.out and "weights below" in result.out
    assert "note" not in result.err
    assert "--refine is for the fixed grids" in search("--model", "full-rank", "--refine", 2, "--alpha", 1).err


def test_values_of_an_axis_are_its_range(search):
    result = search("--model", "full-rank", "--lambda", "2,50", "--alpha", "1,5", "--json").json
    assert values(result, "lambda")[0] >= 2 and values(result, "lambda")[-1] <= 50
    assert values(result, "alpha")[0] == 1 and values(result, "alpha")[-1] <= 5
    assert result["best_down_weighted"] is None
    fixed = search("--model", "full-rank", "--lambda", 7, "--alpha", 3, "--json").json
    assert [(point["lambda"], point["alpha"]) for point in fixed["points"]] == [(7, 3)]
    below = search("--model", "full-rank", "--lambda", 20, "--alpha", "0.1,0.9", "--json").json
    assert below["best_unweighted"] is None and below["best"]["alpha"] < 1


def test_ranks_and_weightings_are_searched_one_by_one(search):
    result = search("--model", "wmf", "--rank", "2,4", "--alpha", 1, "--json").json
    assert values(result, "rank") == [2, 4] and len(result["profiles"]) == 2
    result = search("--model", "full-rank", "--weighting", "linear,none", "--lambda", 20, "--json").json
    linear = [point for point in result["points"] if point["weighting"] == "linear"]
    assert min(point["alpha"] for point in linear) == 0 and all(point["alpha"] >= 0 for point in linear)
    assert {point["alpha"] for point in result["points"] if point["weighting"] == "none"} == {1}
    assert [profile["kind"] for profile in result["profiles"]] == ["unweighted", "weighted", "unweighted"]


@pytest.mark.parametrize("flags, axis", [
    (["--model", "full-rank", "--dropout", "auto"], "dropout"), (["--model", "edlae"], "dropout"),
    (["--model", "wmf", "--rank", 2, "--lambda-exponent", "auto"], "lambda_exponent"),
    (["--model", "full-rank", "--dropout", "0.1,0.6"], "dropout"),
    (["--model", "full-rank", "--weighting", "inverse-popularity", "--gamma", "auto"], "gamma")])
def test_further_axes(search, flags, axis):
    result = search(*flags, "--alpha", "2", "--json").json
    assert result["complete"] and len(values(result, axis)) >= 3
    assert result["best"][axis] in values(result, axis)
    if "0.1,0.6" in flags:
        assert values(result, axis)[0] >= 0.1 and values(result, axis)[-1] <= 0.6
    if "edlae" in flags:
        assert values(result, axis)[0] > 0


def test_running_out_of_points_or_time(poise, shop, search, tmp_path):
    whole = search("--model", "full-rank", "--json").json
    for count in (1, 10):
        some = search("--model", "full-rank", "--points", count, "--out", tmp_path / "some", "--json", journal=f"journal {count}").json
        assert not some["complete"] and some["missing"] and len(some["points"]) == count
        assert score(some["best"]) == max(map(score, some["points"]))
        assert poise("evaluate", tmp_path / "some", shop, "--json").json["metrics"] == some["best"]["test"]
        known = {(point["lambda"], point["alpha"]) for point in whole["points"]}
        assert {(float(point["lambda"]), float(point["alpha"])) for point in some["missing"]} <= known
    none = search("--model", "full-rank", "--time-limit", "0s", "--json", journal="none").json
    assert not none["complete"] and none["best"] is None and none["missing"]
    # What the journal has takes no time.
    again = search("--model", "full-rank", "--time-limit", "0s", "--json").json
    assert untimed(again) == untimed(whole)
    text = search("--model", "full-rank", "--points", 10, journal="journal 10").out
    assert "not complete; next would be" in text


def test_kills_change_nothing(search, shop, tmp_path):
    """Killed at six moments, and with another number of threads: the same points, in the same order of rounds."""
    flags = ["--model", "wmf", "--rank", "3"]
    whole = search(*flags, "--json", journal="whole").json
    journal = tmp_path / "journal"
    draw = random.Random(5)
    for moment in sorted(draw.sample(range(1, len(whole["points"])), 6)):
        command = [PROGRAM, "search", shop, "--journal", journal, "--threads", "2", *flags]
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < moment):
            time.sleep(0.0005)
        process.kill()
        process.wait()
    assert untimed(search(*flags, "--json").json) == untimed(whole)
    keys = [[json.loads(line)["key"] for line in (tmp_path / name).read_text().splitlines()[1:]] for name in ("journal", "whole")]
    assert keys[0] == keys[1]


def test_an_interrupted_search_leaves_its_best_model(poise, search, shop, tmp_path):
    flags = ["--model", "wmf", "--rank", "3,5,8", "--out", tmp_path / "best"]
    journal = tmp_path / "journal"
    while True:
        process = subprocess.Popen(list(map(str, [PROGRAM, "search", shop, "--journal", journal, "--threads", "1", *flags])),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < 8):
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANG)
        if process.returncode != 0:
            break
        journal.unlink()  # it ended before the signal came: once more
    assert process.returncode == 130 and out == "" and err.strip().split("\n")[-1] == "poise: interrupted"
    assert "the best point so far" in err
    entries = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    best = max(entries, key=lambda entry: entry["value"]["validation"]["ndcg@100"]["mean"])
    options = poise("info", tmp_path / "best", "--json").json["options"]
    assert options["lambda"] == json.loads(best["key"])["point"]["lambda"]
    assert poise("evaluate", tmp_path / "best", shop, "--json").json["metrics"]


def test_bad_flags(search, tmp_path):
    for flags in (["--dropout", "auto,0.5"], ["--lambda", "0,5"], ["--alpha", "0,5"], ["--dropout", "0.5,1"],
                  ["--points", "0"], ["--dropout", "some"]):
        search("--model", "full-rank", *flags, code=2)
    search("--model", "ease", "--dropout", "auto", code=2)
    search("--model", "awmf", "--lambda-exponent", "auto", code=2)
    assert not (tmp_path / "journal").exists()
