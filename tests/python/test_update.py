"""poise.update: the bytes of the program's command, and the model of a training on the merged data."""
import pickle
import random

import numpy as np
import pandas
import pytest
import scipy.sparse
from conftest import run_program, taste_matrix

import poise

# By name: the model, the flags of `poise train`, and whether it keeps its inverse.
CASES = {
    "ease": (poise.EASE(regularization=8), ["--model", "ease", "--lambda", 8], True),
    "weighted": (poise.FullRank(regularization=8, alpha=4), ["--model", "full-rank", "--lambda", 8, "--alpha", 4], True),
    "float64": (poise.EASE(regularization=1e-4), ["--model", "ease", "--lambda", 1e-4], True),
    "by value": (
        poise.EASE(regularization=8, weighting="log", alpha=2),
        ["--model", "ease", "--lambda", 8, "--weighting", "log", "--alpha", 2], True,
    ),
    "counts": (poise.EDLAE(regularization=8, dropout=0.3), ["--model", "edlae", "--lambda", 8, "--dropout", 0.3], True),
    "without the inverse": (poise.EASE(regularization=8), ["--model", "ease", "--lambda", 8], False),
    "neighbours": (poise.EASE(regularization=8, neighbours=5), ["--model", "ease", "--lambda", 8, "--neighbours", 5], False),
    "wmf": (
        poise.WMF(factors=4, regularization=2, alpha=3), ["--model", "wmf", "--rank", 4, "--lambda", 2, "--alpha", 3], False,
    ),
    "awmf": (
        poise.AWMF(factors=4, regularizer="dropout", regularization=2, alpha=3),
        ["--model", "dropout", "--rank", 4, "--lambda", 2, "--alpha", 3], False,
    ),
    "popularity": (poise.Popularity(), ["--model", "popularity"], False),
}


def write(path, rows):
    path.write_text("user,item,count\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A log of 300 users and 60 items, prepared with held-out users; new rows; rows to remove."""
    folder = tmp_path_factory.mktemp("update")
    counts = taste_matrix(values=True).tocoo()
    write(folder / "log.csv", [(f"u{u}", f"i{i}", int(r)) for u, i, r in zip(counts.row, counts.col, counts.data)])
    run_program("prepare", folder / "log.csv", "--held-out-users", 60, "--out", folder / "data")
    data = poise.Dataset.load(folder / "data", show_progress=False)
    draw = random.Random(5)
    users = [f"new{k}" for k in range(6)] + list(data.users[:6]) + list(data.test.users[:2])
    rows = [(user, f"i{draw.randrange(60)}", draw.randrange(1, 5)) for user in users for _ in range(6)]
    write(folder / "new.csv", rows + [("new0", "fresh", 2), ("new1", "fresh", 1)])
    gone = data.train[10:13].tocoo()
    pairs = [f"{data.users[10 + u]},{data.items[i]}" for u, i in zip(gone.row, gone.col)][:5]
    (folder / "remove.csv").write_text("user,item\n" + "\n".join(pairs) + "\n")
    return folder


def rows_of(files, name, form="auto"):
    return poise.Dataset.from_file(files / name, form, show_progress=False)


def same_files(folder, ours, theirs, inverse):
    assert (folder / ours).read_bytes() == (folder / theirs).read_bytes()
    assert (folder / f"{ours}.inverse").exists() == (folder / f"{theirs}.inverse").exists() == inverse
    if inverse:
        assert (folder / f"{ours}.inverse").read_bytes() == (folder / f"{theirs}.inverse").read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_the_bytes_of_the_program(files, tmp_path, name):
    model, flags, keep = CASES[name]
    run_program("train", files / "data", *flags, *(["--keep-inverse"] if keep else []), "--out", tmp_path / "theirs")
    logs = ("--log", files / "new.csv", "--remove", files / "remove.csv")
    report = run_program("update", tmp_path / "theirs", files / "data", *logs, "--out", tmp_path / "their-next", "--out-data", tmp_path / "data")

    data = poise.Dataset.load(files / "data", show_progress=False)
    ours = model.clone().fit(data, keep_inverse=keep, show_progress=False)
    ours.save(tmp_path / "ours")
    if name != "neighbours":  # whose report, of the program, also says how they rank
        same_files(tmp_path, "ours", "theirs", keep)
    new, remove = rows_of(files, "new.csv"), rows_of(files, "remove.csv", "pairs")
    updated, merged, how = poise.update(ours, data, new, remove=remove, show_progress=False)
    updated.save(tmp_path / "our-next")
    same_files(tmp_path, "our-next", "their-next", keep or name == "without the inverse")
    merged.save(tmp_path / "our-data")
    assert (tmp_path / "our-data" / "data.poise").read_bytes() == (tmp_path / "data" / "data.poise").read_bytes()
    for key in set(how) - {"refitted"}:
        assert how[key] == report["update"][key], key
    assert (how["refitted"] is None) == (report["update"]["refitted"] is None)
    assert "--" not in (how["refitted"] or ""), "a keyword, not a flag"
    assert updated.get_params() == ours.get_params() and updated.item_ids_.tolist() == merged.items.tolist()

    # As well from the files that the program wrote, or that were saved elsewhere.
    read = poise.load(tmp_path / "theirs")
    read.save(tmp_path / "copied")
    same_files(tmp_path, "copied", "theirs", keep)
    again = poise.update(poise.load(tmp_path / "copied"), data, new, remove=remove, show_progress=False)
    again.model.save(tmp_path / "from-file")
    same_files(tmp_path, "from-file", "their-next", keep or name == "without the inverse")


@pytest.mark.parametrize("name", ["ease", "weighted", "float64", "by value", "neighbours"])
def test_a_training_on_both(files, name):
    """Three updates in a row are a training on all rows: the objective within the certificates, metrics within 1e-6."""
    model, _, keep = CASES[name]
    model = model.clone().set_params(tolerance=1e-9)
    data = poise.Dataset.load(files / "data", show_progress=False)
    updated = model.clone().fit(data, keep_inverse=keep, show_progress=False)
    for day in range(3):
        draw = random.Random(day)
        rows = [(f"day{day}-{user}", f"i{draw.randrange(60)}", 1 + draw.randrange(4)) for user in range(4) for _ in range(6)]
        new = poise.Dataset.from_dataframe(pandas.DataFrame(rows, columns=["user", "item", "count"]), value="count")
        updated, data, how = poise.update(updated, data, new, show_progress=False)
        assert how["new_users"] == 4 and (how["refitted"] is None or "float64" in how["refitted"])
    trained = model.clone().fit(data, show_progress=False)
    explained = trained.report_["observed_weight"] - trained.objective_
    allowed = (updated.certificate_["relative"] + trained.certificate_["relative"]) * explained
    error = updated.report_["objective_error"] + trained.report_["objective_error"]
    assert updated.converged_ and abs(updated.objective_ - trained.objective_) <= allowed + error + 1e-9 * trained.objective_
    for metric, value in poise.evaluate(trained, data.test)["metrics"].items():
        assert poise.evaluate(updated, data.test)["metrics"][metric]["mean"] == pytest.approx(value["mean"], abs=1e-6), metric


def best(X, W, Z, penalty):
    """Each row of the factor that goes with Z, and the objective there, in float64."""
    rows = [np.linalg.solve(Z.T @ (w[:, None] * Z) + penalty * np.eye(Z.shape[1]), Z.T @ (w * x)) for x, w in zip(X, W)]
    Y = np.array(rows)
    return Y, float((W * (X - Y @ Z.T) ** 2).sum() + penalty * ((Y**2).sum() + (Z**2).sum()))


def test_rounds_of_wmf_end_where_they_say(files):
    """An independent float64 re-solve of the users, then of the items from there."""
    data = poise.Dataset.load(files / "data", show_progress=False)
    model = poise.WMF(factors=4, regularization=2, alpha=3, least_decrease=1e-9, iterations=500).fit(data, show_progress=False)
    updated, merged, how = poise.update(model, data, rows_of(files, "new.csv"), show_progress=False)
    assert how["warm"] and how["refitted"] is None and updated.n_iter_ > 0
    X = (merged.train.toarray() > 0).astype(float)
    W = 1 + 2 * X
    V = updated.item_factors.astype(float)
    U, objective = best(X, W, V, 2)
    assert objective <= updated.objective_ * (1 + 1e-9)
    assert objective >= updated.objective_ - updated.certificate_["absolute"] - 1e-7 * updated.objective_
    _, of_items = best(X.T, W.T, U, 2)
    assert of_items >= updated.objective_ * (1 - 1e-5), "neither block has more to gain than the last round had"
    again = poise.update(model, data, rows_of(files, "new.csv"), refit=True, show_progress=False)
    assert again.how["refitted"].startswith("as asked") and updated.objective_ <= again.model.objective_ * (1 + 1e-5)


def test_counts_may_be_kept(files):
    data = poise.Dataset.load(files / "data", show_progress=False)
    model = CASES["counts"][0].clone().fit(data, keep_inverse=True, show_progress=False)
    again = poise.update(model, data, rows_of(files, "new.csv"), show_progress=False)
    assert "dropout" in again.how["refitted"]
    kept = poise.update(model, data, rows_of(files, "new.csv"), keep_lambda=True, show_progress=False)
    assert kept.how["lambda_kept"] and kept.how["refitted"] is None and kept.model.objective_ != again.model.objective_


def test_a_matrix_with_ids():
    """Data that were never written, with numbers as ids, of which a new row has more."""
    matrix = taste_matrix()
    data = poise.Dataset.from_csr(matrix)
    model = poise.EASE(regularization=8).fit(data, keep_inverse=True, show_progress=False)
    new = poise.Dataset.from_csr(scipy.sparse.csr_matrix(np.ones((2, 3))), users=[5, 1000], items=[7, 8, 60])
    updated, merged, how = poise.update(model, data, new, show_progress=False)
    assert merged.shape == (301, 61) and merged.items.tolist() == list(range(61)) == updated.item_ids_.tolist()
    assert how["refitted"] is None and how["new_items"] == 1 and model.n_items_ == 60
    assert merged.train[5].nnz == len(set(matrix[5].indices) | {7, 8, 60})
    trained = poise.EASE(regularization=8).fit(merged, show_progress=False)
    assert np.abs(updated.weights_ - trained.weights_).max() < 1e-4
    texts = poise.Dataset.from_csr(scipy.sparse.csr_matrix(np.ones((1, 2))), users=["ann"], items=[7, "tea"])
    assert poise.update(updated, merged, texts, show_progress=False).data.items[-1] == "tea"


def test_features_stay(files, tmp_path):
    path = tmp_path / "features.csv"
    path.write_text("item,feature\n" + "".join(f"i{k},kind {k % 3}\n" for k in range(0, 60, 2)))
    data = poise.Dataset.load(files / "data", show_progress=False).with_item_features(path)
    model = poise.EASE(regularization=8, feature_weight=2).fit(data, keep_inverse=True, show_progress=False)
    updated, merged, how = poise.update(model, data, rows_of(files, "new.csv"), show_progress=False)
    assert how["refitted"] is None and merged.feature_names == data.feature_names and merged.item_features.shape == (61, 3)
    trained = model.clone().fit(merged, show_progress=False)
    assert np.abs(updated.weights_ - trained.weights_).max() < 1e-4
    assert np.abs(updated.weights_[:60, :60] - model.weights_).max() > 1e-3
    updated.save(tmp_path / "updated")
    trained.save(tmp_path / "trained")
    assert (tmp_path / "updated").stat().st_size > 0 and poise.load(tmp_path / "updated").item_ids_.tolist() == merged.items.tolist()


def test_a_pickled_model_has_no_inverse(files):
    data = poise.Dataset.load(files / "data", show_progress=False)
    model = CASES["weighted"][0].clone().fit(data, keep_inverse=True, show_progress=False)
    copy = pickle.loads(pickle.dumps(model))
    how = poise.update(copy, data, rows_of(files, "new.csv"), show_progress=False).how
    assert "keep_inverse" in how["refitted"]


def test_wrong_use(files, tmp_path):
    data = poise.Dataset.load(files / "data", show_progress=False)
    new = rows_of(files, "new.csv")
    with pytest.raises(ValueError, match="not fitted"):
        poise.update(poise.EASE(), data, new)
    model = poise.EASE(regularization=8).fit(data, keep_inverse=True, show_progress=False)
    model.save(tmp_path / "m")
    before = (tmp_path / "m").read_bytes()
    with pytest.raises(ValueError, match="nothing to update"):
        poise.update(model, data)
    with pytest.raises(ValueError, match="other data"):
        poise.update(model, poise.split(rows_of(files, "log.csv"), held_out_users=10), new)
    with pytest.raises(ValueError, match="new is split"):
        poise.update(model, data, data)
    with pytest.raises(TypeError, match="new has to be a poise.Dataset"):
        poise.update(model, data, data.train)
    with pytest.raises(TypeError, match="data has to be the poise.Dataset"):
        poise.update(model, data.train, new)
    stranger = poise.Dataset.from_dataframe(pandas.DataFrame({"user": ["nobody"], "item": ["i1"]}))
    with pytest.raises(ValueError, match="user 'nobody' of the rows to remove is not in the data"):
        poise.update(model, data, remove=stranger)
    with pytest.raises(ValueError, match="no row is left"):
        users, items = data.train.nonzero()
        poise.update(model, data, remove=poise.Dataset.from_dataframe(pandas.DataFrame({"user": data.users[users], "item": data.items[items]})))
    model.save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before, "a failure leaves the model"
    for other in (poise.WMF(factors=4), poise.EASE(neighbours=4), poise.Popularity()):
        with pytest.raises(ValueError, match="keep_inverse is for dense full-rank models"):
            other.fit(data, keep_inverse=True, show_progress=False)


def test_a_lost_inverse(files, tmp_path):
    """Missing, it is named; to save the model elsewhere needs none."""
    data = poise.Dataset.load(files / "data", show_progress=False)
    poise.EASE(regularization=8).fit(data, keep_inverse=True, show_progress=False).save(tmp_path / "m")
    (tmp_path / "m.inverse").unlink()
    model = poise.load(tmp_path / "m")
    with pytest.raises(OSError, match="m.inverse is missing"):
        poise.update(model, data, rows_of(files, "new.csv"), show_progress=False)
    model.save(tmp_path / "n")
    assert not (tmp_path / "n.inverse").exists()
    how = poise.update(poise.load(tmp_path / "n"), data, rows_of(files, "new.csv"), show_progress=False).how
    assert "keep_inverse" in how["refitted"]


def test_new_items_have_features(tmp_path):
    """As the program does, to the same model and data."""
    draw = np.random.default_rng(4)
    frame = pandas.DataFrame({"user": np.repeat(np.arange(90), 6), "item": draw.integers(0, 30, 540)}).drop_duplicates()
    (tmp_path / "f.csv").write_text("item,kind\n" + "".join(f"{i},kind {i % 3}\n" for i in range(30)))
    data = poise.Dataset.from_dataframe(frame).with_item_features(tmp_path / "f.csv")
    model = poise.EASE(regularization=3, feature_weight=4, tolerance=1e-9).fit(data, keep_inverse=True, show_progress=False)
    (tmp_path / "more.csv").write_text("item,kind\n30,kind 1\n31,kind 2\n32,never\n5,kind 0\n")
    today = poise.Dataset.from_dataframe(pandas.DataFrame({"user": [7, 200], "item": [30, 30]}))
    updated, merged, how = poise.update(model, data, today, item_features=tmp_path / "more.csv", show_progress=False)
    assert (how["refitted"], how["described_items"], how["described_before"], how["unknown_features"], how["new_items"]) == (None, 2, 1, 1, 2)
    assert merged.item_features.shape == (32, 3) and merged.item_features.toarray()[30:].tolist() == [[0, 1, 0], [0, 0, 1]]
    again = poise.EASE(regularization=3, feature_weight=4, tolerance=1e-9).fit(merged, show_progress=False)
    assert np.abs(updated.weights_ - again.weights_).max() < 1e-5 and updated.weights_[:, 31].any()
    alone = poise.update(updated, merged, item_features=tmp_path / "more.csv", show_progress=False)
    assert alone.how["described_items"] == 0 and alone.how["described_before"] == 3
    with pytest.raises(ValueError, match="no features of items"):
        poise.update(poise.EASE(3).fit(poise.Dataset.from_dataframe(frame), show_progress=False), poise.Dataset.from_dataframe(frame),
                     item_features=tmp_path / "more.csv", show_progress=False)
