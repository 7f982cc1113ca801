"""Effects of the system on a trainer: closed pipes, stop signals, limits of memory and file size."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TINY, TRAINER, TrainerTest, read_rows, small_model, status, tokenizer_json, wait_until


class Signals(TrainerTest):
    def test_a_closed_pipe_does_not_end_a_run(self):
        arguments = [TRAINER, "run", "addition-small", *TINY, "--steps", "300", "--runs", str(self.runs), "--name", "a"]
        for flags in (["--json"], []):
            with self.subTest(flags):
                process = subprocess.Popen([*arguments[:-1], "b" + "".join(flags), *flags], stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE)
                wait_until(lambda: len(read_rows(self.runs / ("b" + "".join(flags)))) > 0)
                process.stdout.close()
                process.stderr.close()
                self.assertEqual(process.wait(120), 0)
                self.assertEqual(status(self.runs / ("b" + "".join(flags)))["state"], "finished")

    def test_the_time_of_a_stop_is_no_training_time(self):
        process = self.start("a", "--steps", "100000")
        for _ in range(2):
            process.send_signal(signal.SIGSTOP)
            time.sleep(2)
            before = len(read_rows(self.runs / "a"))
            self.assertIn("suspended", self.trainer("list", "--runs", self.runs).stdout)
            process.send_signal(signal.SIGCONT)
            wait_until(lambda: len(read_rows(self.runs / "a")) > before + 200, process)
        process.send_signal(signal.SIGINT)
        process.wait(60)
        rows = read_rows(self.runs / "a")
        times = [float(row["time_s"]) for row in rows]
        self.assertEqual(times, sorted(times))
        longest = max(b - a for a, b in zip(times, times[1:]))
        print(f"two stops of 2 s: the longest step counts {longest:.2f} s")
        self.assertLess(longest, 1)

    def test_a_crash_is_written_down(self):
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        for crash in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL):
            with self.subTest(crash):
                process = self.start(crash.name, "--steps", "100000")
                process.send_signal(crash)
                self.assertEqual(process.wait(60), -crash)
                log = (self.runs / crash.name / "log.txt").read_text()
                self.assertRegex(log, r"\n\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  the process "
                                 f"{process.pid} .started at tick [0-9]+. crashed with {crash.name}: ")
                self.assertIn(f"crashed with {crash.name}", self.trainer("list", "--runs", self.runs).stdout)

    def test_a_limit_of_file_size_is_a_full_disk(self):
        for limit in (0, 10, 3000, 20_000):
            name = f"a{limit}"
            done = self.trainer("run", "addition-small", *TINY, "--steps", 200, "--runs", self.runs, "--name", name,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            self.assert_fails(done, 6, "cannot", "File too large")
            self.assertFalse([path for path in self.runs.rglob("*.partial-*")])


class Memory(TrainerTest):
    def test_too_much_is_refused_before_anything_is_made(self):
        for settings, part in ((["training.batch=4096", "training.length=4000", "model.width=4096"], "training.batch (4096)"),
                               (["snapshots.every=1", "snapshots.tokens=1024", "model.layers=64", "model.heads=64",
                                 "model.width=1024"], "snapshots.tokens (1024)")):
            flags = [flag for setting in settings for flag in ("--set", setting)]
            done = self.trainer("run", "addition-small", *flags, "--runs", self.runs, "--name", "a")
            self.assert_fails(done, 5, "of memory", "are free", part, "--anyway")
            self.assertFalse(self.runs.exists())

    def test_a_limit_on_the_process_counts(self):
        limit = 3 << 30
        done = self.trainer("run", "addition-small", "--set", "training.batch=2048", "--steps", 1, "--runs", self.runs,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assert_fails(done, 5, "of memory", "are free")

    def test_anyway_goes_on_and_ends_with_a_message(self):
        limit = 3 << 30
        done = self.trainer("run", "addition-small", "--set", "training.batch=8192", "--steps", 1, "--anyway", "--runs", self.runs,
                            "--name", "a", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertIn(done.returncode, (0, 5), done.stderr)
        if done.returncode == 5:
            self.assertEqual(status(self.runs / "a")["exit_code"], 5)

    def test_what_is_said_of_the_disk_holds(self):
        for number, settings in enumerate((["snapshots.every=0"], ["snapshots.every=10", "snapshots.tokens=128"],
                                           ["checkpoints.keep=1", "evaluation.every=5"], ["checkpoints.every=5", "checkpoints.keep=9"])):
            flags = [flag for setting in settings for flag in ("--set", setting)]
            run = self.train(f"a{number}", *flags, "--steps", 40, "--set", "training.warmup_steps=2")
            said = self.trainer("describe", run / "run.toml").stdout
            number, unit = re.search(r"([\d.]+) (kB|MB) on disk", said).groups()
            said = float(number) * {"kB": 1e3, "MB": 1e6}[unit]
            taken = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
            print(f"{settings}: {said / 1e6:.2f} MB said, {taken / 1e6:.2f} MB taken")
            self.assertLessEqual(taken, said)
            self.assertLess(said, 6 * taken)

    def test_many_problems_are_solved_in_parts(self):
        done = self.trainer("run", "addition-small", *TINY, "--steps", 1, "--set", "evaluation.problems=4000", "--runs", self.runs,
                            "--name", "a")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("of 4000", self.trainer("list", "--runs", self.runs).stdout.replace("/4000", " of 4000"))


class Tokenizers(TrainerTest):
    """A model's folder is untrusted: whatever its tokenizer contains, an answer or a message must come soon."""

    LONGEST, MOST_MEMORY = 30, 1 << 20  # CPU seconds, kB

    def look(self, text="a" * 1000, **members):
        """The output for a model with these members in its tokenizer.json, and the exit code."""
        folder = small_model(self._folder.name, "llama")
        (folder / "tokenizer.json").write_text(json.dumps({**json.loads(tokenizer_json()), **members}))
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (self.LONGEST, self.LONGEST))
        arguments = [TRAINER, "look", folder, "--what", "loss", "--text", text]
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=limit)
        said = process.stderr.read()
        _, ended, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(ended)
        process.stderr.close()
        self.assertLess(used.ru_maxrss, self.MOST_MEMORY)
        return said, process.returncode

    def test_what_multiplies_a_text_is_refused(self):
        def replace(pattern, content):
            return {"type": "Replace", "pattern": pattern, "content": content}

        letters = replace({"String": "a"}, "a" * 1000)
        ligatures = replace({"String": "a"}, "\ufdfa" * 300)
        everywhere = replace({"Regex": "(?=a)|$|"}, "a" * 1000)
        template = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "0"}}] * 100_000,
                    "special_tokens": {"0": {"ids": [0] * 100_000}}}
        split = {"type": "Split", "pattern": {"Regex": "(?:(?:a|aa)+b)|a"}, "behavior": "Isolated"}
        for members, part in (({"normalizer": {"type": "Sequence", "normalizers": [letters] * 8}}, "36096 bytes"),
                              ({"normalizer": {"type": "Sequence", "normalizers": [ligatures, {"type": "NFKD"}]}}, "36096 bytes"),
                              ({"normalizer": everywhere}, "36096 bytes"), ({"post_processor": template}, "256 special tokens"),
                              ({"pre_tokenizer": split}, "needs more than 500000000 steps"),
                              ({"added_tokens": [{"content": "zz", "id": 1 << 40}]}, "has the id 1099511627776")):
            said, code = self.look(**members)
            self.assertEqual(code, 4, said)
            self.assertIn("tokenizer.json: ", said)
            self.assertIn(part, said)
            self.assertLess(len(said), 400)

    def test_a_file_of_ten_megabytes_is_read(self):
        for members in ({"padding": [{}] * 2_500_000}, {"padding": {str(i): [] for i in range(800_000)}}):
            said, code = self.look(text="0123", **members)
            self.assertEqual(code, 0, said)

    def test_a_quarter_of_a_million_added_tokens_are_counted(self):
        said, code = self.look(text="0123", added_tokens=[{"content": f"<{i}>", "id": i % 64} for i in range(250_000)])
        self.assertEqual(code, 4, said)
        self.assertIn("the tokenizer has 250064 tokens, the model 64", said)


class Threads(TrainerTest):
    def test_thousands_of_threads_are_too_many(self):
        done = self.trainer("run", "addition-small", *TINY[:-2], "--steps", 3, "--set", "device.threads=4096", "--runs", self.runs,
                            "--name", "a")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("of 4096 threads", done.stderr)
        self.assertIn("of 4096 threads", (self.runs / "a" / "log.txt").read_text())

    def test_a_limit_of_processes_is_named(self):
        """The limit does not apply to root, so another user tries it, if that user can read the program."""

        def as_nobody():
            resource.setrlimit(resource.RLIMIT_NPROC, (2, 2))
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

        if os.getuid() != 0:
            self.skipTest("only root can become another user")
        self.runs.mkdir(parents=True)
        self.runs.parent.chmod(0o755)
        os.chown(self.runs, 65534, 65534)
        try:
            subprocess.run([TRAINER, "presets"], preexec_fn=as_nobody, check=True, capture_output=True, cwd="/")
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("the program lies where no other user may read it")
        for threads in (1, 2, 4):
            done = self.trainer("run", "addition-small", *TINY[:-1], threads, "--steps", "3", "--runs", self.runs,
                                "--name", f"a{threads}", preexec_fn=as_nobody, cwd="/", env={**os.environ, "HOME": str(self.runs)})
            self.assert_fails(done, 5, "No more threads can be started", "device.threads")
            self.assertNotIn("estimate", done.stderr)


class Output(TrainerTest):
    def test_a_full_disk_behind_stdout_is_said(self):
        self.train("a", "--steps", "2")
        for command in (["list", "--runs", self.runs], ["list", "--json", "--runs", self.runs], ["presets"], ["describe"],
                        ["eval", self.runs / "a", "--json"], ["serve", self.runs / "a"], ["serve", self.runs / "a", "--json"], ["--help"]):
            with self.subTest(command), open("/dev/full", "w") as full:
                done = subprocess.run([TRAINER, *map(str, command)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual(done.returncode, 6, done.stderr)
                self.assertIn("standard output", done.stderr)
                if command[0] == "serve":
                    continue  # it continues without a reader
                pipe, end = os.pipe()
                os.close(pipe)
                done = subprocess.run([TRAINER, *map(str, command)], stdout=end, stderr=subprocess.PIPE, text=True, timeout=60)
                os.close(end)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_so_it_is_for_the_other_programs(self):
        for program, *words in (("ROPER_TOKENIZER", "--help"), ("ROPER_LAB", "--help"), ("ROPER_LAB", "--version"), ("ROPER_LAB", "man")):
            if program in os.environ:
                with self.subTest(program, words=words), open("/dev/full", "w") as full:
                    done = subprocess.run([os.environ[program], *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
                    self.assertEqual(done.returncode, 6, done.stderr)
                    self.assertIn("cannot write to standard output", done.stderr)

    def test_names_that_are_too_long_for_a_file_are_no_crash(self):
        long = "a" * 300
        self.train("a", "--steps", 2)
        for words in (["look", long, "--what", "loss", "--text", "0"], ["trust", long], ["queue", "--runs", long],
                      ["run", "text-quick", "--set", f"task.text={long}", "--runs", self.runs], ["export", self.runs / "a", "--what", "metrics", "--out", f"/{long}.csv"]):
            with self.subTest(words[0]):
                done = self.trainer(*words)
                self.assertIn(done.returncode, (2, 6), done.stderr)
                self.assertIn("too long", done.stderr)
                self.assertNotIn("filesystem error", done.stderr)

    def test_only_regular_files_are_replaced(self):
        run = self.train("a", "--steps", "2", "--set", "evaluation.every=2")
        commands = [(["eval", run, "--out"], ".jsonl"), (["export", run, "--what", "metrics", "--out"], ".csv"),
                    (["export", run, "--what", "weights", "--out"], ".safetensors")]
        for command, suffix in commands:
            with self.subTest(command):
                pipe, target, link = (self.runs / (name + suffix) for name in ("pipe", "target", "link"))
                os.mkfifo(pipe)
                self.assert_fails(self.trainer(*command, pipe), 6, str(pipe), "not a regular file")
                self.assertTrue(pipe.is_fifo())
                self.assert_fails(self.trainer(*command, self.runs / ("folder" + suffix) / ("x" + suffix)), 6, "folder" + suffix)
                target.write_text("old")
                link.symlink_to(target.name)
                done = self.trainer(*command, link)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(link.is_symlink())
                self.assertGreater(target.stat().st_size, 30)


class Surroundings(TrainerTest):
    def without_runtime_folder(self, **changes):
        environment = {key: value for key, value in os.environ.items() if key not in ("XDG_RUNTIME_DIR", "TMPDIR")}
        return {**environment, **changes}

    def test_a_temporary_folder_that_is_missing_is_named(self):
        missing = Path(self._folder.name) / "missing"
        environment = self.without_runtime_folder(TMPDIR=str(missing))
        done = self.trainer("run", "addition-small", *TINY, "--steps", "2", "--runs", self.runs, "--name", "a", env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f'no control socket: TMPDIR is "{missing}"', (self.runs / "a/log.txt").read_text())

    def test_a_relative_runtime_folder_is_ignored(self):
        environment = self.without_runtime_folder(XDG_RUNTIME_DIR="relative")
        process = subprocess.Popen([TRAINER, "run", "addition-small", *TINY, "--steps", "100000", "--runs", str(self.runs),
                                    "--name", "a", "-q"], env=environment, cwd=self._folder.name)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: len(read_rows(self.runs / "a")) > 0, None)
        self.assertTrue(status(self.runs / "a")["control"].startswith("/"))


if __name__ == "__main__":
    unittest.main()
