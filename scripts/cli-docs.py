#!/usr/bin/env python3
"""Writes docs/cli.md from the program's help: `scripts/cli-docs.py build/release/bin/poise`.

With --check it writes nothing, and exits with 1 if the file is not current. With --man FOLDER it writes the manual pages poise.1 and
poise-COMMAND.1 there instead."""
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).parents[1] / "docs" / "cli.md"

HEAD = """# The program

Written by `scripts/cli-docs.py` from the program's own help; change the declarations, not this page. The parameters of models are
declared in `src/poise/model/*/family.cpp`, `src/poise/model/parameters.cpp` and `src/poise/weighting/weighting.cpp`, the other flags
in `app/`. Below is `poise COMMAND --help all`; `poise COMMAND --help` is one screen with the main options. A config file (`--config`) sets any flag by
its name without the dashes.

"""


def said(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout.rstrip()


def commands(program):
    usage = said(program, "--help")
    return usage, [line.split(maxsplit=1) for line in usage.split("Commands:\n")[1].split("\n\n")[0].split("\n")]


def page(program):
    usage, listed = commands(program)
    text = f"{HEAD}```text\n{usage}\n```\n"
    for command, _ in listed:
        text += f"\n## poise {command}\n\n```text\n{said(program, command, '--help', 'all')}\n```\n"
    return text


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def head(name, version, summary):
    return f'.TH {name.upper()} 1 "" "Poise {version}" "Poise"\n.SH NAME\n{roff(name)} \\- {roff(summary)}\n.SH SYNOPSIS\n'


def man_options(lines):
    """The lines of a help text after its usage: groups of options, then examples as they are."""
    text, verbatim = "", False
    for line in lines:
        if re.match(r"\S.*:$", line):
            text += ".fi\n" if verbatim else ""
            verbatim = line.startswith("Example")
            text += f".SH {roff(line[:-1].upper())}\n" + (".nf\n" if verbatim else "")
        elif verbatim:
            text += roff(line) + "\n"
        elif match := re.match(r"  (\S.*?)(?:\s{2,}(\S.*))?$", line):
            text += f".TP\n.B {roff(match[1])}\n" + (f"{roff(match[2])}\n" if match[2] else "")
        elif line.strip():
            text += roff(line.strip()) + "\n"
    return text + (".fi\n" if verbatim else "")


def man_pages(program):
    """Each page by its file's name."""
    version = said(program, "--version").split()[1]
    usage, listed = commands(program)
    title = usage.split("\n")[0].split(": ", 1)[1]
    pages = {}
    text = head("poise", version, title) + ".B poise\nCOMMAND [OPTIONS]\n.SH COMMANDS\n"
    for command, summary in listed:
        text += f".TP\n.BR poise\\-{command} (1)\n{roff(summary)}\n"
        _, used, details = said(program, command, "--help", "all").split("\n\n", 2)
        synopsis = roff(" ".join(used.split()[1:]))
        pages[f"poise-{command}.1"] = (
            head(f"poise-{command}", version, summary) + f".B {synopsis}\n" + man_options(details.splitlines())
            + ".SH SEE ALSO\n.BR poise (1)\n"
        )
    text += ".SH EXIT STATUS\n0 done, 2 bad flags, 3 bad input, 4 resources, 5 numerical failure, 130 interrupted.\n"
    pages["poise.1"] = text + man_options(usage.split("\n\n")[-1].splitlines())
    return pages


def main():
    program, *rest = sys.argv[1:]
    if rest[:1] == ["--man"]:
        folder = pathlib.Path(rest[1])
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in man_pages(program).items():
            (folder / name).write_text(text)
        return
    text = page(program)
    if rest == ["--check"]:
        if PAGE.read_text() != text:
            sys.exit(f"{PAGE.name} is not what the program says; run scripts/cli-docs.py {program}")
        return
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
