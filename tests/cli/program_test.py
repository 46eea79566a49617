"""tilusc compile, verify, print, bench and disasm."""

import json
import os
import pty
import stat
import subprocess
import sys
import unittest

import tilusc
from tilusc import ADD_ONE, SOURCE, TestCase, run, run_all

BENCH_KEYS = ["decode", "verify", "passes", "lower", "ptx", "total_to_ptx", "cubin"]
HAS_ASSEMBLER = run("targets", "--json").json["assembler"] is not None


class Print(TestCase):
    def test_text_protobuf_and_text_are_one_program(self):
        program = self.write("add.tilus", "; a comment\n\n" + ADD_ONE)
        self.assertEqual(self.answer("print", program).text, ADD_ONE)
        binary = self.folder / "add.pb"
        self.answer("print", program, "--emit", "proto", "-o", binary)
        self.assertEqual(self.answer("print", binary).text, ADD_ONE)
        self.assertEqual(self.answer("print", "-", stdin=binary.read_bytes()).text, ADD_ONE)
        printed = self.answer("print", "--emit", "json", program).json
        self.assertEqual(printed["programs"][0]["name"], "add_one")

    def test_every_example_prints_to_itself(self):
        for path in sorted((SOURCE / "examples").glob("*.tilus")):
            text = self.answer("print", path).out
            self.assertEqual(self.answer("print", "-", stdin=text).out, text, path)

    def test_a_module_gives_its_program(self):
        module = self.folder / "m"
        self.answer("compile", self.write("add.tilus", ADD_ONE), "-o", module)
        self.assertEqual(self.answer("print", module).text, ADD_ONE)


class Verify(TestCase):
    def test_a_valid_program_is_exit_0(self):
        program = self.write("add.tilus", ADD_ONE)
        self.assertEqual(self.answer("verify", program).out, b"")
        self.assertEqual(self.answer("verify", program, "--json").json,
                         {"valid": True, "kernels": ["add_one"]})

    def test_every_fault_is_reported_where_it_is(self):
        text = ADD_ONE.replace(": f32[128]", ": f32[64]").replace("[b * 128]\n}", "[b, b]\n}")
        program = self.write("bad.tilus", text)
        result = run("verify", program, "--json")
        self.assertEqual((result.code, result.out), (1, b""))
        findings = json.loads(result.err)
        self.assertEqual([(f["id"], f["line"], f["path"]) for f in findings],
                         [("T0267", 6, "add_one.body[3]"), ("T0324", 8, "add_one.body[5]")])
        for finding in findings:
            self.assertEqual(list(finding), ["severity", "id", "message", "hint", "source", "line",
                                             "column", "length", "path", "excerpt"])
            self.assertEqual((finding["severity"], finding["source"]), ("error", str(program)))

    def test_text_points_at_the_fault_with_a_caret(self):
        program = self.write("bad.tilus", ADD_ONE.replace("add a", "ad a"))
        lines = self.refused(1, "T0104", "verify", program).errors.splitlines()
        self.assertTrue(lines[0].startswith(f"{program}:7:7: error[T0104]: "), lines)
        self.assertEqual(lines[1:3], ["     c = ad a, 1.0", "         ^~"])

    def test_stdin_has_a_name(self):
        result = self.refused(1, "T0100", "verify", "-", stdin=b"program (")
        self.assertTrue(result.errors.startswith("<stdin>:1:9: "), result.errors)

    def test_color_is_for_terminals(self):
        program = self.write("bad.tilus", ADD_ONE.replace("add a", "ad a"))
        self.assertNotIn("\x1b", run("verify", program).errors)
        for env, colored in [({}, True), ({"NO_COLOR": "1"}, False)]:
            shown = self.on_a_terminal("verify", str(program), env=env)
            self.assertEqual("\x1b[1;31merror" in shown, colored, shown)

    def on_a_terminal(self, *args, env):

        child, master = pty.fork()
        if child == 0:
            os.execve(tilusc.TILUSC, [tilusc.TILUSC, *args], {**os.environ, **env})
        shown = b""
        try:
            while chunk := os.read(master, 4096):
                shown += chunk
        except OSError:  # how Linux tells that the other side is closed
            pass
        os.waitpid(child, 0)
        os.close(master)
        return shown.decode()


class Compile(TestCase):
    def setUp(self):
        super().setUp()
        self.program = self.write("add.tilus", ADD_ONE)

    def test_ptx_is_what_comes_out_by_default(self):
        ptx = self.answer("compile", self.program).text
        self.assertIn(".target sm_80\n", ptx)
        self.assertIn(".entry add_one(", ptx)
        self.assertEqual(self.answer("compile", self.program, "--emit", "ptx").text, ptx)
        out = self.folder / "a.ptx"
        self.assertEqual(self.answer("compile", self.program, "--emit", "ptx", "-o", out).out, b"")
        self.assertEqual(out.read_text(), ptx)
        self.assertEqual(self.answer("compile", "-", stdin=ADD_ONE.encode()).text, ptx)

    def test_a_module_holds_every_target(self):
        module = self.folder / "add.module"
        summary = self.answer("compile", self.program, "-o", module, "--target", "sm_80,sm_89",
                              "--target", "sm_90a", "--json").json
        self.assertEqual(summary["targets"], ["sm_80", "sm_89", "sm_90a"])
        self.assertEqual(summary["kernels"], ["add_one"])
        self.assertEqual(list(summary["stages"]), ["decode", "verify", "passes", "lower", "ptx"])
        ptx = self.answer("compile", module, "--emit", "ptx", "--target", "sm_90a").text
        self.assertIn(".target sm_90a\n", ptx)
        self.answer("compile", module, "--emit", "ptx", "-o", self.folder / "{target}.ptx")
        for target in summary["targets"]:
            self.assertIn(f".target {target}\n", (self.folder / f"{target}.ptx").read_text())
        self.refused(2, "T0900", "compile", module, "--emit", "ptx", "-o", self.folder / "x.ptx")
        self.refused(1, "T0623", "compile", module, "--emit", "ptx", "--target", "sm_120")

    def test_the_program_comes_out_in_each_form(self):
        self.assertEqual(self.answer("compile", self.program, "--emit", "text").text, ADD_ONE)
        self.assertEqual(self.answer("compile", self.program, "--emit", "json").json["programs"][0]
                         ["name"], "add_one")
        proto = self.answer("compile", self.program, "--emit", "proto").out
        self.assertEqual(self.answer("print", "-", stdin=proto).text, ADD_ONE)
        self.assertIn("add_one", self.answer("compile", self.program, "--emit", "tir").text)

    def test_passes_print_programs_that_verify(self):
        text = self.answer("compile", self.program, "--print-after", "infer-layouts").text
        self.assertTrue(text.startswith("; add_one after infer-layouts\n"), text)
        self.answer("verify", "-", stdin=text.encode())
        names = [line for line in self.answer("compile", self.program, "--print-after", "all")
                 .text.splitlines() if " after " in line]
        self.assertGreater(len(names), 4)
        both = run("compile", self.program, "--print-after", "all", "--emit", "ptx")
        self.assertEqual(both.text, self.answer("compile", self.program).text)
        self.assertIn("; add_one after lower\n", both.errors)

    def test_the_same_input_gives_the_same_bytes(self):
        for form in ("ptx", "proto", "tir"):
            first, second = run_all([("compile", self.program, "--emit", form)] * 2)
            self.assertEqual(first.out, second.out)

    @unittest.skipUnless(HAS_ASSEMBLER, "no assembler")
    def test_cubins_are_elf(self):
        out = self.folder / "{target}.cubin"
        self.answer("compile", self.program, "--emit", "cubin", "-o", out, "--target",
                    "sm_80,sm_90a")
        for target in ("sm_80", "sm_90a"):
            self.assertEqual((self.folder / f"{target}.cubin").read_bytes()[:4], b"\x7fELF")

    @unittest.skipUnless(HAS_ASSEMBLER, "no assembler")
    def test_a_module_keeps_the_cubins_that_were_made(self):
        without, kept = self.folder / "without", self.folder / "kept"
        self.answer("compile", self.program, "-o", without)
        self.answer("compile", self.program, "-o", kept, "--assemble")
        self.assertNotIn(b"\x7fELF", without.read_bytes())
        self.assertIn(b"\x7fELF", kept.read_bytes())

    def test_without_an_assembler_a_cubin_is_exit_3_and_no_file(self):
        out = self.folder / "a.cubin"
        for options in (["--emit", "cubin"], ["--assemble"]):
            result = run("compile", self.program, *options, "-o", out,
                         env={"TILUS_NVJITLINK": "/nonexistent/libnvJitLink.so"})
            self.assertEqual(result.code, 3, result.errors)
            self.assertIn("error[T0600]: ", result.errors)
            self.assertFalse(out.exists())


class Files(TestCase):
    """A file appears whole, with the rights of a new file, or not at all."""

    def test_nothing_but_the_file_is_left(self):
        program = self.write("add.tilus", ADD_ONE)
        self.answer("compile", program, "-o", self.folder / "m")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["add.tilus", "m"])
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(stat.S_IMODE((self.folder / "m").stat().st_mode), 0o666 & ~mask)

    def test_a_failure_leaves_the_old_file(self):
        old = self.write("m", "old")
        program = self.write("bad.tilus", ADD_ONE.replace("add a", "ad a"))
        self.refused(1, "T0104", "compile", program, "-o", old)
        self.assertEqual(old.read_text(), "old")
        self.assertEqual(len(list(self.folder.iterdir())), 2)

    def test_links_are_followed_and_modes_kept(self):
        program = self.write("add.tilus", ADD_ONE)
        target = self.write("target", "old")
        target.chmod(0o640)
        link = self.folder / "link"
        link.symlink_to("target")
        self.answer("compile", program, "-o", link)
        self.assertTrue(link.is_symlink())
        self.assertEqual(target.read_bytes()[:8], b"TILUSMOD")
        self.assertEqual(stat.S_IMODE(target.stat().st_mode), 0o640)

    def test_what_is_no_regular_file_is_written_in_place(self):
        self.answer("compile", self.write("add.tilus", ADD_ONE), "-o", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_an_answer_that_cannot_be_written_is_exit_3(self):
        with open("/dev/full", "wb") as full:

            process = subprocess.run([tilusc.TILUSC, "type", "codes", "f16"], stdout=full,
                                     stderr=subprocess.PIPE, check=False)
        self.assertEqual(process.returncode, 3)
        self.assertIn(b"error[T0902]: ", process.stderr)


class Bench(TestCase):
    def test_each_stage_has_a_median(self):
        program = self.write("add.tilus", ADD_ONE)
        answer = self.answer("bench", "compile", program, "--json", "--runs", 5).json
        self.assertEqual(list(answer), BENCH_KEYS)
        for stage in BENCH_KEYS[:-1]:
            self.assertGreater(answer[stage], 0, stage)
        self.assertGreaterEqual(answer["total_to_ptx"], answer["lower"])
        self.assertEqual(answer["cubin"] is not None, HAS_ASSEMBLER)
        self.assertEqual(len(self.answer("bench", "compile", program, "--runs", 1).text
                             .splitlines()), 1 + len(BENCH_KEYS))

    def test_modules_have_nothing_to_compile(self):
        module = self.folder / "m"
        self.answer("compile", self.write("add.tilus", ADD_ONE), "-o", module)
        self.refused(1, "T0913", "bench", "compile", module)
        self.refused(1, "T0913", "verify", module)


class Disasm(TestCase):
    def test_without_a_disassembler_it_is_exit_3(self):
        program = self.write("add.tilus", ADD_ONE)
        self.refused(3, "T0910", "disasm", program, env={"PATH": str(self.folder),
                                                         "TILUS_NVDISASM": ""})
        self.refused(3, "T0910", "disasm", program, env={"TILUS_NVDISASM": "/nonexistent"})

    def test_the_disassembler_gets_the_cubin_and_prints(self):
        tool = self.write("nvdisasm", f"#!{sys.executable}\nimport sys\n"
                          "print('got', open(sys.argv[2], 'rb').read())\n")
        tool.chmod(0o755)
        cubin = self.write("a.cubin", b"\x7fELF1234")
        result = self.answer("disasm", cubin, env={"TILUS_NVDISASM": str(tool)})
        self.assertEqual(result.text, "got b'\\x7fELF1234'\n")
        failing = self.write("failing", "#!/bin/sh\nexit 7\n")
        failing.chmod(0o755)
        result = self.refused(3, "T0911", "disasm", cubin, env={"TILUS_NVDISASM": str(failing)})
        self.assertIn("status 7", result.errors)


if __name__ == "__main__":
    tilusc.main()
