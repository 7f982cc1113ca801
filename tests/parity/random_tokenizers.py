"""Random tokenizers of every kind of model and all parts of a tokenizer.json, and texts that are hard on them, by the package tokenizers
(0.23.3)."""

import base64
import json
import pathlib
import random
import struct

from tokenizers import Tokenizer, models, trainers

CORPUS = pathlib.Path(__file__).parents[2] / "resources" / "texts" / "opticks.txt"

# Runs of blanks, marks, directions, joined emoji, line ends, zeros, bytes, digits, scripts, long words, controls, tokens' own texts.
HOSTILE_TEXTS = [
    "", " ", "   a" + " " * 40 + "b \t  c   ", "e\u0301e\u0323\u0301 a\u0345\u0300\u0301\u0302\u0303 \u0f73\u0f71 \u1112\u1161\u11ab \u212b \u1e9b\u0323",
    "עברית (עִבְרִית) abc عَرَبِيّ \u202eabc\u202c \u200fx", "👩\u200d👩\u200d👧\u200d👦 🇩🇪🇫🇷 ❤️ 👍🏽 🫠 x\u200dy", "a\rb\r\rc\r\nd\n\re\x0bf\x0cg\x85h\u2028i\u2029j",
    "a\x00b\x00\x00 \x00", "\ufffd \ufffd\ufffda \xff \xc3\x28 \u00a0\u1680\u180e\u2000\u200b\u202f\u205f\u3000\ufeffx", "0 12 345 6789 1234567890 3.14159 ٣٤٥ ²³ Ⅷ ½ १२३ 𝟘𝟙",
    "日本語のテキスト 中文字符 한국어 ー々〆 豈 𠀀𪜀𫝀𫠠", "Abc абв αβγ אבג 日本 ไทย नमस्ते ქართული ሰላም Ꭰ ᚠ 𐐀𐐨",
    "supercalifragilisticexpialidocious" * 4 + " " + "x" * 130 + " pneumonoultramicroscopicsilicovolcanoconiosis", "\x01\x07\x08\x1b[31m\x7f\x80\x9f\u00ad\u2060\ufff9\U000e0001\U0010ffff\ue000",
    "[CLS] text [SEP]<s>of tokens</s> <unk><|mark|>[MASK] [UNK]x##ing <0x0A> ▁ Ġ</w>", "don't WE'LL it's 'S I'M they've do not n't , . ! ? ' x",
    "MiXeD CaSe ẞß ſ İıIi ΑΣ Σ ΌΣΟΣ Ǆǅǆ ﬁﬂ ᾈ Ⓐ Å K", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ «a» “b” ‘c’ „d“ …—–‐ ¡¿ 、。！？（） ⹃ ᙭ €£¥ ±×÷ ©®",
    "ﷺ ﬃ ㎏ ㌔ ｆｕｌｌ　ｗｉｄｔｈ ｶﾞ ① ⒜ ™ ℡ ª º ¼ \u0132 ǆ", "  \n\n  \t\tif x_1 == 3.14:  # π ≈ 22/7\n\t\treturn {}\n\n\n",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab abababababababab thethethe the the", "The Rays of Light, whether they be very small Bodies projected, or only Motion",
]
LETTERS = [" ", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\r", "\t", "a", "b", "e", "foo", "the", "The", "rays", "Light", "word", "words", "_", "-", ".", ",", "!?", "...",
           "'s", "'LL", "don't", "1", "12", "1234567", "3.14", "²", "Ⅷ", "٣", "é", "e\u0301", "Å", "ﬁ", "ẞ", "ß", "ſ", "İ", "ı", "Ω", "日", "日本語", "한", "\u1112\u1161\u11ab",
           "中文", "ไทย", "नमस्ते", "עברית", "عربي", "👩\u200d👧", "🇩🇪", "❤️", "👍🏽", "\u00a0", "\u3000", "\u2028", "\u200b", "\u200d", "\u180e", "\u0085", "\ufeff", "\u00ad", "\x07", "\x7f",
           "\x00", "\ufffd", "▁", "▁▁", "Ġ", "Ċ", "<s>", "</s>", "<unk>", "[CLS]", "[UNK]", "##", "<0x0A>", "<0xE6>", "<|mark|>", "<mask>", "=", "==", "$", "^", "`", "~", "|", "+", "\\", "/",
           "«", "»", "“", "、", "。", "½", "\U0001d54f", "\U00010400", "\U000e0001", "\u0300", "\u0323", "\u0345", "\ufdfa", "\u0903", "\u1734", "\u1cf2", "\u0488", "ｶﾞ", "①"]
PATTERNS = [r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            r"\p{N}{1,3}", r"\s+", r"\S+", r"\d+", r"\w+|[^\w\s]+", r"[\r\n]", r"\p{P}", r"(?=(\d{3})+(?!\d))", r" {2,}", r"^\s+", r"\s+$"]
BEHAVIORS = ["Isolated", "Removed", "Contiguous", "MergedWithPrevious", "MergedWithNext"]
FORMS = ["NFC", "NFD", "NFKC", "NFKD"]


def charsmap(rules: dict[str, str]) -> str:
    """The rules as SentencePiece compiles them: a double array of Darts-clone and the replacements, in base64."""
    replacements, values = bytearray(), {}
    for source, target in sorted(rules.items(), key=lambda rule: rule[0].encode()):
        values[source.encode()] = len(replacements)
        replacements += target.encode() + b"\0"
    units, used = [0] * 256, {0}
    # Each node's children are placed at an offset where all of their places are free.
    def place(node: int, prefix: bytes) -> None:
        labels = sorted({key[len(prefix)] for key in values if key.startswith(prefix) and len(key) > len(prefix)})
        all_labels = ([0] if prefix in values else []) + labels
        offset = 1
        while any(offset ^ label in used for label in all_labels) or (node ^ offset) >= 1 << 21 or (offset ^ node) == 0:
            offset += 1
        need = (offset | 0xFF) + 1
        if need > len(units):
            units.extend([0] * (need - len(units)))
        relative = node ^ offset
        units[node] |= relative << 10
        used.update(offset ^ label for label in all_labels)
        if prefix in values:
            units[node] |= 1 << 8
            units[offset] = values[prefix] | 1 << 31
        for label in labels:
            units[offset ^ label] = label
        for label in labels:
            place(offset ^ label, prefix + bytes([label]))
    place(0, b"")
    trie = struct.pack(f"<{len(units)}I", *units)
    return base64.b64encode(struct.pack("<I", len(trie)) + trie + bytes(replacements)).decode()


RULES = {"\t": " ", "\n": " ", "\r": " ", "\r\n": "  ", "\u00a0": " ", "\u3000": " ", "ﬁ": "fi", "①": "1", "ﷺ": "صلى", "e\u0301": "é", "é": "é", "Å": "Å", "A\u030a": "Å", "\u00ad": "",
         "\u200b": " ", "ｶﾞ": "ガ", "ｶ": "カ", "²": "2", "½": "1⁄2", "ß": "ss", "☃": "<snow>", "a\u0300": "à", "👍": "yes", "🇩🇪": "DE"}


class Generator:
    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def one_in(self, count: int) -> bool:
        return self.random.randrange(count) == 0

    def text(self, most: int = 14) -> str:
        draw = self.random
        return "".join(draw.choice(LETTERS) if not self.one_in(12) else
                       chr(draw.choice([draw.randrange(0x20, 0x250), draw.randrange(0x370, 0xD7FF), draw.randrange(0xE000, 0xFFFD), draw.randrange(0x10000, 0x1FFFF)]))
                       for _ in range(draw.randrange(most + 1)))

    def pattern(self):
        if self.one_in(3):
            return {"String": self.random.choice([" ", "  ", "a", "▁", "the", "\n", "e", "12", "'", "é", "日"])}
        return {"Regex": self.random.choice(PATTERNS)}

    def normalizer(self, depth: int = 0):
        draw = self.random
        kind = draw.choice(["form", "form", "Prepend", "Replace", "Lowercase", "Strip", "StripAccents", "llama", "ByteLevel", "Nmt", "Precompiled", "BertNormalizer", "Sequence", "Sequence", "Sequence"])
        if kind == "Sequence" and depth < 2:
            return {"type": "Sequence", "normalizers": [self.normalizer(depth + 1) for _ in range(draw.randrange(4))]}
        if kind == "Prepend":
            return {"type": "Prepend", "prepend": draw.choice(["▁", "a", " ", "é", "ab"])}
        if kind == "Replace":
            return {"type": "Replace", "pattern": self.pattern(), "content": draw.choice(["", " ", "▁", "a", "_", "ab", "é", "日", "  ", "the"])}
        if kind == "Strip":
            return {"type": "Strip", "strip_left": self.one_in(2), "strip_right": self.one_in(2)}
        if kind in ("Lowercase", "StripAccents", "Nmt") or kind == "ByteLevel" and self.one_in(3):
            return {"type": kind}
        if kind == "Precompiled":
            rules = dict(draw.sample(sorted(RULES.items()), draw.randrange(1, len(RULES))))
            return {"type": "Precompiled", "precompiled_charsmap": charsmap(rules)}
        if kind == "BertNormalizer":
            return {"type": "BertNormalizer", "clean_text": self.one_in(2), "handle_chinese_chars": self.one_in(2), "strip_accents": draw.choice([None, True, False]), "lowercase": self.one_in(2)}
        if kind == "llama":
            return {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}
        return {"type": draw.choice(FORMS)}

    def metaspace(self):
        return {"type": "Metaspace", "replacement": "▁" if not self.one_in(5) else self.random.choice(["_", "Ġ"]), "prepend_scheme": self.random.choice(["always", "first", "never"]),
                "split": not self.one_in(3)}

    def pre_tokenizer(self, depth: int = 0):
        draw = self.random
        kind = draw.choice(["ByteLevel", "ByteLevel", "Digits", "Punctuation", "Metaspace", "Metaspace", "Split", "Split", "Sequence", "Sequence", "BertPreTokenizer", "Whitespace",
                            "WhitespaceSplit", "CharDelimiterSplit", "FixedLength", "UnicodeScripts"])
        if kind == "Sequence" and depth < 2:
            return {"type": "Sequence", "pretokenizers": [self.pre_tokenizer(depth + 1) for _ in range(draw.randrange(4))]}
        if kind == "ByteLevel":
            return {"type": "ByteLevel", "add_prefix_space": self.one_in(2), "trim_offsets": self.one_in(2), "use_regex": not self.one_in(3)}
        if kind == "Digits":
            return {"type": "Digits", "individual_digits": self.one_in(2)}
        if kind == "Punctuation":
            return {"type": "Punctuation", "behavior": draw.choice(BEHAVIORS)}
        if kind == "Metaspace":
            return self.metaspace()
        if kind == "CharDelimiterSplit":
            return {"type": kind, "delimiter": draw.choice([" ", "e", "日", "▁", ","])}
        if kind == "FixedLength":
            return {"type": kind, "length": draw.randrange(1, 7)}
        if kind in ("Split", "Sequence"):
            return {"type": "Split", "pattern": self.pattern(), "behavior": draw.choice(BEHAVIORS), "invert": self.one_in(4)}
        return {"type": kind}

    def decoder(self, depth: int = 0):
        draw = self.random
        kind = draw.choice(["ByteLevel", "WordPiece", "Metaspace", "ByteFallback", "Fuse", "Strip", "BPEDecoder", "CTC", "Replace", "llama", "Sequence", "Sequence"])
        if kind == "Sequence" and depth < 2:
            return {"type": "Sequence", "decoders": [self.decoder(depth + 1) for _ in range(draw.randrange(4))]}
        if kind == "WordPiece":
            return {"type": kind, "prefix": draw.choice(["##", "##", "a", "▁"]), "cleanup": self.one_in(2)}
        if kind == "Metaspace":
            return self.metaspace()
        if kind == "Strip":
            return {"type": kind, "content": draw.choice([" ", "▁", "a"]), "start": draw.randrange(3), "stop": 0}
        if kind == "BPEDecoder":
            return {"type": kind, "suffix": draw.choice(["</w>", "e"])}
        if kind == "CTC":
            return {"type": kind, "pad_token": draw.choice(["<pad>", "a"]), "word_delimiter_token": draw.choice(["|", "▁"]), "cleanup": self.one_in(2)}
        if kind == "Replace":
            return {"type": kind, "pattern": self.pattern(), "content": draw.choice(["", " ", "a"])}
        if kind == "llama":
            return {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
                                                     {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
        return {"type": "Fuse"} if kind == "Sequence" else {"type": kind, "add_prefix_space": True, "trim_offsets": True, "use_regex": True} if kind == "ByteLevel" else {"type": kind}

    def post_processor(self, vocabulary):
        draw = self.random
        marks = draw.sample(sorted(vocabulary), 2)
        a, b = {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}
        first, second = ({"SpecialToken": {"id": mark, "type_id": 0}} for mark in marks)
        template = {"type": "TemplateProcessing", "pair": [a, b], "single": draw.choice([[first, a], [a, second], [a], [first, a, second], [first, first, a, second]]),
                    "special_tokens": {mark: {"id": mark, "ids": [vocabulary[mark]], "tokens": [mark]} for mark in marks}}
        byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": self.one_in(2), "use_regex": True}
        sep, cls = ([mark, vocabulary[mark]] for mark in marks)
        bert = {"type": "BertProcessing", "sep": sep, "cls": cls}
        roberta = {"type": "RobertaProcessing", "sep": sep, "cls": cls, "trim_offsets": True, "add_prefix_space": True}
        return draw.choice([template, template, byte_level, bert, roberta, {"type": "Sequence", "processors": [byte_level, template]}, {"type": "Sequence", "processors": [template, bert]}])

    def added(self, vocabulary):
        draw = self.random
        contents = ["<|mark|>", "<mask>", "[MASK]", "foo", "word", "a", " a", "the ", "▁the", "é", "e\u0301", "日本", "12", "<s>", "</s>", "\n\n", "  ", "a b", "Light", "don't", "<unk>", "ß", "Ġthe"]
        tokens = []
        for content in draw.sample(contents, draw.randrange(5)):
            if self.one_in(10) and vocabulary:
                content = draw.choice(sorted(vocabulary))
            tokens.append({"id": vocabulary.get(content, len(vocabulary) + len(tokens)), "content": content, "single_word": self.one_in(3), "lstrip": self.one_in(3),
                           "rstrip": self.one_in(3), "normalized": self.one_in(2), "special": self.one_in(2)})
        return tokens

    def bytes_too(self) -> list[str]:
        return [f"<0x{byte:02X}>" for byte in range(256)] if self.one_in(2) else []

    def trained(self, kind: str, content, size: int, lines: int) -> dict:
        """The model's member, its vocabulary learned with the other parts."""
        draw = self.random
        special = draw.sample(["<s>", "</s>", "<|mark|>"], draw.randrange(4))
        model, bytes_too = models.BPE(), self.bytes_too() if kind in ("BPE", "Unigram") else []
        prefix = draw.choice(["##", "##", "", "▁", "_"])
        sized = {"vocab_size": len(special) + len(bytes_too) + size, "show_progress": False}
        if kind == "WordPiece":
            model, special = models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=draw.choice([100, 100, 8, 1]), continuing_subword_prefix=prefix), ["[UNK]", *special]
            trainer = trainers.WordPieceTrainer(special_tokens=special, continuing_subword_prefix=prefix, **sized)
        elif kind == "WordLevel":
            model, special = models.WordLevel(unk_token="<unk>"), ["<unk>", *special]
            trainer = trainers.WordLevelTrainer(special_tokens=special, **sized)
        elif kind == "Unigram":
            model = models.Unigram()
            trainer = trainers.UnigramTrainer(special_tokens=["<unk>", *special], unk_token="<unk>", max_piece_length=draw.choice([16, 4]), **sized)
        else:
            special = [*special, *(["<unk>"] if self.one_in(2) else []), *bytes_too]
            suffix = draw.choice(["", "", "", "</w>", "_"])
            prefix = draw.choice(["", "", "", "##", "_"])
            if prefix:  # trainers join such pieces with the prefix left out
                model = models.BPE(continuing_subword_prefix=prefix, **({"end_of_word_suffix": suffix} if suffix else {}))
            elif suffix:
                model = models.BPE(end_of_word_suffix=suffix)
            trainer = trainers.BpeTrainer(special_tokens=special, max_token_length=draw.choice([None, 4, 12]), limit_alphabet=draw.choice([40, 100]),
                                          **({"continuing_subword_prefix": prefix} if prefix else {}), **({"end_of_word_suffix": suffix} if suffix else {}), **sized)
        whole = dict(content, model={"type": "BPE", "vocab": {}, "merges": []})
        tokenizer = Tokenizer.from_str(json.dumps(whole))
        tokenizer.model = model
        learned_from = draw.sample(CORPUS.read_text().split("\n"), lines) + [self.text() for _ in range(lines // 2)] + HOSTILE_TEXTS[:draw.choice([0, 12])]
        tokenizer.train_from_iterator(learned_from, trainer)
        trained = json.loads(tokenizer.to_str())["model"]
        if kind == "BPE":
            trained["byte_fallback"], trained["fuse_unk"], trained["ignore_merges"] = bool(bytes_too), self.one_in(2), self.one_in(3)
            trained["unk_token"] = "<unk>" if "<unk>" in trained["vocab"] and not self.one_in(4) else None
        if kind == "Unigram":
            trained["vocab"] = [[piece, round(score, draw.choice([0, 1, 3])) if self.one_in(2) else score] for piece, score in trained["vocab"]] if self.one_in(2) else trained["vocab"]
            trained["vocab"] += [[piece, draw.choice([0.0, -3.0])] for piece in bytes_too if piece not in dict(trained["vocab"])]
            trained["byte_fallback"] = bool(bytes_too)
            trained["unk_id"] = trained["unk_id"] if not self.one_in(8) else draw.randrange(len(trained["vocab"]))
        return trained

    def tokenizer(self, kind: str | None = None, size: int = 400, lines: int = 150) -> str:
        """A tokenizer.json that the package accepts. @raise Exception for parts that it refuses"""
        draw = self.random
        kind = kind or draw.choice(["BPE", "WordPiece", "WordLevel", "Unigram"])
        content = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": self.normalizer() if not self.one_in(3) else None,
                   "pre_tokenizer": self.pre_tokenizer() if not self.one_in(6) else None, "post_processor": None, "decoder": self.decoder() if not self.one_in(3) else None}
        content["model"] = self.trained(kind, content, draw.randrange(60, size), lines)
        vocabulary = content["model"]["vocab"]
        ids = vocabulary if isinstance(vocabulary, dict) else {piece: id for id, (piece, _) in enumerate(vocabulary)}
        content["added_tokens"] = self.added(ids) if not self.one_in(3) else []
        if self.one_in(2):
            content["post_processor"] = self.post_processor(ids)
        text = json.dumps(content, ensure_ascii=False)
        Tokenizer.from_str(text)
        return text


def parts_of(content) -> str:
    shown = {key: content[key] for key in ("normalizer", "pre_tokenizer", "added_tokens", "post_processor", "decoder")}
    shown["model"] = {key: value for key, value in content["model"].items() if key not in ("vocab", "merges")}
    return json.dumps(shown, ensure_ascii=False)
