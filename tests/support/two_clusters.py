"""Simulates Slurm's programs at a site with the clusters "here" and "far", with state in files in $TWO_CLUSTERS. Output and
precedence are those of Slurm 22.05: headers, "12;far", options before variables before the script's lines. $TWO_CLUSTERS_HERE
is the local cluster."""

import os
import re
import sys
from pathlib import Path

CLUSTERS = ("here", "far")
COLUMNS = "NAME|ARRAY_JOB_ID|ARRAY_TASK_ID|STATE|NODELIST|REASON"


def main(program, arguments):
    state = Path(os.environ["TWO_CLUSTERS"])
    local = os.environ.get("TWO_CLUSTERS_HERE", "here")
    with open(state / "calls", "a") as calls:
        calls.write(" ".join([program, *arguments]) + "\n")
    script = Path(arguments[-1]).read_text() if program == "sbatch" else ""
    lines = [line[len("#SBATCH "):] for line in script.splitlines() if line.startswith("#SBATCH ")]

    def option(name, variable, letter="?"):
        said = [found for text in (*lines, os.environ.get(variable) and f"--{name}={os.environ[variable]}", *arguments) if text
                for found in re.findall(rf"^(?:--{name}[= ]|-{letter} ?)(.*)", text)]
        return said[-1].strip("\"'") if said else None

    clusters = option("clusters", "SLURM_CLUSTERS", "M") or (os.environ.get("SBATCH_CLUSTERS") if program == "sbatch" else None)
    chosen = CLUSTERS if clusters == "all" else clusters.split(",") if clusters else [local]
    if any(cluster not in CLUSTERS for cluster in chosen):
        sys.exit(f"{program}: error: '{clusters}' can't be reached now, or it is an invalid entry for --cluster.")
    if program == "scontrol":
        print(f"ClusterName             = {chosen[0]}\nMaxArraySize            = 3")
    elif program == "sbatch":
        job = len((state / "calls").read_text().splitlines()) + 100
        first, last = map(int, re.match(r"(\d+)-(\d+)", option("array", "SBATCH_ARRAY_INX", "a")).groups())
        with open(state / chosen[-1], "a") as queue:
            for i in range(first, last + 1):
                queue.write(f"{option('job-name', 'SBATCH_JOB_NAME', 'J')}|{job}|{i}|PENDING||Priority\n")
        if os.environ.get("TWO_CLUSTERS_LOSE"):
            sys.exit("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation")
        print(f"{job};{chosen[-1]}" if clusters else job)
    elif program == "squeue":
        names, states = option("name", "SQUEUE_NAMES", "n"), option("states", "SQUEUE_STATES", "t")
        for cluster in chosen:
            if clusters and "--noheader" not in arguments:
                print(f"CLUSTER: {cluster}")
            if "--noheader" not in arguments:
                print(COLUMNS)
            path = state / cluster
            for line in path.read_text().splitlines() if path.exists() else ():
                fields = line.split("|")
                if (not names or fields[0] in names.split(",")) and (not states or fields[3] in states.split(",")):
                    print(line)
    elif program == "scancel":
        ended = [word for word in arguments if not word.startswith("-")]
        for cluster in chosen:
            path = state / cluster
            left = [line for line in path.read_text().splitlines() if "_".join(line.split("|")[1:3]) not in ended] if path.exists() else []
            path.write_text("".join(line + "\n" for line in left))
