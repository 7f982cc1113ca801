"""Many runs: the queue, sweeps, comparisons, and how independent programs read a run."""

import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TINY, TRAINER, TrainerTest, checkpoints, mark_stopped, read_rows, read_safetensors, status, wait_until, without_times

QUICK = [*TINY, "--set", "training.steps=40", "--set", "training.warmup_steps=4", "--set", "evaluation.every=20"]
QUICK = [part for part in QUICK if part not in ("--threads", "1")] + ["--set", "device.threads=1"]


def set_steps(run, to):
    path = run / "run.toml"
    text, count = re.subn(r"^steps = \d+", f"steps = {to}", path.read_text(), flags=re.MULTILINE)
    assert count == 1
    path.write_text(text)


def names_in_queue(runs):
    path = runs / "queue.toml"
    return re.findall(r'^name = "(.*)"', path.read_text(), re.M) if path.exists() else []


class Queue(TrainerTest):
    def enqueue(self, seeds, *settings):
        done = self.trainer("enqueue", "addition-small", "--seeds", seeds, "--twins", *QUICK, *settings, "--runs", self.runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def test_runs_are_trained_in_order_and_leave_the_queue(self):
        names = self.enqueue("0-1")
        self.assertEqual(names_in_queue(self.runs), names)
        self.assertEqual([status(self.runs / name)["state"] for name in names], ["queued"] * 4)
        done = self.trainer("queue", "--runs", self.runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split()[0] for line in done.stderr.splitlines() if line.endswith("starts")], names)
        self.assertEqual(names_in_queue(self.runs), [])
        self.assertEqual([status(self.runs / name)["state"] for name in names], ["finished"] * 4)

    def test_the_file_can_be_edited_by_hand(self):
        names = self.enqueue("0-1")
        order = [names[2], names[0]]
        (self.runs / "queue.toml").write_text("at_once = 1\n" + "".join(f'[[run]]\nname = "{name}"\n' for name in order)
                                              + f'[[run]]\nname = "{names[3]}"\nheld = true\n')
        done = self.trainer("queue", "--runs", self.runs)
        self.assertEqual([line.split()[0] for line in done.stderr.splitlines() if line.endswith("starts")], order)
        self.assertEqual(status(self.runs / names[1])["state"], "queued", "it was taken out")
        self.assertEqual(names_in_queue(self.runs), [names[3]], "what is held stays")

    def test_a_wrong_file_is_named_and_waited_for(self):
        names = self.enqueue("0")
        right = (self.runs / "queue.toml").read_text()
        (self.runs / "queue.toml").write_text(right.replace("at_once = 1", "at_once = one"))
        worker = subprocess.Popen([TRAINER, "queue", "--runs", str(self.runs)], stderr=subprocess.PIPE, text=True)
        self.addCleanup(worker.kill)
        self.assertIn("queue.toml:2:", worker.stderr.readline())
        (self.runs / "queue.toml").write_text(right)
        worker.communicate(timeout=60)
        self.assertEqual([status(self.runs / name)["state"] for name in names], ["finished"] * 2)

    def test_thousands_of_missing_runs_are_held_at_once(self):
        self.runs.mkdir(parents=True)
        (self.runs / "queue.toml").write_text("".join(f'[[run]]\nname = "r{i}"\n' for i in range(3000)))
        self.trainer("trust", self.runs)
        done = self.trainer("queue", "--runs", self.runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(len(done.stderr.splitlines()), 10)
        self.assertIn("2995 more runs that cannot be read are held", done.stderr)
        self.assertEqual((self.runs / "queue.toml").read_text().count("held = true"), 3000)

    def test_workers_and_trainers_killed_at_random(self):
        names = self.enqueue("0-4", "--set", "training.steps=120", "--set", "checkpoints.every=10")
        chance = random.Random(5)
        for _ in range(6):
            worker = subprocess.Popen([TRAINER, "queue", "--runs", str(self.runs), "--background"])
            time.sleep(chance.uniform(0.2, 0.9))
            for name in names:
                pid = status(self.runs / name)["pid"]
                if status(self.runs / name)["state"] == "running" and pid > 0 and chance.random() < 0.7:
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
            time.sleep(chance.uniform(0, 0.3))
            worker.kill()
            worker.wait()
        done = self.trainer("queue", "--runs", self.runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in names:
            self.assertEqual(status(self.runs / name)["state"], "finished", done.stderr)
            self.assertEqual([int(row["step"]) for row in read_rows(self.runs / name)], list(range(1, 121)))

    def test_a_worker_that_is_told_to_end_preempts_its_trainers(self):
        names = self.enqueue("0", "--set", "training.steps=100000")
        worker = subprocess.Popen([TRAINER, "queue", "--runs", str(self.runs)], stderr=subprocess.DEVNULL)
        self.addCleanup(worker.kill)
        wait_until(lambda: len(read_rows(self.runs / names[0])) > 3)
        worker.send_signal(signal.SIGINT)
        self.assertEqual(worker.wait(60), 75)
        self.assertEqual(status(self.runs / names[0])["state"], "preempted")
        self.assertEqual(names_in_queue(self.runs), names)

    def test_more_steps_let_a_finished_run_go_on(self):
        (name, _) = self.enqueue("0")
        run = self.runs / name
        self.trainer("queue", "--runs", self.runs)
        set_steps(run, 60)
        (self.runs / "queue.toml").write_text(f'[[run]]\nname = "{name}"\n')
        self.trainer("trust", self.runs)
        listed = self.trainer("list", "--runs", self.runs).stdout
        self.assertRegex(listed, rf"{name} +unfinished +40/60")
        done = self.trainer("queue", "--runs", self.runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{name} resumes from step 40: its run.toml now asks for 60 steps", done.stderr)
        self.assertEqual((status(run)["state"], status(run)["step"], status(run)["steps"]), ("finished", 60, 60))
        self.assertEqual([int(row["step"]) for row in read_rows(run)], list(range(1, 61)))
        self.assertEqual(names_in_queue(self.runs), [])

    def test_a_run_without_a_checkpoint_does_not_begin_again(self):
        (name, _) = self.enqueue("0")
        run = self.runs / name
        self.trainer("queue", "--runs", self.runs)
        set_steps(run, 60)
        for path in checkpoints(run):
            path.unlink()
        before = read_rows(run)
        done = self.trainer("resume", run)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("It has no checkpoint to resume from", done.stderr)
        self.assertEqual(read_rows(run), before)

    def test_a_finished_run_that_cannot_go_on_keeps_what_it_reached(self):
        (name, _) = self.enqueue("0")
        run = self.runs / name
        self.trainer("queue", "--runs", self.runs)
        set_steps(run, 60)
        text = (run / "run.toml").read_text()
        (run / "run.toml").write_text(text.replace("batch = 4 ", "batch = 5 "))
        self.assert_fails(self.trainer("resume", run), 2, "training.batch = 5 (was 4)")
        self.assertEqual((status(run)["state"], status(run)["step"]), ("finished", 40))
        self.assertIn("cannot continue: run.toml differs from the settings that the run was trained with", (run / "log.txt").read_text())
        (self.runs / "queue.toml").write_text(f'[[run]]\nname = "{name}"\n')
        self.trainer("trust", self.runs)
        done = self.trainer("queue", "--runs", self.runs)
        self.assertIn(f"{name} is held: its trainer ended 3 times without progress", done.stderr)
        set_steps(run, 40)
        self.assertRegex(self.trainer("list", "--runs", self.runs).stdout, rf"{name} +finished +40/40")

    def test_two_at_a_time(self):
        names = self.enqueue("0-1", "--set", "training.steps=300")
        path = self.runs / "queue.toml"
        path.write_text(path.read_text().replace("at_once = 1", "at_once = 2"))
        worker = subprocess.Popen([TRAINER, "queue", "--runs", str(self.runs), "--background"])
        self.addCleanup(worker.kill)
        running = lambda: sum(status(self.runs / name)["state"] == "running" for name in names)
        wait_until(lambda: running() == 2, None)
        worker.wait(120)
        self.assertEqual([status(self.runs / name)["state"] for name in names], ["finished"] * 4)


class Sweep(TrainerTest):
    def sweep(self, *arguments, **more):
        path = Path(self._folder.name) / "mine.toml"
        settings = dict(part.split("=") for part in QUICK if "=" in part)
        settings |= {f"training.{key}": value for key, value in more.items()}
        path.write_text('base = "addition-small"\nseeds = [0, 1]\n[set]\n'
                        + "".join(f'"{key}" = {value}\n' for key, value in settings.items())
                        + '[axes]\n"model.position" = ["rope", "roper"]\n')
        return self.trainer("sweep", path, "--runs", self.runs, *arguments)

    NAMES = ["mine-rope-s0", "mine-roper-s0", "mine-rope-s1", "mine-roper-s1"]

    def test_a_second_call_does_only_what_is_missing(self):
        done = self.sweep()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(path.name for path in self.runs.iterdir() if path.is_dir()), sorted(self.NAMES))
        subprocess.run(["rm", "-r", str(self.runs / "mine-rope-s1")], check=True)
        again = self.sweep("--jobs", 2)
        self.assertIn("4 runs, 3 finished before", again.stderr)
        self.assertEqual([line for line in again.stderr.splitlines() if line.endswith("starts")], ["mine-rope-s1 starts"])

    def test_more_steps_let_finished_runs_go_on(self):
        self.assertEqual(self.sweep().returncode, 0)
        self.assert_fails(self.sweep(steps=60), 2, "set training.steps = 60 in its run.toml to continue it")
        for name in self.NAMES[:2]:
            set_steps(self.runs / name, 60)
        for name in self.NAMES[2:]:
            subprocess.run(["rm", "-r", str(self.runs / name)], check=True)
        done = self.sweep(steps=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 runs, 0 finished before", done.stderr)
        for name in self.NAMES[:2]:
            self.assertIn(f"{name} resumes from step 40: its run.toml now asks for 60 steps", done.stderr)
        for name in self.NAMES:
            self.assertEqual((status(self.runs / name)["state"], status(self.runs / name)["step"]), ("finished", 60))
        self.assertIn("4 finished", self.sweep("--status", steps=60).stderr)

    def test_a_run_of_another_experiment_is_not_taken_for_its_own(self):
        self.train("mine-rope-s0", "--steps", 5)
        self.assert_fails(self.sweep(), 2, "is not the experiment that the sweep describes")

    def test_each_seed_starts_from_the_weights_of_its_own_run(self):
        for seed in (0, 1):
            self.train(f"rope-s{seed}", "--steps", 5, "--set", "position=rope", "--set", f"model_seed={seed}", "--set", f"data_seed={seed}")
        path = Path(self._folder.name) / "next.toml"
        settings = dict(part.split("=") for part in QUICK if "=" in part) | {"training.steps": 10}
        path.write_text('base = "addition-small"\nseeds = [0, 1]\n[set]\n' + "".join(f'"{key}" = {value}\n' for key, value in settings.items())
                        + '"training.initial_weights" = "rope-s{seed}"\n'
                        + '[[variants]]\nname = "rope"\n"model.position" = "rope"\n'
                        + '[[variants]]\nname = "warmup"\n"model.position" = "roper"\n"training.value_rotation_warmup" = 5\n')
        done = self.trainer("sweep", path, "--runs", self.runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, source in (("next-rope-s0", "rope-s0"), ("next-warmup-s1", "rope-s1")):
            self.assertIn('initial_weights = "rope-s{seed}" ', (self.runs / name / "run.toml").read_text())
            self.assertIn(f"initial weights from {checkpoints(self.runs / source)[-1]}, step 5 of 5", (self.runs / name / "log.txt").read_text())
        self.assertIn("4 runs, 4 finished before", self.trainer("sweep", path, "--runs", self.runs).stderr)
        # Seeds are paired, although each started from other weights.
        compared = self.trainer("compare", "--runs", self.runs, "--filter", "next", "--json")
        self.assertEqual(compared.returncode, 0, compared.stderr)
        answer = json.loads(compared.stdout)
        self.assertEqual(answer["pairs"], 2, answer)

    def test_one_run_alone(self):
        self.assertEqual(self.sweep("--only", 2).returncode, 0)
        self.assertEqual(status(self.runs / "mine-rope-s1")["state"], "finished")
        self.assertFalse((self.runs / "mine-rope-s0").exists())
        self.assert_fails(self.sweep("--only", 4), 2, "runs 0 to 3")

    def test_a_script_for_slurm_is_printed_where_there_is_no_slurm(self):
        script = self.sweep("--slurm", "--dry-run").stdout
        self.assertIn("#SBATCH --array=0-3\n", script)
        self.assertFalse(self.runs.exists())
        self.assertIn("#SBATCH --array=0-1\n", self.sweep("--slurm", "--dry-run", "--pack", 3).stdout)
        self.assert_fails(self.sweep("--dry-run"), 2, "--slurm")
        for other in (("--only", 0), ("--jobs", 2), ("--status",), ("--cancel",)):
            self.assert_fails(self.sweep("--slurm", *other), 2, "excludes")


class Comparison(TrainerTest):
    def make_run(self, position, seed, correct, name=None):
        """Creates a finished run with a known outcome."""
        run = self.train(name or f"{position}-s{seed}", "--steps", 2, "--set", f"model.position={position}", "--seed", seed)
        path = run / "evaluations.csv"
        header = path.read_text().splitlines()[0]
        path.write_text(f"{header}\n2,0.1,{correct},128,0.5,,,,0\n")

    def test_what_differs_between_runs(self):
        for name, width, method in (("a", 16, "rope"), ("b", 32, "roper")):
            self.train(name, "--steps", 2, "--set", f"model.width={width}", "--set", f"model.position={method}")
        done = self.trainer("diff", "a", "b", "--json", "--runs", self.runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = json.loads(done.stdout)
        self.assertEqual(table["runs"], ["a", "b"])
        settings = {row["name"]: row["values"] for row in table["settings"]}
        self.assertEqual(settings["model.width"], ["16", "32"])
        self.assertEqual(settings["model.position"], ["rope", "roper"])
        self.assertNotIn("training.data_seed", settings)
        outcomes = {row["name"]: row["values"] for row in table["outcomes"]}
        self.assertEqual(outcomes["step"], ["2 of 2", "2 of 2"])

        lines = self.trainer("diff", "a", "b", "--runs", self.runs).stdout.splitlines()
        self.assertRegex(lines[0], r"^ +a +b$")
        width = next(line for line in lines if line.startswith("model.width"))
        self.assertEqual((width.index("16"), width.index("32")), (lines[0].index("a"), lines[0].index("b")))

        for names, said in ((["a"], "2 required"), (["a", "nobody"], "nobody")):
            wrong = self.trainer("diff", *names, "--runs", self.runs)
            self.assertEqual(wrong.returncode, 2, wrong.stderr)
            self.assertIn(said, wrong.stderr)

    def test_all_outcomes_in_one_table(self):
        for seed, (a, b) in enumerate(((98, 110), (101, 104), (120, 119))):
            self.make_run("rope", seed, a)
            self.make_run("roper", seed, b)
        exported = Path(self._folder.name) / "outcomes.csv"
        done = self.trainer("compare", "--all", "--json", "--csv", exported, "--runs", self.runs)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["measure"] + str(row.get("share", "")): row for row in map(json.loads, done.stdout.splitlines())}
        self.assertAlmostEqual(rows["final_correct"]["mean"], (12 + 3 - 1) / 3)
        self.assertIn("steps_until0.5", rows)
        self.assertGreaterEqual(rows["final_correct"]["holm_p"], rows["final_correct"]["test_p"])
        self.assertIn(rows["final_correct"]["named_before"], (True, False))
        table = {row["measure"]: row for row in csv.DictReader(exported.read_text().splitlines())}
        self.assertAlmostEqual(float(table["final_correct"]["difference"]), (12 + 3 - 1) / 3)
        text = self.trainer("compare", "--all", "--runs", self.runs).stdout.splitlines()
        self.assertRegex(text[0], r"RoPE +RoPER +difference +95 % interval +p +p by Holm")
        self.assertTrue(any(line.startswith("problems solved at the end") and "+4.667 problems" in line for line in text), text)

    def test_a_seed_that_was_trained_again_counts_once(self):
        for seed, (a, b) in enumerate(((98, 110), (101, 104))):
            self.make_run("rope", seed, a)
            self.make_run("roper", seed, b)
        self.make_run("rope", 0, 20, name="rope-s0-again")
        text = self.trainer("compare", "--runs", self.runs).stdout
        self.assertIn("RoPE: 3 runs, 2 with this outcome, mean 60.5, from 20 to 101, 1 left out", text)
        self.assertIn("RoPER: 2 runs, 2 with this outcome, mean 107, from 104 to 110\n", text)

    def test_the_sentence_agrees_with_scipy(self):
        from scipy import stats

        rope, roper = [98, 101, 120, 87, 93], [110, 104, 119, 112, 99]
        for seed, (a, b) in enumerate(zip(rope, roper)):
            self.make_run("rope", seed, a)
            self.make_run("roper", seed, b)
        exported = Path(self._folder.name) / "pairs.csv"
        done = self.trainer("compare", "--runs", self.runs, "--csv", exported, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        ours = json.loads(done.stdout)
        rows = list(csv.DictReader(exported.read_text().splitlines()))
        a, b = [float(row["a"]) for row in rows], [float(row["b"]) for row in rows]
        self.assertEqual((a, b), (list(map(float, rope)), list(map(float, roper))))
        theirs = stats.ttest_rel(b, a)
        self.assertAlmostEqual(ours["t"], theirs.statistic, places=10)
        self.assertAlmostEqual(ours["p"], theirs.pvalue, places=10)
        interval = theirs.confidence_interval()
        self.assertAlmostEqual(ours["low"], interval.low, places=9)
        self.assertAlmostEqual(ours["high"], interval.high, places=9)
        said = ours["conclusion"]
        self.assertIn(f"RoPER solves {sum(b) / 5 - sum(a) / 5:.4g} more problems than RoPE", said)
        p = float(re.search(r"p = ([0-9.e-]+)", said).group(1).rstrip("."))
        self.assertAlmostEqual(p, theirs.pvalue, delta=0.005 * theirs.pvalue + 1e-12)
        self.assertIn("includes 0" if theirs.pvalue > 0.05 else "excludes 0", said)

    def test_wrong_requests(self):
        self.make_run("rope", 0, 3)
        self.assert_fails(self.trainer("compare", "--runs", self.runs), 2, 'no group of runs matches "RoPER"')
        self.assert_fails(self.trainer("compare", "--runs", self.runs, "--filter", "widht>1"), 2, "did you mean width")
        self.make_run("roper", 0, 3)
        self.assert_fails(self.trainer("compare", "--runs", self.runs, "--measure", "final_corect"), 2, 'did you mean "final_correct"')

    def test_the_board(self):
        done = self.trainer("board", "--runs", self.runs, "--json")
        cells = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([(c["preset"], c["position"], c["target"]) for c in cells],
                         [("addition-paper", "rope", 124.33), ("addition-paper", "roper", 126.33), ("index-paper", "rope", 62.0),
                          ("index-paper", "roper", 96.11), ("prefix-paper", "rope", 0.3269), ("prefix-paper", "roper", 0.3191)])
        self.assertEqual(cells[0]["missing"], list(range(10)))
        self.trainer("board", "--runs", self.runs, "--enqueue")
        self.assertEqual(len(names_in_queue(self.runs)), 60)


def score(task, sample):
    """Whether a completion solves its problem; written only from the description of the tasks."""
    if task == "addition":
        a, b = map(int, re.match(r"\?d=(\d+)\+(\d+);", sample["prompt"]).groups())
        first = sample["completion"].split("#")[0] if "#" in sample["completion"] else None
        return first is not None and "d==" in first and first.rsplit("d==", 1)[1] == str(a + b)
    letters, index = re.match(r"\?s='(\w+)'; s\[(\d+):\]=='", sample["prompt"]).groups()
    return "'" in sample["completion"] and sample["completion"].split("'")[0] == letters[int(index):]


def token_accuracy(sample, substring):
    """The number of determined letters, and how many of them were predicted correctly."""
    text, guesses = sample["prompt"] + sample["expected"], sample["completion"]
    correct = scored = 0
    at = text.find(">")
    while at >= 0:
        before, seen = text[:at].replace(">", ""), ""
        for place in range(at + 1, min(at + 1 + substring, len(text))):
            following = {before[s + len(seen)] for s in range(len(before) - substring + 1) if before.startswith(seen, s)}
            if len(following) == 1:
                scored += 1
                correct += guesses[place - 1] == text[place]
            seen += text[place]
        at = text.find(">", at + 1)
    return correct, scored


class Evaluations(TrainerTest):
    def test_scores_recomputed_from_the_samples(self):
        small = ["--steps", 400, "--set", "evaluation.every=200", "--set", "evaluation.problems=32", "--set", "model.width=64",
                 "--set", "training.batch=8"]
        for preset, settings in [("addition-demo", ["digits_max=1", "length=65"]), ("index-small", ["string_min=1", "string_max=3"]),
                                 ("prefix-small", ["substring_length=12"])]:
            run = self.runs / preset
            done = self.trainer("run", preset, *TINY, *small, *[x for s in settings for x in ("--set", s)], "--runs", self.runs,
                                "--name", preset, "-q")
            self.assertEqual(done.returncode, 0, done.stderr)
            samples = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
            right = 0
            for row in csv.DictReader((run / "evaluations.csv").read_text().splitlines()):
                mine = [sample for sample in samples if sample["step"] == int(row["step"])]
                self.assertEqual(len(mine), 32)
                if preset.startswith("prefix"):
                    correct, scored = map(sum, zip(*(token_accuracy(sample, 12) for sample in mine)))
                    self.assertEqual((int(row["tokens_correct"]), int(row["tokens_scored"])), (correct, scored))
                    self.assertGreater(scored, 500)
                    right += correct
                else:
                    task = preset.split("-")[0]
                    self.assertEqual([score(task, sample) for sample in mine], [sample["correct"] for sample in mine])
                    self.assertEqual(int(row["correct"]), sum(score(task, sample) for sample in mine))
                    right += int(row["correct"])
            self.assertGreater(right, 0, f"{preset}: nothing was right, so nothing was tested")

    def test_by_size_and_at_a_temperature(self):
        run = self.train("a", "--steps", 20)
        done = self.trainer("eval", run, "--by-size", "--problems", 2, "--json")
        scores = json.loads(done.stdout)["scores"]
        self.assertEqual([row[:2] for row in scores], [[a, b] for a in (1, 2, 3) for b in (1, 2, 3)])
        self.assertTrue(all(0 <= fully <= right <= 2 for _, _, right, _, fully in scores), scores)
        out = Path(self._folder.name) / "s.jsonl"
        self.assertEqual(self.trainer("eval", run, "--problems", 3, "--temperature", 2, "--out", out).returncode, 0)
        hot = [json.loads(line)["completion"] for line in out.read_text().splitlines()]
        self.trainer("eval", run, "--problems", 3, "--out", out)
        cold = [json.loads(line)["completion"] for line in out.read_text().splitlines()]
        self.assertNotEqual(hot, cold)
        self.assertEqual(len(hot), 3)

    def test_longer_than_in_training(self):
        run = self.train("a", "--steps", 20)
        done = self.trainer("eval", run, "--by-size", "--problems", 2, "--largest", 4, "--keep")
        self.assertEqual(done.returncode, 0, done.stderr)
        scaled = ["eval", run, "--by-size", "--problems", 1, "--largest", 4, "--keep", "--scaling", "yarn", "--factor", 2]
        for _ in range(2):  # the second measurement replaces the first
            self.assertEqual(self.trainer(*scaled).returncode, 0)
        with open(run / "sizes.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(r["first"], r["second"]) for r in rows if r["scaling"] == "none"],
                         [(str(a), str(b)) for a in range(1, 5) for b in range(1, 5)])
        self.assertEqual(sum(int(r["of"]) for r in rows), 16 * 2 + 16 * 1)
        self.assertEqual({(r["scaling"], r["factor"]) for r in rows}, {("none", "1"), ("yarn", "2")})

    def test_loss_on_longer_sequences(self):
        run = self.train("a", "--steps", 20, "--set", "position=rope")
        loss = lambda *more: json.loads(self.trainer("eval", run, "--problems", 1, "--json", *more).stdout)["loss"]
        usual, longer, scaled = loss(), loss("--length", 400), loss("--length", 400, "--scaling", "linear", "--factor", 4)
        self.assertEqual(len({usual, longer, scaled}), 3)
        self.assertEqual(longer, loss("--length", 400, "--scaling", "linear", "--factor", 1))
        alibi = self.train("b", "--steps", 5, "--set", "position=alibi")
        self.assert_fails(self.trainer("eval", alibi, "--scaling", "yarn"), 2, "no frequencies")
        table = self.train("c", "--steps", 5, "--set", "position=learned")
        self.assert_fails(self.trainer("eval", table, "--length", 500), 2, "learned table of", "text of 499 tokens")


class Resume(TrainerTest):
    """N + M steps equal N steps, an interruption and M steps: for every task and both methods, after pause, stop and kill."""

    def test_every_task_and_method(self):
        settings = ["--set", "checkpoints.every=15", "--set", "evaluation.every=50", "--set", "snapshots.every=40",
                    "--set", "model.dropout=0.1", "--steps", 150]
        for task in ("addition", "index", "prefix"):
            for position in ("rope", "roper"):
                with self.subTest(task=task, position=position):
                    self.check(task, position, [*settings, "--set", f"model.position={position}"])

    def check(self, task, position, settings):
        def run(name, *more):
            return [TRAINER, "run", f"{task}-small", *TINY, *map(str, settings), "--runs", str(self.runs), "--name", name, "-q", *more]

        whole, broken = f"{task}-{position}-whole", f"{task}-{position}-broken"
        subprocess.run(run(whole), check=True)
        process = subprocess.Popen(run(broken))
        self.addCleanup(process.kill)
        folder = self.runs / broken
        wait_until(lambda: len(read_rows(folder)) > 20)
        process.kill()
        process.wait()
        process = subprocess.Popen([TRAINER, "resume", str(folder), "-q"])
        self.addCleanup(process.kill)
        wait_until(lambda: status(folder)["control"] and status(folder)["pid"] == process.pid)
        self.ask(folder, "pause")
        self.ask(folder, "resume")
        self.ask(folder, "stop")
        self.assertEqual(process.wait(60), 0)
        subprocess.run([TRAINER, "resume", str(folder), "-q"], check=True)
        self.assertEqual(without_times(read_rows(self.runs / whole)), without_times(read_rows(folder)))
        self.assertEqual((self.runs / whole / "samples.jsonl").read_text(), (folder / "samples.jsonl").read_text())
        for kind in ("checkpoints", "snapshots"):
            mine, theirs = (read_safetensors(sorted((self.runs / name / kind).iterdir())[-1])[0] for name in (whole, broken))
            self.assertEqual(mine.keys(), theirs.keys())
            for name in mine:
                self.assertEqual(mine[name].tobytes(), theirs[name].tobytes(), name)

    def ask(self, folder, command):
        import socket

        with socket.socket(socket.AF_UNIX) as baseline:
            baseline.settimeout(60)
            try:
                baseline.connect(status(folder)["control"])
                baseline.sendall((json.dumps({"command": command}) + "\n").encode())
                baseline.makefile().readline()
            except OSError:
                pass  # it may have finished meanwhile


class Bench(TrainerTest):
    """Results differ between machines, but they must be reported completely and consistently."""

    SMALL = ["--preset", "index-small", "--set", "model.width=32", "--set", "training.batch=4", "--times", "3", "--json",
             "--set", "device.precision=fp32"]

    def lines(self, *arguments):
        done = self.trainer("bench", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_a_step_its_parts_and_the_machine(self):
        lines = self.lines("step", *self.SMALL)
        self.assertEqual([line["method"] for line in lines], ["rope", "roper"])
        for line in lines:
            self.assertLessEqual(line["min"], line["ms"])
            self.assertLessEqual(line["ms"], line["max"])
            for field in ("tokens_per_s", "first_step_s", "peak_mb", "gemm_gflops", "share_of_gemm", "fma_gflops",
                          "share_of_fma"):
                self.assertGreater(line[field], 0, field)
            parts = [line[part + "_ms"] for part in ("linear", "attention", "elementwise", "optimizer", "data", "other")]
            self.assertTrue(all(part >= 0 for part in parts), parts)
            self.assertGreater(line["linear_ms"], 0)
            self.assertGreater(line["attention_ms"], 0)
            self.assertEqual(line["precision"], "fp32")

    def test_the_precision_set_is_the_one_measured(self):
        for what in ("step", "attention", "generate"):
            for line in self.lines(what, *self.SMALL, "--set", "device.precision=bf16"):
                self.assertEqual(line["precision"], "bf16", line)
        usual = {line["precision"] for line in self.lines("step", *self.SMALL, "--set", "device.precision=auto")}
        self.assertIn("fp32", usual)
        if "bf16" in usual:  # not set explicitly, so the processor must support it
            self.assertIn(" avx512_bf16 ", Path("/proc/cpuinfo").read_text())

    def test_plain_operations_are_measured_too(self):
        lines = self.lines("step", *self.SMALL, "--set", "device.kernel=plain")
        self.assertTrue(all(line["attention_ms"] > 0 and line["linear_ms"] > 0 for line in lines), lines)

    def test_the_attention_kernel_for_an_older_cpu(self):
        for line in self.lines("attention", *self.SMALL, "--target", "SSE4"):
            self.assertEqual(line["target"], "SSE4")
            self.assertGreater(line["share_of_fma"], 0)

    def test_an_unknown_instruction_set_is_refused(self):
        self.assert_fails(self.trainer("bench", "attention", "--target", "abacus"), 2, "abacus", "SSE4")


class TensorBoard(TrainerTest):
    def test_the_package_reads_the_events(self):
        packages = os.environ.get("ROPER_TEST_PACKAGES", "")
        if packages:
            sys.path.insert(0, packages)
        try:
            from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        except ImportError as error:
            self.skipTest(f"{error}: `./lab test` installs it")
        run = self.train("a", "--steps", 12, "--set", "evaluation.every=4")
        self.assertEqual(self.trainer("resume", run).returncode, 0)
        events = EventAccumulator(str(run))
        events.Reload()
        self.assertIn("training/loss", events.Tags()["scalars"])
        read = [(event.step, event.value) for event in events.Scalars("training/loss")]
        rows = [(int(row["step"]), float(row["loss"])) for row in read_rows(run)]
        self.assertEqual([step for step, _ in read], [step for step, _ in rows])
        for (_, mine), (_, theirs) in zip(read, rows):
            self.assertAlmostEqual(mine, theirs, places=6)
        self.assertEqual([event.step for event in events.Scalars("evaluation/correct")], [4, 8, 12])

        # The settings are written only once, also after a resume.
        from tensorboard.plugins.hparams import metadata

        mark_stopped(run)
        self.assertEqual(self.trainer("resume", run).returncode, 0)
        (path,) = run.glob("events.out.tfevents*")
        self.assertEqual(path.read_bytes().count(b"_hparams_/session_start_info"), 1)
        events = EventAccumulator(str(run))
        events.Reload()
        start = metadata.parse_session_start_info_plugin_data(
            events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content)
        self.assertEqual(start.hparams["model.width"].number_value, 32)
        self.assertEqual(start.hparams["task.name"].string_value, "addition")
        self.assertNotIn("about.title", start.hparams)
        self.assertEqual(events.SummaryMetadata("settings/text_summary").plugin_data.plugin_name, "text")
        (text,) = events.Tensors("settings/text_summary")
        self.assertIn(b"| model.width | 32 |", text.tensor_proto.string_val[0])

    def test_a_run_that_was_killed_and_resumed_is_followed(self):
        """As read by TensorBoard's default loader, which keeps the file open and reads what is appended."""
        packages = os.environ.get("ROPER_TEST_PACKAGES", "")
        if packages:
            sys.path.insert(0, packages)
        try:
            from tensorboard.backend.event_processing.plugin_event_accumulator import EventAccumulator
        except ImportError as error:
            self.skipTest(f"{error}: `./lab test` installs it")
        process = self.start("a", "--steps", "3000", "--set", "checkpoints.every=150", "--set", "training.report_every=1")
        run = self.runs / "a"
        wait_until(lambda: len(read_rows(run)) > 200, process)
        events = EventAccumulator(str(run), size_guidance={"tensors": 0}, tensor_size_guidance={"scalars": 0})
        events.Reload()
        process.kill()
        process.wait()
        events.Reload()
        self.assertGreater(len(events.Tensors("training/loss")), 200)
        self.assertEqual(self.trainer("resume", run).returncode, 0)
        events.Reload()
        self.assertEqual([event.step for event in events.Tensors("training/loss")], list(range(1, 3001)))


if __name__ == "__main__":
    unittest.main()
