"""What is wrong at one process alone ends all of them as it ends one: its sentence and exit code, and nobody is left behind (mark=)."""
import pathlib
import shutil
import subprocess

import pytest

from conftest import PROGRAM, mpirun, on_one_rank, run, shop_log

COMMANDS = {"dense": ["train", "DATA", "--model", "ease", "--lambda", 5, "--out", "OUT"],
            "neighbours": ["train", "DATA", "--model", "ease", "--lambda", 5, "--neighbours", 7, "--out", "OUT"],
            "low rank": ["train", "DATA", "--model", "wmf", "--rank", 5, "--lambda", 3, "--out", "OUT"],
            "search": ["search", "DATA", "--model", "ease", "--lambda", "5,20", "--grid", "paper", "--no-expand", "--journal", "OUT"],
            "evaluate": ["evaluate", "MODEL", "DATA"],
            "recommend": ["recommend", "MODEL", "--histories", "LOG", "-k", 3]}
KINDS = {"missing": lambda whole: None, "damaged": lambda whole: whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:],
         "cut short": lambda whole: whole[:len(whole) // 2], "of another kind": lambda whole: b"no such thing\n"}


@pytest.fixture(scope="module")
def files(shop, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    run("train", shop, "--model", "ease", "--lambda", 5, "--out", folder / "model")
    (folder / "log.csv").write_text(shop_log(5))
    return {"DATA": shop, "MODEL": folder / "model", "LOG": folder / "log.csv"}


def spoiled(path, kind, folder):
    """A copy of prepared data, or of a file, in which something is wrong."""
    copy = folder / f"spoiled-{path.name}"
    (shutil.copytree if path.is_dir() else shutil.copy)(path, copy)
    file = copy / "data.poise" if copy.is_dir() else copy
    content = KINDS[kind](file.read_bytes())
    file.unlink() if content is None else file.write_bytes(content)
    return copy


def line(command, places):
    return [str(places.get(word, word)) for word in command]


def check_one_rank(size, rank, command, good, bad, folder):
    """Its sentence is that of one process, after its name."""
    alone = run(*line(command, bad), code=3).err.strip().split("\n")[-1]
    there, elsewhere = (" ".join([PROGRAM, *line(command, places)]) for places in (bad, good))
    result = mpirun(size, program=[on_one_rank(folder, rank, there, elsewhere)], code=3, mark=folder)
    what = alone.removeprefix("poise: ")
    assert result.sentence == alone if rank == 0 else result.sentence.startswith(f"poise: rank {rank} on ") and result.sentence.endswith(f": {what}")
    assert not (folder / "out").exists()


@pytest.mark.parametrize("name, what, kind, rank", [
    ("dense", "DATA", "damaged", 1), ("dense", "DATA", "missing", 0), ("dense", "DATA", "cut short", 2), ("neighbours", "DATA", "damaged", 2),
    ("low rank", "DATA", "of another kind", 1), ("search", "DATA", "damaged", 1), ("search", "DATA", "missing", 2), ("evaluate", "MODEL", "damaged", 1),
    ("evaluate", "DATA", "cut short", 2), ("recommend", "MODEL", "missing", 1), ("recommend", "MODEL", "of another kind", 0)])
def test_a_file_that_is_bad_on_one_host(files, tmp_path, name, what, kind, rank):
    good = {**files, "OUT": tmp_path / "out"}
    check_one_rank(3, rank, COMMANDS[name], good, {**good, what: spoiled(files[what], kind, tmp_path)}, tmp_path)


def test_other_options_on_one_host(files, tmp_path):
    """Each would train a part of a model of its own."""
    places = {**files, "OUT": tmp_path / "out"}
    for name, flag, value in (("dense", "--lambda-exponent", 0.5), ("evaluate", "--metrics", "recall@5")):
        command = " ".join([PROGRAM, *line(COMMANDS[name], places)])
        sentence = mpirun(3, program=[on_one_rank(tmp_path, 1, f"{command} {flag} {value}", command)], code=4, mark=tmp_path).sentence
        assert "rank 1 on" in sentence and f"another {flag}" in sentence and "same command line" in sentence
    config = tmp_path / "other.toml"
    config.write_text("lambda-exponent = 0.5\n")
    (tmp_path / "empty.toml").write_text("")
    command = " ".join([PROGRAM, *line(COMMANDS["dense"], places), "--config", str(tmp_path)])
    script = on_one_rank(tmp_path, 2, f"{command}/other.toml", f"{command}/empty.toml")
    assert "--lambda-exponent" in mpirun(3, program=[script], code=4, mark=tmp_path).sentence
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_another_version_on_one_host(files, tmp_path):
    """Program and plug-in (which is ours, for any version) fit together there, but not with the others."""
    version = run("--version").out.split()[1]
    other = version[:-1] + ("1" if version[-1] == "0" else "0")
    program, plugin = tmp_path / "bin" / "poise", tmp_path / "lib" / "poise" / "poise_mpi.so"
    for path in (program, plugin):
        path.parent.mkdir(parents=True)
    shutil.copy(PROGRAM, program)
    program.write_bytes(program.read_bytes().replace(version.encode(), other.encode()))
    ours = pathlib.Path(PROGRAM).parent.parent / "lib" / "poise" / "poise_mpi.so"
    (tmp_path / "plugin.c").write_text("#include <dlfcn.h>\ntypedef void* Start(const char*, const char**);\n"
                                       "void* poise_start_mpi(const char* version, const char** why) {\n"
                                       f'  return ((Start*)dlsym(dlopen("{ours}", RTLD_NOW | RTLD_GLOBAL), "poise_start_mpi"))("{version}", why);\n}}\n')
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "plugin.c", "-o", plugin, "-ldl"], check=True)
    places = {**files, "OUT": tmp_path / "out"}
    for name in ("dense", "search"):
        command = " ".join(line(COMMANDS[name], places))
        script = on_one_rank(tmp_path, 1, f"{tmp_path}/bin/poise {command}", f"{PROGRAM} {command}")
        sentence = mpirun(3, program=[script], code=4, mark=tmp_path).sentence
        assert "rank 1 on" in sentence and f"runs poise {other}, rank 0 {version}" in sentence
    assert not (tmp_path / "out").exists()


def test_a_full_disk_of_one_that_does_not_write(files, tmp_path):
    """The others only store what is found faster the next time."""
    (tmp_path / "limited.sh").write_text(f'#!/bin/sh\nulimit -f 1\nexec {PROGRAM} "$@"\n')
    (tmp_path / "limited.sh").chmod(0o755)
    for name in ("dense", "low rank"):
        command = [*line(COMMANDS[name], files), "--memory-limit", "2G"]
        run(*line(command, {"OUT": tmp_path / "wanted"}))
        command = " ".join(line(command, {"OUT": tmp_path / "out"}))
        script = on_one_rank(tmp_path, 1, f"{tmp_path}/limited.sh {command}", f"{PROGRAM} {command}")
        mpirun(2, program=[script], mark=tmp_path, OMPI_MCA_btl="self,tcp")  # shared memory is a file too
        if name == "low rank":
            assert (tmp_path / "out").read_bytes() == (tmp_path / "wanted").read_bytes()
    search = [*line(COMMANDS["search"], files), "--memory-limit", "2G", "--json"]
    wanted = run(*line(search, {"OUT": tmp_path / "journal1"})).json
    command = " ".join(line(search, {"OUT": tmp_path / "journal2"}))
    script = on_one_rank(tmp_path, 1, f"{tmp_path}/limited.sh {command}", f"{PROGRAM} {command}")
    found = mpirun(2, program=[script], mark=tmp_path, OMPI_MCA_btl="self,tcp").json
    assert found["ranks"] == 2 and found["best"] == wanted["best"]
