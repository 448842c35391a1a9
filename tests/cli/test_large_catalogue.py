"""Every command at 300 000 items within 2 GB: nothing is as large as items x items (360 GB), or as users x items."""
import json
import resource

import pytest

from conftest import run
from large_catalogue import HELD_OUT, ITEMS, SparseModel, write_log

LIMIT = 2 << 30


def limited(*arguments, code=0):
    """The program where addresses, mapped files among them, end at 2 GB."""
    return run(*arguments, "--memory-limit", "2G", "--threads", "2", code=code,
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The log, and what `prepare` makes of it."""
    folder = tmp_path_factory.mktemp("large")
    write_log(folder / "log.csv")
    prepared = limited("prepare", folder / "log.csv", "--held-out-users", HELD_OUT, "--min-user-items", "1", "--out", folder / "data",
                       "--json").json
    assert prepared["items"] > 0.8 * ITEMS  # but for those that held-out users alone have
    assert prepared["test"]["users"] == HELD_OUT
    return folder


@pytest.fixture(scope="module")
def popularity(folder):
    limited("train", folder / "data", "--model", "popularity", "--out", folder / "popularity.model")
    return folder / "popularity.model"


@pytest.fixture(scope="module")
def sparse(folder, popularity):
    """A sparse full-rank model, made by hand: no dense one that entries could be kept of fits anywhere."""
    model = SparseModel(popularity)
    model.path = folder / "sparse.model"
    model.write(model.path)
    return model


def test_info(folder, popularity, sparse):
    items = len(sparse.ids)
    assert limited("info", folder / "data", "--json").json["items"] == items
    assert limited("info", popularity, "--json").json["items"] == items
    assert limited("info", sparse.path, "--json").json["sparse"]["entries"] == sparse.indices.size


def test_evaluate(folder, popularity, sparse):
    metrics = "recall@20,ndcg@100,coverage@100,stratified-recall@50"
    for model in (popularity, sparse.path):
        result = limited("evaluate", model, folder / "data", "--metrics", metrics, "--json").json
        assert result["users"] + result["users_without_targets"] == HELD_OUT
        assert all(0 <= each["mean"] <= 1 for each in result["metrics"].values())


def test_recommend(sparse):
    history = [0, 17, 100_000]
    items = ",".join(sparse.ids[i] for i in history)
    result = limited("recommend", sparse.path, "--items", items, "-k", "10", "--explain", "--json").json["recommendations"]
    assert [each["item"] for each in result] == sparse.best(history, 10)
    scores = sparse.scores(history)
    for each in result:
        assert each["score"] == pytest.approx(float(scores[sparse.number[each["item"]]]), rel=1e-6)
        assert sum(reason["contribution"] for reason in each["because"]) == pytest.approx(each["score"], rel=1e-6)


def test_recommend_to_all_users_of_a_log(folder, sparse):
    """So many users that their scores of all items would be more than the limit."""
    histories = {}
    for line in (folder / "log.csv").read_text().splitlines()[1:]:
        user, item = line.split(",")
        if user < f"user-{HELD_OUT:06}":
            histories.setdefault(user, []).append(item)
    (folder / "some.csv").write_text("user,item\n" + "".join(f"{user},{item}\n" for user, items in histories.items() for item in items))
    assert 4 * len(histories) * len(sparse.ids) > LIMIT
    lists = {}
    for line in limited("recommend", sparse.path, "--histories", folder / "some.csv", "-k", "3", "--format", "csv").out.splitlines()[1:]:
        user, item, _ = line.split(",")
        lists.setdefault(user, []).append(item)
    assert lists.keys() == histories.keys()
    for user in ("user-000000", "user-001234"):
        assert lists[user] == sparse.best({sparse.number.get(item) for item in histories[user]} - {None}, 3)


def test_recommend_from_a_list(folder, popularity, sparse):
    (folder / "only.txt").write_text("\n".join(sparse.ids[1000:1100]) + "\n")
    result = limited("recommend", popularity, "--items", sparse.ids[0], "--only", folder / "only.txt", "--json").json
    assert {each["item"] for each in result["recommendations"]} <= set(sparse.ids[1000:1100])


def test_similar(sparse):
    result = limited("similar", sparse.path, "--item", sparse.ids[7], "-k", "5", "--json").json
    assert [each["item"] for each in result["similar"]] == sparse.best([7], 5)


def test_unknown_item(sparse):
    message = limited("similar", sparse.path, "--item", sparse.ids[7].replace("item", "itme"), code=3).err
    assert f"did you mean '{sparse.ids[7]}'" in message


def test_what_does_not_fit_says_so(folder, sparse, tmp_path):
    """Dense training and eigenpairs, refused before any work; and a certificate of a sparse model, as its columns would be dense."""
    for model, instead in [("ease", "items would fit"), ("wmf", "; --start random would fit"), ("dropout", "; raise --memory-limit")]:
        message = limited("train", folder / "data", "--model", model, "--out", tmp_path / "model", code=4).err
        assert "GB" in message and instead in message
    assert "memory-limit" in limited("certify", sparse.path, folder / "data", code=4).err
    assert list(tmp_path.iterdir()) == []


NEIGHBOURS = ("--model", "ease", "--lambda", 5)
# Flags of what trains a model at this size in 2 GB.
TRAINED = ["--model wmf --rank 8 --start random --rounds 2"]


@pytest.fixture(scope="module")
def neighbours(folder):
    """A full-rank model with neighbours, and what training said."""
    trained = limited("train", folder / "data", *NEIGHBOURS, "--neighbours", 20, "--lambda-exponent", 0.5, "--alpha", 2,
                      "--checkpoint", folder / "checkpoint", "--out", folder / "neighbours.model", "--json").json
    assert trained["peak_bytes"] < LIMIT and trained["converged"]
    low, high = trained["certificate"]["explained_share"]
    assert 0 < trained["certificate"]["explained_share_proven"] <= high and low <= high <= 1
    return folder / "neighbours.model", trained


def test_neighbours_are_certified(folder, neighbours):
    model, trained = neighbours
    checked = limited("certify", model, folder / "data", "--json").json
    assert checked["peak_bytes"] < LIMIT and checked["converged"]
    assert checked["certificate"] == trained["certificate"]


def test_neighbours_are_used_as_any_other_model(folder, neighbours, tmp_path):
    model, _ = neighbours
    info = limited("info", model, "--json").json
    assert info["items"] > 0.8 * ITEMS and info["sparse"]["entries"] <= 20 * info["items"]
    result = limited("evaluate", model, folder / "data", "--metrics", "recall@20,ndcg@100", "--json").json
    assert 0 <= result["metrics"]["ndcg@100"]["mean"] <= 1
    item = limited("recommend", model, "--items", "item-0000001", "-k", "1", "--json").json["recommendations"][0]["item"]
    recommended = limited("recommend", model, "--items", item, "-k", "3", "--explain", "--json").json["recommendations"]
    assert len(recommended) == 3 and all(each["because"] for each in recommended if each["score"] != 0)
    assert len(limited("similar", model, "--item", item, "-k", "5", "--json").json["similar"]) == 5
    assert "no item factors" in limited("export", model, "--item-factors", tmp_path / "factors.npy", code=2).err


def test_neighbours_are_searched_and_studied(folder, tmp_path):
    grid = ("--grid", "paper", "--no-expand")
    found = limited("search", folder / "data", *NEIGHBOURS, "--neighbours", "5,20", "--alpha", "2", *grid, "--journal", tmp_path / "journal",
                    "--out", tmp_path / "best.model", "--json").json
    assert [point["neighbours"] for point in found["points"]] == [5, 20]
    assert "explained_share" in found["best"]["certificate"]
    said = limited("study", folder / "data", "--models", "ease", "--neighbours", "5", *grid, "--points", "1", "--out", tmp_path / "study")
    assert "ease with all neighbours is left out" in said.err
    rows = json.loads((tmp_path / "study" / "results.json").read_text())["rows"]
    assert {row["neighbours"] for row in rows} == {0, 5}  # 0 is popularity's


@pytest.mark.parametrize("flags", TRAINED)
def test_training(folder, tmp_path, flags):
    trained = limited("train", folder / "data", *flags.split(), "--out", tmp_path / "model", "--json").json
    assert trained["peak_bytes"] < LIMIT
    result = limited("evaluate", tmp_path / "model", folder / "data", "--metrics", "ndcg@100", "--json").json
    assert 0 <= result["metrics"]["ndcg@100"]["mean"] <= 1
    limited("export", tmp_path / "model", "--item-factors", tmp_path / "factors.npy", "--item-ids", tmp_path / "ids.txt")
    with open(tmp_path / "ids.txt") as ids:
        assert len(ids.readlines()) == json.loads(limited("info", tmp_path / "model", "--json").out)["items"]
