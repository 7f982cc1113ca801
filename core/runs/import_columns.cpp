#include "core/runs/import_columns.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/runs/metrics_import.h"

namespace roper {
namespace {

constexpr double kMaxImportedSteps = 1e9;

/// Normalized name: "Train/Loss" and "train_loss" are equal.
std::string plain(const std::string& name) {
    std::string text = lowerCase(name);
    std::erase_if(text, [](unsigned char c) { return !std::isalnum(c); });
    return text;
}

/// W&B's exports name the run before the metric: "gull-7 - train/loss".
std::string withoutRunName(const std::string& name) {
    const std::size_t at = name.rfind(" - ");
    return at == std::string::npos ? name : name.substr(at + 3);
}

/// The usual names of a field, from the most to the least specific. W&B's `_step` counts its own calls, so
/// the trainer's own counter takes precedence.
const std::map<std::string, std::vector<std::string>>& commonNames() {
    static const std::map<std::string, std::vector<std::string>> names = {
        {"step",
         {"globalstep", "trainglobalstep", "trainerglobalstep", "step", "steps", "currentsteps",
          "currentstep", "trainstep", "trainingstep", "iteration", "iterations", "iter", "update",
          "updates"}},
        {"loss",
         {"loss", "trainloss", "trainingloss", "losstrain", "losstraining", "trainlossstep", "lossstep",
          "trainbatchloss", "batchloss", "lmloss", "lossglobalavgloss", "lossmetricsglobalavgloss",
          "trainlossepoch"}},
        {"time_s",
         {"times", "time", "runtime", "relativetime", "relativetimeprocess", "relativetimewall", "seconds",
          "elapsedtime", "elapsed", "elapseds", "elapsedseconds", "timeelapsed", "walltime", "timestamp"}},
        {"tokens",
         {"tokens", "tokensseen", "numtokens", "traintokens", "numinputtokensseen", "trainnuminputtokensseen",
          "consumedtokens", "totaltokens"}},
        {"tokens_per_s",
         {"tokenspers", "trainingtokenspers", "tokenspersec", "tokenspersecond", "traintokenspersecond",
          "traintokenspersec", "toksec", "tps", "throughputtps"}},
        {"correct", {"correct", "solved", "evaluationcorrect"}},
        {"of", {"of", "problems"}},
        {"evaluation_loss",
         {"evaluationloss", "evalloss", "valloss", "validloss", "validationloss", "lossvalid", "lossval",
          "losseval", "lossvalidation", "vallossepoch", "evallossepoch", "validlossepoch"}},
        {"learning_rate",
         {"learningrate", "lr", "trainlearningrate", "traininglearningrate", "trainlr", "optimlr"}},
        {"grad_norm",
         {"gradnorm", "traingradnorm", "traininggradnorm", "gradientnorm", "globalgradnorm", "totalgradnorm",
          "gradnormtotal", "grad20normtotal"}}};
    return names;
}

bool hasNumbers(const ExternalTable& table, std::size_t column) {
    return table.number_counts[column] > 0;
}

/// The numeric columns whose names fulfil a condition.
std::vector<std::string> columnsWhere(const ExternalTable& table,
                                      const std::function<bool(const std::string&)>& predicate) {
    std::vector<std::string> found;
    for (std::size_t column = 0; column < table.columns.size(); ++column)
        if (hasNumbers(table, column) && predicate(table.columns[column]))
            found.push_back(table.columns[column]);
    return found;
}

/// Lightning's LearningRateMonitor includes the optimizer's name: "lr-AdamW", "lr-AdamW/pg1".
bool isLightningRate(const std::string& name) {
    return name.starts_with("lr-");
}

bool isEvaluationColumn(const std::string& plain_name) {
    constexpr std::array<const char*, 3> kParts = {"val", "test", "predict"};  // "eval", too
    return std::ranges::any_of(kParts,
                               [&](const char* part) { return plain_name.find(part) != std::string::npos; });
}

/// "a, b, c", truncated if there are very many.
std::string listed(const std::vector<std::string>& names) {
    constexpr std::size_t kMax = 100;
    if (names.size() <= kMax) return join(names, ", ");
    return join({names.begin(), names.begin() + kMax}, ", ") + " and " + std::to_string(names.size() - kMax) +
           " more";
}

/// Columns that never hold a number, with the first value of each.
std::vector<std::string> columnsOfText(const ExternalTable& table) {
    std::vector<std::string> texts = table.texts;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        if (hasNumbers(table, column)) continue;
        const std::string& example = table.non_numeric_in[column].example;
        texts.push_back(table.columns[column] + (example.empty() ? "" : " (such as " + example + ")"));
    }
    return texts;
}

/// "it has step, loss", for a user who must choose a column.
std::string describeContents(const ExternalTable& table) {
    const std::vector<std::string> numbers = columnsWhere(table, [](const std::string&) { return true; }),
                                   texts = columnsOfText(table);
    return (numbers.empty() ? "no column contains numbers" : "it has " + listed(numbers)) +
           (texts.empty() ? "" : "; without numbers: " + listed(texts));
}

/// Columns that may be a training loss, for the user to choose from.
std::vector<std::string> possibleLossColumns(const ExternalTable& table) {
    return columnsWhere(table, [](const std::string& column) {
        const std::string name = plain(withoutRunName(column));
        const bool is_value = name == "value";  // TensorBoard's CSV of one curve
        const bool is_bound = name.ends_with("lossmin") || name.ends_with("lossmax");
        return is_value || (name.find("loss") != std::string::npos && !is_bound && !isEvaluationColumn(name));
    });
}

}  // namespace

const std::string& nameOf(ImportField field) {
    return kImportFields.at(1 + static_cast<std::size_t>(field));  // the first is the step
}

std::map<std::string, std::string> guessMapping(const ExternalTable& table) {
    std::map<std::string, std::string> mapping;
    for (const auto& [field, names] : commonNames())
        for (const std::string& name : names) {
            auto found = columnsWhere(table, [&](const std::string& one) { return plain(one) == name; });
            if (found.empty())
                found = columnsWhere(
                    table, [&](const std::string& one) { return plain(withoutRunName(one)) == name; });
            if (found.size() == 1) mapping[field] = found.front();
            if (!found.empty()) break;  // if several match equally well the user must choose
        }
    if (table.kind == ExternalTable::Kind::events) {  // every event has them, whatever its tags
        mapping["step"] = table.columns.front();
        if (table.columns.size() > 1 && table.columns[1] == "Wall time") mapping["time_s"] = table.columns[1];
    }
    const auto rates = columnsWhere(table, isLightningRate);
    if (rates.size() == 1) mapping.emplace("learning_rate", rates.front());
    return mapping;
}

ImportColumns::ImportColumns(const ExternalTable& table, const std::map<std::string, std::string>& mapping)
    : table_(table) {
    const auto index_of = [&](const std::string& field, const std::string& column) {
        const auto found = std::ranges::find(table.columns, column);
        if (found != table.columns.end()) return static_cast<std::size_t>(found - table.columns.begin());
        throw Error(ErrorKind::usage, table.origin + " has no column \"" + column + "\" for " + field +
                                          "; it has " + join(table.columns, ", "));
    };
    for (const auto& [field, column] : mapping) {
        if (!hasElement(kImportFields, field))
            throw Error(ErrorKind::usage,
                        "unknown field \"" + field + "\"; expected one of " + join(kImportFields, ", "));
        if (!column.empty()) names_[field] = column;
    }
    if (names_.count("step") == 0)
        throw Error(ErrorKind::usage, "name the column of " + table.origin +
                                          " that counts the steps, with --column step=NAME; " +
                                          describeContents(table));
    requested_columns_.push_back(index_of("step", names_["step"]));
    for (std::size_t i = 0; i < kImportFieldCount; ++i) {
        const auto field = static_cast<ImportField>(i);
        if (names_.count(nameOf(field)) == 0) continue;
        requested_columns_.push_back(index_of(nameOf(field), names_[nameOf(field)]));
        fields_.push_back(field);
    }
    if (has(ImportField::loss) || has(ImportField::correct) || has(ImportField::evaluation_loss)) return;
    const std::vector<std::string> losses = possibleLossColumns(table);
    throw Error(ErrorKind::usage,
                "name the column of " + table.origin +
                    " for the loss, the solved problems or the evaluation loss, for example with --column "
                    "loss=NAME; " +
                    (losses.empty() ? describeContents(table) : "it may be " + join(losses, " or ")));
}

bool ImportColumns::has(ImportField field) const {
    return names_.count(nameOf(field)) > 0;
}

const std::string& ImportColumns::columnOf(ImportField field) const {
    static const std::string none;
    const auto found = names_.find(nameOf(field));
    return found == names_.end() ? none : found->second;
}

std::int64_t ImportColumns::stepOf(double value, std::size_t at) const {
    const std::string& column = names_.at("step");
    const auto refuse = [&](const std::string& what) {
        throw Error(ErrorKind::usage, table_.locationOf(at) + ": the step is " + formatNumber(value) +
                                          " (column \"" + column + "\"); " + what +
                                          ". Is this the right column? --column step=NAME names another.");
    };
    if (value < 0 || value > kMaxImportedSteps) refuse("a step must be a number from 0 to 1e9");
    if (value != std::floor(value)) refuse("a step must be a whole number");
    return static_cast<std::int64_t>(value);
}

double ImportColumns::requireInteger(ImportField field, double value, std::size_t at) const {
    constexpr double kMax = 1e15;
    if (value == std::floor(value) && std::abs(value) <= kMax) return value;
    throw Error(ErrorKind::usage,
                table_.locationOf(at) + ": " + nameOf(field) + " is " + formatNumber(value) + " (column \"" +
                    columnOf(field) + "\"), which is not a whole number. --column " + nameOf(field) +
                    "=NAME names another column, and --column " + nameOf(field) + "= leaves it out.");
}

SkippedRows ImportColumns::forEachStep(const std::function<void(const StepRow&)>& visit) const {
    SkippedRows skipped;
    table_.forEachRow(requested_columns_, [&](const ExternalTable::Row& cells, std::size_t at) {
        if (!cells[0] || !std::isfinite(*cells[0])) {
            ++skipped.without_step;  // not about a step, such as a summary
            return;
        }
        StepRow row;
        row.step = stepOf(*cells[0], at);
        row.at = at;
        bool has_number = false;
        for (std::size_t i = 0; i < fields_.size(); ++i) {
            const ImportField field = fields_[i];
            auto value = cells[i + 1];
            const bool is_count =
                field == ImportField::tokens || field == ImportField::correct || field == ImportField::of;
            // without another value, these do not make a row
            const bool is_auxiliary = field == ImportField::time_s || field == ImportField::of;
            if (value && (is_count || is_auxiliary) && !std::isfinite(*value)) value.reset();
            if (value && is_count) requireInteger(field, *value, at);
            has_number = has_number || (value && !is_auxiliary);
            row.values[field] = value;
        }
        if (has_number)
            visit(row);
        else
            ++skipped.without_numbers;
    });
    return skipped;
}

std::string ImportColumns::missingLossNote() const {
    const std::vector<std::string> losses = possibleLossColumns(table_);
    return "no training loss is imported, because no column name clearly means it; " +
           (losses.empty() ? std::string("--column loss=NAME names it")
                           : "it may be " + join(losses, " or ") + ", with --column loss=NAME");
}

std::string ImportColumns::text() const {
    std::vector<std::string> assignments;
    for (const std::string& field : kImportFields)
        if (const auto name = names_.find(field); name != names_.end())
            assignments.push_back(field + " is \"" + name->second + "\"");
    return "columns: " + join(assignments, ", ");
}

std::vector<std::string> ImportColumns::notes() const {
    std::vector<std::string> notes = table_.notes;
    std::set<std::string> used;
    for (const auto& [field, column] : names_)
        used.insert(column);
    const auto unused =
        columnsWhere(table_, [&](const std::string& column) { return used.count(column) == 0; });
    if (!unused.empty()) notes.push_back("not imported: " + listed(unused));
    if (const auto texts = columnsOfText(table_); !texts.empty())
        notes.push_back("without numbers: " + listed(texts));
    if (!has(ImportField::loss)) notes.push_back(missingLossNote());
    for (std::size_t column = 0; column < table_.columns.size(); ++column) {
        const ExternalTable::NonNumericCells& non_numeric = table_.non_numeric_in[column];
        if (non_numeric.count == 0 || used.count(table_.columns[column]) == 0) continue;
        notes.push_back(countOf(non_numeric.count, "cell") + " of \"" + table_.columns[column] +
                        "\" contained no number and " + (non_numeric.count == 1 ? "counts" : "count") +
                        " as empty, the first at " + table_.locationOf(non_numeric.first) + ": " +
                        non_numeric.example);
    }
    return notes;
}

}  // namespace roper
