"""What the program says of the machine: libraries, threads, devices."""
import os

import pytest


def test_doctor(poise):
    result = poise("doctor", "--json").json
    assert set(result) >= {"version", "blas", "threads", "memory_bytes", "cuda"}
    assert "OpenBLAS" in result["blas"]
    kernels = result["kernels"]
    assert kernels["core"] in result["blas"] and kernels["chosen_by"] in ("openblas", "poise", "environment")
    assert kernels["product_gflops"] > 0 and kernels["peak_gflops"] > 0
    assert isinstance(result["cuda"]["built"], bool) and isinstance(result["cuda"]["devices"], list)
    text = poise("doctor").out
    if not result["cuda"]["built"]:
        assert result["cuda"] == {"built": False, "devices": []} and "built without CUDA" in text
    for gpu in result["cuda"]["devices"]:
        assert gpu["name"] in text and gpu["memory_bytes"] > 0
    assert poise("doctor", "--threads", "3", "--json").json["threads"] == 3


def test_missing_gpu(poise, tmp_path, data, model):
    if poise("doctor", "--json").json["cuda"]["devices"]:
        pytest.skip("this machine has a GPU")
    for command in (("doctor",), ("evaluate", model, data), ("train", data, "--model", "popularity", "--out", tmp_path / "m"),
                    ("search", data, "--model", "full-rank"), ("study", data, "--out", tmp_path / "s"),
                    ("recommend", model, "--items", "i1")):
        error = poise(*command, "--device", "cuda", code=4).err
        assert "CUDA" in error and "--device cpu" in error
    assert not (tmp_path / "m").exists() and not (tmp_path / "s").exists()
    poise("doctor", "--device", "gpu", code=2)


def test_device_is_reported(poise, tmp_path, data, model):
    for device in ("cpu", "auto"):
        assert poise("evaluate", model, data, "--device", device, "--json").json["device"] == "cpu"
        trained = poise("train", data, "--model", "full-rank", "--out", tmp_path / device, "--device", device, "--json").json
        assert trained["device"] == "cpu"
        found = poise("search", data, "--model", "full-rank", "--lambda", 1, "--alpha", 1, "--no-expand", "--device", device,
                      "--json").json
        assert found["device"] == "cpu"
    # What a model file holds does not depend on it.
    assert (tmp_path / "cpu").read_bytes() == (tmp_path / "auto").read_bytes()


def test_idle_threads_spin_briefly(poise, data, tmp_path):
    """Training starts itself again with a short spin, unless the environment says how threads are to wait."""
    def waiting(command, **variables):
        environment = {k: v for k, v in os.environ.items() if k not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
        environment |= {"OMP_DISPLAY_ENV": "VERBOSE", **variables}
        return poise(*command, env=environment).err

    train = ["train", data, "--model", "popularity", "--out", tmp_path / "m"]
    if "GOMP_SPINCOUNT" not in waiting(train):
        pytest.skip("another runtime than libgomp, as with clang")
    assert "GOMP_SPINCOUNT = '1000'" in waiting(train)
    assert "GOMP_SPINCOUNT = '1000'" not in waiting(train, OMP_WAIT_POLICY="passive")
    assert "GOMP_SPINCOUNT = '7'" in waiting(train, GOMP_SPINCOUNT="7")
    assert "GOMP_SPINCOUNT = '1000'" not in waiting(["info", tmp_path / "m"])
