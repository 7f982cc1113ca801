#!/usr/bin/env bash
# ByteLevel(add_prefix_space=True) adds a blank to every piece that earlier pre-tokenizers have split off, not only to the
# beginning of the text.
#
# Surprising: its documentation says that it adds a space to the first word if there is none. But it adds one to each piece
# that does not begin with a space: after Digits, "a12b" becomes " a", " 12" and " b", as if the text were "a 12 b".
# ByteLevel alone, or in the order used by most published models, which have the option off, does not reveal this.
#
# Version: tokenizers 0.23.3 (PyPI).
# Seen: "a12b" behind Digits -> ["Ġa", "Ġ12", "Ġb"], alone -> ["Ġa", "12", "b"].
# Source: ByteLevel.pre_tokenize in tokenizers/src/pre_tokenizers/byte_level.rs, prepend within pretokenized.split; the Python package's
# docstring of add_prefix_space.
# Ours: Split::Kind::blank_first has the position of ByteLevel (Tokenizers.GiveTheIdsOfHuggingFacesOwn, "a blank put before
# each word").
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet tokenizers==0.23.3

"$folder/python/bin/python" - <<'PYTHON'
import tokenizers
from tokenizers import pre_tokenizers

level = pre_tokenizers.ByteLevel(add_prefix_space=True)
behind = pre_tokenizers.Sequence([pre_tokenizers.Digits(), level])
found = [[word for word, _ in how.pre_tokenize_str("a12b")] for how in (level, behind)]
print("tokenizers", tokenizers.__version__)
print("alone        ", found[0])
print("behind Digits", found[1])
assert found == [["Ġa", "12", "b"], ["Ġa", "Ġ12", "Ġb"]], "this has changed"
PYTHON
