"""tilusc type: every code of every float type, encodings, and the list."""

import tilusc
from tilusc import TestCase, run_all, vectors

NAN = "7fc00000"


def is_nan(pattern):
    return int(pattern, 16) & 0x7fffffff > 0x7f800000


class Codes(TestCase):
    def test_every_vector_has_its_values(self):
        rows = vectors("dtypes/formats.json")["decode"]
        results = run_all([("type", "codes", name, "--json") for name in rows])
        for (name, expected), result in zip(rows.items(), results):
            with self.subTest(name):
                self.assertEqual((result.code, result.errors), (0, ""))
                self.assertEqual(list(result.json), ["type", "codes"])
                self.assertEqual(result.json["type"], name)
                codes = result.json["codes"]
                self.assertEqual(len(codes), len(expected))
                for got, want in zip(codes, expected):
                    self.assertTrue(got == want or (is_nan(got) and is_nan(want)), (got, want))

    def test_integers_are_numbers(self):
        for name, expected in [("u3", list(range(8))), ("i3", [0, 1, 2, 3, -4, -3, -2, -1]),
                               ("i1", [0, -1]), ("bool", [0, 1])]:
            self.assertEqual(self.answer("type", "codes", name, "--json").json,
                             {"type": name, "codes": expected})

    def test_sixteen_bits_are_the_most(self):
        codes = self.answer("type", "codes", "bf16", "--json").json["codes"]
        self.assertEqual((len(codes), codes[0x3f80], codes[0xff80]),
                         (65536, "3f800000", "ff800000"))
        self.refused(1, "T0908", "type", "codes", "i32", "--json")

    def test_text_has_code_pattern_and_value(self):
        self.assertEqual(self.answer("type", "codes", "f4e2m1").text.splitlines()[3],
                         "3  3fc00000  1.5")
        self.assertEqual(self.answer("type", "codes", "i4").text.splitlines()[15], "f  -1")


class Encode(TestCase):
    def test_every_vector_has_its_code(self):
        rows = vectors("dtypes/formats.json")["encode"]
        results = run_all([("type", "encode", name, "--json", *(row[0] for row in pairs))
                           for name, pairs in rows.items()])
        for (name, pairs), result in zip(rows.items(), results):
            with self.subTest(name):
                self.assertEqual((result.code, result.errors), (0, ""))
                self.assertEqual(result.json,
                                 {"type": name, "codes": [row[1] for row in pairs]})

    def test_wide_types_overflow_and_integers_saturate(self):
        big = "7149f2ca"  # 1e30
        for name, pattern, code in [("f16", big, 0x7c00), ("bf16", NAN, 0x7fc0),
                                    ("i8", big, 127), ("u4", "bf800000", 0), ("i8", NAN, 0),
                                    ("f64", "3f800000", 0x3ff0000000000000)]:
            self.assertEqual(self.answer("type", "encode", name, "--json", pattern).json["codes"],
                             [code], name)

    def test_patterns_may_have_a_prefix_and_must_be_hexadecimal(self):
        self.assertEqual(self.answer("type", "encode", "f16", "0x3F800000").text, "15360\n")
        for bad in ["1.0", "123456789", "0x", "3f80000g"]:
            self.refused(2, "T0900", "type", "encode", "f16", bad)


class List(TestCase):
    def test_every_type_is_there_once(self):
        rows = self.answer("type", "list", "--json").json["types"]
        names = [row["name"] for row in rows]
        self.assertEqual(len(names), len(set(names)))
        integers = [f"{c}{b}" for c in "ui" for b in [*range(1, 16), 16, 32, 64]]
        floats = ["f16", "bf16", "tf32", "f32", "f64", "f8e8m0",
                  *vectors("dtypes/formats.json")["decode"]]
        self.assertEqual(set(names), {"bool", *integers, *floats})
        by_name = {row["name"]: row for row in rows}
        self.assertEqual(by_name["f6e3m2"], {"name": "f6e3m2", "class": "float", "bits": 6,
                                             "exponent_bits": 3, "mantissa_bits": 2})
        self.assertEqual(len(self.answer("type", "list").text.splitlines()), len(rows))


if __name__ == "__main__":
    tilusc.main()
