#include "ui/pages/compare/compare_fields.h"

namespace roper {
namespace {

using Q = CompareSettings;

/// A setting that by default follows from the task.
template <class Value>
Field<Q> makeChosen(FieldInfo info, Value Q::*member, bool Q::*chosen) {
    Field<Q> made = field<Q>(std::move(info), member);
    made.set = [plain = made.set, chosen](Q& question, std::string_view text) {
        plain(question, text);
        question.*chosen = true;
    };
    return made;
}

Choice measureNames() {
    Choice choice;
    for (const MeasureInfo& info : measures())
        choice.names.push_back(info.name);
    choice.former = {{"final_recall", "final_token_accuracy"}};
    return choice;
}

Choice curveNames() {
    Choice choice;
    for (const QuantityInfo& info : commonQuantities())
        choice.names.push_back(info.name);
    choice.former = {{"recall", "token_accuracy"}};
    return choice;
}

Field<Q> filterField() {
    Field<Q> made;
    static_cast<FieldInfo&>(made) = {"", "filter", "", "which runs: words and comparisons such as \"seed<5\"",
                                     AnyText()};
    made.text = [](const Q& question) { return question.filter.toStdString(); };
    made.set = [](Q& question, std::string_view text) {
        question.filter = QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
    };
    return made;
}

}  // namespace

const std::vector<Field<CompareSettings>>& compareFields() {
    static const std::vector<Field<Q>> fields = {
        filterField(),
        makeChosen({"", "measure", "", "the measure to compare", measureNames()}, &Q::measure,
                   &Q::measure_chosen),
        field<Q>({"", "share", "%", "share of problems solved, for steps_until", IntegerRange{1, 100}},
                 &Q::share),
        makeChosen({"", "curve", "", "the quantity that the curves show", curveNames()}, &Q::curve,
                   &Q::curve_chosen),
        field<Q>({"", "across", "", "the x axis of the curves", Choice{{"step", "time", "tokens"}}},
                 &Q::across),
        field<Q>({"", "spread", "", "what the band around the curves shows",
                  Choice{{"range", "standard_error", "interval"}}},
                 &Q::spread),
        field<Q>({"", "drop_worst", "", "1: drops each group's worst run", Flag()}, &Q::drop_worst),
        field<Q>({"", "final_half", "", "1: shows only the second half", Flag()}, &Q::final_half),
        field<Q>({"", "each_run", "", "1: also draws every run", Flag()}, &Q::each_run)};
    return fields;
}

}  // namespace roper
