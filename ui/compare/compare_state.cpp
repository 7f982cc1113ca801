#include "ui/compare/compare_state.h"

#include <map>
#include <set>

#include "core/runs/error.h"
#include "ui/runs/run_records.h"
#include "ui/shell/theme.h"

namespace roper {
namespace {

constexpr int kBetweenRefreshes_ms = 400;

/// Seeds that both groups have.
std::size_t sharedSeeds(const RunGroup& a, const RunGroup& b, const std::vector<RunRecord>& runs) {
    const auto seeds = [&](const RunGroup& group) {
        std::set<std::pair<std::int64_t, std::int64_t>> all;
        for (const std::size_t run : group.runs)
            all.emplace(runs[run].specification.training.data_seed,
                        runs[run].specification.training.model_seed);
        return all;
    };
    const auto of_a = seeds(a), of_b = seeds(b);
    return static_cast<std::size_t>(
        std::count_if(of_a.begin(), of_a.end(), [&](const auto& seed) { return of_b.count(seed) > 0; }));
}

}  // namespace

QString spreadTitle(Spread spread) {
    switch (spread) {
        case Spread::range:
            return CompareState::tr("least to greatest run");
        case Spread::standard_error:
            return CompareState::tr("mean ± standard error");
        default:
            return CompareState::tr("95 % interval of the mean");
    }
}

QString curveTitle(CurveOf curve) {
    switch (curve) {
        case CurveOf::training_loss:
            return CompareState::tr("training loss, nats");
        case CurveOf::correct:
            return CompareState::tr("problems solved, %");
        case CurveOf::evaluation_loss:
            return CompareState::tr("loss on fresh sequences, nats");
        default:
            return CompareState::tr("determined letters recalled, %");
    }
}

QString acrossTitle(Across across) {
    return across == Across::step   ? CompareState::tr("step")
           : across == Across::time ? CompareState::tr("training time, s")
                                    : CompareState::tr("tokens");
}

QString measureTitle(const CompareQuestion& question) {
    if (question.measure == Measure::steps_until)
        return CompareState::tr("steps until %1 % are solved").arg(question.share);
    const MeasureInfo& info = infoOf(question.measure);
    const QString title = QString::fromStdString(info.title);
    return info.unit == "nats" ? title + QStringLiteral(", nats") : title;
}

CompareState::CompareState(RunStore& store, QObject* parent) : QObject(parent), store_(store) {
    timer_.setSingleShot(true);
    timer_.setInterval(kBetweenRefreshes_ms);
    connect(&timer_, &QTimer::timeout, this, &CompareState::refresh);
    const auto soon = [this] {
        if (!timer_.isActive()) timer_.start();
    };
    connect(&store_, &RunStore::changed, this, soon);
    connect(&store_, &RunStore::runAdded, this, soon);
}

void CompareState::change(const std::function<void(CompareQuestion&)>& change) {
    change(question_);
    filter_problem_.clear();
    try {
        filter_ = RunFilter(question_.filter.toStdString());
    } catch (const Error& error) {
        filter_problem_ = QString::fromStdString(error.what());  // the last filter that could be read stays
    }
    refresh();
}

std::vector<RunRecord> CompareState::chosenRecords() const {
    std::vector<RunRecord> chosen;
    for (RunRecord& run : recordsOf(store_))
        if (filter_.matches(run)) chosen.push_back(std::move(run));
    return chosen;
}

void CompareState::fillGroup(ComparedGroup& group, const std::vector<RunRecord>& runs) const {
    const double share = question_.share / 100.0;
    group.shown = !question_.hidden.contains(QString::fromStdString(group.group.key));
    group.members = question_.drop_worst ? withoutWorst(runs, group.group.runs, question_.measure, share)
                                         : group.group.runs;
    for (const std::size_t member : group.members) {
        const OutcomeValue outcome = outcomeOf(runs[member], question_.measure, share);
        switch (outcome.kind) {
            case Outcome::known:
                group.values.push_back(outcome.value);
                group.names.push_back(QString::fromStdString(runs[member].name));
                break;
            case Outcome::unfinished:
                ++group.unfinished;
                break;
            case Outcome::never:
                ++group.never;
                break;
            case Outcome::missing:
                ++group.missing;
                break;
        }
    }
    group.summary = summarize(group.values);
}

void CompareState::refresh() {
    const std::vector<RunRecord> runs = chosenRecords();
    const auto all = store_.runs();
    broken_ = static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](const RunWatcher* run) { return !run->specification(); }));
    if (!runs.empty() && !question_.measure_chosen)
        question_.measure = usualMeasure(runs.front().specification);
    if (!runs.empty() && !question_.curve_chosen)
        question_.curve =
            runs.front().specification.task.name == "prefix" ? CurveOf::evaluation_loss : CurveOf::correct;
    groups_.clear();
    std::map<std::string, int> of_method;
    for (RunGroup& group : groupRuns(runs)) {
        ComparedGroup compared;
        const std::string& position = group.specification.model.position;
        compared.color = Theme().run(QString::fromStdString(position), of_method[position]++);
        compared.group = std::move(group);
        fillGroup(compared, runs);
        groups_.push_back(std::move(compared));
    }
    pair(runs);
    emit changed();
}

/// The two groups that share most seeds, RoPE before RoPER where there are both.
std::optional<std::pair<std::size_t, std::size_t>> CompareState::bestPair() const {
    const std::vector<RunRecord> runs = chosenRecords();
    std::optional<std::pair<std::size_t, std::size_t>> best;
    std::tuple<bool, bool, std::size_t> most{};
    for (std::size_t a = 0; a < groups_.size(); ++a) {
        for (std::size_t b = 0; b < groups_.size(); ++b) {
            if (a == b) continue;
            const Specification &of_a = groups_[a].group.specification,
                                &of_b = groups_[b].group.specification;
            const std::tuple worth{of_a.task.name == of_b.task.name,
                                   of_a.model.position == "rope" && of_b.model.position == "roper",
                                   sharedSeeds(groups_[a].group, groups_[b].group, runs)};
            if (best && worth <= most) continue;
            best = {a, b};
            most = worth;
        }
    }
    return best;
}

void CompareState::pair(const std::vector<RunRecord>& runs) {
    comparison_.reset();
    if (groups_.size() < 2) return;
    const auto find = [&](const std::string& key) -> std::optional<std::size_t> {
        for (std::size_t i = 0; i < groups_.size(); ++i)
            if (groups_[i].group.key == key) return i;
        return std::nullopt;
    };
    const auto usual = bestPair();
    const std::size_t a = find(question_.a).value_or(usual->first),
                      b = find(question_.b).value_or(usual->second);
    comparison_ =
        comparePaired(runs, groups_[a].group, groups_[b].group, question_.measure, question_.share / 100.0);
    color_a_ = groups_[a].color;
    color_b_ = groups_[b].color;
}

Band CompareState::band(const ComparedGroup& group) const {
    return bandOf(chosenRecords(), group.members, question_.curve, question_.across, question_.spread,
                  question_.final_half ? 0.5 : 0.0);
}

std::vector<std::pair<double, double>> CompareState::curve(const QString& run) const {
    const RunWatcher* watcher = store_.find(run);
    const auto record = watcher != nullptr ? recordOf(*watcher) : std::nullopt;
    if (!record) return {};
    auto points = curveOf(*record, question_.curve, question_.across);
    if (question_.final_half && !points.empty())
        std::erase_if(points,
                      [end = points.back().first](const auto& point) { return point.first < end / 2; });
    return points;
}

std::vector<BoardRow> CompareState::board() const {
    return makeBoard(recordsOf(store_), readSpeeds(store_.folder()));
}

}  // namespace roper
