"""A failing disk at each place where a trainer accesses it: full, defective, interrupted, out of descriptors, partial reads and
writes.

tests/support/io_faults.c makes the call fail. This tests a sample; `./lab soak` sets ROPER_FAULTS=all.
"""

import errno
import os
import random
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TINY, TRAINER, TrainerTest, checkpoints, mark_stopped, read_rows, read_safetensors, status, without_times

LIBRARY = os.environ["ROPER_IO_FAULTS"]
TRIED = os.environ.get("ROPER_FAULTS", "60")
SEED = int(os.environ.get("ROPER_SEED", "1"))

SHORT = ["--set", "evaluation.every=5", "--set", "checkpoints.every=4", "--set", "snapshots.every=6", "--set", "snapshots.tokens=12",
         "--steps", "12"]
ERRORS = {"open": [errno.EMFILE, errno.EIO, errno.EINTR], "read": [errno.EIO, errno.EINTR, "short"], "truncate": [errno.EIO],
          "lock": [errno.ENOLCK, errno.EINTR], "write": [errno.ENOSPC, errno.EIO, errno.EINTR, "short"],
          "fsync": [errno.EIO, errno.EINTR, errno.ENOSPC], "rename": [errno.EIO, errno.ENOSPC], "mkdir": [errno.ENOSPC],
          "unlink": [errno.EIO]}
HARMLESS = 0, 6  # success after a retry or without an optional file; a disk error


def name_of(error):
    return error if isinstance(error, str) else errno.errorcode[error]


class IoFaults(TrainerTest):
    def faulty(self, call, at, error, *arguments, counts=None):
        environment = {**os.environ, "LD_PRELOAD": LIBRARY, "IO_FAULT_FOLDER": str(self.runs), "IO_FAULT_CALL": call,
                       "IO_FAULT_AT": str(at), "IO_FAULT_ERROR": str(error)}
        if counts:
            environment["IO_FAULT_COUNTS"] = str(counts)
        return self.trainer(*arguments, env=environment)

    def places(self, *arguments):
        """How often each call occurs."""
        path = Path(self._folder.name) / "counts"
        self.assertEqual(self.faulty("none", 0, 0, *arguments, counts=path).returncode, 0)
        return self.read_counts(path)

    def read_counts(self, path):
        found = {}
        for line in path.read_text().splitlines():
            call, count = line.split()
            found[call] = found.get(call, 0) + int(count)
        path.unlink()
        return found

    def expect_whole(self, run, expected, what):
        """Once the disk works again, the run ends as if nothing had happened."""
        if not (run / "run.toml").exists():
            return  # it was not even created
        for checkpoint in checkpoints(run):
            read_safetensors(checkpoint)
        rows = without_times(read_rows(run))
        self.assertEqual(rows, expected[: len(rows)], what)
        done = self.trainer("resume", run)
        self.assertEqual(done.returncode, 0, f"{what}: {done.stderr}")
        self.assertEqual(without_times(read_rows(run)), expected, what)
        self.assertEqual(status(run)["state"], "finished", what)

    def trials(self, places):
        every = [(call, at, error) for call, count in places.items() for at in range(1, count + 1) for error in ERRORS[call]]
        if TRIED == "all":
            return every
        return random.Random(SEED).sample(every, min(int(TRIED), len(every)))

    def test_one_call_fails(self):
        expected = without_times(read_rows(self.train("whole", *SHORT)))
        command = ["run", "addition-small", *TINY, *SHORT, "--runs", self.runs, "--name"]
        places = self.places(*command, "counted")
        self.assertGreater(min(places[call] for call in ("open", "write", "fsync", "rename")), 3, places)
        self.assertGreater(min(places[call] for call in ("read", "lock")), 0, places)
        trials = self.trials(places)
        ended = {}
        for number, (call, at, error) in enumerate(trials):
            what = f"{call} number {at} of {places[call]} fails with {name_of(error)}"
            name = f"a{number}"
            done = self.faulty(call, at, error, *command, name)
            self.assertIn(done.returncode, HARMLESS, f"{what}: {done.stderr}")
            if done.returncode:
                self.assertIn(str(self.runs), done.stderr, what)
                if error != "short" and error != errno.EINTR:
                    self.assertIn(os.strerror(error), done.stderr, what)
            if error == errno.EINTR:
                self.assertEqual(done.returncode, 0, f"{what}: {done.stderr}")
            ended[done.returncode] = ended.get(done.returncode, 0) + 1
            self.expect_whole(self.runs / name, expected, what)
        print(f"one call fails: {len(trials)} of {sum(count * len(ERRORS[call]) for call, count in places.items())} places and errors "
              f"tried (seed {SEED}); exit codes {ended}; all resumed to the same rows")

    def test_a_disk_that_stays_full(self):
        expected = without_times(read_rows(self.train("whole", *SHORT)))
        command = ["run", "addition-small", *TINY, *SHORT, "--runs", self.runs, "--name"]
        writes = self.places(*command, "counted")["write"]
        tried = random.Random(SEED).sample(range(1, writes + 1), writes if TRIED == "all" else 12)
        skipped = 0
        for number, at in enumerate(tried):
            what = f"from write {at} of {writes} on the disk is full"
            counts = Path(self._folder.name) / "counts"
            done = self.faulty("write", -at, errno.ENOSPC, *command, f"b{number}", counts=counts)
            # The status is written once a second, so a faster run makes fewer writes.
            if self.read_counts(counts)["write"] < at:
                self.assertEqual(done.returncode, 0, what + done.stderr)
                skipped += 1
                continue
            self.assert_fails(done, 6, str(self.runs), "No space left on device")
            self.expect_whole(self.runs / f"b{number}", expected, what)
        print(f"a disk that stays full: {len(tried) - skipped} of {writes} writes tried")
        self.assertLess(skipped, len(tried) / 2)

    def test_resuming_on_a_faulty_disk(self):
        expected = without_times(read_rows(self.train("whole", *SHORT)))
        made = self.train("half", *SHORT)
        for path in checkpoints(made)[1:]:
            path.unlink()
        rows = read_rows(made)
        before = {path.relative_to(made): path.read_bytes() for path in made.rglob("*") if path.is_file()}

        def restored(name):
            run = self.runs / name
            for path, content in before.items():
                (run / path).parent.mkdir(parents=True, exist_ok=True)
                (run / path).write_bytes(content)
            mark_stopped(run)
            return run

        places = self.places("resume", restored("counted"))
        trials = self.trials(places)[: len(before) if TRIED != "all" else None]
        for number, (call, at, error) in enumerate(trials):
            what = f"{call} number {at} of {places[call]} of a resume fails with {name_of(error)}"
            run = restored(f"c{number}")
            done = self.faulty(call, at, error, "resume", run)
            self.assertIn(done.returncode, HARMLESS, f"{what}: {done.stderr}")
            self.assertEqual(read_rows(run)[:4], rows[:4], what)  # rows up to the checkpoint are unchanged
            self.expect_whole(run, expected, what)
        print(f"resuming on a faulty disk: {len(trials)} places and errors tried")

    def test_reads_that_give_half(self):
        """Each read returns fewer bytes than requested, as may happen on a network file system."""
        expected = without_times(read_rows(self.train("whole", *SHORT)))
        run = self.train("half", *SHORT)
        for path in checkpoints(run)[1:]:
            path.unlink()
        mark_stopped(run)
        before = read_rows(run)
        done = self.faulty("read", -1, "short", "resume", run)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("damaged", done.stderr)
        self.assertEqual(without_times(read_rows(run)), expected)
        self.assertEqual(read_rows(run)[:4], before[:4])  # rows up to the checkpoint are unchanged


if __name__ == "__main__":
    unittest.main()
