#!/usr/bin/env bash
# An added token is decoded to what the normalizer makes of its text: "Hello" becomes "hello".
#
# Surprising: one expects the text with which the token was added, as for special tokens. Tokens added as
# plain text are normalized for the search, and decode() gives that form.
#
# Version: tokenizers 0.23.3 (PyPI).
# Seen: after add_tokens(["Hello"]) to a tokenizer that lowercases, its id decodes to "hello".
# Source: tokenizers/src/tokenizer/added_vocabulary.rs, simple_id_to_token() returns the cached normal form.
# Ours: core/tokenizers/tokenizer.cpp: decode() does the same, textOf(), which shows single tokens, gives the text of the file
# (Tokenizers.GiveTheIdsAndTextsOfHuggingFacesOwnOnHostileTexts).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet tokenizers==0.23.3

"$folder/python/bin/python" - <<'PYTHON'
import tokenizers
from tokenizers import Tokenizer, models, normalizers

print("tokenizers", tokenizers.__version__)
tokenizer = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
tokenizer.normalizer = normalizers.Lowercase()
tokenizer.add_tokens(["Hello"])
tokenizer.add_special_tokens(["<S>"])
ids = tokenizer.encode("HELLO<S>").ids
decoded = [tokenizer.decode([id], skip_special_tokens=False) for id in ids]
print(ids, decoded)
assert decoded == ["hello", "<S>"], "this has changed"
PYTHON
