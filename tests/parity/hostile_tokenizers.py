"""Writes pretrained/tokenizers.tar.xz: random small tokenizers of every kind, and the ids and texts that the package tokenizers (0.23.3)
gives for texts that are hard to tokenize. Trainers break ties by chance, so each run
writes other vocabularies. Run in the repository's root with that package."""

import json
import pathlib
import tempfile

from archive import pack
from random_tokenizers import HOSTILE_TEXTS, Generator, Tokenizer

HERE = pathlib.Path(__file__).parent
KINDS = ["BPE", "WordPiece", "WordLevel", "Unigram"]
OF_EACH = 24
# What is refused (core/tokenizers/json_parts.cpp), or depends on chance in the package.
REFUSED = ['"UnicodeScripts"', '"first"', '{"type": "Sequence", "processors": [{"type": "TemplateProcessing"']


def answers(tokenizer: Tokenizer) -> dict:
    ids = [tokenizer.encode(text).ids for text in HOSTILE_TEXTS]
    return {"ids": ids, "decoded": [tokenizer.decode(one, skip_special_tokens=False) for one in ids]}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        into = pathlib.Path(folder) / "tokenizers"
        into.mkdir()
        (into / "texts.json").write_text(json.dumps(HOSTILE_TEXTS))
        for kind in KINDS:
            seed, made = 0, 0
            while made < OF_EACH:
                seed += 1
                try:
                    content = Generator(seed).tokenizer(kind, size=160, lines=40)
                    given = answers(Tokenizer.from_str(content))
                except BaseException:  # the package refuses it or panics in Rust
                    continue
                if any(part in content for part in REFUSED):
                    continue
                made += 1
                (into / f"{kind}-{seed}.json").write_text(json.dumps({"tokenizer": content, **given}, ensure_ascii=False))
        pack(pathlib.Path(folder), HERE / "pretrained" / "tokenizers.tar.xz")


if __name__ == "__main__":
    main()
