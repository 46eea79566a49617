"""Checks the shared library against the public headers and against the rules of its ABI.

usage: symbols.py LIBRARY COMPILE_COMMANDS HEADER...

Exported symbols are exactly the declared functions, all at one version node; the SONAME, the
libraries needed, the size, and the static initialisers are as the lists below say.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import public_header

SONAME = "libtilus.so.0"
VERSION_NODE = "TILUS_0"
MAX_STRIPPED_BYTES = 6 * 1000 * 1000
# The lite runtime only: with the full one a host that links its own copy of the schema aborts.
NEEDED = re.compile(
    r"(libprotobuf-lite|libabsl_\w+|libstdc\+\+|libgcc_s|libm|libc|ld-linux-x86-64|ld-linux-aarch64"
    r"|libpthread|libdl|librt)\.so.*")
# Translation units that may run code when the library is loaded, by the end of their path.
# Generated protobuf code registers default instances.
MAY_INITIALISE = (".pb.cc",)
# What the initialiser of any other one may refer to: the standard streams, which Abseil's status.h
# brings in by including <iostream>.
STREAMS = {"_ZNSt8ios_base4InitC1Ev", "_ZNSt8ios_base4InitD1Ev", "_ZStL8__ioinit", "__cxa_atexit",
           "__dso_handle"}


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(library):
    """{name: (type letter, version)} of the dynamic symbols that LIBRARY defines."""
    symbols = {}
    for line in output_of("nm", "-D", "--defined-only", "--with-symbol-versions",
                          library).splitlines():
        kind, full_name = line.split()[-2:]
        name, _, version = full_name.partition("@")
        symbols[name] = (kind, version.lstrip("@"))
    return symbols


def check_exports(library, headers):
    declared, problems = set(), []
    for header in headers:
        functions, unmarked = public_header.functions(pathlib.Path(header).read_text())
        declared |= functions
        problems += [f"{name}: declared in {header} without TILUS_API" for name in unmarked]
    symbols = exported(library)
    version_node = symbols.pop(VERSION_NODE, None)
    if version_node is None:
        problems.append(f"there is no version node {VERSION_NODE}")
    problems += [f"{name}: declared but not exported" for name in declared - set(symbols)]
    problems += [f"{name}: exported but not declared" for name in set(symbols) - declared]
    for name, (kind, version) in symbols.items():
        if kind != "T":
            problems.append(f"{name}: exported as '{kind}', but only functions (T) may be")
        if version != VERSION_NODE:
            problems.append(f"{name}: at version '{version}', not {VERSION_NODE}")
    if not declared:
        problems.append("the headers declare no function")
    return problems


def check_dynamic_section(library):
    dynamic = output_of("readelf", "-dW", library)
    problems = []
    soname = re.search(r"\(SONAME\).*\[(.*)\]", dynamic)
    if not soname or soname.group(1) != SONAME:
        problems.append(f"SONAME is {soname.group(1) if soname else 'absent'}, not {SONAME}")
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if not NEEDED.fullmatch(name):
            problems.append(f"{name}: a library that must not be needed")
    if "(TEXTREL)" in dynamic:
        problems.append("text relocations: some object was not compiled as PIC")
    return problems


def check_size(library):
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, library], check=True)
        size = pathlib.Path(stripped.name).stat().st_size
    if size > MAX_STRIPPED_BYTES:
        return [f"{size} bytes stripped, more than {MAX_STRIPPED_BYTES}"]
    return []


def section_bytes(path, section):
    """Size of SECTION (all of that name or with a priority suffix) in an object or library."""
    total = 0
    for line in output_of("readelf", "-SW", path).splitlines():
        match = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)", line)
        if match and (match.group(1) == section or match.group(1).startswith(section + ".")):
            total += int(match.group(2), 16)
    return total


def library_objects(compile_commands):
    """(source, object) of each compilation that may be linked into the library."""
    for entry in json.loads(pathlib.Path(compile_commands).read_text()):
        output = re.search(r" -o (src/(?!cli/)\S+)", entry["command"])
        if output:
            path = pathlib.Path(entry["directory"]) / output.group(1)
            if path.exists():
                yield entry["file"], path


def initialises_streams_only(path):
    """Whether the initialiser of an object does nothing but set up the standard streams."""
    names = {line.split()[-1] for line in output_of("nm", path).splitlines()}
    disassembly = "".join(
        output_of("objdump", "-dr", f"--disassemble={name}", path) for name in names
        if name.startswith(("_GLOBAL__sub_I", "_Z41__static_initialization_and_destruction_0")))
    references = set(re.findall(r"R_\w+\s+(\S+)", disassembly))
    # Its one static object; references are relative to .bss, or to the symbol less four bytes.
    objects = {name for name in references if name.startswith(".bss")}
    others = {re.sub(r"[+-]0x[0-9a-f]+$", "", name) for name in references - objects}
    own = {name for name in others if name in names and name not in STREAMS and
           name.startswith(("_Z41__static_initialization", "_GLOBAL__sub_I", ".text"))}
    return len(objects) <= 1 and others - own <= STREAMS


def check_initialisers(library, compile_commands):
    problems, allowed_bytes, seen = [], 0, 0
    for source, path in library_objects(compile_commands):
        seen += 1
        size = section_bytes(path, ".init_array") + section_bytes(path, ".ctors")
        if not size:
            continue
        if source.endswith(MAY_INITIALISE) or initialises_streams_only(path):
            allowed_bytes += size
        else:
            problems.append(f"{source}: has a static initialiser")
    if not seen:
        problems.append("no objects of src were found in compile_commands.json")
    # One more entry is the C runtime's own (frame_dummy); anything else came in with an archive.
    if section_bytes(library, ".init_array") > allowed_bytes + 8:
        problems.append("the library has initialisers that none of its own sources explain")
    return problems


def main(argv):
    if len(argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    library, compile_commands, headers = argv[1], argv[2], argv[3:]
    problems = (check_exports(library, headers) + check_dynamic_section(library) +
                check_size(library) + check_initialisers(library, compile_commands))
    print("\n".join(sorted(problems)) or "the library exports what its headers declare")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
