// roper-tokenizer: learns SentencePiece vocabularies, and tokenizes texts. A separate program, since
// SentencePiece and LibTorch each contain a copy of protobuf, and one process cannot load both.

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <iostream>

#include "app/command_help/number_checks.h"
#include "core/base/console.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/fingerprint.h"
#include "core/base/random.h"
#include "core/base/text.h"
#include "core/corpus/corpus_files.h"
#include "core/corpus/text_reader.h"
#include "core/tasks/text.h"

namespace roper {
namespace {

namespace fs = std::filesystem;

constexpr int kMinVocabularySize = 300;          // tokens; 256 of them are single bytes
constexpr std::size_t kMaxSentenceBytes = 4000;  // SentencePiece skips lines of more than 4192 bytes
constexpr double kMaxTrainingBytes = 32e6;       // training takes about 25 times as much memory

/// Restates SentencePiece's messages about the vocabulary size in terms of task.vocab_size.
std::string reasonOf(const std::string& why) {
    int requested = 0, bound = 0;
    if (const std::size_t at = why.find("Vocabulary size too high"); at != std::string::npos)
        if (std::sscanf(why.c_str() + at, "Vocabulary size too high (%d). Please set it to a value <= %d",
                        &requested, &bound) == 2)
            return bound < kMinVocabularySize ? "the text is too short for any vocabulary"
                                              : "the text is too short; it allows at most " +
                                                    std::to_string(bound) + " (task.vocab_size)";
    if (const std::size_t at = why.find("Vocabulary size is smaller than"); at != std::string::npos)
        if (std::sscanf(why.c_str() + at, "Vocabulary size is smaller than required_chars. %d vs %d",
                        &requested, &bound) == 2)
            return "its distinct characters alone need at least " + std::to_string(bound) +
                   " (task.vocab_size)";
    return why;
}

void requireOk(const sentencepiece::util::Status& status, const std::string& what) {
    if (status.ok()) return;
    std::string why = status.ToString();
    // Extracts the explanation from "Internal: file.cc(123) [condition] Explanation".
    if (const std::size_t end = why.rfind("] "); end != std::string::npos && end + 2 < why.size())
        why = why.substr(end + 2);
    throw Error(ErrorKind::usage, what + ": " + reasonOf(why));
}

double totalSize(const std::vector<fs::path>& files) {
    double bytes = 0;
    for (const fs::path& file : files)
        bytes += static_cast<double>(fs::file_size(file));
    return bytes;
}

/// Gives SentencePiece's trainer the lines of a text, long ones split. From a text of more than
/// kMaxTrainingBytes it draws a uniform random sample of the lines, always the same one.
class Lines : public sentencepiece::SentenceIterator {
  public:
    explicit Lines(const std::vector<fs::path>& files)
        : reader_(files), share_(std::min(1.0, kMaxTrainingBytes / std::max(1.0, totalSize(files)))) {
        Next();
    }

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
        } while (line_.empty() || (share_ < 1 && draws_.unit() >= share_));
    }

  private:
    void takeLine() {
        std::size_t end = std::min(part_.find('\n', at_), part_.size());
        std::size_t next = end + 1;
        if (end - at_ > kMaxSentenceBytes) {
            const std::size_t blank = part_.rfind(' ', at_ + kMaxSentenceBytes);
            const bool has_blank = blank != std::string::npos && blank > at_;
            end = has_blank ? blank : at_ + kMaxSentenceBytes;
            while (!has_blank && (static_cast<unsigned char>(part_[end]) & 0xC0U) == 0x80)
                --end;  // not within a character
            next = end;
        }
        line_.assign(part_, at_, end - at_);
        at_ = next;
    }

    TextReader reader_;
    std::string part_;    ///< the part of the text that was read last
    std::string line_;    ///< the current line
    std::size_t at_ = 0;  ///< where the next line begins in part_
    double share_;        ///< fraction of the lines to draw
    Random draws_{0, Stream::sampling, 0};
    bool done_ = false;
};

struct Options {
    std::string text, kind = "unigram", out, model;  ///< model: empty to learn a new one
    int vocab_size = 2000;
};

/// Trains a SentencePiece model whose tokens concatenate to the original text: nothing is normalized,
/// newlines are separate tokens, and rare characters are encoded as bytes.
std::string train(const Options& options, const std::vector<fs::path>& files) {
    Lines lines(files);
    if (lines.done())
        throw Error(ErrorKind::usage, options.text + " is empty: it has no text to learn tokens from");
    std::string model;
    requireOk(sentencepiece::SentencePieceTrainer::Train({{"vocab_size", std::to_string(options.vocab_size)},
                                                          {"model_type", options.kind},
                                                          {"normalization_rule_name", "identity"},
                                                          {"remove_extra_whitespaces", "false"},
                                                          {"add_dummy_prefix", "false"},
                                                          {"byte_fallback", "true"},
                                                          {"user_defined_symbols", "\n"},
                                                          {"bos_id", "-1"},
                                                          {"eos_id", "-1"},
                                                          {"num_threads", "2"},
                                                          {"minloglevel", "2"}},
                                                         &lines, &model),
              "cannot learn a vocabulary of " + std::to_string(options.vocab_size) + " tokens from " +
                  options.text);
    return model;
}

/// The text of every token.
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
            constexpr std::string_view kBlank = "\xE2\x96\x81";  // U+2581 represents a blank
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

/// Encodes line by line: over a long text SentencePiece's float32 sums of scores would lose the difference
/// between segmentations. A newline is a separate token, so lines are independent.
std::vector<int> idsOf(const sentencepiece::SentencePieceProcessor& processor, std::string_view text) {
    std::vector<int> all, of_line;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end == std::string_view::npos ? end : end + 1);
        requireOk(processor.Encode({line.data(), line.size()}, &of_line), "cannot tokenize the text");
        all.insert(all.end(), of_line.begin(), of_line.end());
        text.remove_prefix(line.size());
    }
    return all;
}

/// Writes the tokens of a text to `out` and counts them.
/// @param fingerprint  to which the model has been added; the tokens are added here
CorpusSummary encode(const sentencepiece::SentencePieceProcessor& processor,
                     const std::vector<fs::path>& files, const fs::path& out, Fingerprint fingerprint) {
    const std::size_t width = TokenFile::bytesPerToken(processor.GetPieceSize());
    std::vector<std::int64_t> counts(static_cast<std::size_t>(processor.GetPieceSize()));
    CorpusSummary summary;
    TextReader reader(files);
    std::string part, bytes;
    writeFileAtomically(out, [&](const AppendBytes& append) {
        while (reader.next(part)) {
            const std::vector<int> ids = idsOf(processor, part);
            bytes.clear();
            for (const int id : ids) {
                ++counts[static_cast<std::size_t>(id)];
                for (std::size_t byte = 0; byte < width; ++byte)
                    bytes += static_cast<char>(static_cast<unsigned>(id) >> (8 * byte));
            }
            append(bytesOf(bytes));
            fingerprint.add(bytes);
            summary.tokens += static_cast<std::int64_t>(ids.size());
        }
    });
    summary.bytes = static_cast<std::int64_t>(reader.bytesRead());
    summary.fingerprint = fingerprint.text();
    for (const std::int64_t count : counts) {
        if (count == 0) continue;
        const double p = static_cast<double>(count) / static_cast<double>(summary.tokens);
        summary.unigram_entropy -= p * std::log(p);
    }
    return summary;
}

/// Reads a tokenizer.model. It may be in a run folder, so neither it nor its folder may be a link.
std::string readModel(const fs::path& path) {
    const fs::path folder = fs::absolute(path).parent_path();
    return readFile(FilePath::inside(folder.parent_path(), folder.filename()) / path.filename());
}

/// @param model  content of the file `from`. @throws Error (checkpoint) naming the file
void load(sentencepiece::SentencePieceProcessor& processor, const std::string& model, const fs::path& from) {
    if (!processor.LoadFromSerializedProto(model).ok())
        throw Error(ErrorKind::checkpoint, from.string() + " is damaged or not a SentencePiece model");
}

void prepare(const Options& options) {
    const std::vector<fs::path> files = textFiles(options.text);
    const CorpusFiles out(options.out);
    makeFolder(options.out);
    const std::string model = options.model.empty() ? train(options, files) : readModel(options.model);
    sentencepiece::SentencePieceProcessor processor;
    load(processor, model, options.model.empty() ? out.model().path() : fs::path(options.model));
    writeFileAtomically(out.model(), model);
    const std::string vocabulary = formatVocabulary(textsOf(processor));
    writeFileAtomically(out.vocabulary(), vocabulary);
    CorpusSummary summary = encode(processor, files, out.tokens().path(), Fingerprint().add(model));
    summary.vocab_size = processor.GetPieceSize();
    summary.kind = options.kind;
    summary.vocabulary_fingerprint = Fingerprint().add(vocabulary).text();
    writeFileAtomically(out.summary(), formatCorpusSummary(summary));  // last, to mark the folder as complete
}

/// Reads stdin. @throws Error (usage) if it is too large
std::string readInput() {
    constexpr std::size_t kMaxBytes = 64U << 20U;
    std::string text, part(1U << 16U, '\0');
    while (std::cin.read(part.data(), static_cast<std::streamsize>(part.size())) || std::cin.gcount() > 0) {
        text.append(part, 0, static_cast<std::size_t>(std::cin.gcount()));
        if (text.size() > kMaxBytes)
            throw Error(ErrorKind::usage, "the text on standard input is longer than 64 MB");
    }
    return text;
}

/// Prints the ids of the text on stdin, on one line.
void ids(const Options& options) {
    sentencepiece::SentencePieceProcessor processor;
    load(processor, readModel(options.model), options.model);
    const std::string text = readInput();
    if (const std::size_t wrong = findInvalidUtf8(text); wrong != std::string::npos)
        throw Error(ErrorKind::usage, "byte " + std::to_string(wrong + 1) + " of the text is not UTF-8");
    const std::vector<int> found = idsOf(processor, text);
    for (std::size_t i = 0; i < found.size(); ++i)
        std::cout << (i > 0 ? " " : "") << found[i];
    std::cout << "\n";
}

int run(int argc, char** argv) {
    const pid_t parent = ::getppid();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // ends with the trainer, which alone needs the output
    if (::getppid() != parent) return static_cast<int>(ErrorKind::other);
    CLI::App app("Learns SentencePiece vocabularies and tokenizes texts.", "roper-tokenizer");
    app.require_subcommand(1);
    Options options;
    CLI::App* prepare_command =
        app.add_subcommand("prepare", "Write a text's vocabulary and tokens to a folder");
    prepare_command->add_option("--text", options.text, "UTF-8 file, or folder of UTF-8 files")->required();
    prepare_command
        ->add_option("--vocab-size,--pieces", options.vocab_size, "Size of the vocabulary, in tokens")
        ->check(CLI::Range(kMinVocabularySize, 1000000));
    prepare_command->add_option("--kind", options.kind, "Algorithm: unigram or bpe")
        ->check(CLI::IsMember({"unigram", "bpe"}));
    prepare_command->add_option("--model", options.model, "Use this tokenizer.model instead of learning one");
    prepare_command->add_option("--out", options.out, "Folder to write")->required();
    CLI::App* ids_command = app.add_subcommand("ids", "Print the token ids of the text on stdin");
    ids_command->add_option("--model", options.model, "tokenizer.model of a prepared text")->required();
    requireWholeNumbers(app);
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
    const roper::TerminalOutputFilter clean_output;
    return roper::runReportingErrors("roper-tokenizer", [&] { return roper::run(argc, argv); });
}
