#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"
#include "core/tokenizers/json_members.h"
#include "core/tokenizers/json_parts.h"
#include "core/tokenizers/tokenizer_files.h"

namespace roper {
namespace {

using Json = nlohmann::json;

/// Tokens in addition to the vocabulary. As in Hugging Face's tokenizers (0.23.3), the ids in the file are
/// ignored: a token that is in the vocabulary has its id there, and the others are numbered from the
/// vocabulary's size upwards, in the order of the list. The model was trained with those numbers.
/// @param vocabulary_size  number of tokens, which is below the largest id + 1 if ids are left out
std::vector<AddedToken> readAddedTokens(const Json& list, const Pieces& vocabulary,
                                        std::size_t vocabulary_size) {
    std::vector<AddedToken> tokens;
    std::map<std::string, std::int64_t> numbered;
    for (const Json& json : list) {
        requireKnown(json, "an added token",
                     {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special", "__type"});
        AddedToken token{json.at("content").get<std::string>(),   requireInteger(json.at("id")),
                         jsonMemberOr(json, "special", false),    jsonMemberOr(json, "normalized", false),
                         jsonMemberOr(json, "lstrip", false),     jsonMemberOr(json, "rstrip", false),
                         jsonMemberOr(json, "single_word", false)};
        requireTokenId(token);
        if (token.text.empty()) continue;  // as in that library
        const auto next = static_cast<std::int64_t>(vocabulary_size + numbered.size());
        const auto known = vocabulary.idOf(token.text);
        token.id = known ? *known : numbered.emplace(token.text, next).first->second;
        if (!known && token.id < std::ssize(vocabulary.texts()) &&
            !vocabulary.texts()[static_cast<std::size_t>(token.id)].empty())
            throw std::invalid_argument("the added token " + quoteExcerpt(token.text) + " has the id " +
                                        std::to_string(token.id) +
                                        ", which belongs to a token of the vocabulary");
        tokens.push_back(std::move(token));
    }
    return tokens;
}

/// A token as written in files next to tokenizer.json: its text, or an object with the text and search
/// options.
Json addedToken(const Json& json, bool is_special) {
    Json token = json.is_string() ? Json{{"content", json}} : json;
    if (is_special) token["special"] = true;
    token["id"] = 0;  // ignored
    return token;
}

/// The tokens that transformers 5.24 adds to those of a tokenizer.json, in its order: added_tokens_decoder of
/// tokenizer_config.json or, without it, added_tokens.json, then the named special tokens.
/// @throws Json::exception, std::invalid_argument
std::vector<Json> tokensFromSiblings(const Json& config, const Json& added_tokens) {
    std::map<std::int64_t, Json> by_id;
    const Json& decoder = jsonMember(config, "added_tokens_decoder");
    if (decoder.is_object()) {
        for (const auto& [key, token] : decoder.items()) {
            const auto id = parseInteger(key);
            if (!id)
                throw std::invalid_argument("added_tokens_decoder has the key " + quoteExcerpt(key) +
                                            ", which is not an id");
            by_id[*id] = addedToken(token, false);
        }
    } else if (added_tokens.is_object()) {
        for (const auto& [text, id] : added_tokens.items())
            by_id[requireInteger(id)] = addedToken(text, false);
    }
    std::vector<Json> tokens;
    for (auto& [id, token] : by_id)
        tokens.push_back(std::move(token));
    for (const char* const key :
         {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"})
        if (const Json& token = jsonMember(config, key); token.is_string() || token.is_object())
            tokens.push_back(addedToken(token, true));
    for (const char* const key : {"extra_special_tokens", "additional_special_tokens"})
        if (const Json& list = jsonMember(config, key); list.is_array())
            for (const Json& token : list)
                tokens.push_back(addedToken(token, true));
    return tokens;
}

/// The object in a file next to tokenizer.json; null without such a file.
Json readSiblingJson(const FilePath& tokenizer, const char* name) {
    const FilePath path = FilePath::regular(tokenizer.path().parent_path() / name);
    if (!pathExists(path)) return {};
    try {
        return parseStrictJson(readFile(path));
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::checkpoint, path.string() + ": " + error.what());
    }
}

/// The text of the mask token: `mask_token` of tokenizer_config.json, or else a special token of one of the
/// usual names; empty if there is none.
std::string maskText(const Json& config, const Json& tokenizer) {
    if (const Json& token = jsonMember(config, "mask_token"); token.is_string() || token.is_object())
        return addedToken(token, true).at("content").get<std::string>();
    if (const Json& list = jsonMember(tokenizer, "added_tokens"); list.is_array())
        for (const Json& token : list)
            if (const auto text = token.at("content").get<std::string>();
                jsonMemberOr(token, "special", false) && (text == "[MASK]" || text == "<mask>"))
                return text;
    return {};
}

/// Adds those tokens of `more` to a tokenizer.json whose texts it lacks.
void addMissing(Json& json, const std::vector<Json>& more) {
    Json& list = json["added_tokens"];
    if (!list.is_array()) list = Json::array();
    std::set<std::string> known;
    for (const Json& token : list)
        known.insert(token.at("content").get<std::string>());
    for (const Json& token : more)
        if (known.insert(token.at("content").get<std::string>()).second) list.push_back(token);
}

/// transformers 5.24 takes the options of a BERT's normalizer from tokenizer_config.json, or else the
/// defaults of its class, and ignores those in tokenizer.json.
void setBertOptions(Json& tokenizer, const Json& config) {
    static const std::set<std::string> kClasses = {"BertTokenizer", "BertTokenizerFast",
                                                   "DistilBertTokenizer", "DistilBertTokenizerFast"};
    if (!kClasses.contains(jsonMemberOr<std::string>(config, "tokenizer_class", ""))) return;
    const auto normalizer = tokenizer.find("normalizer");
    if (normalizer == tokenizer.end() || typeOfPart(*normalizer) != "BertNormalizer") return;
    (*normalizer)["lowercase"] = jsonMemberOr(config, "do_lower_case", true);
    (*normalizer)["handle_chinese_chars"] = jsonMemberOr(config, "tokenize_chinese_chars", true);
    (*normalizer)["strip_accents"] = jsonMember(config, "strip_accents");
}

/// Ignores truncation and padding, which transformers applies only on request.
/// @param mask  the text of the mask token; empty: none
Tokenizer read(const Json& json, const std::string& origin, const std::string& mask) {
    requireKnown(json, "a tokenizer.json",
                 {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                  "post_processor", "decoder", "model"});
    if (const std::string version = jsonMemberOr<std::string>(json, "version", "1.0"); version != "1.0")
        throwUnsupported("version", version);
    const Json& model = jsonMember(json, "model");
    TokenizerParts parts;
    parts.model = readTokenModel(model);
    parts.origin = origin;
    readNormalizer(jsonMember(json, "normalizer"), parts);
    readPreTokenizer(jsonMember(json, "pre_tokenizer"), parts);
    readPostProcessor(jsonMember(json, "post_processor"), parts);
    readDecoder(json, parts);
    parts.added_tokens = readAddedTokens(jsonMember(json, "added_tokens"), parts.model->pieces(),
                                         jsonMember(model, "vocab").size());
    for (const AddedToken& token : parts.added_tokens)
        if (!mask.empty() && token.text == mask) parts.mask_id = token.id;
    return Tokenizer(std::move(parts));
}

/// Calls `make`; what is wrong with the content of a file becomes an error that names it.
template <class Make>
Tokenizer readingFile(const std::string& origin, const Make& make) {
    const auto refuse = [&](const std::string& why) {
        return Error(ErrorKind::checkpoint, origin + ": " + why);
    };
    try {
        return make();
    } catch (const Json::exception& error) {
        throw refuse(jsonErrorMessage(error.what()));
    } catch (const std::invalid_argument& error) {
        throw refuse(error.what());
    }
}

/// @param change  applies what other files say to the content of the file → the text of the mask token
Tokenizer parse(std::string_view json, const std::string& origin,
                const std::function<std::string(Json&)>& change) {
    return readingFile(origin, [&] {
        Json tokenizer = parseStrictJson(json);
        const std::string mask = tokenizer.is_object() ? change(tokenizer) : std::string();
        return read(tokenizer, origin, mask);
    });
}

constexpr const char *kTokenizerJson = "tokenizer.json", *kVocabulary = "vocab.txt",
                     *kConfig = "tokenizer_config.json";

/// The tokenizer_config.json of a folder with a vocab.txt that transformers gives to its EsmTokenizer.
std::optional<Json> configOfEsm(const FilePath& folder) {
    if (!pathExists(folder / kVocabulary)) return std::nullopt;
    Json config = readSiblingJson(folder / kVocabulary, kConfig);
    if (jsonMember(config, "tokenizer_class") != "EsmTokenizer") return std::nullopt;
    return config;
}

/// The lines of a vocab.txt as ids. @throws std::invalid_argument for a blank or repeated line
Json vocabularyOfLines(const std::string& text) {
    Json ids = Json::object();
    std::vector<std::string> lines = split(text, '\n');
    if (lines.back().empty()) lines.pop_back();
    for (const std::string& line : lines) {
        const std::string token(trimmed(line));
        const auto where = [&] { return "line " + std::to_string(ids.size() + 1); };
        if (token.empty()) throw std::invalid_argument(where() + " is blank");
        if (!ids.emplace(token, ids.size()).second)
            throw std::invalid_argument(where() + " repeats the token " + quoteExcerpt(token));
    }
    return ids;
}

/// What transformers' EsmTokenizer (5.24) does, as the content of a tokenizer.json.
Json tokenizerOfEsm(const Json& vocabulary, const Json& config) {
    const auto named = [&](const char* key, const char* otherwise) {
        const Json& token = jsonMember(config, key);
        return token.is_null() ? std::string(otherwise)
                               : addedToken(token, true).at("content").get<std::string>();
    };
    const std::string first = named("cls_token", "<cls>"), last = named("eos_token", "<eos>"),
                      unknown = named("unk_token", "<unk>");
    const std::set<std::string> special = {first, last, unknown, named("pad_token", "<pad>"),
                                           named("mask_token", "<mask>")};
    Json added = Json::array();
    for (const auto& [text, id] : vocabulary.items())
        added.push_back({{"content", text}, {"id", id}, {"special", special.contains(text)}});
    const auto mark = [](const std::string& text) { return Json{{"SpecialToken", {{"id", text}}}}; };
    Json marks = Json::object();
    for (const std::string& text : {first, last}) {
        if (!vocabulary.contains(text))
            throw std::invalid_argument("has no token " + quoteExcerpt(text) + ", which every text needs");
        marks[text] = {{"id", text}, {"ids", {vocabulary.at(text)}}, {"tokens", {text}}};
    }
    return {{"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", unknown}}},
            {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
            {"post_processor",
             {{"type", "TemplateProcessing"},
              {"single", {mark(first), {{"Sequence", {{"id", "A"}}}}, mark(last)}},
              {"pair", Json::array()},
              {"special_tokens", marks}}},
            {"added_tokens", added}};
}

}  // namespace

bool hasTokenizer(const FilePath& folder) {
    return pathExists(folder / kTokenizerJson) || configOfEsm(folder);
}

Tokenizer readFolderTokenizer(const FilePath& folder) {
    const auto config = pathExists(folder / kTokenizerJson) ? std::nullopt : configOfEsm(folder);
    if (!config) return readTokenizerJson(folder / kTokenizerJson);
    const FilePath path = folder / kVocabulary;
    return parseEsmVocabulary(readFile(path), *config, path.string());
}

Tokenizer parseEsmVocabulary(const std::string& lines, const nlohmann::json& config,
                             const std::string& origin) {
    return readingFile(origin, [&] {
        const Json tokenizer = tokenizerOfEsm(vocabularyOfLines(lines), config);
        return read(tokenizer, origin, maskText(config, tokenizer));
    });
}

Tokenizer parseTokenizerJson(std::string_view json, const std::string& origin) {
    return parse(json, origin, [](const Json& tokenizer) { return maskText({}, tokenizer); });
}

Tokenizer readTokenizerJson(const FilePath& path) {
    return parse(readFile(path), path.string(), [&](Json& tokenizer) {
        const Json config = readSiblingJson(path, kConfig),
                   added_tokens = readSiblingJson(path, "added_tokens.json");
        std::vector<Json> tokens;
        std::string mask;
        try {
            tokens = tokensFromSiblings(config, added_tokens);
            mask = maskText(config, tokenizer);
            setBertOptions(tokenizer, config);
        } catch (const std::exception& error) {
            const char* const name = config.is_null() ? "added_tokens.json" : kConfig;
            throw Error(ErrorKind::checkpoint,
                        (path.path().parent_path() / name).string() + ": " + jsonErrorMessage(error.what()));
        }
        if (!tokens.empty()) addMissing(tokenizer, tokens);
        return mask;
    });
}

}  // namespace roper
