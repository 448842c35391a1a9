"""What the tests of updates have in common."""
import pytest

from conftest import run


def write(path, rows):
    """A log of users, items and counts."""
    path.write_text("user,item,count\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows))
    return path


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
