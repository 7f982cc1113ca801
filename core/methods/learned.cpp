#include "core/methods/position_method.h"

namespace roper {
namespace {

std::int64_t tablePositions(const PositionSettings& s, const ModelShape& shape) {
    const std::int64_t given = s.specific_settings.integer("table_positions");
    return given > 0 ? given : shape.length;
}

std::vector<SettingProblem> checkTable(const PositionSettings& s, const ModelShape& shape) {
    std::vector<SettingProblem> problems;
    const std::int64_t positions = tablePositions(s, shape);
    if (positions < shape.snapshot_length)
        problems.push_back({"snapshots.tokens", "the learned table has " + std::to_string(positions) +
                                                    " positions; a snapshot's text must not be longer"});
    if (positions < shape.length)
        problems.push_back(
            {"model.table_positions", "training sequences have " + std::to_string(shape.length) +
                                          " tokens; the table needs at least as many positions"});
    return problems;
}

}  // namespace

PositionMethod learnedMethod() {
    PositionMethod method;
    method.name = "learned";
    method.title = "learned table";
    method.summary = "A learned vector for each position is added to the embeddings.";
    method.source = "Gehring et al. 2017";
    method.formula = "x<sub>n</sub> + p<sub>n</sub>, p learned";
    method.extrapolation = "not possible: the table has no such positions";
    method.color = 0x8c564b;
    method.settings = {integerSetting(
        "table_positions", "positions",
        "Learned: positions in the table; longer texts are refused; 0: training.length", {0, 1048576}, 0)};
    method.adds_to_embeddings = true;
    method.check = checkTable;
    method.parameters = [](const PositionSettings& s, const ModelShape& shape) {
        return tablePositions(s, shape) * shape.width;
    };
    method.max_length = tablePositions;
    method.limit_text = "has a learned table of";
    method.advice_for_longer =
        "train it with a larger model.table_positions or with longer sequences, or use another method";
    return method;
}

}  // namespace roper
