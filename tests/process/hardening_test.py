"""How the programs are built: checked buffers and stacks, tables that cannot be written to, and no path of this clone."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAMS = [Path(os.environ[name]) for name in ("ROPER_TRAIN", "ROPER_TOKENIZER", "ROPER_LAB") if os.environ.get(name)]


def elf(program, *flags):
    return subprocess.run(["readelf", "-W", *flags, program], capture_output=True, text=True, check=True).stdout


class Hardening(unittest.TestCase):
    def test_each_program(self):
        for program in PROGRAMS:
            with self.subTest(program.name):
                dynamic, segments, symbols = elf(program, "-d"), elf(program, "-l"), elf(program, "--dyn-syms")
                self.assertIn("DYN", elf(program, "-h"))  # position-independent
                self.assertRegex(dynamic, r"FLAGS_1.*NOW")
                self.assertIn("GNU_RELRO", segments)
                self.assertRegex(segments, r"GNU_STACK(\s+0x[0-9a-f]+){5}\s+RW\s")
                self.assertIn("__stack_chk_fail", symbols)
                self.assertRegex(symbols, r"__\w+_chk\b")
                if "x86-64" in elf(program, "-h"):
                    # Whether the whole is marked so depends on the system's own objects; ours begin with the instruction.
                    self.assertGreater(program.read_bytes().count(b"\xf3\x0f\x1e\xfa"), 1000)

    def test_libtorch_is_found_wherever_the_folder_is(self):
        program = PROGRAMS[0]
        path = re.search(r"rpath: \[(.*)\]", elf(program, "-d")).group(1)
        root = next(parent for parent in program.parents if (parent / "resources").is_dir())
        if not path.startswith("$ORIGIN"):
            self.skipTest(f"LibTorch lies outside of this folder, in {path}")
        with tempfile.TemporaryDirectory(prefix="roper-moved-") as folder:
            moved = Path(folder) / program.relative_to(root)
            moved.parent.mkdir(parents=True)
            shutil.copy(program, moved)
            os.symlink(root / ".lab", Path(folder) / ".lab")
            found = subprocess.run(["ldd", moved], capture_output=True, text=True).stdout
            self.assertRegex(found, rf"libtorch_cpu.so => {folder}/")


if __name__ == "__main__":
    unittest.main()
