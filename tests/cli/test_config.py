"""Config files: what they say, what is wrong in them, and that `--print-config` writes one."""
import tomllib

import pytest


def test_config_file(poise, tmp_path, log):
    (tmp_path / "options.toml").write_text('split = "none"\nmin-user-items = 8\ncolumns = ["user", "item", "rating"]\nkeep-above = 2.5\n')
    by_file = poise("prepare", log, "--out", tmp_path / "a", "--config", tmp_path / "options.toml", "--json").json
    by_flags = poise("prepare", log, "--out", tmp_path / "b", "--split", "none", "--min-user-items", 8, "--columns",
                     "user,item,rating", "--keep-above", 2.5, "--json").json
    assert by_file == by_flags and by_file["test"] is None and by_file["below_threshold"] > 0
    flag_wins = poise("prepare", log, "--out", tmp_path / "c", "--config", tmp_path / "options.toml", "--min-user-items", 1,
                      "--json").json
    assert flag_wins["users"] > by_file["users"]
    (tmp_path / "typo.toml").write_text("min-user-itms = 8\n")
    assert "itms" in poise("prepare", log, "--out", tmp_path / "d", "--config", tmp_path / "typo.toml", code=2).err
    poise("prepare", log, "--out", tmp_path / "d", "--config", tmp_path / "missing.toml", code=3)


@pytest.mark.parametrize("line, what", [
    ("[x]", "[x]"),
    ("bogus", "NAME = VALUE"),
    ("split = none", "quotes"),
    ("split = ", "NAME = VALUE"),
    ('split = "none', "quote"),
    ('split = "no\\qne"', "escape"),
    ('columns = ["a" "b"]', "array"),
    ('split = "none" x', "NAME = VALUE"),
    ('split = 1979-05-27', "a value is text"),
    ('a.b = 1', "[a]"),
    ('columns = []', "empty"),
    ('min-user-items = -1', "--min-user-items"),
    ('split = "sideways"', "--split"),
    ('k-core = "perhaps"', "true or false"),
    ('print-config = true', "print-config"),
    ('k-core = true\nk-core = true', "redefine"),
])
def test_config_errors_name_file_and_line(poise, tmp_path, log, line, what):
    (tmp_path / "options.toml").write_text("# a comment\nthreads = 1\n" + line + "\n")
    error = poise("prepare", log, "--out", tmp_path / "a", "--config", tmp_path / "options.toml", code=2).err
    assert what in error and "options.toml: line " + ("4" if what == "redefine" else "3") in error


def test_config_file_is_toml(poise, tmp_path, log):
    text = f"""# how
INPUT = '{log}'   # where from
"out" = "{tmp_path}/d\\u0061ta"
columns = [
  "user",  # first
  'item', "rating",
]
min-user-items = 1_0
k-core = true
"""
    (tmp_path / "options.toml").write_bytes(text.replace("\n", "\r\n").encode())
    first = poise("prepare", "--config", tmp_path / "options.toml", "--json").json
    second = poise("prepare", log, "--out", tmp_path / "b", "--columns", "user,item,rating", "--min-user-items", 10, "--k-core",
                   "--json").json
    assert first == second and (tmp_path / "data").exists()
    (tmp_path / "text.toml").write_text('columns = "user,item,rating"\nmin-user-items = 10\nk-core = true')
    assert poise("prepare", log, "--out", tmp_path / "c", "--config", tmp_path / "text.toml", "--json").json == first


@pytest.mark.parametrize("delimiter", ["#", "'", '"', "\\t", "\t", "\\", "::", "[,]", "1", "é", "a'\"#"])
def test_print_config_keeps_any_text(poise, tmp_path, delimiter):
    def printed(*arguments):
        return poise("prepare", *arguments, "--print-config").out
    text = printed("x", "--out", "007", "--delimiter=" + delimiter)
    (tmp_path / "printed.toml").write_text(text)
    assert printed("--config", tmp_path / "printed.toml") == text
    assert tomllib.loads(text)["delimiter"] == delimiter or delimiter == "1"


def test_print_config_is_a_config_file(poise, tmp_path, log):
    text = poise("prepare", log, "--out", tmp_path / "a", "--min-user-items", 8, "--columns", "user,item,rating", "--print-config").out
    assert not (tmp_path / "a").exists()
    (tmp_path / "printed.toml").write_text(text)
    first = poise("prepare", "--config", tmp_path / "printed.toml", "--json").json
    second = poise("prepare", log, "--out", tmp_path / "b", "--min-user-items", 8, "--columns", "user,item,rating", "--json").json
    assert first == second
    assert (tmp_path / "a" / "data.poise").read_bytes() == (tmp_path / "b" / "data.poise").read_bytes()


def test_a_printed_config_recommends(poise, model, tmp_path):
    flags = ["--items", "i1,i2", "-k", 3]
    (tmp_path / "printed.toml").write_text(poise("recommend", model, *flags, "--print-config").out)
    assert poise("recommend", "--config", tmp_path / "printed.toml").out == poise("recommend", model, *flags).out
