"""How `poise serve` starts, and what it refuses to start with."""
import subprocess

from conftest import HANG, PROGRAM
from serving import models, serving  # noqa: F401, fixtures


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
