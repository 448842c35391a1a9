"""The answers of `poise serve`."""
import json

import pytest

from conftest import run
from serving import NAMES, models, server, serving, titles, wait_for  # noqa: F401, fixtures


def test_users_are_those_of_the_log(server):
    history = server.get("/v1/users/u3/history")
    assert history["user"] == "u3" and len(history["history"]) > 3 and set(history["history"][0]) == {"item", "value"}
    assert server.get("/v1/users/nobody/history", 404)["error"]["code"] == "unknown_user"
    assert server.post("/v1/recommend", {"user": "nobody"}, 404)["error"]["code"] == "unknown_user"


def test_titles_and_search(server):
    answer = server.post("/v1/recommend", {"history": ["i1"], "k": 2, "explain": True})
    assert set(answer["titles"]) == {row["item"] for row in answer["recommendations"]} | {"i1"}
    assert answer["titles"]["i1"] == 'Blue tea "no. 1", loose'
    found = server.get("/v1/items?q=blue%20tea")["items"]
    assert len(found) == 20 and all(item["title"].startswith("Blue tea") for item in found) and found[0]["picture"] == "/p/1.png"
    assert [item["id"] for item in server.get("/v1/items?q=59+LOO")["items"]] == ["i59"]
    assert [item["id"] for item in server.get("/v1/items?q=i17")["items"]] == ["i17"]
    assert len(server.get("/v1/items?limit=3")["items"]) == 3
    assert server.get("/v1/items?q=nothing+here")["items"] == []
    for query in ("limit=0", "limit=101", "limit=x", "q=%zz", "q=%00", "q=%ff"):
        server.get("/v1/items?" + query, 400)


def test_diversified_lists_are_those_of_the_program(server, models):
    for name in NAMES[:3]:
        asked = {"history": ["i3", "i4"], "k": 9, "model": name}
        answer = server.post("/v1/recommend", {**asked, "diversify": 0.7})["recommendations"]
        assert answer == run("recommend", models / f"{name}.model", "--items", "i3,i4", "-k", 9, "--diversify", 0.7,
                             "--json").json["recommendations"]
        plain = server.post("/v1/recommend", asked)["recommendations"]
        assert answer != plain and server.post("/v1/recommend", {**asked, "diversify": 0})["recommendations"] == plain


def test_similar_and_compare(server, models):
    similar = server.post("/v1/similar", {"item": "i3", "k": 4})
    assert {"item": "i3", "similar": similar["similar"]} == run("similar", models / "ease.model", "--item", "i3", "-k", 4, "--json").json
    compared = server.post("/v1/compare", {"models": ["ease", "wmf"], "history": ["i3", "i4"], "k": 10})
    lists = [[row["item"] for row in each["recommendations"]] for each in compared["models"]]
    assert [each["model"] for each in compared["models"]] == ["ease", "wmf"]
    assert compared["common"] == len(set(lists[0]) & set(lists[1]))
    assert server.post("/v1/similar", {"item": "i3", "model": "popularity"}, 400)["error"]["code"] == "not_possible"


@pytest.mark.parametrize("body, code", [
    ({}, 400), ({"history": ["i1"], "user": "u1"}, 400), ({"history": "i1"}, 400), ({"history": [1.5]}, 400), ({"history": [None]}, 400),
    ({"history": ["i1"], "k": 0}, 400), ({"history": ["i1"], "k": 1001}, 400), ({"history": ["i1"], "k": "3"}, 400),
    ({"history": ["i1"], "explain": 1}, 400), ({"history": ["i1"], "nonsense": 1}, 400), ({"history": ["nonsense"]}, 404),
    ({"history": ["i1"], "model": "nonsense"}, 404), ({"batch": []}, 400), ({"batch": [{"history": ["i1"]}], "k": 3}, 400),
    ({"batch": [{"history": ["i1"]}] * 101}, 413), ({"history": ["i1"] * 10001}, 413), ([], 400), ("{", 400), ('{"history": [], }', 400),
    ('{"history": [], "history": []}', 400), ("[" * 100000, 400), (b'{"user": "\xff"}', 400), ('{"user": "\\ud800"}', 400), ("", 400),
    ('\ufeff{"history": []}', 400), ('{"history": [1e999]}', 400), ({"history": ["i1"], "explain": True, "model": "popularity"}, 400),
    ({"batch": [{"history": ["i1"], "k": 1000, "explain": True}] * 2}, 413),
    ({"batch": [{"history": ["i1"], "k": 501, "diversify": 0.1}] * 2}, 413), ({"history": ["i1"], "diversify": True}, 400),
    ({"history": ["i1"], "diversify": 1.1}, 400), ({"history": ["i1"], "diversify": -0.1}, 400), ({"history": ["i1"], "diversify": "0.3"}, 400),
    ({"history": ["i1"], "diversify": 0.5, "model": "popularity"}, 400),
    ({str(k): k for k in range(1000)}, 400),
])
def test_bad_requests(server, body, code):
    if isinstance(body, str):
        body = body.encode()
    error = server.post("/v1/recommend", body, code)["error"]
    assert error["code"] and error["message"]


def test_reasons_are_counted(models, shop, tmp_path):
    """An answer has no more reasons than it may, however they come about."""
    with serving(tmp_path / "s", models / "ease.model", models / "awmf.model", "--histories", shop.parent / "log.csv", "--max-reasons", 12) as server:
        of = lambda items, k: {"history": [f"i{i}" for i in range(items)], "k": k, "explain": True}
        history = len(server.get("/v1/users/u3/history")["history"])
        for path, body, code in [
                ("/v1/recommend", of(4, 3), 200), ("/v1/recommend", of(4, 4), 413), ("/v1/recommend", {**of(4, 4), "explain": False}, 200),
                ("/v1/recommend", {"batch": [of(2, 3)] * 2}, 200), ("/v1/recommend", {"batch": [of(2, 3)] * 3}, 413),
                ("/v1/compare", of(2, 3), 200), ("/v1/compare", of(2, 4), 413),
                ("/v1/recommend", {"user": "u3", "k": 12 // history, "explain": True}, 200),
                ("/v1/recommend", {"user": "u3", "k": 12 // history + 1, "explain": True}, 413),
                ("/v1/recommend", {"user": "nobody", "k": 20, "explain": True}, 404)]:
            answer = server.post(path, body, code)
            assert code != 413 or answer["error"]["code"] == "too_many_items" and "lower k" in answer["error"]["message"]


def test_unknown_items_are_skipped_on_request(server):
    with_one = server.post("/v1/recommend", {"history": ["i1", "unknown"], "skip_unknown": True})
    without = server.post("/v1/recommend", {"history": ["i1"]})
    assert with_one["recommendations"] == without["recommendations"] and with_one["skipped"] == 1


def test_an_unknown_item_is_named_and_where_to_find_others(server):
    for path, body in [("/v1/recommend", {"history": ["nonsense"]}), ("/v1/similar", {"item": "nonsense"})]:
        message = server.post(path, body, 404)["error"]["message"]
        assert "does not know the item 'nonsense'" in message and "/v1/items" in message
    assert server.get("/v1/items?limit=1")["items"]


def test_metrics(server):
    before = server.metric("poise_requests_total")
    server.get("/v1/nothing", 404)
    server.post("/v1/recommend", {"history": ["i1"]})
    assert server.metric("poise_requests_total") >= before + 2
    assert server.metric('poise_refusals_total{reason="not_found"}') >= 1
    text = server.ask("GET", "/metrics")[2]
    for name in ("poise_request_seconds_bucket{endpoint=\"recommend\",le=\"+Inf\"}", "poise_model_info{model=\"ease\",family=\"full-rank\"",
                 "process_resident_memory_bytes", "poise_connections", "poise_reloads_total"):
        assert name in text
    for line in text.splitlines():
        assert line.startswith("#") or float(line.rsplit(" ", 1)[1]) >= 0


def test_filters_of_the_server(models, tmp_path):
    (tmp_path / "exclude").write_text("i1\ni2\nunknown\n")
    (tmp_path / "only").write_text("\n".join(f"i{i}" for i in range(10)))
    with serving(tmp_path / "s", models / "ease.model", "--exclude", tmp_path / "exclude", "--only", tmp_path / "only") as server:
        listed = lambda **request: {row["item"] for row in server.post("/v1/recommend", {"history": ["i20"], **request})["recommendations"]}
        assert listed(k=100) == {f"i{i}" for i in range(10)} - {"i1", "i2"}
        assert listed(k=100, exclude=["i3"]) == {f"i{i}" for i in range(4, 10)} | {"i0"}
        assert listed(k=100, only=["i1", "i4", "i30"]) == {"i4"}
        assert server.get("/v1/users/u1/history", 404)["error"]["code"] == "no_histories"
        assert [item["id"] for item in server.get("/v1/items?q=i3&limit=1")["items"]] == ["i3"], "found by id without titles"


def test_shares_and_shadow(models, tmp_path):
    with serving(tmp_path / "s", models / "ease.model", f"other={models / 'wmf.model'}", "--ab", "other=0.3", "--shadow", "other") as server:
        def answered(**request):
            return server.post("/v1/recommend", {"history": ["i1"], "k": 5, **request})["model"]
        sessions = [answered(session=f"s{k}") for k in range(200)]
        assert 30 <= sessions.count("other") <= 90
        assert sessions == [answered(session=f"s{k}") for k in range(200)], "sticky"
        assert answered() == "ease" and answered(model="other") == "other"
        assert server.metric("poise_shadow_requests_total") > 0
        assert server.metric('poise_shadow_items_total{lists="agree"}') <= server.metric('poise_shadow_items_total{lists="all"}')
        before = server.metric("poise_shadow_requests_total")
        batch = [{"history": [f"i{k}"], "k": 5} for k in range(3)] + [{"history": ["i1"], "k": 5, "model": "other"}]
        server.post("/v1/recommend", {"batch": batch})
        wait_for(lambda: server.metric("poise_shadow_requests_total") == before + 3)
        cards = server.get("/v1/models")["models"]
        assert cards[1]["share"] == 0.3 and cards[1]["shadow"] and cards[0]["default"]


def test_openapi_is_what_the_server_does(server):
    document = server.get("/openapi.json")
    schemas = document["components"]["schemas"]
    assert document["openapi"].startswith("3.")

    def check(value, schema, place):
        if "$ref" in schema:
            return check(value, schemas[schema["$ref"].rsplit("/", 1)[1]], place)
        if "oneOf" in schema:
            problems = []
            for option in schema["oneOf"]:
                try:
                    return check(value, option, place)
                except AssertionError as error:
                    problems.append(str(error))
            raise AssertionError(problems)
        kinds = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int, "boolean": bool}
        assert isinstance(value, kinds[schema["type"]]), f"{place}: {value} is no {schema['type']}"
        if schema["type"] == "array":
            for k, each in enumerate(value):
                check(each, schema["items"], f"{place}[{k}]")
        if schema["type"] == "object":
            assert set(schema.get("required", [])) <= set(value), f"{place} lacks {set(schema['required']) - set(value)}"
            for name, each in value.items():
                extra = schema["additionalProperties"]
                assert name in schema.get("properties", {}) or extra, f"{place}: {name} is not in the document"
                inner = schema.get("properties", {}).get(name, extra)
                if isinstance(inner, dict):
                    check(each, inner, f"{place}.{name}")

    calls = [("/v1/livez", None), ("/v1/readyz", None), ("/openapi.json", None), ("/v1/models", None), ("/v1/items", None),
             ("/v1/users/{id}/history", None),
             ("/v1/recommend", {"history": ["i1"], "explain": True, "k": 3, "exclude": ["i2"], "only": ["i3", "i4"], "session": 7}),
             ("/v1/recommend", {"batch": [{"user": "u1"}, {"history": []}]}), ("/v1/similar", {"item": "i1", "k": 2, "model": "ease"}),
             ("/v1/compare", {"models": ["ease", "wmf"], "history": ["i1"]}), ("/v1/reload", {})]
    for path, body in calls:
        operation = document["paths"][path]["get" if body is None else "post"]
        target = path.replace("{id}", "u1")
        if body is not None:
            check(body, operation["requestBody"]["content"]["application/json"]["schema"], "request")
        answer = server.get(target) if body is None else server.post(target, body)
        check(answer, operation["responses"]["200"]["content"]["application/json"]["schema"], path)
    tried = {path for path, _ in calls} | {"/", "/metrics"}
    assert tried == set(document["paths"]), "every path is tried"
    # Each path takes the methods of the document and no other; each error is an Error.
    for path, operations in document["paths"].items():
        for method in ("GET", "POST", "PUT", "DELETE"):
            status, _, text = server.ask(method, path.replace("{id}", "u1"), b"[" if method == "POST" else None)
            if method.lower() not in operations:
                assert status == 405, (method, path)
            if status != 200:
                check(json.loads(text), schemas["Error"], path)
                assert status == 405 or str(status) in operations[method.lower()]["responses"], (method, path, status)
