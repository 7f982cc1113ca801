"""The control socket of a real trainer: every command, and every kind of invalid input."""

import json
import os
import socket
import stat
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TrainerTest, checkpoints, read_rows, status, wait_until


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
