#!/usr/bin/env bash
# With byte_fallback, a character whose bytes are not in the vocabulary becomes <unk> after the bytes of the characters that
# follow it.
#
# Surprising: one expects tokens in the order of the text. BPE holds an unknown character back, to join it with further ones
# (fuse_unk), and writes it when the next character of the vocabulary comes. Characters that become bytes overtake it. With
# a vocabulary that lacks some byte pieces, such as a truncated one, "❤é" becomes <0xC3> <0xA9> <unk>, and "❤é❤" with
# fuse_unk has one <unk>, at its end, although é is in between. Offsets are wrong, too.
#
# Version: tokenizers 0.23.3 (PyPI).
# Seen: "❤é" -> ["<0xC3>", "<0xA9>", "<unk>"]; with fuse_unk "❤é❤" -> ["<0xC3>", "<0xA9>", "<unk>"].
# Source: merge_word in tokenizers/src/models/bpe/model.rs: `continue` after the bytes leaves `unk` pending.
# Ours: Bpe::characters in core/tokenizers/bpe.cpp gives the same ids (Tokenizers.GiveTheIdsOfHuggingFacesOwn, "normalized tokens").
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet tokenizers==0.23.3

"$folder/python/bin/python" - <<'PYTHON'
import tokenizers
from tokenizers import Tokenizer, models

vocabulary = {"<unk>": 0, "a": 1, "<0xC3>": 2, "<0xA9>": 3}


def tokens(text, fuse):
    return Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True, fuse_unk=fuse)).encode(text).tokens


print("tokenizers", tokenizers.__version__)
print("❤é", tokens("❤é", False))
print("❤é❤ with fuse_unk", tokens("❤é❤", True))
print("❤aé", tokens("❤aé", False))
assert tokens("❤é", False) == ["<0xC3>", "<0xA9>", "<unk>"], "this has changed"
assert tokens("❤é❤", True) == ["<0xC3>", "<0xA9>", "<unk>"], "this has changed"
assert tokens("❤aé", False) == ["<unk>", "a", "<0xC3>", "<0xA9>"], "this has changed"
PYTHON
