"""Random tokenizers and random texts, by the package tokenizers (0.23.3) and by `roper-train tokens`: every id agrees, or the tokenizer is
refused by a name. Run with Python package tokenizers from the repository's root:

    python tests/parity/tokenizer_sweep.py build/release/bin/roper-train [--tokenizers 500] [--texts 20] [--seed 0] [--keep FOLDER]

A tokenizer is put together from all parts that a tokenizer.json can have, its vocabulary learned from texts of the same kind as those that it
then reads. Prints a table of outcomes, and each difference with the tokenizer's parts; ends with 1 if there is one."""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

from random_tokenizers import HOSTILE_TEXTS, Generator, Tokenizer, parts_of


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--tokenizers", type=int, default=500)
    parser.add_argument("--texts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the tokenizers that differ")
    options = parser.parse_args()
    outcomes = collections.Counter()
    refusals = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        at, texts_at = pathlib.Path(folder) / "tokenizer.json", pathlib.Path(folder) / "texts.jsonl"
        made, seed = 0, options.seed * 1_000_000
        while made < options.tokenizers:
            seed += 1
            generator = Generator(seed)
            try:
                content = generator.tokenizer()
            except BaseException as error:  # the package refuses it or panics in Rust
                outcomes["tokenizers that the package refuses"] += 1
                refusals["(package) " + str(error)[:80]] += 1
                continue
            made += 1
            at.write_text(content)
            theirs = Tokenizer.from_str(content)
            texts = HOSTILE_TEXTS + [generator.text() for _ in range(options.texts)]
            texts_at.write_text("".join(json.dumps(text) + "\n" for text in texts))
            done = subprocess.run([options.program, "tokens", at, "--texts", texts_at, "--json"], capture_output=True, text=True)
            if not done.stdout:
                outcomes["texts refused with their tokenizer"] += len(texts)
                refusals[done.stderr.strip().replace(str(at), "FILE")[:110]] += 1
                continue
            ours = [json.loads(line) for line in done.stdout.splitlines()]
            assert len(ours) == len(texts), done.stderr
            differs = 0
            for text, answer in zip(texts, ours):
                try:
                    ids = theirs.encode(text).ids
                except BaseException as error:
                    outcomes["texts that the package refuses" + ("" if "error" in answer else ", and not we")] += 1
                    refusals["(package) " + str(error)[:80]] += 1
                    continue
                if "error" in answer:
                    outcomes["texts refused"] += 1
                    refusals[answer["error"].replace(str(at), "FILE")[:110]] += 1
                elif answer["ids"] == ids:
                    outcomes["texts equal"] += 1
                else:
                    outcomes["texts that DIFFER"] += 1
                    differs += 1
                    if differs == 1:
                        print(f"seed {seed}: {json.dumps(text)}\n  theirs {theirs.encode(text).tokens}\n  ours   {answer['tokens']}\n  {ids}\n  {answer['ids']}\n  {parts_of(json.loads(content))}",
                              flush=True)
                        if options.keep:
                            options.keep.mkdir(parents=True, exist_ok=True)
                            (options.keep / f"{seed}.json").write_text(content)
            outcomes["tokenizers that differ" if differs else "tokenizers equal"] += 1
    for what, count in sorted(outcomes.items()):
        print(f"{count:7} {what}")
    for what, count in refusals.most_common():
        print(f"{count:7} {what}")
    return 1 if outcomes["texts that DIFFER"] else 0


if __name__ == "__main__":
    sys.exit(main())
