"""Random tokenizers and random texts, by the package tokenizers (0.23.3) and by `roper-train tokens`: every id agrees, or the tokenizer is
refused by a name. Run with Python package tokenizers from the repository's root:

    python tests/parity/tokenizer_sweep.py build/release/bin/roper-train [--tokenizers 500] [--texts 20] [--seed 0] [--keep FOLDER]

A tokenizer is put together from all parts that a tokenizer.json with byte pair encoding can have, its vocabulary learned from texts of the same
kind as those that it then reads. Prints a table of outcomes, and each difference with the tokenizer's parts; ends with 1 if there is one."""

import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import tokenizers
from tokenizers import Tokenizer, models, trainers

CORPUS = pathlib.Path(__file__).parents[2] / "resources" / "texts" / "opticks.txt"
LETTERS = [" ", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "a", "b", "e", "foo", "the", "The", "rays", "Light", "word", "words", "_", "-", ".", ",", "!?", "...",
           "'s", "'LL", "don't", "1", "12", "1234567", "3.14", "²", "Ⅷ", "٣", "é", "e\u0301", "Å", "ﬁ", "ẞ", "ß", "ſ", "İ", "ı", "Ω", "日", "日本語", "한", "\u1112\u1161\u11ab",
           "中文", "ไทย", "नमस्ते", "עברית", "عربي", "👩\u200d👧", "🇩🇪", "❤️", "👍🏽", "\u00a0", "\u3000", "\u2028", "\u200b", "\u180e", "\u0085", "\ufeff", "\u00ad", "\x07", "\x7f",
           "▁", "▁▁", "Ġ", "Ċ", "<s>", "</s>", "<unk>", "<0x0A>", "<0xE6>", "<|mark|>", "<mask>", "=", "==", "$", "^", "`", "~", "|", "+", "\\", "/", "«", "»", "“", "、", "。", "½",
           "\U0001d54f", "\U00010400", "\U000e0001", "\u0300", "\u0323", "\u0345", "\ufdfa"]
PATTERNS = [r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            r"\p{N}{1,3}", r"[一-龥぀-ゟ゠-ヿ]+", r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            r"\s+", r"\s", r"\S+", r"\d", r"\d+", r"\w+", r"\W", r"\w+|[^\w\s]+", r"[\r\n]", r"\p{P}", r"\p{Han}+", r"(?=(\d{3})+(?!\d))", r"[^\s]+", r"\b", r"(?<=\s)", r"^\s+", r"\s+$",
            r"\p{L}\p{M}*", r"[A-Z]?[a-z]+", r".", r"(?s:.)", r"[[:alpha:]]+", r"\p{Lu}", r"(?i)the", r"(?:the|The) ?", r" {2,}", r"e\u0301", r"\x{65E5}", r"a|", r"(a)\1", r"\R", r"\X", r"[^\S\n]+"]
FORMS = ["NFC", "NFD", "NFKC", "NFKD"]


class Generator:
    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def one_in(self, count: int) -> bool:
        return self.random.randrange(count) == 0

    def text(self, most: int = 14) -> str:
        draw = self.random
        parts = []
        for _ in range(draw.randrange(most + 1)):
            parts.append(draw.choice(LETTERS) if not self.one_in(12) else chr(draw.choice([draw.randrange(0x20, 0x250), draw.randrange(0x370, 0xD7FF),
                                                                                         draw.randrange(0xE000, 0xFFFD), draw.randrange(0x10000, 0x1FFFF)])))
        return "".join(parts)

    def content(self) -> str:
        return self.random.choice(["", " ", "▁", "a", "_", "ab", "é", "日", "  ", "the"])

    def pattern(self):
        if self.one_in(3):
            return {"String": self.random.choice([" ", "  ", "a", "▁", "the", "\n", "e", "12", "'", "é", "日"])}
        return {"Regex": self.random.choice(PATTERNS)}

    def normalizer(self, depth: int = 0):
        draw = self.random
        kind = draw.choice(["form", "form", "Prepend", "Replace", "Replace", "Lowercase", "Strip", "StripAccents", "llama", "ByteLevel", "Nmt", "Sequence", "Sequence"])
        if kind == "Sequence" and depth < 2:
            return {"type": "Sequence", "normalizers": [self.normalizer(depth + 1) for _ in range(draw.randrange(4))]}
        if kind == "Prepend":
            return {"type": "Prepend", "prepend": draw.choice(["▁", "a", " ", "é", "ab"])}
        if kind == "Replace":
            return {"type": "Replace", "pattern": self.pattern(), "content": self.content()}
        if kind == "Strip":
            return {"type": "Strip", "strip_left": self.one_in(2), "strip_right": self.one_in(2)}
        if kind in ("Lowercase", "StripAccents", "ByteLevel", "Nmt"):
            return {"type": kind} if self.one_in(4) else {"type": draw.choice(FORMS)}
        if kind == "llama":
            return {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}
        return {"type": draw.choice(FORMS)}

    def pre_tokenizer(self, depth: int = 0):
        draw = self.random
        kind = draw.choice(["ByteLevel", "ByteLevel", "Digits", "Punctuation", "Metaspace", "Metaspace", "Split", "Split", "Split", "Sequence", "Sequence", "rare"])
        behavior = draw.choice(["Isolated", "Removed", "Contiguous", "MergedWithPrevious", "MergedWithNext"])
        if kind == "Sequence" and depth < 2:
            return {"type": "Sequence", "pretokenizers": [self.pre_tokenizer(depth + 1) for _ in range(draw.randrange(4))]}
        if kind == "ByteLevel":
            return {"type": "ByteLevel", "add_prefix_space": self.one_in(2), "trim_offsets": self.one_in(2), "use_regex": not self.one_in(3)}
        if kind == "Digits":
            return {"type": "Digits", "individual_digits": self.one_in(2)}
        if kind == "Punctuation":
            return {"type": "Punctuation", "behavior": behavior}
        if kind == "Metaspace":
            return {"type": "Metaspace", "replacement": "▁" if not self.one_in(5) else draw.choice(["_", "Ġ"]),
                    "prepend_scheme": draw.choice(["always", "first", "never"]), "split": not self.one_in(3)}
        if kind == "rare":
            return draw.choice([{"type": "Whitespace"}, {"type": "WhitespaceSplit"}, {"type": "BertPreTokenizer"}, {"type": "UnicodeScripts"},
                                {"type": "CharDelimiterSplit", "delimiter": " "}])
        return {"type": "Split", "pattern": self.pattern(), "behavior": behavior, "invert": self.one_in(4)}

    def post_processor(self, vocabulary):
        draw = self.random
        mark = draw.choice([token for token in vocabulary if len(token) > 1] or list(vocabulary))
        template = {"type": "TemplateProcessing", "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                    "single": draw.choice([[{"SpecialToken": {"id": mark, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                                           [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": mark, "type_id": 0}}],
                                           [{"Sequence": {"id": "A", "type_id": 0}}]]),
                    "special_tokens": {mark: {"id": mark, "ids": [vocabulary[mark]], "tokens": [mark]}}}
        byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": self.one_in(2), "use_regex": True}
        return draw.choice([template, template, byte_level, {"type": "Sequence", "processors": [byte_level, template]}])

    def added(self, vocabulary):
        draw = self.random
        tokens = []
        contents = ["<|mark|>", "<mask>", "foo", "word", "a", " a", "the ", "▁the", "é", "e\u0301", "日本", "12", "<s>", "</s>", "\n\n", "  ", "a b", "Light", "don't", "<unk>", "ß"]
        for content in draw.sample(contents, draw.randrange(5)):
            if self.one_in(10) and vocabulary:
                content = draw.choice(list(vocabulary))
            tokens.append({"id": vocabulary.get(content, len(vocabulary) + len(tokens)), "content": content, "single_word": self.one_in(3), "lstrip": self.one_in(3),
                           "rstrip": self.one_in(3), "normalized": self.one_in(2), "special": self.one_in(2)})
        return tokens

    def tokenizer(self) -> str:
        """A tokenizer.json that the package accepts."""
        draw = self.random
        content = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": self.normalizer() if self.one_in(2) else None,
                   "pre_tokenizer": self.pre_tokenizer() if not self.one_in(5) else None, "post_processor": None, "decoder": None,
                   "model": {"type": "BPE", "vocab": {}, "merges": []}}
        tokenizer = Tokenizer.from_str(json.dumps(content))
        byte_fallback = self.one_in(3)
        special = draw.sample(["<s>", "</s>", "<unk>", "<|mark|>"], draw.randrange(4)) + ([f"<0x{byte:02X}>" for byte in range(256)] if byte_fallback else [])
        is_byte_level = '"ByteLevel"' in json.dumps(content["pre_tokenizer"])
        alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet() if is_byte_level and not self.one_in(4) else []
        trainer = trainers.BpeTrainer(vocab_size=len(special) + draw.randrange(60, 500), special_tokens=special, show_progress=False, initial_alphabet=alphabet,
                                      max_token_length=draw.choice([None, 4, 12]), limit_alphabet=draw.choice([None, 40, 100]))
        lines = draw.sample(CORPUS.read_text().split("\n"), 150) + [self.text() for _ in range(80)]
        tokenizer.train_from_iterator(lines, trainer)
        content = json.loads(tokenizer.to_str())
        model = content["model"]
        model["byte_fallback"] = byte_fallback and not self.one_in(5)
        model["fuse_unk"] = self.one_in(2)
        model["ignore_merges"] = self.one_in(3)
        unknown = [token for token in ("<unk>", "a") if token in model["vocab"]]
        model["unk_token"] = draw.choice(unknown) if unknown and not self.one_in(3) else None
        if self.one_in(30):
            model[draw.choice(["continuing_subword_prefix", "end_of_word_suffix"])] = "</w>"
        content["added_tokens"] = [] if self.one_in(3) else [token for token in content["added_tokens"] if not token["content"].startswith("<0x")]
        known = {token["content"] for token in content["added_tokens"]}
        content["added_tokens"] += [token for token in self.added(model["vocab"]) if token["content"] not in known]
        if self.one_in(3) and model["vocab"]:
            content["post_processor"] = self.post_processor(model["vocab"])
        text = json.dumps(content, ensure_ascii=False)
        Tokenizer.from_str(text)
        return text


def parts_of(content) -> str:
    shown = {key: content[key] for key in ("normalizer", "pre_tokenizer", "added_tokens", "post_processor")}
    shown["model"] = {key: value for key, value in content["model"].items() if key not in ("vocab", "merges")}
    return json.dumps(shown, ensure_ascii=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--tokenizers", type=int, default=500)
    parser.add_argument("--texts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the tokenizers that differ")
    options = parser.parse_args()
    outcomes = collections.Counter()
    refusals = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        at, texts_at = pathlib.Path(folder) / "tokenizer.json", pathlib.Path(folder) / "texts.jsonl"
        made, seed = 0, options.seed * 1_000_000
        while made < options.tokenizers:
            seed += 1
            generator = Generator(seed)
            try:
                content = generator.tokenizer()
            except BaseException as error:  # the package refuses it or panics in Rust
                outcomes["tokenizers that the package refuses"] += 1
                refusals["(package) " + str(error)[:80]] += 1
                continue
            made += 1
            at.write_text(content)
            theirs = Tokenizer.from_str(content)
            texts = [generator.text() for _ in range(options.texts)]
            texts_at.write_text("".join(json.dumps(text) + "\n" for text in texts))
            done = subprocess.run([options.program, "tokens", at, "--texts", texts_at, "--json"], capture_output=True, text=True)
            if not done.stdout:
                outcomes["texts refused with their tokenizer"] += len(texts)
                refusals[done.stderr.strip().replace(str(at), "FILE")[:110]] += 1
                continue
            ours = [json.loads(line) for line in done.stdout.splitlines()]
            assert len(ours) == len(texts), done.stderr
            differs = 0
            for text, answer in zip(texts, ours):
                try:
                    ids = theirs.encode(text).ids
                except BaseException as error:
                    outcomes["texts that the package refuses" + ("" if "error" in answer else ", and not we")] += 1
                    refusals["(package) " + str(error)[:80]] += 1
                    continue
                if "error" in answer:
                    outcomes["texts refused"] += 1
                    refusals[answer["error"].replace(str(at), "FILE")[:110]] += 1
                elif answer["ids"] == ids:
                    outcomes["texts equal"] += 1
                else:
                    outcomes["texts that DIFFER"] += 1
                    differs += 1
                    if differs == 1:
                        print(f"seed {seed}: {json.dumps(text)}\n  theirs {theirs.encode(text).tokens}\n  ours   {answer['tokens']}\n  {ids}\n  {answer['ids']}\n  {parts_of(json.loads(content))}",
                              flush=True)
                        if options.keep:
                            options.keep.mkdir(parents=True, exist_ok=True)
                            (options.keep / f"{seed}.json").write_text(content)
            outcomes["tokenizers that differ" if differs else "tokenizers equal"] += 1
    for what, count in sorted(outcomes.items()):
        print(f"{count:7} {what}")
    for what, count in refusals.most_common():
        print(f"{count:7} {what}")
    return 1 if outcomes["texts that DIFFER"] else 0


if __name__ == "__main__":
    sys.exit(main())
