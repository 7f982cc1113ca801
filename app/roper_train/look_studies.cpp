#include "app/roper_train/look_studies.h"

#include <algorithm>
#include <iostream>

#include "app/roper_train/json_line.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/questions/wilson_interval.h"
#include "core/reading/model_change.h"

namespace roper {
namespace {

using Json = nlohmann::ordered_json;

/// A cell of CSV, in quotes where it needs them; ends of lines are shown.
std::string cell(const std::string& text) {
    const std::string shown = onOneLine(text);
    if (shown.find_first_of(",\" ") == std::string::npos) return shown;
    std::string quoted = "\"";
    for (const char c : shown)
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

int printSubsets(SubsetsAnswer answer, bool json) {
    std::stable_sort(answer.subsets.begin(), answer.subsets.end(),
                     [](const BandSubset& a, const BandSubset& b) { return a.loss < b.loss; });
    if (!json) std::cout << "kept_pairs,loss\n";
    for (const BandSubset& subset : answer.subsets) {
        std::vector<std::string> kept;
        for (const int band : subset.kept)
            kept.push_back(answer.bands[static_cast<std::size_t>(band)]);
        if (json)
            print({{"kept_pairs", kept}, {"loss", subset.loss}});
        else
            std::cout << (kept.empty() ? "none" : join(kept, " ")) << "," << formatRounded(subset.loss, 6)
                      << "\n";
    }
    return 0;
}

int printLengths(const LengthsAnswer& answer, bool json) {
    if (json) {
        Json by_scaling = Json::object();
        for (const auto& variant : answer.variants)
            by_scaling[variant.scaling] = variant.nll;
        print({{"factor", answer.factor}, {"trained", answer.trained}, {"nll", by_scaling}});
        return 0;
    }
    std::cout << "position";
    for (const auto& variant : answer.variants)
        std::cout << "," << variant.scaling;
    std::cout << "\n";
    for (std::size_t t = 0; t < answer.variants.front().nll.size(); ++t) {
        std::cout << t + 1;
        for (const auto& variant : answer.variants)
            std::cout << "," << formatRounded(variant.nll[t], 5);
        std::cout << "\n";
    }
    return 0;
}

int printNeedle(const NeedleAnswer& answer, bool json) {
    if (!json) std::cout << "length,depth,nll,found\n";
    for (std::size_t i = 0; i < answer.lengths.size(); ++i)
        for (std::size_t depth = 0; depth < answer.depths.size(); ++depth) {
            const double nll = answer.nll[i][depth];
            const bool found = answer.found[i][depth];
            if (json)
                print({{"length", answer.lengths[i]},
                       {"depth", answer.depths[depth]},
                       {"nll", nll},
                       {"found", found}});
            else
                std::cout << answer.lengths[i] << "," << formatRounded(answer.depths[depth], 3) << ","
                          << formatRounded(nll, 5) << "," << (found ? 1 : 0) << "\n";
        }
    return 0;
}

int printLens(const LensAnswer& answer, bool json) {
    if (!json) std::cout << "layer,position,token,likeliest,probability,nll\n";
    for (std::size_t i = 0; i < answer.top.size(); ++i) {
        const auto layer = static_cast<std::int64_t>(i) - 1;
        if (json) {
            print({{"layer", layer},
                   {"likeliest", answer.top[i]},
                   {"probability", answer.probability[i]},
                   {"nll", answer.nll[i]}});
            continue;
        }
        for (std::size_t t = 0; t < answer.tokens.size(); ++t)
            std::cout << layer << "," << t << "," << cell(answer.tokens[t]) << "," << cell(answer.top[i][t])
                      << "," << formatRounded(answer.probability[i][t], 4) << ","
                      << (t < answer.nll[i].size() ? formatRounded(answer.nll[i][t], 5) : "") << "\n";
    }
    return 0;
}

int printPatch(const PatchAnswer& answer, bool by_position, bool json) {
    if (json) {
        print({{"answer", answer.answer},
               {"other_answer", answer.other_answer},
               {"difference", answer.difference},
               {"other_difference", answer.other_difference},
               {"restored", answer.restored}});
        return 0;
    }
    std::cerr << "roper-train: the text leads to “" << onOneLine(answer.answer) << "”, the other to “"
              << onOneLine(answer.other_answer) << "”\n";
    std::cout << (by_position ? "position,token,other_token,restored\n" : "layer,head,restored\n");
    for (std::size_t i = 0; i < answer.restored.size(); ++i)
        for (std::size_t k = 0; k < answer.restored[i].size(); ++k) {
            if (by_position)
                std::cout << k << "," << cell(answer.tokens[k]) << "," << cell(answer.other_tokens[k]);
            else
                std::cout << i << "," << k;
            std::cout << "," << formatRounded(answer.restored[i][k], 4) << "\n";
        }
    return 0;
}

/// "61 of 64 (95.3 %, interval 87.1 to 98.4 %)"
std::string solvedText(const std::vector<bool>& solved) {
    const std::int64_t count = SolvedAnswer::count(solved), all = static_cast<std::int64_t>(solved.size());
    const auto [low, high] = wilsonInterval(count, all);
    return std::to_string(count) + " of " + std::to_string(all) + " (95 % interval " +
           formatFixed(100 * low, 1) + " to " + formatFixed(100 * high, 1) + " %)";
}

int printTokenMap(const TokenMap& map, bool json) {
    if (json) {
        print({{"layer", map.layer},
               {"head", map.head},
               {"distance", map.distance},
               {"tokens", map.tokens},
               {"logits", map.logits}});
        return 0;
    }
    std::cout << "from,to,logit\n";
    for (std::size_t from = 0; from < map.tokens.size(); ++from)
        for (std::size_t to = 0; to < map.tokens.size(); ++to)
            std::cout << cell(map.tokens[from]) << "," << cell(map.tokens[to]) << ","
                      << formatRounded(map.logits[from][to], 5) << "\n";
    return 0;
}

int printSolved(const SolvedAnswer& answer, bool json) {
    if (json) {
        print({{"prompts", answer.prompts}, {"solved", answer.solved}, {"changed", answer.changed}});
        return 0;
    }
    std::cout << "as trained: " << solvedText(answer.solved)
              << "\nwith the change: " << solvedText(answer.changed) << "\n"
              << answer.lost() << " lost, " << answer.gained() << " gained\n";
    return 0;
}

int printPatched(const LookRequest& asked) {
    const LookOptions& options = asked.options;
    if (options.other.empty())
        throw Error(ErrorKind::usage,
                    "patch needs a second text of as many tokens, with another answer: --other");
    if (options.layer.has_value() != options.head.has_value())
        throw Error(ErrorKind::usage,
                    "patch shows all heads, or one position by position: --layer and --head");
    const auto head = options.layer ? std::optional(HeadChoice{options.layer, options.head}) : std::nullopt;
    const PatchAnswer answer =
        asked.reader.patchHeads(asked.ids, asked.reader.encode(options.other), head, asked.change);
    return printPatch(answer, options.layer.has_value(), options.json);
}

int printMapped(const LookRequest& asked) {
    const LookOptions& options = asked.options;
    if (!options.layer || !options.head)
        throw Error(ErrorKind::usage, "a token map is of one head: --layer and --head");
    return printTokenMap(asked.reader.tokenMap(asked.ids, {options.layer, options.head}, options.distance),
                         options.json);
}

int printFound(const LookRequest& asked) {
    const LookOptions& options = asked.options;
    return printNeedle(asked.reader.findNeedle(asked.ids, {options.needle, options.question, options.answer},
                                               asked.count(), asked.change),
                       options.json);
}

int printByLength(const LookRequest& asked) {
    const ModelChange& change = asked.options.change;
    return printLengths(asked.reader.lossByLength(asked.ids, change.factor,
                                                  trainedLength(change, asked.model()), asked.change),
                        asked.options.json);
}

}  // namespace

const std::map<std::string, PrintAnswer> kStudyPrinters = {
    {"subsets",
     [](const LookRequest& asked) {
         return printSubsets(asked.reader.bandSubsets(asked.ids, asked.count(), asked.change),
                             asked.options.json);
     }},
    {"lengths", &printByLength},
    {"needle", &printFound},
    {"solve",
     [](const LookRequest& asked) {
         return printSolved(asked.reader.solve(asked.count(), asked.change), asked.options.json);
     }},
    {"token_map", &printMapped},
    {"lens",
     [](const LookRequest& asked) {
         return printLens(asked.reader.logitLens(asked.ids, asked.change), asked.options.json);
     }},
    {"patch", &printPatched},
};

}  // namespace roper
