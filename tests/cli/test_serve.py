"""`poise serve`: its answers, models, reloads, keys, and end."""
import json
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

from conftest import HANG, PROGRAM, run
from serving import read_all, serving


@pytest.fixture(scope="module")
def models(shop, tmp_path_factory):
    """Models of each kind, over 60 items i0 ... i59."""
    folder = tmp_path_factory.mktemp("models")
    run("train", shop, "--model", "ease", "--lambda", 20, "--out", folder / "ease.model")
    run("train", shop, "--model", "wmf", "--rank", 8, "--lambda", 1, "--alpha", 3, "--weighting", "linear", "--out", folder / "wmf.model")
    run("train", shop, "--model", "awmf", "--rank", 8, "--lambda", 10, "--out", folder / "awmf.model")
    run("train", shop, "--model", "popularity", "--out", folder / "popularity.model")
    return folder


@pytest.fixture(scope="module")
def titles(tmp_path_factory):
    path = tmp_path_factory.mktemp("titles") / "items.csv"
    rows = ["id,title,picture"]
    rows += [f'i{i},"{["Red", "Blue", "Green"][i % 3]} tea ""no. {i}"", loose",/p/{i}.png' for i in range(60)]
    path.write_text("\n".join(rows) + "\n")
    return path


NAMES = ["ease", "wmf", "awmf", "popularity"]


@pytest.fixture(scope="module")
def server(models, titles, shop, tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    with serving(folder, *[models / f"{name}.model" for name in NAMES], "--items", titles, "--histories", shop.parent / "log.csv",
                 "--threads", 2) as server:
        yield server


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


def test_methods_paths_and_headers(server):
    for method, path, code in [("GET", "/v1/recommend", 405), ("POST", "/v1/models", 405), ("DELETE", "/v1/models", 405),
                               ("BREW", "/", 405), ("GET", "/v1/nothing", 404), ("GET", "/etc/passwd", 404),
                               ("GET", "/../../etc/passwd", 404), ("GET", "/%2e%2e/etc/passwd", 404), ("GET", "/v1/users//history", 404),
                               ("OPTIONS", "/v1/recommend", 405)]:
        body = b"{}" if method == "POST" else None
        status, headers, text = server.ask(method, path, body)
        assert status == code, (method, path, text)
        assert json.loads(text)["error"]["code"]
        assert code != 405 or headers["Allow"]
    status, headers, text = server.ask("HEAD", "/v1/models")
    assert status == 200 and text == "" and int(headers["Content-Length"]) > 100
    body = json.dumps({"history": ["i1"]})
    assert server.ask("POST", "/v1/recommend", body, {"Content-Type": "text/plain"})[0] == 415
    assert server.ask("POST", "/v1/recommend", body, {"Content-Encoding": "gzip"})[0] == 415
    assert server.ask("POST", "/v1/recommend", body, {"Origin": "http://evil.example"})[0] == 403
    assert server.ask("GET", "/v1/models", None, {"Origin": "null"})[0] == 403
    assert server.ask("GET", "/v1/models", None, {"Host": "evil.example"})[0] == 421
    assert server.ask("GET", "/v1/models", None, {"Host": f"localhost:{server.port}", "Origin": f"http://localhost:{server.port}"})[0] == 200
    headers = server.ask("GET", "/v1/livez", None, {"X-Request-Id": "abc-1"})[1]
    assert headers["X-Request-Id"] == "abc-1" and "Access-Control-Allow-Origin" not in headers
    page = server.ask("GET", "/")
    assert page[0] == 200 and "default-src 'none'" in page[1]["Content-Security-Policy"] and "<title>" in page[2]


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


def test_keys_and_rates(models, tmp_path):
    (tmp_path / "keys").write_text("# two of them\nalice:0123456789abcdef0123\nfedcba98765432109876\n")
    with serving(tmp_path / "s", models / "ease.model", "--api-key-file", tmp_path / "keys", "--host", "0.0.0.0", "--rate-limit", 5,
                 "--access-log", tmp_path / "log") as server:
        bearer = {"Authorization": "Bearer 0123456789abcdef0123"}
        for headers, code in [({}, 401), ({"Authorization": "Bearer wrong"}, 401), ({"Authorization": "Basic 0123456789abcdef0123"}, 401),
                              ({"X-API-Key": "0123456789abcdef012"}, 401), ({"X-API-Key": "0123456789abcdef01230123456789abcdef0123"}, 401),
                              (bearer, 200), ({"X-API-Key": "fedcba98765432109876"}, 200)]:
            assert server.ask("GET", "/v1/models", None, headers)[0] == code, headers
        assert server.ask("POST", "/v1/reload", {}, {})[0] == 401
        for path in ("/", "/v1/livez", "/v1/readyz", "/openapi.json"):
            assert server.ask("GET", path)[0] == 200
        connection = server.connect()
        statuses = [server.ask("GET", "/v1/models", None, bearer, connection)[0] for _ in range(300)]
        assert set(statuses) == {200, 429}
        assert server.ask("GET", "/v1/models", None, {"X-API-Key": "fedcba98765432109876"})[0] == 200, "its own bucket"
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert {"alice", "key2", ""} == {line["client"] for line in lines}
    assert all(set(line) == {"time", "id", "method", "path", "endpoint", "status", "seconds", "bytes", "client"} for line in lines)
    assert len({line["id"] for line in lines}) == len(lines)


def test_cors_for_named_origins_alone(models, tmp_path):
    with serving(tmp_path / "s", models / "ease.model", "--cors-origin", "https://shop.example") as server:
        status, headers, _ = server.ask("GET", "/v1/models", None, {"Origin": "https://shop.example"})
        assert status == 200 and headers["Access-Control-Allow-Origin"] == "https://shop.example" and headers["Vary"] == "Origin"
        status, headers, _ = server.ask("OPTIONS", "/v1/recommend", None, {"Origin": "https://shop.example"})
        assert status == 204 and "POST" in headers["Access-Control-Allow-Methods"]
        assert server.ask("GET", "/v1/models", None, {"Origin": "https://shop.example.evil"})[0] == 403


def test_a_bad_file_leaves_the_old_model(models, tmp_path):
    path = tmp_path / "live.model"
    shutil.copy(models / "ease.model", path)
    with serving(tmp_path / "s", path) as server:
        def checksum():
            return server.get("/v1/models")["models"][0]["checksum"]
        first = checksum()
        path.write_bytes(b"x" * 1000)  # in place, under the feet of the server
        assert server.post("/v1/reload", {}, 503)["error"]["code"] == "reload_failed"
        damaged = bytearray((models / "ease.model").read_bytes())
        damaged[-5] ^= 1
        path.write_bytes(damaged)
        assert "checksum" in server.post("/v1/reload", {}, 503)["error"]["message"]
        path.unlink()
        server.post("/v1/reload", {}, 503)
        assert checksum() == first and server.post("/v1/recommend", {"history": ["i1"]})["recommendations"]
        shutil.copy(models / "awmf.model", path)
        assert server.post("/v1/reload", {}) == {"reloaded": [{"model": "live", "taken": True}]}
        second = checksum()
        assert second != first
        assert server.metric('poise_reloads_total{result="failed"}') == 3
        shutil.copy(models / "ease.model", path)
        server.signal(signal.SIGHUP)
        wait_for(lambda: checksum() == first)
        assert "not reloaded" not in server.said() and "reloaded" in server.said()
        assert server.ask("POST", "/v1/reload", b"{}", {"Content-Type": "text/plain"})[0] == 415


def wait_for(condition):
    end = time.monotonic() + HANG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_watch(models, tmp_path):
    path = tmp_path / "live.model"
    shutil.copy(models / "ease.model", path)
    with serving(tmp_path / "s", path, "--watch") as server:
        first = server.get("/v1/models")["models"][0]["checksum"]
        shutil.copy(models / "awmf.model", tmp_path / "next")
        (tmp_path / "next").rename(path)
        wait_for(lambda: server.get("/v1/models")["models"][0]["checksum"] != first)


class Load:
    """Clients that ask until they are told to stop, and count what was not answered."""

    def __init__(self, server, clients=6):
        self.server, self.stop, self.answered, self.lost = server, False, 0, []
        self.threads = [threading.Thread(target=self.work) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def work(self):
        connection = self.server.connect()
        while not self.stop:
            try:
                status, headers, text = self.server.ask("POST", "/v1/recommend", {"history": ["i1", "i2"], "k": 5}, connection=connection)
                if status != 200 or len(json.loads(text)["recommendations"]) != 5:
                    self.lost.append(text)
                self.answered += 1
                if headers["Connection"] == "close":
                    return
            except Exception as error:
                self.lost.append(repr(error))
                return

    def end(self):
        self.stop = True
        for thread in self.threads:
            thread.join(HANG)
        return self.lost


def test_reloads_under_load_lose_no_request(models, tmp_path):
    path = tmp_path / "live.model"
    shutil.copy(models / "ease.model", path)
    with serving(tmp_path / "s", path) as server:
        load = Load(server)
        for k in range(20):
            shutil.copy(models / ("wmf.model", "ease.model")[k % 2], tmp_path / "next")
            (tmp_path / "next").rename(path)
            server.post("/v1/reload", {})
        answered = load.answered
        wait_for(lambda: load.answered > answered or load.lost)
        assert load.end() == [] and load.answered > 20


def test_sigterm_under_load_answers_every_request(models, tmp_path):
    with serving(tmp_path / "s", models / "ease.model") as server:
        load = Load(server)
        wait_for(lambda: load.answered > 50 or load.lost)
        idle = server.connect()
        idle.connect()
        server.signal(signal.SIGTERM)
        assert server.process.wait(HANG) == 0
        assert load.end() == [], "each client's last answer closed its connection"
        assert "stopped" in server.said()


def test_sigterm_answers_what_is_under_way(models, tmp_path):
    """Requests behind each other in one connection, one that is half sent, and a reload."""
    with serving(tmp_path / "s", models / "ease.model") as server:
        body = b'{"history":["i1"],"k":3}'
        request = b"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        clients = [socket.create_connection(("127.0.0.1", server.port), timeout=HANG) for _ in range(3)]
        half, many, reload = clients
        half.sendall(request[:-10])
        wait_for(lambda: server.metric("poise_connections") >= 3)
        many.sendall(request * 500)
        reload.sendall(request.replace(b"recommend", b"reload").replace(body, b"{}").replace(b"Content-Length: %d" % len(body), b"Content-Length: 2"))
        assert many.recv(1, socket.MSG_PEEK) and reload.recv(1, socket.MSG_PEEK), "both were begun"
        server.signal(signal.SIGTERM)
        wait_for(lambda: "draining" in server.said() or server.process.poll() is not None or refused(server))
        half.sendall(request[-10:])
        assert [read_all(client).count(b"HTTP/1.1 200 OK\r\n") for client in clients] == [1, 500, 1]
        assert server.process.wait(HANG) == 0
        for client in clients:
            client.close()


def refused(server):
    """Whether the server takes no further connections."""
    try:
        socket.create_connection(("127.0.0.1", server.port), timeout=HANG).close()
        return False
    except ConnectionError:
        return True


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


def test_demo_needs_nothing(tmp_path):
    with serving(tmp_path / "s", "--demo") as server:
        assert server.started["models"] == ["ease", "wmf", "popularity"]
        answer = server.post("/v1/recommend", {"history": ["1", 2], "k": 3})
        assert len(answer["titles"]) == 3
        assert server.get("/v1/users/5/history")["history"]
        assert server.post("/v1/reload", {}) == {"reloaded": []}


def test_flags(poise, models, tmp_path):
    model = models / "ease.model"
    (tmp_path / "short").write_text("tooshort\n")
    (tmp_path / "bad.csv").write_text('id,title\n1,"never closed\n')
    for arguments, code, said in [
            ((), 2, "--demo"), ((model, "--demo"), 2, "--demo"), ((model, "--host", "0.0.0.0"), 2, "--api-key-file"),
            ((model, model), 2, "two models are called 'ease'"), ((model, "--ab", "ease=2"), 2, "--ab"),
            ((model, "--ab", "other=0.5"), 2, "no model of this name"), ((model, "--shadow", "other"), 2, "--shadow"),
            ((model, "--ab", "ease"), 2, "--ab"), ((model, "--host", "nonsense", "--api-key-file", tmp_path / "short"), 3, "16"),
            ((tmp_path / "missing",), 3, "missing"), ((model, "--api-key-file", tmp_path / "short"), 3, "16"),
            ((model, "--items", tmp_path / "bad.csv"), 3, "bad.csv:2"), ((model, "--port", "70000"), 2, "--port"),
            ((model, "--cors-origin", "https://shop.example/"), 2, "--cors-origin"), ((model, "--allow-host", "shop:80"), 2, "--allow-host"),
            ((f"two\nlines={model}",), 2, "NAME=FILE"), ((model, "--header-timeout", "0"), 2, "--header-timeout"), ((model, "--max-k", "0"), 2, "--max-k")]:
        assert said in poise("serve", *arguments, code=code).err, arguments


def test_names_of_models_are_text(models):
    done = subprocess.run([PROGRAM, "serve", b"\xff=" + bytes(models / "ease.model")], capture_output=True, timeout=HANG)
    assert done.returncode == 2 and b"NAME=FILE" in done.stderr


def test_too_few_files(models):
    """The limit of a shell that leaves nothing for connections."""
    done = subprocess.run(["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", PROGRAM, "serve", models / "ease.model", "--port", "0"], capture_output=True,
                          text=True, timeout=HANG)
    assert done.returncode == 4 and "ulimit -n" in done.stderr


def test_a_taken_port(poise, models, tmp_path):
    with serving(tmp_path / "s", models / "ease.model") as server:
        assert "--port" in poise("serve", models / "ease.model", "--port", server.port, code=4).err


# A library that starts a thread before main(), as OpenBLAS on pthreads does. Told by a file, the thread takes a signal itself.
FOREIGN_THREAD = """
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static void* wait_for_file(void* unused) {
  while (access(getenv("TAKE_HUP"), F_OK) != 0) usleep(20000);
  pthread_kill(pthread_self(), SIGHUP);
  while (access(getenv("TAKE_TERM"), F_OK) != 0) usleep(20000);
  pthread_kill(pthread_self(), SIGTERM);
  for (;;) pause();
  return unused;
}
__attribute__((constructor)) static void start(void) {
  pthread_t thread;
  if (getenv("TAKE_HUP") != NULL) pthread_create(&thread, NULL, wait_for_file, NULL);
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_signals_that_a_librarys_thread_takes(models, tmp_path, monkeypatch):
    (tmp_path / "thread.c").write_text(FOREIGN_THREAD)
    subprocess.run(["cc", "-shared", "-fPIC", "-pthread", "-o", tmp_path / "thread.so", tmp_path / "thread.c"], check=True)
    hup, term = tmp_path / "hup", tmp_path / "term"
    monkeypatch.setenv("LD_PRELOAD", str(tmp_path / "thread.so"))
    monkeypatch.setenv("TAKE_HUP", str(hup))
    monkeypatch.setenv("TAKE_TERM", str(term))
    with serving(tmp_path / "server", models / "ease.model") as server:
        hup.touch()
        until = time.monotonic() + HANG
        while "ease: reloaded" not in server.said() and time.monotonic() < until:
            time.sleep(0.05)
        assert server.process.poll() is None
        term.touch()
        assert server.process.wait(HANG) == 0
