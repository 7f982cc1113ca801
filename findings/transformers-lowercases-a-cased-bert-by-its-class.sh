#!/usr/bin/env bash
# A BERT whose tokenizer.json keeps capitals is read with all letters in lower case, because its class has that default.
#
# Surprising: one expects AutoTokenizer to apply the pipeline of tokenizer.json, the format in which it saves tokenizers. Of a
# class such as BertTokenizer it takes only vocabulary and added tokens from the file and builds normalizer, pre-tokenizer,
# post-processor and decoder anew, from defaults and tokenizer_config.json. The same file read as a PreTrainedTokenizerFast, or
# by the package tokenizers, keeps its capitals and gets no [CLS] and [SEP].
#
# Version: transformers 5.24.0, tokenizers 0.23.3 (PyPI).
# Seen: "THE" becomes [CLS] the [SEP] as BertTokenizer, THE as PreTrainedTokenizerFast.
# Source: transformers/models/bert/tokenization_bert.py, __init__().
# Ours: core/tokenizers/tokenizer_json.cpp, setBertOptions(): follows the class in the normalizer's options
# (Tokenizers.OfBertTakeTheirNormalizerFromTheConfigurationBeside).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet transformers==5.24.0 tokenizers==0.23.3

HF_HUB_OFFLINE=1 "$folder/python/bin/python" - "$folder" 2>"$folder/warnings" <<'PYTHON'
import json
import pathlib
import sys

import tokenizers
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

model = pathlib.Path(sys.argv[1]) / "model"
model.mkdir()
pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "THE"]
tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
tokenizer.add_special_tokens(pieces[:5])
tokenizer.save(str(model / "tokenizer.json"))
(model / "config.json").write_text(json.dumps({"model_type": "bert"}))
print("transformers", transformers.__version__, "tokenizers", tokenizers.__version__)
seen = {}
for name in ("BertTokenizer", "PreTrainedTokenizerFast"):
    (model / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
    read = transformers.AutoTokenizer.from_pretrained(model)
    seen[name] = read.convert_ids_to_tokens(read("THE")["input_ids"])
    print(name, *seen[name])
assert seen == {"BertTokenizer": ["[CLS]", "the", "[SEP]"], "PreTrainedTokenizerFast": ["THE"]}, "this has changed"
PYTHON
