#include "ui/pages/inspect/solved_by_size.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "ui/live/trainer_launcher.h"

namespace roper {

SolvedBySize::~SolvedBySize() {
    blockSignals(true);  // the listening page is being destroyed
    stop();
}

void SolvedBySize::setMessage(const QString& message) {
    message_ = message;
    emit changed();
}

void SolvedBySize::count(const RunWatcher* run, std::optional<std::int64_t> step, int problems) {
    stop();
    const QString program = TrainerLauncher::trainerProgram();
    if (run == nullptr || program.isEmpty())
        return setMessage(run == nullptr
                              ? tr("Choose a run.")
                              : tr("The trainer roper-train was not found; build it with ./lab run."));
    auto* process = new QProcess(this);
    process_ = process;
    onProcessEnd(*process, this, &SolvedBySize::readResult);
    QStringList arguments{
        "eval",       QString::fromStdString(std::filesystem::absolute(run->folder().path()).string()),
        "--by-size",  "--json",
        "--problems", QString::number(problems)};
    if (step) arguments << "--step" << QString::number(*step);
    process->start(program, arguments);
    setMessage(tr("the model solves problems of every size …"));
}

void SolvedBySize::stop() {
    if (!process_) return;
    abandon(process_, *this);
    setMessage({});
}

void SolvedBySize::forget() {
    table_.reset();
    setMessage(isCounting() ? message_ : QString());
}

void SolvedBySize::readResult() {
    QProcess* process = process_;
    if (process == nullptr) return;
    process_ = nullptr;
    process->deleteLater();
    const QJsonObject result = QJsonDocument::fromJson(process->readAllStandardOutput()).object();
    if (result.isEmpty()) {
        const QString why = QString::fromUtf8(process->readAllStandardError()).trimmed();
        return setMessage(why.isEmpty() ? tr("roper-train eval ended unexpectedly.") : why.section('\n', -1));
    }
    SizeTable table;
    table.step = result["step"].toInteger();
    for (const QJsonValue& name : result["names"].toArray())
        table.names << name.toString();
    for (const QJsonValue& row : result["scores"].toArray()) {
        const QJsonArray cells = row.toArray();
        table.scores.push_back(
            {{cells[0].toInteger(), cells[1].toInteger()}, cells[2].toInteger(), cells[3].toInteger()});
        if (cells.size() > 4) table.scores.back().fully_correct = cells[4].toInteger();
    }
    table_ = std::move(table);
    setMessage({});
}

}  // namespace roper
