#include "ui/pages/spectrum/model_comparison.h"

#include <QFileDialog>
#include <QFileInfo>
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/base/error.h"
#include "ui/controls/layout_helpers.h"
#include "ui/live/published_models.h"
#include "ui/live/trainer_launcher.h"
#include "ui/theme/numbers.h"

// The controls of the comparison, and its reading by roper-train; model_comparison_view.cpp has the figure.

namespace roper {
namespace {

constexpr const char* kWellKnown = "--well-known";  // option of roper-train families

/// Names models by their path as in the rest of the window; equal names get the folder.
void nameModels(std::vector<LayerGroup>& groups) {
    for (LayerGroup& group : groups)
        if (!group.path.empty() && !group.path.ends_with(".json"))
            group.model = modelTitle(QString::fromStdString(group.path)).toStdString();
    std::map<std::string, std::set<std::string>> paths;
    for (const LayerGroup& group : groups)
        paths[group.model].insert(group.path);
    for (LayerGroup& group : groups)
        if (!group.path.empty() && paths[group.model].size() > 1)
            group.model =
                std::filesystem::path(group.path).parent_path().filename().string() + "/" + group.model;
}

}  // namespace

ModelComparison::ModelComparison(QWidget* parent)
    : QWidget(parent),
      view_(new ModelComparisonView(this)),
      text_(named(new QLineEdit, tr("Text for the comparison"),
                  tr("Each model on this machine reads it: slow share of the scores, and mean distance"))),
      measure_(makeActionButton(tr("Measure"), tr("Let each model on this machine read the text"), this,
                                &ModelComparison::startOrStop)),
      status_(faintLabel()) {
    text_->setPlaceholderText(tr("text to measure attention on (optional)"));
    connect(text_, &QLineEdit::returnPressed, this, &ModelComparison::readAgain);
    view_->setToolTip(tr("Click a row to show its frequencies"));
    status_->setWordWrap(true);
    status_->hide();
    columnOf({rowOf({makeActionButton(tr("Add a model…"), tr("A config.json or a GGUF file"), this,
                                      &ModelComparison::addModel),
                     {text_, 1},
                     measure_}),
              status_,
              {makeScrollArea(view_), 1}},
             this);
    connect(view_, &FigureView::hovered, this, &ModelComparison::hovered);
    connect(view_, &ModelComparisonView::groupChosen, this, &ModelComparison::groupChosen);
}

ModelComparison::~ModelComparison() {
    blockSignals(true);
    stop();
}

void ModelComparison::readOnce() {
    if (!has_read_ && !isReading()) readAgain();
}

void ModelComparison::readAgain() {
    start(defaultModels());
}

void ModelComparison::startOrStop() {
    if (!isReading()) return readAgain();
    stop();
    showStatus(tr("Stopped; the rows that had been read are shown."));
}

QStringList ModelComparison::defaultModels() const {
    QStringList models{QString::fromLatin1(kWellKnown)};
    for (const QString& path : publishedModels() + added_)
        if (!models.contains(QFileInfo(path).canonicalFilePath()) && !models.contains(path)) models << path;
    return models;
}

void ModelComparison::read(const QStringList& models, const QString& text) {
    text_->setText(text);
    start(models);
}

void ModelComparison::start(const QStringList& models) {
    stop();
    problem_.clear();
    groups_.clear();
    QStringList arguments{QStringLiteral("families"), QStringLiteral("--json")}, paths = models;
    if (paths.removeAll(QString::fromLatin1(kWellKnown)) > 0) arguments << QString::fromLatin1(kWellKnown);
    if (const QString text = text_->text().trimmed(); !text.isEmpty())
        arguments << QStringLiteral("--text=") + text;
    if (!paths.isEmpty()) arguments << QStringLiteral("--") << paths;
    auto* process = new QProcess(this);
    process_ = process;
    connect(process, &QProcess::readyReadStandardOutput, this, &ModelComparison::readLines);
    onProcessEnd(*process, this, &ModelComparison::finish);
    measure_->setText(tr("Stop"));
    view_->setEmptyText(tr("Reading models …"));
    showStatus(tr("Reading models …"));
    process->start(TrainerLauncher::trainerProgram(), arguments);
}

void ModelComparison::stop() {
    if (!process_) return;
    abandon(process_, *this);
    measure_->setText(tr("Measure"));
}

/// Shows the models that have been read so far, those on this machine first.
void ModelComparison::readLines() {
    try {
        while (process_->canReadLine()) {
            const QByteArray line = process_->readLine().trimmed();
            groups_.push_back(parseLayerGroup({line.constData(), static_cast<std::size_t>(line.size())}));
        }
    } catch (const Error& error) {
        problem_ = QString::fromStdString(error.what());
    }
    if (groups_.empty()) return;
    std::vector<LayerGroup> shown = groups_;
    nameModels(shown);
    std::ranges::stable_sort(shown, {}, [](const LayerGroup& one) { return one.path.empty(); });
    view_->setGroups(std::move(shown));
    showStatus(tr("Reading models: %1 so far …").arg(countText(static_cast<int>(groups_.size()), tr("row"))));
}

void ModelComparison::finish() {
    if (!process_) return;
    if (process_->error() == QProcess::FailedToStart) {
        problem_ = tr("The trainer roper-train was not found; build it with ./lab run.");
    } else {
        readLines();
        const QString said = QString::fromUtf8(process_->readAllStandardError()).trimmed();
        if (problem_.isEmpty() && process_->exitStatus() == QProcess::CrashExit)
            problem_ = tr("roper-train ended unexpectedly; the rows that had been read are shown.");
        if (problem_.isEmpty() && groups_.empty())
            problem_ = said.isEmpty() ? tr("roper-train answered nothing.") : said.section('\n', -1);
    }
    process_->deleteLater();
    process_ = nullptr;
    measure_->setText(tr("Measure"));
    view_->setEmptyText(problem_);
    has_read_ = problem_.isEmpty();
    showStatus(problem_);
}

void ModelComparison::showStatus(const QString& text) {
    setTextOrHide(*status_, text);
}

void ModelComparison::addModel() {
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Add a model: its config.json or GGUF file"), {},
                                     tr("config.json or GGUF (*.json *.gguf);;All files (*)"));
    if (path.isEmpty()) return;
    if (!added_.contains(path)) added_ << path;
    readAgain();
}

}  // namespace roper
