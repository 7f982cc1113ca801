#!/usr/bin/env bash
# In a tokenizer's pattern \w matches "²", and [\w] does not.
#
# Surprising: one expects brackets around a single class to change nothing, and [^\w] to equal \W. Oniguruma, which the
# package uses, looks up \w, \W and \b for characters below U+0100 in a separate table, in which ² ³ ¹ ¼ ½ ¾ are word
# characters, and bracketed classes in Unicode's tables, in which they are not. So "\w+" and "[\w]+" split "x²" differently,
# and so do "[^\w\s]+" and "\W+". Numbers that are neither decimal digits nor letters, such as ⁴ and ①, are not word
# characters either way.
#
# Version: tokenizers 0.23.3 (PyPI), which holds Oniguruma 6.9.10.
# Seen: "x²" by \w+ is one word, by [\w]+ two; \W does not match "²", [\W] and [^\w] do.
# Source: ONIGENC_IS_UNICODE_ISO_8859_1_CTYPE in Oniguruma's unicode.c (codes below 256), against CR_Word in unicode_property_data.c.
# Ours: core/tokenizers/pattern_syntax.cpp rewrites both classes for PCRE2 accordingly
# (Pattern.ClassesHaveOnigurumasMembers).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet tokenizers==0.23.3

"$folder/python/bin/python" - <<'PYTHON'
import tokenizers
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split


def words(pattern, text):
    return [word for word, _ in Split(Regex(pattern), "isolated").pre_tokenize_str(text)]


def matches(pattern, character):
    return not Split(Regex(pattern), "removed").pre_tokenize_str(character)


print("tokenizers", tokenizers.__version__)
print(r"\w+  ", words(r"\w+", "x²"))
print(r"[\w]+", words(r"[\w]+", "x²"))
found = {pattern: matches(pattern, "²") for pattern in (r"\w", r"[\w]", r"\W", r"[\W]", r"[^\w]")}
print(found)
assert words(r"\w+", "x²") == ["x²"] and words(r"[\w]+", "x²") == ["x", "²"], "this has changed"
assert list(found.values()) == [True, False, False, True, True], "this has changed"
assert not matches(r"\w", "⁴") and not matches(r"\w", "①"), "this has changed"
PYTHON
