"""Who may ask `poise serve`, and how: methods, headers, keys, rates, origins."""
import json

from serving import models, server, serving, titles  # noqa: F401, fixtures


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
