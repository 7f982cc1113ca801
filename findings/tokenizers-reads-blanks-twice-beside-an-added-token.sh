#!/usr/bin/env bash
# An added token with rstrip includes the blanks behind it, but other added tokens made of blanks find the same blanks
# again.
#
# Surprising: one expects each part of a text to belong to one token. The search continues behind the added token itself and
# not behind the blanks that it includes. With "x" as a token with rstrip and an added token of two blanks (as in
# vocabularies for source code), "ax", five blanks and "b" give thirteen characters instead of eight: "x" with its five
# blanks, then two, two and one blank again. Decoding gives more blanks than the text had, and the model reads them.
#
# Version: tokenizers 0.23.3 (PyPI).
# Seen: "ax     b" -> ["a", "x     ", "  ", "  ", " ", "b"].
# Source: find_matches in tokenizers/src/tokenizer/added_vocabulary.rs: leftmost_find_iter does not know about the extended
# end.
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
