#include "ui/pages/inspect/inspect_state.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "ui/live/trainer_launcher.h"

namespace roper {
namespace {

constexpr int kBetweenLooks_ms = 1000;

}  // namespace

int nearestStep(const std::vector<std::int64_t>& steps, std::int64_t step) {
    const auto found = std::min_element(steps.begin(), steps.end(), [step](std::int64_t a, std::int64_t b) {
        return std::abs(a - step) < std::abs(b - step);
    });
    return found == steps.end() ? -1 : static_cast<int>(found - steps.begin());
}

std::vector<std::int64_t> stepsOf(const std::vector<StepFile>& files) {
    std::vector<std::int64_t> steps;
    for (const StepFile& file : files)
        steps.push_back(file.step);
    return steps;
}

InspectState::InspectState(RunStore& store, QObject* parent)
    : QObject(parent), store_(store), client_(store, this) {
    connect(&client_, &ModelClient::answered, this, &InspectState::take);
    connect(&client_, &ModelClient::failed, this, [this](const QString& why) {
        asking_ = false;
        say(why);
    });
    timer_.setInterval(kBetweenLooks_ms);
    connect(&timer_, &QTimer::timeout, this, &InspectState::lookForSnapshots);
    timer_.start();
    connect(&store_, &RunStore::runRemoved, this, [this](const QString& name) {
        if (name == run_) setRun({});
    });
}

InspectState::~InspectState() {
    blockSignals(true);  // the page that listened is being destroyed
    stopAskingForSizes();
}

void InspectState::say(const QString& message) {
    message_ = message;
    emit messageChanged();
}

void InspectState::setRun(const QString& name) {
    if (name == run_) return;
    stopAskingForSizes();
    run_ = name;
    snapshots_.clear();
    read_.clear();
    snapshot_ = -1;
    step_.reset();
    maps_.reset();
    continuation_.reset();
    sizes_.reset();
    head_ = 0;
    asking_ = false;
    say({});
    emit runChanged();
    lookForSnapshots();
    emit mapsChanged();
    emit continuationChanged();
    emit sizesChanged();
}

/// The newest snapshot is shown as it comes, unless an older one is being looked at.
void InspectState::lookForSnapshots() {
    const RunWatcher* run = store_.find(run_);
    if (run == nullptr) return;
    std::vector<std::int64_t> checkpoints = this->checkpoints();
    if (checkpoints != seen_checkpoints_) {
        seen_checkpoints_ = std::move(checkpoints);
        emit checkpointsChanged();
    }
    const auto listed = run->folder().snapshotsToShow();
    if (!listed) return;
    const std::vector<StepFile>& found = *listed;
    const bool same =
        found.size() == snapshots_.size() && (found.empty() || found.back().step == snapshots_.back().step);
    if (same) return;
    const bool at_end = snapshot_ < 0 || snapshot_ + 1 >= static_cast<int>(snapshots_.size());
    snapshots_ = found;
    emit snapshotsChanged();
    if (at_end && !found.empty()) showSnapshot(static_cast<int>(found.size()) - 1);
}

std::shared_ptr<const HeadMaps> InspectState::readSnapshot(const StepFile& file) {
    // Scrubbing reads each snapshot once, as long as they are small enough to be kept.
    constexpr std::size_t kMostKept = 64;
    constexpr std::size_t kMostWeights = 32U << 20U;
    constexpr std::uint64_t kLargestSnapshot = 1U << 30U;
    const bool is_large =
        maps_ && maps_->count() * maps_->text.size() * maps_->text.size() * read_.size() > kMostWeights;
    if (read_.size() >= kMostKept || is_large) read_.clear();
    auto& read = read_[file.step];
    if (!read)
        read = std::make_shared<const HeadMaps>(
            readHeadMaps(SafetensorsFile::read(file.path, kLargestSnapshot)));
    return read;
}

void InspectState::showSnapshot(int index) {
    if (index < 0 || index >= static_cast<int>(snapshots_.size())) return;
    snapshot_ = index;
    shows_snapshot_ = true;
    asking_ = false;
    try {
        maps_ = readSnapshot(snapshots_[static_cast<std::size_t>(index)]);
        head_ = std::min(head_, maps_->count() - 1);
        say({});
    } catch (const Error& error) {
        maps_.reset();
        say(QString::fromStdString(error.what()));
    }
    emit mapsChanged();
}

std::vector<std::int64_t> InspectState::checkpoints() const {
    const RunWatcher* run = store_.find(run_);
    if (run == nullptr) return {};
    const auto listed = run->folder().checkpointsToShow();
    if (!listed) return seen_checkpoints_;
    return stepsOf(*listed);
}

void InspectState::matchStep(const InspectState& other) {
    std::optional<std::int64_t> step = other.step();
    const std::vector<std::int64_t> there = checkpoints();
    if (step && !there.empty()) step = there[static_cast<std::size_t>(nearestStep(there, *step))];
    setStep(step);
}

/// What another step has solved is not what this one solves.
void InspectState::setStep(std::optional<std::int64_t> step) {
    if (step == step_) return;
    step_ = step;
    sizes_.reset();
    emit sizesChanged();
}

void InspectState::askForMaps(const QString& text) {
    Request request{Command::maps, "1"};
    request.text = text.toStdString();
    asking_ = true;
    say(tr("asking the model …"));
    client_.ask({run_, request, step_});
}

void InspectState::generate(const QString& prompt, int count, double temperature, std::int64_t seed) {
    Request request{Command::generate, "1"};
    request.text = prompt.toStdString();
    request.count = count;
    request.temperature = temperature;
    request.seed = seed;
    asking_ = true;
    say(tr("generating …"));
    client_.ask({run_, request, step_});
}

void InspectState::take(const ModelQuestion& question, const QByteArray& payload) {
    if (question.run != run_) return;
    asking_ = false;
    try {
        const SafetensorsFile file = SafetensorsFile::parse(payload.toStdString(), "the trainer's answer");
        if (question.request.command == Command::maps) {
            maps_ = std::make_shared<const HeadMaps>(readHeadMaps(file));
            shows_snapshot_ = false;
            head_ = std::min(head_, maps_->count() - 1);
            say({});
            emit mapsChanged();
        } else {
            continuation_ = readContinuation(file);
            say({});
            emit continuationChanged();
        }
    } catch (const Error& error) {
        say(QString::fromStdString(error.what()));
    }
}

void InspectState::askForSizes(int problems) {
    stopAskingForSizes();
    const RunWatcher* run = store_.find(run_);
    const QString program = TrainerLauncher::trainerProgram();
    if (run == nullptr || program.isEmpty()) {
        say(run == nullptr ? tr("Choose a run.")
                           : tr("The trainer roper-train is not there; build it with ./lab run."));
        return;
    }
    auto* process = new QProcess(this);
    sizes_process_ = process;
    connect(process, &QProcess::finished, this, &InspectState::takeSizes);
    connect(process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) takeSizes();  // others are followed by `finished`
    });
    QStringList arguments{
        "eval",       QString::fromStdString(std::filesystem::absolute(run->folder().path()).string()),
        "--by-size",  "--json",
        "--problems", QString::number(problems)};
    if (step_) arguments << "--step" << QString::number(*step_);
    process->start(program, arguments);
    say(tr("the model solves problems of every size …"));
    emit sizesChanged();
}

void InspectState::stopAskingForSizes() {
    if (!sizes_process_) return;
    QProcess* process = sizes_process_;
    sizes_process_ = nullptr;
    process->disconnect(this);
    process->setParent(nullptr);
    connect(process, &QProcess::finished, process, &QObject::deleteLater);
    process->kill();
    say({});
    emit sizesChanged();
}

void InspectState::takeSizes() {
    QProcess* process = sizes_process_;
    if (process == nullptr) return;
    sizes_process_ = nullptr;
    process->deleteLater();
    const QJsonObject said = QJsonDocument::fromJson(process->readAllStandardOutput()).object();
    if (said.isEmpty()) {
        const QString why = QString::fromUtf8(process->readAllStandardError()).trimmed();
        say(why.isEmpty() ? tr("roper-train eval ended unexpectedly.") : why.section('\n', -1));
        emit sizesChanged();
        return;
    }
    SizeTable table;
    table.step = said["step"].toInteger();
    for (const QJsonValue& name : said["names"].toArray())
        table.names << name.toString();
    for (const QJsonValue& row : said["scores"].toArray()) {
        const QJsonArray cells = row.toArray();
        table.scores.push_back(
            {{cells[0].toInteger(), cells[1].toInteger()}, cells[2].toInteger(), cells[3].toInteger()});
        if (cells.size() > 4) table.scores.back().fully_correct = cells[4].toInteger();
    }
    sizes_ = std::move(table);
    say({});
    emit sizesChanged();
}

void InspectState::setHead(std::size_t head) {
    if (!maps_ || head >= maps_->count() || head == head_) return;
    head_ = head;
    emit headChanged();
}

void InspectState::setOrder(HeadOrder order) {
    order_ = order;
    emit mapsChanged();
}

std::vector<std::size_t> InspectState::ordered() const {
    std::vector<std::size_t> heads(maps_ ? maps_->count() : 0);
    std::iota(heads.begin(), heads.end(), std::size_t{0});
    // Heads of a model that has diverged are not numbers; they come last.
    const auto or_last = [](double number) {
        return std::isnan(number) ? std::numeric_limits<double>::infinity() : number;
    };
    const auto value = [&](std::size_t head) {
        const HeadStatistics& s = maps_->statistics[head];
        switch (order_) {
            case HeadOrder::entropy:
                return or_last(s.entropy);
            case HeadOrder::distance:
                return or_last(s.mean_distance);
            case HeadOrder::diagonal:
                return or_last(-s.diagonal);  // the clearest first
            default:
                return 0.0;
        }
    };
    std::stable_sort(heads.begin(), heads.end(),
                     [&](std::size_t a, std::size_t b) { return value(a) < value(b); });
    return heads;
}

}  // namespace roper
