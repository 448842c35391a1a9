"""What the values of a log are taken for: ratings, counts, times, weights."""
import pytest


def rows(values):
    """A log of 40 users with six items each, whose values are taken in turn."""
    lines = [f"u{u},i{(u + 3 * k) % 20}" for u in range(40) for k in range(6)]
    return [f"{line},{values[n % len(values)]}" for n, line in enumerate(lines)]


def prepare(poise, tmp_path, lines, *flags, header="user,item,value", code=0):
    (tmp_path / "log.csv").write_text("\n".join(([header] if header else []) + lines) + "\n")
    return poise("prepare", tmp_path / "log.csv", "--out", tmp_path / "data", "--min-user-items", 1, *flags, code=code)


@pytest.mark.parametrize("values, scale, flag, above", [
    ([5, 4, 3, 5, 1], "from 1 to 5", "--keep-above 3.5", 144),
    ([0.5, 4.5, 5, 4.5, 2], "from 0.5 to 5", "--keep-above 3.5", 144),
    ([10, 8, 7, 8, 1], "from 1 to 10", "--keep-above 7", 144),
])
def test_ratings_are_hinted_at(poise, tmp_path, values, scale, flag, above):
    error = prepare(poise, tmp_path, rows(values)).err
    assert scale in error and flag in error and f"the {above} of 240 rows" in error
    assert "hint:" not in prepare(poise, tmp_path, rows(values), *flag.split()).err
    assert "hint:" not in prepare(poise, tmp_path, rows(values), "--quiet").err
    assert "hint:" not in prepare(poise, tmp_path, rows(values), "--columns", "user,item").err


def test_one_hint_for_several_logs(poise, tmp_path):
    prepare(poise, tmp_path, rows([5, 4, 3, 5, 1]))
    log = tmp_path / "log.csv"
    given = poise("prepare", log, "--out", tmp_path / "given", "--split", "given", "--test", log, "--validation", log)
    assert given.err.count("hint:") == 1


def test_values_below_0_are_hinted_at(poise, tmp_path):
    error = prepare(poise, tmp_path, rows([3, -1, 250, 12])).err
    assert "60 of 240 rows have a value below 0" in error and "--keep-above 0" in error
    assert "hint:" not in prepare(poise, tmp_path, rows([3, -1, 250, 12]), "--keep-above", 0).err


@pytest.mark.parametrize("values", [[1, 1, 1, 2, 5], [1], [1, 2, 3], [0.1, 5, 3.3], [1, 5], [40, 2, 7], [0, 3, 10]])
def test_counts_are_not(poise, tmp_path, values):
    assert "hint:" not in prepare(poise, tmp_path, rows(values)).err


def test_hints_for_histories(poise, tmp_path):
    prepare(poise, tmp_path, rows([5, 4, 3, 5, 1]), "--keep-above", 3.5)
    poise("train", tmp_path / "data", "--model", "ease", "--out", tmp_path / "m")
    assert "--keep-above 3.5" in poise("recommend", tmp_path / "m", "--histories", tmp_path / "log.csv").err


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize("time", [1_700_000_000, 978_300_760, 1_700_000_000_123])
def test_times_are_no_values(poise, tmp_path, delimiter, time):
    lines = [line.replace(",", delimiter) for line in rows([time, time + 77, time - 9])]
    error = prepare(poise, tmp_path, lines, header=None).err
    assert "no value" in error and "column 3 (Unix times" in error and "--columns" in error
    assert poise("info", tmp_path / "data", "--json").json["values"] is False
    asked = prepare(poise, tmp_path, lines, "--columns", "1,2,3", header=None).err
    assert "value = column 3" in asked and poise("info", tmp_path / "data", "--json").json["values"] is True
    prepare(poise, tmp_path, lines, "--keep-above", 3, header=None, code=2)


def test_large_counts_stay_values(poise, tmp_path):
    for values in ([1_700_000_000, 12], [1_700_000_000.5], [200_000_000]):
        assert "value = column 3" in prepare(poise, tmp_path, rows(values), header=None).err


@pytest.fixture
def without(poise, tmp_path):
    """Data without values."""
    prepare(poise, tmp_path, rows([1]), "--columns", "user,item")
    return tmp_path / "data"


@pytest.mark.parametrize("model", ["full-rank", "awmf", "wmf"])
def test_column_weights_need_values(poise, without, tmp_path, model):
    error = poise("train", without, "--model", model, "--weighting", "column", "--out", tmp_path / "m", code=3).err
    assert "have no values" in error and "--columns USER,ITEM,VALUE" in error and not (tmp_path / "m").exists()
    error = poise("search", without, "--model", model, "--weighting", "constant,column", code=3).err
    assert "have no values" in error and not (without / "search.journal").exists()


@pytest.mark.parametrize("scheme", ["linear", "log"])
def test_other_weights_by_value_say_that_there_are_none(poise, without, tmp_path, scheme):
    train = ["train", without, "--model", "ease", "--weighting", scheme, "--alpha", 2, "--out", tmp_path / "m"]
    assert f"--weighting {scheme} takes each as 1" in poise(*train).err
    assert poise(*train, "--quiet").err == ""
    assert "no values" not in poise("train", without, "--model", "ease", "--alpha", 2, "--out", tmp_path / "m").err


def test_weights_of_data_with_values(poise, tmp_path):
    prepare(poise, tmp_path, rows([1, 2, 3]))
    for scheme in ("column", "log"):
        result = poise("train", tmp_path / "data", "--model", "ease", "--weighting", scheme, "--out", tmp_path / "m")
        assert "no values" not in result.err
