"""Ids, files and splits."""
import numpy as np
import pandas
import pytest
import scipy.sparse
from conftest import run_program, taste_matrix

import poise


def frame(users, items):
    return pandas.DataFrame({"user": users, "item": items})


class TestDataframe:
    def test_whole_numbers(self):
        data = poise.Dataset.from_dataframe(frame([30, 10, 30], [7, 7, 8]))
        assert data.users.tolist() == [30, 10] and data.users.dtype == np.int64
        assert data.items.tolist() == [7, 8]
        assert data.train.toarray().tolist() == [[1, 1], [1, 0]]
        assert data.user_index(10) == 1 and data.user_index("10") == 1 and data.item_index([8, 7]).tolist() == [1, 0]

    def test_texts_stay_texts(self):
        data = poise.Dataset.from_dataframe(frame(["30", "10"], ["7", "tee 'x', \u00fc"]))
        assert data.users.tolist() == ["30", "10"] and data.items.tolist() == ["7", "tee 'x', \u00fc"]

    def test_gaps_and_numbers_as_floats(self):
        """What a column of numbers becomes in pandas when some are missing."""
        data = poise.Dataset.from_dataframe(frame([1.0, np.nan, 2.0, 2.0], ["a", "a", None, "b"]))
        assert data.users.tolist() == [1, 2] and data.items.tolist() == ["a", "b"]
        assert data.counts["empty_ids"] == 2

    def test_categories_and_dates(self):
        log = frame(pandas.Categorical(["x", "y", "x"]), pandas.to_datetime(["2020-01-01", "2020-01-02", "2020-01-02"]))
        data = poise.Dataset.from_dataframe(log)
        assert data.users.tolist() == ["x", "y"] and data.items[0].startswith("2020-01-01")

    def test_values_add_up(self):
        log = frame([1, 1, 2], ["a", "a", "a"]).assign(count=[1, 2.5, 3])
        data = poise.Dataset.from_dataframe(log, value="count")
        assert data.train.toarray().tolist() == [[3.5], [3]] and data.counts["duplicates"] == 1

    def test_refusals(self):
        with pytest.raises(ValueError, match="no column 'who'"):
            poise.Dataset.from_dataframe(frame([1], [2]), user="who")
        for bad in (np.nan, np.inf, 1e300):
            with pytest.raises(ValueError, match="'v' holds"):
                poise.Dataset.from_dataframe(frame([1], [2]).assign(v=[bad]), value="v")
        with pytest.raises(ValueError, match="not a number"):
            poise.Dataset.from_dataframe(frame([1], [2]).assign(v=["x"]), value="v")
        with pytest.raises(KeyError, match="no user 9"):
            poise.Dataset.from_dataframe(frame([1], [2])).user_index(9)

    def test_empty(self):
        with pytest.raises(ValueError, match="no row"):
            poise.Dataset.from_dataframe(frame([], []))
        with pytest.raises(ValueError, match="no row"):
            poise.Dataset.from_dataframe(frame([None], [1]))

    def test_a_model_keeps_the_ids(self, tmp_path):
        matrix = taste_matrix(200, 30).tocoo()
        data = poise.Dataset.from_dataframe(frame(matrix.row, [f"item {k}" for k in matrix.col]))
        model = poise.EASE(regularization=10).fit(data, show_progress=False)
        assert model.item_ids_.tolist() == data.items.tolist()
        model.save(tmp_path / "model")
        loaded = poise.load(tmp_path / "model")
        assert loaded.item_ids_.tolist() == data.items.tolist() and loaded.item_index("item 3") == data.item_index("item 3")
        history = scipy.sparse.csr_matrix(([1.0], ([0], [data.item_index("item 3")])), shape=(1, 30))
        best = data.items[model.recommend(0, history, N=1)[0][0]]
        program = run_program("recommend", tmp_path / "model", "--items", "item 3", "-k", "1")
        assert program["recommendations"][0]["item"] == best


class TestCsr:
    def test_the_matrix_is_not_copied(self):
        matrix = taste_matrix()
        data = poise.Dataset.from_csr(matrix, items=[f"i{k}" for k in range(60)])
        assert data.train is matrix and data.users.tolist() == list(range(300))
        model = poise.EASE(regularization=10).fit(data, show_progress=False)
        assert model.item_ids_[5] == "i5"
        assert np.array_equal(model.weights_, poise.EASE(regularization=10).fit(matrix, show_progress=False).weights_)

    def test_saving_changes_nothing(self, tmp_path):
        """Rows and columns keep their order, users without anything their row."""
        matrix = taste_matrix(values=True)
        data = poise.Dataset.from_csr(matrix, items=[f"i{k}" for k in range(60)])
        model = poise.EASE(regularization=10, weighting="linear").fit(data, show_progress=False)
        data.save(tmp_path / "data")
        assert data.train is matrix and data.counts["duplicates"] == 0
        again = poise.Dataset.from_file(tmp_path / "data", show_progress=False)
        assert (again.train != matrix).nnz == 0 and again.shape == (300, 60) and again.items.tolist() == data.items.tolist()
        twin = poise.EASE(regularization=10, weighting="linear").fit(again, show_progress=False)
        assert np.array_equal(twin.weights_, model.weights_)
        assert poise.split(again).test.fold_in.shape[1] <= 60

    def test_refusals(self):
        with pytest.raises(ValueError, match="2 ids for 60 items"):
            poise.Dataset.from_csr(taste_matrix(), items=[1, 2])
        with pytest.raises(ValueError, match="not distinct"):
            poise.Dataset.from_csr(taste_matrix(), items=[1] * 60)

    def test_split_and_save(self, tmp_path):
        data = poise.split(taste_matrix(values=True), held_out_users=30)
        assert data.kind == "users" and data.users.dtype == np.int64
        assert len(data.test.users) == 30 and not set(data.test.users) & set(data.users)
        assert data.test.fold_in.shape == data.test.held_out.shape == (30, len(data.items))
        data.save(tmp_path / "data")
        again = poise.Dataset.from_file(tmp_path / "data", show_progress=False)
        assert (again.train != data.train).nnz == 0 and again.items.tolist() == data.items.tolist()
        assert repr(again) == repr(data)
        with pytest.raises(ValueError, match="split already"):
            poise.split(again)
        # A held-out user's rows are those of the matrix.
        whole = taste_matrix(values=True)
        for k, user in enumerate(data.test.users):
            row = (data.test.fold_in[k] + data.test.held_out[k]).toarray()[0]
            assert np.array_equal(row, whole[user].toarray()[0][data.items])


class TestSplit:
    def test_as_the_program(self, tmp_path):
        run_program("synth", "--like", "demo", "--values", "--out", tmp_path / "log.csv")
        run_program("prepare", tmp_path / "log.csv", "--out", tmp_path / "program", "--held-out-users", "99",
                    "--target-share", "0.4", "--seed", "3", "--min-item-users", "40")
        log = pandas.read_csv(tmp_path / "log.csv")
        sources = {
            "file": poise.Dataset.from_file(tmp_path / "log.csv", show_progress=False),
            "frame": poise.Dataset.from_dataframe(log, value="count"),
            "synth": poise.synth("demo", values=True),
        }
        for name, source in sources.items():
            split = poise.split(source, held_out_users=99, target_share=0.4, seed=3, min_item_users=40)
            split.save(tmp_path / name)
            assert (tmp_path / name / "data.poise").read_bytes() == (tmp_path / "program" / "data.poise").read_bytes(), name

    def test_export(self, demo, tmp_path):
        demo.export_pro_sg(tmp_path / "pro_sg")
        again = poise.Dataset.from_file(tmp_path / "pro_sg")
        assert (again.train != demo.train).nnz == 0 and again.items.tolist() == demo.items.tolist()
        with pytest.raises(ValueError, match="poise.split"):
            poise.synth("demo").export_pro_sg(tmp_path / "other")

    def test_refusals(self):
        with pytest.raises(ValueError, match="target_share"):
            poise.split(poise.synth("demo"), target_share=2)
        for share in (0, 1):
            with pytest.raises(ValueError, match="target_share"):
                poise.split(poise.synth("demo"), target_share=share)
        with pytest.raises(ValueError, match="no test part"):
            poise.synth("demo").test
        with pytest.raises(ValueError):
            poise.synth("nonsense")

    def test_metrics(self, demo, tmp_path):
        model = poise.EASE(regularization=50).fit(demo, show_progress=False)
        result = poise.evaluate(model, demo.test, metrics=["map@10", "coverage@20", "stratified-recall@20"], per_user=True)
        assert result["metrics"]["coverage@20"]["stderr"] is None
        table = pandas.DataFrame(result["per_user"])
        assert list(table) == ["row", "map@10", "stratified-recall@20"] and len(table) == result["users"]
        assert table["map@10"].mean() == pytest.approx(result["metrics"]["map@10"]["mean"])
        other = poise.evaluate(model, demo.test.fold_in, demo.test.held_out, metrics="stratified-recall@20", train=demo.train)
        assert other["metrics"]["stratified-recall@20"] == result["metrics"]["stratified-recall@20"]
        beyond = ["auc", "novelty@20", "diversity@20", "calibration@20", "popularity@20", "tail-share@20", "gini@20", "entropy@20"]
        result = poise.evaluate(model, demo.test, metrics=beyond, per_user=True)
        assert list(result["metrics"]) == beyond and list(result["per_user"]) == ["row", *beyond[:6]]
        assert poise.evaluate(model, demo.test, metrics=beyond, train=demo)["metrics"] == result["metrics"]
        model.save(tmp_path / "model")
        with pytest.raises(ValueError, match="needs the training matrix"):
            poise.evaluate(poise.load(tmp_path / "model"), demo.test, metrics="diversity@20")
        demo.save(tmp_path / "data")
        program = run_program("evaluate", tmp_path / "model", tmp_path / "data", "--metrics", ",".join(beyond))
        assert program["metrics"] == result["metrics"]
        whole = poise.evaluate(model, demo.test, recall_denominator="targets")
        assert whole["metrics"]["recall@20"]["mean"] <= poise.evaluate(model, demo.test)["metrics"]["recall@20"]["mean"]
        other = poise.EASE(regularization=50).fit(poise.split(poise.synth("demo", seed=9)), show_progress=False)
        with pytest.raises(ValueError, match="other items"):
            poise.evaluate(other, demo.test)
        with pytest.raises(ValueError, match="held_out is missing"):
            poise.evaluate(model, demo.test.fold_in)
        with pytest.raises(ValueError):
            poise.evaluate(model, demo.test, metrics="nonsense@3")
