#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QSignalBlocker>
#include <algorithm>
#include <numbers>

#include "ui/controls/layout_helpers.h"
#include "ui/live/published_models.h"
#include "ui/live/run_store.h"
#include "ui/live/run_texts.h"
#include "ui/pages/inspect/inspect_page.h"
#include "ui/pages/inspect/stored_models_dialog.h"
#include "ui/theme/numbers.h"
#include "ui/theme/plain_text.h"

// The choice of the model and the comparison model, and the description of the model.

namespace roper {
namespace {

/// "135 M"
QString parametersText(std::int64_t count) {
    constexpr double kThousand = 1e3, kMillion = 1e6, kBillion = 1e9;
    const auto n = static_cast<double>(count);
    if (n >= kBillion) return QStringLiteral("%1 B").arg(numberText(n / kBillion, 3));
    if (n >= kMillion) return QStringLiteral("%1 M").arg(numberText(n / kMillion, 3));
    return n >= kThousand ? QStringLiteral("%1 k").arg(numberText(n / kThousand, 3)) : QString::number(count);
}

/// The chosen entry in full: "Copy · RoPER · seed 0 (copy-roper)".
QString chosenText(const QComboBox& models) {
    const QString folder = models.currentData().toString();
    return folder.isEmpty() ? models.currentText()
                            : QStringLiteral("%1 (%2)").arg(models.currentText(), folder);
}

}  // namespace

void InspectPage::open(const QString& model) {
    const RunWatcher *run = store_.find(model), *before = store_.find(state_->model());
    const auto taskOf = [](const RunWatcher* one) {
        return one != nullptr && one->specification() ? one->specification()->task.name : std::string();
    };
    const bool is_empty = text_->toPlainText().isEmpty();
    if (run != nullptr) {
        // A text of another task makes no sense to this model.
        const QString example = exampleText(*run);
        if (!example.isEmpty() && (is_empty || taskOf(run) != taskOf(before))) text_->setPlainText(example);
    } else if (QFileInfo(model).isAbsolute()) {
        if (is_empty || before != nullptr) text_->setPlainText(exampleProse());
        rememberModel(model);
    }
    state_->setText(text_->toPlainText());
    state_->setModel(model);
    if (comparison_state_->model() == model) setComparison({});
    fillModels();
    requestVisibleAnswers();
}

void InspectPage::fillModels() {
    models_->clear();
    const auto add = [this](const QString& title, const QString& model, const QString& help) {
        models_->addItem(title, model);
        models_->setItemData(models_->count() - 1, help, Qt::ToolTipRole);
    };
    QStringList published = publishedModels();
    if (QFileInfo(state_->model()).isAbsolute() && !published.contains(state_->model()))
        published.prepend(state_->model());
    for (const QString& path : published)
        add(store_.titleOf(path), path, path);
    bool first_run = models_->count() > 0;
    std::vector<RunWatcher*> runs = store_.runs();
    std::ranges::stable_sort(runs, std::ranges::greater(), &RunWatcher::createdAt_s);
    for (const RunWatcher* run : runs) {
        if (!run->specification()) continue;
        if (std::exchange(first_run, false)) models_->insertSeparator(models_->count());
        add(store_.titleOf(run->name()), run->name(), run->name());
    }
    models_->setCurrentIndex(state_->model().isEmpty() ? -1 : models_->findData(state_->model()));
    fillWelcome();
    fillComparison();
    models_->setToolTip(models_->currentIndex() < 0
                            ? tr("A published model on this machine, or one of your runs")
                            : chosenText(*models_));
    models_->setPlaceholderText(models_->count() == 0 ? tr("open a model from a file")
                                                      : tr("choose a model"));
}

/// Lists the run's checkpoints. At "newest step", a run in training answers with its current weights.
void InspectPage::fillSteps() {
    const QSignalBlocker filling(steps_);
    steps_->clear();
    steps_->addItem(tr("newest step"));
    for (const std::int64_t step : state_->checkpoints()) {
        steps_->addItem(tr("checkpoint %1").arg(step), QVariant::fromValue<qlonglong>(step));
        if (state_->chosenStep() == step) steps_->setCurrentIndex(steps_->count() - 1);
    }
    if (steps_->currentIndex() == 0) state_->setStep(std::nullopt);  // the chosen checkpoint has been deleted
    steps_->setEnabled(state_->run() != nullptr);
}

void InspectPage::setComparison(const QString& model) {
    comparison_state_->setText(state_->text());
    comparison_state_->setModel(model);
    comparison_state_->matchStep(*state_);
    fillComparison();
    requestVisibleAnswers();
}

/// Lists the twin first, then all other models.
void InspectPage::fillComparison() {
    comparison_box_->clear();
    comparison_box_->addItem(tr("nothing"), QString());
    const QString twin = twinNameOf(store_, state_->model());
    if (const RunWatcher* run = store_.find(twin); run != nullptr && run->specification())
        comparison_box_->addItem(tr("twin: %1 (same settings and seed)")
                                     .arg(QString::fromStdString(run->specification()->methodTitle())),
                                 twin);
    for (int i = 0; i < models_->count(); ++i) {
        const QString model = models_->itemData(i).toString();
        if (!model.isEmpty() && model != state_->model() && model != twin)
            comparison_box_->addItem(models_->itemText(i), model);
    }
    for (int i = 1; i < comparison_box_->count(); ++i)
        comparison_box_->setItemData(i, comparison_box_->itemData(i), Qt::ToolTipRole);
    comparison_box_->setCurrentIndex(std::max(0, comparison_box_->findData(comparison_state_->model())));
    comparison_box_->setToolTip(chosenText(*comparison_box_));
}

/// Adds buttons below the welcome text: to open one of the first models in the list, or another one.
void InspectPage::fillWelcome() {
    while (QLayoutItem* item = welcome_buttons_->takeAt(0)) {
        item->widget()->deleteLater();  // may be the button that is being clicked
        delete item;
    }
    const auto add = [this](const QString& text, const QString& help, auto run) {
        welcome_buttons_->addWidget(makeActionButton(plainCaption(text), help, this, run));
    };
    constexpr int kMaxButtons = 4;
    int offered = 0;
    for (int i = 0; i < models_->count() && offered < kMaxButtons; ++i) {
        const QString model = models_->itemData(i).toString();
        const RunWatcher* run = store_.find(model);
        if (run != nullptr && run->folder().checkpoints().empty()) continue;  // there is no model to open yet
        ++offered;
        if (!model.isEmpty())
            add(tr("Open %1").arg(models_->itemText(i)), model, [this, model] { open(model); });
    }
    add(tr("Find models on this machine…"), tr("Hugging Face's cache, LM Studio, Ollama and llama.cpp"),
        [this] { chooseStored(); });
    add(tr("Open a GGUF file…"), tr("A model in the format of llama.cpp"), [this] { chooseFile(); });
    add(tr("Open a Hugging Face folder…"), tr("config.json, tokenizer.json and .safetensors files"),
        [this] { chooseFolder(); });
}

void InspectPage::chooseStored() {
    auto* dialog = new StoredModelsDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &StoredModelsDialog::chosen, this, &InspectPage::openPublished);
    dialog->open();
}

void InspectPage::chooseFile() {
    const QString path = QFileDialog::getOpenFileName(this, tr("Open a GGUF file"), {},
                                                      tr("GGUF models (*.gguf);;All files (*)"));
    if (!path.isEmpty()) openPublished(path);
}

void InspectPage::chooseFolder() {
    const QString path = QFileDialog::getExistingDirectory(this, tr("Open a Hugging Face folder"));
    if (!path.isEmpty()) openPublished(path);
}

void InspectPage::openPublished(const QString& path) {
    if (!isPublishedModel(path))
        return showMessage(tr("%1 is not a model: choose a GGUF file, a folder with one, or a folder with "
                              "config.json, tokenizer.json and .safetensors files.")
                               .arg(path));
    const QString problem = problemOfModel(path);
    if (!problem.isEmpty()) return showMessage(problem);
    open(QFileInfo(path).absoluteFilePath());
}

/// Shows the welcome text in place of the text panel while there is no model, and the change panel only
/// beside panels whose answers depend on the change.
void InspectPage::showCurrentPanel() {
    const AnswerSpecs requiredAnswers = shownPanel().requiredAnswers();
    changes_button_->setVisible(
        std::ranges::any_of(requiredAnswers, [](const AnswerSpec* spec) { return spec->dependsOnChange(); }));
    showOrHideChanges();
    const int row = chooser_->currentRow();
    stack_->setCurrentIndex(state_->model().isEmpty() && row == 0 ? 0 : row + 1);
    // Hidden panels do not affect the size of the page.
    for (ModelPanel* panel : panels_) {
        const auto policy = panel == &shownPanel() ? QSizePolicy::Preferred : QSizePolicy::Ignored;
        panel->setSizePolicy(policy, policy);
    }
}

/// Hides the change panel in a narrow window, unless the user wants it, is using it or has made a change.
void InspectPage::showOrHideChanges() {
    constexpr int kRoomy = 1060;
    const int room = parentWidget() != nullptr ? parentWidget()->width() : width();  // visible width
    const bool in_use = change_area_->isAncestorOf(QApplication::focusWidget());
    const bool shown =
        changes_wanted_.value_or(room >= zoomed(kRoomy) || in_use || !state_->change().isEmpty());
    changes_button_->setChecked(shown);
    change_area_->setVisible(shown && !changes_button_->isHidden());
}

void InspectPage::resizeEvent(QResizeEvent* event) {
    Page::resizeEvent(event);
    showOrHideChanges();
}

void InspectPage::showModel() {
    const ModelSummary* m = state_->summary();
    showCurrentPanel();
    if (m == nullptr) return summary_->clear();
    if (!m->has_head && &shownPanel() == &panel<TextPanel>()) showPanel<HeadsPanel>();
    // All runs have the same architecture, so their method is shown instead of the family.
    const RunWatcher* run = state_->run();
    const std::string kind =
        run != nullptr && run->specification() ? run->specification()->methodTitle() : m->family;
    QString text = tr("%1: %2 parameters, %3 of %4 heads")
                       .arg(QString::fromStdString(kind), parametersText(m->parameters),
                            m->layers == 1 ? tr("1 layer") : tr("%1 layers").arg(m->layers))
                       .arg(m->heads);
    if (m->key_value_heads != m->heads) text += tr(" (%1 for keys and values)").arg(m->key_value_heads);
    text += tr(", head_dim %1").arg(m->head_dim);
    if (m->context > 0) text += tr(", training context %1 tokens").arg(m->context);
    if (!m->theta.empty() && m->context > 0) {
        const auto slow = std::ranges::count_if(m->theta, [&](double theta) {
            return theta * static_cast<double>(m->context) < 2 * std::numbers::pi;
        });
        text +=
            slow == 0
                ? tr("; all %1 rotated pairs complete a turn").arg(m->theta.size())
                : tr("; %1 of %2 rotated pairs complete no turn within it").arg(slow).arg(m->theta.size());
    } else if (m->theta.empty()) {
        text += tr("; no rotation");
    }
    if (!m->causal) text += tr("; bidirectional attention");
    if (!m->has_head) text += tr("; no output head");
    if (const QString rotated = QString::fromStdString(m->rotated);
        !rotated.isEmpty() && rotated != "qk" && rotated != "qkv" && rotated != "qkvo")
        text += tr("; rotated tensors: %1").arg(rotated);
    else if (m->rotates_values)
        text += m->outputs_rotate_back ? tr("; values also rotate")
                                       : tr("; values also rotate, outputs are not rotated back");
    if (state_->step()) text += tr("; step %1").arg(*state_->step());
    summary_->setText(text);
    QStringList notes{text};
    for (const std::string& note : m->notes)
        notes << QString::fromStdString(note);
    summary_->setToolTip(notes.join('\n'));
    emit explanationChanged();
}

}  // namespace roper
