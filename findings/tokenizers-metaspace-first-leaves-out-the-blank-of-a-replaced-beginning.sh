#!/usr/bin/env bash
# Metaspace with prepend_scheme "first" adds no "▁" to a text whose first two characters a normalizer replaced together.
#
# Surprising: one expects "first" to mean the first word of the text. It depends on the position of a piece in the text
# before normalization: the result of Replace for two or more characters has the position of the last one, so nothing begins
# at 0 and the text gets no "▁"; if Replace replaces one character, it does. After a normalizer Prepend it is the other way
# round: two pieces may begin at 0, and both get one.
#
# Version: tokenizers 0.23.3 (PyPI).
# Seen: Replace("12" -> "é") makes of "12a" ["é", "a"], and of "a12" ["▁", "a", "é"]; Replace("1" -> "é") of "1a" ["▁", "é", "a"].
# Source: Metaspace.pre_tokenize in tokenizers/src/pre_tokenizers/metaspace.rs (offsets_original().0 == 0).
# Ours: core/tokenizers/normalization.cpp traces the beginning likewise
# (Tokenizers.TraceTheBeginningOfATextThroughItsNormalizer).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet tokenizers==0.23.3

"$folder/python/bin/python" - <<'PYTHON'
import tokenizers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers


def tokens(replaced, text):
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate("aé▁")}, []))
    tokenizer.normalizer = normalizers.Replace(replaced, "é")
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    return tokenizer.encode(text).tokens


found = [tokens("12", "12a"), tokens("12", "a12"), tokens("1", "1a")]
print("tokenizers", tokenizers.__version__)
print(*found, sep="\n")
assert found == [["é", "a"], ["▁", "a", "é"], ["▁", "é", "a"]], "this has changed"
PYTHON
