"""What the tests of updates have in common."""
import pytest

from conftest import run, shop_log


def write(path, rows):
    """A log of users, items and counts."""
    path.write_text("user,item,count\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows))
    return path


def given_split(folder):
    """The shop's log as a given split, at folder/data: every user trains, a fifth of the pairs are targets."""
    rows = [line.split(",") for line in shop_log(7).split("\n")[1:] if line]
    write(folder / "train.csv", [row for k, row in enumerate(rows) if k % 5])
    write(folder / "test.csv", rows[::5])
    run("prepare", folder / "train.csv", "--split", "given", "--test", folder / "test.csv", "--out", folder / "data")
    return folder


def metrics(model, data):
    return run("evaluate", model, data, "--json").json["metrics"]


def same_as_trained(updated, model, data, folder, flags, certified=True):
    """The certificate, the objective and the metrics of an updated model are those of a training on its data. `certified`: whether
    `poise certify` takes it."""
    trained = run("train", data, *flags, "--out", folder / "again", "--json").json
    assert updated["converged"] and updated["certificate"]["worst_column"] <= 1e-6
    explained = trained["observed_weight"] - trained["objective"]
    allowed = (updated["certificate"]["relative"] + trained["certificate"]["relative"]) * explained
    error = updated["objective_error"] + trained["objective_error"]
    assert abs(updated["objective"] - trained["objective"]) <= allowed + error + 1e-9 * trained["objective"]
    assert updated["observed_weight"] == pytest.approx(trained["observed_weight"])
    measured = metrics(model, data)
    for name, value in metrics(folder / "again", data).items():
        assert measured[name]["mean"] == pytest.approx(value["mean"], abs=1e-6), name
    if not certified:
        return
    checked = run("certify", model, data, "--json").json
    assert checked["converged"] and checked["objective"] == pytest.approx(trained["objective"], rel=1e-6)
