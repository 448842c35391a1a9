"""Clients that mean harm, on raw sockets: each gets the right status or is closed, while others are answered and memory stays.

POISE may be a program built with sanitizers (`make hostile`). POISE_HOSTILE_REPORT, where set, is a file for how long others waited in each test
and how much memory grew (`bench/serve_hostile.py`)."""
import contextlib
import gzip
import json
import os
import pathlib
import socket
import subprocess
import sys
import time

import pytest

from conftest import HANG, run
from serving import read_all, serving

MOST_GROWTH = 32 << 20  # bytes


class Honest:
    """Somebody else, who is answered all the time."""

    def __init__(self, server, folder):
        self.path = folder / "honest"
        with open(self.path, "w") as out:
            self.process = subprocess.Popen([sys.executable, pathlib.Path(__file__).with_name("honest_client.py"), str(server.port)],
                                            stdin=subprocess.PIPE, stdout=out)
        self.read = open(self.path)
        self.rest = ""

    def waits(self, until):
        """Of the requests since the last call, up to one that began later than `until`."""
        found = []
        end = time.monotonic() + HANG
        while not found or found[-1][0] < until:
            assert self.process.poll() is None and time.monotonic() < end
            text = self.rest + self.read.read()
            *lines, self.rest = text.split("\n")
            for line in lines:
                begun, ended, outcome = line.split(" ", 2)
                assert outcome == "fine"
                found.append((float(begun), float(ended) - float(begun)))
            time.sleep(0.005)
        return [wait for _, wait in found]

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(HANG) == 0
        self.read.close()


@pytest.fixture(scope="module")
def server(shop, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    run("train", shop, "--model", "ease", "--lambda", 20, "--out", folder / "ease.model")
    with serving(folder / "s", folder / "ease.model", "--threads", 2, "--header-timeout", 2, "--body-timeout", 2, "--idle-timeout", 4) as server:
        server.report, server.honest = {}, Honest(server, folder)
        yield server
        server.honest.end()
        if "POISE_HOSTILE_REPORT" in os.environ:
            pathlib.Path(os.environ["POISE_HOSTILE_REPORT"]).write_text(json.dumps(server.report))


@pytest.fixture(autouse=True)
def others_are_answered(server, request):
    """Before, while and after each test somebody else is answered, and memory does not grow."""
    server.honest.waits(time.monotonic())
    before = server.before = server.memory()
    yield
    most = server.memory()
    waits = server.honest.waits(time.monotonic())
    assert server.process.poll() is None
    growth = max(most, server.memory()) - before
    assert growth < MOST_GROWTH
    server.report[request.node.name] = {"wait": max(waits), "requests": len(waits), "growth": growth}


def statuses(data):
    """The statuses of the answers in a stream of them."""
    found = []
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        found.append(int(lines[0].split()[1]))
        length = next((int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length")), 0)
        if found[-1] != 100:
            body = rest[:length]
            assert len(body) == length
            if found[-1] >= 400:
                assert json.loads(body)["error"]["code"]
            rest = rest[length:]
        data = rest
    return found


BODY = b'{"history":["i1"]}'
LENGTH = b"Content-Length: %d\r\n" % len(BODY)


def post(headers=b"", body=BODY, length=LENGTH, kind=b"Content-Type: application/json\r\n"):
    return b"POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\n" + kind + length + headers + b"\r\n" + body


def get(headers=b"", line=b"GET /v1/livez HTTP/1.1", host=b"Host: localhost\r\n"):
    return line + b"\r\n" + host + headers + b"\r\n"


SMUGGLED = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("data, expected", [
    # Two readings of where a request ends.
    (post(LENGTH) + SMUGGLED, 400), (post(b"Content-Length: 3\r\n") + SMUGGLED, 400),
    (post(b"Transfer-Encoding: chunked\r\n", b"0\r\n\r\n") + SMUGGLED, 400),
    (post(b"Transfer-Encoding: chunked\r\n", b"0\r\n\r\n", b"") + SMUGGLED, 501),
    (post(b"Transfer-Encoding: identity\r\n", b"", b"") + SMUGGLED, 501),
    (post(b"Transfer-Encoding: xchunked\r\nTransfer-Encoding: chunked\r\n", b"", b"") + SMUGGLED, 501),
    (post(b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n", b"") + SMUGGLED, 400),
    (post(b"Transfer-Encoding\x0b: chunked\r\n", b"0\r\n\r\n", b"") + SMUGGLED, 400),
    (post(b"X: y\r\n Transfer-Encoding: chunked\r\n") + SMUGGLED, 400), (post(b"X: y\r\n\tfolded\r\n") + SMUGGLED, 400),
    (post(b"X: y\nTransfer-Encoding: chunked\r\n") + SMUGGLED, 400), (post(b"X: y\rTransfer-Encoding: chunked\r\n") + SMUGGLED, 400),
    (post(b"X: \0\r\n") + SMUGGLED, 400), (post(b"X\0: y\r\n") + SMUGGLED, 400), (post(b"X: \xff\r\n") + SMUGGLED, 400),
    (post(b"X: caf\xc3\xa9\r\n") + SMUGGLED, 400),
    *[(post(length=b"Content-Length: %s\r\n" % text) + SMUGGLED, 400)
      for text in (b"+17", b"-1", b"0x11", b"17,17", b"17 17", b"1e1", b"", b"\x31\x37\x00", b"17;a=b", b"\xc2\xb9")],
    (post(length=b"Content-Length:%s\r\n" % (b"9" * 400)), 413), (post(length=b"Content-Length: 1048577\r\n"), 413), (post(length=b""), 411),
    # Lines.
    (get().replace(b"\r\n", b"\n"), 400), (get(b"A: b\n"), 400), (b"\n" + get(), 400), (b"\r\n" + get(), 400), (b"\r" + get(), 400),
    (get(b"no colon\r\n"), 400), (get(b": no name\r\n"), 400),
    # Hosts.
    (get(host=b""), 400), (get(b"Host: localhost\r\n"), 400), (get(host=b"Host: evil.example\r\n"), 421), (get(host=b"Host:\r\n"), 421),
    (get(host=b"Host: localhost evil.example\r\n"), 421), (get(host=b"Host: localhost, evil.example\r\n"), 421),
    # Request lines.
    (get(line=b"GET / HTTP/2.0"), 505), (get(line=b"GET / HTTP/9.9"), 505), (get(line=b"GET / HTTP/1.10"), 400), (get(line=b"GET /"), 400),
    (get(line=b"GET / http/1.1"), 400), (get(line=b"GET http://localhost/ HTTP/1.1"), 400), (get(line=b"GET * HTTP/1.1"), 400),
    (get(line=b"CONNECT localhost:22 HTTP/1.1"), 400), (get(line=b"GET  / HTTP/1.1"), 400), (get(line=b"PRI * HTTP/2.0"), 505),
    (get(line=b"G\x00T / HTTP/1.1"), 400), (get(line=b"GET /\xff HTTP/1.1"), 400), (get(line=b"A" * 40 + b" / HTTP/1.1"), 400),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500), 400),
    # Sizes.
    (get(b"A: " + b"x" * (1 << 20) + b"\r\n"), 431), (get(b"A: b\r\n" * 101), 431), (get(b"A: b\r\n" * 100000), 431),
    (b"GET /" + b"x" * (1 << 20) + b" HTTP/1.1\r\n\r\n", 431),
    # What is not read.
    (get(b"Content-Length: 3\r\n") + b"abc", 400), (get(b"Expect: the-unexpected\r\n"), 400),
    (post(kind=b"Content-Type: text/plain\r\n"), 415), (post(kind=b""), 415), (post(b"Content-Encoding: gzip\r\n"), 415),
], ids=lambda value: repr(value)[:40])
def test_one_refusal_and_no_second_answer(server, data, expected):
    """What was smuggled behind a refused request is never answered."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=HANG) as client:
        with contextlib.suppress(ConnectionError):
            client.sendall(data)
            # Where the framing is in order the connection may go on.
            client.shutdown(socket.SHUT_WR)
        assert statuses(read_all(client)) == [expected]


@pytest.mark.parametrize("path, expected", [
    (b"/../../etc/passwd", 404), (b"/%2e%2e/%2e%2e/etc/passwd", 404), (b"/..%2f..%2fetc/passwd", 404), (b"//etc/passwd", 404),
    (b"/assets/page.html", 404), (b"/v1/users/..%2f..%2fetc%2fpasswd/history", 404), (b"/v1/users/%00/history", 400),
    (b"/v1/users/%ff/history", 400), (b"/v1/users/%/history", 400), (b"/v1/items?q=%zz", 400), (b"/.git/config", 404), (b"/?../../x", 200),
])
def test_paths(server, path, expected):
    data = server.raw(get(b"Connection: close\r\n", b"GET " + path + b" HTTP/1.1"))
    assert statuses(data) == [expected] and b"root:" not in data


def test_pipelined_requests_are_answered_in_order(server):
    data = server.raw((get() + post()) * 20 + get(b"Connection: close\r\n") + SMUGGLED)
    assert statuses(data) == [200] * 41, "and nothing behind the one that closes"


def test_http_1_0(server):
    data = server.raw(b"GET /v1/livez HTTP/1.0\r\nHost: localhost\r\n\r\n" + SMUGGLED)
    assert statuses(data) == [200] and b"Connection: close" in data


def test_expectations(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=HANG) as client:
        client.sendall(post(b"Expect: 100-continue\r\nConnection: close\r\n", b""))
        assert client.recv(100).startswith(b"HTTP/1.1 100 Continue\r\n\r\n")
        client.sendall(BODY)
        assert statuses(read_all(client)) == [200]


def test_500_half_open_connections(server):
    """Slowloris: heads that never end. They are closed in time, with 408; whoever is honest is answered meanwhile."""
    clients = [socket.create_connection(("127.0.0.1", server.port), timeout=HANG) for _ in range(500)]
    try:
        for k, client in enumerate(clients):
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-%d: y\r\n" % k)
        assert server.metric("poise_connections") > 500
        for client in clients:
            with contextlib.suppress(ConnectionError):
                client.sendall(b"X")
            assert statuses(read_all(client)) in ([408], []), "a reset may take the answer with it"
    finally:
        for client in clients:
            client.close()
    wait_until(lambda: server.metric("poise_connections") < 20)


def wait_until(condition):
    end = time.monotonic() + HANG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_slow_bodies_and_silence(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=HANG) as client:
        client.sendall(post(length=b"Content-Length: 100\r\n"))
        assert statuses(read_all(client)) == [408]
    with socket.create_connection(("127.0.0.1", server.port), timeout=HANG) as client:
        assert read_all(client) == b"", "closed without a word"
    with socket.create_connection(("127.0.0.1", server.port), timeout=HANG) as client:
        client.sendall(get())
        assert statuses(read_all(client)) == [200], "idle after a request: closed in time"


def test_40_megabytes_in_chunks(server):
    data = post(b"Transfer-Encoding: chunked\r\n", b"", b"") + (b"10000\r\n" + b"x" * 65536 + b"\r\n") * 640 + b"0\r\n\r\n"
    assert statuses(server.raw(data)) in ([501], []), "a reset may take the answer with it"
    assert statuses(server.raw(data[:100000])) == [501]


def test_a_gzip_bomb_is_not_opened(server):
    bomb = gzip.compress(b'{"history": [' + b" " * (64 << 20))
    data = post(b"Content-Encoding: gzip\r\nConnection: close\r\n", bomb, b"Content-Length: %d\r\n" % len(bomb))
    assert statuses(server.raw(data)) == [415]


@pytest.mark.parametrize("body, code", [
    (b'{"history": [' + b",".join(b'"i%d"' % (k % 60) for k in range(100000)) + b"]}", 413),
    (b'{"history": ' + b"[" * 100000, 400), (b'{"a":' * 50000, 400), (b'{"user": "\xc3\x28"}', 400), (b'{"user": "\xed\xa0\x80"}', 400),
    (b'{"history": ["i1"], "k": 99999999999999999999999999}', 400), (b'{"history": ["i1"], "k": -1}', 400), (b"\0" * 1000, 400),
    (b'{"history": ["' + b"x" * 900000 + b'"]}', 404), (b'{"history": [], "exclude": [' + b'"i1",' * 130000 + b'"i1"]}', 200),
    (b'{"history": [], "exclude": [' + b'"i1",' * 150000 + b'"i1"]}', 413), (b'{"history": [], "exclude": [' + b"1," * 500000 + b"1]}", 413),
    (b'{"history": [' + b"[]," * 300000 + b"[]]}", 413),
    (b"{" + b",".join(b'"%d":0' % k for k in range(100000)) + b"}", 400),
], ids=lambda value: repr(value)[:40])  # pytest puts them into the environment of the server
def test_bodies(server, body, code):
    data = server.raw(post(b"Connection: close\r\n", body, b"Content-Length: %d\r\n" % len(body)))
    assert len(body) <= 1 << 20 and statuses(data) == [code]


def test_answers_that_nobody_takes(server):
    """A client that sends requests and reads nothing: the server stops reading from it."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(1)
        client.connect(("127.0.0.1", server.port))
        big = post(body=b'{"history":["i1"],"k":60,"explain":true}', length=b"Content-Length: 40\r\n")
        with contextlib.suppress(TimeoutError, ConnectionError):
            for _ in range(20000):
                client.sendall(big)
        assert server.get("/v1/readyz")["status"] == "ready"


def test_large_bodies_do_not_stay_with_idle_connections(server):
    body = b'{"history":["i1"],"exclude":["' + b"x" * 900000 + b'"]}'
    clients = []
    for _ in range(60):
        client = socket.create_connection(("127.0.0.1", server.port), timeout=HANG)
        client.sendall(post(body=body, length=b"Content-Length: %d\r\n" % len(body)))
        assert client.recv(100).startswith(b"HTTP/1.1 200")
        clients.append(client)
    # The fixture looks at the memory once more when they are gone.
    assert server.memory() - server.before < MOST_GROWTH
    for client in clients:
        client.close()


def test_clients_that_vanish(server):
    for k in range(300):
        client = socket.create_connection(("127.0.0.1", server.port), timeout=HANG)
        client.sendall((post() * 3)[: 20 + k])
        if k % 2:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()
    wait_until(lambda: server.metric("poise_connections") < 20)


def test_more_connections_than_there_may_be(shop, server, tmp_path):
    run("train", shop, "--model", "popularity", "--out", tmp_path / "p.model")
    with serving(tmp_path / "s", tmp_path / "p.model", "--max-connections", 5) as small:
        held = [socket.create_connection(("127.0.0.1", small.port), timeout=HANG) for _ in range(5)]
        for client in held:
            client.sendall(get())
            assert client.recv(100).startswith(b"HTTP/1.1 200")
        assert statuses(small.raw(b"")) == [503]
        held.pop().close()
        wait_until(lambda: statuses(small.raw(get(b"Connection: close\r\n"))) == [200])
        for client in held:
            client.close()


def test_wrong_keys(shop, server, tmp_path):
    run("train", shop, "--model", "popularity", "--out", tmp_path / "p.model")
    (tmp_path / "keys").write_text("0123456789abcdef0123\n")
    with serving(tmp_path / "s", tmp_path / "p.model", "--api-key-file", tmp_path / "keys") as locked:
        for headers in (b"", b"Authorization: Bearer \r\n", b"Authorization: Bearer 0123456789abcdef012\r\n", b"Authorization: bearer\r\n",
                        b"Authorization: Bearer 0123456789abcdef0123 \tx\r\n", b"X-API-Key: " + b"0" * 10000 + b"\r\n",
                        b"X-API-Key: 0123456789abcdef0123\r\nAuthorization: Bearer wrong\r\n"):
            # Before the body is read, which never comes.
            assert statuses(locked.raw(post(headers, b""))) == [401]
        assert statuses(locked.raw(post(b"X-API-Key: 0123456789abcdef0123\r\nConnection: close\r\n"))) == [200]
