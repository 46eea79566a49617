"""Checks that the top level of the tree holds only the entries that the design names.

usage: top_level.py ROOT

Dot-files are free; build is where the presets build and is not part of the tree.
"""

import pathlib
import sys

ALLOWED = {
    "CMakeLists.txt", "CMakePresets.json", "CHANGELOG.md", "README.md", "LICENSE",
    "include", "src", "bindings", "proto", "tests", "examples", "packaging",
}
NOT_PART_OF_THE_TREE = {"build"}


def check_tree(root):
    """Problems with the entries of ROOT, as strings."""
    entries = {path.name for path in root.iterdir() if not path.name.startswith(".")}
    problems = [f"{name}: not an entry that the top level may have"
                for name in sorted(entries - ALLOWED - NOT_PART_OF_THE_TREE)]
    problems += [f"{name}: missing"
                 for name in ("CMakeLists.txt", "LICENSE", "README.md") if name not in entries]
    return problems


def main(argv):
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    problems = check_tree(pathlib.Path(argv[1]))
    print("\n".join(problems) or "the top level holds what it may")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
