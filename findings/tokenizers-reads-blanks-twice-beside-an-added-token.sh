#!/usr/bin/env bash
# An added token with rstrip takes the blanks behind it, and other added tokens made of blanks find the same ones again.
#
# Surprising: each part of a text belongs to one token, one would think. The search goes on behind the added token itself and not behind
# the blanks that it took, so "x" with rstrip and an added token of two blanks (as vocabularies for source code have) make of "ax", five blanks
# and "b" not eight characters but thirteen: "x" with its five blanks, then twice two and one again. Decoding gives more blanks than the text
# had, and the model reads them.
#
# Version: tokenizers 0.23.3 (PyPI).
# Seen: "ax     b" -> ["a", "x     ", "  ", "  ", " ", "b"].
# Source: find_matches in tokenizers/src/tokenizer/added_vocabulary.rs: leftmost_find_iter does not hear of the longer stop.
# Ours: AddedTokenSearch does the same (AddedTokens.BlanksThatOneTookMayBelongToTheNext).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet tokenizers==0.23.3

"$folder/python/bin/python" - <<'PYTHON'
import tokenizers
from tokenizers import AddedToken, Tokenizer, models

tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate("ab ")}, []))
tokenizer.add_tokens([AddedToken("x", rstrip=True, normalized=False), AddedToken("  ", normalized=False)])
text = "ax     b"
tokens = tokenizer.encode(text).tokens
print("tokenizers", tokenizers.__version__)
print(repr(text), tokens, sum(map(len, tokens)), "characters of", len(text))
assert tokens == ["a", "x     ", "  ", "  ", " ", "b"], "this has changed"
PYTHON
