#include "core/tokenizers/gguf_patterns.h"

#include <map>

#include "core/base/text.h"
#include "core/tokenizers/tokenizer.h"

namespace roper {
namespace {

// Parts of patterns.
const std::string kContraction = R"((?i:'s|'t|'re|'ve|'m|'ll|'d))", kEnds = R"(|\s*[\r\n]+|\s+(?!\S)|\s+)",
                  kWord = R"([^\r\n\p{L}\p{N}]?\p{L}+)", kLines = R"([\r\n]*)", kSlashes = R"([\r\n/]*)",
                  kUpper = R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])", kLower = R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])",
                  kEachDigit = R"(\p{N})", kThreeDigits = R"(\p{N}{1,3})",
                  kChineseOrKana = "[一-龥぀-ゟ゠-ヿ]+";

/// Other characters, which may have a blank before them. @param lines  what may follow them
std::string others(const std::string& lines) {
    return R"( ?[^\s\p{L}\p{N}]+)" + lines;
}

/// Words with a contraction, digits, others, white space, as in Llama 3. @param digits  a group of digits
std::string likeLlama3(const std::string& digits) {
    return kContraction + "|" + kWord + "|" + digits + "|" + others(kLines) + kEnds;
}

/// Words of capitals and small letters, as in Mistral's tokenizer Tekken. @param end  what may end a word
/// @param letter  what each of a word's letters must be, before its class
std::string likeTekken(const std::string& digits, const std::string& end, const std::string& lines,
                       const std::string& letter = "") {
    const auto each = [&](const std::string& kind) {
        return letter.empty() ? kind : "(?:" + letter + kind + ")";
    };
    const std::string upper = each(kUpper), lower = each(kLower), first = R"([^\r\n\p{L}\p{N}]?)";
    return first + upper + "*" + lower + "+" + end + "|" + first + upper + "+" + lower + "*" + end + "|" +
           digits + "|" + others(lines) + kEnds;
}

/// The last step of DeepSeek V3's rules. @param ends  how the pattern goes on behind runs of symbols
std::string likeDeepSeek3(const std::string& ends) {
    return R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+)" +
           ends;
}

const std::vector<KnownPattern>& allPatterns() {
    static const std::string kLlama3 = likeLlama3(kThreeDigits), kQwen2 = likeLlama3(kEachDigit),
                             kSentences = R"( ?[^(\s|.,!?…。，、।۔،)]+)";
    // Letters of scripts with capitals.
    static const std::string kCasedLetters =
        "["
        R"(A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293})"
        R"(\x{295}-\x{2AF}\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386})"
        R"(\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1}\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F})"
        R"(\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5}\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA})"
        R"(\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A})"
        R"(\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D})"
        R"(\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4})"
        R"(\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3})"
        R"(\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107})"
        R"(\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D})"
        R"(\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184})"
        R"(\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D})"
        R"(\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787}\x{A78B}-\x{A78E})"
        R"(\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A})"
        R"(\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB})"
        R"(\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF}\x{1E900}-\x{1E943})"
        "]+";
    static const std::string kCjk = "[一-龥ࠀ-一가-퟿]+", kNotHan = R"((?!\p{Han}))";
    static const std::string kDeepSeek3 = likeDeepSeek3(kLines + kEnds);
    static const std::vector<KnownPattern> known = {
        {"gpt-2 phi-2 mpt olmo jais trillion granite-docling exaone4 gigachat a.x-4.0 mellum modern-bert "
         "jina-es "
         "jina-de jina-v2-es jina-v2-de jina-v1-en jina-v2-code roberta-bpe",
         {kGpt2Pattern}},
        {"smollm starcoder refact command-r codeshell exaone minerva-7b mellum2", {kEachDigit, kGpt2Pattern}},
        {"llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
         {kLlama3},
         true,
         true},
        {"dbrx smaug-bpe chatglm-bpe", {kLlama3}},
        {"glm4 glm5", {kLlama3}, true},
        {"minicpm5", {kThreeDigits, likeLlama3(R"(\p{N}+)")}, true},
        {"qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2", {kQwen2}},
        {"qwen35",
         {kContraction + R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)" + kEnds}},
        {"ufakzeka", {kWord + "|" + kEachDigit + "|" + others(kLines) + kEnds}},
        {"laguna", {R"([^\n]+|[\n]+)", kQwen2}},
        {"jais-2",
         {kContraction + "|" + kWord + "|" + kThreeDigits + "|" + others(kLines) +
          R"(|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})"}},
        {"seed-coder", {kContraction + "|" + kWord + R"(|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+)" + kEnds}},
        {"bailingmoe bailingmoe2 llada-moe",
         {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"}},
        {"exaone-moe",
         {kContraction +
          R"(|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"}},
        {"tekken", {likeTekken(kEachDigit, "", kSlashes)}, true, true},
        {"gpt-4o llama4 kanana2 talkie minimax-m2", {likeTekken(kThreeDigits, kContraction + "?", kSlashes)}},
        {"granite-embed-multi-97m", {likeTekken(kThreeDigits, kContraction + "?", kSlashes)}, true},
        {"tiny_aya cohere2moe",
         {R"(\d{1,3}(?=(?:\d{3})*\b))", likeTekken(kThreeDigits, kContraction + "?", kSlashes)}},
        {"youtu",
         {"[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|" + kChineseOrKana,
          likeTekken(kEachDigit, kContraction + "?", kSlashes)},
         true},
        {"kimi-k2", {R"([\p{Han}]+|)" + likeTekken(kThreeDigits, kContraction + "?", kLines, kNotHan)}},
        {"deepseek-llm",
         {R"([\r\n])", R"(\s?)" + kCasedLetters, R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)", R"(\s+$)", kCjk,
          R"(\p{N}+)"}},
        {"deepseek-coder", {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kCjk, kEachDigit}},
        {"deepseek-v3 hunyuan-dense joyai-llm hy_v4", {kThreeDigits, kChineseOrKana, kDeepSeek3}},
        {"spark2_5", {kThreeDigits, kChineseOrKana, likeDeepSeek3(R"(|[\r\n]|\s+(?!\S)|\s+)"), kEachDigit}},
        // Groups of three digits, counted from the last.
        {"afmoe",
         {R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))",
          "[一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-"
          "힯ᄀ-"
          "ᇿ]"
          "+",
          kDeepSeek3}},
        {"superbpe", {R"(\p{N}+)", R"((?=(\d{3})+(?!\d)))"}},
        {"falcon", {R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2Pattern, "[0-9][0-9][0-9]"}},
        {"default", {R"([\p{P}\$\+<=>\^~\|]+)", kGpt2Pattern, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
        {"poro-chat bloom gpt3-finnish", {kSentences}},
        {"viking", {kSentences, kEachDigit}},
        {"chameleon",
         {"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", R"(([\t\n]|    |  ))", kEachDigit,
          R"([\p{P}!-/:-@\[-`{-~])", kGpt2Pattern},
         false,
         true},
        {"gemma4", {R"([^\n]+|[\n]+)"}, false, true, false},
        {"granite-embed-multi-311m", {R"([^\n]+|[\n]+)"}, false, true, false},
        {"sarvam-moe", {R"([^\n]+|[\n]+)"}, false, false, false},
    };
    return known;
}

using PatternsByName = std::map<std::string, const KnownPattern*>;

const PatternsByName& patternsByName() {
    static const PatternsByName by_name = [] {
        PatternsByName made;
        for (const KnownPattern& pattern : allPatterns())
            for (const std::string& name : split(pattern.names, ' '))
                made.emplace(name, &pattern);
        return made;
    }();
    return by_name;
}

}  // namespace

const KnownPattern* knownPattern(const std::string& name) {
    const auto found = patternsByName().find(name);
    return found == patternsByName().end() ? nullptr : found->second;
}

std::vector<std::string> supportedPreTokenizers() {
    return mapped(patternsByName(), &PatternsByName::value_type::first);
}

}  // namespace roper
