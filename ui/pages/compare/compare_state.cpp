#include "ui/pages/compare/compare_state.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "core/base/error.h"
#include "ui/live/run_store.h"
#include "ui/theme/theme.h"

namespace roper {
namespace {

constexpr int kRefreshInterval_ms = 400;

std::set<RunSeeds> knownSeeds(const RunGroup& group, const std::vector<RunRecord>& runs) {
    std::set<RunSeeds> seeds;
    for (const std::size_t run : group.runs)
        if (seedsAreKnown(runs[run].specification)) seeds.insert(seedsOf(runs[run].specification));
    return seeds;
}

std::ptrdiff_t sharedSeeds(const std::set<RunSeeds>& a, const std::set<RunSeeds>& b) {
    return std::ranges::count_if(a, [&](const RunSeeds& seeds) { return b.contains(seeds); });
}

using Q = CompareSettings;

/// A setting that follows from the task or the groups until it is set.
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

}  // namespace

QString spreadTitle(Spread spread) {
    const QString titles[] = {CompareState::tr("lowest to highest run"),
                              CompareState::tr("mean ± standard error"),
                              CompareState::tr("95 % interval of the mean")};
    return titles[static_cast<std::size_t>(spread)];
}

QString xAxisTitle(XAxis across) {
    return across == XAxis::step   ? CompareState::tr("step")
           : across == XAxis::time ? CompareState::tr("training time, s")
                                   : CompareState::tr("tokens");
}

QString measureTitle(const CompareSettings& question) {
    if (question.measure == Measure::steps_until)
        return CompareState::tr("steps until %1 % are solved").arg(question.share);
    const MeasureInfo& info = infoOf(question.measure);
    const QString title = QString::fromStdString(info.title);
    return info.unit == "nats" ? title + QStringLiteral(", nats") : title;
}

CompareState::CompareState(RunStore& store, QObject* parent) : QObject(parent), store_(store) {
    timer_.setSingleShot(true);
    timer_.setInterval(kRefreshInterval_ms);
    connect(&timer_, &QTimer::timeout, this, &CompareState::refresh);
    const auto soon = [this] {
        stale_ = true;
        if (page_visible_ && !timer_.isActive()) timer_.start();
    };
    connect(&store_, &RunStore::runRemoved, this, soon);
    connect(&store_, &RunStore::changed, this, soon);
    connect(&store_, &RunStore::runAdded, this, soon);
}

void CompareState::change(const std::function<void(CompareSettings&)>& change) {
    change(question_);
    filter_problem_.clear();
    try {
        filter_ = RunFilter(question_.filter);
    } catch (const Error& error) {
        filter_problem_ = QString::fromStdString(error.what());  // the last valid filter stays in effect
    }
    refresh();
}

void CompareState::fillGroup(ComparedGroup& group, const std::vector<RunRecord>& runs) const {
    const double solved_fraction = question_.share / 100.0;
    for (const std::size_t run : group.group.runs)
        group.all << QString::fromStdString(runs[run].name);
    group.shown = !question_.hidden.contains(group.key());
    const std::vector<std::size_t> counted = oneRunPerSeed(runs, group.group);
    group.excluded = group.all.size() - static_cast<qsizetype>(counted.size());
    const std::vector<std::size_t> members =
        question_.drop_worst ? withoutWorst(runs, counted, question_.measure, solved_fraction) : counted;
    for (const std::size_t member : members) {
        group.members << QString::fromStdString(runs[member].name);
        const OutcomeValue outcome = outcomeOf(runs[member], question_.measure, solved_fraction);
        if (outcome.kind == Outcome::known) group.values.push_back(outcome.value);
        QStringList& names = outcome.kind == Outcome::known         ? group.names
                             : outcome.kind == Outcome::unfinished  ? group.unfinished
                             : outcome.kind == Outcome::not_reached ? group.not_reached
                                                                    : group.missing;
        names << group.members.back();
    }
    group.summary = summarize(group.values);
    group.interval = meanInterval(group.summary);
    if (!group.interval) return;
    const Interval range = possibleRange(runs[group.group.runs.front()], question_.measure);
    group.interval->low = std::max(group.interval->low, range.low);
    group.interval->high = std::min(group.interval->high, range.high);
}

void CompareState::setPageVisible(bool seen) {
    page_visible_ = seen;
    if (page_visible_ && stale_) refresh();
}

void CompareState::refresh() {
    stale_ = false;
    std::vector<RunRecord> runs = recordsOf(store_);
    std::erase_if(runs, [this](const RunRecord& run) { return !filter_.matches(run); });
    const auto all = store_.runs();
    unreadable_runs_ = static_cast<std::size_t>(
        std::ranges::count_if(all, [](const RunWatcher* run) { return !run->specification(); }));
    if (!runs.empty() && !question_.curve_chosen)
        question_.curve =
            runs.front().specification.task.hasProblems() ? Quantity::correct : Quantity::evaluation_loss;
    // All at once, because grouping may throw and the pair consists of indices of groups.
    pair_.reset();
    comparison_.reset();
    suggested_runs_.clear();
    groups_.clear();
    std::map<std::string, int> of_method;
    for (RunGroup& group : groupRuns(runs)) {
        ComparedGroup compared;
        const std::string& position = group.specification.methodName();
        compared.color = Theme().run(position, of_method[position]++);
        compared.group = std::move(group);
        groups_.push_back(std::move(compared));
    }
    choosePair(runs);
    if (!question_.measure_chosen && pair_)
        question_.measure =
            defaultComparisonMeasure(runs, groups_[pair_->first].group, groups_[pair_->second].group);
    else if (!question_.measure_chosen && !runs.empty())
        question_.measure = defaultMeasure(runs.front().specification);
    for (ComparedGroup& group : groups_)
        fillGroup(group, runs);
    compare(runs);
    emit changed();
}

/// The best partner of a group in a pair, by, in this order: the same task, another method, the most shared
/// seeds; on ties the first.
std::size_t CompareState::partnerOf(std::size_t one, const std::vector<RunRecord>& runs) const {
    const Specification& mine = groups_[one].group.specification;
    const std::set<RunSeeds> seeds = knownSeeds(groups_[one].group, runs);
    std::size_t best = one == 0 ? 1 : 0;
    std::tuple<bool, bool, std::ptrdiff_t> most{};
    for (std::size_t other = 0; other < groups_.size(); ++other) {
        if (other == one) continue;
        const Specification& theirs = groups_[other].group.specification;
        const bool same_task =
            mine.task.name == theirs.task.name && isKnown("task.name", mine) && isKnown("task.name", theirs);
        const std::tuple worth{same_task, mine.methodName() != theirs.methodName(),
                               sharedSeeds(seeds, knownSeeds(groups_[other].group, runs))};
        if (worth <= most) continue;
        best = other;
        most = worth;
    }
    return best;
}

void CompareState::choosePair(const std::vector<RunRecord>& runs) {
    if (groups_.size() < 2) return;
    const auto find = [&](const std::string& key) -> std::optional<std::size_t> {
        for (std::size_t i = 0; i < groups_.size(); ++i)
            if (groups_[i].group.key == key) return i;
        return std::nullopt;
    };
    const auto first_rope = [&] {
        for (std::size_t i = 0; i < groups_.size(); ++i)
            if (groups_[i].group.specification.methodName() == "rope") return i;
        return std::size_t{0};
    };
    const auto chosen_b = find(question_.b);
    const std::size_t a = find(question_.a).value_or(chosen_b ? partnerOf(*chosen_b, runs) : first_rope());
    // A group is not compared with itself; this also lets the user swap the two by choosing one after the
    // other.
    const std::size_t b = chosen_b && *chosen_b != a ? *chosen_b : partnerOf(a, runs);
    pair_ = std::pair(a, b);
}

void CompareState::compare(const std::vector<RunRecord>& runs) {
    if (!pair_) return;
    const auto [a, b] = *pair_;
    comparison_ =
        comparePaired(runs, groups_[a].group, groups_[b].group, question_.measure, question_.share / 100.0);
    auto wanted = followUps(runs, groups_[a].group, groups_[b].group, *comparison_);
    if (!wanted.empty()) {
        const StepTimes times(runs, readSpeeds(store_.folder()));
        for (FollowUp& follow_up : wanted) {
            const ExpectedTime time = times.estimateTotal(follow_up.runs);
            suggested_runs_.push_back({std::move(follow_up), time});
        }
    }
}

MeanCurve CompareState::band(const ComparedGroup& group) const {
    // By name, because runs may have been added or removed since the groups were made.
    std::vector<RunRecord> runs;
    for (const QString& name : group.members) {
        if (auto record = recordOf(store_.find(name))) runs.push_back(std::move(*record));
    }
    std::vector<std::size_t> all(runs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return meanCurve(runs, all, question_.curve, question_.across, question_.spread,
                     question_.final_half ? 0.5 : 0.0);
}

std::vector<std::pair<double, double>> CompareState::curve(const QString& run) const {
    const auto record = recordOf(store_.find(run));
    if (!record) return {};
    auto points = runCurve(*record, question_.curve, question_.across);
    if (question_.final_half && !points.empty())
        std::erase_if(points,
                      [end = points.back().first](const auto& point) { return point.first < end / 2; });
    return points;
}

std::vector<OutcomeRow> CompareState::outcomeTable() const {
    if (!pair_) return {};
    // By name, because runs may have been added or removed since the groups were made.
    std::vector<RunRecord> runs;
    const auto collect = [&](const ComparedGroup& compared) {
        RunGroup group = compared.group;
        group.runs.clear();
        for (const QString& name : compared.all) {
            auto record = recordOf(store_.find(name));
            if (!record) continue;
            group.runs.push_back(runs.size());
            runs.push_back(std::move(*record));
        }
        return group;
    };
    const RunGroup a = collect(groups_[pair_->first]), b = collect(groups_[pair_->second]);
    return roper::outcomeTable(runs, a, b);
}

std::vector<BoardRow> CompareState::board() const {
    return makeBoard(recordsOf(store_), readSpeeds(store_.folder()));
}

ExpectedTime CompareState::expectedTime(const std::vector<Specification>& runs) const {
    return StepTimes(recordsOf(store_), readSpeeds(store_.folder())).estimateTotal(runs);
}

const std::vector<Field<CompareSettings>>& compareFields() {
    static const std::vector<Field<Q>> fields = {
        field<Q>({"", "filter", "", "which runs: words and comparisons such as \"seed<5\"", AnyText()},
                 &Q::filter),
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
