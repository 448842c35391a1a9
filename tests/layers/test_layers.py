"""A folder of src/poise is a layer, with its public headers in include/poise: it may include itself and those above it in this list, and
nothing else."""
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
LAYERS = ["base", "comm", "linalg", "storage", "backend", "weighting", "data", "solver", "model", "recommend", "evaluate", "train", "search", "study",
          "report", "serve"]
DEVICE = re.compile(r'\s*#\s*include\s*"poise/backend/(cpu|cuda|reference)/')
INCLUDE = re.compile(r'\s*#\s*include\s*"poise/([^/"]+)/')


def sources(root):
    return sorted(path for top in ("include", "src") for path in (root / top / "poise").rglob("*")
                  if path.suffix in (".hpp", ".cpp", ".cu", ".cuh"))


def layer_of(path, root):
    return path.relative_to(root).parts[2]


def violations(root):
    """Each include that points down the list, or to a folder that is not in it."""
    found = []
    for path in sources(root):
        layer = layer_of(path, root)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            known = layer in LAYERS and match[1] in LAYERS
            if not known or LAYERS.index(match[1]) > LAYERS.index(layer):
                found.append(f"{path.relative_to(root)}:{number}: {layer} includes {match[1]}")
    return found


def device_includes(root):
    """Each include by which a folder other than backend knows one device's code."""
    return [f"{path.relative_to(root)}:{number}" for path in sources(root) if layer_of(path, root) != "backend"
            for number, line in enumerate(path.read_text().splitlines(), 1) if DEVICE.match(line)]


def test_dependencies_point_one_way():
    assert len(sources(ROOT)) > 200
    assert violations(ROOT) == []


def test_folders_are_layers():
    assert sorted(path.name for path in (ROOT / "src" / "poise").iterdir() if path.is_dir()) == sorted(LAYERS)


def test_public_headers_include_no_private_ones():
    headers = sorted((ROOT / "include" / "poise").rglob("*.hpp"))
    assert len(headers) > 20
    for header in headers:
        for name in re.findall(r'#\s*include\s*"([^"]+)"', header.read_text()):
            assert (ROOT / "include" / name).exists(), f"{header.relative_to(ROOT)} includes {name}"


def test_each_is_a_library():
    assert re.findall(r"^poise_layer\((\w+)", (ROOT / "cmake" / "layers.cmake").read_text(), re.M) == LAYERS


def test_a_planted_cycle_is_found(tmp_path):
    for name, text in {"linalg/a.hpp": '#include "poise/base/b.hpp"\n#include "poise/search/c.hpp"\n', "base/b.hpp": "",
                       "search/c.hpp": '#include "poise/linalg/a.hpp"\n', "model/deep/d.cu": '  #  include "poise/train/e.hpp"\n',
                       "train/e.hpp": '#include "poise/elsewhere/f.hpp"\n'}.items():
        path = tmp_path / "src" / "poise" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert violations(tmp_path) == ["src/poise/linalg/a.hpp:2: linalg includes search", "src/poise/model/deep/d.cu:1: model includes train",
                                    "src/poise/train/e.hpp:1: train includes elsewhere"]


def test_devices_are_known_to_backend_alone(tmp_path):
    assert device_includes(ROOT) == []
    for name in ("backend/a.cpp", "model/b.cpp"):
        path = tmp_path / "src" / "poise" / name
        path.parent.mkdir(parents=True)
        path.write_text('#include <vector>\n#include "poise/backend/cpu/row_solver.hpp"\n')
    assert device_includes(tmp_path) == ["src/poise/model/b.cpp:2"]
