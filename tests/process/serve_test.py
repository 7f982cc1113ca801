"""Heads of real models: from a trainer between two steps, and from roper-train serve for a finished run."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TRAINER, Peer, TrainerTest, read_safetensors, status, tensors_of, wait_until, weights_from

TEXT = "?d=12+345; 2e0+5e0+0e0==7e0"


class Serve(TrainerTest):
    def serve(self, run, *arguments):
        process = subprocess.Popen([TRAINER, "serve", str(run), "--json", "--with-parent", *arguments], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, json.loads(process.stdout.readline())

    def test_q_and_k_give_the_weights_that_the_model_has(self):
        for name, settings in [("a", []), ("b", ["--set", "model.pairing=interleaved", "--set", "model.rotary_fraction=0.5"])]:
            run = self.train(name, "--steps", "4", *settings)
            out = self.runs / "attention.safetensors"
            done = self.trainer("export", run, "--what", "attention", "--text", TEXT, "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            model = read_safetensors(out)[0]["attention"]
            process, hello = self.serve(run)
            self.assertEqual(hello["step"], 4)
            peer = Peer(hello["socket"])
            self.addCleanup(peer.close)
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
        process, hello = self.serve(self.train("a", "--steps", "2"))
        peer = Peer(hello["socket"])
        self.addCleanup(peer.close)
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
                 "token_map": {"layer": "0", "head": "1", "distance": "2"}, "copying": {}, "sinks": {}, "subsets": {"count": "2"}, "solve": {"count": "2"}}
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


if __name__ == "__main__":
    unittest.main()
