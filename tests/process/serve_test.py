"""Sockets: the control socket of a real trainer, with every command and every kind of invalid input; heads of real models,
from a trainer between two steps and from roper-train serve for a finished run; and roper-train serve's answers to every
question of `roper-train look`, for published models and for runs."""

import json
import os
import socket
import stat
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import (PRETRAINED, TRAINER, Peer, TrainerTest, checkpoints, read_rows, read_safetensors, small_model, status,
                      tensors_of, wait_until, weights_from)

TEXT = "?d=12+345; 2e0+5e0+0e0==7e0"
MODEL_TEXT = "5>E5>33W5>E:M"


class ServedTest(TrainerTest):
    def serve(self, model, *arguments):
        """A process that answers questions about a run or a published model, what it said first, and a connection to it."""
        process = subprocess.Popen([TRAINER, "serve", str(model), "--json", "--with-parent", "--runs", str(self.runs), *arguments],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for close in (process.stdout.close, process.stderr.close, process.wait, process.kill):
            self.addCleanup(close)
        hello = json.loads(process.stdout.readline())
        self.assertEqual(hello["event"], "listening")
        peer = Peer(hello["socket"])
        self.addCleanup(peer.close)
        return process, hello, peer


class Serve(ServedTest):
    def test_q_and_k_give_the_weights_that_the_model_has(self):
        for name, settings in [("a", []), ("b", ["--set", "model.pairing=interleaved", "--set", "model.rotary_fraction=0.5"])]:
            run = self.train(name, "--steps", "4", *settings)
            out = self.runs / "attention.safetensors"
            done = self.trainer("export", run, "--what", "attention", "--text", TEXT, "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            model = read_safetensors(out)[0]["attention"]
            process, hello, peer = self.serve(run)
            self.assertEqual(hello["step"], 4)
            for head in range(2):
                reply, payload = peer.ask(command="head", layer=0, head=head, text=TEXT)
                self.assertTrue(reply["ok"], reply)
                tensors, facts = tensors_of(payload)
                self.assertEqual(tensors["v"].shape, (len(TEXT), 16))
                self.assertEqual(facts["step"], "4")
                self.assertLess(abs(weights_from(tensors, facts) - model[0, head]).max(), 1e-5)
            process.stdin.close()
            self.assertEqual(process.wait(10), 0, "it ends with its parent")
            self.assertFalse(Path(hello["socket"]).exists())

    def test_a_wrong_question_is_answered_and_the_next_served(self):
        process, _, peer = self.serve(self.train("a", "--steps", "2"))
        for question, part in [({"layer": 7}, "layers 0 to 0, not 7"), ({"head": 2}, "heads 0 to 1, not 2"),
                               ({"text": "ABC"}, "is not in this task's vocabulary"), ({"text": ""}, "no token"),
                               ({"text": "1" * 5000}, "the longest is 4096"), ({"layer": -1}, "whole number"),
                               ({"text": 5}, "must be text")]:
            reply, payload = peer.ask(**{"command": "head", "layer": 0, "head": 0, "text": "12", **question})
            self.assertFalse(reply["ok"])
            self.assertIn(part, reply["message"])
            self.assertEqual(payload, b"")
        for command in ["pause", "resume", "checkpoint"]:
            self.assertIn("only served", peer.ask(command=command)[0]["message"])
        self.assertTrue(peer.ask(command="head", layer=0, head=0, text="12")[0]["ok"])
        # Many questions at once are all answered, in order.
        for number in range(200):
            peer.socket.sendall(json.dumps({"command": "head", "id": str(number), "text": "12"}).encode() + b"\n")
        for number in range(200):
            reply = json.loads(peer.stream.readline())
            self.assertEqual(reply["id"], str(number))
            peer.stream.read(reply["payload"])
        self.assertTrue(peer.ask(command="stop")[0]["ok"])
        self.assertEqual(process.wait(10), 0)

    def test_a_run_without_checkpoint_cannot_be_served(self):
        process = self.start("a", "--steps", "1000000", "--set", "checkpoints.every=0", "--set", "evaluation.every=0")
        process.kill()
        process.wait()
        self.assert_fails(self.trainer("serve", self.runs / "a"), 4, "has no checkpoint yet")
        self.assert_fails(self.trainer("serve", self.runs / "nothing"), 2, "nothing")

    def test_a_trainer_answers_between_steps_and_goes_on(self):
        process = self.start("a", "--steps", "1000000", "--set", "checkpoints.every=0", "--set", "evaluation.every=0")
        wait_until(lambda: status(self.runs / "a")["control"], process)
        peer = Peer(status(self.runs / "a")["control"])
        self.addCleanup(peer.close)
        seen = []
        for _ in range(3):
            reply, payload = peer.ask(command="head", layer=0, head=1, text=TEXT)
            self.assertTrue(reply["ok"], reply)
            tensors, facts = tensors_of(payload)
            seen.append((int(facts["step"]), tensors["q"]))
            step = int(facts["step"])
            wait_until(lambda: int(peer.ask(command="status")[0]["message"].split()[-1]) > step + 5, process)
        self.assertTrue(seen[0][0] < seen[1][0] < seen[2][0])
        self.assertGreater(abs(seen[0][1] - seen[2][1]).max(), 0, "the model has learned in between")

    def test_every_question_is_answered_while_a_run_trains(self):
        run = self.runs / "a"
        process = self.start("a", "--steps", "1000000", "--set", "checkpoints.every=0", "--set", "evaluation.every=0",
                             "--set", "model.position=roper")
        wait_until(lambda: status(run)["control"], process)
        peer = Peer(status(run)["control"])
        self.addCleanup(peer.close)
        asked = {"loss": {}, "logits": {"count": "3"}, "generate": {"count": "4"}, "heads": {}, "kernels": {"count": "4"}, "lens": {},
                 "token_map": {"layer": "0", "head": "1", "distance": "2"}, "copying": {}, "sinks": {}, "subsets": {"count": "2"}, "solve": {"count": "2"},
                 "walkthrough": {"layer": "0", "head": "1", "token": "0"}}
        for what, settings in asked.items():
            reply, payload = peer.ask(command="look", question={"what": what, "text": TEXT, **settings})
            self.assertTrue(reply["ok"], reply)
            self.assertIsInstance(json.loads(payload), dict)
        # The answer describes the current weights: a checkpoint of this step gives the same.
        peer.ask(command="pause")
        peer.ask(command="checkpoint")
        reply, payload = peer.ask(command="look", question={"what": "loss", "text": TEXT})
        step = int(reply["message"].split()[-1])
        live = json.loads(payload)
        wait_until(lambda: list((run / "checkpoints").glob(f"*{step}*")), process)
        done = self.trainer("look", run, "--what", "loss", "--text", TEXT, "--step", step, "--json")
        self.assertEqual(json.loads(done.stdout)["nll"], live["nll"])
        reply, _ = peer.ask(command="look", question={"what": "score_parts", "text": TEXT})
        self.assertIn("every feature of this model's heads rotates", reply["message"])
        reply, _ = peer.ask(command="look", question={"what": "loss", "text": TEXT, "layer": "7"})
        self.assertIn("layers 0 to 0, not 7", reply["message"])
        peer.ask(command="resume")
        wait_until(lambda: int(peer.ask(command="status")[0]["message"].split()[-1]) > step + 5, process)


class ServeModel(ServedTest):
    def ask(self, peer, **question):
        reply, payload = peer.ask(command="look", question=question)
        self.assertTrue(reply["ok"], reply)
        return payload

    def look(self, model, *arguments):
        done = self.trainer("look", model, "--runs", self.runs, "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def compare(self, model, peer, text):
        """Compares every answer of the server with the output of `look`."""
        import numpy

        (loss,) = self.look(model, "--what", "loss", "--text", text)
        self.assertEqual(json.loads(self.ask(peer, what="loss", text=text))["nll"], loss["nll"])
        (muted,) = self.look(model, "--what", "loss", "--text", text, "--mute", "0", "--layer", "0")
        self.assertNotEqual(muted["loss"], loss["loss"])
        served = json.loads(self.ask(peer, what="loss", text=text, mute="0", change_layer="0"))
        self.assertEqual(served["loss"], muted["loss"])
        (logits,) = self.look(model, "--what", "logits", "--text", text, "--count", "3")
        served = json.loads(self.ask(peer, what="logits", text=text, count="3"))
        self.assertEqual(served["predictions"], logits["predictions"])
        self.assertEqual(served["nll"], loss["nll"])
        heads = self.look(model, "--what", "heads", "--text", text)
        served = json.loads(self.ask(peer, what="heads", text=text))["heads"]
        self.assertEqual([head["entropy"] for head in served], [head["entropy"] for head in heads])
        kernels = self.look(model, "--what", "kernels", "--count", "4")
        served = json.loads(self.ask(peer, what="kernels", count="4"))["kernels"]
        self.assertEqual([kernel["norm"] for kernel in served], [kernel["norm"] for kernel in kernels])
        (written,) = self.look(model, "--what", "generate", "--text", text, "--count", "5")
        served = json.loads(self.ask(peer, what="generate", text=text, count="5"))
        self.assertEqual(served["generated"], written["generated"])
        (attention,) = self.look(model, "--what", "attention", "--text", text, "--layer", "1", "--head", "1")
        weights = tensors_of(self.ask(peer, what="attention", text=text, layer="1", head="1"))[0]["weights"]
        self.assertEqual(weights.shape, (len(text), len(text)))
        for n, row in enumerate(attention["weights"]):
            numpy.testing.assert_array_equal(weights[n, : n + 1], numpy.float32(row))
        self.compare_thumbnails(peer, text, weights)

    def compare_thumbnails(self, peer, text, weights):
        import numpy

        T, side = len(text), 5
        small = tensors_of(self.ask(peer, what="thumbnails", text=text, count=str(side)))[0]["weights"]
        span = -(-T // side)
        padded = numpy.zeros((-(-T // span) * span,) * 2, numpy.float32)
        padded[:T, :T] = weights
        cells = len(padded) // span
        self.assertEqual(small.shape[2:], (cells, cells))
        largest = padded.reshape(cells, span, cells, span).max((1, 3))
        # Layers below the head of one map attend by the kernel that keeps no weights, which rounds differently.
        numpy.testing.assert_allclose(small[1, 1], largest, atol=2e-6)

    def test_a_published_model_answers_as_look_does(self):
        for model in (small_model(self._folder.name, "llama"), small_model(self._folder.name, "gpt_neox")):
            process, hello, peer = self.serve(model)
            self.assertNotIn("step", hello)
            self.compare(model, peer, MODEL_TEXT)
            summary = json.loads(self.ask(peer, what="model"))
            config = json.loads((model / "config.json").read_text())
            self.assertEqual(summary["layers"], config["num_hidden_layers"])
            self.assertEqual(summary["width"], config["hidden_size"])
            self.assertGreater(summary["gflops"], 0)
            process.stdin.close()
            self.assertEqual(process.wait(10), 0, "it ends with its parent")
            self.assertFalse(Path(hello["socket"]).exists())

    def test_kernels_over_training_are_those_of_each_checkpoint(self):
        run = self.train("r", "--steps", 4, "--set", "model.position=roper", "--set", "checkpoints.every=1", "--set", "checkpoints.keep=9")
        steps = self.look(run, "--what", "kernel_history", "--layer", "0", "--head", "1", "--count", "3")
        self.assertGreaterEqual(len(steps), 4)
        for one in steps:
            kernels = self.look(run, "--what", "kernels", "--count", "3", "--step", str(one["step"]))
            self.assertEqual(one["norm"], kernels[1]["norm"])
            self.assertEqual(one["cosine"], kernels[1]["cosine"])
        self.assertNotEqual(steps[0]["norm"], steps[-1]["norm"])
        published = self.trainer("look", small_model(self._folder.name, "llama"), "--what", "kernel_history")
        self.assert_fails(published, 2, "only runs have checkpoints")

    def test_q_and_k_of_a_head_give_its_weights(self):
        import numpy

        for family in ("llama", "qwen3", "gpt_neox", "gpt2"):
            model = small_model(self._folder.name, family)
            _, _, peer = self.serve(model)
            for layer, head in ((0, 0), (1, 1)):
                reply, payload = peer.ask(command="head", layer=layer, head=head, text=MODEL_TEXT)
                self.assertTrue(reply["ok"], reply)
                tensors, facts = tensors_of(payload)
                weights = tensors_of(self.ask(peer, what="attention", text=MODEL_TEXT, layer=str(layer), head=str(head)))[0]["weights"]
                self.assertEqual(json.loads(facts["token_texts"]), list(MODEL_TEXT))
                numpy.testing.assert_allclose(weights_from(tensors, facts), weights, atol=2e-5)
        reply, _ = peer.ask(command="head", layer=9, head=0, text=MODEL_TEXT)
        self.assertIn("layers 0 to", reply["message"])

    def test_maps_and_what_is_generated_are_as_of_a_run(self):
        import numpy

        model = small_model(self._folder.name, "llama")
        _, _, peer = self.serve(model)
        reply, payload = peer.ask(command="maps", text=MODEL_TEXT)
        self.assertTrue(reply["ok"], reply)
        tensors, facts = tensors_of(payload)
        one = tensors_of(self.ask(peer, what="attention", text=MODEL_TEXT, layer="1", head="2"))[0]["weights"]
        numpy.testing.assert_allclose(tensors["attention"][1, 2], one, atol=2e-6)  # layer 0 attends by another kernel
        self.assertEqual((facts["layers"], facts["heads"], facts["step"]), ("2", "4", "-1"))
        reply, payload = peer.ask(command="generate", text=MODEL_TEXT, count=6)
        self.assertTrue(reply["ok"], reply)
        tensors, facts = tensors_of(payload)
        (written,) = self.look(model, "--what", "generate", "--text", MODEL_TEXT, "--count", "6")
        self.assertEqual(list(tensors["tokens"])[len(MODEL_TEXT):], written["generated"])
        self.assertEqual(facts["completion"], written["text"])
        numpy.testing.assert_allclose(tensors["probability"], written["probability"], rtol=1e-5)
        self.assertEqual(tensors["attention"].shape, (2, 4, 6, len(MODEL_TEXT) + 6))
        # Each row belongs to the query that predicted the token, so no row attends to the last one.
        whole = MODEL_TEXT + written["text"]
        one = tensors_of(self.ask(peer, what="attention", text=whole, layer="0", head="1"))[0]["weights"]
        numpy.testing.assert_allclose(tensors["attention"][0, 1], one[len(MODEL_TEXT) - 1 : -1], atol=1e-5)
        self.assertEqual(tensors["top_token"].shape, (6, 8))
        numpy.testing.assert_allclose(tensors["top_probability"][:, 0], tensors["probability"], rtol=1e-5)
        reply, _ = peer.ask(command="maps", text=MODEL_TEXT * 200)
        self.assertIn("too large to send", reply["message"])

    def test_a_head_of_another_form_is_refused(self):
        _, _, peer = self.serve(small_model(self._folder.name, "gemma2"))
        reply, _ = peer.ask(command="head", layer=0, head=0, text=MODEL_TEXT)
        self.assertIn("caps its scores", reply["message"])

    def test_a_run_answers_as_look_does(self):
        settings = ["--set", "model.layers=2", "--set", "model.position=roper"]
        run = self.train("a", "--steps", "3", *settings)
        _, hello, peer = self.serve(run)
        self.assertEqual(hello["step"], 3)
        text = "?d=12+345; 2e0+5e0+0e0==7e0"
        self.compare("a", peer, text)
        plain = json.loads(self.ask(peer, what="loss", text=text))["loss"]
        self.assertNotEqual(json.loads(self.ask(peer, what="loss", text=text, no_inverse="1"))["loss"], plain)
        self.assertTrue(json.loads(self.ask(peer, what="model"))["rotates_values"])
        self.assertTrue(peer.ask(command="maps", text=text)[0]["ok"], "the questions that there were before")

    def test_subsets_are_losses_with_bands_muted(self):
        model = small_model(self._folder.name, "llama")
        _, _, peer = self.serve(model)
        answer = json.loads(self.ask(peer, what="subsets", text=MODEL_TEXT, count="2"))
        # Subsets do not vary pairs that are already ablated, since each subset would then occur twice.
        self.assertEqual(json.loads(self.ask(peer, what="subsets", text=MODEL_TEXT, count="2", mute="0")), answer)
        self.assertEqual([subset["kept"] for subset in answer["subsets"]], [[], [0], [1], [0, 1]])
        for subset in answer["subsets"]:
            muted = [band for i, band in enumerate(answer["bands"]) if i not in subset["kept"]]
            mute = ["--mute", ",".join(str(pair) for band in muted for pair in pairs_of(band))] if muted else []
            (loss,) = self.look(model, "--what", "loss", "--text", MODEL_TEXT, *mute)
            self.assertEqual(subset["loss"], loss["loss"])

    def test_wrong_questions_are_answered_and_the_next_served(self):
        _, _, peer = self.serve(small_model(self._folder.name, "llama"))
        for question, part in [({"what": "los"}, "loss"), ({"what": "loss", "text": ""}, "no token"),
                               ({"what": "loss", "text": MODEL_TEXT, "mute": "99"}, "pairs 0 to"),
                               ({"what": "loss", "text": MODEL_TEXT, "mute": "x"}, "24-31"),
                               ({"what": "loss", "text": MODEL_TEXT, "ablate": "0.0;x"}, "an ablation is written 2.1"),
                               ({"what": "attention", "text": MODEL_TEXT, "layer": "99"}, "layers 0 to"),
                               ({"what": "loss", "text": MODEL_TEXT, "no_inverse": "1"}, "rotates no values"),
                               ({"what": "heads", "text": "5"}, "two tokens"),
                               ({"what": "subsets", "text": MODEL_TEXT, "count": "99"}, "bands"),
                               ({"what": 5}, "must be text"), ({"unknown": "1"}, "unknown"), ([], "must be an object")]:
            reply, payload = peer.ask(command="look", question=question)
            self.assertFalse(reply["ok"], question)
            self.assertIn(part, reply["message"])
            self.assertEqual(payload, b"")
        self.assertIn("no token", peer.ask(command="maps", text="")[0]["message"])
        self.ask(peer, what="loss", text=MODEL_TEXT)

    def test_who_leaves_ends_the_pass(self):
        process, hello, peer = self.serve(small_model(self._folder.name, "llama"))
        # Forward passes that would take minutes.
        peer.socket.sendall(json.dumps({"command": "look", "id": "1",
                                        "question": {"what": "subsets", "text": MODEL_TEXT * 120, "count": "4"}}).encode() + b"\n")
        progress = json.loads(process.stdout.readline())
        self.assertEqual(progress["event"], "progress")
        self.assertLessEqual(progress["done"], progress["all"])
        peer.close()
        other = Peer(hello["socket"])
        self.addCleanup(other.close)
        reply, _ = other.ask(command="look", question={"what": "loss", "text": MODEL_TEXT})
        self.assertTrue(reply["ok"], "it is free for the next one")
        process.stdin.close()
        said = [json.loads(line) for line in process.stdout.read().splitlines()]
        self.assertFalse(any(line["done"] == line["all"] and line["all"] == progress["all"] for line in said), "it went on to the end")

    def test_what_is_no_model_is_refused(self):
        broken = Path(self._folder.name) / "broken.gguf"
        broken.write_bytes(b"GGUF" + bytes(40))
        self.assert_fails(self.trainer("serve", broken), 4, "broken.gguf")
        self.assert_fails(self.trainer("serve", small_model(self._folder.name, "llama"), "--step", "3"), 2, "--step")
        self.assert_fails(self.trainer("serve", PRETRAINED / "llama.gguf"), 4, "tokenizer")


def pairs_of(band):
    first, _, last = band.partition("-")
    return range(int(first), int(last or first) + 1)


class Control(TrainerTest):
    def setUp(self):
        super().setUp()
        self.process = self.start("a", "--steps", "1000000", "--set", "checkpoints.every=0", "--set", "evaluation.every=0")
        self.run_folder = self.runs / "a"
        wait_until(lambda: status(self.run_folder)["control"], self.process)
        self.path = status(self.run_folder)["control"]

    def connect(self):
        peer = socket.socket(socket.AF_UNIX)
        peer.settimeout(60)
        peer.connect(self.path)
        self.addCleanup(peer.close)
        return peer

    def ask(self, command):
        with self.connect() as peer, peer.makefile() as replies:
            peer.sendall((json.dumps({"command": command, "id": command}) + "\n").encode())
            reply = json.loads(replies.readline())
        self.assertEqual(reply["id"], command)
        return reply

    def test_pause_resume_checkpoint_stop(self):
        self.assertTrue(self.ask("pause")["ok"])
        wait_until(lambda: status(self.run_folder)["state"] == "paused")
        rows = len(read_rows(self.run_folder))
        self.assertIn("paused at step", self.ask("status")["message"])
        self.assertTrue(self.ask("checkpoint")["ok"])
        wait_until(lambda: checkpoints(self.run_folder))
        self.assertEqual(len(read_rows(self.run_folder)), rows, "nothing is computed while paused")
        self.assertTrue(self.ask("resume")["ok"])
        wait_until(lambda: len(read_rows(self.run_folder)) > rows)
        self.assertEqual(status(self.run_folder)["state"], "running")
        self.assertTrue(self.ask("stop")["ok"])
        self.assertEqual(self.process.wait(60), 0)
        self.assertEqual(status(self.run_folder)["state"], "stopped")
        self.assertFalse(os.path.exists(self.path))

    def test_only_its_owner_may_enter(self):
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(self.path)).st_mode), 0o700)

    def test_nonsense_never_ends_the_trainer(self):
        for nonsense in [b"\n", b"{}\n", b"[1]\n", b"\x00\xff\n", b'{"command":"fly"}\n', b'{"command":{"a":1}}\n', b"[" * 5000 + b"\n"]:
            with self.connect() as peer, peer.makefile() as replies:
                peer.sendall(nonsense)
                self.assertFalse(json.loads(replies.readline())["ok"])
        peer = self.connect()
        try:
            for _ in range(100):
                peer.sendall(b"x" * 4096)
        except OSError:
            pass  # disconnected, as expected
        for _ in range(40):  # peers that disconnect in the middle of a message
            with self.connect() as rude:
                rude.sendall(b'{"comm')
            time.sleep(0.01)
        self.assertTrue(self.ask("status")["ok"])
        before = len(read_rows(self.run_folder))
        wait_until(lambda: len(read_rows(self.run_folder)) > before, self.process)


if __name__ == "__main__":
    unittest.main()
