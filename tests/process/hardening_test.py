"""How the programs are built: stack protection and checked buffers, read-only relocations, and no path of this clone; and that
what is packed or installed works without it."""

import gzip
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
                    self.assertRegex(elf(program, "-n"), r"x86 feature:.*SHSTK")
                    # IBT also requires the system's object files; ours begin with the instruction.
                    self.assertGreater(program.read_bytes().count(b"\xf3\x0f\x1e\xfa"), 1000)

    def test_libtorch_is_found_wherever_the_folder_is(self):
        program = PROGRAMS[0]
        link = program.parents[1] / "libtorch"
        if os.path.isabs(os.readlink(link / "torch")):
            self.skipTest(f"LibTorch lies outside of this folder, in {os.readlink(link / 'torch')}")
        root = next(parent for parent in program.parents if (parent / "resources").is_dir())
        with tempfile.TemporaryDirectory(prefix="roper-moved-") as folder:
            moved = Path(folder) / program.relative_to(root)
            moved.parent.mkdir(parents=True)
            shutil.copy(program, moved)
            shutil.copytree(link, moved.parents[1] / "libtorch", symlinks=True)
            os.symlink(root / ".lab", Path(folder) / ".lab")
            found = subprocess.run(["ldd", moved], capture_output=True, text=True).stdout
            self.assertRegex(found, rf"libtorch_cpu.so => {folder}/")


def search_paths(file):
    """The loader's search paths in a program or library: RPATH and RUNPATH."""
    found = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", elf(file, "-d"))
    return [path for paths in found for path in paths.split(":")]


def is_elf(path):
    if not path.is_file() or path.is_symlink():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


class Packed(unittest.TestCase):
    """The contents of the archive made by `./lab pack`, in folders that others can write to."""

    @classmethod
    def setUpClass(cls):
        root = next(parent for parent in PROGRAMS[0].parents if (parent / "tools" / "pack.sh").is_file())
        cls.folder = tempfile.TemporaryDirectory(prefix="roper-packed-", dir=PROGRAMS[0].parents[1])
        cls.stage = Path(cls.folder.name) / "a" / "b" / "roper-train"
        script = 'set -eu; root=$1 bin=$2 libtorch=$1/.lab/libtorch; . "$root/tools/messages.sh"; . "$root/tools/pack.sh"; stage_trainer "$3"'
        subprocess.run(["bash", "-c", script, "pack", root, PROGRAMS[0].parent, cls.stage], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_everything_looks_inside_the_archive_alone(self):
        files = [path for path in self.stage.rglob("*") if is_elf(path)]
        self.assertGreater(len(files), 5)
        for file in [*files, *PROGRAMS]:
            inside = self.stage if file in files else PROGRAMS[0].parents[1]
            for path in search_paths(file):
                with self.subTest(file.name, path=path):
                    self.assertRegex(path, r"^\$ORIGIN(/|$)")
                    leads_to = os.path.normpath(path.replace("$ORIGIN", str(file.parent)))
                    self.assertTrue(Path(leads_to).is_relative_to(inside), leads_to)

    def test_libraries_that_lie_above_it_are_not_loaded(self):
        """Regression: the search path of the trainer began three folders above its own."""
        mark = Path(self.folder.name) / "loaded"
        source = Path(self.folder.name) / "planted.c"
        source.write_text(f'#include <stdio.h>\n__attribute__((constructor)) static void note(void) {{ fclose(fopen("{mark}", "w")); }}\n')
        planted = Path(self.folder.name) / "planted.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", planted, source], check=True)
        needed = re.findall(r"NEEDED.*\[(.*)\]", elf(self.stage / "bin" / "roper-train", "-d"))
        above = [parent / beside for parent in (self.stage.parent, self.stage.parents[1], self.stage.parents[2])
                 for beside in (".", "lib", "libtorch/torch/lib", ".lab/libtorch/torch/lib")]
        for folder in above:
            folder.mkdir(parents=True, exist_ok=True)
            for library in needed:
                if not library.startswith(("libc.", "libm.", "ld-")):
                    shutil.copy(planted, folder / library)
        for program in ("roper-train", "roper-tokenizer"):
            done = subprocess.run([self.stage / "bin" / program, "--help"], cwd=self.stage.parent, capture_output=True, text=True,
                                  env={"PATH": "/usr/bin:/bin"})
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(mark.exists())
        # Positive control: a loader that searches there does load them and leaves the marks.
        subprocess.run([self.stage / "bin" / "roper-train", "--version"], capture_output=True,
                       env={"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": str(above[0]), "LD_PRELOAD": str(planted)})
        self.assertTrue(mark.exists())


def without(folder):
    """A command that runs another one where this folder is empty, where the system permits that."""
    hide = ["unshare", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', str(folder)]
    return hide if subprocess.run([*hide, "true"], capture_output=True).returncode == 0 else []


@unittest.skipUnless(os.environ.get("ROPER_LAB"), "the window is not built")
class Installed(unittest.TestCase):
    """What `cmake --install` installs, which is what packages contain."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="roper-installed-")
        cls.prefix = Path(cls.folder.name) / "usr"
        cls.hidden = without(next(parent for parent in PROGRAMS[0].parents if (parent / "resources").is_dir()))
        subprocess.run(["cmake", "--install", PROGRAMS[0].parents[1], "--prefix", "/usr"], check=True, capture_output=True,
                       env={**os.environ, "DESTDIR": cls.folder.name})

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_installed(self, program, *arguments):
        done = subprocess.run([*self.hidden, self.prefix / "bin" / program, *arguments], cwd=self.folder.name,
                              capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "HOME": self.folder.name})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_it_trains_and_draws_without_the_folder_it_was_built_in(self):
        self.assertIn("copy-quick", self.run_installed("roper-train", "presets", "--names").split())
        self.assertRegex(self.run_installed("roper-train", "--version"), r"^roper-train \d+\.\d+\.\d+( \([0-9a-f]{12}(-dirty)?\))?\n$")
        self.run_installed("roper-train", "run", "copy-quick", "--steps", "2", "--name", "a", "--quiet")
        self.assertIn("finished", self.run_installed("roper-train", "list", "--json"))
        for file in ("spectrum.svg", "in-the-wild.csv", "loss.png"):
            self.run_installed("roper-lab", "figure", Path(file).stem, "--out", file)
            self.assertGreater((Path(self.folder.name) / file).stat().st_size, 100)
        # A vocabulary is learned by the third program, which the trainer starts.
        self.run_installed("roper-train", "run", "text-quick", "--steps", "1", "--name", "b", "--quiet")

    def test_no_file_leads_back_or_is_writable_by_others(self):
        for path in self.prefix.rglob("*"):
            if path.is_symlink():
                self.assertTrue(path.resolve().is_relative_to(self.prefix), path)
            else:
                self.assertEqual(path.stat().st_mode & 0o022, 0, path)
            if is_elf(path):
                for place in search_paths(path):
                    self.assertRegex(place, r"^\$ORIGIN(/|$)")
                    inside = os.path.normpath(place.replace("$ORIGIN", str(path.parent)))
                    self.assertTrue(Path(inside).is_relative_to(self.prefix), inside)

    def test_menus_manuals_and_completions_are_there(self):
        share = self.prefix / "share"
        entry = (share / "applications" / "roper-lab.desktop").read_text()
        self.assertIn("\nExec=roper-lab\n", entry)
        self.assertTrue((share / "icons/hicolor/scalable/apps/roper-lab.svg").is_file())
        self.assertIn("<binary>roper-lab</binary>", (share / "metainfo" / "roper-lab.metainfo.xml").read_text())
        for program in ("roper-lab", "roper-train"):
            self.assertIn(b".SH NAME", gzip.decompress((share / "man" / "man1" / f"{program}.1.gz").read_bytes()))
            for script in (f"bash-completion/completions/{program}", f"zsh/vendor-completions/_{program}",
                           f"fish/vendor_completions.d/{program}.fish"):
                self.assertIn(program, (share / script).read_text())
        self.assertIn("GNU General Public License", (share / "doc" / "roper-lab" / "copyright").read_text())


if __name__ == "__main__":
    unittest.main()
