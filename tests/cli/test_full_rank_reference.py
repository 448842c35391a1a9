"""Full-rank models against independent float64 figures."""
import json

import pytest

from conftest import REFERENCE_SETS, reference_data


def flags_of(entry):
    flags = ["--model", "full-rank", "--lambda", entry["lambda"], "--alpha", entry["alpha"], "--dropout", entry.get("dropout", 0),
             "--weighting", entry.get("weighting", "constant"), "--lambda-exponent", entry.get("lambda_exponent", 0)]
    return flags + (["--zero-diagonal"] if entry["zero_diagonal"] else [])


def tolerance_of(entry, metric):
    """What scores that are nearly equal may cost when float32 swaps them; some users of many are such where none are counted."""
    return entry["slack"][metric] + 1e-6 if "slack" in entry else 2e-4


@pytest.mark.parametrize("name", REFERENCE_SETS)
def test_reference(poise, tmp_path, name):
    folder = reference_data(name)
    entries = json.loads((folder / "reference.json").read_text())["full_rank"]
    poise("prepare", folder / "pro_sg", "--out", tmp_path / "data")
    for entry in entries:
        case = {key: entry[key] for key in ("alpha", "lambda", "dropout", "zero_diagonal", "weighting", "lambda_exponent") if key in entry}
        trained = poise("train", tmp_path / "data", *flags_of(entry), "--out", tmp_path / "model", "--json").json
        explained = entry["observed_weight"] - entry["objective"]  # what the tolerance is a share of
        assert trained["objective"] == pytest.approx(entry["objective"], rel=1e-5, abs=1e-6 * explained), case
        assert trained["observed_weight"] == pytest.approx(entry["observed_weight"], rel=1e-9), case
        assert trained["converged"] and trained["certificate"]["worst_column"] <= 1e-6, case
        metrics = poise("evaluate", tmp_path / "model", tmp_path / "data", "--json").json["metrics"]
        for metric in ("recall@20", "recall@50", "ndcg@100"):
            assert metrics[metric]["mean"] == pytest.approx(entry["test"][metric], abs=tolerance_of(entry, metric)), (case, metric)


@pytest.mark.shared_data
def test_a_lambda_that_depends_on_popularity(poise, tmp_path):
    """Figures of the specification, at a lambda that validation likes as much as any for either exponent."""
    poise("prepare", reference_data("online-retail-head") / "pro_sg", "--out", tmp_path / "data")
    for exponent, expected in ((0, 0.4287), (0.5, 0.4326)):
        poise("train", tmp_path / "data", "--model", "ease", "--lambda", 200, "--lambda-exponent", exponent, "--out", tmp_path / "m")
        metrics = poise("evaluate", tmp_path / "m", tmp_path / "data", "--json").json["metrics"]
        assert metrics["ndcg@100"]["mean"] == pytest.approx(expected, abs=2e-4), exponent
