#!/usr/bin/env bash
# Behind a TemplateProcessing, BertProcessing puts [CLS] and [SEP] around the template's tokens instead of the text.
#
# Surprising: in a Sequence of post-processors one expects the second to surround what the first made. A template passes on
# each of its special tokens and the text separately, and the next post-processor takes these parts for several texts. In
# the other order, both surround the text.
#
# Version: tokenizers 0.23.3 (PyPI).
# Seen: [CLS] <s> [SEP] a b [SEP] rather than [CLS] <s> a b [SEP].
# Source: tokenizers/src/processors/template.rs, process_encodings() returns the parts without joining them.
# Ours: core/tokenizers/json_parts.cpp, addPostProcessor(): refused (Tokenizers.WhatIsNotUnderstoodIsNamed).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet tokenizers==0.23.3

"$folder/python/bin/python" - <<'PYTHON'
import tokenizers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

print("tokenizers", tokenizers.__version__)
tokenizer = Tokenizer(models.WordLevel({"[CLS]": 0, "[SEP]": 1, "a": 2, "b": 3, "<s>": 4}, unk_token="a"))
tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
template = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 4)])
bert = processors.BertProcessing(("[SEP]", 1), ("[CLS]", 0))


def tokens(*steps):
    tokenizer.post_processor = processors.Sequence(list(steps))
    return tokenizer.encode("a b").tokens


print("BertProcessing, TemplateProcessing:", *tokens(bert, template))
print("TemplateProcessing, BertProcessing:", *tokens(template, bert))
assert tokens(bert, template) == ["<s>", "[CLS]", "a", "b", "[SEP]"], "this has changed"
assert tokens(template, bert) == ["[CLS]", "<s>", "[SEP]", "a", "b", "[SEP]"], "this has changed"
PYTHON
