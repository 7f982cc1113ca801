// roper-pieces: learns SentencePiece vocabularies, and cuts texts into their pieces. A program of its own
// because SentencePiece and LibTorch each bring a copy of protobuf, and one process cannot hold both.

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/corpus/corpus_files.h"
#include "core/corpus/text_reader.h"
#include "core/runs/durable_file.h"
#include "core/runs/error.h"
#include "core/runs/text.h"
#include "core/tasks/fingerprint.h"
#include "core/tasks/text_task.h"

namespace roper {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestSentence = 4000;    // bytes; SentencePiece leaves out longer ones than 4192
constexpr const char* kMostSentences = "400000";  // drawn from a longer text, so that memory stays flat

void requireOk(const sentencepiece::util::Status& status, const std::string& what) {
    if (status.ok()) return;
    std::string why = status.ToString();
    // "Internal: file.cc(123) [condition] Explanation": the reader wants the explanation.
    if (const std::size_t end = why.rfind("] "); end != std::string::npos && end + 2 < why.size())
        why = why.substr(end + 2);
    throw Error(ErrorKind::usage, what + ": " + why);
}

/// The lines of a text for SentencePiece's trainer; long ones in several parts.
class Lines : public sentencepiece::SentenceIterator {
  public:
    explicit Lines(std::vector<fs::path> files) : reader_(std::move(files)) { Next(); }

    bool done() const override { return done_; }
    const std::string& value() const override { return line_; }
    sentencepiece::util::Status status() const override { return {}; }

    void Next() override {
        do {
            if (at_ >= part_.size()) {
                at_ = 0;
                if (!reader_.next(part_)) {
                    done_ = true;
                    return;
                }
            }
            takeLine();
        } while (line_.empty());
        ++count_;
    }

    std::uint64_t count() const { return count_; }

  private:
    void takeLine() {
        std::size_t end = std::min(part_.find('\n', at_), part_.size());
        std::size_t next = end + 1;
        if (end - at_ > kLongestSentence) {
            const std::size_t blank = part_.rfind(' ', at_ + kLongestSentence);
            next = end = blank != std::string::npos && blank > at_ ? blank : at_ + kLongestSentence;
            while (end == at_ + kLongestSentence && (static_cast<unsigned char>(part_[next]) & 0xC0U) == 0x80)
                next = --end;  // not within a letter
        }
        line_.assign(part_, at_, end - at_);
        at_ = next;
    }

    TextReader reader_;
    std::string part_, line_;
    std::size_t at_ = 0;
    std::uint64_t count_ = 0;
    bool done_ = false;
};

struct Options {
    std::string text, kind = "unigram", out, model;
    int pieces = 2000;
};

/// A model whose pieces one after the other give the text back: nothing is normalized, newlines are a piece
/// of their own, and letters too rare for one are spelled in bytes.
std::string train(const Options& options, const std::vector<fs::path>& files) {
    Lines lines(files);
    if (lines.done())
        throw Error(ErrorKind::usage, options.text + " is empty: there is nothing to learn pieces from");
    std::string model;
    sentencepiece::SetRandomGeneratorSeed(0);
    requireOk(
        sentencepiece::SentencePieceTrainer::Train({{"vocab_size", std::to_string(options.pieces)},
                                                    {"model_type", options.kind},
                                                    {"normalization_rule_name", "identity"},
                                                    {"remove_extra_whitespaces", "false"},
                                                    {"add_dummy_prefix", "false"},
                                                    {"byte_fallback", "true"},
                                                    {"user_defined_symbols", "\n"},
                                                    {"bos_id", "-1"},
                                                    {"eos_id", "-1"},
                                                    {"input_sentence_size", kMostSentences},
                                                    {"shuffle_input_sentence", "true"},
                                                    {"num_threads", "2"},
                                                    {"minloglevel", "2"}},
                                                   &lines, &model),
        "no vocabulary of " + std::to_string(options.pieces) + " pieces can be made of " + options.text);
    return model;
}

/// The text of every piece.
std::vector<std::string> textsOf(const sentencepiece::SentencePieceProcessor& processor) {
    std::vector<std::string> texts;
    for (int id = 0; id < processor.GetPieceSize(); ++id) {
        const std::string piece = processor.IdToPiece(id);
        if (processor.IsByte(id)) {
            texts.emplace_back(1, static_cast<char>(std::stoi(piece.substr(3, 2), nullptr, 16)));  // "<0x0A>"
        } else if (processor.IsUnknown(id)) {
            texts.emplace_back("\xEF\xBF\xBD");
        } else {
            std::string text;
            constexpr std::string_view kBlank = "\xE2\x96\x81";  // U+2581 stands for a blank
            for (std::size_t i = 0; i < piece.size();) {
                const bool blank = std::string_view(piece).substr(i).starts_with(kBlank);
                text += blank ? ' ' : piece[i];
                i += blank ? kBlank.size() : 1;
            }
            texts.push_back(text);
        }
    }
    return texts;
}

/// Line by line: over a long text SentencePiece's sums of scores, float32, would lose what tells two ways of
/// cutting apart. A newline is a piece of its own, so lines do not depend on each other.
std::vector<int> idsOf(const sentencepiece::SentencePieceProcessor& processor, std::string_view text) {
    std::vector<int> all, of_line;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end == std::string_view::npos ? end : end + 1);
        requireOk(processor.Encode({line.data(), line.size()}, &of_line), "cannot cut the text into pieces");
        all.insert(all.end(), of_line.begin(), of_line.end());
        text.remove_prefix(line.size());
    }
    return all;
}

/// Writes the tokens of a text and counts them. `fingerprint` begins with the model's.
CorpusSummary encode(const sentencepiece::SentencePieceProcessor& processor,
                     const std::vector<fs::path>& files, const fs::path& out, Fingerprint fingerprint) {
    std::ofstream file(out, std::ios::binary);
    const std::size_t width = MappedTokens::widthFor(processor.GetPieceSize());
    std::vector<std::int64_t> counts(static_cast<std::size_t>(processor.GetPieceSize()));
    CorpusSummary summary;
    TextReader reader(files);
    std::string part, bytes;
    while (reader.next(part)) {
        const std::vector<int> ids = idsOf(processor, part);
        bytes.clear();
        for (const int id : ids) {
            ++counts[static_cast<std::size_t>(id)];
            for (std::size_t byte = 0; byte < width; ++byte)
                bytes += static_cast<char>(static_cast<unsigned>(id) >> (8 * byte));
        }
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        if (!file) throw diskError("write", out.string(), errno);
        fingerprint.add(bytes);
        summary.tokens += static_cast<std::int64_t>(ids.size());
    }
    file.close();
    if (!file) throw diskError("write", out.string(), errno);
    summary.bytes = static_cast<std::int64_t>(reader.bytesRead());
    summary.fingerprint = fingerprint.text();
    for (const std::int64_t count : counts) {
        if (count == 0) continue;
        const double p = static_cast<double>(count) / static_cast<double>(summary.tokens);
        summary.unigram_entropy -= p * std::log(p);
    }
    return summary;
}

void prepare(const Options& options) {
    const std::vector<fs::path> files = textFiles(options.text);
    const CorpusFiles out(options.out);
    makeFolder(options.out);
    const std::string model = train(options, files);
    sentencepiece::SentencePieceProcessor processor;
    requireOk(processor.LoadFromSerializedProto(model), "the new vocabulary cannot be used");
    writeFileAtomically(out.model(), model);
    writeFileAtomically(out.pieces(), formatPieces(textsOf(processor)));
    CorpusSummary summary = encode(processor, files, out.tokens(), Fingerprint().add(model));
    summary.pieces = processor.GetPieceSize();
    summary.kind = options.kind;
    writeFileAtomically(out.summary(), formatCorpusSummary(summary));  // last: what has it is whole
}

/// Ids of the text on stdin, on one line.
void ids(const Options& options) {
    sentencepiece::SentencePieceProcessor processor;
    requireOk(processor.Load(options.model), "cannot read " + options.model);
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    if (const std::size_t wrong = firstNotUtf8(text); wrong != std::string::npos)
        throw Error(ErrorKind::usage, "byte " + std::to_string(wrong + 1) + " of the text is not UTF-8");
    const std::vector<int> found = idsOf(processor, text);
    for (std::size_t i = 0; i < found.size(); ++i)
        std::cout << (i > 0 ? " " : "") << found[i];
    std::cout << "\n";
}

int run(int argc, char** argv) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // nobody waits for the work of a trainer that died
    CLI::App app("Learns SentencePiece vocabularies and cuts texts into their pieces.");
    app.require_subcommand(1);
    Options options;
    CLI::App* prepare_command =
        app.add_subcommand("prepare", "A text's vocabulary and tokens, into a folder");
    prepare_command->add_option("--text", options.text, "UTF-8 file, or folder of them")->required();
    prepare_command->add_option("--pieces", options.pieces, "Pieces of the vocabulary")
        ->check(CLI::Range(300, 1000000));
    prepare_command->add_option("--kind", options.kind, "unigram or bpe")
        ->check(CLI::IsMember({"unigram", "bpe"}));
    prepare_command->add_option("--out", options.out, "Folder")->required();
    CLI::App* ids_command = app.add_subcommand("ids", "Tokens of the text on stdin");
    ids_command->add_option("--model", options.model, "pieces.model of a prepared text")->required();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : static_cast<int>(ErrorKind::usage);
    }
    if (*prepare_command)
        prepare(options);
    else
        ids(options);
    return 0;
}

}  // namespace
}  // namespace roper

int main(int argc, char** argv) {
    try {
        return roper::run(argc, argv);
    } catch (const roper::Error& error) {
        std::cerr << "roper-pieces: " << error.what() << "\n";
        return error.exitCode();
    } catch (const std::exception& error) {
        std::cerr << "roper-pieces: " << error.what() << "\n";
        return static_cast<int>(roper::ErrorKind::other);
    }
}
