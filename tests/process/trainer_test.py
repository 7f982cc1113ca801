"""roper-train as used by people and schedulers: runs, kills, signals, errors, exit codes."""

import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TINY, TRAINER, TrainerTest, checkpoints, mark_stopped, read_rows, read_safetensors, status, wait_until, without_times


def sessions(run):
    path = run / "sessions.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class Running(TrainerTest):
    def test_a_run_that_cannot_begin_leaves_nothing_but_its_message(self):
        Path(self.runs).mkdir(exist_ok=True)
        text = Path(self.runs) / "few-letters.txt"
        text.write_text("a b c\n")
        for path, why in (("/bin/ls", "which does not occur in text"), (text, "vocabulary")):
            self.assert_fails(self.trainer("run", "text-quick", "--set", f"task.text={path}", "--runs", self.runs),
                              2, why)
        self.assertEqual([p for p in Path(self.runs).glob("*/run.toml")], [])

    def test_a_run_leaves_a_whole_folder(self):
        run = self.train("a", "--steps", 12, "--set", "evaluation.every=6")
        self.assertEqual([int(row["step"]) for row in read_rows(run)], list(range(1, 13)))
        self.assertEqual(status(run)["state"], "finished")
        self.assertEqual(len((run / "evaluations.csv").read_text().splitlines()), 3)
        samples = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
        self.assertEqual(len(samples), 8)
        self.assertTrue(checkpoints(run))
        # The saved specification is the given one.
        again = self.trainer("describe", run / "run.toml")
        self.assertIn("width = 32", again.stdout)

    def test_threads_of_openmp_spin_for_a_short_time_unless_the_user_chose_otherwise(self):
        chosen = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
        for i, more in enumerate(({}, {"OMP_WAIT_POLICY": "active"}, {"GOMP_SPINCOUNT": "7"})):
            with unittest.mock.patch.dict(os.environ, {**chosen, **more}, clear=True):
                process = self.start(f"run-{i}")
            lines = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
            environment = dict(line.decode().split("=", 1) for line in lines if line)
            self.assertEqual(environment, {**chosen, **(more or {"GOMP_SPINCOUNT": "3000"})})
            self.assertEqual(Path(f"/proc/{process.pid}/comm").read_text().strip(), "roper-train")
            process.kill()

    def test_json_lines(self):
        done = self.trainer("run", "addition-small", *TINY, "--steps", 3, "--runs", self.runs, "--json")
        events = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([e["event"] for e in events], ["start", "step", "step", "step", "evaluation", "end"])
        self.assertAlmostEqual(events[1]["loss"], 3.0, delta=0.6)  # a little more than ln 20
        self.assertEqual(done.stderr, "")

    def test_quiet_says_nothing(self):
        done = self.trainer("run", "addition-small", *TINY, "--steps", 2, "--runs", self.runs, "-q")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("", "", 0))

    def test_the_same_seed_twice(self):
        first, second = self.train("a", "--steps", 8, "--seed", 5), self.train("b", "--steps", 8, "--seed", 5)
        self.assertEqual(without_times(read_rows(first)), without_times(read_rows(second)))
        other = self.train("c", "--steps", 8, "--seed", 6)
        self.assertNotEqual(without_times(read_rows(first)), without_times(read_rows(other)))


class Interrupted(TrainerTest):
    LONG = ["--set", "checkpoints.every=40", "--set", "evaluation.every=100", "--steps", "300"]

    def test_killed_at_any_moment_and_resumed(self):
        whole = self.train("whole", *self.LONG)
        expected = without_times(read_rows(whole))
        for attempt in range(3):
            name = f"killed-{attempt}"
            process = self.start(name, *self.LONG)
            run = self.runs / name
            target = random.Random(attempt).randrange(5, 280)
            wait_until(lambda: len(read_rows(run)) >= target or process.poll() is not None)
            process.kill()
            process.wait()
            acknowledged = read_rows(run)
            done = self.trainer("resume", name, "--runs", self.runs, "-q")
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = read_rows(run)
            self.assertEqual(without_times(rows), expected)
            self.assertEqual(without_times(rows)[: len(acknowledged)], without_times(acknowledged))
            self.assertEqual(status(run)["state"], "finished")

    def test_killed_many_times_loses_no_row(self):
        name, run = "many", self.runs / "many"
        self.start(name, *self.LONG, "--set", "checkpoints.every=10").kill()
        for _ in range(4):
            before = len(read_rows(run))
            process = subprocess.Popen([TRAINER, "resume", str(run), "-q"])
            wait_until(lambda: status(run)["pid"] == process.pid and len(read_rows(run)) > before + 5
                       or process.poll() is not None)
            process.kill()
            process.wait()
            steps = [int(row["step"]) for row in read_rows(run)]
            self.assertEqual(steps, list(range(1, len(steps) + 1)))

    def test_more_steps_let_a_finished_run_go_on(self):
        def set_steps(run, to):
            path = run / "run.toml"
            text, count = re.subn(r"^steps = \d+", f"steps = {to}", path.read_text(), flags=re.MULTILINE)
            self.assertEqual(count, 1)
            path.write_text(text)

        constant = ("--set", "training.lr_schedule=constant", "--set", "training.warmup_steps=5")
        whole = self.train("whole", "--steps", 40, *constant)
        run = self.train("a", "--steps", 20, *constant)
        done = self.trainer("resume", run)
        self.assertEqual(done.returncode, 0)
        self.assertIn("increase training.steps in its run.toml", done.stderr.lower())
        set_steps(run, 40)
        done = self.trainer("resume", run)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((status(run)["state"], status(run)["step"], status(run)["steps"]), ("finished", 40, 40))
        self.assertEqual(without_times(read_rows(run)), without_times(read_rows(whole)))
        self.assertEqual(read_safetensors(checkpoints(run)[-1])[0].keys(), read_safetensors(checkpoints(whole)[-1])[0].keys())
        for name, tensor in read_safetensors(checkpoints(run)[-1])[0].items():
            self.assertTrue((tensor == read_safetensors(checkpoints(whole)[-1])[0][name]).all(), name)
        # A schedule that depends on the number of steps makes the learning rate jump, which is reported.
        cosine = self.train("b", "--steps", 20, "--set", "training.lr_schedule=cosine", "--set", "training.warmup_steps=2")
        set_steps(cosine, 40)
        done = self.trainer("resume", cosine)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("training.steps = 40 (was 20)", done.stderr)
        self.assertIn("the cosine schedule of the learning rate now ends at step 40", done.stderr)
        self.assertEqual([int(row["step"]) for row in read_rows(cosine)], list(range(1, 41)))
        # A number below the trained steps changes nothing.
        set_steps(cosine, 10)
        self.assertIn("is finished (40 steps)", self.trainer("resume", cosine).stderr)

    def test_first_interrupt_saves_and_stops(self):
        process = self.start("a", "--steps", "100000")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 0)
        run = self.runs / "a"
        self.assertEqual(status(run)["state"], "stopped")
        self.assertEqual(int(checkpoints(run)[-1].stem.split("-")[1]), len(read_rows(run)))

    def test_termination_is_preemption(self):
        process = self.start("a", "--steps", "100000")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 75)
        self.assertEqual(status(self.runs / "a")["state"], "preempted")

    def test_each_session_says_what_computed_it(self):
        process = self.start("a", "--steps", "100000")
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        resumed = subprocess.Popen([TRAINER, "resume", "a", "--runs", str(self.runs), "--threads", "2", "-q"])
        wait_until(lambda: len(sessions(self.runs / "a")) == 2)
        resumed.send_signal(signal.SIGTERM)
        resumed.wait(60)
        first, second = sessions(self.runs / "a")
        self.assertEqual((first["after_step"], first["threads"], second["threads"]), (0, 1, 2))
        self.assertEqual(second["after_step"], int(checkpoints(self.runs / "a")[0].stem.split("-")[1]))
        for key in ("device", "kernel", "products", "precision", "libtorch", "program", "host"):
            self.assertTrue(first[key], key)
            self.assertEqual(first[key], second[key])
        (row,) = map(json.loads, self.trainer("list", "--json", "--runs", self.runs).stdout.splitlines())
        self.assertIn(", 1 thread,", row["computed_by"][0])
        self.assertIn(", 2 threads,", row["computed_by"][1])

    def test_a_run_starts_from_the_weights_of_another(self):
        source = self.train("rope", "--steps", 30, "--set", "position=rope", "--set", "evaluation.every=30")
        more = ("--steps", 12, "--set", "position=roper", "--set", "initial_weights=rope", "--set", "value_rotation_warmup=8",
                "--set", "checkpoints.keep=9", "--set", "snapshots.every=6")
        run = self.train("roper", *more)
        self.assertIn('initial_weights = "rope"', (run / "run.toml").read_text())
        self.assertIn(f"initial weights from {checkpoints(source)[-1]}, step 30", (run / "log.txt").read_text())
        first = checkpoints(run)[0]
        self.assertEqual(int(first.stem.split("-")[1]), 0)
        before, _ = read_safetensors(checkpoints(source)[-1])
        begun, _ = read_safetensors(first)
        for name, tensor in before.items():
            if not name.startswith(("optimizer", "random")):
                self.assertEqual(tensor.tolist(), begun[name].tolist(), name)
        # Before the first step, nothing of the values rotates yet: the logits are those of the source.
        logits = [self.trainer("look", path, "--step", step, "--what", "logits", "--text", "?d=66+401;", "--json", "--runs", self.runs).stdout
                  for path, step in ((source, 30), (run, 0), (run, 12))]
        probabilities = [[one["probability"] for listed in json.loads(answer)["predictions"] for one in listed] for answer in logits]
        self.assertGreater(len(probabilities[0]), 5)
        for a, b in zip(*probabilities[:2]):
            self.assertAlmostEqual(a, b, delta=1e-5)
        self.assertGreater(max(abs(a - b) for a, b in zip(*probabilities[1:])), 1e-3)
        # Nothing else is needed to resume, even from the first step.
        for step in checkpoints(run)[1:]:
            step.unlink()
        shutil.rmtree(source)
        expected = without_times(read_rows(run))
        mark_stopped(run)
        self.assertEqual(self.trainer("resume", run).returncode, 0)
        self.assertIn("resumed from step 0", (run / "log.txt").read_text())
        self.assertEqual(without_times(read_rows(run)), expected)
        self.assertEqual(len(checkpoints(run)), 2)

    def test_initial_weights_of_another_model_are_refused(self):
        self.train("narrow", "--steps", 2, "--set", "width=16")
        self.train("table", "--steps", 2, "--set", "position=learned")
        self.train("post", "--steps", 2, "--set", "norm=post")
        self.train("wide", "--steps", 2, "--set", "width=128", "--set", "feed_forward=512")
        for source, why in (("narrow", "model.width = 16"), ("table", "model.position = learned"), ("post", "model.norm = post"),
                            ("wide", "model.width = 128"),
                            ("gone", "run or checkpoint not found")):
            done = self.trainer("run", "addition-small", *TINY, "--set", "initial_weights=" + source, "--runs", self.runs,
                                "--name", "from-" + source)
            self.assert_fails(done, 2, "training.initial_weights: ", why)
            self.assertFalse((self.runs / ("from-" + source)).exists())

    def test_a_killed_run_is_listed_as_interrupted(self):
        process = self.start("a", "--steps", "100000")
        self.assertIn("running", self.trainer("list", "--runs", self.runs).stdout)
        process.kill()
        process.wait()
        self.assertIn("interrupted", self.trainer("list", "--runs", self.runs).stdout)

    def test_two_trainers_do_not_share_a_run(self):
        self.start("a", "--steps", "100000")
        self.assert_fails(self.trainer("resume", "a", "--runs", self.runs), 2, "another trainer is working on")


class Refused(TrainerTest):
    def test_command_line(self):
        self.assert_fails(self.trainer(), 2)
        self.assert_fails(self.trainer("fly"), 2)
        self.assert_fails(self.trainer("run", "addition-smal"), 2, "did you mean addition-small?")
        self.assert_fails(self.trainer("run", "nowhere.toml"), 2, "file not found: nowhere.toml")
        self.assert_fails(self.trainer("run", "addition-small", "--set", "widht=3"), 2, 'did you mean "width"')
        self.assert_fails(self.trainer("run", "addition-small", "--set", "heads=3", "--runs", self.runs), 2, "must be divisible")
        self.assert_fails(self.trainer("run", "addition-small", "--steps", "x"), 2, "training.steps must be")
        self.assert_fails(self.trainer("run", "addition-small", "--seed", "9" * 30), 2, "training.data_seed must be")
        self.assert_fails(self.trainer("run", "addition-small", "--name", "../a", "--runs", self.runs), 2, "cannot name a run")
        self.assert_fails(self.trainer("sample", "additoin"), 2, "did you mean addition?")
        self.assert_fails(self.trainer("resume", "nothing", "--runs", self.runs), 2, "run not found")

    def test_a_wrong_specification_names_its_place(self):
        path = Path(self._folder.name) / "wrong.toml"
        for text, part in [("[model]\nwidht = 3\n", "wrong.toml:2:1"), ("[model]\nwidth = 'a'\n", "wrong.toml:2:9"),
                           ("[model\n", "wrong.toml:1"), ("[model]\nheads = 5\n", "model.heads"),
                           ("\xff\xfe", "wrong.toml"), ("", "sets no field")]:
            path.write_bytes(text.encode("latin-1"))
            self.assert_fails(self.trainer("run", path, "--runs", self.runs), 2, part)
        self.assertFalse(self.runs.exists())

    def test_no_cuda_here(self):
        if Path("/dev/nvidiactl").exists():
            self.skipTest("this machine has a GPU")
        done = self.trainer("run", "addition-small", *TINY, "--device", "cuda", "--steps", 1, "--runs", self.runs)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"setup --cuda|nvidia-smi")

    def test_a_damaged_checkpoint(self):
        run = self.train("a", "--steps", 6, "--set", "checkpoints.every=3")
        self.trainer("resume", run)
        newest = checkpoints(run)[-1]
        newest.write_bytes(newest.read_bytes()[:-10])
        changed = status(run)
        changed["state"] = "stopped"
        (run / "status.json").write_text(json.dumps(changed))
        self.assert_fails(self.trainer("eval", run), 4, newest.name, "beyond the end")
        self.assert_fails(self.trainer("eval", run, "--step", 99), 4, "no checkpoint at step 99")
        rows = without_times(read_rows(run))
        done = self.trainer("resume", run)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, newest.name + "(.|\n)*set aside; step 3 is the newest")
        self.assertEqual(without_times(read_rows(run)), rows)
        self.assertTrue(newest.with_name(newest.name + ".damaged").exists())
        for checkpoint in checkpoints(run):
            checkpoint.write_bytes(checkpoint.read_bytes()[:-10])
        (run / "status.json").write_text(json.dumps(changed))
        self.assert_fails(self.trainer("resume", run), 4, newest.name, "beyond the end", "No other checkpoint")
        self.assertEqual(without_times(read_rows(run)), rows)

    @unittest.skipIf(os.geteuid() == 0 and shutil.which("setpriv") is None, "root writes everywhere")
    def test_a_runs_folder_that_cannot_be_written(self):
        os.makedirs(self.runs)
        os.chmod(self.runs, 0o555)
        os.chmod(self._folder.name, 0o755)
        as_nobody = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        reachable = subprocess.run([*as_nobody, TRAINER, "--version"], capture_output=True)
        if reachable.returncode != 0:
            self.skipTest("the program lies where another user cannot reach it")
        done = subprocess.run([*as_nobody, TRAINER, "run", "addition-small", *TINY, "--steps", "1", "--runs",
                               str(self.runs)], capture_output=True, text=True)
        self.assert_fails(done, 6, str(self.runs), "belongs to" if as_nobody else "Permission denied", "--runs")

    def test_a_full_disk(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16000, 16000))
        done = self.trainer("run", "addition-small", *TINY, "--steps", 500, "--set", "snapshots.every=0", "--runs", self.runs,
                            "--name", "a", preexec_fn=limit)
        self.assert_fails(done, 6, "cannot write", "a/")
        rows = read_rows(self.runs / "a")
        self.assertGreater(len(rows), 0)
        self.assertEqual((self.runs / "a" / "metrics.csv").read_text()[-1], "\n")
        # With free space, it continues and ends as if nothing had happened.
        done = self.trainer("resume", "a", "--runs", self.runs, "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([int(r["step"]) for r in read_rows(self.runs / "a")], list(range(1, 501)))


class Verbosity(TrainerTest):
    def test_presets_describe_and_sample(self):
        self.assertIn("addition-paper", self.trainer("presets").stdout)
        self.assertIn("parameters", self.trainer("describe", "addition-paper").stdout)
        self.assertIn("learning_rate", self.trainer("describe").stdout)
        problems = self.trainer("sample", "addition", "--count", 5, "--seed", 3).stdout.splitlines()
        self.assertEqual(len(problems), 5)
        self.assertTrue(all(p.startswith("?d=") and p.endswith("#") for p in problems))
        self.assertEqual(problems, self.trainer("sample", "addition", "--count", 5, "--seed", 3).stdout.splitlines())

    def test_the_page_of_all_fields_is_up_to_date(self):
        page = Path(__file__).resolve().parents[2] / "docs" / "specification.md"
        self.assertIn(self.trainer("describe", "--markdown").stdout, page.read_text(),
                      "docs/specification.md: put the output of `roper-train describe --markdown` there")

    def test_exports(self):
        run = self.train("a", "--steps", 4)
        out = Path(self._folder.name)
        for what, file, text in [("metrics", "m.csv", []), ("weights", "w.safetensors", []),
                                 ("attention", "a.csv", ["--text", "?d=1+2;"]), ("logits", "l.safetensors", ["--text", "?d=1"])]:
            done = self.trainer("export", run, "--what", what, "--out", out / file, *text)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((out / file).exists())
        self.assertEqual((out / "m.csv").read_text(), (run / "metrics.csv").read_text())
        weights = [float(line.split(",")[4]) for line in (out / "a.csv").read_text().splitlines()[1:]]
        self.assertAlmostEqual(sum(weights), 2 * 7, places=3)  # heads × queries
        self.assert_fails(self.trainer("export", run, "--what", "attention", "--out", out / "x.csv"), 2, "--text")
        self.assert_fails(self.trainer("export", run, "--what", "weights", "--out", out / "x.csv"), 2, ".safetensors")
        self.assertEqual(json.loads(self.trainer("eval", run, "--problems", 4, "--json").stdout)["of"], 4)


if __name__ == "__main__":
    unittest.main()
