"""Runs `poise serve` for tests: at a free port, until the end of a with block. Fixtures: models to serve, and a server of all of them."""
import contextlib
import http.client
import json
import signal
import socket
import subprocess
import time

import pytest

from conftest import HANG, PROGRAM, run

NAMES = ["ease", "wmf", "awmf", "popularity"]


class Server:
    def __init__(self, folder, *arguments):
        self.messages = open(folder / "stderr", "w+")
        self.process = subprocess.Popen([PROGRAM, "serve", *map(str, arguments), "--port", "0", "--json"], stdout=subprocess.PIPE,
                                        stderr=self.messages, text=True)
        line = self.process.stdout.readline()
        assert line, self.said()
        self.started = json.loads(line)
        self.port = self.started["port"]

    def said(self):
        self.messages.flush()
        with open(self.messages.name) as file:
            return file.read()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG)

    def ask(self, method, path, body=None, headers=None, connection=None):
        """Status, headers and body of an answer; a body that is no text is sent as JSON."""
        connection = connection or self.connect()
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()

    def get(self, path, code=200, **headers):
        status, _, body = self.ask("GET", path, headers=headers)
        assert status == code, body
        return json.loads(body)

    def post(self, path, body, code=200, connection=None, **headers):
        status, _, text = self.ask("POST", path, body, headers, connection)
        assert status == code, text
        return json.loads(text)

    def raw(self, data, port=None):
        """All bytes that come back until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=HANG) as client:
            with contextlib.suppress(ConnectionError):
                client.sendall(data)
            return read_all(client)

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))

    def metric(self, name):
        text = self.ask("GET", "/metrics")[2]
        return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))

    def signal(self, which):
        self.process.send_signal(which)

    def end(self, code=0):
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        assert self.process.wait(HANG) == code, self.said()
        self.process.stdout.close()


def read_all(client):
    data = b""
    with contextlib.suppress(ConnectionError):
        while part := client.recv(65536):
            data += part
    return data


@contextlib.contextmanager
def serving(folder, *arguments):
    folder.mkdir(exist_ok=True)
    server = Server(folder, *arguments)
    try:
        yield server
        server.end()
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
        server.messages.close()


def wait_for(condition):
    end = time.monotonic() + HANG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


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


@pytest.fixture(scope="module")
def server(models, titles, shop, tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    with serving(folder, *[models / f"{name}.model" for name in NAMES], "--items", titles, "--histories", shop.parent / "log.csv",
                 "--threads", 2) as server:
        yield server
