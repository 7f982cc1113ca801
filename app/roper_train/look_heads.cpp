#include "app/roper_train/look_heads.h"

#include <iostream>

#include "app/roper_train/json_line.h"
#include "core/base/text.h"

namespace roper {
namespace {

using Json = nlohmann::ordered_json;

Json numbersJson(const Eigen::VectorXd& numbers) {
    return std::vector<double>(numbers.begin(), numbers.end());
}

}  // namespace

bool isWanted(const LookOptions& options, std::int64_t layer, std::int64_t head) {
    return HeadChoice{options.layer, options.head}.holds(layer, head);
}

namespace {

int printHeads(const LookRequest& asked) {
    const LookOptions& options = asked.options;
    const std::vector<HeadReport> reports = asked.reader.heads(asked.ids, asked.change).heads;
    static const std::vector<std::pair<const char*, double HeadReport::*>> kMeasures = {
        {"entropy", &HeadReport::entropy},
        {"mean_distance", &HeadReport::mean_distance},
        {"first", &HeadReport::first},
        {"self", &HeadReport::self},
        {"previous", &HeadReport::previous},
        {"local", &HeadReport::local},
        {"same", &HeadReport::same},
        {"induction", &HeadReport::induction},
        {"slow_share", &HeadReport::slow_share}};
    if (!options.json) {
        std::cout << "layer,head,label,evidence";
        for (const auto& [name, measure] : kMeasures)
            std::cout << "," << name;
        std::cout << "\n";
    }
    for (const HeadReport& report : reports) {
        if (!isWanted(options, report.layer, report.head)) continue;
        Json line = {{"layer", report.layer},
                     {"head", report.head},
                     {"label", labelOf(report)},
                     {"evidence", evidenceOf(report)}};
        for (const auto& [name, measure] : kMeasures)
            line[name] = report.*measure;
        if (options.json) {
            print(line);
            continue;
        }
        std::cout << report.layer << "," << report.head << "," << labelOf(report) << ","
                  << formatRounded(evidenceOf(report), 3);
        for (const auto& [name, measure] : kMeasures)
            std::cout << "," << formatRounded(report.*measure, 4);
        std::cout << "\n";
    }
    return 0;
}

int printBands(const LookRequest& asked) {
    const LookOptions& options = asked.options;
    const std::vector<HeadReport> reports = asked.reader.heads(asked.ids, asked.change).heads;
    if (!options.json) std::cout << "layer,head,pair,theta,score_share,query_norm,key_norm,value_norm\n";
    for (const HeadReport& report : reports) {
        if (!isWanted(options, report.layer, report.head)) continue;
        const Eigen::VectorXd theta =
            frequenciesOf(asked.model(), report.layer, static_cast<double>(asked.ids.size()));
        if (options.json) {
            print({{"layer", report.layer},
                   {"head", report.head},
                   {"theta", numbersJson(theta)},
                   {"score_share", numbersJson(report.bands.share)},
                   {"unrotated_share", report.bands.rest},
                   {"score_variance", report.bands.variance},
                   {"query_norm", numbersJson(report.query_norms)},
                   {"key_norm", numbersJson(report.key_norms)},
                   {"value_norm", numbersJson(report.value_norms)}});
            continue;
        }
        for (Eigen::Index pair = 0; pair < report.query_norms.size(); ++pair) {
            const bool rotates = pair < theta.size();
            std::cout << report.layer << "," << report.head << "," << pair << ","
                      << (rotates ? formatRounded(theta[pair], 6) : "") << ","
                      << (rotates ? formatRounded(report.bands.share[pair], 4) : "") << ","
                      << formatRounded(report.query_norms[pair], 5) << ","
                      << formatRounded(report.key_norms[pair], 5) << ","
                      << formatRounded(report.value_norms[pair], 5) << "\n";
        }
    }
    return 0;
}

/// A line of JSON, or one of CSV for each distance.
/// @param of  whose kernel it is: the first columns
void printKernel(Json of, const ValueKernel& kernel, bool json) {
    if (json) {
        of.update({{"norm", kernel.norm}, {"cosine", kernel.cosine}});
        return print(of);
    }
    std::string begin;
    for (const Json& number : of)
        begin += number.dump() + ",";
    for (std::size_t distance = 0; distance < kernel.norm.size(); ++distance)
        std::cout << begin << distance << "," << formatRounded(kernel.norm[distance], 6) << ","
                  << formatRounded(kernel.cosine[distance], 5) << "\n";
}

int printKernels(const LookRequest& asked) {
    const LookOptions& options = asked.options;
    const std::vector<ValueKernel> kernels = asked.reader.valueKernels(static_cast<int>(asked.count()));
    const std::int64_t heads = asked.model().heads;
    if (!options.json) std::cout << "layer,head,distance,norm,cosine\n";
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const auto layer = static_cast<std::int64_t>(i) / heads, head = static_cast<std::int64_t>(i) % heads;
        if (isWanted(options, layer, head))
            printKernel({{"layer", layer}, {"head", head}}, kernels[i], options.json);
    }
    return 0;
}

int printKernelHistory(const LookRequest& asked) {
    const LookOptions& options = asked.options;
    const KernelHistory history =
        asked.reader.kernelHistory({options.layer, options.head}, static_cast<int>(asked.count()));
    if (!options.json) std::cout << "layer,head,step,distance,norm,cosine\n";
    for (std::size_t i = 0; i < history.steps.size(); ++i)
        printKernel({{"layer", history.layer}, {"head", history.head}, {"step", history.steps[i]}},
                    history.kernels[i], options.json);
    return 0;
}

}  // namespace

const std::map<std::string, PrintAnswer> kHeadPrinters = {{"heads", &printHeads},
                                                          {"bands", &printBands},
                                                          {"kernels", &printKernels},
                                                          {"kernel_history", &printKernelHistory}};

}  // namespace roper
