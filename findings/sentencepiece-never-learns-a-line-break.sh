#!/usr/bin/env bash
# SentencePiece promises that text can be restored from its pieces, but loses every line break and all indentation.
#
# Surprising: "lossless" refers to the normalized text. The default normalization turns a line break into a blank and
# several blanks into one. Even with normalization "identity" and remove_extra_whitespaces off, line breaks are lost: the
# trainer reads its input by lines, so it never sees one, and in the encoded text a line break is an unknown character,
# however often it occurs in the training text. Only byte_fallback, or "\n" among user_defined_symbols, keeps it.
#
# Version: sentencepiece 0.2.1 (PyPI).
# Seen, training on Python code, 900 lines, and encoding 'def f(x):\n    return x\n':
#     default                   'def f(x): return x'
#     identity, all blanks      'def f(x): ⁇     return x ⁇ '
#     the same, byte_fallback   'def f(x):\n    return x\n'
#     the same, \n as a symbol  'def f(x):\n    return x\n'
# Source: doc/special_symbols.md and doc/options.md of SentencePiece; README, "lossless tokenization", with Normalize() in it.
# Ours: app/roper_tokenizer/main.cpp trains with identity, byte_fallback and "\n" as a symbol; tests/process/text_test.py
# (test_the_unigram_entropy_is_that_of_the_tokens) restores a text from its tokens: "nothing is lost".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet sentencepiece==0.2.1

"$folder/python/bin/python" - "$folder" <<'PYTHON'
import sys

import sentencepiece

folder = sys.argv[1]
with open(folder + "/code.txt", "w") as file:
    for i in range(300):
        file.write(f"def f{i}(x):\n    return x  + {i}\n\n")
text = "def f(x):\n    return x\n"
plain = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
seen = []
print("sentencepiece", sentencepiece.__version__)
for name, size, options in (("default", 60, {}), ("identity, all blanks", 60, plain),
                            ("the same, byte_fallback", 320, {**plain, "byte_fallback": True}),
                            (r"the same, \n as a symbol", 60, {**plain, "user_defined_symbols": ["\n"]})):
    sentencepiece.SentencePieceTrainer.train(input=folder + "/code.txt", model_prefix=folder + "/model", vocab_size=size,
                                             minloglevel=2, **options)
    processor = sentencepiece.SentencePieceProcessor(model_file=folder + "/model.model")
    seen.append(processor.decode(processor.encode(text)))
    print(f"{name:25} {seen[-1]!r}")
if seen[0] != "def f(x): return x" or "\n" in seen[1]:
    sys.exit("Changed: SentencePiece now keeps line breaks by itself.")
if seen[2:] != [text, text]:
    sys.exit("Changed: byte_fallback or the symbol no longer keeps line breaks.")
PYTHON
