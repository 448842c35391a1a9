"""The popularity baseline against independent float64 figures."""
import json

import pytest

from conftest import REFERENCE_SETS, reference_data


@pytest.mark.parametrize("name", REFERENCE_SETS)
def test_popularity(poise, tmp_path, name):
    folder = reference_data(name)
    expected = json.loads((folder / "reference.json").read_text())
    prepared = poise("prepare", folder / "pro_sg", "--out", tmp_path / "data", "--json").json
    assert prepared["train"] == {"users": expected["data"]["train_users"], "interactions": expected["data"]["train_interactions"]}
    assert prepared["items"] == expected["data"]["items"]
    trained = poise("train", tmp_path / "data", "--model", "popularity", "--out", tmp_path / "model", "--json").json
    assert trained["model"] == "popularity" and trained["certificate"] is None
    result = poise("evaluate", tmp_path / "model", tmp_path / "data", "--json").json
    assert result["users"] == expected["popularity"]["users"]
    assert result["users_without_targets"] == 0
    for metric in ("recall@20", "recall@50", "ndcg@100"):
        assert result["metrics"][metric]["mean"] == pytest.approx(expected["popularity"][metric], abs=1e-6)
        mean, stderr = result["metrics"][metric]["mean"], result["metrics"][metric]["stderr"]
        assert (stderr > 0) == (0 < mean < 1) and stderr <= 0.5 / result["users"] ** 0.5
