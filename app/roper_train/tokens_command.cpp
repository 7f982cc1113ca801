// Tokenizes texts with the tokenizer of a model.

#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/roper_train/commands.h"
#include "app/roper_train/json_line.h"
#include "core/base/console.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"
#include "core/reading/opened_model.h"
#include "core/tokenizers/tokenizer_files.h"

namespace roper {
namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMaxTextsFileBytes = 256U << 20U;

/// Whether this is a tokenizer or a published model rather than a run. A tokenizer may be in a folder without
/// a config.json, and a tokenizer.json may have another name.
bool isPretrainedTokenizer(const fs::path& model) {
    return model.extension() == ".json" || hasTokenizer(model) || isPretrainedModel(model);
}

/// Texts from a file with one JSON string per line.
std::vector<std::string> textsOf(const fs::path& path) {
    std::vector<std::string> texts;
    std::istringstream lines(readFile(path, kMaxTextsFileBytes));
    for (std::string line; std::getline(lines, line);) {
        const auto refuse = [&](const std::string& why) {
            return Error(ErrorKind::usage,
                         path.string() + ": line " + std::to_string(texts.size() + 1) + why);
        };
        try {
            texts.push_back(parseStrictJson(line).get<std::string>());
        } catch (const nlohmann::json::type_error&) {
            throw refuse(" is not a JSON string (text in quotation marks)");
        } catch (const std::invalid_argument& error) {
            throw refuse(std::string(": ") + error.what());
        }
    }
    return texts;
}

std::vector<std::int64_t> idsOf(const TextCodec& codec, const std::string& text) {
    try {
        return codec.encode(text);
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::usage, error.what());
    }
}

void printText(const TextCodec& codec, const std::vector<std::int64_t>& ids) {
    for (const std::int64_t id : ids)
        std::cout << id << "\t" << formatToken(codec.textOf(id)) << (codec.isSpecial(id) ? "\tspecial" : "")
                  << "\n";
    std::cout << countOf(ids.size(), "token") << "\n";
}

}  // namespace

int tokensCommand(const TokensOptions& options) {
    const ExitOnClosedOutput exit_on_closed_output;
    std::vector<std::string> texts = options.texts;
    if (!options.texts_file.empty()) texts = textsOf(options.texts_file);
    const TextCodec codec = isPretrainedTokenizer(options.model)
                                ? openPublishedCodec(options.model)
                                : openRunCodec(findRun(options.model.string(), options.runs));
    const auto answer = [&](const std::string& text) {
        const std::vector<std::int64_t> ids = idsOf(codec, text);
        if (!options.json) return printText(codec, ids);
        const auto tokens = mapped(ids, [&](std::int64_t id) { return codec.textOf(id); });
        print({{"ids", ids}, {"tokens", tokens}});
    };
    return answerEach(texts, options.json, answer, [](const std::string&) { return Json::object(); });
}

}  // namespace roper
