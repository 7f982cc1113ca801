#include <QColorDialog>
#include <QDesktopServices>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QMenu>
#include <QRegularExpression>
#include <QSettings>
#include <QUrl>
#include <algorithm>

#include "core/base/text.h"
#include "ui/controls/text_inputs.h"
#include "ui/live/run_store.h"
#include "ui/pages/training/differences_dialog.h"
#include "ui/pages/training/runs_panel.h"
#include "ui/theme/error_text.h"
#include "ui/theme/numbers.h"

// The context menus of the tree of runs, and their dialogs.

namespace roper {
namespace {

constexpr qsizetype kMaxNoteLength = 1 << 17;  // characters; fits into the file of labels even if escaped

/// The words of a name that a filter interprets as words, not as comparisons.
QString wordsOf(const QString& name) {
    return name.split(' ', Qt::SkipEmptyParts)
        .filter(QRegularExpression(QStringLiteral("^[^<>=!]+$")))
        .join(' ');
}

}  // namespace

void RunsPanel::openMenu(const QPoint& at) {
    const RunWatcher* run = selected();
    if (run == nullptr) return;
    const auto chosen = allSelected();
    const bool is_experiment = model_->run(proxy_->mapToSource(tree_->currentIndex())) == nullptr;
    const auto any = [&](auto holds) { return std::ranges::any_of(chosen, holds); };
    QMenu menu(this);
    if (!is_experiment) {
        menu.addAction(tr("Inspect"), this, [this] { emit inspectRequested(selected()->name(), false); });
        menu.addAction(tr("Inspect beside its twin"), this,
                       [this] { emit inspectRequested(selected()->name(), true); })
            ->setEnabled(!twinNameOf(store_, run->name()).isEmpty());
    }
    if (const auto count = experimentsOf(chosen).size(); count > 1)
        menu.addAction(tr("Compare %1 experiments").arg(count), this, [this, chosen] {
            QStringList names;
            for (const RunWatcher* each : chosen)
                names << each->name();
            emit compareRunsRequested(names);
        });
    else
        menu.addAction(tr("Compare experiment"), this, [this] {
            emit compareRequested(wordsOf(model_->experimentNameOf(selected()->name())));
        });
    QAction* keep = menu.addAction(tr("Keep in the charts"), Qt::Key_Space, this, &RunsPanel::toggleTicks);
    keep->setCheckable(true);
    keep->setChecked(areTicked(chosen));
    const bool several = std::ranges::count_if(chosen, [](const RunWatcher* each) {
                             return each->specification().has_value();
                         }) > 1;
    menu.addAction(several ? tr("Differences…") : tr("Differences (select two runs)"), this,
                   &RunsPanel::showDifferences)
        ->setEnabled(several);
    if (run->specification() && !run->specification()->isImported()) {
        menu.addAction(tr("Reuse settings…"), this,
                       [this] { emit settingsRequested(*selected()->specification()); });
    }
    if (run->specification() && !run->specification()->isImported() && !is_experiment) {
        QAction* start = menu.addAction(tr("Start a run from its weights…"), this, [this] {
            Specification next = *selected()->specification();
            next.training.initial_weights = selected()->name().toStdString();
            emit settingsRequested(next);
        });
        const auto checkpoints = run->folder().checkpointsIfReadable();
        start->setEnabled(checkpoints && !checkpoints->empty());
    }
    menu.addAction(tr("Add to the queue"), this, &RunsPanel::enqueueSelected)
        ->setEnabled(any([this](const RunWatcher* each) { return canBeQueued(*each); }));
    menu.addSeparator();
    menu.addAction(tr("Tags and note…"), this, &RunsPanel::askForNotes);
    if (is_experiment) {
        menu.addAction(tr("Rename experiment…"), this, &RunsPanel::askForExperimentName);
    } else {
        menu.addAction(tr("Rename folder…"), this, &RunsPanel::askForFolderName)
            ->setEnabled(!run->isActive());
        menu.addAction(tr("Color…"), this, &RunsPanel::askForColor);
        menu.addAction(tr("Open folder"), this, &RunsPanel::openFolder);
    }
    menu.addSeparator();
    QAction* remove = menu.addAction(
        chosen.size() > 1 ? tr("Move %1 to trash").arg(countText(static_cast<int>(chosen.size()), tr("run")))
                          : tr("Move to trash"),
        this, &RunsPanel::trashRuns);
    remove->setEnabled(any([](const RunWatcher* each) { return !each->isActive(); }));
    menu.exec(tree_->viewport()->mapToGlobal(at));
}

void RunsPanel::openColumnMenu(const QPoint& at) {
    QMenu menu(this);
    for (int column = 1; column < RunsModel::column_count; ++column) {
        QAction* action =
            menu.addAction(model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString());
        action->setCheckable(true);
        action->setChecked(!tree_->isColumnHidden(column));
        connect(action, &QAction::toggled, this, [this, column](bool shown) {
            tree_->setColumnHidden(column, !shown);
            QStringList hidden;
            for (int each = 1; each < RunsModel::column_count; ++each)
                if (tree_->isColumnHidden(each)) hidden << QString::number(each);
            QSettings().setValue("training/hidden_columns", hidden);
            fitNameColumn();
        });
    }
    menu.exec(tree_->header()->mapToGlobal(at));
}

void RunsPanel::openFolder() {
    if (const RunWatcher* run = selected())
        QDesktopServices::openUrl(QUrl::fromLocalFile(QString::fromStdString(run->folder().path().string())));
}

void RunsPanel::trashRuns() {
    state_.edits().trashRuns(
        mapped(allSelected(), [](const RunWatcher* run) { return run->folder().name(); }));
}

void RunsPanel::rename(const QString& to) {
    const RunWatcher* run = selected();
    if (run == nullptr) return;
    const QString from = run->name();
    state_.queue().renameRun(run->folder(), to.toStdString());
    emit renamed(from, to);
    store_.refresh();
    select(to);
}

void RunsPanel::renameExperiment(const std::vector<RunWatcher*>& runs, const QString& name) {
    for (const RunWatcher* run : runs) {
        RunLabels labels = run->labels();
        labels.experiment = name.toStdString();
        writeLabels(run->folder(), labels);
    }
    reloadLabels();
}

/// Reads changed labels at once, which moves runs to their new experiments, and keeps the selection.
void RunsPanel::reloadLabels() {
    const RunWatcher* run = selected();
    const QString current = run != nullptr ? run->name() : QString();
    for (RunWatcher* each : store_.runs())
        each->pollIfChanged();
    select(current);
}

/// Asks for another name, calls `rename` with it, and reports its errors.
void RunsPanel::askForName(const QString& title, const QString& label, const QString& before,
                           const std::function<void(const QString& name)>& rename) {
    QInputDialog dialog(this);
    dialog.setWindowTitle(title);
    dialog.setLabelText(label);
    dialog.setTextValue(before);
    dialog.resize(480, dialog.height());  // wide enough for the whole name
    if (dialog.exec() != QDialog::Accepted || dialog.textValue() == before) return;
    const QString problem = errorOf([&] { rename(dialog.textValue().trimmed()); });
    if (!problem.isEmpty()) emit reported(tr("Not renamed: %1").arg(problem));
}

void RunsPanel::askForExperimentName() {
    const RunWatcher* run = selected();
    if (run == nullptr) return;
    const QList<RunWatcher*> all = model_->runsOf(model_->indexOf(run->name()).parent());
    const QString before = model_->experimentNameOf(run->name());
    askForName(tr("Rename experiment"), tr("Name of the experiment:"), before, [&](const QString& name) {
        if (!name.isEmpty() && name != before) renameExperiment({all.begin(), all.end()}, name);
    });
}

void RunsPanel::askForFolderName() {
    if (const RunWatcher* run = selected())
        askForName(tr("Rename run folder"), tr("Letters, digits, '.', '_' and '-':"), run->name(),
                   [this](const QString& name) { rename(name); });
}

/// One dialog for all selected runs. It shows the tags and the note that all have in common; changes of these
/// apply to all, and what only some runs have is kept.
void RunsPanel::askForNotes() {
    const auto runs = allSelected();
    if (runs.empty()) return;
    const RunLabels& first = runs.front()->labels();
    std::vector<std::string> common = first.tags;
    std::erase_if(common, [&](const std::string& tag) {
        return !std::ranges::all_of(
            runs, [&](const RunWatcher* run) { return hasElement(run->labels().tags, tag); });
    });
    const bool same_note =
        std::ranges::all_of(runs, [&](const RunWatcher* run) { return run->labels().note == first.note; });
    QDialog dialog(this);
    dialog.setWindowTitle(tr("Tags and note of %1").arg(countText(static_cast<int>(runs.size()), tr("run"))));
    auto* tags = new QLineEdit(QString::fromStdString(join(common, " ")));
    tags->setPlaceholderText(tr("words, separated by spaces"));
    auto* note = new TextInput(kMaxNoteLength);
    const QString shown_note = same_note ? QString::fromStdString(first.note) : QString();
    note->setPlainText(shown_note);
    if (!same_note)
        note->setPlaceholderText(tr("The runs have different notes, which stay if this is empty."));
    auto* layout = new QFormLayout(&dialog);
    layout->addRow(tr("Tags"), tags);
    layout->addRow(tr("Note"), note);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    layout->addRow(buttons);
    connect(buttons, &QDialogButtonBox::accepted, &dialog, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    dialog.resize(460, 240);
    if (dialog.exec() != QDialog::Accepted) return;
    const std::vector<std::string> entered =
        mapped(tags->text().split(' ', Qt::SkipEmptyParts), &QString::toStdString);
    const QString problem = errorOf([&] {
        for (const RunWatcher* run : runs) {
            RunLabels labels = run->labels();
            std::erase_if(labels.tags, [&](const std::string& tag) {
                return hasElement(common, tag) && !hasElement(entered, tag);
            });
            for (const std::string& tag : entered)
                if (!hasElement(labels.tags, tag)) labels.tags.push_back(tag);
            if (runs.size() == 1) labels.tags = entered;  // in the order entered
            if (note->toPlainText() != shown_note) labels.note = note->toPlainText().toStdString();
            writeLabels(run->folder(), labels);
        }
    });
    if (!problem.isEmpty()) emit reported(problem);
    reloadLabels();
}

void RunsPanel::showDifferences() {
    auto* dialog = new DifferencesDialog(allSelected(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void RunsPanel::askForColor() {
    const RunWatcher* run = selected();
    if (run == nullptr) return;
    const QString name = run->name();
    const QColor before = model_->color(name);
    const QColor color = QColorDialog::getColor(before, this, tr("Color of %1").arg(model_->labelOf(name)));
    if (color.isValid()) emit colorChosen(name, color);
}

void RunsPanel::enqueueSelected() {
    int queued = 0;
    const QString problem = errorOf([&] {
        for (const RunWatcher* run : allSelected()) {
            if (!canBeQueued(*run)) continue;
            state_.queue().enqueueRun(run->folder());
            ++queued;
        }
    });
    emit reported(problem.isEmpty() ? tr("%1 added to the queue").arg(countText(queued, tr("run")))
                                    : problem);
}

}  // namespace roper
