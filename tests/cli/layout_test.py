"""tilusc layout: every vector of tests/data/layouts, and the shapes of the answers."""

import json
import tilusc
from tilusc import TestCase, run, run_all, vectors

MMA_A = "local(2,1).spatial(8,4).local(1,2)"


def tuple_text(canonical):
    return "{{shape={}, modes={}, spatial={}, local={}}}".format(
        canonical["shape"], canonical["mode_shape"], canonical["spatial_modes"],
        canonical["local_modes"])


class Show(TestCase):
    def check(self, canonical, table, result):
        self.assertEqual((result.code, result.errors), (0, ""))
        self.assertEqual(result.json, {
            "shape": canonical["shape"], "mode_shape": canonical["mode_shape"],
            "spatial_modes": canonical["spatial_modes"], "local_modes": canonical["local_modes"],
            "threads": canonical["num_threads"], "locals": canonical["locals_per_thread"],
            "table": table})
        self.assertEqual(list(result.json), ["shape", "mode_shape", "spatial_modes", "local_modes",
                                             "threads", "locals", "table"])

    def test_every_vector_has_its_canonical_form_and_table(self):
        cases = vectors("layouts/compose.json")
        rows = [(v["expr"], v["canonical"], v["table"]) for v in cases["random"]]
        rows += [(v["expr"], v, v["table"]) for v in cases["named"].values() if "mode_shape" in v]
        self.assertGreaterEqual(len(rows), 64)
        results = run_all([("layout", "show", expr, "--json") for expr, _, _ in rows])
        for (expr, canonical, table), result in zip(rows, results):
            with self.subTest(expr):
                self.check(canonical, table, result)

    def test_every_named_vector(self):
        for name, v in vectors("layouts/compose.json")["named"].items():
            answer = self.answer("layout", "show", v["expr"], "--json").json
            self.assertEqual(answer["table"], v["table"], name)

    def test_tuples_mean_the_same_as_products(self):
        rows = vectors("layouts/compose.json")["random"]
        results = run_all([("layout", "show", tuple_text(v["canonical"]), "--json") for v in rows])
        for v, result in zip(rows, results):
            self.assertEqual(result.json["table"], v["table"], v["expr"])

    def test_text_shows_both_forms_and_what_each_thread_holds(self):
        lines = self.answer("layout", "show", MMA_A).text.splitlines()
        self.assertEqual(lines[:4], [MMA_A,
                                     "{shape=[16, 8], modes=[2, 8, 4, 2], spatial=[1, 2], "
                                     "local=[0, 3]}",
                                     "shape 16x8, 32 threads, 4 elements each",
                                     "thread 0: (0,0) (0,1) (8,0) (8,1)"])
        self.assertEqual(len(lines), 3 + 32)

    def test_a_table_of_sixteen_million_integers_is_the_largest(self):
        self.refused(1, "T0908", "layout", "show", "local(4096).spatial(4097)", "--json")
        self.refused(1, "T0908", "layout", "show", "local(2048,2048).spatial(4,2)", "--json")
        self.assertEqual(
            self.answer("layout", "show", "local(65536).spatial(4096)").text.count("\n"), 3)


class Divide(TestCase):
    def test_every_vector_has_its_quotients(self):
        commands, expected = [], []
        for v in vectors("layouts/divide.json"):
            h = tuple_text(v["h"]["canonical"])
            commands.append(("layout", "divide", h, v["right"]["g"], "--json"))
            expected.append(v["right"]["quotient"])
            commands.append(("layout", "divide", h, v["left"]["f"], "--left", "--json"))
            expected.append(v["left"]["quotient"])
        self.assertTrue(any(expected) and not all(expected))
        for command, table, result in zip(commands, expected, run_all(commands)):
            with self.subTest(command):
                if table is None:
                    self.assertEqual((result.code, result.out), (1, b""))
                    self.assertEqual(json.loads(result.err)[0]["id"], "T0226")
                    continue
                self.assertEqual((result.code, result.errors), (0, ""))
                self.assertEqual(result.json["table"], table)
                self.assertEqual(result.json["threads"], len(table))
                self.assertEqual(result.json["locals"], len(table[0]))

    def test_the_canonical_quotient_composes_to_the_whole(self):
        f = self.answer("layout", "divide", MMA_A, "local(1,2)").text.splitlines()[0]
        h = self.answer("layout", "compose", f, "local(1,2)", "--json").json
        self.assertEqual(h, self.answer("layout", "show", MMA_A, "--json").json)

    def test_an_indivisible_pair_is_exit_1_with_both_layouts(self):
        result = self.refused(1, "T0226", "layout", "divide", "local(3).spatial(4)", "local(2)")
        self.assertEqual(result.out, b"")
        self.assertIn("local(2)", result.errors)


class Equal(TestCase):
    def test_one_function_written_in_two_ways_is_equal(self):
        self.assertEqual(
            self.answer("layout", "equal", "spatial(4).spatial(8)", "spatial(32)", "--json").json,
            {"equal": True})

    def test_a_difference_is_exit_1_and_names_where(self):
        for other, reason in [("spatial(16,8)", "8x4 and 16x8"),
                              ("spatial(8,4).replicated(2)", "32 and 64 threads"),
                              ("column_spatial(8,4)", "element 0 of thread 1 is (0,1) and (1,0)")]:
            result = self.refused(1, "T0909", "layout", "equal", "spatial(8,4)", other)
            self.assertIn(reason, result.errors)
        result = run("layout", "equal", "local(2)", "local(4)", "--json")
        self.assertEqual((result.code, result.json), (1, {"equal": False}))
        self.assertEqual(json.loads(result.err)[0]["id"], "T0909")


class View(TestCase):
    def check(self, v, result):
        self.assertEqual((result.code, result.errors), (0, ""))
        answer = result.json
        self.assertEqual(answer["legal"], v["legal"])
        self.assertTrue(answer["reason"])
        if v["legal"]:
            self.assertEqual((answer["verdict"], answer["instructions"]), ("free", 0))
        else:
            self.assertEqual((answer["verdict"], answer["instructions"]), ("illegal", None))

    @staticmethod
    def command(v):
        return ("layout", "view", f"u{v['source']['bits']}", v["source"]["layout"],
                f"u{v['target']['bits']}", v["target"]["layout"], "--json")

    def test_every_vector_has_its_verdict(self):
        rows = vectors("layouts/view.json")
        for v, result in zip(rows, run_all([self.command(v) for v in rows])):
            with self.subTest(v):
                self.check(v, result)
                self.assertEqual(list(result.json), ["legal", "verdict", "instructions", "reason"])

    def test_every_sampled_bit_lies_where_the_vectors_say(self):
        rows = [(v, s) for v in vectors("layouts/view.json") for s in v.get("sample", [])]
        self.assertGreater(len(rows), 100)
        results = run_all([(*self.command(v), "--at", f"{s['thread']},{s['bit']}")
                           for v, s in rows])
        for (v, sample), result in zip(rows, results):
            with self.subTest(v):
                self.check(v, result)
                self.assertEqual(result.json["source"], sample["source"])
                self.assertEqual(result.json["target"], sample["target"])

    def test_bits_of_a_range_count_from_its_first(self):
        whole = ("layout", "view", "u32", "spatial(32).local(2)", "f16", "spatial(32).local(2)")
        result = self.answer(*whole, "--bits", 32, "--at", "3,17", "--json").json
        self.assertEqual((result["verdict"], result["source"], result["target"]),
                         ("free", [[7], 17], [[7], 1]))
        result = self.answer(*whole, "--bits", 8, "--json").json
        self.assertEqual(result["verdict"], "costs")
        self.assertGreater(result["instructions"], 0)
        self.assertEqual(self.answer(*whole, "--json").json["verdict"], "illegal")
        self.assertEqual(self.answer(*whole, "--bits", 40, "--json").json["verdict"], "illegal")

    def test_bits_of_an_illegal_view_have_no_place(self):
        result = self.answer("layout", "view", "u8", "spatial(4)", "u8", "spatial(8)", "--json",
                             "--at", "0,0").json
        self.assertEqual((result["source"], result["target"]), (None, None))

    def test_text_names_verdict_and_reason(self):
        text = self.answer("layout", "view", "u8", "local(3).spatial(32)", "i6",
                           "local(2,1).column_spatial(4,8).local(2,1)").text
        self.assertTrue(text.startswith("free: "), text)


class DrawAndConflicts(TestCase):
    def test_drawings_are_text_or_svg(self):
        text = self.answer("layout", "draw", MMA_A).text
        self.assertNotIn("\x1b", text)
        self.assertGreater(len(text.splitlines()), 16)
        svg = self.folder / "a.svg"
        self.assertEqual(self.answer("layout", "draw", MMA_A, "--type", "f16", "--svg", svg).out,
                         b"")
        self.assertTrue(svg.read_text().lstrip().startswith(("<svg", "<?xml")))
        self.assertEqual(self.answer("layout", "draw", MMA_A, "--json").json["drawing"], text)

    def test_a_layout_too_large_to_draw_is_exit_1(self):
        self.refused(1, "T0245", "layout", "draw", "local(4096,4096)")

    def test_a_column_of_halves_conflicts_and_a_swizzle_mends_it(self):
        column = "column_spatial(32,1).local(1,8)"
        plain = self.answer("layout", "conflicts", "f16", column, "--strides", "64,1",
                            "--json").json
        chosen = self.answer("layout", "conflicts", "f16", column, "--json").json
        self.assertEqual(list(plain), ["shared_layout", "vector_bytes", "instructions",
                                       "wavefronts", "ideal"])
        self.assertGreater(plain["wavefronts"], plain["ideal"])
        self.assertLessEqual(chosen["wavefronts"], plain["wavefronts"])


if __name__ == "__main__":
    tilusc.main()
