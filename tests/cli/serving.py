"""Runs `poise serve` for tests: at a free port, until the end of a with block."""
import contextlib
import http.client
import json
import signal
import socket
import subprocess

from conftest import HANG, PROGRAM


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
