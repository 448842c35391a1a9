"""ease, edlae, weight-decay, ...: the names that `study` uses, as models of `train` and `search`."""
import pytest

SHORT = {
    "ease": {"model": "full-rank", "zero-diagonal": "true", "dropout": "0"},
    "edlae": {"model": "full-rank", "zero-diagonal": "true", "dropout": "0.33"},
    "weight-decay": {"model": "awmf", "regularizer": "weight-decay"},
    "dropout": {"model": "awmf", "regularizer": "dropout"},
    "data-weight-decay": {"model": "awmf", "regularizer": "data-weight-decay"},
}


@pytest.mark.parametrize("name", SHORT)
def test_a_short_form_is_what_it_stands_for(poise, data, tmp_path, name):
    meant = SHORT[name]
    extra = ["--rank", 3] if meant["model"] == "awmf" else []
    flags = [f"--{flag}" if value == "true" else f"--{flag}={value}" for flag, value in meant.items()]
    short = poise("train", data, "--model", name, "--lambda", 7, "--alpha", 2, *extra, "--out", tmp_path / "a", "--json").json
    poise("train", data, *flags, "--lambda", 7, "--alpha", 2, *extra, "--out", tmp_path / "b")
    assert short["model"] == meant["model"], "JSON keeps the four names"
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    options = poise("info", tmp_path / "a", "--json").json["options"]
    assert {flag: options[flag] for flag in meant} == meant


def test_flags_may_say_the_same_again(poise, data, tmp_path):
    poise("train", data, "--model", "ease", "--zero-diagonal", "--out", tmp_path / "m")
    poise("train", data, "--model", "edlae", "--dropout", 0.5, "--out", tmp_path / "m")
    assert poise("info", tmp_path / "m", "--json").json["options"]["dropout"] == "0.5"
    poise("train", data, "--model", "dropout", "--regularizer", "dropout", "--rank", 2, "--out", tmp_path / "m")


@pytest.mark.parametrize("model, flag", [
    ("ease", ("--dropout", "0.3")),
    ("edlae", ("--dropout", "0")),
    ("dropout", ("--regularizer", "weight-decay")),
    ("weight-decay", ("--zero-diagonal",)),
    ("ease", ("--rank", "3")),
    ("ease", ("--regularizer", "dropout")),
    ("data-weight-decay", ("--dropout", "0.3")),
])
def test_contradictions(poise, data, tmp_path, model, flag):
    for command in (("train", data, "--out", tmp_path / "m"), ("search", data)):
        assert f"--model {model}" in poise(*command, "--model", model, *flag, code=2).err
    assert not (tmp_path / "m").exists()


def test_a_search_tries_what_a_study_does(poise, shop):
    found = poise("search", shop, "--model", "edlae", "--grid", "paper", "--lambda", 10, "--alpha", 1, "--no-expand", "--json").json
    assert sorted(point["dropout"] for point in found["points"]) == [0.25, 0.33, 0.5]
    one = poise("search", shop, "--model", "edlae", "--dropout", 0.4, "--lambda", 10, "--alpha", 1, "--no-expand", "--json").json
    assert [point["dropout"] for point in one["points"]] == [0.4]
    assert poise("search", shop, "--model", "edlae", "--dropout", "0,0.4", code=2)
    ease = poise("search", shop, "--model", "ease", "--lambda", 10, "--alpha", 1, "--no-expand", "--json").json
    longer = poise("search", shop, "--model", "full-rank", "--zero-diagonal", "--lambda", 10, "--alpha", 1, "--no-expand",
                   "--json").json
    assert ease["points"][0]["validation"] == longer["points"][0]["validation"]
