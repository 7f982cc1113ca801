#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"
#include "core/tokenizers/tokenizer_files.h"

namespace roper {
namespace {

using Json = nlohmann::json;

/// Some vocabularies start after the ids of the added tokens, or leave gaps.
constexpr std::int64_t kMaxIdsWithoutToken = 1 << 16;

/// The member of an object; null if it is missing.
const Json& member(const Json& object, const char* key) {
    static const Json kNull;
    if (!object.is_object()) return kNull;
    const auto found = object.find(key);
    return found == object.end() ? kNull : *found;
}

template <class Type>
Type valueOr(const Json& object, const char* key, Type otherwise) {
    const Json& value = member(object, key);
    return value.is_null() ? otherwise : value.get<Type>();
}

/// @throws std::invalid_argument for 1.5, true or 1e300
std::int64_t requireInteger(const Json& number) {
    if (!number.is_number_integer() || number > Json(std::numeric_limits<std::int64_t>::max()))
        throw std::invalid_argument(
            quoteExcerpt(number.dump(-1, ' ', false, Json::error_handler_t::replace)) +
            " stands where an id is expected");
    return number.get<std::int64_t>();
}

std::string typeOf(const Json& object) {
    return valueOr<std::string>(object, "type", "");
}

[[noreturn]] void throwUnsupported(const std::string& what, const std::string& name) {
    throw std::invalid_argument("the " + what + " \"" + toSingleLine(name) + "\" is not understood here");
}

/// Refuses unknown members, since their effect is unknown, too.
void requireKnown(const Json& object, const std::string& what,
                  std::initializer_list<std::string_view> members) {
    if (!object.is_object()) return;
    for (const auto& [key, value] : object.items())
        if (std::find(members.begin(), members.end(), key) == members.end())
            throwUnsupported("member of " + what, key);
}

Pattern patternOf(const Json& json) {
    requireKnown(json, "a pattern", {"String", "Regex"});
    if (const Json& text = member(json, "String"); text.is_string()) {
        if (text.get_ref<const std::string&>().empty()) throw std::invalid_argument("a pattern is empty");
        return Pattern::literal(text.get<std::string>());
    }
    return Pattern(member(json, "Regex").get<std::string>());
}

/// Refuses a list that is too long before reading more of it. @param count  entries read so far
void requireBelowLimit(std::size_t count, std::size_t max_count, const char* what) {
    if (count >= max_count)
        throw std::invalid_argument("it has more than " + std::to_string(max_count) + " " + what);
}

void readNormalizer(const Json& json, TokenizerParts& parts) {
    using Kind = Normalization::Kind;
    if (json.is_null()) return;
    const std::string type = typeOf(json);
    requireKnown(json, "the normalizer " + type, {"type", "normalizers", "prepend", "pattern", "content"});
    if (type == "Sequence") {
        for (const Json& one : member(json, "normalizers"))
            readNormalizer(one, parts);
        return;
    }
    requireBelowLimit(parts.normalizations.size(), Tokenizer::kMaxNormalizations, "normalizers");
    static const std::vector<std::pair<std::string, Kind>> kForms = {
        {"NFC", Kind::nfc}, {"NFD", Kind::nfd}, {"NFKC", Kind::nfkc}, {"NFKD", Kind::nfkd}};
    for (const auto& [name, kind] : kForms)
        if (type == name) {
            parts.normalizations.push_back({kind});
            return;
        }
    if (type == "Prepend")
        parts.normalizations.push_back({Kind::prepend, {}, member(json, "prepend").get<std::string>()});
    else if (type == "Replace")
        parts.normalizations.push_back(
            {Kind::replace, patternOf(member(json, "pattern")), member(json, "content").get<std::string>()});
    else
        throwUnsupported("normalizer", type);
}

Split::Match matchOf(const std::string& name) {
    static const std::vector<std::pair<std::string, Split::Match>> kKnown = {
        {"Isolated", Split::Match::isolated},
        {"Removed", Split::Match::removed},
        {"Contiguous", Split::Match::contiguous},
        {"MergedWithPrevious", Split::Match::with_previous},
        {"MergedWithNext", Split::Match::with_next}};
    for (const auto& [known, match] : kKnown)
        if (name == known) return match;
    throwUnsupported("behavior of a split", name);
}

Split splitAt(const std::string& expression, Split::Match match = Split::Match::isolated) {
    Split split;
    split.pattern = Pattern(expression);
    split.match = match;
    return split;
}

/// What the pre-tokenizer Punctuation (tokenizers 0.23.3) counts as punctuation: ASCII's, and Unicode's as of
/// version 8, the version of the package's tables. Determined by testing every character.
const std::string& punctuation() {
    static const std::string kLater =
        R"(\x{61D}\x{9FD}\x{A76}\x{C77}\x{C84}\x{1B7D}-\x{1B7E}\x{2E43}-\x{2E4F}\x{2E52}-\x{2E5D})"
        R"(\x{10EAD}\x{10F55}-\x{10F59}\x{10F86}-\x{10F89}\x{1144B}-\x{1144F}\x{1145A}-\x{1145B})"
        R"(\x{1145D}\x{11660}-\x{1166C}\x{116B9}\x{1183B}\x{11944}-\x{11946}\x{119E2})"
        R"(\x{11A3F}-\x{11A46}\x{11A9A}-\x{11A9C}\x{11A9E}-\x{11AA2}\x{11C41}-\x{11C45})"
        R"(\x{11C70}-\x{11C71}\x{11EF7}-\x{11EF8}\x{11FFF}\x{12FF1}-\x{12FF2}\x{16E97}-\x{16E9A})"
        R"(\x{16FE2}\x{1E95E}-\x{1E95F})";
    static const std::string kPattern = "(?![" + kLater + R"(])[\p{P}!-/:-@\[-`{-~\x{166D}\x{111C9}])";
    return kPattern;
}

Split metaspace(const Json& json) {
    Split split;
    split.kind = Split::Kind::metaspace;
    split.space = valueOr<std::string>(json, "replacement", "▁");
    if (split.space.empty()) throw std::invalid_argument("the replacement of Metaspace is empty");
    split.pattern = Pattern::literal(split.space);
    const std::string scheme = valueOr<std::string>(
        json, "prepend_scheme", valueOr(json, "add_prefix_space", true) ? "always" : "never");
    split.prefix = scheme == "first"    ? Split::Prefix::first
                   : scheme == "always" ? Split::Prefix::always
                   : scheme == "never"
                       ? Split::Prefix::never
                       : throw std::invalid_argument("prepend_scheme is \"" + toSingleLine(scheme) + "\"");
    split.splits_words = valueOr(json, "split", true);
    return split;
}

void readPreTokenizer(const Json& json, TokenizerParts& parts) {
    if (json.is_null()) return;
    const std::string type = typeOf(json);
    if (parts.byte_level) throwUnsupported("pre_tokenizer after ByteLevel", type);
    requireKnown(
        json, "the pre_tokenizer " + type,
        {"type", "pretokenizers", "pattern", "behavior", "invert", "individual_digits", "add_prefix_space",
         "trim_offsets", "use_regex", "replacement", "prepend_scheme", "split", "str_rep"});
    requireBelowLimit(parts.splits.size(), Tokenizer::kMaxSplits, "pre_tokenizers");
    if (type == "Sequence") {
        for (const Json& one : member(json, "pretokenizers"))
            readPreTokenizer(one, parts);
    } else if (type == "ByteLevel") {
        parts.byte_level = true;
        if (valueOr(json, "add_prefix_space", true)) parts.splits.push_back({Split::Kind::prepend_blank});
        if (valueOr(json, "use_regex", true)) parts.splits.push_back(splitAt(kGpt2Pattern));
    } else if (type == "Split") {
        Split split;
        split.pattern = patternOf(member(json, "pattern"));
        split.match = matchOf(member(json, "behavior").get<std::string>());
        split.inverted = valueOr(json, "invert", false);
        parts.splits.push_back(std::move(split));
    } else if (type == "Digits") {
        parts.splits.push_back(splitAt(valueOr(json, "individual_digits", false) ? R"(\p{N})" : R"(\p{N}+)"));
    } else if (type == "Punctuation") {
        parts.splits.push_back(
            splitAt(punctuation(), matchOf(valueOr<std::string>(json, "behavior", "Isolated"))));
    } else if (type == "Metaspace") {
        parts.splits.push_back(metaspace(json));
        parts.blank = parts.splits.back().space;
    } else {
        throwUnsupported("pre_tokenizer", type);
    }
}

void readPostProcessor(const Json& json, TokenizerParts& parts) {
    const std::string type = typeOf(json);
    if (json.is_null() || type == "ByteLevel") return;
    if (type == "Sequence") {
        for (const Json& one : member(json, "processors"))
            readPostProcessor(one, parts);
        return;
    }
    if (type != "TemplateProcessing") throwUnsupported("post_processor", type);
    std::vector<std::int64_t>* into = &parts.prefix_ids;
    for (const Json& one : member(json, "single")) {
        if (one.contains("Sequence")) {
            into = &parts.suffix_ids;
            continue;
        }
        const auto name = member(member(one, "SpecialToken"), "id").get<std::string>();
        for (const Json& id : member(member(member(json, "special_tokens"), name.c_str()), "ids")) {
            requireBelowLimit(parts.prefix_ids.size() + parts.suffix_ids.size(), Tokenizer::kMaxSpecialTokens,
                              "special tokens around a text");
            into->push_back(requireInteger(id));
        }
    }
}

std::vector<std::string> readVocabulary(const Json& vocabulary) {
    if (!vocabulary.is_object())
        throw std::invalid_argument("model.vocab is not an object of tokens and their ids");
    std::vector<std::string> pieces;
    std::vector<bool> is_taken;
    for (const auto& [piece, id_json] : vocabulary.items()) {
        const std::int64_t id = requireInteger(id_json);
        if (id < 0 || id > kMaxTokenId || id >= std::ssize(vocabulary) + kMaxIdsWithoutToken)
            throw std::invalid_argument("the token " + quoteExcerpt(piece) + " has the id " +
                                        std::to_string(id) + " in a vocabulary of " +
                                        std::to_string(vocabulary.size()));
        requireToken(piece);
        if (static_cast<std::size_t>(id) >= pieces.size()) {
            pieces.resize(static_cast<std::size_t>(id) + 1);
            is_taken.resize(pieces.size());
        }
        if (is_taken[static_cast<std::size_t>(id)])
            throw std::invalid_argument("two tokens have the id " + std::to_string(id));
        is_taken[static_cast<std::size_t>(id)] = true;
        pieces[static_cast<std::size_t>(id)] = piece;
    }
    return pieces;
}

std::vector<Bpe::Merge> readMerges(const Json& merges, const Bpe& vocabulary) {
    if (!merges.is_array()) throw std::invalid_argument("model.merges is not a list");
    std::vector<Bpe::Merge> read;
    for (const Json& merge : merges) {
        std::string left, right;
        if (merge.is_array() && merge.size() == 2) {
            left = merge[0].get<std::string>();
            right = merge[1].get<std::string>();
        } else {
            const auto& both = merge.get_ref<const std::string&>();
            const std::size_t blank = both.find(' ');
            if (blank == std::string::npos)
                throw std::invalid_argument("the merge " + quoteExcerpt(both) + " has no blank");
            left = both.substr(0, blank);
            right = both.substr(blank + 1);
        }
        const auto found = vocabulary.mergeOf(left, right, read.size());
        if (!found)
            throw std::invalid_argument("the merge of " + quoteExcerpt(left) + " and " + quoteExcerpt(right) +
                                        " needs a token that the vocabulary lacks");
        read.push_back(*found);
    }
    return read;
}

Bpe readModel(const Json& model) {
    const std::string type = valueOr<std::string>(model, "type", "BPE");
    if (type != "BPE") throwUnsupported("model", type);
    requireKnown(model, "the model",
                 {"type", "vocab", "merges", "dropout", "unk_token", "continuing_subword_prefix",
                  "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges", "cache_capacity"});
    for (const char* const key : {"continuing_subword_prefix", "end_of_word_suffix"})
        if (!valueOr<std::string>(model, key, "").empty()) throwUnsupported("member of the model", key);
    if (valueOr(model, "dropout", 0.0) != 0) throwUnsupported("member of the model", "dropout");
    Bpe bpe(readVocabulary(member(model, "vocab")));
    bpe.setMerges(readMerges(member(model, "merges"), bpe));
    bpe.ignore_merges = valueOr(model, "ignore_merges", false);
    bpe.byte_fallback = valueOr(model, "byte_fallback", false);
    bpe.fuse_unknown = valueOr(model, "fuse_unk", false);
    if (const Json& unknown = member(model, "unk_token"); !unknown.is_null()) {
        bpe.unknown = bpe.idOf(unknown.get<std::string>());
        if (!bpe.unknown) throw std::invalid_argument("the vocabulary lacks unk_token");
    }
    return bpe;
}

/// Tokens in addition to the vocabulary. As in Hugging Face's tokenizers (0.23.3), the ids in the file are
/// ignored: a token that is in the vocabulary has its id there, and the others are numbered from the
/// vocabulary's size upwards, in the order of the list. The model was trained with those numbers.
/// @param vocabulary_size  number of tokens, which is below the largest id + 1 if ids are left out
std::vector<AddedToken> readAddedTokens(const Json& list, const Bpe& vocabulary,
                                        std::size_t vocabulary_size) {
    std::vector<AddedToken> tokens;
    std::map<std::string, std::int64_t> numbered;
    for (const Json& json : list) {
        requireKnown(json, "an added token",
                     {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special", "__type"});
        AddedToken token{json.at("content").get<std::string>(), requireInteger(json.at("id")),
                         valueOr(json, "special", false),       valueOr(json, "normalized", false),
                         valueOr(json, "lstrip", false),        valueOr(json, "rstrip", false),
                         valueOr(json, "single_word", false)};
        requireTokenId(token);
        if (token.text.empty()) continue;  // as in that library
        const auto next = static_cast<std::int64_t>(vocabulary_size + numbered.size());
        const auto known = vocabulary.idOf(token.text);
        token.id = known ? *known : numbered.emplace(token.text, next).first->second;
        if (!known && token.id < std::ssize(vocabulary.pieces()) &&
            !vocabulary.pieces()[static_cast<std::size_t>(token.id)].empty())
            throw std::invalid_argument("the added token " + quoteExcerpt(token.text) + " is numbered " +
                                        std::to_string(token.id) +
                                        ", which a token of the vocabulary has, too");
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

/// Sorts tokens by id. The ids are the keys of an object, written as text.
std::vector<Json> sortedById(const Json& tokens) {
    std::map<long long, Json> sorted;
    for (const auto& [key, token] : tokens.items()) {
        const auto id = parseInteger(key);
        if (!id)
            throw std::invalid_argument("added_tokens_decoder has the key " + quoteExcerpt(key) +
                                        ", which is no id");
        sorted[*id] = addedToken(token, false);
    }
    std::vector<Json> listed;
    for (auto& [id, token] : sorted)
        listed.push_back(std::move(token));
    return listed;
}

/// The tokens that transformers 5.24 adds to those of a tokenizer.json, in its order: added_tokens_decoder of
/// tokenizer_config.json or, without it, added_tokens.json, then the named special tokens.
/// @throws Json::exception, std::invalid_argument
std::vector<Json> tokensFromSiblings(const Json& config, const Json& added_tokens) {
    std::vector<Json> tokens;
    const Json& decoder = member(config, "added_tokens_decoder");
    if (decoder.is_object()) {
        tokens = sortedById(decoder);
    } else if (added_tokens.is_object()) {
        std::map<std::int64_t, Json> sorted;
        for (const auto& [text, id] : added_tokens.items())
            sorted[requireInteger(id)] = addedToken(text, false);
        for (auto& [id, token] : sorted)
            tokens.push_back(std::move(token));
    }
    for (const char* const key :
         {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"})
        if (const Json& token = member(config, key); token.is_string() || token.is_object())
            tokens.push_back(addedToken(token, true));
    for (const char* const key : {"extra_special_tokens", "additional_special_tokens"})
        if (const Json& list = member(config, key); list.is_array())
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

/// Ignores truncation and padding, which transformers applies only on request, and the decoder, since tokens
/// are shown one by one.
Tokenizer read(const Json& json, const std::string& origin) {
    requireKnown(json, "a tokenizer.json",
                 {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                  "post_processor", "decoder", "model"});
    if (const std::string version = valueOr<std::string>(json, "version", "1.0"); version != "1.0")
        throwUnsupported("version", version);
    TokenizerParts parts(readModel(member(json, "model")));
    parts.origin = origin;
    readNormalizer(member(json, "normalizer"), parts);
    readPreTokenizer(member(json, "pre_tokenizer"), parts);
    readPostProcessor(member(json, "post_processor"), parts);
    parts.added_tokens = readAddedTokens(member(json, "added_tokens"), parts.bpe,
                                         member(member(json, "model"), "vocab").size());
    return Tokenizer(std::move(parts));
}

}  // namespace

namespace {

/// @param more  yields the tokens that other files add
Tokenizer parse(std::string_view json, const std::string& origin,
                const std::function<std::vector<Json>()>& more) {
    const auto refuse = [&](const std::string& why) {
        return Error(ErrorKind::checkpoint, origin + ": " + why);
    };
    try {
        Json tokenizer = parseStrictJson(json);
        if (const std::vector<Json> added_tokens = more(); !added_tokens.empty() && tokenizer.is_object())
            addMissing(tokenizer, added_tokens);
        return read(tokenizer, origin);
    } catch (const Json::exception& error) {
        throw refuse(jsonErrorMessage(error.what()));
    } catch (const std::invalid_argument& error) {
        throw refuse(error.what());
    }
}

}  // namespace

Tokenizer parseTokenizerJson(std::string_view json, const std::string& origin) {
    return parse(json, origin, [] { return std::vector<Json>(); });
}

Tokenizer readTokenizerJson(const FilePath& path) {
    return parse(readFile(path), path.string(), [&]() -> std::vector<Json> {
        const Json config = readSiblingJson(path, "tokenizer_config.json"),
                   added_tokens = readSiblingJson(path, "added_tokens.json");
        try {
            return tokensFromSiblings(config, added_tokens);
        } catch (const std::exception& error) {
            const char* const name = config.is_null() ? "added_tokens.json" : "tokenizer_config.json";
            throw Error(ErrorKind::checkpoint,
                        (path.path().parent_path() / name).string() + ": " + jsonErrorMessage(error.what()));
        }
    });
}

}  // namespace roper
