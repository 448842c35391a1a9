"""The files of this folder are what make_reference.py makes."""
import json
import pathlib

import pytest

import make_reference

FOLDER = pathlib.Path(__file__).resolve().parent


def expect_alike(made, kept, where):
    """Rounding differs between processors: objectives agree to nine digits, metrics up to what nearly equal scores may move."""
    if isinstance(kept, dict):
        assert list(made) == list(kept), where
        for key in kept:
            if key == "rounds":
                assert (made[key] == 0) == (kept[key] == 0), where
            elif key == "test":
                for metric, value in kept[key].items():
                    assert made[key][metric] == pytest.approx(value, abs=kept["slack"].get(metric, 0) + 1e-9), (where, metric)
            elif key != "slack":
                expect_alike(made[key], kept[key], f"{where} {key}")
    elif isinstance(kept, list):
        assert len(made) == len(kept), where
        for k, (one, other) in enumerate(zip(made, kept)):
            expect_alike(one, other, f"{where}[{k}]")
    elif isinstance(kept, float):
        assert made == pytest.approx(kept, rel=1e-9), where
    else:
        assert made == kept, where


@pytest.mark.parametrize("name", make_reference.SETS)
def test_made_by_the_script(tmp_path, name):
    make_reference.make(tmp_path, name)
    names = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert names == {path.relative_to(FOLDER) for path in (FOLDER / name).rglob("*") if path.is_file()}
    for path in names:
        if path.suffix != ".json":
            assert (tmp_path / path).read_bytes() == (FOLDER / path).read_bytes(), path
    expect_alike(*(json.loads((folder / name / "reference.json").read_text()) for folder in (tmp_path, FOLDER)), name)
