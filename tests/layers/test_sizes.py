"""Files and functions stay small enough to be read at once."""
import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FOLDERS = ["app", "include", "python", "src"]
CPP = (".hpp", ".cpp", ".cu", ".cuh")
LINES_OF_A_FILE, LINES_OF_A_FUNCTION, LINES_OF_PCG = 350, 80, 60

# Strings, characters and comments, which may hold braces, and the preprocessor's lines. (1'000 holds no character.)
NO_CODE = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/'
                     r'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.S | re.M)


def cpp_functions(text):
    """Name and number of lines, from the signature to the last brace, of each function with a body; a lambda is part of what it stands in."""
    code = NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    found, depth, begin = [], 0, 0
    inside, value = None, None  # how deep the function, and the value in braces outside of any, was opened
    for at, character in enumerate(code):
        free = inside is None and value is None
        if character == "{":
            head = code[begin:at]
            if free and head.rstrip()[-1:] in ("=", "(", ","):
                value = depth  # a default, for one
            elif free and "(" in head and "=" not in head.split("(")[0].replace("operator", ""):
                inside = depth
                name = re.search(r"([\w~]+)\s*\(", head)
                found.append([name[1] if name else "operator", code.count("\n", 0, begin + len(head) - len(head.lstrip()))])
            elif free:
                begin = at + 1
            depth += 1
        elif character == "}":
            depth -= 1
            # After the braces of a constructor's member, its next member or its body follows.
            if inside == depth and code[at + 1:at + 100].lstrip()[:1] not in (",", "{"):
                found[-1][1] = code.count("\n", 0, at) - found[-1][1] + 1
                inside, begin = None, at + 1
            elif value == depth:
                value = None
            elif free:
                begin = at + 1
        elif character == ";" and free:
            begin = at + 1
    assert depth == 0 and inside is None, "braces that do not match"
    return [tuple(each) for each in found]


def python_functions(text):
    """Name and number of lines of each function, without its documentation, which in C++ stands before a function."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            first = node.body[0]
            documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
            found.append((node.name, node.end_lineno - node.lineno + 1 - (first.end_lineno - first.lineno + 1 if documented else 0)))
    return found


def too_long(root):
    """What is longer than it may be."""
    found = []
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in (*CPP, ".py", ".js", ".css", ".html")):
        text = path.read_text()
        name = path.relative_to(root).as_posix()
        if text.count("\n") > LINES_OF_A_FILE:
            found.append(f"{name}: {text.count(chr(10))} lines")
        functions = cpp_functions(text) if path.suffix in CPP else python_functions(text) if path.suffix == ".py" else []
        for function, lines in functions:
            if lines > (LINES_OF_PCG if function == "pcg" else LINES_OF_A_FUNCTION):
                found.append(f"{name}: {function} has {lines} lines")
    return found


def test_nothing_is_too_long():
    assert too_long(ROOT) == []


def test_functions_are_found():
    pcg = dict(cpp_functions((ROOT / "src" / "poise" / "solver" / "pcg.cpp").read_text()))["pcg"]
    assert 10 < pcg <= LINES_OF_PCG
    text = '''namespace poise {
#define BRACE {
class A : public B {
  A(int x) : x_{x}, y_{f(x)} {
    // }
    g("}", '{', 1'000);
  }
  bool operator==(const A&) const = default;
  int size(std::vector<int> of = {}, int by = 1) const { return 3; }
};
template <class T>
std::vector<T> twice(const std::vector<T>& values, int by = 2) {
  return map(values, [&](T value) {
    return value * by;
  });
}
constexpr int table[] = {
    f(1),
};
}  // namespace poise
'''
    assert cpp_functions(text) == [("A", 4), ("size", 1), ("twice", 6)]


@pytest.mark.parametrize("name, begin, line, times, end, said", [
    ("src/a.cpp", "void f() {\n", "  g();\n", 79, "}\n", "f has 81 lines"),
    ("app/deep/a.hpp", "struct A {\n  void f() {\n", "    g();\n", 79, "  }\n};\n", "f has 81 lines"),
    ("src/pcg.cu", "int pcg(int x,\n        int y) {\n", "  g();\n", 58, "}\n", "pcg has 61 lines"),
    ("python/a.py", "class A:\n    def f(self):\n", "        g()\n", 80, "", "f has 81 lines"),
    ("python/a.py", 'def f():\n    """One\n    two."""\n', "    g()\n", 80, "", "f has 81 lines"),
    ("include/a.hpp", "", "// A comment.\n", 351, "", "351 lines"),
    ("src/a.js", "", "f();\n", 351, "", "351 lines"),
])
def test_what_is_too_long_is_found(tmp_path, name, begin, line, times, end, said):
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(begin + line * times + end)
    assert too_long(tmp_path) == [f"{name}: {said}"]
    path.write_text(begin + line * (times - 1) + end)
    assert too_long(tmp_path) == []
