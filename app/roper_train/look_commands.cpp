#include "app/roper_train/look_commands.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/roper_train/commands.h"
#include "app/roper_train/json_line.h"
#include "app/roper_train/look_heads.h"
#include "app/roper_train/look_studies.h"
#include "core/base/available.h"
#include "core/base/console.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/safetensors.h"
#include "core/base/text.h"
#include "core/reading/model_change.h"
#include "core/reading/model_reader.h"

namespace roper {

std::string shownToken(const TextCodec& codec, std::int64_t id) {
    std::string shown;
    for (const char c : codec.textOf(id))
        shown += c == '\n' ? "↵" : c == '\t' ? "⇥" : std::string(1, c);
    return "⟨" + onOneLine(shown) + "⟩";
}

nlohmann::ordered_json tokensJson(const TextCodec& codec, const std::vector<std::int64_t>& ids) {
    auto tokens = nlohmann::ordered_json::array();
    for (const std::int64_t id : ids)
        tokens.push_back(codec.textOf(id));
    return tokens;
}

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kLongestText = 16U << 20U;

std::string textOf(const LookOptions& options) {
    return options.text_file.empty() ? options.text : readFile(options.text_file, kLongestText);
}

/// A GGUF file, a Hugging Face folder, or a run, by its path or by its name in the runs folder.
OpenedModel opened(const LookOptions& options) {
    if (isPretrainedModel(options.model)) {
        if (options.step)
            throw Error(ErrorKind::usage, "--step chooses a checkpoint of a run; this model has none");
        return openPublished(options.model);
    }
    return openRun(findRun(options.model.string(), options.runs), options.step);
}

Intervention interventionOf(const LookOptions& options, const Architecture& model) {
    ModelChange change = options.change;
    change.ablate = join(options.ablations, ";");
    change.scaling = scalingMethodOf(options.scaling);
    if (questionKind(options.what).heads == QuestionKind::Heads::none) {
        change.layer = options.layer;
        change.head = options.head;
    }
    return interventionOf(change, model);
}

int printLoss(const LookRequest& asked) {
    const auto& [reader, options, ids, change] = asked;
    const TextReading read = reader.read(ids, 0, change);
    if (read.nll.empty()) throw Error(ErrorKind::usage, "a loss needs at least two tokens; the text has 1");
    if (options.json) {
        print({{"ids", read.ids}, {"nll", read.nll}, {"loss", read.loss}});
        return 0;
    }
    for (std::size_t t = 0; t < ids.size(); ++t)
        std::cout << (t == 0 ? "       –" : [&] {
            std::string number = formatFixed(read.nll[t - 1], 3);
            return std::string(number.size() < 8 ? 8 - number.size() : 0, ' ') + number;
        }()) << "  " << shownToken(reader.codec(), ids[t]) << "\n";
    std::cout << "loss " << formatFixed(read.loss, 4) << " nats a token over "
              << countOf(read.nll.size(), "token") << ", perplexity " << formatRounded(std::exp(read.loss), 4)
              << "\n";
    return 0;
}

int printLogits(const LookRequest& asked) {
    const auto& [reader, options, ids, change] = asked;
    const TextReading read = reader.read(ids, asked.count(), change);
    const TextCodec& codec = reader.codec();
    if (options.json) {
        Json of_tokens = Json::array();
        for (const auto& candidates : read.predictions) {
            Json list = Json::array();
            for (const Prediction& next : candidates)
                list.push_back({{"id", next.id},
                                {"token", next.token},
                                {"logit", next.logit},
                                {"probability", next.probability}});
            of_tokens.push_back(std::move(list));
        }
        print({{"ids", ids}, {"tokens", read.tokens}, {"nll", read.nll}, {"predictions", of_tokens}});
        return 0;
    }
    for (const Prediction& next : read.predictions.back())
        std::cout << formatFixed(100 * next.probability, 2) << " %  logit " << formatFixed(next.logit, 3)
                  << "  " << shownToken(codec, next.id) << "\n";
    return 0;
}

/// Prints the text as it is written, or all of it as JSON in the end.
int printGenerated(const LookRequest& asked) {
    const LookOptions& options = asked.options;
    const TextCodec& codec = asked.reader.codec();
    std::string unfinished;  // a character may reach over several tokens
    const auto take = [&](std::int64_t id) {
        if (options.json || codec.isSpecial(id)) return true;
        unfinished += codec.textOf(id);
        const std::size_t end = std::min(firstNotUtf8(unfinished), unfinished.size());
        constexpr std::size_t kLongestCharacter = 4;
        const std::size_t whole = unfinished.size() - end < kLongestCharacter ? end : unfinished.size();
        std::cout << withoutControls(unfinished.substr(0, whole)) << std::flush;
        unfinished.erase(0, whole);
        return true;
    };
    const GeneratedText written = asked.reader.generate(
        asked.ids, {asked.count(), options.temperature, options.seed}, take, asked.change);
    if (options.json)
        print({{"ids", asked.ids},
               {"generated", written.generated},
               {"probability", written.probability},
               {"text", written.text}});
    else
        std::cout << std::endl;
    return 0;
}

/// How many keys query n of T sees.
std::size_t keysSeen(const ModelReader& reader, std::size_t n, std::size_t T) {
    return reader.model().architecture.causal ? n + 1 : T;
}

/// One head's weights as JSON: a list for each query, of the keys that it sees.
int printAttention(const LookRequest& asked) {
    const auto& [reader, options, ids, change] = asked;
    if (!options.layer || !options.head)
        throw Error(ErrorKind::usage,
                    "the attention of all heads goes into a file: --out FILE.safetensors or .csv; or "
                    "choose one with --layer and --head");
    const std::vector<float> weights = reader.attentionOf(ids, *options.layer, *options.head, change);
    const std::size_t T = ids.size();
    Json rows = Json::array();
    for (std::size_t n = 0; n < T; ++n)
        rows.push_back(std::vector<float>(
            weights.begin() + static_cast<std::ptrdiff_t>(n * T),
            weights.begin() + static_cast<std::ptrdiff_t>(n * T + keysSeen(reader, n, T))));
    print({{"layer", *options.layer},
           {"head", *options.head},
           {"ids", ids},
           {"tokens", tokensJson(reader.codec(), ids)},
           {"weights", rows}});
    return 0;
}

/// Weights of the heads that are wanted, a layer at a time.
void writeAttentionCsv(const LookRequest& asked, const AppendBytes& append) {
    ModelReader& reader = asked.reader;
    const LookOptions& options = asked.options;
    const std::vector<std::int64_t>& ids = asked.ids;
    const Intervention& change = asked.change;
    append(bytesOf("layer,head,query,key,weight\n"));
    const std::size_t T = ids.size();
    reader.attention(
        ids,
        [&](std::int64_t layer, std::span<const float> weights) {
            for (std::size_t head = 0; head < weights.size() / (T * T); ++head) {
                if (!isWanted(options, layer, static_cast<std::int64_t>(head))) continue;
                std::string lines;
                for (std::size_t n = 0; n < T; ++n)
                    for (std::size_t j = 0; j < keysSeen(reader, n, T); ++j)
                        lines += std::to_string(layer) + "," + std::to_string(head) + "," +
                                 std::to_string(n) + "," + std::to_string(j) + "," +
                                 formatNumber(static_cast<double>(weights[(head * T + n) * T + j])) + "\n";
                append(bytesOf(lines));
            }
        },
        change);
}

/// "attention" [L, H, T, T] (or [T, T] of one head) and "tokens" [T].
void writeAttentionTensors(const LookRequest& asked, const std::filesystem::path& out) {
    ModelReader& reader = asked.reader;
    const LookOptions& options = asked.options;
    const std::vector<std::int64_t>& ids = asked.ids;
    const Intervention& change = asked.change;
    const Architecture& model = reader.model().architecture;
    const auto T = static_cast<std::int64_t>(ids.size());
    const bool of_one = options.layer && options.head;
    const StreamedTensor tokens{
        "tokens", Dtype::I64, {T}, [&](const AppendBytes& append) { append(std::as_bytes(std::span(ids))); }};
    const auto write = [&](const AppendBytes& append) {
        if (of_one) {
            const std::vector<float> weights = reader.attentionOf(ids, *options.layer, *options.head, change);
            return append(std::as_bytes(std::span(weights)));
        }
        reader.attention(
            ids, [&](std::int64_t, std::span<const float> weights) { append(std::as_bytes(weights)); },
            change);
    };
    const StreamedTensor attention{
        "attention", Dtype::F32,
        of_one ? std::vector<std::int64_t>{T, T} : std::vector<std::int64_t>{model.layers, model.heads, T, T},
        write};
    std::map<std::string, std::string> metadata{{"model", reader.model().name}};
    if (of_one)
        metadata.insert({{"layer", std::to_string(*options.layer)}, {"head", std::to_string(*options.head)}});
    writeSafetensors(out, std::vector{tokens, attention}, metadata);
}

int attentionToFile(const LookRequest& asked) {
    const LookOptions& options = asked.options;
    const std::filesystem::path out = outputPath(options.out);
    if (options.layer.has_value() != options.head.has_value() && out.extension() != ".csv")
        throw Error(ErrorKind::usage, "a .safetensors file holds all heads, or one: --layer and --head");
    if (out.extension() == ".csv")
        writeFileAtomically(out, [&](const AppendBytes& append) { writeAttentionCsv(asked, append); });
    else if (out.extension() == ".safetensors")
        writeAttentionTensors(asked, out);
    else
        throw Error(ErrorKind::usage,
                    "attention is written as .safetensors or .csv, not as \"" + out.string() + "\"");
    std::cerr << "wrote " << out.string() << "\n";
    return 0;
}

int printOrWriteAttention(const LookRequest& asked) {
    return asked.options.out.empty() ? printAttention(asked) : attentionToFile(asked);
}

/// Null for a kind whose answer is only sent.
PrintAnswer printerOf(const QuestionKind& kind) {
    static const std::map<std::string, PrintAnswer> printers = [] {
        std::map<std::string, PrintAnswer> all = {{"loss", &printLoss},
                                                  {"logits", &printLogits},
                                                  {"generate", &printGenerated},
                                                  {"attention", &printOrWriteAttention}};
        all.insert(kHeadPrinters.begin(), kHeadPrinters.end());
        all.insert(kStudyPrinters.begin(), kStudyPrinters.end());
        return all;
    }();
    const auto found = printers.find(kind.name);
    return found == printers.end() ? nullptr : found->second;
}

}  // namespace

std::vector<std::string> printedQuestions() {
    std::vector<std::string> names;
    for (const QuestionKind& kind : questionKinds())
        if (printerOf(kind) != nullptr) names.push_back(kind.name);
    return names;
}

int lookCommand(const LookOptions& options) {
    const QuestionKind& kind = questionKind(options.what);
    std::optional<EndsWithReader> ends;
    if (options.out.empty()) ends.emplace();
    ReaderOptions settings;
    settings.threads = options.threads;
    if (kind.repeats_passes)
        settings.kept_bytes = static_cast<std::uint64_t>(availableMemory().value_or(0) / 3);
    const bool shows_progress = ::isatty(STDERR_FILENO) != 0 && !options.json;
    if (shows_progress)
        settings.progress = [](std::int64_t done, std::int64_t all) {
            terminal() << "\rlayer " << done << " of " << all << (done == all ? "\r\033[K" : "")
                       << std::flush;
        };
    ModelReader reader(opened(options), settings);
    for (const std::string& note : reader.model().notes)
        std::cerr << "roper-train: " << note << "\n";
    requireHeads({options.layer, options.head}, reader.model().architecture);
    LookRequest asked{reader, options};
    if (kind.can_change) asked.change = interventionOf(options, reader.model().architecture);
    if (kind.reads_text) asked.ids = reader.encode(textOf(options));
    return printerOf(kind)(asked);
}

}  // namespace roper
