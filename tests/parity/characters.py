"""What Hugging Face's tokenizers know of characters: characters.py [later|digests]. Run in the repository's root with Python 3.11
(whose unicodedata is version 14) and the package tokenizers (0.23.3, whose Oniguruma is version 16).

later: writes core/tokenizers/later_characters.inc, ranges of characters added after Unicode 14, which the PCRE2 of current
distributions does not know. Each range has a stand-in that PCRE2 knows, with the same general category, the same script if possible,
and the same length in UTF-8.

digests: prints the digests of tests/core/tokenizers/text_preparation_test.cpp: which characters normalizers remove, the scripts
between which the pre-tokenizer UnicodeScripts splits, normal forms and lower case."""

import pathlib
import sys
import unicodedata

from tokenizers import Regex, normalizers, pre_tokenizers

FOLDER = pathlib.Path("core/tokenizers")
WRITTEN = "// Written by tests/parity/characters.py: "
EVERY = [chr(point) for point in range(0x80, 0x110000) if not 0xD800 <= point < 0xE000]
CATEGORIES = ["Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cf"]
SCRIPTS = ["Han", "Hiragana", "Katakana", "Latin", "Cyrillic", "Arabic", "Devanagari", "Common"]


def matcher(expression: str):
    split = pre_tokenizers.Split(Regex(expression), "removed")
    return lambda character: not split.pre_tokenize_str(character)


unassigned = matcher(r"\p{Cn}")


def later() -> None:
    assert unicodedata.unidata_version == "14.0.0"
    categories = {name: matcher(rf"\p{{{name}}}") for name in CATEGORIES}
    scripts = {name: matcher(rf"\p{{{name}}}") for name in SCRIPTS}

    def kind(character):
        category = next((name for name, matches in categories.items() if matches(character)), None)
        return category and (category, next((name for name, matches in scripts.items() if matches(character)), ""), len(character.encode()))

    # Not punctuation for the pre-tokenizer Punctuation, which uses Unicode 8.
    added, stand_ins = [], {("", "Po", 3): 0x2E43, ("", "Po", 4): 0x10F55, ("", "Pd", 4): 0x10EAD}
    for character in EVERY:
        if unicodedata.category(character) == "Cn":
            if unassigned(character):
                continue
            if found := kind(character):
                added.append((ord(character), found))
        else:
            category, length = unicodedata.category(character), len(character.encode())
            if all((script, category, length) in stand_ins for script in ["", *SCRIPTS]):
                continue
            script = next((name for name, matches in scripts.items() if matches(character)), "")
            stand_ins.setdefault((script, category, length), ord(character))
    ranges = []
    for point, (category, script, length) in added:
        stand_in = next(stand_ins[name, category, length] for name in (script, "", "Common") if (name, category, length) in stand_ins)
        if ranges and ranges[-1][1] == point - 1 and ranges[-1][2] == stand_in:
            ranges[-1][1] = point
        else:
            ranges.append([point, point, stand_in])
    (FOLDER / "later_characters.inc").write_text(
        WRITTEN + "first, last, stand-in.\n" + "".join(f"{{0x{first:X}, 0x{last:X}, 0x{stand_in:X}}},\n" for first, last, stand_in in ranges))


def digest(numbers) -> str:
    """FNV-1a of bytes."""
    value = 0xCBF29CE484222325
    for number in numbers:
        value = (value ^ number) * 0x100000001B3 % 2**64
    return f"{value:#x}"


def bert(**options):
    return normalizers.BertNormalizer(**{"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False, **options})


def digests() -> None:
    removers = [bert(clean_text=True), bert(strip_accents=True), normalizers.StripAccents()]
    print("categories", digest(sum((not remover.normalize_str(character)) << bit for bit, remover in enumerate(removers)) for character in EVERY if ord(character) >= 0xA0))
    print("scripts", digest(scripts()))
    forms = [normalizers.NFC(), normalizers.NFD(), normalizers.NFKC(), normalizers.NFKD()]
    texts = [f"a\u0345{character}\u0334" for character in EVERY if ord(character) < 0x20000]
    print("forms", digest(byte for text in texts for form in forms for byte in form.normalize_str(text).encode()))
    print("lower case", digest(byte for character in EVERY for byte in normalizers.Lowercase().normalize_str(character).encode()))
    print("NFKD", digest(byte for character in EVERY for byte in normalizers.NFKD().normalize_str(character).encode()))


def scripts():
    """The number of each character's script, in the order of their first characters; 0 for characters that never split."""
    splits = pre_tokenizers.UnicodeScripts().pre_tokenize_str
    examples, last = [], None
    for character in map(chr, (*range(0x80), *map(ord, EVERY))):
        if not splits(character):
            yield 0
            continue
        likely = [last] if last else []
        last = next((script for script in (*likely, *range(1, len(examples) + 1)) if len(splits(examples[script - 1] + character)) == 1), None)
        if last is None:
            examples.append(character)
            last = len(examples)
        yield last


if __name__ == "__main__":
    for name in sys.argv[1:] or ("later", "digests"):
        {"later": later, "digests": digests}[name]()
