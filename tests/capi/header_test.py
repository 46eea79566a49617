"""Checks the public headers as a C user meets them.

usage: header_test.py compile  INCLUDE_DIR CC CXX
       header_test.py comments INCLUDE_DIR DIAGNOSTIC_IDS
       header_test.py examples INCLUDE_DIR CC LIBRARY [FLAG...]

compile: each header, included twice and alone, as C99, C11 and C++17 without a warning.
comments: each function ends its comment with the five fields that section 2 promises, and the
diagnostics they name exist.
examples: each ```c block of the comments is a C99 program; it compiles without a warning and exits
with 0.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]


def headers(include):
    return sorted(pathlib.Path(include).rglob("*.h"))


def run(*command, **keywords):
    """(succeeded, what it printed)."""
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", **keywords)
    return result.returncode == 0, f"{' '.join(command)}: exit {result.returncode}\n{result.stdout}"


def check_compile(include, cc, cxx):
    problems = []
    languages = [(cc, "c", "c99"), (cc, "c", "c11"), (cxx, "c++", "c++17")]
    for header in headers(include):
        name = header.relative_to(include)
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "twice")
            source.write_text(f"#include <{name}>\n#include <{name}>\n#include <tilus.h>\n"
                              "typedef int not_empty;\n")
            for compiler, language, standard in languages:
                good, output = run(compiler, "-x", language, f"-std={standard}", *STRICT, "-I",
                                   include, "-fsyntax-only", str(source))
                if not good:
                    problems.append(output)
    return problems


def documented_functions(text):
    """(name, comment) of each function, the comment's lines joined."""
    pattern = re.compile(r"((?:^///.*\n)*)^TILUS_API [^;]*?\b(tilus_\w+)\(", re.MULTILINE)
    for match in pattern.finditer(text):
        lines = [line[3:].strip() for line in match.group(1).splitlines()]
        yield match.group(2), " ".join(lines)


def check_comment(name, comment):
    match = re.search(r"\[(\d+\.\d+) \|([^\[\]]*)\]$", comment)
    if not match:
        return f"{name}: the comment does not end with [version | ...]"
    fields = [field.strip() for field in match.group(2).split("|")]
    if len(fields) != 4 or not all(fields):
        return f"{name}: {len(fields)} fields after the version, not 4"
    if fields[1] not in ("any thread", "one thread"):
        return f"{name}: the thread rule is '{fields[1]}'"
    return None


def check_comments(include, ids_file):
    ids = set(re.findall(r"^TILUS_DIAGNOSTIC\((\d+),", pathlib.Path(ids_file).read_text(),
                         re.MULTILINE))
    problems, count = [], 0
    for header in headers(include):
        text = header.read_text()
        declared = len(re.findall(r"^TILUS_API ", text, re.MULTILINE))
        found = list(documented_functions(text))
        count += len(found)
        if declared != len(found):
            problems.append(f"{header.name}: {declared} functions, {len(found)} understood")
        problems += filter(None, (check_comment(*function) for function in found))
        for number in re.findall(r"\bT(\d{4})\b", text):
            if str(int(number)) not in ids:
                problems.append(f"{header.name}: T{number} is no diagnostic")
    if count == 0:
        problems.append("no functions found")
    return problems


def examples(include):
    for header in headers(include):
        text = header.read_text()
        for number, match in enumerate(
                re.finditer(r"^// ```c\n(.*?)^// ```$", text, re.MULTILINE | re.DOTALL), 1):
            code = re.sub(r"^// ?", "", match.group(1), flags=re.MULTILINE)
            yield f"{header.stem}_{number}", code


def check_examples(include, cc, library, *flags):
    problems, count = [], 0
    folder_of_library = str(pathlib.Path(library).parent)
    with tempfile.TemporaryDirectory() as folder:
        for name, code in examples(include):
            count += 1
            source, program = pathlib.Path(folder, name + ".c"), pathlib.Path(folder, name)
            source.write_text(code)
            good, output = run(cc, "-std=c99", *STRICT, *flags, "-I", include, str(source),
                               library, f"-Wl,-rpath,{folder_of_library}", "-o", str(program))
            if good:
                good, output = run(str(program), timeout=60)
            if not good:
                problems.append(f"{name}: {output}")
    if count < 4:
        problems.append(f"only {count} examples found")
    return problems


CHECKS = {"compile": check_compile, "comments": check_comments, "examples": check_examples}


def main(argv):
    if len(argv) < 4 or argv[1] not in CHECKS:
        print(__doc__, file=sys.stderr)
        return 2
    problems = CHECKS[argv[1]](*argv[2:])
    print("\n".join(problems) or "ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
