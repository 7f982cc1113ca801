"""Sweeps on a real Slurm cluster: several nodes on this machine."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TINY, TRAINER, TrainerTest, read_rows, status, without_times
from slurm_cluster import SlurmCluster, why_not

SETTINGS = {**dict(part.split("=") for part in TINY if "=" in part), "training.warmup_steps": 2, "evaluation.every": 1000,
            "checkpoints.every": 200, "device.threads": 1}


@unittest.skipIf(why_not(), why_not())
class SlurmTest(TrainerTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="roper-slurm-")
        cls.addClassCleanup(folder.cleanup)
        cls.cluster = SlurmCluster(folder.name + "/cluster", nodes=3, most_elements=8)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def tearDown(self):
        self.cluster.call("scancel", "--partition=main")
        self.wait(lambda: not self.elements())

    def write_sweep(self, steps, seeds):
        path = Path(self._folder.name) / "mine.toml"
        path.write_text(f'base = "addition-small"\nseeds = {seeds}\n[set]\n"training.steps" = {steps}\n'
                        + "".join(f'"{key}" = {value}\n' for key, value in SETTINGS.items())
                        + '[axes]\n"model.position" = ["rope", "roper"]\n')
        return path

    def sweep(self, path, *arguments, runs=None):
        return self.trainer("sweep", path, "--runs", runs or self.runs, *arguments, env=self.cluster.env)

    def submit(self, path, *arguments):
        done = self.sweep(path, "--slurm", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def states(self, path):
        done = self.sweep(path, "--status", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return {one["run"]: one for one in map(json.loads, done.stdout.splitlines())}

    def elements(self):
        """(id, state) of all pending and running elements."""
        return [tuple(line.split()) for line in self.cluster.call("squeue", "--noheader", "--array", "--format=%i %T").splitlines()]

    def wait(self, condition, seconds=120):
        end = time.monotonic() + seconds
        while not (found := condition()):
            if time.monotonic() > end:
                logs = sorted(self.runs.glob("slurm/*.log"), key=os.path.getmtime)[-8:]
                words = "\n".join(f"{path.name}: {path.read_text()[-400:]}" for path in logs)
                self.fail(f"nothing happened for a long time: {self.elements()[:20]}\n{words}")
            time.sleep(0.2)
        return found

    def hurry(self):
        """Shortens the two minutes for which a requeued element waits, but not to nothing: a node refuses an element for the rest
        of the second in which it was requeued there ("Job credential revoked"), and Slurm 22.05 then ends it as failed. If a node
        is still ending the same element, Slurm holds the element and drains the node, and an administrator must release both."""
        soon, never = time.strftime("%FT%T", time.localtime(time.time() + 10)), "Unknown"
        listed = self.cluster.call("squeue", "--noheader", "--array", "--states=PENDING", "--Format=JobArrayID:|,EligibleTime:")
        for element, eligible in (line.split("|") for line in listed.splitlines()):
            if soon < eligible.strip() < never:
                self.cluster.call("scontrol", "update", f"JobId={element}", "StartTime=now+3")
        if "held" in self.cluster.call("squeue", "--noheader", "--array", "--format=%r"):
            for element, state in self.elements():
                self.cluster.call("scontrol", "release", element)
            for node in self.cluster.call("sinfo", "--noheader", "--Node", "--states=drain", "--format=%N").split():
                self.cluster.call("scontrol", "update", f"NodeName={node}", "State=RESUME")

    def wait_until_finished(self, path, seconds=300):
        def unfinished():
            return [one["text"] for one in self.states(path).values() if one["state"] != "finished"]

        def no_task_is_left():
            """Whether none is listed for ten seconds: on a busy machine a requeued task is not listed for some of them."""
            return not any(self.elements() or time.sleep(2) for _ in range(6))

        self.wait(lambda: self.hurry() or not unfinished() or no_task_is_left(), seconds)
        self.assertEqual(unfinished(), [])

    def running(self, path):
        return [one for one in self.states(path).values() if one["state"] == "running" and one.get("slurm_state") == "RUNNING"]

    def storm(self, steps, seeds, preemptions, deaths, seed=1):
        """Trains a sweep while elements are preempted and nodes die; each run must equal the one trained on a single machine."""
        chance = random.Random(seed)
        path = self.write_sweep(steps, list(range(seeds)))
        self.submit(path)
        blows = ["preempt"] * preemptions + ["kill"] * deaths
        chance.shuffle(blows)
        for blow in blows:
            one = chance.choice(self.wait(lambda: self.hurry() or [one for one in self.running(path) if one["step"] > 0], 300))
            if blow == "preempt":
                self.cluster.call("scontrol", "requeue", one["array_task"])
            else:
                self.cluster.kill_node(one["node"])
                self.wait(lambda: f'{one["node"]} down' in self.cluster.call("sinfo", "--noheader", "--Node", "--format=%N %T"))
                self.cluster.start_node(one["node"])
        self.wait_until_finished(path, 1800)
        alone = Path(self._folder.name) / "alone"
        done = subprocess.run([TRAINER, "sweep", path, "--runs", alone, "--jobs", "2"], capture_output=True, text=True, timeout=3600)
        self.assertEqual(done.returncode, 0, done.stderr)
        runs = [one.name for one in alone.iterdir() if (one / "run.toml").exists()]
        self.assertEqual(len(runs), 2 * seeds)
        for name in runs:
            self.assertEqual(without_times(read_rows(self.runs / name)), without_times(read_rows(alone / name)), name)
        self.assertIn("no run remains to be submitted", self.submit(path).stderr)
        return path

    def test_an_array_with_two_preempted_and_a_node_killed_trains_what_one_machine_does(self):
        self.storm(4000, 3, preemptions=2, deaths=1)

    @unittest.skipUnless("ROPER_SLURM_STORM" in os.environ, "takes a quarter of an hour: ROPER_SLURM_STORM=1")
    def test_two_hundred_runs_twenty_preemptions_five_dead_nodes(self):
        path = self.storm(1500, 100, preemptions=20, deaths=5)
        keep = os.environ["ROPER_SLURM_STORM"]
        if keep != "1":
            shutil.copytree(self.runs, keep)
        self.assertEqual(len(self.states(path)), 200)

    def test_what_waits_is_not_submitted_twice(self):
        path = self.write_sweep(100000, [0, 1])
        first = self.submit(path, "--at-once", 1)
        job = first.stdout.strip()
        again = self.submit(path)
        self.assertEqual(again.stdout, "")
        self.assertIn("no run remains to be submitted", again.stderr)
        self.assertEqual(len(self.elements()), 4)
        self.wait(lambda: self.running(path))
        states = self.states(path)
        self.assertIn(f"running on n1 ({job}_0), step ", states["mine-rope-s0"]["text"])
        waiting = states["mine-roper-s0"]
        self.assertEqual((waiting["slurm_state"], waiting["reason"]), ("PENDING", "JobArrayTaskLimit"))
        self.assertEqual(waiting["text"], f"waiting ({job}_1): JobArrayTaskLimit")
        done = self.sweep(path, "--cancel")
        self.assertIn("4 array tasks cancelled", done.stderr)
        self.wait(lambda: not self.elements())
        self.wait(lambda: self.states(path)["mine-rope-s0"]["state"] == "preempted")
        self.assertIn("4 runs in 1 array submitted", self.submit(path).stderr)

    def test_the_environment_changes_nothing(self):
        """Regression: each variable hid pending elements, which were then submitted again, or changed the job's name, array or
        output."""
        path = self.write_sweep(100000, [0, 1])
        filters = {"SQUEUE_STATES": "RUNNING", "SQUEUE_USERS": "nobody", "SQUEUE_NAMES": "other", "SQUEUE_PARTITION": "nowhere",
                   "SQUEUE_FORMAT2": "name", "SQUEUE_SORT": "-i", "SCANCEL_STATE": "RUNNING", "SCANCEL_NAME": "other",
                   "SBATCH_JOB_NAME": "other", "SBATCH_ARRAY_INX": "0-99", "SBATCH_OUTPUT": "/nowhere/log", "SBATCH_WAIT": "1"}
        env = {**self.cluster.env, **filters}
        first = self.trainer("sweep", path, "--runs", self.runs, "--slurm", "--at-once", "1", env=env)
        self.assertIn("4 runs in 1 array submitted", first.stderr)
        again = self.trainer("sweep", path, "--runs", self.runs, "--slurm", env=env)
        self.assertIn("no run remains to be submitted", again.stderr)
        self.assertEqual(len(self.elements()), 4)
        self.wait(lambda: self.running(path))
        done = self.trainer("sweep", path, "--runs", self.runs, "--status", env=env)
        self.assertEqual(done.stdout.count("JobArrayTaskLimit"), 3, done.stdout)
        cancelled = self.trainer("sweep", path, "--runs", self.runs, "--cancel", env=env)
        self.assertIn("4 array tasks cancelled", cancelled.stderr)
        self.wait(lambda: not self.elements())

    def test_an_element_whose_time_is_over_goes_on_later(self):
        path = self.write_sweep(3000, [0])
        self.submit(path)
        one = self.wait(lambda: [one for one in self.running(path) if one["step"] > 10])[0]
        # This is what Slurm does before the time limit, because of --signal=B:TERM@120.
        self.cluster.call("scancel", "--signal=TERM", "--batch", one["array_task"])
        self.wait(lambda: self.states(path)[one["run"]].get("slurm_state") == "PENDING" or self.states(path)[one["run"]]["state"] == "finished")
        self.assertEqual(status(self.runs / one["run"])["state"], "preempted")
        self.wait_until_finished(path)
        self.assertEqual([int(row["step"]) for row in read_rows(self.runs / one["run"])], list(range(1, 3001)))

    def test_more_runs_than_an_array_holds_and_several_runs_an_element(self):
        path = self.write_sweep(3, list(range(5)))
        self.assertIn("10 runs in 2 arrays submitted", self.submit(path).stderr)
        self.wait_until_finished(path)
        packed = Path(self._folder.name) / "packed"
        done = self.sweep(path, "--slurm", "--pack", "4", runs=packed)
        self.assertEqual(done.returncode, 0, done.stderr)
        (submission,) = packed.glob("slurm/*.json")
        self.assertEqual([len(runs) for runs in json.loads(submission.read_text())["elements"]], [4, 4, 2])
        self.wait(lambda: not self.elements())
        self.assertEqual({status(folder)["state"] for folder in packed.iterdir() if (folder / "run.toml").exists()}, {"finished"})

    def test_the_script_is_one_that_slurm_takes_wherever_the_runs_are(self):
        self.runs = Path(self._folder.name) / "it's 100%n \"here\""
        path = self.write_sweep(3, [0])
        script = self.sweep(path, "--slurm", "--dry-run", "--time", "0:10:00", "--partition", "main", "--sbatch=--mem=100M")
        self.assertFalse(self.runs.exists(), "a dry run changes nothing")
        file = Path(self._folder.name) / "script.sh"
        file.write_text(script.stdout)
        tested = subprocess.run(["sbatch", "--test-only", file], env=self.cluster.env, capture_output=True, text=True)
        self.assertEqual(tested.returncode, 0, tested.stderr)
        self.assertIn("to start at", tested.stderr)
        self.submit(path, "--time", "0:10:00")
        self.wait_until_finished(path)
        self.assertEqual(len(list(self.runs.glob("slurm/mine.*-[01].log"))), 2)

    def test_why_an_element_ended_is_said(self):
        path = self.write_sweep(3, [0])
        self.submit(path, "--program", "/nowhere/roper-train")
        self.wait(lambda: not self.elements())
        self.assertRegex(self.states(path)["mine-rope-s0"]["text"], "^not submitted; its array task ended: .*/nowhere/roper-train")
        self.submit(path)
        self.wait_until_finished(path)

    def test_what_slurm_refuses_is_said_and_leaves_nothing(self):
        path = self.write_sweep(3, [0])
        self.assert_fails(self.sweep(path, "--slurm", "--partition", "nowhere"), 1, "sbatch failed", "nvalid partition")
        self.assertEqual([one.name for one in (self.runs / "slurm").iterdir()], ["lock"])
        self.assertEqual(self.states(path)["mine-rope-s0"]["text"], "not submitted")
        self.assert_fails(self.sweep(path, "--slurm", "--sbatch", "--mem=1\n#SBATCH --uid=0"), 2, "line break")
        alone = self.trainer("sweep", path, "--runs", self.runs, "--slurm", env={"PATH": "/nowhere"})
        self.assert_fails(alone, 1, "cannot start sbatch", "login node")

    def test_one_run_on_two_nodes(self):
        command = [TRAINER, "run", "addition-small", *TINY, "--steps", "40", "--runs", str(self.runs), "--name", "r", "--processes", "2"]
        done = subprocess.run(["srun", "--nodes=2", "--ntasks=2", "--mpi=none", *command], env=self.cluster.env, capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(status(self.runs / "r")["state"], "finished")
        self.assertEqual([int(row["step"]) for row in read_rows(self.runs / "r")], list(range(1, 41)))
        self.assertEqual([one.name for one in self.runs.iterdir()], ["r"], "one process records")
        together = Path(self._folder.name) / "together"
        command[command.index(str(self.runs))] = str(together)
        self.assertEqual(subprocess.run(command, capture_output=True, timeout=120).returncode, 0)
        self.assertEqual(without_times(read_rows(self.runs / "r")), without_times(read_rows(together / "r")))

    def together(self, *words, processes=2):
        """Runs two srun tasks that train a run together. Returns their output and exit code."""
        command = ["srun", "--nodes=2", "--ntasks=2", "--mpi=none", TRAINER, *map(str, words), "--runs", str(self.runs), "--processes", str(processes)]
        return subprocess.run(command, env=self.cluster.env, capture_output=True, text=True, timeout=60)

    def test_several_processes_that_do_not_fit_together_are_refused(self):
        for more, processes, said in (((), 2, "which must name the run"),
                                      (("--name", "r"), 3, "srun started 2 processes, but --processes is 3")):
            done = self.together("run", "addition-small", *TINY, *more, processes=processes)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stderr.count(said), 2, done.stderr)
            self.assertFalse(list(self.runs.glob("*/run.toml")))

    def test_the_others_are_told_why_the_first_process_has_ended(self):
        self.train("taken", "--steps", 2)
        for words, said, code in ((("run", "addition-small", *TINY, "--name", "taken"), "already exists", 2),
                                  (("resume", "taken"), "is finished", 0)):
            done = self.together(*words)
            self.assertEqual(done.stderr.count(said), 2, done.stderr)
            self.assertEqual(done.returncode, code)
        # A new run that cannot start leaves nothing behind.
        done = self.together("run", "addition-small", *TINY, "--set", "training.batch=1", "--name", "small")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("2 processes cannot share a batch of 1"), 2)
        self.assertFalse((self.runs / "small").exists())

    def test_a_run_that_fails_on_two_nodes_ends_as_it_does_on_one(self):
        done = self.together("run", "addition-small", *TINY, "--set", "training.steps=2000", "--set", "training.warmup_steps=0",
                             "--set", "training.learning_rate=10", "--set", "training.clip_norm=0", "--set", "device.precision=fp32",
                             "--name", "r")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(status(self.runs / "r")["state"], "failed")
        self.assertEqual(list((self.runs / "r").glob("processes.*")), [])  # the announcement was removed

    def test_work_without_slurm(self):
        path = self.write_sweep(3, [0])
        self.submit(path, "--sbatch=--hold")  # held, because a few steps would finish too soon
        self.cluster.call("scancel", "--partition=main")
        self.wait(lambda: not self.elements())
        (submission,) = self.runs.glob("slurm/*.json")
        # Without squeue, only the state of the folder is known.
        known = self.trainer("sweep", path, "--runs", self.runs, "--status", env={**os.environ, "PATH": "/nowhere"})
        self.assertEqual(known.returncode, 0, known.stderr)
        self.assertIn("cannot query the scheduler: cannot start squeue", known.stderr)
        self.assertEqual(known.stdout.count("submitted; state in Slurm unknown"), 2, known.stdout)
        self.assert_fails(self.trainer("work", submission), 2, "no array task given")
        self.assert_fails(self.trainer("work", submission, "--array-task", 2), 2, "array tasks 0 to 1")
        self.assertEqual(self.trainer("work", submission, "--array-task", 1).returncode, 0)
        self.assertEqual(status(self.runs / "mine-roper-s0")["state"], "finished")
        submission.write_text(submission.read_text().replace("mine-roper-s0", "../elsewhere"))
        self.assert_fails(self.trainer("work", submission, "--array-task", 1), 2, "is not a valid name of a run")


if __name__ == "__main__":
    unittest.main()
