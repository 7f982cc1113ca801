"""Language models on a text of the user: preparation, training, refused texts, kept files."""

import csv
import json
import math
import os
import resource
import shutil
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TRAINER, TrainerTest, checkpoints, read_rows, status, wait_until, without_times

BOOK = Path(__file__).resolve().parents[2] / "resources" / "texts" / "opticks.txt"
TOKENIZER = str(Path(TRAINER).parent / "roper-tokenizer")

SMALL = ["--set", "task.vocab_size=400", "--set", "model.width=32", "--set", "model.layers=1", "--set", "model.heads=2",
         "--set", "model.feed_forward=64", "--set", "training.batch=4", "--set", "training.length=33",
         "--set", "evaluation.problems=8", "--set", "snapshots.every=0", "--set", "training.warmup_steps=2", "--threads", "1"]


class TextTest(TrainerTest):
    def setUp(self):
        super().setUp()
        self.folder = Path(self._folder.name)
        self.cache = self.folder / "cache"
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.cache)}
        self.text = self.folder / "text.txt"
        self.text.write_text(BOOK.read_text(encoding="utf-8")[20000:80000] + "\n", encoding="utf-8")

    def ask(self, *arguments, **options):
        return self.trainer(*arguments, env=self.environment, **options)

    def run_text(self, name, *arguments, what="text-quick"):
        return self.ask("run", what, *SMALL, "--set", f"task.text={self.text}", *arguments, "--runs", self.runs,
                        "--name", name)

    def train_text(self, name, *arguments, what="text-quick"):
        done = self.run_text(name, *arguments, what=what)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.runs / name

    def prepared(self):
        return [path for path in (self.cache / "roper-lab" / "texts").iterdir() if path.is_dir()]


class Training(TextTest):
    def test_a_run_learns_and_keeps_its_vocabulary(self):
        run = self.train_text("a", "--steps", 60, "--set", "evaluation.every=30")
        rows = list(csv.DictReader((run / "evaluations.csv").read_text().splitlines()))
        self.assertEqual([row["step"] for row in rows], ["30", "60"])
        self.assertLess(float(rows[1]["loss"]), float(rows[0]["loss"]))
        self.assertLess(float(rows[1]["loss"]), math.log(400))
        self.assertEqual(rows[1]["tokens_scored"], str(8 * 32))
        self.assertEqual(rows[1]["correct"], "")
        kept = json.loads((run / "text" / "corpus.json").read_text())
        self.assertEqual((kept["vocab_size"], kept["kind"], kept["bytes"]), (400, "unigram", self.text.stat().st_size))
        samples = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
        self.assertTrue(samples)
        whole = self.text.read_text(encoding="utf-8")
        for sample in samples:
            self.assertIsNone(sample["correct"])
            self.assertIn(sample["prompt"] + sample["expected"], whole)

    def test_the_unigram_entropy_is_that_of_the_tokens(self):
        self.train_text("a", "--steps", 2)
        (corpus,) = self.prepared()
        tokens = corpus.joinpath("tokens.bin").read_bytes()
        ids = [tokens[i] | tokens[i + 1] << 8 for i in range(0, len(tokens), 2)]
        counts = {token: ids.count(token) for token in set(ids)}
        entropy = -sum(n / len(ids) * math.log(n / len(ids)) for n in counts.values())
        self.assertAlmostEqual(json.loads((corpus / "corpus.json").read_text())["unigram_entropy"], entropy, places=9)
        tokens = (corpus / "vocabulary.txt").read_bytes().split(b"\n")[:-1]
        self.assertEqual(len(tokens), 400)
        plain = b"".join(bytes_of(tokens[token]) for token in ids)
        self.assertEqual(plain.decode(), self.text.read_text(encoding="utf-8"))  # nothing is lost

    def test_resumed_as_if_never_interrupted(self):
        options = ["--steps", 40, "--set", "checkpoints.every=10", "--set", "evaluation.every=20"]
        whole = self.train_text("whole", *options)
        cut = self.train_text("cut", *options)
        for checkpoint in checkpoints(cut)[1:]:
            checkpoint.unlink()
        self.assertEqual(len(checkpoints(cut)), 1)
        state = json.loads((cut / "status.json").read_text())
        (cut / "status.json").write_text(json.dumps({**state, "state": "interrupted"}))
        done = self.ask("resume", cut, "--threads", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(without_times(read_rows(cut)), without_times(read_rows(whole)))
        self.assertEqual((cut / "samples.jsonl").read_text(), (whole / "samples.jsonl").read_text())

    def test_a_masked_run_is_resumed_with_the_same_masks(self):
        options = ["--steps", 24, "--set", "checkpoints.every=8", "--set", "evaluation.every=12"]
        whole = self.train_text("whole", *options, what="roformer-quick")
        cut = self.train_text("cut", *options, what="roformer-quick")
        for checkpoint in checkpoints(cut)[1:]:
            checkpoint.unlink()
        state = json.loads((cut / "status.json").read_text())
        (cut / "status.json").write_text(json.dumps({**state, "state": "interrupted"}))
        self.assertEqual(self.ask("resume", cut, "--threads", 1).returncode, 0)
        self.assertEqual(without_times(read_rows(cut)), without_times(read_rows(whole)))

    def test_masked_tokens_are_learned_from_both_sides(self):
        run = self.train_text("a", "--steps", 80, "--set", "evaluation.every=40", "--set", "training.masked_share=0.3",
                              what="roformer-quick")
        rows = list(csv.DictReader((run / "evaluations.csv").read_text().splitlines()))
        self.assertLess(float(rows[1]["loss"]), float(rows[0]["loss"]))
        scored = int(rows[1]["tokens_scored"])
        self.assertTrue(0.2 * 8 * 33 < scored < 0.4 * 8 * 33, scored)
        samples = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
        self.assertIn("[MASK]", samples[-1]["prompt"])
        # Predicted parts are marked by byte offsets, because the characters of a token may have several bytes.
        completion, expected = (samples[-1][key].encode() for key in ("completion", "expected"))
        predicted = list(zip(*[iter(samples[-1]["predicted"])] * 3))
        self.assertGreaterEqual(len(predicted), samples[-1]["prompt"].count("[MASK]"))
        for at, size, is_right in predicted:
            self.assertIn(is_right, (0, 1))
            self.assertTrue(completion[at:at + size].decode(), "whole characters")
            if is_right:
                self.assertIn(completion[at:at + size], expected)
        self.assertIn(samples[-1]["expected"], self.text.read_text(encoding="utf-8"))
        refused = self.ask("eval", run, "--by-position")
        self.assert_fails(refused, 2, "masked")

    def test_one_of_two_prepares(self):
        both = [subprocess.Popen([TRAINER, "run", "text-quick", *SMALL, "--set", f"task.text={self.text}", "--steps", "2",
                                  "--runs", str(self.runs), "--name", name], stderr=subprocess.PIPE, text=True,
                                 env=self.environment) for name in ("a", "b")]
        said = [process.communicate(timeout=120)[1] for process in both]
        self.assertEqual([process.returncode for process in both], [0, 0], said)
        self.assertEqual(sum("preparing the text" in text for text in said), 1, said)
        self.assertEqual(len(self.prepared()), 1)

    def test_killed_while_it_prepares(self):
        process = subprocess.Popen([TRAINER, "run", "text-quick", "--set", "task.text=opticks", "--set", "task.vocab_size=6000",
                                    "--steps", "2", "--runs", str(self.runs), "--name", "a"], stderr=subprocess.DEVNULL,
                                   env=self.environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: (self.cache / "roper-lab" / "texts").exists() and self.prepared())
        process.terminate()
        self.assertEqual(process.wait(timeout=60), 75)
        self.assertEqual(status(self.runs / "a")["state"], "preempted")
        self.assertEqual(self.prepared(), [])  # no partial file remains

    def test_stopped_through_its_socket_while_it_prepares(self):
        process = subprocess.Popen([TRAINER, "run", "text-quick", "--set", "task.text=opticks", "--set", "task.vocab_size=6000",
                                    "--steps", "2", "--runs", str(self.runs), "--name", "a"], stderr=subprocess.DEVNULL,
                                   env=self.environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: (self.runs / "a" / "status.json").exists() and status(self.runs / "a").get("control"))
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(status(self.runs / "a")["control"])
            client.sendall(b'{"command": "stop", "id": "1"}\n')
            self.assertTrue(json.loads(client.makefile().readline())["ok"])
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(status(self.runs / "a")["state"], "stopped")
        self.assertEqual(read_rows(self.runs / "a"), [])

    def test_what_a_kill_leaves_is_prepared_again(self):
        process = subprocess.Popen([TRAINER, "run", "text-quick", "--set", f"task.text={BOOK}", "--set", "task.vocab_size=6000",
                                    "--steps", "2", "--runs", str(self.runs), "--name", "a"], stderr=subprocess.DEVNULL,
                                   env=self.environment)
        wait_until(lambda: (self.cache / "roper-lab" / "texts").exists() and self.prepared())
        process.kill()
        process.wait()
        self.text = BOOK
        self.train_text("b", "--steps", 2, "--set", "task.vocab_size=6000")
        self.assertEqual([path.name for path in self.prepared() if "partial" in path.name], [])

    def test_a_run_keeps_its_vocabulary_whatever_is_learned_later(self):
        run = self.train_text("a", "--steps", 3)
        (corpus,) = self.prepared()
        before = self.ask("eval", run, "--json").stdout
        # Simulates another version that learned other tokens from the same text, namely those of its second half.
        other = self.folder / "other.txt"
        other.write_text(self.text.read_text(encoding="utf-8")[30000:], encoding="utf-8")
        subprocess.run([TOKENIZER, "prepare", "--text", str(other), "--vocab-size", "400", "--out", str(self.folder / "learned")],
                       check=True, timeout=60)
        shutil.rmtree(corpus)
        subprocess.run([TOKENIZER, "prepare", "--text", str(self.text), "--vocab-size", "400", "--out", str(corpus), "--model",
                        str(self.folder / "learned" / "tokenizer.model")], check=True, timeout=60)
        after = self.ask("eval", run, "--json")
        self.assertEqual(after.returncode, 0, after.stderr)
        self.assertEqual(after.stdout, before)

    def test_a_damaged_cache_is_prepared_again(self):
        whole = self.train_text("whole", "--steps", 6)
        (corpus,) = self.prepared()
        tokens = corpus / "tokens.bin"
        content = tokens.read_bytes()
        foreign = self.folder / "foreign"
        subprocess.run([TOKENIZER, "prepare", "--text", str(BOOK), "--vocab-size", "400", "--out", str(foreign)], check=True,
                       timeout=60)

        def flip(path):
            changed = bytearray(path.read_bytes())
            changed[len(changed) // 2] ^= 1
            path.write_bytes(changed)

        for damage in (lambda: tokens.write_bytes(content[: len(content) // 4 * 2]),
                       lambda: tokens.write_bytes(bytes(len(content))), lambda: flip(tokens), lambda: flip(corpus / "tokenizer.model"),
                       lambda: flip(corpus / "vocabulary.txt"), lambda: shutil.copy(foreign / "tokenizer.model", corpus),
                       lambda: (corpus / "corpus.json").write_text("{}"), lambda: shutil.rmtree(corpus)):
            damage()
            again = self.ask("eval", whole, "--json")
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertIn("preparing the text", again.stderr)
            self.assertEqual(tokens.read_bytes(), content)

    def test_a_cache_that_is_cut_while_a_run_trains(self):
        process = subprocess.Popen([TRAINER, "run", "text-quick", *SMALL, "--set", f"task.text={self.text}", "--steps", "1000000",
                                    "--runs", str(self.runs), "--name", "a"], stderr=subprocess.PIPE, text=True,
                                   env=self.environment)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        wait_until(lambda: len(read_rows(self.runs / "a")) > 5, process)
        (corpus,) = self.prepared()
        os.truncate(corpus / "tokens.bin", 100)
        said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 6, said)
        self.assertIn("tokens.bin has been truncated while in use", said)
        self.assertEqual(status(self.runs / "a")["state"], "failed")

    def test_what_is_no_text(self):
        for content, part in ((bytes(5000), "byte 1 is 0, which does not occur in text"), (b"some text\n" * 500 + b"\0", "byte 5001 is 0"),
                              (("text in UTF-16\n" * 300).encode("utf-16"), ""),
                              (b"", "nothing to train on"), (b"\n" * 5000, "")):
            self.text.write_bytes(content)
            done = self.run_text(f"a{len(content)}{part[:6].strip()}".replace(" ", ""), "--steps", 2)
            self.assertNotEqual(done.returncode, 255)
            self.assert_fails(done, 2, part)
            self.assertNotIn("LOG(", done.stderr)

    def test_letters_spelled_in_bytes_end_anywhere(self):
        # At a high temperature, an untrained model generates single bytes, most of the 400 tokens.
        run = self.train_text("a", "--steps", 4, "--set", "snapshots.every=2", "--set", "snapshots.characters=13",
                              "--set", "evaluation.every=2", "--set", "evaluation.temperature=2")
        written = ""
        for line in (run / "samples.jsonl").read_text(encoding="utf-8").splitlines():
            written += json.loads(line)["completion"]
        self.assertIn("\ufffd", written)
        self.assertEqual(len(list((run / "snapshots").iterdir())), 3)

    def test_a_sweep_over_a_path_finds_its_runs_again(self):
        sweep = self.folder / "mine.toml"
        settings = dict(setting.split("=") for setting in SMALL[1:-2:2])
        rows = [f'"{key}" = {value}' for key, value in settings.items()]
        sweep.write_text('base = "text-quick"\nseeds = [0]\n[set]\n"task.text" = "text.txt"\n"training.steps" = 2\n'
                         '"device.threads" = 1\n' + "\n".join(rows) + '\n[axes]\n"model.position" = ["rope", "none"]\n')
        for _ in range(2):
            done = self.ask("sweep", sweep, "--runs", self.runs, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 finished before", done.stderr)


class Evaluating(TextTest):
    def test_at_other_lengths_and_by_position(self):
        run = self.train_text("a", "--steps", 40, "--set", "training.length=17")
        self.ask("eval", run, "--length", "17,33,65", "--problems", 4, "--keep")
        rows = list(csv.DictReader((run / "lengths.csv").read_text().splitlines()))
        self.assertEqual([(row["step"], row["length"], row["tokens_scored"]) for row in rows],
                         [("40", "17", "64"), ("40", "33", "64"), ("40", "65", "64")])  # the same part of the text
        lines = self.ask("eval", run, "--length", "17,33", "--problems", 4, "--json").stdout.splitlines()
        self.assertEqual([json.loads(line)["length"] for line in lines], [17, 33])
        done = self.ask("eval", run, "--length", "33", "--problems", 4, "--by-position", "--keep", "--json")
        losses = json.loads(done.stdout)["losses"]
        self.assertEqual(len(losses), 32)
        # The mean over positions equals the loss of the same sequences.
        self.assertAlmostEqual(sum(losses) / 32, float(rows[1]["loss"]), places=4)
        kept = list(csv.DictReader((run / "positions.csv").read_text().splitlines()))
        self.assertEqual([int(row["position"]) for row in kept], list(range(32)))
        self.ask("eval", run, "--length", "33", "--problems", 4, "--keep")  # again: replaced, not appended
        self.assertEqual(len((run / "lengths.csv").read_text().splitlines()), 4)

    def test_a_learned_table_says_where_it_ends(self):
        run = self.train_text("a", "--steps", 3, "--set", "model.position=learned")
        done = self.ask("eval", run, "--length", "65")
        self.assert_fails(done, 2, "learned table of 33 positions")

    def test_a_model_is_read_without_its_text(self):
        run = self.train_text("a", "--steps", 3)
        self.text.unlink()
        shutil.rmtree(self.cache)
        out = self.folder / "logits.safetensors"
        done = self.ask("export", run, "--what", "logits", "--text", "The Rays of Light", "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(out.exists())
        first = out.read_bytes()
        # File names of versions before 2026-11.
        for name, former in (("tokenizer.model", "pieces.model"), ("vocabulary.txt", "pieces.txt")):
            (run / "text" / name).rename(run / "text" / former)
        summary = run / "text" / "corpus.json"
        summary.write_text(summary.read_text().replace('"vocab_size"', '"pieces"'))
        done = self.ask("export", run, "--what", "logits", "--text", "The Rays of Light", "--out", out)
        self.assertEqual((done.returncode, out.read_bytes()), (0, first), done.stderr)
        self.assert_fails(self.ask("eval", run), 2, "text not found", str(self.text))
        model = run / "text" / "pieces.model"
        model.write_bytes(model.read_bytes()[:500])
        for command in (["look", run, "--what", "loss", "--text", "The"], ["export", run, "--what", "logits", "--text", "The", "--out", out]):
            self.assert_fails(self.ask(*command), 4, str(model), "is damaged or not a SentencePiece model")
        (run / "text" / "pieces.txt").write_text("\n" * 4_500_000)
        for command in (["look", run, "--what", "loss", "--text", "The"], ["serve", run]):
            done = self.ask(*command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30)))
            self.assert_fails(done, 4, "pieces.txt has 4500000 tokens; task.vocab_size is 400")
        shutil.rmtree(run / "text")
        self.assert_fails(self.ask("export", run, "--what", "logits", "--text", "The", "--out", out), 4, "is missing its vocabulary")


class Refusals(TextTest):
    def test_what_an_evaluation_cannot_do(self):
        run = self.train_text("a", "--steps", 2)
        self.assert_fails(self.ask("eval", run, "--by-size"), 2, "no problems of different sizes")
        self.assert_fails(self.ask("eval", run, "--by-size", "--length", "17"), 2, "--length")
        self.assert_fails(self.ask("eval", run, "--length", "17,33", "--out", self.folder / "out.jsonl"), 2, "--out")
        addition = self.train("b", "--steps", 2)
        self.assert_fails(self.ask("eval", addition, "--keep"), 2, "--by-size")

    def test_a_text_that_cannot_be_one(self):
        missing = self.folder / "missing.txt"
        self.assert_fails(self.ask("run", "text-quick", "--set", f"task.text={missing}", "--runs", self.runs), 2,
                          "file or folder not found", str(missing))
        self.text.write_bytes(b"good line\n" * 100 + b"na\xefve\n")
        self.assert_fails(self.run_text("latin"), 2, "byte 1003 (0xEF) is not UTF-8", "iconv")
        self.assertFalse((self.runs / "latin").exists())
        self.text.write_bytes(b"")
        self.assert_fails(self.run_text("empty"), 2, "is empty")
        self.text.write_text("too short a text for so many tokens\n")
        self.assert_fails(self.run_text("short"), 2, "400 tokens")
        self.assertEqual(self.prepared(), [])

    def test_a_text_too_short_for_its_sequences(self):
        self.assert_fails(self.run_text("a", "--set", "training.length=4097", "--set", "task.validation_share=0.01"), 2,
                          "validation has", "a sequence needs 4097")

    def test_a_text_that_changed(self):
        run = self.train_text("a", "--steps", 3)
        self.text.write_text(self.text.read_text(encoding="utf-8") + "One more line.\n", encoding="utf-8")
        self.assert_fails(self.ask("eval", run), 2, "has changed since", "a")

    def test_fields_of_texts_are_not_ignored_elsewhere(self):
        self.assert_fails(self.ask("run", "addition-small", "--set", "task.text=opticks", "--runs", self.runs), 2,
                          "task.text: would be ignored")
        self.assert_fails(self.ask("run", "addition-small", "--set", "training.objective=masked", "--runs", self.runs), 2,
                          "only tokens of a text can be masked")
        self.assert_fails(self.ask("run", "text-quick", "--set", "training.masked_share=0.2", "--runs", self.runs), 2,
                          "training.objective is causal")


class Tokenizing(TextTest):
    def prepare(self, kind, text=None, vocab_size=1000):
        out = self.folder / kind
        done = subprocess.run([TOKENIZER, "prepare", "--text", str(text or self.text), "--vocab-size", str(vocab_size), "--kind", kind,
                               "--out", str(out)], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out

    def test_those_of_the_python_package_given_the_same_model(self):
        sys.path.insert(0, os.environ["ROPER_TEST_PACKAGES"])
        try:
            import sentencepiece
        except ImportError as reason:
            self.skipTest(f"no sentencepiece for this Python: {reason}")
        finally:
            sys.path.pop(0)
        # Letters outside the vocabulary are encoded as bytes.
        text = self.text.read_text(encoding="utf-8") + "naïve 語 🙂  two blanks\ttab\n"
        for kind in ("unigram", "bpe"):
            out = self.prepare(kind)
            ours = subprocess.run([TOKENIZER, "ids", "--model", str(out / "tokenizer.model")], input=text, capture_output=True,
                                  text=True, timeout=60)
            processor = sentencepiece.SentencePieceProcessor(model_file=str(out / "tokenizer.model"))
            theirs = [token for line in text.splitlines(keepends=True) for token in processor.encode(line)]
            self.assertEqual([int(token) for token in ours.stdout.split()], theirs, kind)
            self.assertEqual(processor.get_piece_size(), 1000)

    def test_memory_does_not_grow_with_the_text(self):
        def peak(megabytes):
            path = self.folder / f"{megabytes}.txt"
            book = b" ".join(BOOK.read_bytes().split(b"\n")).replace(b".  ", b".\n")  # long lines
            with path.open("wb") as out:
                for i in range(megabytes * 1000000 // len(book)):
                    out.write(b"%d\n" % i + book)
            process = subprocess.Popen([TOKENIZER, "prepare", "--text", str(path), "--vocab-size", "1000", "--kind", "bpe", "--out",
                                        str(self.folder / f"out-{megabytes}")])
            _, result, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(result)
            self.assertEqual(process.returncode, 0)
            return usage.ru_maxrss / 1024

        small, large = peak(40), peak(80)  # in both cases tokens are learned from 32 MB
        self.assertLess(large, 1.1 * small, (small, large))

    def test_long_lines_are_not_cut_within_a_letter(self):
        self.text.write_text("".join(chr(0x4E00 + i % 500) + ("a" if i % 3 == 0 else "") for i in range(9000)) + "\n",
                             encoding="utf-8")
        out = self.prepare("unigram", vocab_size=900)
        tokens = (out / "vocabulary.txt").read_bytes().split(b"\n")
        for token in tokens[258:]:
            bytes_of(token).decode()  # except for single bytes, every token is valid text


def bytes_of(token):
    """Decodes a line of vocabulary.txt to bytes."""
    out, i = b"", 0
    while i < len(token):
        if token[i : i + 1] != b"\\":
            out, i = out + token[i : i + 1], i + 1
        elif token[i + 1 : i + 2] == b"x":
            out, i = out + bytes([int(token[i + 2 : i + 4], 16)]), i + 4
        else:
            out, i = out + {b"n": b"\n", b"\\": b"\\"}[token[i + 1 : i + 2]], i + 2
    return out


if __name__ == "__main__":
    unittest.main()
