"""Writes pretrained/tokenizers.tar.xz: random small tokenizers of every kind, and the ids and texts that the package tokenizers (0.23.3)
gives for texts that are hard to tokenize; and small SentencePiece models, as written into GGUF files, with the ids of the package
sentencepiece (0.2.3). Trainers break ties by chance, so each run writes other vocabularies. Run in the repository's root with those
packages and protobuf."""

import io
import json
import pathlib
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from archive import pack
from random_tokenizers import CORPUS, HOSTILE_TEXTS, RULES, Generator, Tokenizer

HERE = pathlib.Path(__file__).parent
KINDS = ["BPE", "WordPiece", "WordLevel", "Unigram"]
OF_EACH = 24
# What is refused (core/tokenizers/json_parts.cpp), or depends on chance in the package.
REFUSED = ['{"type": "Sequence", "processors": [{"type": "TemplateProcessing"']


def answers(tokenizer: Tokenizer) -> dict:
    ids = [tokenizer.encode(text).ids for text in HOSTILE_TEXTS]
    return {"ids": ids, "decoded": [tokenizer.decode(one, skip_special_tokens=False) for one in ids]}


def sentencepiece_model(kind: str, seed: int, rules: pathlib.Path) -> dict:
    """What a GGUF file says of the model, and the ids of the texts."""
    generator, model = Generator(seed), io.BytesIO()
    rules.write_text("".join(" ".join(f"{ord(c):X}" for c in source) + "\t" + " ".join(f"{ord(c):X}" for c in target) + "\n"
                             for source, target in RULES.items() if target not in ("", "  ", source)))
    lines = [line for line in CORPUS.read_text().split("\n")[200:500] if line] + [generator.text().replace("\0", "") for _ in range(60)]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, model_type=kind, vocab_size=600, hard_vocab_limit=False, minloglevel=9,
        normalization_rule_tsv=str(rules), character_coverage=0.98, byte_fallback=kind == "bpe", add_dummy_prefix=seed % 2 == 0,
        remove_extra_whitespaces=seed % 4 < 2)
    described = sentencepiece_model_pb2.ModelProto.FromString(model.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return {"kind": {"unigram": "t5", "bpe": "llama"}[kind], "tokens": [piece.piece for piece in described.pieces],
            "scores": [piece.score for piece in described.pieces], "types": [piece.type for piece in described.pieces],
            "charsmap": list(described.normalizer_spec.precompiled_charsmap), "add_space_prefix": described.normalizer_spec.add_dummy_prefix,
            "remove_extra_whitespaces": described.normalizer_spec.remove_extra_whitespaces,
            # Special tokens within a text are text to SentencePiece.
            "ids": [None if "<s>" in text else processor.encode(text) for text in HOSTILE_TEXTS]}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        into = pathlib.Path(folder) / "tokenizers"
        into.mkdir()
        (into / "texts.json").write_text(json.dumps(HOSTILE_TEXTS))
        for kind in KINDS:
            seed, made = 0, []
            while len(made) < OF_EACH:
                seed += 1
                try:
                    content = Generator(seed).tokenizer(kind, size=160, lines=40)
                    given = answers(Tokenizer.from_str(content))
                except BaseException:  # the package refuses it or panics in Rust
                    continue
                if not any(part in content for part in REFUSED):
                    made.append({"seed": seed, "tokenizer": content, **given})
            (into / f"{kind}.json").write_text(json.dumps(made, ensure_ascii=False))
        (into / "sentencepiece.json").write_text(json.dumps([sentencepiece_model(kind, seed, pathlib.Path(folder) / "rules.tsv")
                                                             for seed in range(6) for kind in ("unigram", "bpe")], ensure_ascii=False))
        (pathlib.Path(folder) / "rules.tsv").unlink()
        pack(pathlib.Path(folder), HERE / "pretrained" / "tokenizers.tar.xz")


if __name__ == "__main__":
    main()
