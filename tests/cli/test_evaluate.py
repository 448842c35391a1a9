"""What `poise evaluate` measures and writes."""
import pytest


def test_evaluation_on_other_data(poise, tmp_path, log, data, model):
    same = poise("evaluate", model, data, "--json")
    assert same.json["same_data"] is True and "other data" not in same.err
    poise("prepare", log, "--out", tmp_path / "other", "--target-share", "0.4")
    other = poise("evaluate", model, tmp_path / "other", "--json")
    assert other.json["same_data"] is False and "other data" in other.err


def test_bad_metrics(poise, model, data):
    for metrics in ("recall", "recall@", "recall@0", "recall@x", "speed@10", "", "recall@20,"):
        poise("evaluate", model, data, "--metrics", metrics, code=2)


def test_per_user_file(poise, tmp_path, model, data):
    result = poise("evaluate", model, data, "--on", "validation", "--metrics", "recall@5,coverage@5", "--per-user",
                   tmp_path / "users.csv", "--json").json
    lines = (tmp_path / "users.csv").read_text().split()
    assert lines[0] == "user,recall@5" and len(lines) == result["users"] + 1
    mean = sum(float(line.split(",")[1]) for line in lines[1:]) / result["users"]
    assert mean == pytest.approx(result["metrics"]["recall@5"]["mean"])


EVERY_METRIC = ("recall@5,ndcg@5,precision@5,map@5,hit-rate@5,mrr@5,stratified-recall@5,auc,popularity@5,tail-share@5,novelty@5,"
                "diversity@5,calibration@5,coverage@5,gini@5,entropy@5")


def test_every_metric(poise, tmp_path, model, data):
    result = poise("evaluate", model, data, "--metrics", EVERY_METRIC, "--per-user", tmp_path / "users.csv", "--json").json
    metrics = result["metrics"]
    assert list(metrics) == EVERY_METRIC.split(",")
    of_all = {"coverage@5", "gini@5", "entropy@5"}
    assert all((figure["stderr"] is None) == (name in of_all) for name, figure in metrics.items())
    rows = [line.split(",") for line in (tmp_path / "users.csv").read_text().split()]
    assert rows[0] == ["user"] + [name for name in metrics if name not in of_all]
    for column, name in list(enumerate(rows[0]))[1:]:
        assert sum(float(row[column]) for row in rows[1:]) / result["users"] == pytest.approx(metrics[name]["mean"])
    # Popularity shows few items, and the popular ones.
    assert metrics["gini@5"]["mean"] > 0.5 and 0 < metrics["auc"]["mean"] < 1 and metrics["tail-share@5"]["mean"] < 0.5
    assert poise("evaluate", model, data, "--metrics", "auc", "--json", "--threads", 1).json["metrics"]["auc"] == metrics["auc"]
    assert "auc  " in poise("evaluate", model, data, "--metrics", "auc,gini@3").out
    (tmp_path / "config.toml").write_text('metrics = "diversity@5,auc"\n')
    assert list(poise("evaluate", model, data, "--config", tmp_path / "config.toml", "--json").json["metrics"]) == ["diversity@5", "auc"]
    assert "without @" in poise("evaluate", model, data, "--metrics", "auc@5", code=2).err
    assert "'novelty'" in poise("evaluate", model, data, "--metrics", "novelty", code=2).err
    assert "did you mean 'diversity'" in poise("evaluate", model, data, "--metrics", "diversty@5", code=2).err
