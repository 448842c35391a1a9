"""docs/paper-map.md names what there is: every file, and every function and test, in the file that is named before it; a member of a class
(`Backend::invert_spd`) needs no file. All documents name files that exist."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
SUFFIXES = (".cpp", ".hpp", ".cu", ".cuh", ".py")


def named(cell):
    """The texts in backquotes, without command-line flags."""
    return [name for name in re.findall(r"`([^`]+)`", cell) if not name.startswith("-")]


def find(name, root):
    """The file or folder of a name: below the root, src/poise or include/poise."""
    return next((path for path in (root / name, root / "src/poise" / name, root / "include/poise" / name) if path.exists()), None)


def text_of(path):
    files = [each for each in path.rglob("*") if each.suffix in SUFFIXES] if path.is_dir() else [path]
    return "\n".join(each.read_text() for each in files)


def missing(table, root):
    """What the table's columns of code and tests name and the tree does not have."""
    found = []
    whole = text_of(root / "src" / "poise")
    for row in table.splitlines():
        cells = re.split(r"(?<!\\)\|", row)[2:-1]
        for cell in cells if row.startswith("|") else []:
            file, text = "the row", ""
            for name in named(cell):
                if "/" in name or name.endswith(SUFFIXES):
                    # A list in brackets after a folder has names of files in it.
                    path = find(name, root) or (find(f"{file}/{name}", root) if text else None)
                    if path is None:
                        found.append(f"there is no {name}")
                        continue
                    if "/" in name:
                        file = name.rstrip("/")
                    text = text_of(path)
                    continue
                where = whole if "::" in name else text
                if not all(re.search(rf"\b{part}\b", where) for part in name.split("::")):
                    found.append(f"{file} has no {name}")
    return found


def test_everything_it_names_exists():
    table = (ROOT / "docs" / "paper-map.md").read_text()
    assert len(re.findall(r"^\| ", table, re.M)) > 40
    assert missing(table, ROOT) == []


def test_files_that_documents_name_exist():
    lost = []
    for document in [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for name in re.findall(r"`([\w./-]+/[\w.-]+\.(?:cpp|hpp|cu|cuh|py|cmake|sh|js|json|md))`", document.read_text()):
            beside = any(path.as_posix().endswith("/" + name) for path in (ROOT / "src" / "poise").rglob(pathlib.PurePath(name).name))
            if find(name, ROOT) is None and not beside and "NAME" not in name:
                lost.append(f"{document.relative_to(ROOT)}: {name}")
    assert lost == []


@pytest.mark.parametrize("cell, said", [
    ("`solver/pcg.hpp` `pcg`", []),
    ("`solver/no.hpp` `pcg`", ["there is no solver/no.hpp", "the row has no pcg"]),
    ("`solver/pcg.hpp` `no_such_function`", ["solver/pcg.hpp has no no_such_function"]),
    ("`Backend::solve_rows`", []),
    ("`Backend::no_such_primitive`", ["the row has no Backend::no_such_primitive"]),
    ("`a_function_of_no_file`", ["the row has no a_function_of_no_file"]),
    ("`model/neighbours/` (`fit.hpp`, `no.hpp`)", ["there is no no.hpp"]),
    ("`tests/solver/pcg_test.cpp` `NoSuchTest`", ["tests/solver/pcg_test.cpp has no NoSuchTest"]),
])
def test_what_is_missing_is_found(cell, said):
    assert missing(f"| a subject | {cell} | |", ROOT) == said
