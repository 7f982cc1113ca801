#!/usr/bin/env bash
# The normalizer Precompiled drops a combining mark behind a short character that its map replaces; SentencePiece keeps it.
#
# Surprising: Precompiled carries SentencePiece's own map of characters, so one expects SentencePiece's results. It looks up
# grapheme clusters of less than 6 bytes as a whole, takes the shortest text of the map with which the cluster begins, and
# replaces the entire cluster by it. SentencePiece replaces the longest text at each place. Half-width kana with a voicing
# mark, clusters of 6 bytes, are looked up character by character and do not combine.
#
# Version: tokenizers 0.23.3, sentencepiece 0.2.3 (PyPI).
# Seen, with the rules nmt_nfkc: U+00AA U+0301 becomes "a" rather than "á", "①" U+0301 becomes "1" without its mark.
# Source: tokenizers/src/normalizers/precompiled.rs, and transform() of the crate spm_precompiled.
# Ours: core/tokenizers/charsmap.cpp: byGraphemes() for tokenizer.json does the same, byLongest() for GGUF files does as
# SentencePiece (Tokenizers.OfSentencePieceInAGgufFileGiveItsIds).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet tokenizers==0.23.3 sentencepiece==0.2.3

"$folder/python/bin/python" - <<'PYTHON'
import sentencepiece
import tokenizers
from tokenizers import normalizers


def members(message):
    """The members of a protobuf message that are bytes, by number."""
    place = 0

    def number():
        nonlocal place
        value = shift = 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while place < len(message):
        key = number()
        if key & 7 == 0:
            number()
        elif key & 7 == 2:
            length = number()
            yield key >> 3, message[place : place + length]
            place += length
        else:
            place += 4 if key & 7 == 5 else 8


theirs = sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc")
rules = dict(members(dict(members(theirs.serialized_model_proto()))[3]))[2]
precompiled = normalizers.Precompiled(rules)
print("tokenizers", tokenizers.__version__, "sentencepiece", sentencepiece.__version__)
results = []
for text in ("\u00aa\u0301", "\u2460\u0301", "\uff76\uff9e"):
    results.append((precompiled.normalize_str(text), theirs.normalize(text).removeprefix("\u2581")))
    print(ascii(text), *map(ascii, results[-1]))
assert results == [("a", "\u00e1"), ("1", "1\u0301"), ("\u30ab\u3099", "\u30ac")], "this has changed"
PYTHON
