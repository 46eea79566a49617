"""Bad input of every kind: an exit code, a stable id and one sentence; no crash, hang or file."""

import json
import random
import time

import tilusc
from tilusc import ADD_ONE, TestCase, run, run_all

HEAD = "program p(n: i32, x: *f32) warps 1 {\n  grid 1\n  gx = global_view x : f32[n]\n"


def body(*lines):
    return HEAD + "".join(f"  {line}\n" for line in lines) + "}\n"


def varint(value):
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number, value):
    """A protobuf field: a varint for an int, bytes for the rest."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


LOAD = "a = load_global gx[0] : f32[32] spatial(32)"

# (what, program text, id)
TEXTS = [
    ("nothing", "", "T0100"),
    ("no program", "matmul(n: i32)", "T0100"),
    ("a syntax error", body("a = = 3"), "T0100"),
    ("a character of no token", body("a = `3"), "T0101"),
    ("an unknown name", body("store_global b -> gx[0]"), "T0102"),
    ("a name used twice", HEAD.replace("n: i32", "x: i32") + "}\n", "T0103"),
    ("an unknown instruction", body("a = frobnicate gx"), "T0104"),
    ("an unclosed block", HEAD, "T0107"),
    ("an unknown type", body(LOAD.replace("f32[32]", "f33[32]")), "T0201"),
    ("a layout with a syntax error", body(LOAD.replace("spatial(32)", "spatial(32")), "T0220"),
    ("a layout extent of zero", body(LOAD.replace("spatial(32)", "spatial(0)")), "T0221"),
    ("a layout beyond 2^31", body(LOAD.replace("spatial(32)", "local(65536).spatial(65536)")),
     "T0222"),
    ("a layout of another shape", body(LOAD.replace("f32[32]", "f32[64]")), "T0267"),
    ("a layout of other threads", body(LOAD.replace("f32[32] spatial(32)",
                                                    "f32[64] spatial(64)")), "T0268"),
    ("a view of unequal bits", body(LOAD, "b = view a : f16[32] spatial(32)"), "T0230"),
    ("too many offsets", body("a = load_global gx[0, 0] : f32[32] spatial(32)"), "T0324"),
    ("an extent of zero", body("a = register 0.0 : f32[0]"), "T0266"),
    ("a negative extent", body("a = register 0.0 : f32[-4]"), "T0266"),
    ("2^40 elements", body("a = register 0.0 : f32[1099511627776]"), "T0014"),
    ("extents that overflow 64 bits",
     body("a = register 0.0 : f32[4294967296, 4294967296, 4294967296]"), "T0014"),
    ("more dimensions than the limit", body("a = register 0.0 : f32[1,1,1,1,1,1,1,1,1]"),
     "T0013"),
    ("a tensor beyond the register file", body("a = register 0.0 : f32[8192]"), "T0272"),
    ("a division by zero", body("for i in 0 .. n / 0 {", "}"), "T0344"),
    ("an unroll bomb",
     body("for i in 0 .. 1000 unroll {", "for j in 0 .. 1000 unroll {", LOAD, "}", "}"), "T0015"),
    ("deep nesting of statements", body(*["if n > 0 {"] * 100, *["}"] * 100), "T0011"),
    ("deep nesting of expressions",
     body(LOAD.replace("[0]", "[" + "(" * 5000 + "1" + ")" * 5000 + "]")), "T0011"),
    ("operands of other types", body(LOAD, "b = register 0 : i32[32] spatial(32)",
                                     "c = add a, b"), "T0260"),
]

SHARED = body("s = alloc_shared : f32[200000]", LOAD, "store_shared a -> s[0]",
              "synchronize", "b = load_shared s[0] : f32[32] spatial(32)",
              "store_global b -> gx[0]")


class Programs(TestCase):
    def check_one(self, what, result, code, diagnostic):
        self.assertEqual((result.code, result.out), (code, b""), (what, result.errors))
        findings = json.loads(result.err)
        self.assertEqual(findings[0]["id"], diagnostic, (what, findings[0]))
        for finding in findings:
            self.assertTrue(finding["message"], what)
            self.assertNotIn("\n", finding["message"], what)
        return findings

    def test_texts(self):
        paths = [self.write(f"{i}.tilus", text) for i, (_, text, _) in enumerate(TEXTS)]
        results = run_all([("verify", path, "--json") for path in paths])
        for (what, _, diagnostic), result in zip(TEXTS, results):
            with self.subTest(what):
                findings = self.check_one(what, result, 1, diagnostic)
                place = findings[0]
                self.assertTrue(place["line"] > 0 or place["path"], (what, place))

    def test_both_layouts_of_a_mismatch_are_printed(self):
        text = body(LOAD, "b = view a : f16[32] spatial(32)")
        findings = self.check_one("view", run("verify", "-", "--json", stdin=text.encode()), 1,
                                  "T0230")
        self.assertIn("f32[32]", findings[0]["message"])
        self.assertIn("f16[32]", findings[0]["message"])

    def test_shared_memory_is_checked_against_the_target(self):
        result = run("compile", "-", "--json", "--emit", "ptx", stdin=SHARED.encode())
        self.check_one("shared", result, 1, "T0563")

    def test_blobs(self):
        good = run("print", "-", "--emit", "proto", stdin=ADD_ONE.encode()).out
        newer = good.replace(field(1, 1), field(1, 1000), 1)
        self.assertNotEqual(newer, good)
        nested = b""
        for _ in range(2000):
            nested = field(2, nested)
        cases = [("truncated", good[:len(good) // 2], None),
                 ("of a newer version", newer, "T0402"),
                 ("with an unknown field", good + field(1000, 7), "T0403"),
                 ("with an unknown field of text", good + field(1000, b"abc"), "T0403"),
                 ("too deeply nested", field(1, 1) + nested, None),
                 ("with a huge length", field(1, 1) + b"\x12\xff\xff\xff\xff\x0f", None),
                 ("random", random.Random(1).randbytes(1000), None),
                 ("of zeros", bytes(1000), None)]
        for what, blob, diagnostic in cases:
            for command in ("verify", "compile", "print"):
                result = run(command, "-", "--json", stdin=blob)
                self.assertEqual((result.code, result.out), (1, b""), (what, result.errors))
                found = json.loads(result.err)[0]["id"]
                self.assertIn(found, {diagnostic} if diagnostic else
                              {"T0011", "T0100", "T0101", "T0400", "T0401", "T0403", "T0404",
                               "T0405", "T0407"}, what)

    def test_oversized_input_is_refused_before_it_is_read_to_the_end(self):
        for byte in (b" ", b"\x0a"):
            blob = byte * ((16 << 20) + 1)
            self.check_one("oversized", run("verify", "-", "--json", stdin=blob), 1, "T0010")
        start = time.monotonic()
        self.check_one("endless", run("verify", "/dev/zero", "--json"), 1, "T0010")
        self.assertLess(time.monotonic() - start, 30)

    def test_blobs_cut_or_changed_anywhere_are_answers_or_errors(self):
        generate = random.Random(11)
        good = run("print", "-", "--emit", "proto", stdin=ADD_ONE.encode()).out
        for _ in range(100):
            blob = bytearray(good)
            for _ in range(generate.randint(1, 4)):
                blob[generate.randrange(len(blob))] = generate.randrange(256)
            result = run("compile", "-", stdin=bytes(blob[:generate.randint(1, len(blob))]))
            self.assertIn(result.code, (0, 1), (bytes(blob), result.errors))


class Modules(TestCase):
    def test_corrupt_truncated_and_foreign_files(self):
        module = self.folder / "add.module"
        self.answer("compile", self.write("add.tilus", ADD_ONE), "-o", module)
        good = module.read_bytes()
        flipped = bytearray(good)
        flipped[-1] ^= 1
        newer = bytearray(good)
        newer[8] = 99
        for what, content, diagnostic in [("flipped", bytes(flipped), "T0620"),
                                          ("truncated", good[:-1], "T0620"),
                                          ("header only", good[:20], "T0620"),
                                          ("longer", good + b"x", "T0620"),
                                          ("newer", bytes(newer), "T0621")]:
            bad = self.write("bad.module", content)
            for command in (("run", bad, "--arg", "n=1"), ("print", bad),
                            ("compile", bad, "--emit", "ptx")):
                result = run(*command, "--json")
                self.assertEqual((result.code, result.out), (1, b""), what)
                self.assertEqual(json.loads(result.err)[0]["id"], diagnostic, what)


class Environment(TestCase):
    def test_files_that_cannot_be_read_are_exit_3(self):
        for path in (self.folder / "absent.tilus", self.folder):
            for command in ("compile", "verify", "print", "run"):
                result = self.refused(3, "T0901", command, path)
                self.assertTrue(result.errors.startswith(f"{path}: error"), result.errors)

    def test_files_that_cannot_be_written_are_exit_3_and_leave_nothing(self):
        program = self.write("add.tilus", ADD_ONE)
        for path in (self.folder / "absent" / "m", self.folder, program / "m",
                     self.folder / ("x" * 300)):
            self.refused(3, "T0902", "compile", program, "-o", path)
            self.refused(3, "T0902", "compile", program, "--emit", "ptx", "-o", path)
            self.refused(3, "T0902", "layout", "draw", "local(2)", "--svg", path)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["add.tilus"])


class Expressions(TestCase):
    def test_layouts_and_types(self):
        for expression, diagnostic in [
                ("", "T0220"), ("local", "T0220"), ("local(2", "T0220"), ("local(2,)", "T0220"),
                ("local(2).", "T0220"), ("spatal(2)", "T0220"), ("local(2) x", "T0220"),
                ("local(0)", "T0221"), ("local(-1)", "T0221"), ("local(2147483648)", "T0222"),
                ("local(99999999999999999999)", None), ("local(65536).spatial(65536)", "T0222"),
                ("local(1,1,1,1,1,1,1,1,1)", "T0223"), ("{shape=[4], modes=[3]}", None),
                ("{shape=[4], modes=[4], spatial=[0], local=[0]}", "T0224"),
                ("{shape=[4], modes=[4], spatial=[], local=[1]}", "T0224"),
                ("(" * 100000, None), (".".join(["local(1)"] * 10000) + "(", None)]:
            for command in (("show", expression), ("draw", expression),
                            ("equal", expression, "local(1)"), ("divide", "local(1)", expression),
                            ("view", "u8", "local(1)", "u8", expression)):
                result = run("layout", *command, "--json")
                self.assertEqual((result.code, result.out), (1, b""), (command[0], expression[:50]))
                found = json.loads(result.err)[0]["id"]
                self.assertIn(found, {diagnostic} if diagnostic else
                              {"T0220", "T0222", "T0223", "T0224"}, expression[:50])
        for name in ["", "x4", "u0", "u17", "i65", "f8", "f9e4m4", "f8e4m4", "f8e0m7",
                     "u99999999999"]:
            result = run("type", "codes", name, "--json")
            self.assertEqual((result.code, result.out), (1, b""), name)
            self.assertIn(json.loads(result.err)[0]["id"], {"T0200", "T0201", "T0202"}, name)

    def test_places_outside_a_view(self):
        view = ("layout", "view", "u8", "spatial(4).local(2)", "u16", "spatial(4)", "--at")
        self.answer(*view, "3,15")
        for place in ("4,0", "0,16", "-1,0", "0,-1"):
            self.refused(1, "T0006", *view, place)


if __name__ == "__main__":
    tilusc.main()
