"""Trainers killed repeatedly, at any moment and in the middle of saving.

A short version runs with the other tests. `./lab soak` sets larger ROPER_KILLS and ROPER_SAVE_KILLS, and another ROPER_SEED.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TINY, TRAINER, TrainerTest, checkpoints, read_rows, read_safetensors, status, without_times

KILLS = int(os.environ.get("ROPER_KILLS", "50"))
SAVE_KILLS = int(os.environ.get("ROPER_SAVE_KILLS", "50"))
SEED = int(os.environ.get("ROPER_SEED", "1"))

# Evaluations, checkpoints and snapshots are so frequent that most moments fall into one of them.
BUSY = ["--set", "evaluation.every=20", "--set", "checkpoints.every=7", "--set", "snapshots.every=11", "--set", "snapshots.tokens=24",
        "--set", "checkpoints.keep=3"]


class Killed(TrainerTest):
    steps = 1500
    extra = []

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.whole = self.train("whole", *BUSY, *self.extra, "--steps", self.steps)
        self.expected = without_times(read_rows(self.whole))
        self.runs_made = 0
        self.found = {"kills": 0, "acknowledged rows": 0, "half-written files left": 0, "resumes": 0, "runs finished": 0}

    def new_run(self):
        """A queued run with the same specification as the uninterrupted one."""
        self.runs_made += 1
        run = self.runs / f"killed-{self.runs_made}"
        run.mkdir()
        (run / "checkpoints").mkdir()
        (run / "run.toml").write_bytes((self.whole / "run.toml").read_bytes())
        (run / "status.json").write_text(json.dumps({"state": "queued", "step": 0, "steps": self.steps}))
        return run

    def session(self, run, kill_when):
        """Trains until `kill_when` returns, or to the end. @returns the steps that the trainer reported as done"""
        process = subprocess.Popen([TRAINER, "resume", str(run), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said, errors = [], []
        readers = [threading.Thread(target=lambda: said.extend(process.stdout)),
                   threading.Thread(target=lambda: errors.extend(process.stderr))]
        for reader in readers:
            reader.start()
        kill_when(process, run)
        process.kill()
        process.wait()
        for reader in readers:
            reader.join()
        process.stdout.close()
        process.stderr.close()
        self.found["resumes"] += 1
        self.assertIn(process.returncode, (0, -signal.SIGKILL), "".join(errors))
        if process.returncode != 0:
            self.found["kills"] += 1
        rows = []
        for line in said:
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError:
                self.assertFalse(line.endswith("\n"), line)  # cut off by the kill
        return [row["step"] for row in rows if row.get("event") == "step"]

    def check(self, run, acknowledged):
        """Invariants after a kill: all reported rows exist, none twice, and every checkpoint is complete."""
        rows = without_times(read_rows(run))
        self.assertEqual(rows, self.expected[: len(rows)])
        if acknowledged:
            self.assertGreaterEqual(len(rows), acknowledged[-1])
            self.found["acknowledged rows"] += len(acknowledged)
        for checkpoint in checkpoints(run):
            _, metadata = read_safetensors(checkpoint)
            self.assertEqual(int(metadata["step"]), int(checkpoint.stem.split("-")[1]))
        self.found["half-written files left"] += len(list(run.rglob("*.partial-*")))
        json.loads((run / "status.json").read_text())

    def check_end(self, run):
        self.assertEqual(status(run)["state"], "finished")
        self.assertEqual(without_times(read_rows(run)), self.expected)
        self.assertEqual((run / "samples.jsonl").read_bytes(), (self.whole / "samples.jsonl").read_bytes())
        tensors, expected = (read_safetensors(checkpoints(at)[-1])[0] for at in (run, self.whole))
        self.assertEqual(tensors.keys(), expected.keys())
        for name, tensor in tensors.items():
            self.assertEqual(tensor.tobytes(), expected[name].tobytes(), name)
        self.assertFalse(list(run.rglob("*.partial-*")))
        self.found["runs finished"] += 1

    def kill_until(self, kills, kill_when):
        run = self.new_run()
        while self.found["kills"] < kills:
            self.check(run, self.session(run, kill_when))
            if status(run)["state"] == "finished":
                self.check_end(run)
                run = self.new_run()
        self.session(run, lambda process, _: process.wait())
        self.check_end(run)
        print(f"{type(self).__name__}, seed {SEED}: " + ", ".join(f"{value} {name}" for name, value in self.found.items()))


class AtAnyMoment(Killed):
    def test_nothing_is_lost_or_doubled(self):
        def kill_when(process, run):
            # From the start of the process, which takes some 0.2 s, to well into training.
            end = time.monotonic() + self.random.uniform(0, 0.9)
            while process.poll() is None and time.monotonic() < end:
                time.sleep(0.001)

        self.kill_until(KILLS, kill_when)


class WhileItSaves(Killed):
    # Large enough that writing a checkpoint takes a while.
    extra = ["--set", "model.width=192", "--set", "model.layers=3", "--set", "model.feed_forward=384"]
    steps = 140

    def test_the_newest_checkpoint_is_the_old_or_the_new_one(self):
        def kill_when(process, run):
            folder = run / "checkpoints"
            delay = self.random.uniform(0, 0.004)
            skip = self.random.randrange(3)
            seen = set()
            while process.poll() is None:
                partial = {name for name in os.listdir(folder) if ".partial-" in name} - self.left
                if partial - seen:
                    seen |= partial
                    if len(seen) > skip:
                        time.sleep(delay)
                        return
                time.sleep(0.0005)

        self.left = set()
        before = {}

        def kill_and_compare(process, run):
            before["steps"] = [path.name for path in checkpoints(run)]
            self.left = {name for name in os.listdir(run / "checkpoints") if ".partial-" in name}
            kill_when(process, run)

        self.kill_until(SAVE_KILLS, kill_and_compare)


if __name__ == "__main__":
    unittest.main()
