"""Shared by the process tests: running roper-train, and reading its files."""

import atexit
import csv
import json
import math
import os
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

TRAINER = os.environ["ROPER_TRAIN"]

TESTS = Path(__file__).resolve().parents[1]
REFERENCES = TESTS / "parity" / "pretrained"
# The small models, which the build unpacks.
PRETRAINED = Path(os.environ.get("ROPER_PRETRAINED", TESTS.parent / "build" / "release" / "tests" / "pretrained"))
LETTERS = [chr(ord("0") + i) for i in range(64)]  # one for each id of the small models

TINY = ["--set", "model.width=32", "--set", "model.layers=1", "--set", "model.heads=2", "--set", "model.feed_forward=32",
        "--set", "training.batch=4", "--set", "evaluation.problems=4", "--threads", "1"]


class PreloadedTrainer:
    """Runs short commands of roper-train in copies of a process that has LibTorch loaded."""

    # Commands that start no program and read nothing from standard input.
    COMMANDS = {"compare", "completion", "describe", "diff", "eval", "export", "families", "list", "look", "methods", "models",
                "presets", "rotation", "sample", "tokens", "trust"}
    ENVIRONMENT = {"HOME", "XDG_STATE_HOME"}

    def __init__(self):
        self.process = subprocess.Popen([os.environ["ROPER_PRELOADED_TRAINER"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.folder = tempfile.TemporaryDirectory(prefix="roper-preloaded-")
        self.lock = threading.Lock()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()

    def run(self, arguments, environment, timeout=300):
        files = {name: str(Path(self.folder.name) / name) for name in ("stdout", "stderr")}
        command = json.dumps({"arguments": arguments, "environment": environment, **files})
        with self.lock:
            print(command, file=self.process.stdin, flush=True)
            if not select.select([self.process.stdout], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(arguments, timeout)
            code = self.process.stdout.readline()
            if not code:
                raise RuntimeError(f"preloaded-trainer ended with {self.process.wait()} at {arguments}")
            texts = {name: Path(path).read_text() for name, path in files.items()}
        return subprocess.CompletedProcess(["roper-train", *arguments], int(code), **texts)


preloaded = None


def run_trainer(*arguments, env=None, **options):
    """Runs roper-train to its end."""
    global preloaded
    arguments = list(map(str, arguments))
    if arguments[:1] == ["look"] and "--threads" not in arguments:
        arguments += ["--threads", "1"]  # with another test on the same core, several take longer than one
    own = dict((env or os.environ).items() - os.environ.items())
    is_short = bool(arguments) and arguments[0] in PreloadedTrainer.COMMANDS and not options
    is_usual = own.keys() <= PreloadedTrainer.ENVIRONMENT and os.environ.keys() <= (env or os.environ).keys()
    if "ROPER_PRELOADED_TRAINER" not in os.environ or not is_short or not is_usual:
        return subprocess.run([TRAINER, *arguments], capture_output=True, text=True, timeout=300, env=env, **options)
    if preloaded is None:
        preloaded = PreloadedTrainer()
        atexit.register(preloaded.close)
    return preloaded.run(arguments, own)


class TrainerTest(unittest.TestCase):
    """A test with its own runs folder."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="roper-process-")
        self.addCleanup(self._folder.cleanup)
        self.runs = Path(self._folder.name) / "runs"

    def trainer(self, *arguments, **options):
        return run_trainer(*arguments, **options)

    def train(self, name, *arguments):
        """Trains a tiny run to its end."""
        done = self.trainer("run", "addition-small", *TINY, *arguments, "--runs", self.runs, "--name", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.runs / name

    def begin(self, name, *arguments):
        """Starts a tiny run in the background."""
        process = subprocess.Popen([TRAINER, "run", "addition-small", *TINY, *arguments, "--runs", str(self.runs), "--name",
                                    name, "-q"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start(self, name, *arguments):
        """The same, and waits for its first row."""
        process = self.begin(name, *arguments)
        wait_until(lambda: len(read_rows(self.runs / name)) > 0, process)
        return process

    def assert_fails(self, done, code, *parts):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)
        self.assertNotIn("terminate called", done.stderr)


def wait_until(condition, process=None, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if process is not None and process.poll() is not None:
            raise AssertionError(f"the trainer ended with {process.returncode}: {process.stderr.read()}")
        if time.monotonic() > end:
            raise AssertionError("nothing happened for a long time")
        time.sleep(0.005)


def read_rows(run):
    path = run / "metrics.csv"
    if not path.exists():
        return []
    text = path.read_text()
    return list(csv.DictReader(text[: text.rfind("\n") + 1].splitlines()))


def without_times(rows):
    return [{k: v for k, v in row.items() if k not in ("time_s", "tokens_per_s")} for row in rows]


def status(run):
    return json.loads((run / "status.json").read_text())


def mark_stopped(run):
    """Makes a finished run resumable."""
    path = run / "status.json"
    path.write_text(path.read_text().replace('"finished"', '"stopped"'))


def checkpoints(run):
    return sorted((run / "checkpoints").glob("*.safetensors"))


def read_safetensors(path):
    """Parses the format strictly. @returns the tensors as numpy arrays, and the metadata"""
    import numpy

    kinds = {"F32": numpy.float32, "F64": numpy.float64, "I64": numpy.int64, "U8": numpy.uint8}
    content = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        data = content[8 + length + begin : 8 + length + end]
        if entry["dtype"] == "BF16":  # the upper half of a float32
            numbers = (numpy.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = numpy.frombuffer(data, kinds[entry["dtype"]])
        tensors[name] = numbers.reshape(entry["shape"])
    return tensors, metadata


class Peer:
    """A client of a control socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)
        self.stream = self.socket.makefile("rb")

    def ask(self, **request):
        self.socket.sendall((json.dumps({"id": "x", **request}) + "\n").encode())
        reply = json.loads(self.stream.readline())
        return reply, self.stream.read(reply.get("payload", 0))

    def close(self):
        self.stream.close()
        self.socket.close()


def tensors_of(payload):
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
        file.write(payload)
        file.flush()
        return read_safetensors(file.name)


def tokenizer_json(letters=LETTERS):
    return json.dumps({"model": {"type": "BPE", "vocab": {letter: i for i, letter in enumerate(letters)}, "merges": []}})


def expected_text(family):
    """The text of a family's expected.safetensors in the letters of its small model; of an encoder, without the tokens around it."""
    tokens = [int(token) for token in read_safetensors(PRETRAINED / family / "expected.safetensors")[0]["tokens"]]
    if not is_encoder(family):
        return "".join(LETTERS[token] for token in tokens)
    texts = {i: text for text, i in json.loads((PRETRAINED / family / "tokenizer.json").read_text())["model"]["vocab"].items()}
    return "".join(texts[token] for token in tokens[1:-1])


def is_encoder(family):
    """Whether the small model predicts masked tokens. Such models have a tokenizer with special tokens."""
    return (PRETRAINED / family / "tokenizer.json").exists()


def small_model(folder, family):
    """The Hugging Face folder of a small random model whose tokens are single letters."""
    folder = Path(folder) / family
    if not folder.exists():
        shutil.copytree(PRETRAINED / family, folder)
        if not is_encoder(family):
            (folder / "tokenizer.json").write_text(tokenizer_json())
    return folder


def weights_from(tensors, facts):
    """Attention weights as defined in docs/run-folder.md, computed by numpy from q and k before rotation."""
    import numpy

    q, k = tensors["q"].astype(float), tensors["k"].astype(float)
    T, d = q.shape
    width = int(float(facts["rotary_fraction"]) * d) // 2 * 2
    if facts["position"] == "none":
        width = 0
    theta = tensors["theta"][0] if "theta" in tensors else float(facts["base"]) ** (-2 * numpy.arange(width // 2) / max(width, 1))
    angle = numpy.arange(T)[:, None] * theta
    cosine, sine = numpy.cos(angle), numpy.sin(angle)

    def rotated(x):
        if facts["pairing"] == "half":
            first, second = slice(0, width // 2), slice(width // 2, width)
        else:
            first, second = slice(0, width, 2), slice(1, width, 2)
        y = x.copy()
        y[:, first] = x[:, first] * cosine - x[:, second] * sine
        y[:, second] = x[:, first] * sine + x[:, second] * cosine
        return y

    scores = rotated(q) @ rotated(k).T / math.sqrt(d)
    scores[numpy.triu_indices(T, 1)] = -numpy.inf
    weights = numpy.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)
