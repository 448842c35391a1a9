"""poise update with 1, 200 and 5 000 users at once is a training on all rows."""
import pytest

from conftest import run
from updating import same_as_trained, write

USERS = 5000
NEW = 2500  # the first ones; the others were there, with half of their rows
FULL = ("--model", "full-rank", "--lambda", 200, "--tolerance", 1e-10)
# An exponent of which Lambda feels nothing, but which depends on counts: with --keep-lambda no number of rows is too many for the
# identity, and the objective is that of a training without it.
BY_ROWS = ("--lambda-exponent", 1e-300)
MODELS = {
    "zero diagonal": (*FULL, "--zero-diagonal"),
    "weighted": (*FULL, "--alpha", 4),
    "weighted, zero diagonal": (*FULL, "--alpha", 0.5, "--zero-diagonal"),
}


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """Prepared data of 3 400 users, and the log that makes them 5 900: every fifth row of a user is a target."""
    folder = tmp_path_factory.mktemp("grown")
    run("synth", "--like", "demo", "--scale", 5900 / 2400, "--seed", 3, "--out", folder / "log.csv")
    parts = {"train": [], "test": [], "new": []}
    for k, line in enumerate((folder / "log.csv").read_text().split("\n")[1:-1]):
        user, item = line.split(",")[:2]
        late = int(user) <= NEW or (int(user) <= USERS and k % 2 == 0)
        parts["test" if k % 5 == 0 else "new" if late else "train"].append((user, item, 1))
    for name, rows in parts.items():
        write(folder / f"{name}.csv", rows)
    run("prepare", folder / "train.csv", "--split", "given", "--test", folder / "test.csv", "--out", folder / "data")
    return folder


def new_rows(grown, path, users):
    """Those of so many users, half of them new."""
    chosen = {*map(str, range(1, (users + 1) // 2 + 1)), *map(str, range(NEW + 1, NEW + users // 2 + 1))}
    rows = [line.split(",") for line in (grown / "new.csv").read_text().split("\n")[1:-1]]
    return write(path, [row for row in rows if row[0] in chosen])


@pytest.mark.parametrize("users, by_rows", [(1, True), (200, True), (USERS, True), (USERS, False)])
@pytest.mark.parametrize("name", MODELS)
def test_users_at_once(poise, grown, tmp_path, name, users, by_rows):
    forced = by_rows and users == USERS
    poise("train", grown / "data", *MODELS[name], *(BY_ROWS if forced else ()), "--keep-inverse", "--out", tmp_path / "m")
    log = new_rows(grown, tmp_path / "new.csv", users)
    kept = ("--keep-lambda",) if forced else ()
    updated = poise("update", tmp_path / "m", grown / "data", "--log", log, *kept, "--out-data", tmp_path / "d", "--json").json
    how = updated["update"]
    assert how["new_users"] + how["changed_users"] == users and how["new_users"] == (users + 1) // 2
    if by_rows:
        assert how["refitted"] is None and how["rank"] >= users
    else:
        assert "more operations than a new inverse" in how["refitted"]
    same_as_trained(updated, tmp_path / "m", tmp_path / "d", tmp_path, MODELS[name], certified=not forced)


@pytest.mark.parametrize("name", ["zero diagonal", "weighted"])
def test_with_neighbours(poise, grown, tmp_path, name):
    flags = (*MODELS[name], "--neighbours", 20)
    poise("train", grown / "data", *flags, "--out", tmp_path / "m")
    updated = poise("update", tmp_path / "m", grown / "data", "--log", grown / "new.csv", "--out-data", tmp_path / "d", "--json").json
    assert updated["update"]["refitted"] is None and updated["converged"]
    trained = poise("train", tmp_path / "d", *flags, "--out", tmp_path / "again", "--json").json
    assert updated["objective"] == pytest.approx(trained["objective"], rel=1e-12)
    items = ("--items", "1,2,3", "-k", 50, "--json")
    assert poise("recommend", tmp_path / "m", *items).out == poise("recommend", tmp_path / "again", *items).out
