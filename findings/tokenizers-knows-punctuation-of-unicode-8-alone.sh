#!/usr/bin/env bash
# The pre-tokenizer Punctuation ignores punctuation added to Unicode after 2015, which \p{P} in the same package matches.
#
# Surprising: one expects Punctuation() and Split(Regex(r"\p{P}")) to split texts alike. The former uses a crate with the
# tables of Unicode 8; patterns are searched by Oniguruma, which has Unicode 16. 104 marks of Unicode 9 to 14 are
# punctuation for one and not for the other, among them U+2E43 to U+2E5D, which occur in editions of old texts; two
# characters that are no longer punctuation (U+166D, U+111C9) are the other way round. The pre-tokenizer Digits uses Rust's
# own tables, which are newer than both.
#
# Version: tokenizers 0.23.3 (PyPI).
# Seen: Punctuation keeps "a⃹b" whole, \p{P} splits it into three.
# Source: tokenizers/src/pre_tokenizers/punctuation.rs, is_punc by the crate unicode_categories 0.1.1.
# Ours: core/tokenizers/tokenizer_json.cpp, punctuation(): the same 104 are omitted
# (Tokenizers.GiveTheIdsOfHuggingFacesOwn).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet tokenizers==0.23.3

"$folder/python/bin/python" - <<'PYTHON'
import tokenizers
from tokenizers import Regex, pre_tokenizers

by_name = pre_tokenizers.Punctuation()
by_pattern = pre_tokenizers.Split(Regex(r"\p{P}"), "isolated")


def words(how, text):
    return [word for word, _ in how.pre_tokenize_str(text)]


print("tokenizers", tokenizers.__version__)
for text in ("a\u2e43b", "a\u3001b", "a\u166db"):
    print(ascii(text), words(by_name, text), words(by_pattern, text))
assert words(by_name, "a\u3001b") == words(by_pattern, "a\u3001b") == ["a", "\u3001", "b"], "this has changed"
assert len(words(by_name, "a\u2e43b")) == 1 and len(words(by_pattern, "a\u2e43b")) == 3, "this has changed"
assert len(words(by_name, "a\u166db")) == 3 and len(words(by_pattern, "a\u166db")) == 1, "this has changed"
PYTHON
