"""Tests of the structure checks themselves: what is forbidden is caught and named."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import include_arrows
import public_header
import symbols
import top_level


class Tree:
    """A temporary source tree."""

    def __init__(self, files):
        self._folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self._folder.name)
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def __enter__(self):
        return self.root

    def __exit__(self, *error):
        self._folder.cleanup()


HEADERS = {f"src/{folder}/a.h": "#pragma once\n" for folder in include_arrows.MAY_USE}


class IncludeArrowsTest(unittest.TestCase):
    def problems(self, files):
        with Tree({**HEADERS, **files}) as root:
            return include_arrows.check_tree(root)

    def test_arrows_and_what_they_lead_to_are_allowed(self):
        self.assertEqual(self.problems({
            "src/ir/b.cc": '#include "ir/a.h"\n#include "layout/a.h"\n#include "base/a.h"\n',
            "src/capi/b.cc": '#include "tilus.h"\n#include "simulate/a.h"\n',
            "include/tilus.h": "",
        }), [])

    def test_a_forbidden_include_is_named_with_file_and_line(self):
        self.assertEqual(self.problems({"src/ir/b.cc": '\n#include "wire/a.h"\n'}), [
            "src/ir/b.cc:2: src/ir may use base, layout, types, not src/wire"])

    def test_every_folder_is_refused_everywhere_outside_its_closure(self):
        arrows = [(folder, target) for folder in include_arrows.MAY_USE
                  for target in include_arrows.MAY_USE]
        problems = self.problems({f"src/{folder}/to_{target}.cc": f'#  include "{target}/a.h"\n'
                                  for folder, target in arrows})
        self.assertEqual(
            {problem.split(":")[0] for problem in problems},
            {f"src/{folder}/to_{target}.cc" for folder, target in arrows
             if target not in include_arrows.reachable(folder)})

    def test_the_tool_sees_the_public_header_alone(self):
        problems = self.problems({
            "src/cli/b.cc": '#include "tilus.h"\n#include <absl/status/status.h>\n'
                            '#include "base/a.h"\n',
            "include/tilus.h": ""})
        self.assertEqual([problem.split(": ")[0] for problem in problems],
                         ["src/cli/b.cc:2", "src/cli/b.cc:3"])

    def test_the_public_header_and_the_schema_stay_at_the_edge(self):
        problems = self.problems({
            "src/ir/b.cc": '#include "tilus.h"\n#include "tilus/v1/program.pb.h"\n',
            "src/wire/b.cc": '#include "tilus/v1/program.pb.h"\n',
            "include/tilus.h": ""})
        self.assertEqual([problem.split(": ")[0] for problem in problems],
                         ["src/ir/b.cc:1", "src/ir/b.cc:2"])

    def test_an_include_that_does_not_exist_is_refused(self):
        self.assertEqual(len(self.problems({"src/ir/b.cc": '#include "ir/none.h"\n'})), 1)

    def test_an_unknown_folder_is_refused(self):
        self.assertEqual(self.problems({"src/extra/b.cc": ""}),
                         ["src/extra: not in the table of MAY_USE"])

    def test_the_table_has_no_cycle(self):
        for folder, targets in include_arrows.MAY_USE.items():
            for target in targets:
                self.assertNotIn(folder, include_arrows.reachable(target))


class TopLevelTest(unittest.TestCase):
    FILES = {"CMakeLists.txt": "", "LICENSE": "", "README.md": "", ".ci/run": "", "build/x": ""}

    def test_the_allowed_entries_pass(self):
        with Tree(self.FILES) as root:
            self.assertEqual(top_level.check_tree(root), [])

    def test_another_entry_is_refused(self):
        with Tree({**self.FILES, "docs/a.md": ""}) as root:
            self.assertEqual(top_level.check_tree(root),
                             ["docs: not an entry that the top level may have"])


class PublicHeaderTest(unittest.TestCase):
    def test_functions_are_read_and_nothing_else(self):
        declared, unmarked = public_header.functions('''
            #ifdef __cplusplus
            extern "C" {
            #endif
            #define TILUS_CALL(x) \\
              tilus_hidden(x);
            /* tilus_comment(void); */
            typedef struct tilus_context tilus_context;
            typedef void (*tilus_log_fn)(void *user, const char *text);
            typedef enum tilus_kind { TILUS_A = 0, TILUS_B = 1 } tilus_kind;
            struct tilus_leaf { uint32_t struct_size; void (*call)(int); };
            TILUS_API uint32_t tilus_version(void);
            TILUS_API tilus_error *tilus_compile(tilus_context *ctx,
                                                 tilus_buffer program, tilus_module **module);
            const char *tilus_forgotten(const tilus_error *error);
            #ifdef __cplusplus
            }
            #endif
        ''')
        self.assertEqual(declared, {"tilus_version", "tilus_compile", "tilus_forgotten"})
        self.assertEqual(unmarked, {"tilus_forgotten"})


class SymbolsTest(unittest.TestCase):
    """Libraries made of one source file, each breaking one rule."""

    HEADER = "#define TILUS_API\nTILUS_API int tilus_a(int);\nTILUS_API int tilus_b(int);\n"
    GOOD = ('extern "C" int tilus_a(int x) { return x; }\n'
            'extern "C" int tilus_b(int x) { return x; }\n')
    MAP = "TILUS_0 { global: tilus_*; local: *; };"

    def problems(self, source, version_script=MAP, soname="libtilus.so.0"):
        with Tree({"tilus.h": self.HEADER, "src/a.cc": source, "map": version_script}) as root:
            library, compiler = root / "libtilus.so", os.environ.get("CXX", "g++")
            command = [compiler, "-O2", "-fPIC", "-c", "src/a.cc", "-o", "src/a.o"]
            subprocess.run(command, cwd=root, check=True)
            subprocess.run([compiler, "-shared", "src/a.o", "-o", library,
                            "-Wl,--version-script=map", f"-Wl,-soname,{soname}"],
                           cwd=root, check=True)
            (root / "compile_commands.json").write_text(json.dumps([
                {"directory": str(root), "file": "src/a.cc", "command": " ".join(command)}]))
            return (symbols.check_exports(library, [root / "tilus.h"]) +
                    symbols.check_dynamic_section(library) +
                    symbols.check_initialisers(library, root / "compile_commands.json"))

    def test_the_declared_functions_and_the_streams_of_abseil_pass(self):
        self.assertEqual(self.problems(self.GOOD), [])
        self.assertEqual(self.problems("#include <iostream>\n" + self.GOOD), [])

    def test_a_missing_and_a_superfluous_function_are_named(self):
        self.assertEqual(
            sorted(self.problems(self.GOOD.replace("tilus_b", "tilus_c"))),
            ["tilus_b: declared but not exported", "tilus_c: exported but not declared"])

    def test_only_functions_leave_the_library(self):
        for symbol in ("int tilus_b = 1;",
                       "__attribute__((weak)) int tilus_b(int x) { return x; }"):
            source = self.GOOD.splitlines()[0] + f'\nextern "C" {{ {symbol} }}\n'
            self.assertRegex(" ".join(self.problems(source)), "tilus_b: exported as '[DVWB]'")

    def test_another_version_node_or_soname_is_refused(self):
        self.assertIn("there is no version node TILUS_0",
                      self.problems(self.GOOD, self.MAP.replace("TILUS_0", "TILUS_1")))
        self.assertEqual(self.problems(self.GOOD, soname="libtilus.so.1"),
                         ["SONAME is libtilus.so.1, not libtilus.so.0"])

    def test_a_static_initialiser_is_named(self):
        for initialiser in ("static volatile int y; static int x = y + 1; int f() { return x++; }",
                            "#include <vector>\nstatic std::vector<int> x(3);"
                            " int f(int i) { return x[i]; }"):
            for streams in ("", "#include <iostream>\n"):
                problems = self.problems(streams + initialiser + "\n" + self.GOOD)
                self.assertIn("src/a.cc: has a static initialiser", problems, streams + initialiser)


if __name__ == "__main__":
    unittest.main()
