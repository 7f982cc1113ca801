#include "core/runs/step_merger.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

constexpr std::size_t kMaxOpenSteps = 200'000;
constexpr std::size_t kMaxResets = 100'000;

/// Fields that only one row of a step should have; time and the counts of tokens and problems may recur.
bool isMeasured(ImportField field) {
    return field != ImportField::time_s && field != ImportField::tokens && field != ImportField::of;
}

bool belongsToEvaluation(ImportField field) {
    return field == ImportField::correct || field == ImportField::of || field == ImportField::evaluation_loss;
}

template <class Process>
void forEachValue(const StepValues& values, Process process) {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values.at(i)) process(static_cast<ImportField>(i), *values.at(i));
}

bool equalOrBothNan(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

std::string stepText(std::int64_t step) {
    return "step " + std::to_string(step);
}

}  // namespace

StepAnalysis::StepAnalysis(const ExternalTable& table, const ImportColumns& columns)
    : table_(table), columns_(columns) {
    last_step_of_field_.fill(-1);
    skipped_ = columns.forEachStep([this](const StepRow& row) { process(row); });
    min_step_after_.resize(resets_.size());
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = resets_.size(); i-- > 0;)
        least = min_step_after_[i] = std::min(least, resets_[i].step);
    findClock();
}

void StepAnalysis::process(const StepRow& row) {
    bool goes_back = false;
    forEachValue(row.values, [&](ImportField field, double) {
        goes_back = goes_back ||
                    (isMeasured(field) && last_step_of_field_[static_cast<std::size_t>(field)] > row.step);
    });
    if (goes_back) {
        if (resets_.size() == kMaxResets)
            throw Error(ErrorKind::usage, table_.locationOf(row.at) + ": the steps went back " +
                                              std::to_string(kMaxResets) +
                                              " times; name the column that counts all steps");
        resets_.push_back({number_, row.step, last_, row.at});
        for (std::int64_t& last : last_step_of_field_)
            last = std::min(last, row.step - 1);
        last_ = std::min(last_, row.step - 1);
    }
    monotonic_ = monotonic_ && row.step >= last_;
    last_ = std::max(last_, row.step);
    forEachValue(row.values, [&](ImportField field, double) {
        std::int64_t& last = last_step_of_field_[static_cast<std::size_t>(field)];
        last = std::max(last, row.step);
    });
    if (const auto& time = row.values[ImportField::time_s]) min_time_ = std::min(min_time_, *time);
    ++number_;
}

/// No training takes a billion seconds: such a time counts from 1970, in seconds or fractions of them.
void StepAnalysis::findClock() {
    constexpr double kSeconds = 1e9, kMilliseconds = 1e12, kMicroseconds = 1e15, kNanoseconds = 1e18;
    if (!std::isfinite(min_time_) || min_time_ < kSeconds / 2) return;
    time_origin_ = min_time_;
    time_unit_ = min_time_ < kMilliseconds / 2   ? 1
                 : min_time_ < kMicroseconds / 2 ? 1e3
                 : min_time_ < kNanoseconds / 2  ? 1e6
                                                 : 1e9;
}

bool StepAnalysis::isReplaced(std::size_t number, std::int64_t step) {
    while (next_reset_ < resets_.size() && resets_[next_reset_].number <= number)
        ++next_reset_;
    return next_reset_ < resets_.size() && step >= min_step_after_[next_reset_];
}

std::vector<std::string> StepAnalysis::notes() const {
    std::vector<std::string> notes;
    if (time_origin_ > 0)
        notes.push_back("\"" + columns_.columnOf(ImportField::time_s) +
                        "\" counts time from 1970: time_s is the seconds since the first row, "
                        "including pauses and evaluations");
    if (!resets_.empty()) {
        const StepReset& reset = resets_.front();
        notes.push_back(
            table_.locationOf(reset.at) + ": the steps go back from " + std::to_string(reset.from) + " to " +
            std::to_string(reset.step) + ", as when a run is resumed" +
            (resets_.size() > 1 ? "; this happens " + countOf(resets_.size(), "time") + " in total" : ""));
    }
    const auto skipped = [&](std::size_t count, const std::string& one, const std::string& several,
                             const std::string& what) {
        if (count > 0)
            notes.push_back(countOf(count, "row") + (count == 1 ? one : several) + what +
                            (count == 1 ? " and was skipped" : " and were skipped"));
    };
    skipped(skipped_.without_step, " has", " have", " no step");
    skipped(skipped_.without_numbers, " has", " have", " no number in the imported columns");
    return notes;
}

std::int64_t StepMerger::make(const ImportedRows& rows) {
    rows_ = &rows;
    analysis_.restart();
    columns_.forEachStep([this](const StepRow& row) { process(row); });
    finishBefore(std::numeric_limits<std::int64_t>::max());
    if (made_count_ == 0)
        throw Error(ErrorKind::usage, table_.origin + ": no row has both a step and a number to import");
    return last_;
}

void StepMerger::process(const StepRow& row) {
    if (analysis_.isReplaced(number_++, row.step)) {
        ++replaced_;
        return;
    }
    if (analysis_.isMonotonic()) finishBefore(row.step);
    join(open_[row.step], row);
    if (open_.size() > kMaxOpenSteps)
        throw Error(ErrorKind::usage, table_.locationOf(row.at) + ": more than " +
                                          std::to_string(kMaxOpenSteps) +
                                          " steps are out of order; sort the rows by step");
}

void StepMerger::join(MergedValues& merged_values, const StepRow& row) {
    bool is_training = false, is_evaluation = false;
    forEachValue(row.values, [&](ImportField field, double value) {
        auto& existing = merged_values.values[field];
        Duplicates& duplicates = duplicates_[static_cast<std::size_t>(field)];
        if (existing && isMeasured(field) && !equalOrBothNan(*existing, value) && duplicates.count++ == 0)
            duplicates.first = row.step;
        existing = value;
        is_evaluation = is_evaluation || belongsToEvaluation(field);
        is_training = is_training || (isMeasured(field) && !belongsToEvaluation(field));
    });
    const auto& time = row.values[ImportField::time_s];
    if (!time) return;
    if (is_training) merged_values.training_time = analysis_.seconds(*time);
    if (is_evaluation) merged_values.evaluation_time = analysis_.seconds(*time);
}

void StepMerger::finishBefore(std::int64_t step) {
    while (!open_.empty() && open_.begin()->first < step) {
        finish(open_.begin()->first, open_.begin()->second);
        open_.erase(open_.begin());
    }
}

void StepMerger::finish(std::int64_t step, const MergedValues& merged_values) {
    const auto value = [&](ImportField field) { return merged_values.values[field]; };
    const auto evaluation = evaluationOf(step, merged_values);
    if (const auto loss = value(ImportField::loss)) {
        MetricsRow row;
        row.step = step;
        row.time_s = merged_values.training_time;
        if (const auto tokens = value(ImportField::tokens)) row.tokens = static_cast<std::int64_t>(*tokens);
        row.loss = *loss;
        row.learning_rate = value(ImportField::learning_rate);
        row.grad_norm = value(ImportField::grad_norm);
        row.tokens_per_s = value(ImportField::tokens_per_s);
        if (!std::isfinite(*loss) && not_finite_.count++ == 0) not_finite_.first = step;
        rows_->metrics(row);
    } else if (value(ImportField::learning_rate) || value(ImportField::grad_norm) ||
               value(ImportField::tokens_per_s) || !evaluation) {
        ++without_loss_;
    }
    if (evaluation) rows_->evaluation(*evaluation);
    if (!evaluation && !value(ImportField::loss)) return;
    ++made_count_;
    last_ = std::max(last_, step);
}

std::optional<EvaluationRow> StepMerger::evaluationOf(std::int64_t step,
                                                      const MergedValues& merged_values) const {
    const auto count = [&](ImportField field) -> std::optional<std::int64_t> {
        const auto value = merged_values.values[field];
        return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
    };
    EvaluationRow row;
    row.step = step;
    row.time_s = merged_values.evaluation_time;
    row.loss = merged_values.values[ImportField::evaluation_loss];
    row.correct = count(ImportField::correct);
    if (!row.loss && !row.correct) return std::nullopt;
    if (!row.correct) return row;
    row.total = count(ImportField::of);
    if (*row.correct < 0 || (row.total && *row.correct > *row.total))
        throw Error(ErrorKind::usage, table_.origin + ": at " + stepText(step) + " " +
                                          std::to_string(*row.correct) +
                                          (row.total ? " of " + std::to_string(*row.total) : "") +
                                          " problems are solved; name the column with the number of problems "
                                          "with --column of=NAME");
    return row;
}

std::vector<std::string> StepMerger::notes() const {
    std::vector<std::string> notes;
    if (replaced_ > 0)
        notes.push_back(countOf(replaced_, "row") + " of the earlier session " +
                        (replaced_ == 1 ? "was" : "were") + " replaced by later ones");
    if (replaced_ > number_ / 2)
        notes.emplace_back(
            "that is most of the file: if its steps restart in each epoch, name the column "
            "that counts all steps");
    for (std::size_t i = 0; i < kImportFieldCount; ++i)
        if (duplicates_[i].count > 0)
            notes.push_back(nameOf(static_cast<ImportField>(i)) + " is repeated with a different value in " +
                            countOf(duplicates_[i].count, "row") + ", first at " +
                            stepText(duplicates_[i].first) + "; the last value of a step is used");
    if (without_loss_ > 0)
        notes.push_back("no training loss at " + countOf(without_loss_, "step") +
                        "; learning rates, norms and other values are kept only together with a loss, and "
                        "were left out there");
    if (not_finite_.count > 0)
        notes.push_back("the loss is not finite at " + countOf(not_finite_.count, "step") + ", first at " +
                        stepText(not_finite_.first));
    return notes;
}

}  // namespace roper
