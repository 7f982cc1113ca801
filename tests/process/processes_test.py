"""One run trained by several processes together."""

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TrainerTest, checkpoints, mark_stopped, read_rows, read_safetensors, status, wait_until, without_times

DROPOUT = ("--set", "model.dropout=0.1", "--set", "training.batch=6")


def followers_of(pid):
    """The processes that a trainer has started."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if b"follow" in words and (parent == pid or str(pid).encode() in words):
            found.append(int(entry.name))
    return found


class ProcessesTest(TrainerTest):
    def test_two_find_what_one_finds(self):
        alone = read_rows(self.train("alone", "--steps", 30, "--set", "device.precision=fp32"))
        together = read_rows(self.train("together", "--steps", 30, "--set", "device.precision=fp32", "--processes", 2))
        self.assertEqual([row["step"] for row in together], [row["step"] for row in alone])
        (session,) = map(json.loads, (self.runs / "together" / "sessions.jsonl").read_text().splitlines())
        self.assertEqual((session["processes"], session["threads"]), (2, 1))
        for one, two in zip(alone, together):
            self.assertAlmostEqual(float(one["loss"]), float(two["loss"]), delta=1e-4)
            self.assertEqual(one["tokens"], two["tokens"])
        weights, _ = read_safetensors(checkpoints(self.runs / "alone")[-1])
        theirs, _ = read_safetensors(checkpoints(self.runs / "together")[-1])
        for name in weights:
            if weights[name].dtype == "float32":
                self.assertLess(abs(weights[name] - theirs[name]).max(), 1e-3, name)

    def test_all_start_from_the_given_weights(self):
        self.train("source", "--steps", 20, "--set", "position=rope")
        more = ("--steps", 10, "--set", "device.precision=fp32", "--set", "initial_weights=source", "--set", "value_rotation_warmup=8")
        alone, together = (read_rows(self.train(name, *more, *processes)) for name, *processes in (("alone",), ("together", "--processes", 2)))
        random = read_rows(self.train("random", "--steps", 10, "--set", "device.precision=fp32"))
        self.assertLess(float(alone[0]["loss"]), float(random[0]["loss"]) - 0.1)
        self.assertEqual([len(alone), len(together)], [10, 10])
        for one, two in zip(alone, together):
            self.assertAlmostEqual(float(one["loss"]), float(two["loss"]), delta=1e-4)

    def kill_one(self, name, which):
        """Trains until a checkpoint is saved, then kills one of two processes. Returns the exit code of the first."""
        process = self.start(name, *DROPOUT, "--set", "checkpoints.every=50", "--set", "training.steps=2000", "--processes", "2")
        wait_until(lambda: checkpoints(self.runs / name), process)
        (follower,) = followers_of(process.pid)
        os.kill(follower if which == "follower" else process.pid, signal.SIGKILL)
        code = process.wait(60)
        wait_until(lambda: not Path(f"/proc/{follower}").exists() or followers_of(process.pid) == [])
        return code

    def test_one_that_dies_ends_the_run_which_is_resumed_as_if_it_had_not(self):
        whole = self.train("whole", *DROPOUT, "--steps", 2000, "--set", "checkpoints.every=50", "--processes", 2)
        for name, which, code in (("follower-dies", "follower", 75), ("first-dies", "first", -signal.SIGKILL)):
            self.assertEqual(self.kill_one(name, which), code)
            if which == "follower":
                left = status(self.runs / name)
                self.assertEqual((left["state"], left["exit_code"]), ("preempted", 75))
                self.assertIn("has ended or does not respond", left["error"])
            done = self.trainer("resume", name, "--runs", self.runs, "--processes", 2, "--threads", 1)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(without_times(read_rows(self.runs / name)), without_times(read_rows(whole)))

    def test_any_number_goes_on_from_a_checkpoint(self):
        run = self.train("r", *DROPOUT, "--steps", 20, "--set", "checkpoints.every=10", "--processes", 3)
        for processes in (1, 4, 2):
            mark_stopped(run)
            text = (run / "run.toml").read_text()
            steps = int(read_rows(run)[-1]["step"]) + 10
            (run / "run.toml").write_text(text.replace(f"\nsteps = {steps - 10} ", f"\nsteps = {steps} "))
            done = self.trainer("resume", run, "--processes", processes, "--threads", 1)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([int(row["step"]) for row in read_rows(run)], list(range(1, steps + 1)))

    def test_what_goes_wrong_in_a_step_ends_all(self):
        process = self.begin("r", "--set", "training.steps=2000", "--set", "training.warmup_steps=0", "--set", "training.learning_rate=10", "--set", "training.clip_norm=0",
                             "--set", "device.precision=fp32", "--processes", "2")
        self.assertEqual(process.wait(60), 3)
        self.assertEqual(status(self.runs / "r")["state"], "failed")
        wait_until(lambda: followers_of(process.pid) == [])

    def test_a_process_that_is_gone_before_the_first_step_is_not_waited_for(self):
        process = self.begin("r", "--processes", "2")
        wait_until(lambda: followers_of(process.pid), process)
        began = time.monotonic()
        os.kill(followers_of(process.pid)[0], signal.SIGKILL)
        self.assertEqual(process.wait(60), 75)
        self.assertLess(time.monotonic() - began, 30)  # not the minutes for which it waits for other processes
        self.assertIn("has ended with exit code 137", status(self.runs / "r")["error"])

    def test_told_to_end_all_end(self):
        process = self.start("r", "--set", "training.steps=100000", "--processes", "2")
        (follower,) = followers_of(process.pid)
        for pid in (follower, process.pid):  # like a scheduler, which signals all processes
            os.kill(pid, signal.SIGTERM)
        self.assertEqual(process.wait(60), 75)
        self.assertEqual(status(self.runs / "r")["state"], "preempted")
        self.assertFalse(Path(f"/proc/{follower}").exists())
        self.assertEqual(len(checkpoints(self.runs / "r")), 1)

    def test_what_cannot_be_shared_is_said(self):
        self.assert_fails(self.trainer("run", "addition-small", "--set", "training.batch=4", "--processes", 5, "--runs", self.runs), 2,
                          "5 processes cannot share a batch of 4")
        self.assert_fails(self.trainer("run", "addition-small", "--processes", 0), 2, "--processes")
        self.assert_fails(self.trainer("follow", "nowhere", "--rank", 1, "--of", 2), 2, "HOST:PORT")


if __name__ == "__main__":
    unittest.main()
