"""roper-lab without a window: CPU load while a figure waits for a model, and behavior if something is missing."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from xml.dom import minidom

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import LETTERS, small_model, tokenizer_json, wait_until

WATCHED_SECONDS = 2
MOST_SHARE = 0.1  # of a core; busy waiting would use all of it


def figure(*arguments):
    return subprocess.run([os.environ["ROPER_LAB"], "figure", *arguments], capture_output=True, text=True, timeout=60)


def processor_seconds(pid):
    """User and system time of a process so far, in seconds (proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@unittest.skipUnless(os.environ.get("ROPER_LAB"), "without the window")
class Sizes(unittest.TestCase):
    def test_more_pixels_than_a_picture_holds_are_refused_with_their_number(self):
        with tempfile.TemporaryDirectory(prefix="roper-process-") as name:
            out = Path(name) / "a.png"
            done = subprocess.run([os.environ["ROPER_LAB"], "figure", "rotation", "--out", out, "--set", "width=10000", "height=10000", "scale=8"],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("80000 × 80000 pixels", done.stderr)
            self.assertFalse(out.exists())

    def test_an_animation_has_a_frame_for_each_value(self):
        with tempfile.TemporaryDirectory(prefix="roper-process-") as name:
            out = Path(name) / "a.gif"

            for arguments, frames in ((["mixing", "--animate", "blend=0..1..0"], 41), (["scores", "--animate", "query=0..4"], 5),
                                      (["rotation", "--animate", "position=-3..3", "--frames", "9", "--seconds", "1.5"], 9)):
                done = figure(*arguments, "--out", out)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(out.read_bytes().count(b"\x21\xf9\x04"), frames)  # graphic control extensions
            out.unlink()
            for arguments, problem in ((["--animate", "blend=0"], "KEY=FROM..TO"), (["--animate", "blend=0..2"], "blend must be a number from 0 to 1"),
                                       (["--animate", "method=rope..roper"], "method is not a number"), (["--animate", "bland=0..1"], '"blend"'),
                                       (["--animate", "blend=0..1", "--set", "blend=0.5"], "given twice"), ([], "and an animation as .gif"),
                                       (["--animate", "blend=0..1", "--set", "width=9000", "height=9000"], "more than 1 GiB")):
                done = figure("mixing", *arguments, "--out", out)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(problem, done.stderr)
                self.assertFalse(out.exists())
            done = figure("mixing", "--animate", "blend=0..1", "--out", Path(name) / "a.png")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("an animation can be written as .gif", done.stderr)

    def test_a_picture_begins_with_the_rotation_of_a_config(self):
        with tempfile.TemporaryDirectory(prefix="roper-process-") as name:
            config, out = Path(name) / "config.json", Path(name) / "decay.csv"
            config.write_text('{"model_type": "llama", "head_dim": 16, "rope_scaling": {"rope_type": "linear", "factor": 2}}')

            for named in (config, name):
                done = figure("decay", "--config", named, "--out", out)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("rope_theta is missing; the value used is 10000", done.stderr)
                self.assertEqual(out.read_text().splitlines()[1], "linear,0,4.5")  # mean of the eight pairs: 1, 2, … 8
            config.write_text('{"model_type": "gemma4_text"}')  # heads with 512 features
            for kind in ("rotation", "four-ways", "spectrum", "scores", "mixing"):
                done = figure(kind, "--config", name, "--out", out)
                self.assertEqual(done.returncode, 0, done.stderr)
            config.write_text('{"model_type": "llama", "head_dim": 16, "rope_theta": "many"}')
            done = figure("decay", "--config", config, "--out", out)
            self.assertEqual(done.returncode, 2)
            self.assertIn("config.json: rope_theta must be a number", done.stderr)
            done = figure("loss", "--config", config, "--out", out)
            self.assertEqual(done.returncode, 2)
            self.assertIn("for figures of the explorer pages", done.stderr)


@unittest.skipUnless(os.environ.get("ROPER_LAB"), "without the window")
class Texts(unittest.TestCase):
    def test_control_characters_of_a_text_leave_an_svg_that_is_xml(self):
        with tempfile.TemporaryDirectory(prefix="roper-process-") as name:
            model = small_model(name, "qwen3")
            marks = "\f\x1b[1m\x01\x7f"
            (model / "tokenizer.json").write_text(tokenizer_json([*marks, *LETTERS[len(marks):]]))
            for kind in ("surprise", "predictions", "token-map"):
                with self.subTest(kind):
                    out = Path(name) / f"{kind}.svg"
                    done = subprocess.run([os.environ["ROPER_LAB"], "figure", kind, "--run", model, "--out", out, "--set", "text=\x1b[1mZZ\fZ\x01"],
                                          capture_output=True, text=True, timeout=120)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    minidom.parse(str(out))

    def test_pictures_of_the_documentation_are_xml_and_name_a_generic_font(self):
        pictures = list((Path(__file__).resolve().parents[2] / "docs").rglob("*.svg"))
        self.assertGreater(len(pictures), 5)
        for path in pictures:
            families = {one.getAttribute("font-family") for one in minidom.parse(str(path)).getElementsByTagName("g")} - {""}
            self.assertTrue(families, path)
            for family in families:
                self.assertRegex(family, "^(?!Sans Serif).*, (sans-serif|monospace)$", path)


@unittest.skipUnless(os.environ.get("ROPER_LAB"), "without the window")
class Surroundings(unittest.TestCase):
    def lab(self, *arguments, **environment):
        with tempfile.TemporaryDirectory(prefix="roper-process-") as name:
            fonts = Path(name) / "fonts.conf"
            fonts.write_text(f'<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><cachedir>{name}</cachedir></fontconfig>')
            env = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
            env.update({key: value.replace("NO_FONTS", str(fonts)) for key, value in environment.items()})
            out = Path(name) / "out"
            done = subprocess.run([os.environ["ROPER_LAB"], *(word.replace("OUT", str(out)) for word in arguments)], env=env, capture_output=True,
                                  text=True, timeout=60)
            return done, list(Path(name).glob("out*"))

    def test_without_fonts_no_picture_of_boxes_is_written(self):
        for words in (("figure", "decay", "--out", "OUT.png"), ("figure", "decay", "--out", "OUT.svg"), ("screenshots", "--out", "OUT"),
                      ("gallery", "--out", "OUT")):
            done, written = self.lab(*words, FONTCONFIG_FILE="NO_FONTS")
            self.assertEqual((done.returncode, written), (6, []), done.stderr)
            self.assertIn("no font is installed on this machine, so every character would be shown as a box; install one", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(self.lab("--first-frame", FONTCONFIG_FILE="NO_FONTS", QT_QPA_PLATFORM="offscreen")[0].returncode, 6)
        self.assertEqual(self.lab("figure", "decay", "--out", "OUT.png")[0].returncode, 0)

    def test_without_a_display_the_window_says_what_to_do(self):
        for environment, why in (({}, "neither DISPLAY nor WAYLAND_DISPLAY is set"), ({"DISPLAY": ":4711"}, ":4711"),
                                 ({"QT_QPA_PLATFORM": "xcb"}, "neither DISPLAY"), ({"WAYLAND_DISPLAY": "nowhere"}, "")):
            done, _ = self.lab(**environment)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertTrue(done.stderr.startswith("roper-lab: cannot open a window: no display found"), done.stderr)
            self.assertIn(why, done.stderr)
            for part in ("`roper-lab figure`", "ssh -X", "xvfb-run"):
                self.assertIn(part, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(self.lab("--first-frame", QT_QPA_PLATFORM="offscreen")[0].returncode, 0)
        self.assertEqual(self.lab("--help")[0].returncode, 0)


def kinds_of_pages():
    """The kinds of figures of each page, as the help lists them."""
    lines = figure("--help").stdout.split("Figures:\n")[1].split("Settings of all figures")[0].splitlines()
    return {page: kinds.strip().split(", ") for page, kinds in (line.strip().split("  ", 1) for line in lines)}


@unittest.skipUnless(os.environ.get("ROPER_LAB"), "without the window")
class Kinds(unittest.TestCase):
    EXPLORERS = ("Rotation", "Spectrum", "Attention", "Value mixing")

    def test_those_of_the_explorers_are_drawn_with_text_and_without_a_word(self):
        kinds = [kind for page, kinds in kinds_of_pages().items() if page in self.EXPLORERS for kind in kinds]
        self.assertGreater(len(kinds), 22)
        with tempfile.TemporaryDirectory(prefix="roper-process-") as name:
            out = Path(name) / "a.svg"
            for kind in [*kinds, "value-mixing"]:  # the page's name as an alias
                with self.subTest(kind):
                    own = [] if kind == "model-rotations" else ["--set", "head_dim=8"]  # which shows models as they are
                    done = figure(kind, "--out", out, *own)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    drawn = out.read_text()
                    self.assertIn("<text", drawn)
                    self.assertNotIn("<image", drawn)

    def test_the_others_need_runs_and_say_so(self):
        kinds = [kind for page, kinds in kinds_of_pages().items() if page not in self.EXPLORERS for kind in kinds]
        self.assertGreater(len(kinds), 30)
        with tempfile.TemporaryDirectory(prefix="roper-process-") as name:
            for kind in kinds:
                with self.subTest(kind):
                    done = figure(kind, "--out", Path(name) / "a.csv", "--runs", name)
                    self.assertEqual(done.returncode, 0 if kind == "board" else 2, done.stderr)
                    if kind != "board":
                        self.assertIn("run", done.stderr)


@unittest.skipUnless(os.environ.get("ROPER_LAB"), "without the window")
class Waiting(unittest.TestCase):
    def test_a_picture_that_waits_for_a_model_sleeps(self):
        with tempfile.TemporaryDirectory(prefix="roper-process-") as name:
            folder = Path(name)
            (folder / "config.json").write_text("{}")
            trainer = folder / "roper-train"  # never answers
            trainer.write_text(f'#!/bin/sh\necho > "{folder}/asked-$PPID"\nexec sleep 60\n')
            trainer.chmod(0o700)
            waiting = {}
            for kind, settings in (("scores", []), ("heads", ["--set", "text=abc"]), ("surprise", ["--set", "text=abc"])):
                waiting[kind] = subprocess.Popen(
                    [os.environ["ROPER_LAB"], "figure", kind, "--run", name, "--out", f"{name}/{kind}.png", *settings],
                    env={**os.environ, "ROPER_TRAIN": str(trainer)}, start_new_session=True)
                self.addCleanup(waiting[kind].wait)
                self.addCleanup(os.killpg, waiting[kind].pid, 9)
            for process in waiting.values():
                wait_until(lambda: (folder / f"asked-{process.pid}").exists(), seconds=30)
            before = {kind: processor_seconds(process.pid) for kind, process in waiting.items()}
            time.sleep(WATCHED_SECONDS)
            for kind, process in waiting.items():
                with self.subTest(kind):
                    self.assertIsNone(process.poll())
                    share = (processor_seconds(process.pid) - before[kind]) / WATCHED_SECONDS
                    print(f"{kind}: {100 * share:.0f} % of a core")
                    self.assertLess(share, MOST_SHARE)


if __name__ == "__main__":
    unittest.main()
