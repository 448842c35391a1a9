"""`poise serve`: reloads, signals and the end lose no request."""
import json
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

from conftest import HANG
from serving import models, read_all, serving, wait_for  # noqa: F401, fixtures


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
