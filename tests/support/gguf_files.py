"""Reads GGUF files and writes them again with other entries and tensors, following the format's specification."""

import struct
from pathlib import Path

from programs import LETTERS

ALIGNMENT = 32
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # of metadata values, by type
LETTER_TOKENS = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.tokens": LETTERS,
                 "tokenizer.ggml.merges": []}  # each letter is a token


def text_bytes(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def entry(value):
    """A value preceded by its type."""
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<Ii", 5, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + text_bytes(value)
    made = [entry(one) for one in value]
    kind = made[0][:4] if made else struct.pack("<I", 8)
    return struct.pack("<I", 9) + kind + struct.pack("<Q", len(made)) + b"".join(one[4:] for one in made)


class Gguf:
    """Entries as stored, with their types, and tensors as (dimensions, type, bytes)."""

    def __init__(self, path=None):
        self.entries, self.tensors = {}, {}
        if path:
            self._read(Path(path).read_bytes())

    def _read(self, content):
        self._content, self._at = content, 8
        tensors, entries = self._take("<QQ")
        for _ in range(entries):
            key = self._text()
            begin = self._at
            self._skip(*self._take("<I"))
            self.entries[key] = content[begin : self._at]
        described = []
        for _ in range(tensors):
            name = self._text()
            (count,) = self._take("<I")
            described.append((name, self._take(f"<{count}Q"), *self._take("<IQ")))
        data = (self._at + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        ends = sorted({place for _, _, _, place in described} | {len(content) - data})
        for name, dimensions, kind, place in described:
            end = min(one for one in ends if one > place)
            self.tensors[name] = (dimensions, kind, content[data + place : data + end])

    def _take(self, form):
        values = struct.unpack_from(form, self._content, self._at)
        self._at += struct.calcsize(form)
        return values

    def _text(self):
        (length,) = self._take("<Q")
        self._at += length
        return self._content[self._at - length : self._at].decode()

    def _skip(self, kind):
        if kind == 8:
            self._text()
        elif kind == 9:
            of, count = self._take("<IQ")
            for _ in range(count):
                self._skip(of)
        else:
            self._at += SIZES[kind]

    def set(self, entries):
        for key, value in entries.items():
            self.entries[key] = entry(value)
        return self

    def add_numbers(self, name, numbers):
        self.tensors[name] = ((len(numbers),), 0, struct.pack(f"<{len(numbers)}f", *numbers))
        return self

    def write(self, path):
        header = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.entries))
        for key, value in self.entries.items():
            header += text_bytes(key) + value
        data = b""
        for name, (dimensions, kind, content) in self.tensors.items():
            header += text_bytes(name) + struct.pack(f"<I{len(dimensions)}QIQ", len(dimensions), *dimensions, kind, len(data))
            data += content + b"\0" * (-len(content) % ALIGNMENT)
        Path(path).write_bytes(header + b"\0" * (-len(header) % ALIGNMENT) + data)
        return Path(path)

    def write_parts(self, folder, name, parts):
        """Like llama.cpp's gguf-split: all metadata is in the first part."""
        names = list(self.tensors)
        paths = []
        for part in range(parts):
            one = Gguf()
            one.entries = dict(self.entries) if part == 0 else {"general.architecture": self.entries["general.architecture"]}
            one.set({"split.no": part, "split.count": parts, "split.tensors.count": len(names)})
            one.tensors = {key: self.tensors[key] for key in names[part * len(names) // parts : (part + 1) * len(names) // parts]}
            paths.append(one.write(Path(folder) / f"{name}-{part + 1:05}-of-{parts:05}.gguf"))
        return paths
