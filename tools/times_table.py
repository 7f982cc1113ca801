"""Prints how long the stages of ./lab took, and the ten tests that took longest.

usage: times_table.py TIMES.tsv FOLDER, where FOLDER has the JUnit files of ctest
"""

import sys
import xml.etree.ElementTree
from pathlib import Path

LONGEST = 10


def stages(path):
    """[(stage, seconds, what it did)], the last of each name, ordered by first occurrence."""
    found = {}
    for line in path.read_text().splitlines():
        name, seconds, what = line.split("\t")
        found[name] = float(seconds), what
    return [(name, *rest) for name, rest in found.items()]


def tests(folder):
    """[(seconds, stage, test)]"""
    found = []
    for path in sorted(folder.glob("*.xml")):
        for case in xml.etree.ElementTree.parse(path).iter("testcase"):
            found.append((float(case.get("time", 0)), path.stem, case.get("name")))
    return found


def in_minutes(seconds):
    return f"{int(seconds) // 60:3d}:{int(seconds) % 60:02d}"


def main():
    times, folder = Path(sys.argv[1]), Path(sys.argv[2])
    if not times.exists():
        sys.exit(f"Nothing was timed yet: there is no {times}.")
    rows = stages(times)
    width = max(len("stage"), *(len(name) for name, *_ in rows))
    print(f"\n{'stage':{width}}  min:s")
    for name, seconds, what in rows:
        print(f"{name:{width}} {in_minutes(seconds)}  {what}".rstrip())
    print(f"{'all':{width}} {in_minutes(sum(seconds for _, seconds, _ in rows))}")
    longest = sorted(tests(folder), reverse=True)[:LONGEST]
    if longest:
        print("\nthe longest tests")
    for seconds, stage, name in longest:
        print(f"{in_minutes(seconds)}  {name} ({stage})")


if __name__ == "__main__":
    main()
