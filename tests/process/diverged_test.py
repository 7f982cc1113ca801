"""Non-finite numbers, injected into weights and moments of a real run or reached by training: the run ends before saving any."""

import json
import re
import shutil
import struct
import sys
import unittest
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TINY, TrainerTest, checkpoints, read_rows, read_safetensors, status, without_times

SAVED, STEPS = 10, 20
FLAGS = ["--set", f"checkpoints.every={SAVED}", "--set", "evaluation.every=5", "--set", f"training.steps={STEPS}", "--set",
         "training.warmup_steps=2"]
# The largest float32 rounds to infinity in bfloat16.
LARGEST = 3.4028234e38


def write_safetensors(path, tensors, metadata):
    """Writes the format without a checksum, like older versions."""
    kinds = {"float32": "F32", "float64": "F64", "int64": "I64", "uint8": "U8"}
    header, content = {"__metadata__": {**metadata, "format": "roper-lab-checkpoint-1"}}, b""
    del header["__metadata__"]["checksum"]
    for name, values in tensors.items():
        data = values.tobytes()
        header[name] = {"dtype": kinds[str(values.dtype)], "shape": list(values.shape),
                        "data_offsets": [len(content), len(content) + len(data)]}
        content += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + content)


def files_of(run):
    """Everything kept from earlier steps, which must not change."""
    kept = {path.name: path.read_bytes() for path in checkpoints(run)}
    kept["rows"] = [row for row in read_rows(run) if int(row["step"]) <= SAVED]
    kept["evaluations"] = (run / "evaluations.csv").read_text()
    return kept


class NotFinite(TrainerTest):
    def check(self, precision, injections):
        whole = self.train("whole-" + precision, *FLAGS, "--set", f"device.precision={precision}", "--set", "checkpoints.keep=9")
        good = whole / "checkpoints" / f"step-{SAVED:08}.safetensors"
        tensors, metadata = read_safetensors(good)
        tried = 0
        for number, (tensor, value) in enumerate(injections(tensors)):
            run = self.runs / f"{precision}-{number}"
            shutil.copytree(whole, run)
            for path in checkpoints(run):
                path.unlink()
            poisoned = {name: values.copy() for name, values in tensors.items()}
            poisoned[tensor].reshape(-1)[:: 1 if "embedding" in tensor else 7] = value
            (run / "status.json").write_text(json.dumps({**status(whole), "state": "stopped"}))
            saved = run / "checkpoints" / good.name
            write_safetensors(saved, poisoned, metadata)
            # An update that breaks the weights is detected before the checkpoint that would save them.
            keeps_each = tensor.startswith("optimizer.")
            if keeps_each:
                text = (run / "run.toml").read_text()
                every_step = re.sub(r"(\[checkpoints\]\nevery = )\d+", r"\g<1>1", text)
                self.assertNotEqual(every_step, text)
                (run / "run.toml").write_text(every_step)
            before = files_of(run)
            evaluations = before.pop("evaluations").splitlines()
            for again in range(2):
                done = self.trainer("resume", run)
                with self.subTest(tensor=tensor, value=value, again=again):
                    self.assert_fails(done, 3, "diverged", "start a run with", "training.learning_rate", "training.warmup_steps")
                    self.assertEqual("device.precision = fp32" in done.stderr, precision == "bf16")
                    self.assertEqual((status(run)["state"], status(run)["exit_code"]), ("failed", 3))
                    after = files_of(run)
                    self.assertEqual(after.pop("evaluations").splitlines(), evaluations[: len(after["rows"]) // 5 + 1])
                    self.assertEqual(after, before)
                    steps = [int(row["step"]) for row in read_rows(run)]
                    self.assertEqual(steps, list(range(1, steps[-1] + 1)))
                    self.assertLessEqual(steps[-1], SAVED + 2)
                    last = read_rows(run)[-1]
                    if keeps_each:
                        self.assertIn("contains numbers that are not finite", done.stderr)
                        self.assertEqual(steps[-1], SAVED + 1)
                    else:
                        self.assertTrue({last["loss"], last["grad_norm"]} & {"nan", "inf", "-inf"}, last)
            # With the cause removed, the run continues as if nothing had happened.
            shutil.copy(good, saved)
            done = self.trainer("resume", run)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(without_times(read_rows(run)), without_times(read_rows(whole)))
            tried += 1
        print(f"{precision}: {tried} runs with numbers that are not finite, all ended before they kept anything")

    def test_nan_and_infinities_in_weights_and_moments(self):
        def injections(tensors):
            weights = [name for name in tensors if not name.startswith(("optimizer.", "random."))]
            for number, name in enumerate(weights):
                yield name, (float("nan"), float("inf"), float("-inf"))[number % 3]
            yield "optimizer.mean." + weights[0], float("inf")
            yield "optimizer.square." + weights[-1], float("nan")
            yield "optimizer.square." + weights[1], float("inf")  # leaves weights that look normal

        self.check("fp32", injections)

    def test_what_overflows_in_bfloat16_alone(self):
        def injections(tensors):
            for name, values in tensors.items():
                if values.ndim == 2 and not name.startswith("optimizer."):
                    yield name, LARGEST

        self.check("bf16", injections)

    def test_a_learning_rate_that_is_far_too_high(self):
        for precision in ("fp32", "bf16"):
            for rate in ("1", "10"):
                name = f"{precision}-{rate}"
                done = self.trainer("run", "addition-small", *TINY, *FLAGS, "--set", f"device.precision={precision}", "--set",
                                    f"training.learning_rate={rate}", "--set", "training.clip_norm=0",
                                    "--runs", self.runs, "--name", name)
                run = self.runs / name
                if done.returncode == 0:  # norms keep huge numbers finite
                    self.assertEqual(status(run)["state"], "finished")
                else:
                    self.assert_fails(done, 3, "diverged", "lower training.learning_rate than", "training.clip_norm = 1")
                for path in checkpoints(run):
                    tensors, _ = read_safetensors(path)
                    for tensor, values in tensors.items():
                        self.assertTrue(numpy.isfinite(values).all(), f"{path} keeps {tensor}")


if __name__ == "__main__":
    unittest.main()
