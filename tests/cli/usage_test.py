"""The command line itself: help and its examples, usage errors, ids, and the time of a start."""

import json
import os
import re
import resource
import shlex
import unittest

import tilusc
from tilusc import SOURCE, TestCase, run

COMMANDS = ["compile", "verify", "print", "run", "layout show", "layout divide", "layout compose",
            "layout equal", "layout draw", "layout view", "layout conflicts", "type codes",
            "type encode", "type list", "pack", "unpack", "bench compile", "disasm", "targets",
            "devices"]


def examples(command):
    text = run(*command.split(), "--help").text
    return [line.strip() for line in text.partition("Examples:\n")[2].splitlines()
            if line.strip().startswith("tilusc ")]


class Help(TestCase):
    def test_every_command_has_help_with_examples(self):
        for command in COMMANDS:
            result = self.answer(*command.split(), "--help")
            self.assertIn("Usage: tilusc " + command, result.text)
            self.assertTrue(examples(command), command)

    def test_these_are_all_commands(self):
        def names(*prefix):
            lines = run(*prefix, "--help").text.partition("Subcommands:\n")[2].splitlines()
            return {line.split()[0] for line in lines if re.match(r"  \S", line)
                    and not line.startswith("  tilusc")}

        listed = set()
        for name in names():
            inner = names(name)
            listed |= {f"{name} {word}" for word in inner} or {name}
        self.assertEqual(listed, set(COMMANDS))

    def test_examples_are_command_lines_that_work(self):
        for command in COMMANDS:
            for line in examples(command):
                words = shlex.split(line.partition("<")[0])[1:]
                result = run(*words, cwd=self.folder)
                # Files of the examples are not there, and a machine may lack what 3 stands for.
                allowed = (0,) if command.startswith(("layout", "type")) else (0, 1, 3)
                self.assertIn(result.code, allowed, (line, result.errors))

    def test_help_names_the_exit_codes_and_the_version(self):
        self.assertIn("Exit codes: 0 ", self.answer("--help").text)
        self.assertRegex(self.answer("--version").text, r"^tilusc \d+\.\d+\.\d+\n")


class Usage(TestCase):
    def test_what_is_not_in_the_help_is_exit_2(self):
        for args in [(), ("nonsense",), ("--nonsense",), ("layout",), ("layout", "shw", "local(2)"),
                     ("layout", "show"), ("layout", "show", "local(2)", "local(2)"),
                     ("layout", "view", "u8", "local(1)", "u8"), ("compile",), ("run",), ("bench",),
                     ("layout", "show", "local(2)", "--left"), ("type", "encode", "f16"),
                     ("layout", "view", "u8", "local(1)", "u8", "local(1)", "--bits", "x"),
                     ("layout", "view", "u8", "local(1)", "u8", "local(1)", "--bits", "-1"),
                     ("layout", "view", "u8", "local(1)", "u8", "local(1)", "--at", "0"),
                     ("layout", "view", "u8", "local(1)", "u8", "local(1)", "--at", "0,1,2"),
                     ("pack", "a.npy", "b.npy"), ("bench", "compile", "x", "--runs", "0"),
                     ("layout", "conflicts", "f16", "local(2)", "--swizzle", "1,2"),
                     ("layout", "conflicts", "f16", "local(2)", "--strides", "1,2")]:
            result = self.refused(2, "T0900", *args)
            self.assertEqual(result.out, b"")

    def test_closed_lists_of_names_are_usage_too(self):
        program = self.write("add.tilus", tilusc.ADD_ONE)
        self.refused(2, "T0501", "compile", program, "--target", "sm_42")
        self.refused(2, "T0912", "compile", program, "--emit", "elf")
        self.refused(2, "T0912", "print", program, "--emit", "ptx")
        result = run("compile", program, "--print-after", "nonsense")
        self.assertEqual(result.code, 2, result.errors)

    def test_json_makes_findings_an_array(self):
        result = run("layout", "shw", "--json")
        self.assertEqual(result.code, 2)
        finding, = json.loads(result.err)
        self.assertEqual((finding["severity"], finding["id"]), ("error", "T0900"))
        self.assertIn("--help", finding["hint"])

    def test_names_that_are_no_utf8_do_not_break_json(self):
        path = b"/nonexistent/\xff\xfe".decode("utf-8", "surrogateescape")
        result = run("verify", path, "--json")
        self.assertEqual(result.code, 3)
        self.assertEqual(json.loads(result.err)[0]["id"], "T0901")


class Ids(TestCase):
    def test_the_ids_of_the_tool_are_in_the_table_of_ids(self):
        table = (SOURCE / "src/base/diagnostic_ids.def").read_text()
        rows = dict(re.findall(r"TILUS_DIAGNOSTIC\((9\d\d), (\w+),", table))
        header = (SOURCE / "src/cli/failure.h").read_text()
        ids = {number: name for name, number in re.findall(r"(k\w+) = (9\d\d)", header)}
        self.assertEqual(ids, rows)


@unittest.skipIf(os.environ.get("TILUS_SANITIZE"), "a sanitizer's start is slower")
class Start(TestCase):
    def test_a_start_takes_milliseconds(self):
        def seconds():
            # Of the processor: the machine may do other things meanwhile.
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.answer("layout", "equal", "local(2)", "local(2)")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        self.assertLess(min(seconds() for _ in range(20)), 0.01)


if __name__ == "__main__":
    tilusc.main()
