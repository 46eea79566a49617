"""tilusc pack and unpack: the vectors, an independent model, ragged edges, and bad arrays."""

import json
import random
import struct

import tilusc
from tilusc import TestCase, npy, read_npy, run, vectors

MMA_B = "local(2,1).column_spatial(4,8).local(2,1)"


def flat(matrix):
    return [code for row in matrix for code in row]


def code_bytes(codes, width):
    return b"".join(code.to_bytes(width, "little") for code in codes)


def packed_model(codes, shape, table, tile, bits):
    """The packed bytes of a matrix, straight from the definition; codes[r][c]."""
    gcd16 = lambda n: next(d for d in (16, 8, 4, 2, 1) if n % d == 0)
    out = bytearray()
    for tile_row in range(-(-shape[0] // tile[0])):
        for tile_column in range(-(-shape[1] // tile[1])):
            threads = []
            for indices in table:
                string = 0
                for i, (r, c) in enumerate(indices):
                    r, c = tile_row * tile[0] + r, tile_column * tile[1] + c
                    if r < shape[0] and c < shape[1]:
                        string |= codes[r][c] << (i * bits)
                threads.append(string.to_bytes(len(indices) * bits // 8, "little"))
            size = len(threads[0])
            n1 = gcd16(size)
            for j2 in range(size // n1):
                for share in threads:
                    out += share[j2 * n1:(j2 + 1) * n1]
    return bytes(out)


class Pack(TestCase):
    def pack(self, type_name, layout, matrix, *options, width=1):
        shape = (len(matrix), len(matrix[0]))
        source = self.write("in.npy", npy("|u1" if width == 1 else "<u2", shape,
                                          code_bytes(flat(matrix), width)))
        packed = self.folder / "packed.npy"
        self.answer("pack", "--type", type_name, "--layout", layout, *options, source, packed)
        descr, packed_shape, data = read_npy(packed)
        self.assertEqual(descr, "|u1")
        return packed, packed_shape, data

    def unpack(self, type_name, layout, packed, *options):
        back = self.folder / "back.npy"
        self.answer("unpack", "--type", type_name, "--layout", layout, *options, packed, back)
        return read_npy(back)

    def test_every_vector_has_its_bytes_and_comes_back(self):
        for v in vectors("layouts/transform.json"):
            with self.subTest(v["layout"]):
                type_name = f"u{v['bits']}"
                packed, shape, data = self.pack(type_name, v["layout"], v["codes"])
                self.assertEqual(data.hex(), v["packed"])
                self.assertEqual(shape, (1, 1, len(data)))
                descr, back_shape, codes = self.unpack(type_name, v["layout"], packed)
                self.assertEqual((descr, back_shape),
                                 ("|u1", (len(v["codes"]), len(v["codes"][0]))))
                self.assertEqual(list(codes), flat(v["codes"]))

    def test_ragged_matrices_of_every_width_match_the_definition(self):
        generate = random.Random(3)
        for bits in range(1, 16):
            for k_dim in (0, 1):
                self.check_ragged(generate, bits, k_dim)

    def check_ragged(self, generate, bits, k_dim):
        width = 1 if bits <= 8 else 2
        shape = (generate.randint(1, 40), generate.randint(1, 40))
        matrix = [[generate.randrange(1 << bits) for _ in range(shape[1])]
                  for _ in range(shape[0])]
        repeat = next(r for r in (1, 2, 4, 8) if 4 * bits * r % 8 == 0)
        extended = f"local({repeat},1).{MMA_B}" if k_dim == 0 else f"local(1,{repeat}).{MMA_B}"
        table = self.answer("layout", "show", extended, "--json").json
        packed, packed_shape, data = self.pack(f"i{bits}", MMA_B, matrix, "--k-dim", k_dim,
                                               width=width)
        tile = table["shape"]
        self.assertEqual(data, packed_model(matrix, shape, table["table"], tile, bits))
        self.assertEqual(packed_shape[:2], (-(-shape[0] // tile[0]), -(-shape[1] // tile[1])))
        descr, back_shape, codes = self.unpack(f"i{bits}", MMA_B, packed, "--k-dim", k_dim,
                                               "--shape", f"{shape[0]},{shape[1]}")
        self.assertEqual((descr, back_shape), ("|u1" if width == 1 else "<u2", shape))
        self.assertEqual(codes, code_bytes(flat(matrix), width))

    def test_json_tells_the_plan(self):
        source = self.write("in.npy", npy("|u1", (20, 8), bytes(160)))
        plan = self.answer("pack", "--type", "u3", "--layout", MMA_B, source,
                           self.folder / "out.npy", "--json").json
        self.assertEqual(plan, {"shape": [20, 8], "repeat": 2, "tile": [32, 8], "tiles": [1, 1],
                                "thread_bytes": 3, "tile_bytes": 96, "bytes": 96})

    def test_what_cannot_be_packed_is_refused_and_leaves_no_file(self):
        good = self.write("good.npy", npy("|u1", (16, 8), bytes(128)))
        large = self.write("large.npy", npy("|u1", (16, 8), bytes([64] * 128)))
        floats = self.write("floats.npy", npy("<f4", (16, 8), bytes(512)))
        line = self.write("line.npy", npy("|u1", (128,), bytes(128)))
        out = self.folder / "out.npy"
        for code, diagnostic, type_name, layout, source in [
                (1, "T0240", "i6", MMA_B, large),  # a code of 7 bits
                (1, "T0904", "i6", MMA_B, floats),
                (1, "T0905", "i6", MMA_B, line),
                (1, "T0240", "i6", "local(16).spatial(8)", good),  # rank 1
                (1, "T0240", "i6", f"{MMA_B}.replicated(2)", good),
                (1, "T0200", "x6", MMA_B, good),
                (3, "T0901", "i6", MMA_B, self.folder / "absent.npy")]:
            self.refused(code, diagnostic, "pack", "--type", type_name, "--layout", layout, source,
                         out)
            self.assertFalse(out.exists())

    def test_an_array_of_another_shape_is_no_packed_matrix(self):
        packed = self.write("packed.npy", npy("|u1", (1, 1, 96), bytes(96)))
        out = self.folder / "out.npy"
        command = ("unpack", "--type", "i6", "--layout", MMA_B)
        self.answer(*command, packed, out)
        self.assertEqual(read_npy(out)[:2], ("|u1", (16, 8)))
        out.unlink()
        for shape in ["17,8", "16,9"]:
            self.refused(1, "T0905", *command, "--shape", shape, packed, out)
        self.refused(1, "T0240", *command, "--shape", "0,8", packed, out)
        self.refused(2, "T0900", *command, "--shape", "16x8", packed, out)
        wrong = self.write("wrong.npy", npy("|u1", (1, 1, 95), bytes(95)))
        self.refused(1, "T0905", *command, wrong, out)
        result = run(*command, "--json", wrong, out)
        self.assertEqual(json.loads(result.err)[0]["source"], str(wrong))
        self.assertFalse(out.exists())


class Npy(TestCase):
    """Headers and sizes that are not as they should be: exit 1 with T0903, whatever the bytes."""

    def check(self, content):
        source = self.write("bad.npy", content)
        self.refused(1, "T0903", "pack", "--type", "u8", "--layout", MMA_B, source,
                     self.folder / "out.npy")

    def test_malformed_files(self):
        good = npy("|u1", (16, 8), bytes(128))
        header = "{'descr': '|u1', 'fortran_order': False, 'shape': (16, 8)}"

        def with_header(text, version=1, data=bytes(128)):
            length = struct.pack("<H" if version == 1 else "<I", len(text))
            return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + data

        for content in [
                b"", b"\x93NUMPY", good[:7], good[:9], good[:40], good[:-1], good + b"x",
                b"PK\x03\x04" + good, b"\x93NUMPY\x04\x00" + good[8:],
                b"\x93NUMPY\x01\x00\xff\xff" + good[10:],
                b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + good[10:],
                with_header(header.replace("False", "True")),
                with_header(header.replace("|u1", ">u2")),
                with_header(header.replace("|u1", "|O")),
                with_header(header.replace("|u1", "<f16")),
                with_header(header.replace("'|u1'", "[('a', '<f4')]")),
                with_header(header.replace("16", "-16")),
                with_header(header.replace("16", "99999999999999999999")),
                with_header(header.replace("16, 8", "4294967296, 4294967296")),
                with_header(header.replace("16, 8", "1, " * 70)),
                with_header(header.replace("'shape'", "'form'")),
                with_header(header.replace("}", "")), with_header(header + "{}"),
                with_header("{'descr': '|u1', 'shape': (16, 8)}"), with_header("{}"),
                with_header(""), with_header("(" * 1000)]:
            with self.subTest(content[:80]):
                self.check(content)

    def test_every_version_of_the_format_is_read(self):
        text = b"{'shape': (16, 8), 'fortran_order': False, 'descr': \"|u1\"} \n"
        for version in (2, 3):
            source = self.write("in.npy", b"\x93NUMPY" + bytes([version, 0]) +
                                struct.pack("<I", len(text)) + text + bytes(range(128)))
            self.answer("pack", "--type", "u8", "--layout", MMA_B, source,
                        self.folder / "out.npy")

    def test_files_cut_or_changed_anywhere_never_crash_the_reader(self):
        generate = random.Random(7)
        good = npy("|u1", (16, 8), bytes(128))
        for _ in range(60):
            content = bytearray(good[:generate.randint(0, len(good))])
            for _ in range(generate.randint(0, 3)):
                if content:
                    content[generate.randrange(min(len(content), 80))] = generate.randrange(256)
            source = self.write("any.npy", bytes(content))
            result = run("pack", "--type", "u8", "--layout", MMA_B, source,
                         self.folder / "out.npy")
            self.assertIn(result.code, (0, 1), bytes(content))


if __name__ == "__main__":
    tilusc.main()
