"""Set-up fetches exactly the pinned files, and the programs fetch nothing."""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TINY, TRAINER, TrainerTest

ROOT = Path(__file__).resolve().parents[2]
WATCH = os.environ["ROPER_NETWORK_WATCH"]
WINDOW = os.environ.get("ROPER_LAB")


class Pins(unittest.TestCase):
    def test_each_package_has_a_version_and_a_hash(self):
        files = sorted((ROOT / "tools").glob("*.txt"))
        self.assertGreaterEqual(len(files), 5)
        count = 0
        for path in files:
            for line in path.read_text().replace("\\\n", " ").splitlines():
                if not line.strip() or line.startswith(("#", "--")):
                    continue
                count += 1
                self.assertRegex(line, r"^[\w.\-\[\]]+==[\w.+]+ .*--hash=sha256:[0-9a-f]{64}", path.name)
        print(f"{count} packages in {len(files)} files, each with a version and a hash")


class ChangedByte(unittest.TestCase):
    """The real set-up of LibTorch, with a package of the same name made here."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="roper-supply-")
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        shutil.copytree(ROOT / "tools", self.root / "tools")
        self.wheels = self.root / "index"
        self.wheels.mkdir()

    def make_wheel(self, content):
        """Returns its hash."""
        files = {"torch/version.py": content, "torch/lib/libtorch_cpu.so": "no program",
                 "torch-2.11.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: torch\nVersion: 2.11.0\n",
                 "torch-2.11.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n"
                                                 "Tag: cp311-cp311-manylinux_2_28_x86_64\n"}
        record = "torch-2.11.0.dist-info/RECORD"
        lines = []
        for name, text in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(text)}")
        files[record] = "\n".join([*lines, f"{record},,", ""])
        path = self.wheels / "torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            for name, text in files.items():
                wheel.writestr(zipfile.ZipInfo(name), text)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def set_up(self):
        script = ("set -euo pipefail; root=$PWD lab=$PWD/.lab libtorch=$PWD/.lab/libtorch watcher=''; mkdir -p $lab; "
                  ". tools/messages.sh; . tools/libtorch.sh; install_libtorch cpu")
        return subprocess.run(["bash", "-c", script], cwd=self.root, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels)})

    def test_a_changed_byte_is_refused(self):
        pinned = self.make_wheel("__version__ = '2.11.0'\n")
        (self.root / "tools/libtorch-cpu.txt").write_text(f"torch==2.11.0 \\\n    --hash=sha256:{pinned}\n")
        done = self.set_up()
        self.assertEqual(done.returncode, 0, done.stderr)
        version = self.root / ".lab/libtorch/torch/version.py"
        self.assertIn("2.11.0", version.read_text())
        self.assertNotEqual(self.make_wheel("__version__ = '2.11.1'\n"), pinned)
        done = self.set_up()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("does not match its hash, pinned in tools/", done.stderr)
        self.assertIn("2.11.0", version.read_text())  # the installed files are unchanged


class Network(TrainerTest):
    def watched(self, *command):
        log = Path(self._folder.name) / "network"
        log.write_text("")
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "LD_PRELOAD": WATCH, "NETWORK_WATCH": str(log), "QT_QPA_PLATFORM": "offscreen"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return log.read_text()

    def test_the_watch_sees_sockets_and_names(self):
        log = self.watched(sys.executable, "-c", "import socket; socket.socket(); socket.getaddrinfo('localhost', 80)")
        self.assertIn("a socket of family 2", log)
        self.assertIn("a host's name", log)

    def test_nothing_that_runs_uses_the_network(self):
        run = self.runs / "a"
        self.assertEqual(self.watched(TRAINER, "run", "addition-small", *TINY, "--steps", "20", "--runs", self.runs,
                                      "--name", "a"), "")
        self.assertEqual(self.watched(TRAINER, "eval", run), "")
        text = ROOT / "resources/texts/opticks.txt"
        self.assertEqual(self.watched(TRAINER, "run", "text-quick", *TINY, "--set", f"task.text={text}", "--steps", "3",
                                      "--runs", self.runs, "--name", "b"), "")
        if WINDOW:
            self.assertEqual(self.watched(WINDOW, "screenshots", "--runs", self.runs, "--out", self.runs / "pictures"), "")


if __name__ == "__main__":
    unittest.main()
