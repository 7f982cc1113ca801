#include "core/tasks/text.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/tasks/task_kind.h"

namespace roper {

MappedTokens::MappedTokens(const std::filesystem::path& path, int vocabulary_size)
    : width_(widthFor(vocabulary_size)) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (file < 0 || ::fstat(file, &info) != 0) {
        const std::string why = std::strerror(errno);
        if (file >= 0) ::close(file);
        throw std::runtime_error("cannot read " + path.string() + ": " + why);
    }
    bytes_ = static_cast<std::size_t>(info.st_size);
    const bool fits = bytes_ > 0 && bytes_ % width_ == 0;
    void* mapped = fits ? ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    ::close(file);
    if (mapped == MAP_FAILED)
        throw std::runtime_error(path.string() + " does not hold tokens of " + std::to_string(width_) +
                                 " bytes");
    data_ = static_cast<const unsigned char*>(mapped);
}

MappedTokens::~MappedTokens() {
    if (data_ != nullptr) ::munmap(const_cast<unsigned char*>(data_), bytes_);
}

std::int64_t MappedTokens::operator[](std::int64_t index) const {
    const unsigned char* at = data_ + static_cast<std::size_t>(index) * width_;
    std::int64_t token = at[0] | at[1] << 8U;
    if (width_ == 4)
        token |= static_cast<std::int64_t>(at[2]) << 16U | static_cast<std::int64_t>(at[3]) << 24U;
    return token;
}

TextTask::TextTask(Vocabulary vocabulary, std::shared_ptr<const MappedTokens> tokens, double validation_share)
    : Task(std::move(vocabulary)), tokens_(std::move(tokens)) {
    validation_ = std::llround(validation_share * static_cast<double>(tokens_->size()));
    training_ = tokens_->size() - validation_;
}

std::string TextTask::sequence(std::uint64_t seed, Stream stream, std::uint64_t index, int length) const {
    return vocabulary().decode(tokens(seed, stream, index, length));
}

std::vector<std::int64_t> TextTask::tokens(std::uint64_t seed, Stream stream, std::uint64_t index,
                                           int length) const {
    if (!tokens_) throw std::invalid_argument("the text that this model was trained on is not at hand");
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
    std::vector<std::int64_t> sequence(static_cast<std::size_t>(length));
    for (int i = 0; i < length; ++i)
        sequence[static_cast<std::size_t>(i)] = (*tokens_)[start + i];
    return sequence;
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
                    "Text: its last part, never trained on, for validation", {0.001, 0.5}, 0.05)};
    kind.settings[1].former_keys = {"pieces"};
    kind.settings[2].former_keys = {"vocabulary"};
    kind.is_text = true;
    kind.check = [](const OwnSettings& s) {
        std::vector<SettingProblem> problems;
        if (s.text("text").empty())
            problems.push_back(
                {"task.text", "name the text: a UTF-8 file, a folder of them, or a bundled text"});
        return problems;
    };
    kind.make = [](const OwnSettings&) -> std::unique_ptr<Task> {
        throw std::invalid_argument("a text is not made from settings; it has to be opened");
    };
    kind.vocabulary_size = [](const OwnSettings& s) { return s.integer("vocab_size"); };
    return kind;
}

}  // namespace roper
