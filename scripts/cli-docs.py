#!/usr/bin/env python3
"""Writes docs/cli.md from the program's help: `scripts/cli-docs.py build/release/bin/poise`.

With --check it writes nothing, and exits with 1 if the file is not current."""
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).parents[1] / "docs" / "cli.md"

HEAD = """# The program

Written by `scripts/cli-docs.py` from the program's own help; change the declarations, not this page. The parameters of models are
declared in `src/poise/model/*/family.cpp`, `src/poise/model/parameters.cpp` and `src/poise/weighting/weighting.cpp`, the other flags
in `app/`. A config file (`--config`) sets any flag by its name without the dashes.

"""


def said(program, *arguments):
    text = subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout
    # The default number of threads depends on the machine.
    return re.sub(r"(--threads INT) \[\d+\]", r"\1 [all]    ", text).rstrip()


def page(program):
    usage = said(program, "--help")
    commands = [line.split()[0] for line in usage.split("Commands:\n")[1].split("\n\n")[0].split("\n")]
    text = f"{HEAD}```text\n{usage}\n```\n"
    for command in commands:
        lines = said(program, command, "--help").splitlines()
        body = "\n".join(line.rstrip() for line in lines).strip()
        text += f"\n## poise {command}\n\n```text\n{body}\n```\n"
    return text


def main():
    program, *rest = sys.argv[1:]
    text = page(program)
    if rest == ["--check"]:
        if PAGE.read_text() != text:
            sys.exit(f"{PAGE.name} is not what the program says; run scripts/cli-docs.py {program}")
        return
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
