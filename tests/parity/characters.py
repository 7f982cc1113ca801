"""Writes the tables of characters in core/tokenizers, all three or those named: characters.py [later|older|scripts]. Run in the
repository's root with Python 3.11 (whose unicodedata is version 14), libutf8proc.so.2 (2.8, Unicode 15) and the package tokenizers
(0.23.3, whose Oniguruma is version 16).

later_characters.inc: ranges of characters added after Unicode 14, which the PCRE2 of current distributions does not know. Each
range has a stand-in that PCRE2 knows, with the same general category, the same script if possible, and the same length in UTF-8.

older_characters.inc: ranges of characters that utf8proc puts into a category, decomposes or sorts among marks, and that normalizers
of tokenizers do not, because their tables are older.

scripts.inc: the scripts between which the pre-tokenizer UnicodeScripts splits, numbered from 1 in the order of their first
characters. Its table is of Unicode 9; Hiragana and Katakana count as Han. Characters that belong to none, blanks among them, never
split."""

import ctypes
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


library = ctypes.CDLL("libutf8proc.so.2")
library.utf8proc_unicode_version.restype = library.utf8proc_category_string.restype = ctypes.c_char_p
library.utf8proc_map.restype = ctypes.c_ssize_t
STABLE, COMPAT, COMPOSE, DECOMPOSE = 1 << 1, 1 << 2, 1 << 3, 1 << 4


def normalized(text: str, options: int) -> str:
    made = ctypes.c_void_p()
    length = library.utf8proc_map(text.encode(), len(text.encode()), ctypes.byref(made), STABLE | options)
    return ctypes.string_at(made, length).decode()


def is_normalized_later(character: str) -> bool:
    cases = [(normalizers.NFKC(), COMPAT | COMPOSE, character), (normalizers.NFKD(), COMPAT | DECOMPOSE, character),
             (normalizers.NFD(), DECOMPOSE, f"a\u0345{character}"), (normalizers.NFD(), DECOMPOSE, f"a{character}\u0334")]
    return any(normalizer.normalize_str(text) != normalized(text, options) for normalizer, options, text in cases)


def bert(**options):
    return normalizers.BertNormalizer(**{"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False, **options})


def older() -> None:
    assert library.utf8proc_unicode_version() == b"15.0.0"
    category = {character: library.utf8proc_category_string(ord(character)).decode() for character in EVERY}
    decomposed = normalizers.NFD()

    def is_kept(categories, normalizer):
        return lambda character: category[character] in categories and decomposed.normalize_str(character) == normalizer.normalize_str(character) == character

    later = {
        "OTHER": is_kept({"Cc", "Cf", "Co"}, bert(clean_text=True)),
        "NONSPACING": is_kept({"Mn"}, bert(strip_accents=True)),
        "COMBINING": is_kept({"Mn", "Mc", "Me"}, normalizers.StripAccents()),
        "NORMALIZED": is_normalized_later,
    }
    lines = [WRITTEN + "first and last character of each range.\n"]
    for name, is_later in later.items():
        ranges = []
        for character in filter(is_later, EVERY):
            if ranges and ranges[-1][1] == ord(character) - 1:
                ranges[-1][1] += 1
            else:
                ranges.append([ord(character), ord(character)])
        lines += [f"#ifdef ROPER_LATER_{name}\n", *(f"{{0x{first:X}, 0x{last:X}}},\n" for first, last in ranges), "#endif\n"]
    (FOLDER / "older_characters.inc").write_text("".join(lines))


def scripts() -> None:
    splits = pre_tokenizers.UnicodeScripts().pre_tokenize_str
    examples, ranges = [], []  # of each script; [first, last, script]
    for point in (*range(0xD800), *range(0xE000, 0x110000)):
        character = chr(point)
        if not splits(character):
            continue
        likely = [ranges[-1][2]] if ranges else []
        script = next((script for script in (*likely, *range(1, len(examples) + 1)) if len(splits(examples[script - 1] + character)) == 1), None)
        if script is None:
            examples.append(character)
            script = len(examples)
        if ranges and ranges[-1][1] == point - 1 and ranges[-1][2] == script:
            ranges[-1][1] = point
        else:
            ranges.append([point, point, script])
    lines = [WRITTEN + "first and last character, script.\n"]
    lines += [f"{{0x{first:X}, 0x{last:X}, {script}}},\n" for first, last, script in ranges]
    (FOLDER / "scripts.inc").write_text("".join(lines))


if __name__ == "__main__":
    for table in sys.argv[1:] or ("later", "older", "scripts"):
        {"later": later, "older": older, "scripts": scripts}[table]()
