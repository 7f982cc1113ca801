"""A disk of a few hundred kilobytes that becomes full during training: a real one, in a separate mount namespace."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TrainerTest, checkpoints, read_rows, status, without_times

INSIDE = "ROPER_IN_NAMESPACE"
SIZES = [int(size) for size in os.environ.get("ROPER_DISK_SIZES", "40 120 250 400 550 700").split()]  # kilobytes
STEPS = 120
FLAGS = ["--set", "evaluation.every=10", "--set", "checkpoints.every=10", "--set", "snapshots.every=20", "--set", "snapshots.tokens=24"]


def enter_namespace():
    """Runs this file again where mounting is allowed, as root or as root of a user namespace. Returns only if neither is
    allowed."""
    for options in (["--mount"], ["--user", "--map-root-user", "--mount"]):
        may = subprocess.run(["unshare", *options, "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"], capture_output=True)
        if may.returncode == 0:
            os.environ[INSIDE] = "1"
            os.execvp("unshare", ["unshare", *options, "--propagation", "private", sys.executable, *sys.argv])


@unittest.skipUnless(os.environ.get(INSIDE), "this system lets nobody mount a small disk here")
class FullDisk(TrainerTest):
    def mount(self, kilobytes, *more):
        subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join([f"size={kilobytes}k", *more]), "none", str(self.disk)], check=True)

    def setUp(self):
        super().setUp()
        self.disk = Path(self._folder.name) / "disk"
        self.disk.mkdir()
        self.addCleanup(subprocess.run, ["umount", "-q", str(self.disk)])

    def test_a_run_on_a_disk_that_becomes_full(self):
        whole = self.train("whole", *FLAGS, "--steps", STEPS)
        full = 0
        for kilobytes in SIZES:
            with self.subTest(kilobytes=kilobytes):
                self.mount(kilobytes)
                runs = self.disk / "runs"
                done = self.trainer("run", whole / "run.toml", "--threads", 1, "--runs", runs, "--name", "a")
                run = runs / "a"
                if done.returncode != 0:
                    full += 1
                    self.assert_fails(done, 6, str(self.disk), "No space left on device")
                self.assertFalse([path for path in self.disk.rglob("*.partial-*")])
                if run.exists():
                    rows, expected = without_times(read_rows(run)), without_times(read_rows(whole))
                    self.assertEqual(rows, expected[: len(rows)])
                    before = len(rows)
                    # With free space, the run continues and ends with the same result as on a large disk.
                    self.mount(20_000, "remount")
                    done = self.trainer("resume", run)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(without_times(read_rows(run)), expected)
                    self.assertEqual(checkpoints(run)[-1].name, checkpoints(whole)[-1].name)
                    self.assertEqual(status(run)["state"], "finished")
                    print(f"{kilobytes} KB: full after {before} of {STEPS} rows")
                else:
                    print(f"{kilobytes} KB: no room for the run's folder")
                subprocess.run(["umount", str(self.disk)], check=True)
        print(f"{full} of {len(SIZES)} disks became full")
        self.assertGreater(full, 2)

    def test_a_queue_on_a_full_disk_waits_for_room(self):
        whole = self.train("whole", *FLAGS, "--steps", STEPS)
        self.mount(400)
        runs = self.disk / "runs"
        done = self.trainer("enqueue", whole / "run.toml", "--runs", runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.trainer("queue", "--runs", runs)
        self.assertIn("No space left on device", done.stderr + done.stdout)
        run = next(path for path in runs.iterdir() if (path / "run.toml").exists())
        self.mount(20_000, "remount")
        done = self.trainer("resume", run)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(without_times(read_rows(run)), without_times(read_rows(whole)))

    @unittest.skipUnless(os.environ.get("ROPER_LAB"), "without the window")
    def test_a_picture_for_which_there_is_no_room(self):
        self.mount(8)
        for suffix in ("png", "svg", "pdf", "csv"):
            picture = self.disk / f"a.{suffix}"
            picture.write_text("before")
            done = subprocess.run([os.environ["ROPER_LAB"], "figure", "scores", "--set", "tokens=200", "--out", str(picture)],
                                  capture_output=True, text=True, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
            self.assertEqual(done.returncode, 6, (suffix, done.stderr, picture.stat().st_size))
            self.assertIn(str(picture), done.stderr)
            self.assertEqual([path.name for path in self.disk.iterdir()], [picture.name])
            self.assertEqual(picture.read_text(), "before")
            picture.unlink()

    def test_a_warning_before_it_begins(self):
        self.mount(400)
        done = self.trainer("run", "addition-small", "--steps", 1, "--runs", self.disk / "runs", "--name", "a")
        self.assertIn("low disk space", done.stderr)
        self.assertIn("on disk, but only", done.stderr)
        self.assertIn("checkpoints.keep (2)", done.stderr)


if __name__ == "__main__":
    if not os.environ.get(INSIDE):
        enter_namespace()
    unittest.main()
