"""What the terminal offers in addition to commands: completion, the manual, lists for other programs."""

import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from programs import TINY, TRAINER, TrainerTest

SHELLS = ("bash", "zsh", "fish")


class Terminal(TrainerTest):
    def setUp(self):
        super().setUp()
        # As installed: programs are found by name.
        folder = Path(TRAINER).resolve().parent
        self.folder = None
        self.environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "ROPER_LAB_RUNS": str(self.runs)}

    def shell(self, *command):
        done = subprocess.run(command, env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def commands(self):
        """The name of each command, with the long options in its --help."""
        help_text = self.trainer("--help").stdout
        names = re.findall(r"^  ([a-z]+)  +\S", help_text.split("Subcommands:")[1], re.M)
        return {name: set(re.findall(r"(--[a-z-]+)", "".join(
            line.split("  ")[1] + "\n" for line in self.trainer(name, "--help").stdout.splitlines()
            if re.match(r"  -", line)))) for name in names}

    def complete_in_bash(self, *words):
        script = ('source <(roper-train completion bash); COMP_WORDS=(roper-train "$@"); COMP_CWORD=$#; compopt() { :; }; '
                  '_roper_train; printf "%s\\n" "${COMPREPLY[@]}"')
        return self.shell("bash", "-c", script, "bash", *words).split()

    def complete_in_zsh(self, line):
        """The line after pressing Tab in an interactive zsh."""
        # The expected text is assembled at run time, because the shell may echo the commands it is given.
        script = r"""
            zmodload zsh/zpty
            zpty -b shell zsh -f -i
            zpty -w shell 'PS1= RPS1= TERM=dumb; stty -echo; autoload -Uz compinit; compinit -D -u'
            zpty -w shell 'source =(roper-train completion zsh); unsetopt prompt_cr zle_bracketed_paste 2>/dev/null'
            zpty -w shell 'show() { print -r -- "<""<$BUFFER>"">"; exit }; zle -N show; bindkey "^X" show; print re""ady'
            zpty -r shell answer '*ready*'
            zpty -w -n shell "$1"$'\t'; sleep 1; zpty -w -n shell $'\C-x'
            zpty -r shell answer '*>>*'
            print -r -- $answer"""
        shown = self.shell("zsh", "-f", "-c", script, "zsh", line)
        return re.search("<<(.*)>>", shown).group(1)

    def complete_in_fish(self, line):
        # An alias completes like the program it stands for; the fields of an answer are separated by tabs.
        script = f"roper-train completion fish | source; complete -C '{line}'"
        return [answer.split("\t")[0] for answer in self.shell("fish", "--no-config", "-c", script).splitlines()]

    def test_bash_completes(self):
        self.train("my-run", "--steps", 1)
        self.assertEqual(self.complete_in_bash("resu"), ["resume"])
        self.assertEqual(self.complete_in_bash("resume", "my"), ["my-run"])
        self.assertEqual(self.complete_in_bash("diff", "my-run", "m"), ["my-run"])
        self.assertIn("addition-quick", self.complete_in_bash("run", "addition-"))
        self.assertEqual(self.complete_in_bash("run", "x", "--set", "model.wid"), ["model.width="])
        self.assertEqual(self.complete_in_bash("eval", "my-run", "--scaling", "y"), ["yarn"])
        self.assertEqual(self.complete_in_bash("eval", "my-run", "--by-p"), ["--by-position"])
        self.assertEqual(self.complete_in_bash("run", "x", "--name", ""), [], "a name of one's own")
        elsewhere = self.runs / "elsewhere"
        self.trainer("run", "addition-small", *TINY, "--steps", "1", "--name", "other", "--runs", elsewhere)
        self.assertEqual(self.complete_in_bash("resume", "--runs", str(elsewhere), "o"), ["other"])
        # bash splits words at "=".
        self.assertEqual(self.complete_in_bash("resume", "--runs", "=", str(elsewhere), "o"), ["other"])
        self.environment["HOME"] = str(self.runs)
        self.assertEqual(self.complete_in_bash("resume", "--runs", "~/elsewhere", "o"), ["other"])

    def test_bash_completes_what_a_value_may_be(self):
        self.assertEqual(self.complete_in_bash("run", "x", "--set", "model.position", "=", "ro"), ["rope", "roper", "rotary"])
        self.assertIn("alibi", self.complete_in_bash("run", "x", "--set", "model.position", "="))
        self.assertEqual(self.complete_in_bash("run", "x", "--device", "c"), ["cpu", "cuda"])
        self.assertEqual(self.complete_in_bash("sample", "ind"), ["index"])
        self.assertEqual(self.complete_in_bash("compare", "--measure", "steps_u"), ["steps_until"])

    def test_files_are_offered_where_no_preset_is_meant(self):
        (self.runs.parent / "mine.toml").touch()
        (self.runs.parent / "addition-notes.txt").touch()
        (self.runs.parent / "folder").mkdir()
        self.folder = self.runs.parent
        self.assertNotIn("addition-notes.txt", self.complete_in_bash("run", "addition-"))
        self.assertEqual(self.complete_in_bash("run", "mi"), ["mine.toml"])
        self.assertEqual(self.complete_in_fish("roper-train run mine"), ["mine.toml"])
        self.assertNotIn("addition-notes.txt", self.complete_in_fish("roper-train run addition-"))

    def test_fish_completes(self):
        self.train("my-run", "--steps", 1)
        self.assertEqual(self.complete_in_fish("roper-train resu"), ["resume"])
        self.assertEqual(self.complete_in_fish("roper-train resume my"), ["my-run"])
        self.assertIn("addition-quick", self.complete_in_fish("roper-train run addition-"))
        self.assertEqual(self.complete_in_fish("roper-train run x --set model.wid"), ["model.width="])
        self.assertEqual(self.complete_in_fish("roper-train eval my-run --scaling y"), ["yarn"])
        self.assertEqual(self.complete_in_fish("roper-train run x --set model.position=ro"),
                         ["model.position=rope", "model.position=roper", "model.position=rotary"])
        elsewhere = self.runs / "elsewhere"
        self.trainer("run", "addition-small", *TINY, "--steps", "1", "--name", "other", "--runs", elsewhere)
        for option in (f"--runs {elsewhere}", f"--runs={elsewhere}"):
            self.assertEqual(self.complete_in_fish(f"roper-train resume {option} o"), ["other"])

    def test_zsh_completes(self):
        self.train("my-run", "--steps", 1)
        elsewhere = self.runs / "elsewhere"
        self.trainer("run", "addition-small", *TINY, "--steps", "1", "--name", "other", "--runs", elsewhere)
        self.assertEqual(self.complete_in_zsh("roper-train resume my"), "roper-train resume my-run ")
        self.assertEqual(self.complete_in_zsh(f"roper-train resume --runs {elsewhere} o"),
                         f"roper-train resume --runs {elsewhere} other ")
        self.assertEqual(self.complete_in_zsh("roper-train run x --set model.wid"), "roper-train run x --set model.width=")
        self.assertEqual(self.complete_in_zsh("roper-train run x --set model.position=al"),
                         "roper-train run x --set model.position=alibi ")

    def test_every_shell_takes_its_script(self):
        for program in ("roper-train", "roper-lab"):
            for shell in SHELLS:
                path = self.runs.parent / f"{program}.{shell}"
                path.write_text(self.shell(program, "completion", shell))
                self.shell(shell, "-n", str(path))
        # zsh knows the function and the helper that it calls for names of runs.
        script = ('autoload -Uz compinit; compinit -D -u; source =(roper-train completion zsh); '
                  'print $_comps[roper-train]; print ${+functions[_roper_train_RUN]}')
        self.assertEqual(self.shell("zsh", "-f", "-c", script).split(), ["_roper_train", "1"])

    def test_completion_and_manual_have_every_command_and_option(self):
        commands = self.commands()
        self.assertGreater(len(commands), 15)
        manual = self.shell("roper-train", "man")
        for shell in SHELLS:
            script = self.shell("roper-train", "completion", shell)
            for name, options in commands.items():
                self.assertIn(name, script)
                for option in options:
                    self.assertIn(option if shell != "fish" else f"-l {option[2:]}", script, f"{shell}, {name}")
        for name, options in commands.items():
            section = manual.split(f".SS {name}\n")[1].split(".SS ")[0]
            for option in options:
                self.assertIn(option.replace("-", "\\-"), section, name)

    def test_the_manual_is_read_without_a_warning(self):
        for program in ("roper-train", "roper-lab"):
            page = self.shell(program, "man")
            done = subprocess.run(["groff", "-man", "-ww", "-Kutf8", "-Tutf8", "-P-cbou"], input=page, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("SYNOPSIS", done.stdout)

    def test_a_mistyped_line_is_told_what_was_meant(self):
        for words, told in (
            (("compar",), "unknown command \"compar\"; did you mean \"compare\"?"),
            (("diff",), "Usage: roper-train diff"),
            (("sample", "addtion"), "did you mean addition?"),
            (("run", "copy-quick", "--set", "training.steps=5", "training.batch=4"), "each key=value needs its own --set: add --set training.batch=4"),
            (("run", "--set", "training.steps=5", "training.batch=4", "copy-quick"), "each key=value needs its own --set: add --set training.batch=4"),
            (("run", "copy-quick", "--stepz"), "roper-train run: The following argument was not expected: --stepz"),
        ):
            done = self.trainer(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(told, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_examples_of_the_manual_are_those_of_the_help(self):
        help_text = self.trainer("--help").stdout
        examples = [line.strip() for line in help_text.split("Examples:")[1].splitlines() if line.strip()]
        manual = self.shell("roper-train", "man").replace("\\-", "-").split(".SH EXAMPLES")[1]
        self.assertGreater(len(examples), 3)
        for example in examples:
            self.assertIn(example, manual)

    def test_lists_for_other_programs(self):
        run = self.train("my-run", "--steps", 2, "--set", "evaluation.every=1", "--seed", 3)
        (run / "labels.toml").write_text('tags = ["odd"]\nnote = "looked at"\n')
        self.assertEqual(self.trainer("list", "--names", "--runs", self.runs).stdout, "my-run\n")
        self.assertIn("addition-quick\n", self.trainer("presets", "--names").stdout)
        keys = self.trainer("describe", "--keys").stdout.splitlines()
        self.assertIn("training.batch=", keys)
        (row,) = map(json.loads, self.trainer("list", "--json", "--runs", self.runs).stdout.splitlines())
        self.assertEqual((row["name"], row["state"], row["step"], row["steps"]), ("my-run", "finished", 2, 2))
        self.assertEqual((row["task"], row["data_seed"], row["tags"], row["note"]), ("addition", 3, ["odd"], "looked at"))
        self.assertEqual(row["metrics"]["step"], 2)
        self.assertGreater(row["metrics"]["loss"], 0)
        self.assertEqual(row["evaluation"]["step"], 2)
        self.assertIn(row["best"]["step"], (1, 2))
        # Damaged labels hide nothing else.
        (run / "labels.toml").write_text("tags = ")
        (row,) = map(json.loads, self.trainer("list", "--json", "--runs", self.runs).stdout.splitlines())
        self.assertIn("labels.toml", row["labels_error"])
        self.assertEqual(row["metrics"]["step"], 2)
        # An unreadable run is listed with its error and with nulls.
        (run / "run.toml").write_text("nonsense")
        (row,) = map(json.loads, self.trainer("list", "--json", "--runs", self.runs).stdout.splitlines())
        self.assertIn("run.toml", row["last"])
        self.assertIsNone(row["metrics"])


if __name__ == "__main__":
    unittest.main()
