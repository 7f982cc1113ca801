#include "app/roper_train/look_commands.h"

#include <unistd.h>

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/inspection/inspector.h"

namespace roper {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kLongestText = 16U << 20U;

void print(const Json& json) {
    std::cout << json.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

std::string textOf(const LookOptions& options) {
    return options.text_file.empty() ? options.text : readFile(options.text_file, kLongestText);
}

/// "⟨ the⟩": where a token begins and ends is seen, and a line end is no line end.
std::string shownToken(const Tokenizer& tokenizer, std::int64_t id) {
    std::string shown;
    for (const char c : tokenizer.textOf(id))
        shown += c == '\n' ? "↵" : c == '\t' ? "⇥" : std::string(1, c);
    return "⟨" + onOneLine(shown) + "⟩";
}

Json tokensJson(const Tokenizer& tokenizer, const std::vector<std::int64_t>& ids) {
    Json tokens = Json::array();
    for (const std::int64_t id : ids)
        tokens.push_back(tokenizer.textOf(id));
    return tokens;
}

Intervention interventionOf(const LookOptions& options, const Architecture& model) {
    Intervention intervention;
    if (!options.mute.empty()) {
        const auto pairs = parseIntegers(options.mute);
        if (!pairs)
            throw Error(ErrorKind::usage,
                        "pairs are written 24-31, 5 or 0,1,7, not \"" + options.mute + "\"");
        intervention.muted_pairs.push_back({{options.layer, options.head}, {pairs->begin(), pairs->end()}});
    }
    intervention.shift = options.shift;
    if (options.base > 0) intervention.base = options.base;
    if (options.scaling != "none") {
        Scaling scaling;
        scaling.method = scalingMethodOf(options.scaling);
        scaling.factor = options.factor;
        scaling.original_length =
            options.original_length > 0 ? options.original_length : static_cast<double>(model.context);
        intervention.scaling = scaling;
    }
    return intervention;
}

int printLoss(Inspector& inspector, const std::vector<std::int64_t>& ids, const Intervention& intervention,
              bool json) {
    const TextLoss loss = inspector.loss(ids, intervention);
    if (json) {
        print({{"ids", loss.ids}, {"nll", loss.nll}, {"loss", loss.mean}});
        return 0;
    }
    for (std::size_t t = 0; t < ids.size(); ++t)
        std::cout << (t == 0 ? "       –" : [&] {
            std::string number = formatFixed(loss.nll[t - 1], 3);
            return std::string(number.size() < 8 ? 8 - number.size() : 0, ' ') + number;
        }()) << "  " << shownToken(inspector.tokenizer(), ids[t]) << "\n";
    std::cout << "loss " << formatFixed(loss.mean, 4) << " nats a token over "
              << countOf(loss.nll.size(), "token") << ", perplexity " << formatRounded(std::exp(loss.mean), 4)
              << "\n";
    return 0;
}

int printLogits(Inspector& inspector, const std::vector<std::int64_t>& ids, const Intervention& intervention,
                const LookOptions& options) {
    const auto predictions =
        inspector.predictions(ids, static_cast<std::size_t>(options.count), intervention);
    const Tokenizer& tokenizer = inspector.tokenizer();
    if (options.json) {
        Json of_tokens = Json::array();
        for (const auto& candidates : predictions) {
            Json list = Json::array();
            for (const Prediction& next : candidates)
                list.push_back({{"id", next.id},
                                {"token", tokenizer.textOf(next.id)},
                                {"logit", next.logit},
                                {"probability", next.probability}});
            of_tokens.push_back(std::move(list));
        }
        print({{"ids", ids}, {"tokens", tokensJson(tokenizer, ids)}, {"predictions", of_tokens}});
        return 0;
    }
    for (const Prediction& next : predictions.back())
        std::cout << formatFixed(100 * next.probability, 2) << " %  logit " << formatFixed(next.logit, 3)
                  << "  " << shownToken(tokenizer, next.id) << "\n";
    return 0;
}

}  // namespace

int lookCommand(const LookOptions& options) {
    InspectorOptions settings;
    settings.threads = options.threads;
    const bool shows_progress = ::isatty(STDERR_FILENO) != 0 && !options.json;
    if (shows_progress)
        settings.progress = [](std::int64_t done, std::int64_t all) {
            std::cerr << "\rlayer " << done << " of " << all << (done == all ? "\r\033[K" : "") << std::flush;
        };
    Inspector inspector(options.model, settings);
    for (const std::string& note : inspector.model().notes)
        std::cerr << "roper-train: " << note << "\n";
    const std::vector<std::int64_t> ids = inspector.encode(textOf(options));
    const Intervention intervention = interventionOf(options, inspector.model().architecture);
    if (options.what == "loss") return printLoss(inspector, ids, intervention, options.json);
    return printLogits(inspector, ids, intervention, options);
}

}  // namespace roper
