"""tilusc run: arrays in and out, values, devices, and what does not fit."""

import json
import struct

import tilusc
from tilusc import ADD_ONE, TestCase, npy, read_npy, run

# One parameter of every kind of array and number: y = x * scale + offset, and what travels packed.
SCALED = """\
program scaled(n: i32, scale: f32, offset: i64, x: *f32, y: *f32) warps 1 {
  grid ceil_div(n, 32)
  b = block_indices
  gx = global_view x : f32[n]
  gy = global_view y : f32[n]
  v = load_global gx[b * 32] : f32[32] spatial(32)
  w = mul v, scale
  z = add w, f32(offset)
  store_global z -> gy[b * 32]
}
"""

SUB_BYTE = """\
program wrap(n: i32, a: *u3, y: *u5) warps 1 {
  grid ceil_div(n, 64)
  let pairs = spatial(32).local(2)
  i = block_indices
  ga = global_view a : u3[n]
  gy = global_view y : u5[n]
  xa = load_global ga[i * 64] : u3[64] pairs
  wa = cast xa : u5
  sum = add wa, wa
  store_global sum -> gy[i * 64]
}
"""

COPY = """\
program copy(x: *{type}, y: *{type}) warps 1 {{
  grid 1
  gx = global_view x : {type}[32]
  gy = global_view y : {type}[32]
  v = load_global gx : {type}[32] spatial(32)
  store_global v -> gy
}}
"""

PRINTING = """\
program shout(n: i32, x: *i32) warps 1 {
  grid 1
  gx = global_view x : i32[32]
  v = load_global gx : i32[32] spatial(32)
  print n * 2 label="twice n"
  store_global v -> gx
}
"""

DEVICES = ("host", "simulate")


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def pack_bits(codes, bits):
    string = 0
    for i, code in enumerate(codes):
        string |= code << (i * bits)
    return string.to_bytes((len(codes) * bits + 7) // 8, "little")


class Run(TestCase):
    def run_on(self, device, *args):
        return self.answer("run", *args, "--device", device)

    def test_arrays_go_in_and_out(self):
        program = self.write("add.tilus", ADD_ONE)
        x = self.write("x.npy", npy("<f4", (100,), floats(*range(100))))
        for device in DEVICES:
            y = self.folder / f"{device}.npy"
            self.assertEqual(self.run_on(device, program, "--arg", "n=100", "--arg", f"x=@{x}",
                                         "--out", f"y={y}:f32:4x25").out, b"")
            self.assertEqual(read_npy(y), ("<f4", (4, 25), floats(*range(1, 101))))

    def test_json_tells_the_launch(self):
        program = self.write("add.tilus", ADD_ONE)
        y = self.folder / "y.npy"
        x = self.write("x.npy", npy("<f4", (300,), bytes(1200)))
        answer = self.answer("run", program, "--arg", "n=300", "--arg", f"x=@{x}", "--out",
                             f"y={y}:f32:300", "--json").json
        self.assertEqual(answer, {"kernel": "add_one", "device": "host", "grid": [3, 1, 1],
                                  "threads": 128, "shared_bytes": 0, "workspace_bytes": 0,
                                  "outputs": {"y": str(y)}, "printed": ""})

    def test_one_name_in_both_options_goes_in_and_out(self):
        program = self.write("add.tilus", ADD_ONE)
        x = self.write("x.npy", npy("<f4", (8,), floats(*range(8))))
        y = self.write("y.npy", npy("<f4", (8,), floats(*range(10, 18))))
        # Only the first 4 elements are written; the rest keep what went in.
        self.answer("run", program, "--arg", "n=4", "--arg", f"x=@{x}", "--arg", f"y=@{y}", "--out",
                    f"y={y}:f32:8")
        self.assertEqual(read_npy(y)[2], floats(1, 2, 3, 4, 14, 15, 16, 17))

    def test_outputs_start_as_zero(self):
        x = self.write("x.npy", npy("<f4", (8,), floats(*range(8))))
        y = self.folder / "y.npy"
        self.answer("run", self.write("add.tilus", ADD_ONE), "--arg", "n=2", "--arg", f"x=@{x}",
                    "--out", f"y={y}:f32:4")
        self.assertEqual(read_npy(y)[2], floats(1, 2, 0, 0))

    def test_numbers_are_read_in_their_spellings(self):
        program = self.write("scaled.tilus", SCALED)
        x = self.write("x.npy", npy("<f4", (4,), floats(1, 2, 3, 4)))
        y = self.folder / "y.npy"
        for scale, offset, expected in [("2", "-1", (1, 3, 5, 7)),
                                        ("-2.5e-1", "0x10", (15.75, 15.5, 15.25, 15)),
                                        ("0x1p1", "0", (2, 4, 6, 8))]:
            self.answer("run", program, "--arg", "n=4", "--arg", f"scale={scale}", "--arg",
                        f"offset={offset}", "--arg", f"x=@{x}", "--out", f"y={y}:f32:4")
            self.assertEqual(read_npy(y)[2], floats(*expected))

    def test_sub_byte_arrays_travel_as_packed_bytes(self):
        program = self.write("wrap.tilus", SUB_BYTE)
        codes = [i * 5 % 8 for i in range(99)]
        packed = pack_bits(codes, 3)
        a = self.write("a.npy", npy("|u1", (len(packed),), packed))
        for device in DEVICES:
            y = self.folder / "y.npy"
            self.run_on(device, program, "--arg", "n=99", "--arg", f"a=@{a}", "--out",
                        f"y={y}:u5:99")
            expected = pack_bits([code * 2 % 32 for code in codes], 5)
            self.assertEqual(read_npy(y), ("|u1", (len(expected),), expected))

    def test_every_type_travels_as_its_numpy_type(self):
        for name, descr, size in [("bf16", "<u2", 2), ("f16", "<f2", 2), ("f8e4m3", "|u1", 1),
                                  ("f8e8m0", "|u1", 1), ("i8", "|i1", 1), ("u16", "<u2", 2),
                                  ("i32", "<i4", 4), ("u64", "<u8", 8), ("f64", "<f8", 8),
                                  ("tf32", "<f4", 4), ("i4", "|u1", 0)]:
            program = self.write("copy.tilus", COPY.format(type=name))
            # Small codes, so that no tf32 has bits that its type drops.
            data = bytes(i % 100 if size != 4 or i % 4 == 3 else 0 for i in range(32 * size or 16))
            x = self.write("x.npy", npy(descr, (32 if size else 16,), data))
            y = self.folder / "y.npy"
            self.answer("run", program, "--arg", f"x=@{x}", "--out", f"y={y}:{name}:32")
            self.assertEqual(read_npy(y), (descr, (32 if size else 16,), data), name)

    def test_what_kernels_print_comes_out(self):
        program = self.write("shout.tilus", PRINTING)
        x = self.write("x.npy", npy("<i4", (32,), bytes(128)))
        for device in DEVICES:
            result = self.run_on(device, program, "--arg", "n=21", "--arg", f"x=@{x}")
            self.assertIn("twice n", result.text)
            self.assertIn("42", result.text)
        answer = self.answer("run", program, "--arg", "n=21", "--arg", f"x=@{x}", "--json").json
        self.assertEqual(answer["printed"], result.text)

    def test_a_file_may_hold_several_kernels_and_be_a_module(self):
        program = self.write("two.tilus", ADD_ONE + COPY.format(type="f32"))
        module = self.folder / "two.module"
        self.answer("compile", program, "-o", module)
        x = self.write("x.npy", npy("<f4", (32,), floats(*range(32))))
        y = self.folder / "y.npy"
        arguments = ("--arg", f"x=@{x}", "--out", f"y={y}:f32:32")
        for path in (program, module):
            self.refused(1, "T0914", "run", path, *arguments)
            self.answer("run", path, "--kernel", "copy", *arguments)
            self.assertEqual(read_npy(y)[2], floats(*range(32)))
        result = self.refused(1, "T0622", "run", program, "--kernel", "absent", *arguments)
        self.assertIn("absent", result.errors)


class Refused(TestCase):
    """What does not fit: exit 1, an id of its own, no output file."""

    def setUp(self):
        super().setUp()
        self.program = self.write("add.tilus", ADD_ONE)
        self.x = self.write("x.npy", npy("<f4", (8,), floats(*range(8))))
        self.y = self.folder / "y.npy"

    def check(self, code, diagnostic, *args):
        result = self.refused(code, diagnostic, "run", self.program, *args)
        self.assertFalse(self.y.exists())
        self.assertEqual(result.out, b"")
        return result

    def test_names(self):
        n, x, y = ("--arg", "n=8"), ("--arg", f"x=@{self.x}"), ("--out", f"y={self.y}:f32:8")
        result = self.check(1, "T0906", *x, *y)
        self.assertIn("its parameters are n: i32, x: *f32, y: *f32", result.errors)
        self.check(1, "T0906", *n, *x, *y, "--arg", "z=1")
        self.check(1, "T0906", *n, *x, *y, "--out", f"z={self.y}:f32:8")
        self.check(2, "T0906", *n, *n, *x, *y)

    def test_values(self):
        x, y = ("--arg", f"x=@{self.x}"), ("--out", f"y={self.y}:f32:8")
        for value in ["", "eight", "8.0", "8 ", " 8", "0x", "--8", "99999999999999999999",
                      "9223372036854775808", f"@{self.x}"]:
            self.check(1, "T0907", "--arg", f"n={value}", *x, *y)
        result = run("run", self.program, "--arg", "n=2147483648", *x, *y)
        self.assertEqual(result.code, 1, result.errors)  # beyond i32, which the launch checks
        self.check(1, "T0907", "--arg", "n=8", "--arg", "x=1", *y)
        self.check(1, "T0907", "--out", f"n={self.y}:f32:8", *x, *y)

    def test_arrays(self):
        n, y = ("--arg", "n=8"), ("--out", f"y={self.y}:f32:8")
        wide = self.write("wide.npy", npy("<f8", (8,), bytes(64)))
        self.check(1, "T0904", *n, "--arg", f"x=@{wide}", *y)
        self.check(1, "T0903", *n, "--arg", f"x=@{self.program}", *y)
        self.check(3, "T0901", *n, "--arg", "x=@/nonexistent.npy", *y)
        self.check(1, "T0905", *n, "--arg", f"x=@{self.x}", "--arg", f"y=@{self.x}", "--out",
                   f"y={self.y}:f32:9")

    def test_sizes_types_and_null_pointers_are_checked_by_the_launch(self):
        n, x = ("--arg", "n=8"), ("--arg", f"x=@{self.x}")
        for args in [(*n, *x, "--out", f"y={self.y}:f16:16"),
                     ("--arg", "n=9", *x, "--out", f"y={self.y}:f32:9"),
                     (*n, "--arg", "x=null", "--out", f"y={self.y}:f32:8"),
                     ("--arg", "n=-1000", *x, "--out", f"y={self.y}:f32:8")]:
            result = run("run", self.program, *args)
            self.assertEqual(result.code, 1, (args, result.errors))
            self.assertRegex(result.errors, r"^error\[T0[0-9]{3}\]: ", args)
            self.assertFalse(self.y.exists())

    def test_forms_of_the_options(self):
        for args in [("--arg", "n"), ("--arg", "=8"), ("--out", "y"), ("--out", "y=a.npy"),
                     ("--out", "y=a.npy:f32"), ("--out", "y=:f32:8"), ("--out", "y=a.npy:f32:"),
                     ("--out", "y=a.npy:f32:8x"), ("--out", "y=a.npy:f32:-8"),
                     ("--out", "y=a.npy:f32:8,8"), ("--device", "gpu"), ("--device", "cuda:"),
                     ("--device", "cuda:x"), ("--device", "cuda:-1"),
                     ("--device", "cuda:99999999999")]:
            self.refused(2, "T0900", "run", self.program, *args)
        self.refused(1, "T0201", "run", self.program, "--out", "y=a.npy:f33:8")
        self.check(1, "T0905", "--arg", "n=8", "--arg", f"x=@{self.x}", "--out",
                   f"y={self.y}:f32:4294967296x4294967296")

    def test_a_gpu_that_is_not_there_is_exit_3(self):
        result = run("run", self.program, "--device", "cuda:4000000000", "--arg", "n=8", "--json")
        self.assertEqual((result.code, result.out), (3, b""))
        self.assertIn(json.loads(result.err)[0]["id"], ("T0700", "T0701", "T0705"))


if __name__ == "__main__":
    tilusc.main()
