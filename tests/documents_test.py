#!/usr/bin/env python3
"""Links between documents are valid, every path named in ARCHITECTURE.md and docs/decisions.md exists, and tables agree with the
files from which they are made."""

import fnmatch
import os
import re
import tomllib
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = 15_000  # of ARCHITECTURE.md, which everyone should read completely before making changes


def files():
    """Paths of all files of the source tree, each with a leading slash."""
    for folder, folders, names in os.walk(ROOT):
        at = Path(folder)
        folders[:] = [name for name in folders
                      if (name == ".ci" or not name.startswith(".")) and not (at == ROOT and name in ("build", "runs"))]
        for name in names:
            yield "/" + (at / name).relative_to(ROOT).as_posix()


def anchors(page):
    """The anchors that GitHub generates for the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def missing_paths(text, tree):
    """Paths in `text` that `tree` lacks. A name without a folder may be anywhere; RUNS/… refers to a runs folder."""
    named = re.findall(r"`([^`\s]+)`", text) + re.findall(r"^(\w\S*/) ", text, re.MULTILINE)
    for path in named:
        if "…" in path or path.startswith(("RUNS/", "../")):
            continue
        if path.endswith("/"):
            found = any(f"/{path}" in file for file in tree)
        elif re.search(r"/|\.(\*|h|cpp|inc|py|sh|tsv|cmake|toml|md)$", path) and path not in FILES_OF_A_RUN:
            found = any(fnmatch.fnmatch(file, f"*/{path}") or f"/{path}/" in file for file in tree)
        else:
            continue
        if not found:
            yield path


def value_rotation_rows():
    """The rows of the table in docs/value-rotation.md that resources/value-rotation/implementations.toml describes, in its order."""
    back = {"never": "**never**", "yes": "yes", "twice": "values twice"}
    for one in tomllib.loads((ROOT / "resources/value-rotation/implementations.toml").read_text())["implementation"]:
        checked = f"[run](../findings/{one['script']})" if "script" in one else one["checked"]
        cells = (one["name"], one["version"], one["pairing"], one["part"], back[one["back"]], one["grouped"], one["cache"],
                 one["scaling"], checked)
        yield f"| {' | '.join(cells)} |"


FILES_OF_A_RUN = ("run.toml", "labels.toml", "queue.toml")


class Documents(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        for page in [ROOT / file[1:] for file in files() if file.endswith(".md")]:
            for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
                if re.match(r"\w+:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = page.parent / path if path else page
                with self.subTest(page=page.relative_to(ROOT).as_posix(), link=link):
                    self.assertTrue(target.exists())
                    self.assertTrue(not anchor or anchor in anchors(target))

    def test_every_path_that_is_named_exists(self):
        tree = list(files())
        for page in ("ARCHITECTURE.md", "docs/decisions.md"):
            self.assertEqual(list(missing_paths((ROOT / page).read_text(), tree)), [], page)

    def test_a_path_that_is_gone_is_noticed(self):
        text = "open `core/runs/gone.cpp`, `rows.*` or `gone.h`\ncore/gone/   what was\ncore/runs/   what is\n"
        self.assertEqual(list(missing_paths(text, list(files()))), ["core/runs/gone.cpp", "gone.h", "core/gone/"])

    def test_the_table_of_value_rotation_has_the_rows_of_its_file(self):
        section = (ROOT / "docs/value-rotation.md").read_text().split("## Implementations")[1].split("\n## ")[0]
        rows = [line for line in section.splitlines() if line.startswith("| ")]
        self.assertEqual(rows[1:], list(value_rotation_rows()))

    def test_the_architecture_is_short_enough_to_be_read(self):
        self.assertLessEqual((ROOT / "ARCHITECTURE.md").stat().st_size, MOST_BYTES)


if __name__ == "__main__":
    unittest.main()
