"""The ways into `prepare`: standard input, JSON lines, SQLite, several files and patterns. The same rows by each give the same bytes."""
import gzip
import json
import os
import random
import sqlite3
import subprocess

import pytest

from conftest import PROGRAM, run, shop_log


@pytest.fixture(scope="module")
def rows():
    """Rows with duplicates, and ids of any text."""
    names = {"i3": 'quote " comma , tab\t', "i4": "новый", "u5": "5 five; 'x'", "u6": "-", "u7": "007"}
    rows = [tuple(names.get(field, field) for field in line.split(",")) for line in shop_log(3).splitlines()[1:]]
    assert len({row[:2] for row in rows}) < len(rows)
    return [(user, item, int(value)) for user, item, value in rows]


def csv_text(rows):
    quoted = lambda text: '"' + text.replace('"', '""') + '"'
    return "user,item,count\n" + "".join(f"{quoted(user)},{quoted(item)},{value}\n" for user, item, value in rows)


def json_text(rows, draw=random.Random(1)):
    """Fields in any order, with others between them."""
    lines = []
    for user, item, value in rows:
        fields = [("user", user), ("item", item), ("count", value), ("extra", {"user": [None, 1.5]})]
        draw.shuffle(fields)
        lines.append(json.dumps(dict(fields), ensure_ascii=draw.random() < 0.5))
    return "\n".join(lines) + "\n"


def database(path, rows):
    with sqlite3.connect(path) as made:
        made.execute("create table orders (user, item, count)")
        made.executemany("insert into orders values (?, ?, ?)", rows)
    made.close()


@pytest.fixture(scope="module")
def expected(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("expected")
    (folder / "log.csv").write_text(csv_text(rows))
    return folder, run("prepare", folder / "log.csv", "--out", folder / "data", "--json").json


def same(folder, expected, result):
    assert result.json == expected[1]
    assert (folder / "data.poise").read_bytes() == (expected[0] / "data" / "data.poise").read_bytes()


def test_standard_input(tmp_path, rows, expected):
    def piped(text, *flags):
        process = subprocess.run([PROGRAM, "prepare", "-", "--out", tmp_path / "data", "--json", *flags], input=text, capture_output=True)
        assert process.returncode == 0, process.stderr
        assert json.loads(process.stdout) == expected[1]
        assert (tmp_path / "data" / "data.poise").read_bytes() == (expected[0] / "data" / "data.poise").read_bytes()
        return process.stderr.decode()

    assert "standard input read as csv" in piped(csv_text(rows).encode())
    piped(gzip.compress(csv_text(rows).encode()))
    assert "standard input read as jsonl" in piped(json_text(rows).encode())
    piped(subprocess.run(["zstd", "-c"], input=json_text(rows).encode(), capture_output=True, check=True).stdout, "--format", "jsonl")
    # A file as standard input, and a named pipe, whose format is found too.
    with open(expected[0] / "log.csv") as log:
        same(tmp_path / "data", expected, run("prepare", "-", "--out", tmp_path / "data", "--json", stdin=log))
    os.mkfifo(tmp_path / "pipe")
    writer = subprocess.Popen(["sh", "-c", 'cat > "$0"', tmp_path / "pipe"], stdin=subprocess.PIPE)
    reader = subprocess.Popen([PROGRAM, "prepare", tmp_path / "pipe", "--out", tmp_path / "data", "--json"], stdout=subprocess.PIPE)
    writer.communicate(json_text(rows).encode())
    assert json.loads(reader.communicate()[0]) == expected[1]


def test_standard_input_errors(tmp_path):
    out = ["--out", tmp_path / "data"]
    assert "standard input:3: the value 'x' is not a number" in run("prepare", "-", *out, code=3, input="user,item,count\n1,2,3\n1,2,x\n").err
    assert "standard input has no data row" in run("prepare", "-", *out, code=3, input="").err
    assert "standard input (-) is given twice" in run("prepare", "-", "-", *out, code=2, input="1,2\n").err
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("ending", ["jsonl", "ndjson.gz", "jsonl.zst", "txt"])
def test_json_lines(tmp_path, rows, expected, ending):
    path = tmp_path / f"log.{ending}"
    text = json_text(rows).encode()
    if ending.endswith("gz"):
        text = gzip.compress(text)
    if ending.endswith("zst"):
        text = subprocess.run(["zstd", "-c"], input=text, capture_output=True, check=True).stdout
    path.write_bytes(text)
    same(tmp_path / "data", expected, run("prepare", path, "--out", tmp_path / "data", "--json"))
    same(tmp_path / "again", expected, run("prepare", path, "--columns", "user,item,count", "--threads", 1, "--out", tmp_path / "again", "--json"))


def test_json_lines_errors(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"user": 1, "item": 2, "count": 1}\n\n{"user": 1, "item": 2, "count": NaN}\n{"user": 1, "count": 2}\n' * 3)
    assert f"{path}:3: the line is no JSON from byte" in run("prepare", path, "--out", tmp_path / "data", code=3).err
    assert run("prepare", path, "--out", tmp_path / "data", "--skip-bad-lines", "--min-user-items", 0, "--split", "none", "--json").json["skipped_lines"] == 6
    assert "--columns" in run("prepare", path, "--out", tmp_path / "data", "--columns", "user", code=2).err
    path.write_text('{"who": 1, "what": 2}\n')
    assert "--columns (its first object has 'who', 'what')" in run("prepare", path, "--out", tmp_path / "data", code=3).err


def test_sqlite(tmp_path, rows, expected):
    database(tmp_path / "shop.db", rows)
    before = (tmp_path / "shop.db").read_bytes()
    for k, query in enumerate(["select user, item, count from orders", "select user, item, count from orders order by rowid;",
                               "select user as a, item as b, count + 0 as c from orders",
                               "with o as (select * from orders) select item, count, user from o"]):
        same(tmp_path / str(k), expected, run("prepare", tmp_path / "shop.db", "--query", query, "--out", tmp_path / str(k), "--json"))
    same(tmp_path / "named", expected, run("prepare", tmp_path / "shop.db", "--query", "select 1 as x, * from orders", "--columns", "user,item,count",
                                           "--out", tmp_path / "named", "--json"))
    result = run("prepare", tmp_path / "shop.db", "--query", "select user, item, sum(count) from orders group by 1, 2", "--out", tmp_path / "sums", "--json")
    assert result.json["interactions"] == expected[1]["interactions"] and result.json["duplicates"] == 0
    assert "value = column 3 (sum(count))" in result.err
    assert (tmp_path / "shop.db").read_bytes() == before and sorted(os.listdir(tmp_path))[-1] == "sums", "no journal beside it"


def test_sqlite_errors(tmp_path):
    path = tmp_path / "bad.db"
    rows = [("a", "x", 1), ("b", "x", 2), ("a", "y", 1.5), (None, "y", 1), ("a", "z", "many"), ("c\0d", "x", 1), (b"\xff\xfe", "x", 1),
            ("e", 9223372036854775807, 1), ("e", "x", None), ("e", "y", float("inf"))]
    database(path, rows)

    def failing(query, code=3, *flags):
        arguments = ["prepare", path, "--out", tmp_path / "data", *flags]
        return run(*arguments, *(["--query", query] if query is not None else []), code=code).err

    every = "select user, item, count from orders where rowid"
    assert f"{path}, row 5: the value 'many' is not a number" in failing(every)
    assert f"{path}, row 1: a field holds a NUL character" in failing(every + " = 6")
    assert f"{path}, row 1: a field is a blob" in failing(every + " = 7")
    assert f"{path}, row 2: the value '' is not a number" in failing(every + " in (1, 9)")
    assert f"{path}, row 2: the value 'Inf' is not finite" in failing(every + " in (1, 10)")
    assert f"{path} is an SQLite database: say what to read with --query" in failing(None, 2)
    assert "its tables are 'orders'" in failing(None, 2)
    assert "no such table: nonsense; its tables are 'orders'" in failing("select * from nonsense")
    assert "no such column" in failing("select user, thing from orders")
    assert "the query gives no row" in failing(every + " < 0")
    assert "--query selects one column" in failing("select user from orders", 2)
    for query in ("delete from orders", "select 1, 2; delete from orders", "drop table orders", "pragma user_version = 7", "", "-- nothing",
                  f"attach '{tmp_path / 'new.db'}' as other", "vacuum"):
        assert "--query" in failing(query, 2), query
    assert not (tmp_path / "new.db").exists()
    assert "column 7 is asked for" in failing("select user, item from orders", 2, "--columns", "1,7")
    assert "has no column 'thing'" in failing("select user, item from orders", 3, "--columns", "user,thing")
    result = run("prepare", path, "--query", "select user, item, count from orders", "--skip-bad-lines", "--min-user-items", 0, "--split", "none",
                 "--out", tmp_path / "kept", "--json").json
    assert (result["interactions"], result["skipped_lines"], result["empty_ids"]) == (4, 5, 1)
    (tmp_path / "log.csv").write_text("user,item\n1,2\n")
    assert "--query goes with an SQLite database" in run("prepare", tmp_path / "log.csv", "--query", "select 1", "--out", tmp_path / "data", code=2).err
    path.write_bytes(path.read_bytes()[:5000])
    assert run("prepare", path, "--query", every, "--out", tmp_path / "data", code=3).err
    assert not (tmp_path / "data").exists()


def test_several_files_and_patterns(tmp_path, rows, expected):
    cuts = [0, len(rows) // 3, len(rows) // 2, len(rows)]
    for k in range(3):
        part = rows[cuts[k]:cuts[k + 1]]
        (tmp_path / f"log-{k}.csv").write_text(csv_text(part))
        (tmp_path / f"log-{k}.jsonl").write_text(json_text(part))
        database(tmp_path / f"log-{k}.db", part)
    doors = [[tmp_path / f"log-{k}.csv" for k in range(3)], [tmp_path / "log-*.csv"], [tmp_path / "log-0.csv", tmp_path / "log-[12].csv"],
             [tmp_path / "log-?.jsonl"], [tmp_path / "log-*.db", "--query", "select user, item, count from orders"]]
    for k, door in enumerate(doors):
        result = run("prepare", *door, "--out", tmp_path / f"data{k}", "--json")
        same(tmp_path / f"data{k}", expected, result)
        assert "and 2 more files read as" in result.err
    assert "no file matches" in run("prepare", tmp_path / "none-*.csv", "--out", tmp_path / "data", code=3).err
    (tmp_path / "odd[1].csv").write_text(csv_text(rows))
    same(tmp_path / "odd", expected, run("prepare", tmp_path / "odd[1].csv", "--out", tmp_path / "odd", "--json"))
    # The line is counted within its file.
    (tmp_path / "log-1.csv").write_text("user,item,count\n1,2,3\n1,2\n")
    assert f"{tmp_path / 'log-1.csv'}:3: the line has 2 fields" in run("prepare", tmp_path / "log-*.csv", "--out", tmp_path / "data", code=3).err


def test_histories_come_through_the_same_doors(tmp_path, rows, expected):
    run("train", expected[0] / "data", "--model", "ease", "--lambda", 20, "--out", tmp_path / "ease.model")
    database(tmp_path / "shop.db", rows)
    command = ["recommend", tmp_path / "ease.model", "-k", 3, "--json", "--histories"]
    known = run(*command, expected[0] / "log.csv").out
    assert run(*command, "-", input=json_text(rows)).out == known
    assert run(*command, tmp_path / "shop.db", "--query", "select user, item, count from orders").out == known


def test_columns_by_position_are_said(tmp_path):
    """A header without a known name: what was taken, and what to do, are said; also where nothing is left."""
    path = tmp_path / "sales.csv"
    path.write_text("Kunde;Wein;Sterne\n" + "".join(f"K{u};W{u * 7 % 9 + i};{1 + i % 5}\n" for u in range(40) for i in range(6)))
    said = run("prepare", path, "--out", tmp_path / "data").err
    assert "user = column 1 (Kunde), item = column 2 (Wein)" in said and "; no name is known, so the first two are taken: --columns names others" in said
    for known in (["--columns", "Kunde,Wein,Sterne"], ["--header", "no"]):
        assert "no name is known" not in run("prepare", path, "--out", tmp_path / "data", *known, "--skip-bad-lines").err
    path.write_text("when;Kunde;user\n" + "".join(f"{u};W{i};K{u}\n" for u in range(40) for i in range(6)))
    assert "no name is known" not in run("prepare", path, "--out", tmp_path / "data").err
    for header, column in [("when;who;sku", "users is known, so column 1"), ("when;what;buyer", "items is known, so column 2")]:
        path.write_text(header + "\n" + "".join(f"{u};W{i};K{(u + i) % 20}\n" for u in range(40) for i in range(6)))
        assert f"; no name of {column} is taken: --columns names others" in run("prepare", path, "--out", tmp_path / "data").err
    path.write_text("when;stars;who\n" + "".join(f"2020-01-{u};{i};K\n" for u in range(40) for i in range(3)))
    said = run("prepare", path, "--out", tmp_path / "data", code=3).err
    assert "no name is known" in said and "check that the columns are right" in said


@pytest.mark.parametrize("start, kind", [(b"PAR1\x15\x04", "a Parquet file"), (b"PK\x03\x04\x14", "a zip archive or a spreadsheet"),
                                         (b"BZh91AY&SY", "compressed by bzip2"), (b"\xfd7zXZ\x00", "compressed by xz"),
                                         (b'[\n {"user": 1, "item": 2},', "one JSON array; write one object on each line")])
def test_files_of_other_kinds_are_named(tmp_path, start, kind):
    (tmp_path / "log.csv").write_bytes(start + b"\n1,2\n" * 20)
    assert f"{tmp_path / 'log.csv'} is {kind}" in run("prepare", tmp_path / "log.csv", "--out", tmp_path / "data", code=3).err
    assert not (tmp_path / "data").exists()


def test_ids_may_begin_as_files_of_other_kinds_do(tmp_path):
    for k, user in enumerate(["PAR1", "BZhang", "BZh9", "[x", "PK"]):
        (tmp_path / "log.csv").write_text(f"{user},tea\n{user},cup\n")
        assert run("prepare", tmp_path / "log.csv", "--header", "no", "--split", "none", "--min-user-items", 0, "--out", tmp_path / str(k), "--json").json["interactions"] == 2
