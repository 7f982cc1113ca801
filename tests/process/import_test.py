"""Metrics of other programs: how `roper-train import` converts their files, and its messages."""

import csv
import json
import math
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TrainerTest, read_rows


def evaluations(run):
    with open(run / "evaluations.csv", newline="") as file:
        return list(csv.DictReader(file))


class ImportTest(TrainerTest):
    def imported(self, file, *arguments):
        name = f"run-{len(list(self.runs.glob('*')))}"
        done = self.trainer("import", file, "--name", name, "--runs", self.runs, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.runs / name, done.stderr

    def written(self, name, text):
        file = Path(self._folder.name) / name
        file.write_text(text)
        return file


class Import(ImportTest):
    def test_every_format_gives_the_same_losses(self):
        rows = [{"step": 10 * i, "loss": 3 - i / 10} for i in range(1, 6)]
        rows[2]["loss"] = math.nan
        state = {"best_metric": None, "log_history": rows, "max_steps": 50}
        files = [self.written("a.csv", "step,loss\n" + "".join(f"{r['step']},{r['loss']}\n" for r in rows)),
                 self.written("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows)),
                 self.written("a.json", json.dumps(rows, indent=1)),
                 self.written("trainer_state.json", json.dumps(state, indent=2)),
                 self.written("compact.json", json.dumps(state, separators=(",", ":"))),
                 self.written("text.jsonl", "".join(json.dumps({k: str(v) for k, v in row.items()}) + "\n" for row in rows))]
        for file in files:
            run, said = self.imported(file)
            self.assertEqual([row["loss"] for row in read_rows(run)], ["2.9", "2.8", "nan", "2.6", "2.5"], file)
            self.assertEqual({row[key] for row in read_rows(run) for key in ("time_s", "tokens", "grad_norm")}, {""})
            self.assertIn("the loss is not finite at 1 step, first at step 30", said)
            self.assertIn("the method is unknown", said)

    def test_the_log_keeps_what_is_said(self):
        run, said = self.imported(self.written("a.csv", "step,loss,epoch\n1,3,0\n2,2,0\n2,1,0\n"))
        self.assertIn("not imported: epoch", said)
        for line in said.splitlines()[:-1]:
            self.assertIn(line, (run / "log.txt").read_text())

    def test_a_run_of_unknown_method_is_not_called_one_of_ours(self):
        table = self.written("a.csv", "step,loss,val_loss\n1,3,3\n2,2,2\n")
        self.imported(table)
        self.imported(table, "--set", "model.position=rope")
        self.imported(table, "--set", "about.method=PoPE")
        listed = [json.loads(line) for line in self.trainer("list", "--json", "--runs", self.runs).stdout.splitlines()]
        self.assertEqual([run["position"] for run in listed], [None, "rope", "PoPE"])
        done = self.trainer("compare", "--a", "nothing", "--runs", self.runs)
        self.assertNotIn("RoPER", done.stdout + done.stderr)

    def test_settings_that_nobody_said_are_not_known(self):
        run, said = self.imported(self.written("a.csv", "step,loss,val_loss\n1,3,3\n2,2,2\n"),
                                  "--set", "model.position=rope", "--set", "data_seed=3", "--set", "model_seed=3")
        self.assertIn("known settings: model.position, training.data_seed, training.model_seed, training.steps", said)
        text = (run / "run.toml").read_text()
        self.assertNotIn("batch", text)
        self.assertIn("Settings that are not listed here are unknown", text)
        (listed,) = (json.loads(line) for line in self.trainer("list", "--json", "--runs", self.runs).stdout.splitlines())
        self.assertEqual([listed[key] for key in ("task", "position", "model_seed")], [None, "rope", 3])
        ours = self.train("ours", "--steps", 2, "--seed", 3, "--set", "model.position=rope")
        table = self.trainer("diff", run, ours).stdout
        self.assertRegex(table, r"training\.batch .* – .*4")
        self.assertRegex(table, r"task\.name .* – .*addition")
        # For a language model, the text itself is not required.
        run, _ = self.imported(self.written("b.csv", "step,loss,val_loss\n1,3,3\n2,2,2\n"), "--set", "task.name=text")
        self.assertNotIn("\ntext = ", (run / "run.toml").read_text())
        # A run with unknown settings cannot be trained.
        self.assert_fails(self.trainer("run", self.runs / "run-0" / "run.toml", "--runs", self.runs), 2, "settings of imported metrics")
        done = self.trainer("resume", run)
        self.assertIn("It has no checkpoint to resume from", done.stderr)

    def test_steps_that_are_not_whole_are_refused(self):
        done = self.trainer("import", self.written("a.csv", "step,loss\n1,3\n1.5,2\n"), "--runs", self.runs)
        self.assert_fails(done, 2, "a.csv:3", 'the step is 1.5 (column "step")', "--column step=NAME")
        self.assertFalse(self.runs.exists() and any(self.runs.iterdir()))


class Events(ImportTest):
    def setUp(self):
        super().setUp()
        packages = os.environ.get("ROPER_TEST_PACKAGES", "")
        if packages and packages not in sys.path:
            sys.path.insert(0, packages)
        try:
            from tensorboard.compat import proto  # noqa: F401
        except ImportError as error:
            self.skipTest(f"{error}: `./lab test` installs it")
        self.events = Path(self._folder.name) / "events"

    def write(self, values, as_tensor=False, suffix=""):
        """Like SummaryWriter of PyTorch, or tf.summary.scalar of TensorFlow 2."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
        from tensorboard.util.tensor_util import make_tensor_proto

        writer = EventFileWriter(str(self.events), filename_suffix=suffix)
        metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
        for time_s, step, tag, value in values:
            form = {"tensor": make_tensor_proto(value, dtype="float32"), "metadata": metadata} if as_tensor else {"simple_value": value}
            writer.add_event(Event(wall_time=1.7e9 + time_s, step=step, summary=Summary(value=[Summary.Value(tag=tag, **form)])))
        writer.close()

    def test_scalars_in_both_forms(self):
        for as_tensor in (False, True):
            self.events = Path(self._folder.name) / f"events-{as_tensor}"
            self.write([(60 * step, step, tag, value) for step in range(1, 4) for tag, value in
                        (("train/loss", 2.5 / step), ("train/grad_norm", 0.5), ("eval/loss", 3.0))], as_tensor)
            (file,) = self.events.iterdir()
            for source in (file, self.events):
                run, said = self.imported(source)
                rows = read_rows(run)
                self.assertEqual([(row["step"], row["time_s"], row["grad_norm"]) for row in rows],
                                 [("1", "0", "0.5"), ("2", "60", "0.5"), ("3", "120", "0.5")])
                self.assertAlmostEqual(float(rows[2]["loss"]), 2.5 / 3, places=6)
                self.assertEqual([row["loss"] for row in evaluations(run)], ["3", "3", "3"])
                self.assertIn("counts time from 1970", said)

    def test_our_own_events(self):
        ours = self.train("a", "--steps", 8, "--set", "evaluation.every=4")
        (file,) = ours.glob("events.out.tfevents*")
        run, _ = self.imported(file)
        for mine, theirs in zip(read_rows(ours), read_rows(run), strict=True):
            self.assertEqual(mine["step"], theirs["step"])
            for key in ("loss", "learning_rate", "grad_norm"):
                self.assertAlmostEqual(float(mine[key]), float(theirs[key]), places=5)
        self.assertEqual([row["step"] for row in evaluations(run)], ["4", "8"])


if __name__ == "__main__":
    unittest.main()
