#!/usr/bin/env bash
# A unigram tokenizer that is saved and read again cuts some words elsewhere, because its scores are rounded twice.
#
# Surprising: to_str() writes each score with as many digits as identify it, so one expects from_str() to read the same
# numbers. It reads the digits as an integer, converts that to a double and divides it by a power of ten, which rounds
# twice; about every seventh score of 16 or 17 digits changes in its last bit. Where two ways to cut a word are equally
# likely, that bit decides.
#
# Version: tokenizers 0.23.3 (PyPI).
# Seen: with scores s(ab) = s(a) + s(b), "ab" is one token before and two tokens after saving.
# Source: serde_json without its feature float_roundtrip (tokenizers/Cargo.toml).
# Ours: core/tokenizers/json_model.cpp, asOtherReader(): rounds alike
# (Tokenizers.GiveTheIdsAndTextsOfHuggingFacesOwnOnHostileTexts).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet tokenizers==0.23.3

"$folder/python/bin/python" - <<'PYTHON'
import json
import random

import tokenizers
from tokenizers import Tokenizer, models

print("tokenizers", tokenizers.__version__)
draw = random.Random(1)
scores = [-15 * draw.random() for _ in range(2000)]
saved = Tokenizer(models.Unigram([("<unk>", 0.0)] + [(f"t{i}", score) for i, score in enumerate(scores)], 0, False)).to_str()
again = Tokenizer.from_str(saved).to_str()
before, after = ([score for _, score in json.loads(text)["model"]["vocab"]][1:] for text in (saved, again))
assert before == scores
changed = sum(a != b for a, b in zip(before, after))
print(changed, "of 2000 scores change when the tokenizer is read")

a, b = -9.097462559682402, -9.827854760376532
tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), ("a", a), ("b", b), ("ab", a + b)], 0, False))
tokens = [one.encode("ab").tokens for one in (tokenizer, Tokenizer.from_str(tokenizer.to_str()))]
print("before and after saving:", *tokens)
assert changed > 0 and tokens == [["ab"], ["a", "b"]], "this has changed"
PYTHON
