#include "core/questions/head_report.h"

#include <array>

namespace roper {
namespace {

struct Rule {
    const char* label;
    double HeadReport::*measure;
    double least;
};

constexpr std::array kRules = {
    Rule{"induction", &HeadReport::induction, 0.4}, Rule{"previous token", &HeadReport::previous, 0.4},
    Rule{"same token", &HeadReport::same, 0.4},     Rule{"first token", &HeadReport::first, 0.5},
    Rule{"local", &HeadReport::local, 0.7},         Rule{"content", &HeadReport::slow_share, 0.5}};

const Rule* ruleOf(const HeadReport& report) {
    for (const Rule& rule : kRules)
        if (report.*rule.measure >= rule.least) return &rule;
    return nullptr;
}

}  // namespace

std::string labelOf(const HeadReport& report) {
    const Rule* const rule = ruleOf(report);
    return rule == nullptr ? "mixed" : rule->label;
}

double evidenceOf(const HeadReport& report) {
    const Rule* const rule = ruleOf(report);
    return rule == nullptr ? 0 : report.*rule->measure;
}

}  // namespace roper
