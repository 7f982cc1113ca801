"""Writes core/tokenizers/later_characters.inc: ranges of characters added after Unicode 14, which the PCRE2 of current
distributions does not know. Each range has a stand-in that PCRE2 knows, with the same general category, the same script if
possible, and the same length in UTF-8. Run in the repository's root with Python 3.11 (whose unicodedata is version 14) and the
package tokenizers (0.23.3, whose Oniguruma is version 16)."""

import pathlib
import unicodedata

from tokenizers import Regex, pre_tokenizers

CATEGORIES = ["Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cf"]
SCRIPTS = ["Han", "Hiragana", "Katakana", "Latin", "Cyrillic", "Arabic", "Devanagari", "Common"]


def matcher(expression: str):
    split = pre_tokenizers.Split(Regex(expression), "removed")
    return lambda character: not split.pre_tokenize_str(character)


def main() -> None:
    assert unicodedata.unidata_version == "14.0.0"
    categories = {name: matcher(rf"\p{{{name}}}") for name in CATEGORIES}
    scripts = {name: matcher(rf"\p{{{name}}}") for name in SCRIPTS}

    def kind(character):
        category = next((name for name, matches in categories.items() if matches(character)), None)
        return category and (category, next((name for name, matches in scripts.items() if matches(character)), ""), len(character.encode()))

    every = [chr(point) for point in range(0x80, 0x110000) if not 0xD800 <= point < 0xE000]
    # Not punctuation for the pre-tokenizer Punctuation, which uses Unicode 8.
    later, stand_ins = [], {("", "Po", 3): 0x2E43, ("", "Po", 4): 0x10F55, ("", "Pd", 4): 0x10EAD}
    for character in every:
        if unicodedata.category(character) == "Cn":
            if unassigned(character):
                continue
            if found := kind(character):
                later.append((ord(character), found))
        else:
            category, length = unicodedata.category(character), len(character.encode())
            if all((script, category, length) in stand_ins for script in ["", *SCRIPTS]):
                continue
            script = next((name for name, matches in scripts.items() if matches(character)), "")
            stand_ins.setdefault((script, category, length), ord(character))
    ranges = []
    for point, (category, script, length) in later:
        stand_in = next(stand_ins[name, category, length] for name in (script, "", "Common") if (name, category, length) in stand_ins)
        if ranges and ranges[-1][1] == point - 1 and ranges[-1][2] == stand_in:
            ranges[-1][1] = point
        else:
            ranges.append([point, point, stand_in])
    target = pathlib.Path("core/tokenizers/later_characters.inc")
    target.write_text("// Written by tests/parity/later_characters.py: first, last, stand-in.\n" +
                      "".join(f"{{0x{first:X}, 0x{last:X}, 0x{stand_in:X}}},\n" for first, last, stand_in in ranges))


unassigned = matcher(r"\p{Cn}")

if __name__ == "__main__":
    main()
