#include "core/tasks/text.h"

#include <fcntl.h>

#include <cmath>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/tasks/task_kind.h"

namespace roper {

TokenFile::TokenFile(const FilePath& path, int vocabulary_size)
    : path_(path.string()),
      file_(openFile(path, O_RDONLY)),
      bytes_(fileSize(file_, path_)),
      width_(bytesPerToken(vocabulary_size)),
      vocabulary_size_(vocabulary_size) {
    if (bytes_ == 0 || bytes_ % width_ != 0)
        throw Error(ErrorKind::disk,
                    path_ + " does not contain tokens of " + std::to_string(width_) + " bytes");
}

std::vector<std::int64_t> TokenFile::read(std::int64_t first, int count) const {
    std::string bytes(static_cast<std::size_t>(count) * width_, '\0');
    if (readAt(file_, bytes, static_cast<std::uint64_t>(first) * width_, path_) < bytes.size())
        throw Error(ErrorKind::disk, path_ + " has been truncated while in use: it had " +
                                         std::to_string(bytes_) +
                                         " bytes. Resume the run: the text is then prepared again.");
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        std::int64_t token = 0;
        for (std::size_t byte = 0; byte < width_; ++byte)
            token |= static_cast<std::int64_t>(static_cast<unsigned char>(bytes[i * width_ + byte]))
                     << (8 * byte);
        if (token >= vocabulary_size_)
            throw Error(ErrorKind::disk, path_ + " contains the token " + std::to_string(token) +
                                             ", but its vocabulary has " + std::to_string(vocabulary_size_) +
                                             ". Resume the run: the text is then prepared again.");
        tokens[i] = token;
    }
    return tokens;
}

TextTask::TextTask(Vocabulary vocabulary, std::shared_ptr<const TokenFile> tokens, double validation_share)
    : Task(std::move(vocabulary)), tokens_(std::move(tokens)) {
    validation_ = std::llround(validation_share * static_cast<double>(tokens_->size()));
    training_ = tokens_->size() - validation_;
}

std::string TextTask::sequence(std::uint64_t seed, Stream stream, std::uint64_t index, int length) const {
    return vocabulary().decode(tokens(seed, stream, index, length));
}

std::vector<std::int64_t> TextTask::tokens(std::uint64_t seed, Stream stream, std::uint64_t index,
                                           int length) const {
    if (!tokens_) throw std::invalid_argument("the text that this model was trained on is not available");
    const bool trains = stream == Stream::training;
    const std::int64_t part = trains ? training_ : validation_;
    if (part < length)
        throw std::invalid_argument("the part of the text for " +
                                    std::string(trains ? "training" : "validation") + " has " +
                                    std::to_string(part) + " tokens; a sequence needs " +
                                    std::to_string(length) + ". Use a longer text or shorter sequences" +
                                    (trains ? "." : ", or a larger task.validation_share."));
    std::int64_t start = 0;
    if (trains)
        start = Random(seed, stream, index).between(0, training_ - length);
    else
        start = training_ +
                static_cast<std::int64_t>(index % static_cast<std::uint64_t>(validation_ / length)) * length;
    return tokens_->read(start, length);
}

TaskKind textTask() {
    TaskKind kind;
    kind.name = "text";
    kind.help = "any text";
    kind.settings = {
        textSetting("text", "Text: a UTF-8 file, a folder of them, or the name of a bundled text (opticks)",
                    ""),
        integerSetting("vocab_size", "tokens",
                       "Text: size of the vocabulary that SentencePiece learns from it", {300, 1000000},
                       2000),
        choiceSetting("tokenizer", "Text: how SentencePiece learns the tokens", {{"unigram", "bpe"}},
                      "unigram"),
        realSetting("validation_share", "of the text",
                    "Text: fraction at its end that is held out for validation", {0.001, 0.5}, 0.05)};
    kind.settings[1].former_keys = {"pieces"};
    kind.settings[2].former_keys = {"vocabulary"};
    kind.is_text = true;
    kind.check = [](const DeclaredSettings& s) {
        std::vector<SettingProblem> problems;
        if (s.text("text").empty())
            problems.push_back(
                {"task.text", "name the text: a UTF-8 file, a folder of them, or a bundled text"});
        return problems;
    };
    kind.make = [](const DeclaredSettings&) -> std::unique_ptr<Task> {
        throw std::invalid_argument("a text is not made from settings; it has to be opened");
    };
    kind.vocabulary_size = [](const DeclaredSettings& s) { return s.integer("vocab_size"); };
    return kind;
}

}  // namespace roper
