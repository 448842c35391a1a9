"""Titles of items: `--titles` of recommend and similar, and the same file as `--items` or `--titles` of serve."""
import csv
import gzip
import io
import json

import pytest

from conftest import run
from serving import serving

PICTURE = '"data:image/png;base64,AA=="'
CSV = "id,title,image\n" + "".join(f'i{i},"Tea, no. {i}",{PICTURE if i == 3 else ""}\n' for i in range(50))


@pytest.fixture(scope="module")
def ease(shop, tmp_path_factory):
    folder = tmp_path_factory.mktemp("titles")
    run("train", shop, "--model", "ease", "--lambda", 20, "--out", folder / "ease.model")
    (folder / "titles.csv").write_text(CSV)
    with gzip.open(folder / "titles.csv.gz", "wt") as file:
        file.write(CSV)
    return folder


def test_titles_of_other_items_are_said_to_be(ease, tmp_path):
    (tmp_path / "others.csv").write_text("id,title\n3,Tea\n4,Cups\n")
    said = f"none of the model's items has a title in {tmp_path / 'others.csv'}: its ids are others, such as '3' for "
    asked = ("--titles", tmp_path / "others.csv")
    assert said in run("recommend", ease / "ease.model", "--items", "i3", *asked).err
    assert said in run("similar", ease / "ease.model", "--item", "i3", *asked).err
    with serving(tmp_path / "serve", ease / "ease.model", "--items", tmp_path / "others.csv") as server:
        assert said in server.said()
    assert "none of" not in run("recommend", ease / "ease.model", "--items", "i3", "--titles", ease / "titles.csv").err


def test_text_shows_titles(ease):
    plain = run("recommend", ease / "ease.model", "--items", "i3,i4", "-k", 60, "--explain").out.splitlines()
    titled = run("recommend", ease / "ease.model", "--items", "i3,i4", "-k", 60, "--explain", "--titles", ease / "titles.csv").out.splitlines()
    assert len(plain) == len(titled)
    for before, after in zip(plain[::2], titled[::2]):
        item = before.split()[1]
        assert after.split()[:3] == before.split() and after.endswith(f"Tea, no. {item[1:]}" if int(item[1:]) < 50 else before.split()[2])
    assert "because of Tea, no. " in titled[1]
    rows = list(csv.DictReader(io.StringIO(run("recommend", ease / "ease.model", "--items", "i3", "--format", "csv", "--titles",
                                               ease / "titles.csv.gz").out)))
    assert all(row["title"] == (f"Tea, no. {row['item'][1:]}" if int(row["item"][1:]) < 50 else "") for row in rows)
    similar = run("similar", ease / "ease.model", "--item", "i3", "-k", 5, "--titles", ease / "titles.csv").out
    assert similar.count("Tea, no. ") == 5


@pytest.mark.parametrize("command", [["recommend", "--items", "i3,i4", "--explain"], ["recommend", "--histories", "LOG", "-k", 3],
                                     ["similar", "--item", "i3"]])
def test_json_gains_titles_alone(ease, shop, command):
    command = [shop.parent / "log.csv" if part == "LOG" else part for part in command]
    arguments = [command[0], ease / "ease.model", *command[1:], "--json"]
    plain = run(*arguments).out
    titled = run(*arguments, "--titles", ease / "titles.csv").out
    # The bytes before stay; the brace that ends the object comes after the titles.
    assert titled.startswith(plain.rstrip("\n")[:-1] + ',"titles":{')
    answer = json.loads(titled)
    named = set()

    def look(value):
        if isinstance(value, dict):
            named.update(v for k, v in value.items() if k == "item")
            value = list(value.values())
        if isinstance(value, list):
            for each in value:
                look(each)

    look(json.loads(plain))
    assert answer["titles"] == {item: f"Tea, no. {item[1:]}" for item in named if int(item[1:]) < 50}
    assert answer["pictures"] == ({"i3": "data:image/png;base64,AA=="} if "i3" in named else {})


def test_serve_takes_both_names(ease, tmp_path):
    expected = run("similar", ease / "ease.model", "--item", "i3", "--json", "--titles", ease / "titles.csv").json
    for k, flag in enumerate(["--items", "--titles"]):
        with serving(tmp_path / str(k), ease / "ease.model", flag, ease / "titles.csv.gz", "--picture-origin", "https://img.shop.example:8443") as server:
            answer = server.post("/v1/similar", {"item": "i3"})
            assert {name: answer[name] for name in expected} == expected
            policy = server.ask("GET", "/")[1]["Content-Security-Policy"]
            assert "img-src data: https://img.shop.example:8443;" in policy
            assert server.get("/v1/models")["picture_origins"] == ["https://img.shop.example:8443"]
            assert server.get("/v1/items?q=no.+3&limit=1")["items"][0]["picture"].startswith("data:image/png")


@pytest.mark.parametrize("origin", ["img.shop.example", "https://a.example/path", "https://a.example; script-src *", "https://", "javascript:0",
                                    "https://*.example", "https://a.example:x"])
def test_a_picture_origin_cannot_widen_the_policy(ease, origin):
    assert "--picture-origin takes an origin" in run("serve", ease / "ease.model", "--picture-origin", origin, "--port", 0, code=2).err


def test_errors_name_file_and_line(ease, tmp_path):
    (tmp_path / "bad.csv").write_text("id,title\ni1,a\ni2\n")
    for command in (["recommend", ease / "ease.model", "--items", "i1"], ["similar", ease / "ease.model", "--item", "i1"], ["serve", ease / "ease.model", "--port", 0]):
        assert f"{tmp_path / 'bad.csv'}:3: 1 fields" in run(*command, "--titles", tmp_path / "bad.csv", code=3).err
    assert "cannot open" in run("similar", ease / "ease.model", "--item", "i1", "--titles", tmp_path / "none.csv", code=3).err
