"""roper-lab figure: what a picture takes of the machine while it waits for a model."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import wait_until

WATCHED_SECONDS = 2
MOST_SHARE = 0.1  # of a core; a loop that asks again and again takes all that it gets


def processor_seconds(pid):
    """User and system time of a process so far (proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@unittest.skipUnless(os.environ.get("ROPER_LAB"), "without the window")
class Sizes(unittest.TestCase):
    def test_more_pixels_than_a_picture_holds_are_refused_with_their_number(self):
        with tempfile.TemporaryDirectory(prefix="roper-process-") as name:
            out = Path(name) / "a.png"
            done = subprocess.run([os.environ["ROPER_LAB"], "figure", "rotation", "--out", out, "--set", "width=10000", "height=10000", "scale=8"],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("80000 × 80000 pixels", done.stderr)
            self.assertFalse(out.exists())


@unittest.skipUnless(os.environ.get("ROPER_LAB"), "without the window")
class Waiting(unittest.TestCase):
    def test_a_picture_that_waits_for_a_model_sleeps(self):
        with tempfile.TemporaryDirectory(prefix="roper-process-") as name:
            folder = Path(name)
            (folder / "config.json").write_text("{}")
            trainer = folder / "roper-train"  # one that never answers
            trainer.write_text(f'#!/bin/sh\necho > "{folder}/asked-$PPID"\nexec sleep 60\n')
            trainer.chmod(0o700)
            waiting = {}
            for kind, settings in (("scores", []), ("heads", ["--set", "text=abc"]), ("surprise", ["--set", "text=abc"])):
                waiting[kind] = subprocess.Popen(
                    [os.environ["ROPER_LAB"], "figure", kind, "--run", name, "--out", f"{name}/{kind}.png", *settings],
                    env={**os.environ, "ROPER_TRAIN": str(trainer)}, start_new_session=True)
                self.addCleanup(waiting[kind].wait)
                self.addCleanup(os.killpg, waiting[kind].pid, 9)
            for process in waiting.values():
                wait_until(lambda: (folder / f"asked-{process.pid}").exists(), seconds=30)
            before = {kind: processor_seconds(process.pid) for kind, process in waiting.items()}
            time.sleep(WATCHED_SECONDS)
            for kind, process in waiting.items():
                with self.subTest(kind):
                    self.assertIsNone(process.poll())
                    share = (processor_seconds(process.pid) - before[kind]) / WATCHED_SECONDS
                    print(f"{kind}: {100 * share:.0f} % of a core")
                    self.assertLess(share, MOST_SHARE)


if __name__ == "__main__":
    unittest.main()
