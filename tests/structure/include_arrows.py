"""Checks which folder of src includes which: the table of "may use" arrows.

usage: include_arrows.py ROOT

Prints FILE:LINE and the reason for each forbidden include and exits 1 when there is one. The check
is over the text of #include lines, so it needs no build.
"""

import pathlib
import re
import sys

# Folder -> folders it may include directly; what those may use is allowed too.
MAY_USE = {
    "base": [],
    "layout": ["base"],
    "types": ["base"],
    "ir": ["layout", "types"],
    "wire": ["ir"],
    "passes": ["ir"],
    "machine": ["types"],
    "lower": ["ir", "machine"],
    "ptx": ["machine"],
    "compile": ["wire", "passes", "lower", "ptx"],
    "assemble": ["machine"],
    "interpret": ["ir"],
    "simulate": ["machine"],
    "driver": ["base"],
    "host": ["interpret", "simulate"],
    "kernels": ["ir"],
    "cache": ["kernels", "driver"],
    "tune": ["kernels", "driver"],
    "operator": ["kernels", "driver", "tune"],
    "import": ["kernels", "driver", "tune"],
    "cli": [],
}
# The C API is made of every folder except the tool, which is written on the public header alone.
MAY_USE["capi"] = [folder for folder in MAY_USE if folder != "cli"]

# What only some folders may include: pattern of the included name -> those folders.
ONLY_IN = [
    (re.compile(r"tilus\.h|tilus/.*(?<!\.pb)\.h"), {"capi", "cli"}),
    (re.compile(r".*\.pb\.h|google/protobuf/.*"), {"wire", "capi"}),
    (re.compile(r"nlohmann/.*|CLI/.*"), {"cli"}),
    (re.compile(r"absl/.*"), set(MAY_USE) - {"cli"}),
    (re.compile(r"iostream|regex"), {"cli"}),
    (re.compile(r"cuda\.h|cuda_runtime.*|nvJitLink\.h"), set()),
]

# Libraries whose headers are included in quotes too.
OUTSIDE = re.compile(r"(absl|google|nlohmann|CLI|gtest|gmock)/.*|xxhash\.h|.*\.pb\.h")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def reachable(folder, may_use=None):
    """The folders that FOLDER may include: itself and everything its arrows lead to."""
    may_use = MAY_USE if may_use is None else may_use
    seen, todo = set(), [folder]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo.extend(may_use[current])
    return seen


def check_include(folder, name, root):
    """None when FOLDER may include NAME, else the reason it may not."""
    target = name.split("/", 1)[0]
    if "/" in name and target in MAY_USE and (root / "src" / target).is_dir():
        if target in reachable(folder):
            return None
        allowed = ", ".join(sorted(reachable(folder) - {folder})) or "no other folder"
        return f"src/{folder} may use {allowed}, not src/{target}"
    for pattern, folders in ONLY_IN:
        if pattern.fullmatch(name) and folder not in folders:
            where = "src/" + ", src/".join(sorted(folders)) if folders else "no folder"
            return f"{name} may be included in {where} only"
    return None


def check_file(path, folder, root):
    """Problems of one file as 'FILE:LINE: reason' strings."""
    problems = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, name = match.groups()
        reason = check_include(folder, name, root)
        if reason is None and quote == '"' and not OUTSIDE.fullmatch(name):
            if not any((root / base / name).is_file() for base in ("src", "include")):
                reason = f'"{name}" is neither in src nor in include'
        if reason:
            problems.append(f"{path.relative_to(root)}:{number}: {reason}")
    return problems


def check_tree(root):
    problems = []
    for folder in sorted(path for path in (root / "src").iterdir() if path.is_dir()):
        if folder.name not in MAY_USE:
            problems.append(f"src/{folder.name}: not in the table of MAY_USE")
            continue
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".h", ".cc", ".c", ".def", ".inc"):
                problems.extend(check_file(path, folder.name, root))
    return problems


def main(argv):
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    problems = check_tree(pathlib.Path(argv[1]))
    print("\n".join(problems) or "every include follows the table")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
