#!/usr/bin/env bash
# After add_tokens(["\n"]), a tokenizer that strips white space cuts every text into single characters.
#
# Surprising: one expects a line break to become a token, or, as the normalizer removes it, nothing to change. Tokens added
# as plain text are normalized before they are searched for; this one becomes empty, and an empty text is found between all
# characters, so each becomes a word of its own, blanks included. The normalizers of T5 strip the end of a text.
#
# Version: tokenizers 0.23.3 (PyPI).
# Seen: "the rays" is two tokens before and seven pieces after, none of them "the" or "rays".
# Source: tokenizers/src/tokenizer/added_vocabulary.rs, refresh_added_tokens() does not omit empty texts.
# Ours: core/tokenizers/tokenizer.cpp, prepareAddedTokens(): such a token is refused
# (Tokenizers.RefuseAddedTokensThatBecomeTheSame).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet tokenizers==0.23.3

"$folder/python/bin/python" - <<'PYTHON'
import tokenizers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

print("tokenizers", tokenizers.__version__)
tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "the": 1, "rays": 2, "t": 3}, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.Strip(left=False, right=True)
tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
before = tokenizer.encode("the rays").tokens
tokenizer.add_tokens(["\n"])
after = tokenizer.encode("the rays").tokens
print(before, after)
assert before == ["the", "rays"] and after == ["t"] + 6 * ["[UNK]"], "this has changed"
PYTHON
