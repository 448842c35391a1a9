"""What `train` says it will need is what it takes: the estimate that decides on --memory-limit against the measured peak."""
import pytest

from conftest import run

# Flags, and the data: "wide" has more items than users.
CONFIGURATIONS = [
    ("long", "--model", "ease"), ("long", "--model", "full-rank", "--alpha", "3"),
    ("long", "--model", "full-rank", "--alpha", "0.3", "--weighting", "item-oriented"),
    ("long", "--model", "wmf", "--rank", "64"), ("long", "--model", "wmf", "--rank", "256", "--alpha", "5", "--start", "random"),
    ("long", "--model", "weight-decay", "--rank", "64", "--alpha", "3"), ("long", "--model", "dropout", "--rank", "64", "--alpha", "3"),
    ("long", "--model", "data-weight-decay", "--rank", "64", "--alpha", "3"),
    ("wide", "--model", "ease"), ("wide", "--model", "full-rank", "--alpha", "3"), ("wide", "--model", "wmf", "--rank", "64", "--alpha", "5"),
    ("wide", "--model", "weight-decay", "--rank", "64", "--alpha", "3"),
    ("wide", "--model", "data-weight-decay", "--rank", "64", "--alpha", "3"),
    ("long", "--model", "ease", "--neighbours", "100"), ("long", "--model", "full-rank", "--neighbours", "200", "--alpha", "3"),
    ("wide", "--model", "ease", "--neighbours", "150", "--weighting", "user-oriented", "--alpha", "2"),
]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("memory")
    run("synth", "--like", "netflix", "--scale", "0.01", "--out", folder / "log.csv", "--quiet")
    run("prepare", folder / "log.csv", "--min-item-users", "20", "--out", folder / "long", "--quiet")
    run("prepare", folder / "log.csv", "--min-item-users", "15", "--held-out-users", "1100", "--out", folder / "wide", "--quiet")
    return folder


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=" ".join)
def test_estimate_is_near_the_peak(prepared, tmp_path, configuration):
    data, *flags = configuration
    folder = tmp_path / data  # eigenpairs that another test left beside the data would not be computed again
    folder.mkdir()
    (folder / "data.poise").hardlink_to(prepared / data / "data.poise")
    rounds = [] if "ease" in flags or "full-rank" in flags else ["--rounds", "2"]
    trained = run("train", folder, *flags, *rounds, "--lambda", "100", "--device", "cpu", "--threads", "2", "--out", tmp_path / "model",
                  "--json").json
    grown = trained["peak_bytes"] - trained["bytes_before_training"]
    assert grown > 20e6, "too small to be measured"
    assert 1 / 1.5 <= trained["expected_bytes"] / grown <= 1.5, (trained["expected_bytes"], grown)
