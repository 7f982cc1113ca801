"""Writes core/tokenizers/older_characters.inc: ranges of characters that utf8proc (2.8, Unicode 15) puts into a category, decomposes or
sorts among marks, and that normalizers of Hugging Face's tokenizers do not, because their tables are older. Run in the repository's root with libutf8proc.so.2 and
the package tokenizers (0.23.3)."""

import ctypes
import pathlib

from tokenizers import normalizers

EVERY = [chr(point) for point in range(0x80, 0x110000) if not 0xD800 <= point < 0xE000]


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


def main() -> None:
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
    lines = ["// Written by tests/parity/older_characters.py: first and last character of each range.\n"]
    for name, is_later in later.items():
        ranges = []
        for character in filter(is_later, EVERY):
            if ranges and ranges[-1][1] == ord(character) - 1:
                ranges[-1][1] += 1
            else:
                ranges.append([ord(character), ord(character)])
        lines += [f"#ifdef ROPER_LATER_{name}\n", *(f"{{0x{first:X}, 0x{last:X}}},\n" for first, last in ranges), "#endif\n"]
    pathlib.Path("core/tokenizers/older_characters.inc").write_text("".join(lines))


if __name__ == "__main__":
    main()
