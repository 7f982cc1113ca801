"""Writes pretrained/tokenizers.json: small tokenizers of every supported kind, texts, and the ids that the package tokenizers
assigns. Run in the repository's root with Python package tokenizers (0.23.3)."""

import json
import pathlib

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
CORPUS = HERE.parents[1] / "resources" / "texts" / "opticks.txt"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
          r"\s+(?!\S)|\s+")
TEXTS = [
    "", " ", "The capital of France is", "  two  blanks ", "\n", "\n\n\r\n\t x\n", "it's WE'LL don't 'S", "for (int i = 0; i < 1234567; ++i) {",
    "\t\tif x_1 == 3.14159:  # π ≈ 22/7", "e\u0301 é ﬁ Å ½ ² Ⅷ ٣", "日本語のテキスト と 한국어 및 中文", "👩\u200d👩\u200d👧\u200d👦 🇩🇪 ❤️ 👍🏽 🫠", "a\u00a0b\u3000c\u2028d\u180ee\u0085f\u200bg",
    "<|mark|> in the middle<|mark|><|mark|>", "the<left> <left>word left", "a  <both>  b<both>\n", "▁ Ġ <0x0A> <unk>", "עברית عربي ไทย नमस्ते",
    "The Rays of Light, whether they be very small Bodies projected", "\x07\ufeff\U0010ffff", "   leading", "trailing   ", "MiXeD CaSe ẞß ſ İ",
    "a² ½b _c‍d Ⓐⅷ नमस्ते", "日。x、々〆 ー🫨᭎𮯰 ⹃!", "foo a foo b, a_foo xfoo éfoo 👍🏽foo", "x     word  <blanks>      y<blanks>  ",
]


def trained(normalizer=None, pre_tokenizer=None, post_processor=None, size=420, special=("<unk>", "<s>"), bytes_as_pieces=False,
            byte_level=False, **model) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(byte_fallback=bytes_as_pieces, **model))
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    pieces = list(special) + ([f"<0x{byte:02X}>" for byte in range(256)] if bytes_as_pieces else [])
    alphabet = pre_tokenizers.ByteLevel.alphabet() if byte_level else []
    trainer = trainers.BpeTrainer(vocab_size=size + (256 if bytes_as_pieces else 0), special_tokens=pieces, show_progress=False,
                                  initial_alphabet=alphabet, max_token_length=12)
    tokenizer.train_from_iterator(CORPUS.read_text().split("\n")[200:900], trainer)
    if bytes_as_pieces:  # these are pieces of the vocabulary, not tokens to search for in a text
        content = json.loads(tokenizer.to_str())
        content["added_tokens"] = [token for token in content["added_tokens"] if token["content"] in special]
        tokenizer = Tokenizer.from_str(json.dumps(content))
    if post_processor:
        tokenizer.post_processor = post_processor
    return tokenizer


def byte_level(*before, add_prefix_space=False, use_regex=True):
    last = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space, use_regex=use_regex)
    return pre_tokenizers.Sequence([*before, last]) if before else last


def with_tokens(tokenizer: Tokenizer) -> Tokenizer:
    tokenizer.add_special_tokens(["<|mark|>"])
    tokenizer.add_tokens([AddedToken("<left>", lstrip=True), AddedToken("<both>", lstrip=True, rstrip=True, normalized=False),
                          AddedToken("word", single_word=True)])
    return tokenizer


def normalized_tokens(tokenizer: Tokenizer) -> Tokenizer:
    """Removes some bytes, so that unknown characters occur next to known bytes."""
    content = json.loads(tokenizer.to_str())
    for piece in ("<0xE2>", "<0xF0>"):
        content["model"]["vocab"][f"({piece})"] = content["model"]["vocab"].pop(piece)
    tokenizer = Tokenizer.from_str(json.dumps(content))
    tokenizer.add_tokens(["foo", AddedToken("é", single_word=True), AddedToken("<blanks>", rstrip=True, normalized=False), AddedToken("  ", normalized=False)])
    return tokenizer


def split(pattern, behavior, invert=False):
    return pre_tokenizers.Split(pattern, behavior, invert)


def main() -> None:
    begin = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    tokenizers = {
        "GPT-2": with_tokens(trained(pre_tokenizer=byte_level(), byte_level=True)),
        "a blank put first": trained(pre_tokenizer=byte_level(add_prefix_space=True), byte_level=True),
        "SmolLM": trained(pre_tokenizer=byte_level(pre_tokenizers.Digits(individual_digits=True)), byte_level=True),
        "Llama 3": trained(pre_tokenizer=byte_level(split(Regex(LLAMA3), "isolated"), use_regex=False), byte_level=True,
                           post_processor=processors.Sequence([processors.ByteLevel(), begin]), ignore_merges=True),
        "Qwen": trained(normalizer=normalizers.NFC(), byte_level=True,
                        pre_tokenizer=byte_level(split(Regex(LLAMA3.replace("{1,3}", "")), "removed", True), use_regex=False)),
        "Llama 2": trained(normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
                           bytes_as_pieces=True, unk_token="<unk>", fuse_unk=True, post_processor=begin),
        "Gemma": trained(normalizer=normalizers.Replace(" ", "▁"), pre_tokenizer=split(" ", "merged_with_previous"),
                         bytes_as_pieces=True, unk_token="<unk>", fuse_unk=True),
        "Metaspace, first": with_tokens(trained(pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="first"), unk_token="<unk>")),
        "Metaspace, always": trained(pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="always"), unk_token="<unk>", fuse_unk=True),
        "words": trained(byte_level=True, pre_tokenizer=byte_level(split(Regex(r"\w+|[^\w\s]+"), "isolated"), split(Regex(r"\b"), "isolated"), use_regex=False)),
        "Han": trained(byte_level=True, pre_tokenizer=byte_level(split(Regex(r"[\p{Han}]+"), "isolated"), split(Regex(r"\p{P}|\p{^Latin}"), "isolated"))),
        "a blank put before each word": trained(byte_level=True, pre_tokenizer=byte_level(pre_tokenizers.Digits(), add_prefix_space=True)),
        "punctuation": trained(pre_tokenizer=pre_tokenizers.Punctuation("merged_with_previous"), unk_token="<unk>", fuse_unk=True),
        "normalized tokens": normalized_tokens(trained(
            normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]), unk_token="<unk>", bytes_as_pieces=True)),
        "joined": trained(normalizer=normalizers.NFKD(), byte_level=True,
                          pre_tokenizer=byte_level(split(Regex(r"\s"), "merged_with_next"), split(Regex(r"\d+"), "contiguous"),
                                                   split(",", "merged_with_previous"), use_regex=False)),
    }
    content = {"texts": TEXTS, "tokenizers": [
        {"name": name, "tokenizer": tokenizer.to_str(), "ids": [tokenizer.encode(text).ids for text in TEXTS]}
        for name, tokenizer in tokenizers.items()]}
    (HERE / "pretrained" / "tokenizers.json").write_text(json.dumps(content, ensure_ascii=False))


if __name__ == "__main__":
    main()
