"""Searching a fixed grid from the command line, its expansion, the journal and its resumption."""
import fcntl
import json
import signal
import subprocess
import time

import pytest

from conftest import HANG, PROGRAM

SMALL = ["--model", "full-rank", "--grid", "paper", "--lambda", "1,30", "--alpha", "1,2", "--no-expand"]
METRICS = ["recall@20", "recall@50", "ndcg@100"]


@pytest.fixture
def search(poise, shop, tmp_path):
    """A search of a fixed grid with a journal of its own; one thread, for the problems are small."""
    def call(*flags, journal="journal", data=shop, **kwargs):
        grid = [] if "--grid" in flags else ["--grid", "paper"]
        return poise("search", data, "--journal", tmp_path / journal, "--threads", 1, *grid, *flags, **kwargs)
    return call


def untimed(value):
    """Without seconds: the rest of a search is the same whenever it runs."""
    if isinstance(value, dict):
        return {key: untimed(entry) for key, entry in value.items() if key != "seconds"}
    return [untimed(entry) for entry in value] if isinstance(value, list) else value


def score(point, metric="ndcg@100"):
    return point["validation"][metric]["mean"]


def values(result, axis):
    return sorted({point[axis] for point in result["points"]})


def trained(poise, data, out, *flags):
    """What `train` and `evaluate` say of one point."""
    report = poise("train", data, *flags, "--out", out, "--threads", 1, "--json").json
    for part in ("validation", "test"):
        report[part] = poise("evaluate", out, data, "--on", part, "--threads", 1, "--json").json["metrics"]
    return report


def test_json(search):
    result = search(*SMALL, "--json").json
    assert result["complete"] and result["seconds"] > 0
    assert len(result["points"]) == 4
    for point in result["points"]:
        assert {"lambda", "alpha", "weighting", "validation", "objective", "certificate", "converged", "seconds"} <= set(point)
        assert set(point["certificate"]) == {"absolute", "relative", "worst_column", "sampled", "verified_columns", "probability"}
        assert list(point["validation"]) == METRICS
        assert all(0 < estimate["mean"] < 1.0001 and estimate["stderr"] >= 0 for estimate in point["validation"].values())
        assert "test" not in point, "the test part is for the chosen point"
    assert [(point["lambda"], point["alpha"]) for point in result["points"]] == [(1, 1), (1, 2), (30, 1), (30, 2)]
    best = max(result["points"], key=score)
    assert {key: best[key] for key in ("lambda", "alpha", "validation", "objective")} == \
        {key: result["best"][key] for key in ("lambda", "alpha", "validation", "objective")}
    assert list(result["best"]["test"]) == METRICS
    for name, weighted in (("best_unweighted", False), ("best_weighted", True)):
        kind = [point for point in result["points"] if (point["alpha"] > 1) == weighted]
        assert untimed(max(kind, key=score)) == result[name]
    assert result["best_down_weighted"] is None


def test_text(search):
    result = search(*SMALL)
    assert "* best: lambda " in result.out and "4 points" in result.out
    assert [line.split()[3:] for line in result.out.splitlines()[1:5]].count(["*"]) == 1, "the table marks the best"
    assert "4 points of the grid, 0 of them in the journal" in result.err
    assert "4 points of the grid, 4 of them in the journal" in search(*SMALL).err
    assert "validation" in result.out and "test" in result.out
    assert search(*SMALL, "--quiet", journal="other").err == ""


def test_the_default_journal_lies_beside_the_data(poise, data):
    poise("search", data, *SMALL, "--quiet", "--threads", 1)
    assert (data / "search.journal").read_text().count("\n") == 1 + 4
    poise("info", data)


def test_the_papers_grid(search):
    flags = ["--model", "full-rank", "--no-expand", "--json"]
    assert len(search(*flags).json["points"]) == 25
    extended = search(*flags, "--grid", "extended").json
    assert values(extended, "alpha") == [0.2, 0.5, 1, 2, 5, 10, 20]
    assert values(extended, "lambda") == [1e-4, 1e-2, 1, 1e2, 1e4]
    assert len(extended["points"]) == 35
    assert extended["best_down_weighted"]["alpha"] < 1


def test_a_best_point_on_an_edge_moves_the_edge(search):
    inside = [0.1, 1]
    flags = ["--model", "full-rank", "--lambda", "0.1,1", "--alpha", 1, "--json"]
    assert values(search(*flags, "--no-expand").json, "lambda") == inside
    grown = values(search(*flags).json, "lambda")
    assert len(inside) < len(grown) <= len(inside) + 4, "at most four steps"
    assert grown == pytest.approx([10.0**(k - 1) for k in range(len(grown))])
    downward = values(search("--model", "full-rank", "--lambda", "1e5,1e7", "--alpha", 1, "--json").json, "lambda")
    assert downward[0] < 1e5 and downward[1] / downward[0] == pytest.approx(100)
    # Alone the weighted points go on in alpha, by doubling, each with all lambdas.
    flags = ["--model", "full-rank", "--lambda", "1e5,1e6", "--alpha", "1,2", "--json"]
    alphas = values(search(*flags).json, "alpha")
    assert alphas[:3] == [1, 2, 4] and all(b == 2 * a for a, b in zip(alphas, alphas[1:]))
    single = search("--model", "full-rank", "--lambda", 1e5, "--alpha", 2, "--json").json
    assert len(single["points"]) == 1, "an axis of one value stays"


def test_refinement_halves_the_spacing_around_the_best(search):
    flags = ["--model", "full-rank", "--lambda", "1,100,10000", "--alpha", 1, "--no-expand", "--json"]
    coarse = search(*flags).json
    fine = search(*flags, "--refine", 2).json
    best = coarse["best"]["lambda"]
    assert set(values(coarse, "lambda")) < set(values(fine, "lambda"))
    assert {best / 10, best * 10} <= set(values(fine, "lambda"))
    assert len(fine["points"]) <= 3 + 2 * 2
    assert score(fine["best"]) >= score(coarse["best"]) and score(fine["best"]) == max(map(score, fine["points"]))
    assert all(float(f"{value:.3g}") == value for value in values(fine, "lambda")), "three digits"


@pytest.mark.parametrize("model, axis, given", [
    (["--model", "awmf"], "rank", [2, 4]),
    (["--model", "wmf"], "rank", [2, 3]),
    (["--model", "full-rank"], "dropout", [0, 0.3]),
    (["--model", "wmf", "--rank", 2], "lambda-exponent", [0, 1]),
    (["--model", "full-rank"], "lambda-exponent", [0, 0.5, 1]),
    (["--model", "ease"], "lambda-exponent", [0.25, 0.75]),
    (["--model", "full-rank"], "weighting", ["constant", "linear", "log"]),
])
def test_axes_of_several_values(search, model, axis, given):
    result = search(*model, "--lambda", "1,10", "--alpha", 2, "--no-expand", f"--{axis}", ",".join(map(str, given)), "--json").json
    key = axis.replace("-", "_")
    assert values(result, key) == sorted(given)
    assert len(result["points"]) == 2 * len(given)
    assert len({score(point) for point in result["points"]}) > 1, "the axis changes something"
    assert score(result["best_weighted"]) == max(map(score, result["points"]))
    assert result["best"][key] == result["best_weighted"][key]


def test_without_weights_alpha_has_nothing_to_say(search):
    result = search("--model", "full-rank", "--lambda", "1,10", "--alpha", "1,2", "--weighting", "none,constant", "--no-expand",
                    "--json").json
    assert sorted((point["weighting"], point["lambda"], point["alpha"]) for point in result["points"]) == \
        [("constant", 1, 1), ("constant", 1, 2), ("constant", 10, 1), ("constant", 10, 2), ("none", 1, 1), ("none", 10, 1)]


@pytest.mark.parametrize("flags", [
    ["--alpha", "0.5,1,3"], ["--alpha", "1,3", "--zero-diagonal"], ["--alpha", "1,3", "--dropout", 0.3, "--zero-diagonal"],
    ["--alpha", "1,3", "--lambda-exponent", 0.5, "--zero-diagonal"],
    ["--alpha", 2, "--weighting", "linear"]])
def test_a_full_rank_point_is_what_train_makes_of_it(poise, shop, search, tmp_path, flags):
    result = search("--model", "full-rank", "--lambda", "2,50", *flags, "--no-expand", "--json").json
    rest = flags[2:]
    for point in result["points"]:
        report = trained(poise, shop, tmp_path / "m", "--model", "full-rank", "--lambda", point["lambda"], "--alpha", point["alpha"],
                         *rest)
        for key in ("objective", "certificate", "validation", "iterations", "converged"):
            assert point[key] == report[key], (point, key)
        if (point["lambda"], point["alpha"]) == (result["best"]["lambda"], result["best"]["alpha"]):
            assert {key: report[key] for key in result["best"]} == result["best"]


@pytest.mark.parametrize("model", [
    ["--model", "awmf"], ["--model", "awmf", "--regularizer", "dropout"], ["--model", "wmf"],
    ["--model", "wmf", "--start", "random", "--seed", 5]])
def test_a_chosen_low_rank_point_is_what_train_makes_of_it(poise, shop, search, tmp_path, model):
    model = model + ["--rank", 3]
    result = search(*model, "--lambda", "1,10", "--alpha", "2,4", "--no-expand", "--out", tmp_path / "best", "--json").json
    best = result["best"]
    report = trained(poise, shop, tmp_path / "m", *model, "--lambda", best["lambda"], "--alpha", best["alpha"])
    assert {key: report[key] for key in best} == best
    for part in ("validation", "test"):
        assert poise("evaluate", tmp_path / "best", shop, "--on", part, "--threads", 1, "--json").json["metrics"] == best[part]
    # A point's numbers do not depend on what was searched with it.
    alone = search(*model, "--lambda", 10, "--alpha", 4, "--no-expand", "--json", journal="other").json
    assert untimed(alone["points"]) == [untimed(point) for point in result["points"] if (point["lambda"], point["alpha"]) == (10, 4)]


def test_out_holds_the_best_model(poise, shop, search, tmp_path):
    best = search(*SMALL, "--out", tmp_path / "best", "--json").json["best"]
    assert poise("evaluate", tmp_path / "best", shop, "--json").json["metrics"] == best["test"]
    info = poise("info", tmp_path / "best", "--json").json
    assert float(info["options"]["lambda"]) == best["lambda"] and info["report"]["objective"] == best["objective"]


def test_the_metric_that_chooses(search):
    result = search("--model", "full-rank", "--lambda", "0.1,10,1000", "--alpha", "1,5", "--metric", "recall@3", "--metrics",
                    "coverage@5", "--no-expand", "--json").json
    assert list(result["best"]["test"]) == ["coverage@5", "recall@3"]
    assert score(result["best"], "recall@3") == max(score(point, "recall@3") for point in result["points"])


def test_a_metric_that_cannot_choose(search):
    for metric, why in (("coverage@5", "one number for all users"), ("gini@5", "one number for all users"),
                        ("entropy@5", "one number for all users"), ("calibration@5", "better the lower")):
        assert why in search(*SMALL, "--metric", metric, code=2).err
    result = search(*SMALL, "--metric", "novelty@5", "--metrics", "popularity@5,diversity@5", "--json", journal="novel").json
    assert score(result["best"], "novelty@5") == max(score(point, "novelty@5") for point in result["points"])


def test_time_limit(search, tmp_path):
    unfinished = search(*SMALL, "--time-limit", "0s", "--json").json
    assert not unfinished["complete"] and unfinished["best"] is None and unfinished["points"] == []
    assert [(float(point["lambda"]), float(point["alpha"])) for point in unfinished["missing"]] == [(1, 1), (1, 2), (30, 1), (30, 2)]
    text = search(*SMALL, "--time-limit", "0s").out
    assert "next would be 4 points" in text and "lambda 30, alpha 2" in text
    finished = search(*SMALL, "--time-limit", "1h", "--json").json
    assert finished["complete"] and len(finished["points"]) == 4
    # The grid is there: what is missing is what it leads to.
    more = search(*SMALL[:-1], "--refine", 1, "--time-limit", "0s", "--json").json
    assert not more["complete"] and len(more["points"]) == 4 and more["missing"]
    assert score(more["best"]) == max(map(score, more["points"])), "what there is has a best"


def test_points(search, tmp_path):
    for count in (1, 3):
        some = search(*SMALL, "--points", count, "--out", tmp_path / "best", "--json", journal=f"journal {count}").json
        assert not some["complete"] and len(some["points"]) == count and len(some["missing"]) == 4 - count
        assert score(some["best"]) == max(map(score, some["points"])) and (tmp_path / "best").exists()
    assert search(*SMALL, "--points", 4, "--json").json["complete"]


@pytest.mark.parametrize("flags", [
    ["--model", "wmf", "--dropout", 0.1], ["--model", "full-rank", "--rank", 4], ["--model", "awmf", "--lambda-exponent", 1],
    ["--model", "full-rank", "--alpha", 0], ["--model", "full-rank", "--alpha", "1,-2"], ["--model", "full-rank", "--lambda", "x"],
    ["--model", "full-rank", "--lambda", "1,0"], ["--model", "full-rank", "--lambda", "nan"], ["--model", "full-rank", "--dropout", 1],
    ["--model", "full-rank", "--time-limit", "banana"], ["--model", "full-rank", "--time-limit", "-1s"],
    ["--model", "full-rank", "--metric", "nonsense"], ["--model", "full-rank", "--metrics", "ndcg@0"],
    ["--model", "full-rank", "--weighting", "none", "--alpha", 2], ["--model", "wmf", "--weighting", "none", "--alpha", "1,2"],
    ["--model", "full-rank", "--weighting", "some"],
    ["--model", "full-rank", "--lambda-exponent", "nan"], ["--model", "full-rank", "--lambda-exponent", "0,5"],
    ["--model", "full-rank", "--grid", "huge"], ["--model", "full-rank", "--refine", -1], ["--model", "full-rank", "--points", 0],
    ["--model", "full-rank", "--dropout", "auto"], ["--model", "popularity"], [],
])
def test_bad_flags(search, tmp_path, flags):
    search(*flags, code=2)
    assert not (tmp_path / "journal").exists()


def test_data_may_stand_after_an_axis(poise, shop, tmp_path):
    poise("search", "--model", "full-rank", "--grid", "paper", "--lambda", "1,30", shop, "--journal", tmp_path / "journal", "--alpha", 1, "--no-expand",
          "--threads", 1)
    assert (tmp_path / "journal").read_bytes().count(b"\n") == 3
    # An axis is a list in a config file too.
    (tmp_path / "config.toml").write_text('model = "full-rank"\ngrid = "paper"\nlambda = [1, 30]\nalpha = [1, 2]\nno-expand = true\n')
    config = poise("search", shop, "--config", tmp_path / "config.toml", "--journal", tmp_path / "journal", "--threads", 1, "--json").json
    assert len(config["points"]) == 4


def test_data_without_a_validation_part(poise, search, log, tmp_path):
    poise("prepare", log, "--split", "none", "--out", tmp_path / "whole")
    assert "validation" in search(*SMALL, data=tmp_path / "whole", code=3).err
    assert not (tmp_path / "journal").exists()
    search(*SMALL, data=tmp_path / "missing", code=3)


def test_resuming_trains_nothing_again(search, tmp_path):
    journal = tmp_path / "journal"
    first = search(*SMALL, "--json").json
    before = journal.read_bytes()
    second = search(*SMALL, "--json")
    assert journal.read_bytes() == before
    first.pop("seconds")
    again = second.json
    again.pop("seconds")
    assert again == first, "even the points' own times"
    assert "lambda" not in second.err, "nothing is said to be trained"
    # A larger grid trains what is new.
    search(*SMALL[:5], "1,30,100", *SMALL[6:])
    after = journal.read_bytes()
    assert after.startswith(before) and after.count(b"\n") == before.count(b"\n") + 2


@pytest.mark.parametrize("flags, named", [
    (["--metrics", "ndcg@100"], "metrics"), (["--metric", "recall@3"], "recall@3"), (["--memory-limit", "3G"], "memory-limit"),
    (["--recall-denominator", "targets"], "recall-denominator")])
def test_a_journal_of_other_options_is_refused(search, tmp_path, flags, named):
    search(*SMALL, "--memory-limit", "2G")
    before = (tmp_path / "journal").read_bytes()
    error = search(*SMALL, *([] if "--memory-limit" in flags else ["--memory-limit", "2G"]), *flags, code=3).err
    assert named in error and "--journal" in error
    assert (tmp_path / "journal").read_bytes() == before


def test_a_torn_last_line_is_done_again(search, tmp_path):
    journal = tmp_path / "journal"
    whole = untimed(search(*SMALL, "--json").json)
    lines = journal.read_bytes().splitlines(keepends=True)
    last = lines[-1]
    for size in (0, 1, len(last) // 3, len(last) - 20, len(last) - 2, len(last) - 1):
        journal.write_bytes(b"".join(lines[:-1]) + last[:size])
        assert untimed(search(*SMALL, "--json").json) == whole, size
        after = journal.read_bytes().splitlines(keepends=True)
        assert after[:-1] == lines[:-1] and json.loads(after[-1])["key"] == json.loads(last)["key"]
    journal.write_bytes(lines[0][:30])
    assert untimed(search(*SMALL, "--json").json) == whole, "not even the first line was whole"
    assert journal.read_bytes().splitlines(keepends=True)[0] == lines[0]


def test_a_damaged_line_is_refused_with_its_number(search, tmp_path):
    journal = tmp_path / "journal"
    search(*SMALL)
    lines = journal.read_bytes().splitlines(keepends=True)
    for number in (1, 2, 3):
        line = bytearray(lines[number - 1])
        line[len(line) // 2] ^= 1
        damaged = b"".join(lines[:number - 1]) + bytes(line) + b"".join(lines[number:])
        journal.write_bytes(damaged)
        assert f"line {number}" in search(*SMALL, code=3).err
        assert journal.read_bytes() == damaged


@pytest.mark.parametrize("content", [
    b"milk\nbread\n", b"milk", b'{"milk": 2}', b'{"milk": 2}\n', b"\n", b"\x00\xff\x00", b'{"journal":"another"}\n{"key":"a"}\n'])
def test_a_file_that_is_no_journal_stays_as_it_is(search, tmp_path, content):
    (tmp_path / "journal").write_bytes(content)
    assert "journal" in search(*SMALL, code=3).err
    assert (tmp_path / "journal").read_bytes() == content


def test_an_empty_file_may_become_a_journal(search, tmp_path):
    (tmp_path / "journal").write_bytes(b"")
    search(*SMALL)
    assert (tmp_path / "journal").read_bytes().count(b"\n") == 5


def test_a_journal_is_for_one_run_at_a_time(search, tmp_path):
    search(*SMALL)
    with (tmp_path / "journal").open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        before = file.read()
        assert "in use" in search(*SMALL, code=4).err
        file.seek(0)
        assert file.read() == before
    search(*SMALL)


def test_an_interrupted_search_goes_on(search, shop, tmp_path):
    journal = tmp_path / "journal"
    flags = ["--model", "wmf", "--rank", "3,5,8", "--refine", 2]
    command = [PROGRAM, "search", shop, "--grid", "paper", "--journal", journal, "--threads", "1", *map(str, flags)]
    while True:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < 4):
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANG)
        if process.returncode != 0:
            break
        journal.unlink()  # it ended before the signal came: once more
    assert process.returncode == 130 and out == ""
    assert err.strip().split("\n")[-1] == "poise: interrupted" and "the same command goes on from there" in err
    before = journal.read_bytes()
    assert before.endswith(b"\n") and all(json.loads(line) for line in before.splitlines())
    resumed = search(*flags, "--json").json
    assert journal.read_bytes().startswith(before)
    assert untimed(resumed) == untimed(search(*flags, "--json", journal="other").json)
