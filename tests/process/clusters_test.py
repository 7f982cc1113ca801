"""Sweeps at a site with two clusters, simulated by scripts because real ones would need a database. slurm_test.py uses a real
single cluster."""

import json
import os
import sys
import unittest
from pathlib import Path

SUPPORT = Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
from programs import TrainerTest


class ClustersTest(TrainerTest):
    def setUp(self):
        super().setUp()
        self.site = Path(self._folder.name) / "site"
        self.site.mkdir()
        for program in ("sbatch", "squeue", "scancel", "scontrol"):
            path = self.site / program
            path.write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(SUPPORT)!r})\n"
                            f"import two_clusters\ntwo_clusters.main({program!r}, sys.argv[1:])\n")
            path.chmod(0o755)
        self.path = Path(self._folder.name) / "small.toml"
        self.path.write_text('base = "copy-quick"\nseeds = [0, 1]\n[set]\n"training.steps" = 200\n')
        self.home = Path(self._folder.name) / "state"

    def sweep(self, *arguments, **environment):
        env = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH", "SQUEUE"))}
        env.update({"PATH": f"{self.site}:{env['PATH']}", "TWO_CLUSTERS": str(self.site), "XDG_STATE_HOME": str(self.home), **environment})
        return self.trainer("sweep", self.path, "--runs", self.runs, *arguments, env=env)

    def submit(self, *arguments, **environment):
        done = self.sweep("--slurm", "--time", "10:00", *arguments, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def waiting(self, cluster):
        path = self.site / cluster
        return path.read_text().splitlines() if path.exists() else []

    def calls(self, program):
        return [line for line in (self.site / "calls").read_text().splitlines() if line.startswith(program)]

    def check_all_are_known(self, cluster, **environment):
        """From anywhere, all elements are seen as waiting, and nothing is submitted again."""
        count = len(self.waiting(cluster))
        other = "here" if cluster == "far" else "far"
        for more in ({**environment}, {"SQUEUE_STATES": "RUNNING", "SLURM_CLUSTERS": other, "SBATCH_CLUSTERS": other}):
            again = self.submit(**more)
            self.assertIn("no run remains to be submitted", again.stderr, more)
            done = self.sweep("--status", "--json", **more)
            states = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual([one["stage"] for one in states], ["waiting"] * count, (more, done.stdout, done.stderr))
        self.assertEqual(len(self.waiting(cluster)), count)
        self.assertEqual(len(self.waiting("here")) + len(self.waiting("far")), count)

    def check_cancel(self, cluster, **environment):
        count = len(self.waiting(cluster))
        self.assertIn(f"{count} array tasks cancelled", self.sweep("--cancel", **environment).stderr)
        self.assertEqual(self.waiting(cluster), [])
        self.assertEqual(self.sweep("--status").stdout.count("not submitted"), count)

    def test_another_cluster_by_an_option(self):
        for option in ("--clusters=far", "-M far"):
            with self.subTest(option):
                done = self.submit("--sbatch", option)
                self.assertIn("on the cluster far", done.stderr)
                self.assertRegex(done.stdout, r"^\d+\n$")
                self.check_all_are_known("far")
                self.assertRegex(self.sweep("--status").stdout, r"waiting \(\d+_0 on the cluster far\): Priority")
                self.check_cancel("far")

    def test_another_cluster_by_the_environment(self):
        for variable in ("SBATCH_CLUSTERS", "SLURM_CLUSTERS"):
            with self.subTest(variable):
                self.submit(**{variable: "far"})
                self.check_all_are_known("far", **{variable: "far"})
                self.check_cancel("far")

    def test_the_option_counts_before_the_environment(self):
        self.submit("--sbatch=--clusters=here", SBATCH_CLUSTERS="far", SLURM_CLUSTERS="far")
        self.check_all_are_known("here")
        self.check_cancel("here", SLURM_CLUSTERS="far")

    def test_one_of_several_clusters(self):
        self.path.write_text(self.path.read_text().replace("[0, 1]", "[0, 1, 2, 3]"))  # more than one array holds
        self.assertIn("4 runs in 2 arrays submitted", self.submit("--sbatch=--clusters=here,far", "--at-once", "1").stderr)
        self.check_all_are_known("far")
        first, second = self.calls("sbatch")
        self.assertIn("--clusters=here,far", first)
        self.assertIn("--clusters=far --dependency=afterany:", second)
        self.check_cancel("far")

    def test_what_was_submitted_here_is_known_on_the_other_cluster(self):
        self.submit()
        self.check_all_are_known("here", TWO_CLUSTERS_HERE="far")
        self.assertFalse(any("--clusters" in call for call in self.calls("sbatch")))
        self.check_cancel("here", TWO_CLUSTERS_HERE="far")

    def test_an_answer_that_was_lost(self):
        done = self.sweep("--slurm", "--sbatch=--clusters=all", TWO_CLUSTERS_LOSE="1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_all_are_known("far")
        self.check_cancel("far")

    def test_the_environment_cannot_rename_or_recount_the_job(self):
        self.submit(SBATCH_JOB_NAME="mine", SBATCH_ARRAY_INX="0-99", SBATCH_TIMELIMIT="1", SQUEUE_NAMES="other")
        self.assertEqual(len(self.waiting("here")), 2)
        self.check_all_are_known("here", SQUEUE_NAMES="other")
        refused = self.sweep("--slurm", "--sbatch=--job-name=mine")
        self.assert_fails(refused, 2, "--sbatch=--job-name cannot be used with a sweep")

    def test_a_cluster_that_is_not_there(self):
        self.assert_fails(self.sweep("--slurm", "--sbatch=--clusters=nowhere"), 1, "sbatch failed", "'nowhere' can't be reached")
        self.assertEqual([one.name for one in (self.runs / "slurm").iterdir()], ["lock"])
        self.assert_fails(self.sweep("--slurm", "--sbatch=--clusters=a;b"), 2, "is not a list of clusters")


if __name__ == "__main__":
    unittest.main()
