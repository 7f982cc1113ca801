"""Runs folders that came from somebody else: reading them does no harm, and nothing in them starts by itself.

SECURITY.md contains the promises tested here.
"""

import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import LETTERS, TINY, TRAINER, TrainerTest, mark_stopped, small_model, status, tokenizer_json

# Limit for `list`, whatever the folder contains: LibTorch alone maps about 400 MB, little of which is ever touched.
MOST_BYTES = 400e6
MOST_SECONDS = 20

FILES = ["run.toml", "status.json", "metrics.csv", "evaluations.csv", "samples.jsonl", "method.csv", "sizes.csv", "lengths.csv",
         "positions.csv", "log.txt", "lock", "trainer-messages.txt"]


class ForeignFolder(TrainerTest):
    def setUp(self):
        super().setUp()
        self.state = Path(self._folder.name) / "state"
        self.environment = {**os.environ, "XDG_STATE_HOME": str(self.state), "HOME": self._folder.name}
        self.precious = Path(self._folder.name) / ".bashrc"
        self.precious.write_text("precious\n")

    def command(self, *arguments, **options):
        return self.trainer(*arguments, "--runs", self.runs, env=self.environment, **options)

    def measured(self, *arguments):
        """Runs a command with a time limit. @returns its output, its exit code and its memory in bytes"""
        begun = time.monotonic()
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen([TRAINER, *map(str, arguments), "--runs", str(self.runs)], stdout=out,
                                       stderr=subprocess.STDOUT, env=self.environment)
            while True:
                pid, code, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() - begun > MOST_SECONDS:
                    process.kill()
                    os.wait4(process.pid, 0)
                    self.fail(f"{arguments} does not end")
                time.sleep(0.01)
            process.returncode = os.waitstatus_to_exitcode(code)
            out.seek(0)
            return out.read(), process.returncode, usage.ru_maxrss * 1024

    def made_run(self, name="a"):
        """A finished run in a runs folder that is not trusted, as after unpacking an archive."""
        run = self.train(name, "--steps", 3)
        shutil.rmtree(self.state, ignore_errors=True)
        return run

    def set_state(self, run, **changes):
        (run / "status.json").write_text(json.dumps({**status(run), **changes}))

    def rows(self, text):
        return {json.loads(line)["name"]: json.loads(line) for line in text.splitlines() if line.startswith("{")}


class Links(ForeignFolder):
    def test_nothing_is_written_through_a_link(self):
        """Every file that a trainer writes is a link to a file of the user, which must not change when the run is resumed."""
        tried = 0
        for name in FILES:
            run = self.made_run("a")
            self.set_state(run, state="stopped")
            (run / name).unlink(missing_ok=True)
            os.symlink(self.precious, run / name)
            self.command("resume", "a")
            self.command("eval", "a", "--by-size", "--keep", "--problems", 1)
            self.assertEqual(self.precious.read_text(), "precious\n", name)
            shutil.rmtree(self.runs)
            tried += 1
        for folder in ("checkpoints", "snapshots", "text"):
            run = self.made_run("a")
            self.set_state(run, state="stopped")
            outside = Path(self._folder.name) / "outside"
            shutil.rmtree(outside, ignore_errors=True)
            outside.mkdir()
            (outside / "step-00000099.safetensors").write_text("precious")
            (outside / "x.partial-1").write_text("precious")
            shutil.rmtree(run / folder, ignore_errors=True)
            os.symlink(outside, run / folder)
            self.command("resume", "a")
            self.assertEqual(sorted(os.listdir(outside)), ["step-00000099.safetensors", "x.partial-1"], folder)
            shutil.rmtree(self.runs)
            tried += 1
        print(f"links in place of files and folders: {tried} tried, 0 followed")

    def test_a_linked_run_is_a_row_that_says_so(self):
        run = self.made_run("a")
        elsewhere = Path(self._folder.name) / "elsewhere"
        shutil.move(run, elsewhere)
        os.symlink(elsewhere, run)
        out, code, _ = self.measured("list", "--json")
        self.assertEqual(code, 0)
        self.assertIn("symbolic link", self.rows(out)["a"]["last"])
        # A path given explicitly is trusted.
        self.assertEqual(self.trainer("eval", run, "--problems", 1).returncode, 0)
        self.assertEqual(self.command("eval", elsewhere, "--problems", 1).returncode, 0)

    def test_a_hard_link_is_not_written_to(self):
        run = self.made_run("a")
        self.set_state(run, state="stopped")
        (run / "log.txt").unlink()
        os.link(self.precious, run / "log.txt")
        self.assertEqual(self.command("resume", "a").returncode, 0)
        self.assertEqual(self.precious.read_text(), "precious\n")
        self.assertIn("finished", (run / "log.txt").read_text())


class Unreadable(ForeignFolder):
    """An unreadable run is listed with the reason, and the others are shown."""

    def expect_row(self, part, name="bad"):
        out, code, memory = self.measured("list", "--json")
        self.assertEqual(code, 0, out)
        rows = self.rows(out)
        self.assertEqual(rows["good"]["state"], "finished", out)
        self.assertIn(part, rows[name]["last"], out)
        self.assertLess(memory, MOST_BYTES)

    def setUp(self):
        super().setUp()
        self.made_run("good")
        self.bad = self.made_run("bad")

    def each(self, names, spoil, part):
        for name in names:
            whole = (self.bad / name).read_bytes()
            (self.bad / name).unlink()
            spoil(self.bad / name)
            with self.subTest(name):
                self.expect_row(part)
            (self.bad / name).unlink()
            (self.bad / name).write_bytes(whole)

    def test_pipes(self):
        self.each(["run.toml", "status.json", "metrics.csv", "evaluations.csv"], os.mkfifo, "a named pipe")

    def test_devices_and_loops(self):
        for target in ("/dev/zero", "metrics.csv", "."):
            self.each(["status.json", "metrics.csv", "evaluations.csv"], lambda path: os.symlink(target, path), "a symbolic link")

    def test_a_terabyte_of_nothing(self):
        def sparse(path):
            with open(path, "wb") as file:
                file.truncate(1 << 40)

        self.each(["status.json"], sparse, "is larger than")
        self.each(["metrics.csv", "evaluations.csv"], sparse, "a line longer than")
        with open(self.bad / "checkpoints" / "step-00000003.safetensors", "r+b") as file:
            file.truncate(100 << 30)
        out, code, memory = self.measured("eval", "bad", "--problems", 1)
        self.assertEqual(code, 4, out)
        self.assertIn("is larger than", out)
        self.assertLess(memory, 2 * MOST_BYTES)

    def test_a_model_of_a_hundred_gigabytes_takes_no_memory(self):
        """run.toml gives its sizes; the checkpoint is small, or large but empty."""
        toml = (self.bad / "run.toml").read_text()
        large = re.sub(r"(?m)^width = .*$", "width = 65536", re.sub(r"(?m)^feed_forward = .*$", "feed_forward = 65536", toml))
        self.assertNotEqual(large, toml)
        (self.bad / "run.toml").write_text(large)
        commands = [("eval", "bad", "--problems", 1), ("export", "bad", "--what", "attention", "--text", "1+1", "--out", self.runs / "x.safetensors"),
                    ("serve", "bad"), ("look", "bad", "--what", "loss", "--text", "1+1")]
        for command in commands:
            with self.subTest(command[0]):
                out, code, memory = self.measured(*command)
                self.assertEqual(code, 4, out)
                self.assertLess(memory, MOST_BYTES)
        self.assertRegex(self.measured(*commands[0])[0], r"has a size of \S+ kB; the model in .*run.toml needs \S+ GB")
        with open(self.bad / "checkpoints" / "step-00000003.safetensors", "r+b") as file:
            file.truncate(200 << 30)
        for command in commands:
            with self.subTest(command[0]):
                out, code, memory = self.measured(*command)
                self.assertLess(memory, MOST_BYTES)
                if command[0] in ("serve", "look"):  # these read the checkpoint, which is empty
                    self.assertEqual(code, 4, out)
                    continue
                self.assertEqual(code, 5, out)
                self.assertRegex(out, r"takes \S+ GB of memory, but only \S+ GB are free")

    def test_long_files_take_no_memory(self):
        metrics = self.bad / "metrics.csv"
        row = metrics.read_bytes().splitlines(keepends=True)[-1]
        with open(metrics, "ab") as file:
            for _ in range(300):
                file.write(row * (1_000_000 // len(row)))
        out, code, memory = self.measured("list", "--json")
        self.assertEqual(code, 0, out)
        self.assertEqual(self.rows(out)["bad"]["state"], "finished")
        self.assertLess(memory, MOST_BYTES)
        out, code, memory = self.measured("export", "bad", "--what", "metrics", "--out", self.runs / "all.csv")
        self.assertEqual(code, 0, out)
        self.assertLess(memory, MOST_BYTES)

    def test_importing_takes_no_memory(self):
        table = Path(self._folder.name) / "table"
        keys = json.dumps({f"k{i}": i for i in range(1000)})
        table.write_text(keys + "\n" + "{}\n" * 300_000 + '{"step": 1, "loss": 2}\n')
        out, code, memory = self.measured("import", table, "--name", "keys")
        self.assertEqual(code, 2, out)  # more than a thousand keys are refused
        self.assertLess(memory, MOST_BYTES)
        keys = json.dumps({f"k{i}": i for i in range(900)})
        table.write_text(keys + "\n" + "{}\n" * 300_000 + '{"step": 1, "loss": 2}\n')
        out, code, memory = self.measured("import", table, "--name", "keys")
        self.assertEqual(code, 0, out)
        self.assertLess(memory, MOST_BYTES)
        with open(table, "w") as file:
            file.write("step\tloss\n")
            for part in range(60):
                file.write("".join(f"{step}\t0.5\n" for step in range(part * 25_000, (part + 1) * 25_000)))
        out, code, memory = self.measured("import", table, "--name", "long")
        self.assertEqual(code, 0, out)
        self.assertLess(memory, MOST_BYTES)

    def test_deep_nesting(self):
        (self.bad / "status.json").write_text("[" * 100_000)
        self.expect_row("not a run's status")
        (self.bad / "status.json").write_text('{"state":' * 100_000)
        self.expect_row("not a run's status")
        (self.bad / "samples.jsonl").write_text("[" * 100_000 + "\n")
        (self.bad / "run.toml").write_text("a = " + "[" * 100_000)
        self.assert_fails(self.command("eval", "bad"), 2, "run.toml")
        (self.bad / "run.toml").write_text("[" + "a." * 100_000 + "a]\n")
        self.assert_fails(self.command("eval", "bad"), 2, "run.toml")

    def test_checkpoints_that_cannot_be_listed_are_not_none(self):
        run = self.train("a", "--steps", "9", "--set", "checkpoints.every=4")
        mark_stopped(run)
        (run / "checkpoints").rename(run / "kept")
        (run / "checkpoints").write_text("no folder")
        rows = (run / "metrics.csv").read_text()
        self.assert_fails(self.trainer("resume", run), 6, str(run / "checkpoints"))
        self.assertEqual((run / "metrics.csv").read_text(), rows)

    def test_terabytes_stop_a_resume_at_once(self):
        """Also when searching for the end of the last line in order to append."""
        run = self.made_run("huge")
        self.set_state(run, state="stopped")
        for name in ("log.txt", "metrics.csv"):
            good = (run / name).read_bytes() if (run / name).exists() else b""
            with open(run / name, "ab") as file:
                file.truncate(3 << 40)
            begun = time.monotonic()
            done = self.trainer("resume", run)
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertIn(name, done.stderr)
            self.assertIn("move it away", done.stderr)
            self.assertLess(time.monotonic() - begun, 60)
            (run / name).write_bytes(good)
            self.set_state(run, state="stopped")

    def test_a_long_line_makes_no_long_status(self):
        run = self.train("a", "--steps", "2")
        mark_stopped(run)
        good = (run / "metrics.csv").read_text()
        (run / "metrics.csv").write_text("\n".join(line + ',"' * 200_000 for line in good.splitlines()) + "\n")
        log = (run / "log.txt").stat().st_size
        done = self.trainer("resume", run)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertLess(len(done.stderr), 2000)
        self.assertLess((run / "status.json").stat().st_size, 10_000)
        self.assertLess((run / "log.txt").stat().st_size - log, 10_000)
        (run / "metrics.csv").write_text(good)
        self.assertEqual(self.trainer("resume", run).returncode, 0)

    def test_what_is_said_moves_no_cursor(self):
        self.set_state(self.bad, state="failed", error="\x1b[2J\x1b]0;title\x07gone\nsecond line\x9b31m")
        out, code, _ = self.measured("list")
        self.assertEqual(code, 0)
        self.assertIn("gone", out)
        for sign in ("\x1b", "\x07", "\x9b"):
            self.assertNotIn(sign, out)
        self.assertEqual(sum("gone" in line and "second line" in line for line in out.splitlines()), 1)


class Names(ForeignFolder):
    """Whatever names, keys and notes contain, a terminal receives only text, and JSON gives the same."""

    SIGNS = "\x1b[2J\x07\x7f\x9b31m\x85\u200e\u202e\u2066\u2028"

    def require_clean(self, done):
        for text in (done.stdout, done.stderr):
            raw = {character for character in text
                   if character not in "\n\t" and (character < " " or "\x7f" <= character < "\xa0" or
                                                  character in "\u061c\u200e\u200f\u2028\u2029" or
                                                  "\u202a" <= character <= "\u202e" or "\u2066" <= character <= "\u2069")}
            self.assertEqual(raw, set(), f"{done.args}: {text!r}")

    def clean(self, *arguments, part="", code=None):
        done = subprocess.run([TRAINER, *map(str, arguments)], capture_output=True, env=self.environment, timeout=60)
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        self.require_clean(done)
        self.assertIn(part, done.stdout + done.stderr)
        if code is not None:
            self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_those_of_a_model(self):
        ask = ["--what", "loss", "--text", "5>E5>33W5>E:M"]
        model = small_model(self._folder.name, "llama")
        config = json.loads((model / "config.json").read_text())
        (model / "config.json").write_text(json.dumps({**config, f"rope_{self.SIGNS}": f"note {self.SIGNS}"}, ensure_ascii=False))
        self.clean("look", model, *ask, part="no effect on the rotation of models")
        (model / "config.json").write_text(json.dumps({**config, "model_type": f"odd {self.SIGNS}"}, ensure_ascii=False))
        self.clean("look", model, *ask, part="odd")
        (model / "config.json").write_text(json.dumps(config))
        (model / "tokenizer.json").write_text(json.dumps({"model": {"type": f"odd {self.SIGNS}"}}, ensure_ascii=False))
        self.clean("look", model, *ask, part="odd")
        (model / "tokenizer.json").write_text(tokenizer_json(LETTERS[:-1] + [self.SIGNS]))
        self.clean("look", model, "--what", "logits", "--text", "5", "--count", 64, part="31m")
        told = self.clean("look", model, "--what", "logits", "--text", "5", "--count", 64, "--json", code=0)
        tokens = {candidate["token"] for candidate in json.loads(told.stdout)["predictions"][-1]}
        self.assertIn(self.SIGNS, tokens)
        (model / "model.safetensors").write_bytes(self.odd_tensor())
        self.clean("look", model, *ask, part="odd")
        (model / "model.safetensors").unlink()
        index = {"weight_map": {"a": f"../odd {self.SIGNS}.safetensors"}}
        (model / "model.safetensors.index.json").write_text(json.dumps(index, ensure_ascii=False))
        self.clean("look", model, *ask, part="odd")
        named = model.rename(model.with_name(f"model {self.SIGNS}"))
        self.clean("look", named, *ask, part="model ")
        self.clean("serve", named, part="model ")

    def odd_tensor(self):
        header = json.dumps({f"odd {self.SIGNS}": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, ensure_ascii=False).encode()
        return struct.pack("<Q", len(header)) + header + bytes(4)

    def test_those_of_a_run(self):
        run = self.made_run("a")
        quoted = json.dumps(f"odd {self.SIGNS}").replace("\x7f", "\\u007f")
        (run / "labels.toml").write_text(f"experiment = {quoted}\ntags = []\nnote = {quoted}\n")
        toml = (run / "run.toml").read_text()
        (run / "run.toml").write_text("[about]\ntitle = " + quoted + "\n" + re.sub(
            r"(?ms)^\[about\]$.*?(?=^\[)", "", toml))
        self.set_state(run, host=f"odd {self.SIGNS}", device=f"odd {self.SIGNS}", error=f"odd {self.SIGNS}", state="failed")
        (row,) = [json.loads(line) for line in
                  self.clean("list", "--json", "--runs", self.runs, code=0).stdout.splitlines()]
        self.assertEqual(row["note"], f"odd {self.SIGNS}")
        self.assertEqual(row["experiment"], f"odd {self.SIGNS}")
        self.assertEqual(row["preset"], f"odd {self.SIGNS}")
        self.clean("list", "--runs", self.runs, part="odd")
        for what in (["describe", run / "run.toml"], ["eval", run, "--problems", 1], ["compare", "--runs", self.runs],
                     ["methods", "--runs", self.runs], ["board", "--runs", self.runs], ["diff", "a", "a", "--runs", self.runs],
                     ["export", run, "--what", "weights", "--out", self.runs / f"odd {self.SIGNS}.safetensors"],
                     ["look", run, "--what", "loss", "--text", "?d=12"]):
            self.clean(*what)
        described = self.clean("describe", run / "run.toml", code=0).stdout
        self.assertIn("\\u202e", described)
        (run / "status.json").write_text(json.dumps({f"odd {self.SIGNS}": 1, "state": f"odd {self.SIGNS}"}, ensure_ascii=False))
        self.clean("list", "--runs", self.runs, part="odd")
        self.clean("list", "--json", "--runs", self.runs, part="odd")
        for name in ("run.toml", "labels.toml"):
            (run / name).write_text(f"{quoted} = 1\n")
            self.clean("list", "--json", "--runs", self.runs)
            self.clean("eval", run, "--problems", 1)

    def test_those_of_a_table(self):
        table = Path(self._folder.name) / f"odd {self.SIGNS}.csv"
        table.write_text(f"step,odd {self.SIGNS}\n1,x\n2,y\n", newline="")
        self.clean("import", table, "--name", "a", "--column", "loss=none", "--runs", self.runs, part="odd")
        table.write_text(f"odd {self.SIGNS}", newline="")
        self.clean("import", table, "--name", "a", "--runs", self.runs, part="odd")


class Queues(ForeignFolder):
    def foreign_queue(self):
        self.made_run("a")
        self.set_state(self.runs / "a", state="queued")
        (self.runs / "queue.toml").write_text('[[run]]\nname = "a"\n')

    def test_a_queue_that_came_along_waits_for_a_word(self):
        self.foreign_queue()
        self.assert_fails(self.command("queue", stdin=subprocess.DEVNULL), 2, "1 run in the queue (a) was not queued by you on this machine", "roper-train trust")
        self.assertEqual(status(self.runs / "a")["state"], "queued")
        done = self.trainer("trust", self.runs, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.command("queue").returncode, 0)
        self.assertEqual(status(self.runs / "a")["state"], "finished")

    def test_ones_own_run_is_trained_and_what_came_along_is_not(self):
        """Regression: training one's own run in the folder made all its entries count as one's own."""
        self.foreign_queue()
        self.assertEqual(self.command("enqueue", "addition-small", *TINY[:-2], "--set", "training.steps=2", "--set",
                                      "training.warmup_steps=1").returncode, 0)
        done = self.command("queue", stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 run in the queue (a) was not queued by you on this machine", done.stderr)
        self.assertEqual(sorted(status(run)["state"] for run in self.runs.iterdir() if run.is_dir()), ["finished", "queued"])
        self.assertEqual(status(self.runs / "a")["state"], "queued")

    def test_a_run_that_was_exchanged_after_it_was_queued_is_held(self):
        self.assertEqual(self.command("enqueue", "addition-small", *TINY[:-2], "--set", "training.steps=2", "--set",
                                      "training.warmup_steps=1").returncode, 0)
        (run,) = [path for path in self.runs.iterdir() if path.is_dir()]
        toml = (run / "run.toml").read_text()
        (run / "run.toml").write_text(toml.replace("steps = 2", "steps = 3"))
        done = self.command("queue", stdin=subprocess.DEVNULL)
        self.assertIn("has changed since", done.stderr)
        self.assertIn("its run.toml has changed since you queued it", done.stderr)
        self.assertEqual(status(run)["state"], "queued")
        self.assertIn("held = true", (self.runs / "queue.toml").read_text())

    def test_a_queue_that_cannot_be_read_is_said_without_moving_the_cursor(self):
        self.assertEqual(self.command("enqueue", "addition-small", "--seeds", "0").returncode, 0)
        (self.runs / "queue.toml").write_text('[[run]]\nname="\\u001b[31mX\\u001b]0;owned\\u0007\\u202e"\n')
        worker = subprocess.Popen([TRAINER, "queue", "--runs", str(self.runs)], stderr=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(worker.kill)
        said = worker.stderr.readline()
        self.assertIn("is not a valid name of a run", said)
        for sign in ("\x1b", "\x07", "\u202e"):
            self.assertNotIn(sign, said)
        worker.terminate()
        worker.communicate(timeout=60)

    def test_ones_own_queue_starts(self):
        self.assertEqual(self.command("enqueue", "addition-small", *TINY[:-2], "--set", "training.steps=2", "--set",
                                      "training.warmup_steps=1").returncode, 0)
        done = self.command("queue")
        self.assertEqual(done.returncode, 0, done.stderr)
        (run,) = [path for path in self.runs.iterdir() if path.is_dir()]
        self.assertEqual(status(run)["state"], "finished")

    def test_a_line_of_a_specification_stays_one_line_of_the_log(self):
        """Contents of the specification appear in errors, which are written to the log and the status."""
        run = self.made_run("a")
        toml = (run / "run.toml").read_text()
        lines = [line for line in toml.splitlines() if not line.startswith(("name = \"addition", "text = "))]
        text = "\n".join(lines).replace("[task]", '[task]\nname = "text"\ntext = "/x\\ntouch pwned\\n\\u001b[2J#"')
        (run / "run.toml").write_text(text + "\n")
        self.set_state(run, state="stopped")
        self.assertNotEqual(self.command("resume", "a").returncode, 0)
        log = (run / "log.txt").read_text()
        self.assertIn("touch pwned", log)
        for line in log.splitlines():
            self.assertRegex(line, r"^20\d\d-\d\d-\d\dT")
        self.assertNotIn("\x1b", log)
        self.assertNotIn("\n", status(run)["error"])
        self.assertNotIn("\x1b", status(run)["error"])


@unittest.skipIf(os.geteuid() != 0, "only root can give a folder to somebody else")
class OtherOwner(ForeignFolder):
    def test_reads_and_does_not_write(self):
        run = self.made_run("a")
        self.set_state(run, state="stopped")
        for path in [self.runs, *self.runs.rglob("*")]:
            os.chown(path, 12345, 12345)
        before = {path: path.stat().st_mtime_ns for path in self.runs.rglob("*")}
        out, code, _ = self.measured("list", "--json")
        self.assertEqual(self.rows(out)["a"]["state"], "stopped")
        self.assertEqual(self.command("eval", "a", "--problems", 1).returncode, 0)
        self.assertEqual(self.command("compare").returncode in (0, 2), True)
        for refused in (["resume", "a"], ["run", "addition-small", *TINY, "--steps", 1], ["enqueue", "addition-small"], ["queue"],
                        ["eval", "a", "--by-size", "--keep", "--problems", 1]):
            self.assert_fails(self.command(*refused), 6, "belongs to user 12345")
        self.assertEqual(before, {path: path.stat().st_mtime_ns for path in self.runs.rglob("*")})
        self.trainer("trust", self.runs, env=self.environment)
        self.assertEqual(self.command("resume", "a").returncode, 0)

    def test_locks_are_the_owners_alone(self):
        """No other user can block a run or a queue."""
        if shutil.which("setpriv") is None:
            self.skipTest("setpriv is not there")
        run = self.made_run("a")
        self.command("enqueue", "addition-small", "--set", "training.steps=1")
        os.chmod(self._folder.name, 0o755)
        for lock in [run / "lock", self.runs / ".queue-change.lock"]:
            held = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", "flock", "-n", lock, "true"])
            self.assertNotEqual(held.returncode, 0, lock)


class Standing(TrainerTest):
    def test_the_folder_that_nobody_named_is_said(self):
        environment = {key: value for key, value in os.environ.items() if key != "ROPER_LAB_RUNS"}
        done = self.trainer("list", env=environment, cwd=self._folder.name)
        self.assertIn(f"runs folder: {self.runs}", done.stderr)
        self.assertNotIn("runs folder:", self.trainer("list", "--runs", self.runs).stderr)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
