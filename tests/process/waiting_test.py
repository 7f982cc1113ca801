"""Programs do not wait for special files such as pipes, and end when told to or when nobody waits for them any more."""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TINY, TRAINER, Peer, TrainerTest, mark_stopped, small_model, status, wait_until

BOOK = Path(__file__).resolve().parents[2] / "resources" / "texts" / "opticks.txt"
TOKENIZER = os.environ["ROPER_TOKENIZER"]
TEXT = "5>E5>33W5>E:M"
PREEMPTED = 75
# Everything ends within two seconds. A busy machine gets more time; a program that waits forever still fails.
PATIENCE = 20


def full_pipe():
    """Both ends of a pipe that is full."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        while True:
            os.write(write, b"x" * 4096)
    except BlockingIOError:
        pass
    os.set_blocking(write, True)
    return read, write


def is_there(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


class NoFile(TrainerTest):
    """Each file of a model is replaced by a pipe without a writer, for which no program may wait."""

    def refused(self, model, name):
        for command in (["look", model, "--what", "loss", "--text", TEXT], ["serve", model]):
            done = subprocess.run([TRAINER, *map(str, command)], capture_output=True, text=True, timeout=PATIENCE,
                                  stdin=subprocess.DEVNULL)
            self.assert_fails(done, 6, f"{name} is a named pipe, not a file")

    def test_a_pipe_in_the_place_of_a_model_is_refused(self):
        model = small_model(self._folder.name, "llama")
        shard = "model-00001-of-00001.safetensors"
        for name in ("config.json", "tokenizer.json", "model.safetensors", "model.safetensors.index.json", shard):
            if name == "model.safetensors.index.json":
                (model / "model.safetensors").rename(model / shard)
                (model / name).write_text(json.dumps({"weight_map": {"lm_head.weight": shard}}))
            kept = (model / name).read_bytes()
            (model / name).unlink()
            os.mkfifo(model / name)
            self.refused(model, model / name)
            (model / name).unlink()
            (model / name).write_bytes(kept)
        gguf = Path(self._folder.name) / "pipe.gguf"
        os.mkfifo(gguf)
        self.refused(gguf, gguf)
        table = Path(self._folder.name) / "table.csv"
        os.mkfifo(table)
        done = subprocess.run([TRAINER, "import", table, "--name", "a", "--runs", self.runs], capture_output=True, text=True,
                              timeout=PATIENCE)
        self.assert_fails(done, 6, "is a named pipe")

    def test_a_link_to_a_pipe_or_a_device_is_one(self):
        model = small_model(self._folder.name, "llama")
        (model / "config.json").unlink()
        os.mkfifo(model / "pipe")
        (model / "config.json").symlink_to("pipe")
        self.refused(model, model / "config.json")
        (model / "config.json").unlink()
        (model / "config.json").symlink_to("/dev/zero")
        self.assert_fails(self.trainer("look", model, "--what", "loss", "--text", TEXT), 6, "is a device, not a file")

    def test_the_links_of_a_cache_are_followed(self):
        """As in the cache of huggingface_hub: snapshots/REVISION/NAME is a link to ../../blobs/HASH."""
        model = small_model(self._folder.name, "llama")
        right = self.trainer("look", model, "--what", "loss", "--text", TEXT).stdout
        snapshot = Path(self._folder.name) / "models--a--b" / "snapshots" / "0123abc"
        blobs = snapshot.parents[1] / "blobs"
        snapshot.mkdir(parents=True)
        blobs.mkdir()
        for number, path in enumerate(model.iterdir()):
            path.rename(blobs / str(number))
            (snapshot / path.name).symlink_to(f"../../blobs/{number}")
        done = self.trainer("look", snapshot, "--what", "loss", "--text", TEXT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, right)

    def test_a_text_may_come_through_a_pipe(self):
        model = small_model(self._folder.name, "llama")
        right = self.trainer("look", model, "--what", "loss", "--text", TEXT).stdout
        given = self.trainer("look", model, "--what", "loss", "--text-file", "/dev/stdin", input=TEXT)
        self.assertEqual(given.stdout, right, given.stderr)
        endless = self.trainer("look", model, "--what", "loss", "--text-file", "/dev/zero")
        self.assert_fails(endless, 6, "is larger than")


class Ends(TrainerTest):
    def begin_process(self, *command, **options):
        process = subprocess.Popen([*map(str, command)], **options)
        self.addCleanup(lambda: [stream.close() for stream in (process.stdin, process.stdout, process.stderr) if stream])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def ended(self, process):
        """The exit code of a process that must end by itself."""
        try:
            return process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.fail(f"{process.args} does not end")

    def serve_at_work(self, **options):
        """A serve process that computes for a minute, and its client."""
        process = self.begin_process(TRAINER, "serve", small_model(self._folder.name, "llama"), "--json", "--with-parent",
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options)
        path = json.loads(process.stdout.readline())["socket"]
        peer = Peer(path)
        self.addCleanup(peer.close)
        peer.socket.sendall(json.dumps({"command": "look", "id": "1", "question": {
            "what": "subsets", "text": TEXT * 1000, "count": "4"}}).encode() + b"\n")
        self.assertEqual(json.loads(process.stdout.readline())["event"], "progress")
        return process, Path(path)

    def test_serve_ends_when_it_is_told_to(self):
        process, path = self.serve_at_work()
        process.terminate()
        self.ended(process)
        self.assertFalse(path.exists())

    def test_serve_ends_with_its_parent(self):
        process, path = self.serve_at_work()
        process.stdin.close()
        self.ended(process)
        self.assertFalse(path.exists())

    def test_serve_ends_with_a_parent_that_is_killed(self):
        parent = self.begin_process(
            sys.executable, "-c", "import subprocess, sys, time\n"
            "child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)\nprint(child.pid, flush=True)\ntime.sleep(600)",
            TRAINER, "serve", small_model(self._folder.name, "llama"), "--with-parent", stdout=subprocess.PIPE, text=True)
        lines = {parent.stdout.readline(), parent.stdout.readline()}  # its process id and its socket
        child = int(next(line for line in lines if line.strip().isdigit()))
        parent.kill()
        wait_until(lambda: not is_there(child), seconds=PATIENCE)

    def test_nobody_reads_what_they_write(self):
        run = self.train("a", "--steps", 2)
        model = small_model(self._folder.name, "llama")
        commands = [["serve", model], ["look", model, "--what", "loss", "--text", TEXT], ["list"], ["list", "--json"],
                    ["eval", run, "--problems", 1], ["describe"], ["sample", "addition", "--count", 1000]]
        processes = []
        for command in commands:
            read, write = full_pipe()
            self.addCleanup(os.close, read)
            runs = [] if command[0] in ("describe", "sample") else ["--runs", self.runs]
            processes.append(self.begin_process(TRAINER, *command, *runs, stdout=write, stderr=subprocess.DEVNULL))
            os.close(write)
        time.sleep(3)
        for process in processes:
            with self.subTest(process.args):
                self.assertIsNone(process.poll(), "it waits for a reader")
                process.terminate()
                self.assertNotEqual(self.ended(process), 0)

    def test_what_nobody_will_read_is_not_computed_to_its_end(self):
        model = small_model(self._folder.name, "llama")
        process = self.begin_process(TRAINER, "look", model, "--what", "subsets", "--text", TEXT * 1000, "--count", 4,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        time.sleep(1)
        self.assertIsNone(process.poll(), "it computes for a minute")
        process.stdout.close()
        self.ended(process)

    def test_a_trainer_whose_output_nobody_reads_saves_and_ends(self):
        read, write = full_pipe()
        process = self.begin_process(TRAINER, "run", "addition-small", *TINY, "--steps", 1000000, "--set", "checkpoints.every=0",
                                     "--runs", self.runs, "--name", "a", "--json", stdout=write, stderr=subprocess.DEVNULL)
        os.close(write)
        self.addCleanup(os.close, read)
        wait_until(lambda: (self.runs / "a" / "log.txt").exists(), process)
        time.sleep(1)
        process.terminate()
        self.assertEqual(self.ended(process), PREEMPTED)
        self.assertEqual(status(self.runs / "a")["state"], "preempted")

    def leased_elsewhere(self):
        """A run whose lease another machine has just renewed."""
        run = self.train("a", "--steps", 2)
        mark_stopped(run)
        for lease in run.glob("lease.*"):
            lease.unlink()
        (run / "lease.1").write_text(json.dumps({"host": "elsewhere", "boot": "b", "pid_namespace": "p", "pid": 1, "start": 1}))
        return run

    def test_waiting_for_a_lease(self):
        run = self.leased_elsewhere()
        before = (run / "status.json").read_bytes()
        process = self.begin_process(TRAINER, "resume", run, stderr=subprocess.PIPE, text=True)
        while "waiting up to" not in (line := process.stderr.readline()):
            self.assertNotEqual(line, "")
        process.terminate()
        self.assertEqual(self.ended(process), PREEMPTED)
        self.assertIn("stopped while waiting for process 1 on elsewhere", process.stderr.read())
        self.assertEqual((run / "status.json").read_bytes(), before)

    def test_a_queue_whose_trainer_waits(self):
        self.assertEqual(self.trainer("enqueue", "addition-small", *TINY[:-2], "--seeds", 0, "--runs", self.runs).returncode, 0)
        (run,) = [path for path in self.runs.iterdir() if path.is_dir()]
        (run / "lease.1").write_text(json.dumps({"host": "elsewhere", "boot": "b", "pid_namespace": "p", "pid": 1, "start": 1}))
        process = self.begin_process(TRAINER, "queue", "--runs", self.runs, stderr=subprocess.DEVNULL)
        said = run / "trainer-messages.txt"
        wait_until(lambda: said.exists() and "waiting up to" in said.read_text(), process)
        process.terminate()
        self.assertEqual(self.ended(process), PREEMPTED)

    def test_waiting_for_another_that_prepares_the_text(self):
        text = Path(self._folder.name) / "text.txt"
        text.write_text(BOOK.read_text(encoding="utf-8")[20000:80000], encoding="utf-8")
        cache = Path(self._folder.name) / "cache"
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        command = [TRAINER, "run", "text-quick", "--set", f"task.text={text}", "--set", "task.vocab_size=400", *TINY,
                   "--set", "training.length=33", "--steps", 1, "--runs", self.runs]
        done = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        (lock,) = (cache / "roper-lab" / "texts").glob("*.lock")
        for prepared in lock.with_suffix("").iterdir():
            prepared.unlink()
        with open(lock, "r+") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            process = self.begin_process(*command, "--name", "b", env=environment, stderr=subprocess.PIPE, text=True)
            while "which is preparing the same text" not in (line := process.stderr.readline()):
                self.assertNotEqual(line, "")
            process.terminate()
            self.assertEqual(self.ended(process), PREEMPTED)

    def test_a_follower_that_nobody_leads(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            process = self.begin_process(TRAINER, "follow", f"127.0.0.1:{server.getsockname()[1]}", "--rank", 1, "--of", 2,
                                         stderr=subprocess.DEVNULL)
            connection, _ = server.accept()
            process.terminate()
            self.ended(process)
            connection.close()

    def test_the_tokenizer(self):
        """It waits for a text on its stdin."""
        text = Path(self._folder.name) / "text"
        text.write_text(BOOK.read_text()[:30_000])
        vocabulary = Path(self._folder.name) / "vocabulary"
        subprocess.run([TOKENIZER, "prepare", "--text", text, "--vocab-size", "400", "--out", vocabulary], check=True,
                       capture_output=True)
        for stop, code in ((lambda process: process.terminate(), -signal.SIGTERM), (lambda process: process.stdin.close(), 0)):
            process = self.begin_process(TOKENIZER, "ids", "--model", vocabulary / "tokenizer.model", stdin=subprocess.PIPE,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.5)
            self.assertIsNone(process.poll())
            stop(process)
            self.assertEqual(self.ended(process), code)


if __name__ == "__main__":
    unittest.main(verbosity=2)
