"""Writes core/tokenizers/scripts.inc: the scripts between which the pre-tokenizer UnicodeScripts of Hugging Face's tokenizers (0.23.3)
splits, numbered from 1 in the order of their first characters. Its table is of Unicode 9; Hiragana and Katakana count as Han. Characters
that belong to none, blanks among them, never split. Run in the repository's root with that package."""

import pathlib

from tokenizers import pre_tokenizers

splits = pre_tokenizers.UnicodeScripts().pre_tokenize_str


def main() -> None:
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
    lines = ["// Written by tests/parity/scripts_of_characters.py: first and last character, script.\n"]
    lines += [f"{{0x{first:X}, 0x{last:X}, {script}}},\n" for first, last, script in ranges]
    pathlib.Path("core/tokenizers/scripts.inc").write_text("".join(lines))


if __name__ == "__main__":
    main()
