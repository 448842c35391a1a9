"""Dataset.from_arrow, fed by a producer made by hand."""
import gc

import numpy as np
import pytest
from arrow_producer import Column, Table

import poise

USERS = ["ann", "bob", "ann", "zoë", "bob"]
ITEMS = [7, 7, 30, 30, -1]
LONG = "a text of more than twelve bytes"


def table_of(user=("u", USERS), item=("l", ITEMS), **other):
    return Table([{"user": Column(*user), "item": Column(*item), **other}])


def check_released(table):
    gc.collect()
    assert table.released == {"stream": 1, "schema": table.given["schema"], "array": table.given["array"], "capsule": 1}


def rows_of(data):
    train = data.train.tocoo()
    return sorted((data.users[u], data.items[i], v) for u, i, v in zip(train.row, train.col, train.data.tolist()))


EXPECTED = sorted((user, item, 1.0) for user, item in zip(USERS, ITEMS))


@pytest.mark.parametrize("text", ["u", "U", "vu"])
@pytest.mark.parametrize("whole", ["c", "s", "i", "l"])
def test_texts_and_whole_numbers(text, whole):
    table = table_of((text, USERS), (whole, ITEMS))
    data = poise.Dataset.from_arrow(table)
    assert rows_of(data) == EXPECTED
    assert data.items.dtype == np.int64 and data.users.dtype == object
    check_released(table)


@pytest.mark.parametrize("whole", ["C", "S", "I", "L"])
def test_unsigned_numbers(whole):
    data = poise.Dataset.from_arrow(table_of(item=(whole, [7, 7, 30, 30, 200])))
    assert data.items.tolist() == [7, 30, 200] and data.items.dtype == np.int64


def test_numbers_that_int64_does_not_hold_stay_texts():
    data = poise.Dataset.from_arrow(table_of(item=("L", [2**64 - 1, 1, 1, 1, 1])))
    assert sorted(data.items.tolist()) == ["1", str(2**64 - 1)]


def test_long_texts_in_views():
    data = poise.Dataset.from_arrow(table_of(user=("vu", [LONG, "b", LONG + "!", "", LONG])))
    assert set(data.users) == {LONG, "b", LONG + "!", ""}


def test_digits_in_a_text_column_stay_texts():
    data = poise.Dataset.from_arrow(table_of(user=("u", ["1", "2", "1", "2", "3"])))
    assert data.users.dtype == object and data.users.tolist() == ["1", "2", "3"]


@pytest.mark.parametrize("index", ["c", "S", "i", "l"])
@pytest.mark.parametrize("text", ["u", "U", "vu"])
def test_dictionaries(index, text):
    names = Column(text, ["never used", "zoë", "bob", "ann", None])
    table = Table([{"user": Column(index, [3, 2, 3, 1, 2], names), "item": Column("i", [0, 0, 1, 1, 2], Column("l", [7, 30, -1]))}])
    data = poise.Dataset.from_arrow(table)
    assert rows_of(data) == EXPECTED and data.items.dtype == np.int64
    check_released(table)


def test_several_batches_with_their_own_dictionaries():
    first = {"user": Column("c", [0, 1], Column("u", ["ann", "bob"])), "item": Column("l", [7, 7]), "n": Column("f", [1, 2])}
    empty = {"user": Column("c", [], Column("u", [])), "item": Column("l", []), "n": Column("f", [])}
    second = {"user": Column("c", [1, 0, 2], Column("u", ["zoë", "ann", "bob"])), "item": Column("l", [30, 30, -1]), "n": Column("f", [3, 4, 5])}
    table = Table([first, empty, second])
    data = poise.Dataset.from_arrow(table, value="n")
    assert rows_of(data) == sorted(zip(USERS, ITEMS, [1.0, 2.0, 3.0, 4.0, 5.0]))
    assert table.given["array"] == 3
    check_released(table)


def test_slices():
    table = Table([{"user": Column("u", ["x", *USERS], offset=1), "item": Column("l", [0, *ITEMS], offset=1)}])
    assert rows_of(poise.Dataset.from_arrow(table)) == EXPECTED
    table = Table([{"user": Column("u", ["x", None, *USERS], offset=1), "item": Column("l", [0, None, *ITEMS], offset=1)}], batch_offset=1)
    assert rows_of(poise.Dataset.from_arrow(table)) == EXPECTED


@pytest.mark.parametrize("letter", ["f", "g", "c", "L"])
def test_values_are_added(letter):
    table = Table([{"who": Column("u", ["a", "a", "b"]), "what": Column("i", [1, 1, 2]), "n": Column(letter, [2, 3, 4])}])
    data = poise.Dataset.from_arrow(table, "who", "what", "n")
    assert rows_of(data) == [("a", 1, 5.0), ("b", 2, 4.0)]


@pytest.mark.parametrize("columns, message", [
    ({"user": Column("u", ["a", None, "b", "c", "d"])}, "column 'user' has a null in row 2"),
    ({"item": Column("l", [1, 2, 3, 4, None])}, "column 'item' has a null in row 5"),
    ({"user": Column("c", [0, 0, 1, 0, 0], Column("u", ["a", None]))}, "column 'user' has a null in row 3"),
    ({"user": Column("c", [0, 0, 9, 0, 0], Column("u", ["a", None]))}, "points outside its dictionary in row 3"),
    ({"n": Column("g", [1, 1, None, 1, 1])}, "column 'n' has a null in row 3"),
    ({"n": Column("g", [1, 1, 1, float("nan"), 1])}, "column 'n' holds NaN, an infinite value or one beyond float32 in row 4"),
    ({"n": Column("g", [1, 1, 1, 1, 1e39])}, "beyond float32 in row 5"),
    ({"n": Column("u", ["1"] * 5)}, "'n' has the Arrow type 'u': values are numbers"),
    ({"user": Column("g", [1.0] * 5)}, "'user' has the Arrow type 'g': ids are whole numbers or texts"),
], ids=lambda each: each if isinstance(each, str) else "")
def test_errors_name_column_and_row(columns, message):
    table = Table([{"user": Column("u", USERS), "item": Column("l", ITEMS), "n": Column("f", [1.0] * 5), **columns}])
    with pytest.raises(ValueError, match=message):
        poise.Dataset.from_arrow(table, value="n")
    check_released(table)


def test_nulls_of_a_later_batch_have_their_row():
    table = Table([{"user": Column("u", USERS), "item": Column("l", ITEMS)}, {"user": Column("u", [None]), "item": Column("l", [1])}])
    with pytest.raises(ValueError, match="null in row 6"):
        poise.Dataset.from_arrow(table)
    check_released(table)


def test_other_errors():
    table = table_of()
    with pytest.raises(ValueError, match="no column 'customer'; it has 'user', 'item'"):
        poise.Dataset.from_arrow(table, "customer")
    check_released(table)
    table = Table([{"user": Column("u", USERS), "item": Column("l", ITEMS)}] * 2, fail=1)
    with pytest.raises(ValueError, match="rows could not be read: the producer ran out of disk"):
        poise.Dataset.from_arrow(table)
    check_released(table)
    with pytest.raises(ValueError, match="not a table"):
        poise.Dataset.from_arrow(Table([{"user": Column("u", USERS)}], format="u"))
    with pytest.raises(ValueError, match="no rows"):
        poise.Dataset.from_arrow(table_of(("u", []), ("l", [])))
    with pytest.raises(TypeError, match="list has no __arrow_c_stream__"):
        poise.Dataset.from_arrow([1, 2])


def test_a_stream_is_read_once():
    class Once:
        def __init__(self, table):
            self.capsule = table.__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema=None):
            return self.capsule

    table = table_of()
    once = Once(table)
    assert rows_of(poise.Dataset.from_arrow(once)) == EXPECTED
    with pytest.raises(ValueError, match="read before"):
        poise.Dataset.from_arrow(once)
    del once
    check_released(table)


def test_the_same_data_as_from_a_frame():
    pandas = pytest.importorskip("pandas")
    data = poise.synth("demo")
    train = data.train.tocoo()
    frame = pandas.DataFrame({"user": data.users[train.row], "item": data.items[train.col]})
    table = Table([{"user": Column("l", frame.user.tolist()), "item": Column("l", frame.item.tolist())}])
    ours, theirs = poise.Dataset.from_arrow(table), poise.Dataset.from_dataframe(frame)
    assert (ours.train != theirs.train).nnz == 0 and ours.items.tolist() == theirs.items.tolist()


SECONDS = [1_300_000_000, 1_300_086_400, 1_300_172_800, 1_300_259_200, 1_300_345_600]
DAYS = [second // 86400 for second in SECONDS]


@pytest.mark.parametrize("format, times", [
    ("tss:", SECONDS), ("tsm:UTC", [1000 * each for each in SECONDS]), ("tsu:", [10**6 * each for each in SECONDS]),
    ("tsn:Europe/Berlin", [10**9 * each + 1 for each in SECONDS]), ("l", SECONDS), ("g", [float(each) for each in SECONDS]),
    ("u", [str(np.datetime64(each, "s")) for each in SECONDS]), ("tdD", DAYS), ("tdm", [86_400_000 * each for each in DAYS]),
])
def test_times(format, times, tmp_path):
    """Each column of times splits as the same rows of a frame do."""
    pandas = pytest.importorskip("pandas")
    seconds = [86400 * day for day in DAYS] if format.startswith("td") else SECONDS
    frame = pandas.DataFrame({"user": [str(k % 2) for k in range(5)], "item": [1, 1, 2, 2, 3], "when": seconds})
    table = table_of(user=("u", frame["user"].tolist()), item=("l", frame["item"].tolist()), when=Column(format, times))
    for folder, data in (("a", poise.Dataset.from_arrow(table, time="when")), ("f", poise.Dataset.from_dataframe(frame, time="when"))):
        poise.split(data, "last", min_user_items=1).save(tmp_path / folder)
    assert (tmp_path / "a" / "data.poise").read_bytes() == (tmp_path / "f" / "data.poise").read_bytes()
    check_released(table)


def test_times_that_cannot_be():
    row = {"user": Column("u", ["a", "a"]), "item": Column("l", [1, 2])}
    for column, message in (
        (Column("l", [1, None]), "'t' has a null in row 2"),
        (Column("u", ["2011-01-01", "soon"]), "the time 'soon'"),
        (Column("l", [1, 10**12]), "counts another unit than those before it"),
        (Column("tss:", [1, 2**62]), "out of range in row 2"),
        (Column("ttu", [b"", b""]), "Arrow type 'ttu'"),
    ):
        with pytest.raises(ValueError, match=message):
            poise.Dataset.from_arrow(Table([{**row, "t": column}]), time="t")
