"""Runs tilusc, and reads and writes .npy arrays, for the tests beside this file."""

import ast
import concurrent.futures
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

TILUSC = os.environ["TILUSC"]
SOURCE = pathlib.Path(os.environ["TILUS_SOURCE_DIR"])
DATA = SOURCE / "tests" / "data"

ADD_ONE = """\
program add_one(n: i32, x: *f32, y: *f32) warps 4 {
  grid ceil_div(n, 128)
  b = block_indices
  gx = global_view x : f32[n]
  gy = global_view y : f32[n]
  a = load_global gx[b * 128] : f32[128] spatial(128)
  c = add a, 1.0
  store_global c -> gy[b * 128]
}
"""


class Result:
    """What one run of the tool gave: exit code, stdout and stderr as bytes."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def text(self):
        return self.out.decode()

    @property
    def errors(self):
        return self.err.decode()

    @property
    def json(self):
        return json.loads(self.out)


def run(*args, stdin=b"", env=None, cwd=None):
    process = subprocess.run([TILUSC, *map(str, args)], input=stdin, capture_output=True, cwd=cwd,
                             env={**os.environ, **(env or {})}, timeout=300, check=False)
    return Result(process.returncode, process.stdout, process.stderr)


def run_all(commands):
    """The results of many runs, in their order, a few at a time."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda args: run(*args), commands))


def vectors(name):
    return json.loads((DATA / name).read_text())


def npy(descr, shape, data):
    """The bytes of a .npy file, version 1."""
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {tuple(shape)!r}, }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def read_npy(path):
    """(descr, shape, data) of a .npy file, which must be as numpy writes them."""
    content = pathlib.Path(path).read_bytes()
    assert content[:8] == b"\x93NUMPY\x01\x00", content[:8]
    (length,) = struct.unpack_from("<H", content, 8)
    assert (10 + length) % 64 == 0 and content[9 + length:10 + length] == b"\n"
    header = ast.literal_eval(content[10:10 + length].decode())
    assert header.pop("fortran_order") is False
    return header["descr"], header["shape"], content[10 + length:]


class TestCase(unittest.TestCase):
    """A test with a folder of its own, self.folder, and the checks that most tests need."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def answer(self, *args, **options):
        """The result of a run that must give an answer and no finding."""
        result = run(*args, **options)
        self.assertEqual((result.code, result.errors), (0, ""), args)
        return result

    def refused(self, code, diagnostic, *args, **options):
        """The result of a run that must end with an exit code and a finding of that id."""
        result = run(*args, **options)
        self.assertEqual(result.code, code, (args, result.errors))
        if "--json" in args:
            self.assertEqual(json.loads(result.err)[0]["id"], diagnostic, args)
        else:
            self.assertIn(f"error[{diagnostic}]: ", result.errors, args)
        return result


def main():
    unittest.main()
