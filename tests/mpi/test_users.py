"""Evaluation and recommendation divide the users among processes, and give what one gives."""
import pytest

from conftest import PROGRAM, SIZES, mpirun, on_one_rank, run, shop_log

METRICS = ("recall@20,ndcg@10,mrr@5,coverage@10,coverage@3,stratified-recall@10,auc,gini@5,entropy@5,popularity@5,"
           "tail-share@5,novelty@5,diversity@5,calibration@5")


@pytest.fixture(scope="module", params=["ease", "wmf", "popularity"])
def model(shop, tmp_path_factory, request):
    path = tmp_path_factory.mktemp("model") / "model"
    run("train", shop, "--model", request.param, *([] if request.param == "popularity" else ["--lambda", 3]),
        *(["--rank", 5] if request.param == "wmf" else []), "--out", path)
    return path


def test_evaluate(shop, model, tmp_path):
    arguments = ["evaluate", model, shop, "--metrics", METRICS, "--on", "validation", "--json"]
    alone = run(*arguments, "--per-user", tmp_path / "1.csv").json
    for size in [*SIZES, 7]:
        result = mpirun(size, *arguments, "--per-user", tmp_path / f"{size}.csv", mark=model).json
        assert result.pop("ranks") == size
        for name in alone:
            assert name in ("seconds", "phases") or result[name] == alone[name], name
        assert (tmp_path / f"{size}.csv").read_bytes() == (tmp_path / "1.csv").read_bytes()


def test_more_processes_than_users(data, tmp_path):
    run("train", data, "--model", "popularity", "--out", tmp_path / "model")
    alone = run("evaluate", tmp_path / "model", data, "--json").json
    assert alone["users"] < 9
    assert mpirun(9, "evaluate", tmp_path / "model", data, "--json", mark=tmp_path).json["metrics"] == alone["metrics"]


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_recommend_to_many_users(model, tmp_path, form):
    (tmp_path / "log.csv").write_text(shop_log(11))
    arguments = ["recommend", model, "--histories", tmp_path / "log.csv", "--keep-above", 2, "-k", 7, "--format", form]
    if form == "json" and "popularity" not in run("info", model).out:
        arguments.append("--explain")
    alone = run(*arguments).out
    for size in SIZES:
        assert mpirun(size, *arguments, mark=tmp_path).out == alone


def test_recommend_for_one_history(model):
    alone = run("recommend", model, "--items", "i1,i2", "--json").out
    assert mpirun(3, "recommend", model, "--items", "i1,i2", "--json", mark=model).out == alone
    assert "unheard" in mpirun(3, "recommend", model, "--items", "unheard", code=3, mark=model).sentence


def test_files_that_differ_between_hosts(shop, tmp_path):
    for name, weight in (("one", 3), ("other", 4)):
        run("train", shop, "--model", "ease", "--lambda", weight, "--out", tmp_path / name)
        (tmp_path / f"{name}.csv").write_text(shop_log(weight))
    evaluate = f"{PROGRAM} evaluate {tmp_path}/%s {shop}"
    script = on_one_rank(tmp_path, 1, evaluate % "other", evaluate % "one")
    assert "rank 1 on" in mpirun(3, program=[script], code=4, mark=tmp_path).sentence
    recommend = f"{PROGRAM} recommend {tmp_path}/one --histories {tmp_path}/%s.csv"
    script = on_one_rank(tmp_path, 2, recommend % "other", recommend % "one")
    assert "rank 2 on" in mpirun(3, program=[script], code=4, mark=tmp_path).sentence
    script = on_one_rank(tmp_path, 1, recommend % "missing", recommend % "one")
    assert "missing.csv" in mpirun(3, program=[script], code=3, mark=tmp_path).sentence


def test_output_that_cannot_be_written(shop, model, tmp_path):
    """The first process alone finds out; the others do not wait for it."""
    result = mpirun(3, "evaluate", model, shop, "--per-user", tmp_path / "no" / "folder" / "x.csv", code=4, mark=tmp_path)
    assert "x.csv" in result.sentence or "folder" in result.sentence
