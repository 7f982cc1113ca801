"""roper-train serve answers every question of `roper-train look`, for published models and for runs."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import PRETRAINED, TRAINER, Peer, TrainerTest, small_model, tensors_of, weights_from

TEXT = "5>E5>33W5>E:M"


class ServeModel(TrainerTest):
    def serve(self, model, *arguments):
        process = subprocess.Popen([TRAINER, "serve", str(model), "--json", "--with-parent", "--runs", str(self.runs), *arguments],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for close in (process.stdout.close, process.stderr.close, process.wait, process.kill):
            self.addCleanup(close)
        hello = json.loads(process.stdout.readline())
        self.assertEqual(hello["event"], "listening")
        peer = Peer(hello["socket"])
        self.addCleanup(peer.close)
        return process, hello, peer

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
        numpy.testing.assert_array_equal(small[1, 1], largest)

    def test_a_published_model_answers_as_look_does(self):
        for model in (small_model(self._folder.name, "llama"), small_model(self._folder.name, "gpt_neox")):
            process, hello, peer = self.serve(model)
            self.assertNotIn("step", hello)
            self.compare(model, peer, TEXT)
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
                reply, payload = peer.ask(command="head", layer=layer, head=head, text=TEXT)
                self.assertTrue(reply["ok"], reply)
                tensors, facts = tensors_of(payload)
                weights = tensors_of(self.ask(peer, what="attention", text=TEXT, layer=str(layer), head=str(head)))[0]["weights"]
                self.assertEqual(json.loads(facts["token_texts"]), list(TEXT))
                numpy.testing.assert_allclose(weights_from(tensors, facts), weights, atol=2e-5)
        reply, _ = peer.ask(command="head", layer=9, head=0, text=TEXT)
        self.assertIn("layers 0 to", reply["message"])

    def test_maps_and_what_is_generated_are_as_of_a_run(self):
        import numpy

        model = small_model(self._folder.name, "llama")
        _, _, peer = self.serve(model)
        reply, payload = peer.ask(command="maps", text=TEXT)
        self.assertTrue(reply["ok"], reply)
        tensors, facts = tensors_of(payload)
        one = tensors_of(self.ask(peer, what="attention", text=TEXT, layer="1", head="2"))[0]["weights"]
        numpy.testing.assert_array_equal(tensors["attention"][1, 2], one)
        self.assertEqual((facts["layers"], facts["heads"], facts["step"]), ("2", "4", "-1"))
        reply, payload = peer.ask(command="generate", text=TEXT, count=6)
        self.assertTrue(reply["ok"], reply)
        tensors, facts = tensors_of(payload)
        (written,) = self.look(model, "--what", "generate", "--text", TEXT, "--count", "6")
        self.assertEqual(list(tensors["tokens"])[len(TEXT):], written["generated"])
        self.assertEqual(facts["completion"], written["text"])
        numpy.testing.assert_allclose(tensors["probability"], written["probability"], rtol=1e-5)
        self.assertEqual(tensors["attention"].shape, (2, 4, 6, len(TEXT) + 6))
        # Each row belongs to the query that predicted the token, so no row attends to the last one.
        whole = TEXT + written["text"]
        one = tensors_of(self.ask(peer, what="attention", text=whole, layer="0", head="1"))[0]["weights"]
        numpy.testing.assert_allclose(tensors["attention"][0, 1], one[len(TEXT) - 1 : -1], atol=1e-5)
        self.assertEqual(tensors["top_token"].shape, (6, 8))
        numpy.testing.assert_allclose(tensors["top_probability"][:, 0], tensors["probability"], rtol=1e-5)
        reply, _ = peer.ask(command="maps", text=TEXT * 200)
        self.assertIn("too large to send", reply["message"])

    def test_a_head_of_another_form_is_refused(self):
        _, _, peer = self.serve(small_model(self._folder.name, "gemma2"))
        reply, _ = peer.ask(command="head", layer=0, head=0, text=TEXT)
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
        answer = json.loads(self.ask(peer, what="subsets", text=TEXT, count="2"))
        # Subsets do not vary pairs that are already ablated, since each subset would then occur twice.
        self.assertEqual(json.loads(self.ask(peer, what="subsets", text=TEXT, count="2", mute="0")), answer)
        self.assertEqual([subset["kept"] for subset in answer["subsets"]], [[], [0], [1], [0, 1]])
        for subset in answer["subsets"]:
            muted = [band for i, band in enumerate(answer["bands"]) if i not in subset["kept"]]
            mute = ["--mute", ",".join(str(pair) for band in muted for pair in pairs_of(band))] if muted else []
            (loss,) = self.look(model, "--what", "loss", "--text", TEXT, *mute)
            self.assertEqual(subset["loss"], loss["loss"])

    def test_wrong_questions_are_answered_and_the_next_served(self):
        _, _, peer = self.serve(small_model(self._folder.name, "llama"))
        for question, part in [({"what": "los"}, "loss"), ({"what": "loss", "text": ""}, "no token"),
                               ({"what": "loss", "text": TEXT, "mute": "99"}, "pairs 0 to"),
                               ({"what": "loss", "text": TEXT, "mute": "x"}, "24-31"),
                               ({"what": "loss", "text": TEXT, "ablate": "0.0;x"}, "an ablation is written 2.1"),
                               ({"what": "attention", "text": TEXT, "layer": "99"}, "layers 0 to"),
                               ({"what": "loss", "text": TEXT, "no_inverse": "1"}, "rotates no values"),
                               ({"what": "heads", "text": "5"}, "two tokens"),
                               ({"what": "subsets", "text": TEXT, "count": "99"}, "bands"),
                               ({"what": 5}, "must be text"), ({"unknown": "1"}, "unknown"), ([], "must be an object")]:
            reply, payload = peer.ask(command="look", question=question)
            self.assertFalse(reply["ok"], question)
            self.assertIn(part, reply["message"])
            self.assertEqual(payload, b"")
        self.assertIn("no token", peer.ask(command="maps", text="")[0]["message"])
        self.ask(peer, what="loss", text=TEXT)

    def test_who_leaves_ends_the_pass(self):
        process, hello, peer = self.serve(small_model(self._folder.name, "llama"))
        # Forward passes that would take minutes.
        peer.socket.sendall(json.dumps({"command": "look", "id": "1",
                                        "question": {"what": "subsets", "text": TEXT * 120, "count": "4"}}).encode() + b"\n")
        progress = json.loads(process.stdout.readline())
        self.assertEqual(progress["event"], "progress")
        self.assertLessEqual(progress["done"], progress["all"])
        peer.close()
        other = Peer(hello["socket"])
        self.addCleanup(other.close)
        reply, _ = other.ask(command="look", question={"what": "loss", "text": TEXT})
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


if __name__ == "__main__":
    unittest.main()
