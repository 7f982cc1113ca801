#include <QFileInfo>
#include <QMenu>
#include <QScopedValueRollback>
#include <QShortcut>
#include <QToolButton>
#include <algorithm>

#include "core/base/error.h"
#include "ui/controls/layout_helpers.h"
#include "ui/controls/narrow_controls.h"
#include "ui/controls/text_inputs.h"
#include "ui/live/published_models.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/pages/inspect/inspect_page.h"
#include "ui/theme/zoom.h"

// The controls and actions of the Inspect page, and its figures drawn without a window.

namespace roper {
namespace {

constexpr qsizetype kRoomForText = 1 << 17;  // characters; longer than any text that the page sends

}  // namespace

QWidget* InspectPage::makeChooser() {
    models_ =
        named(new ElidedComboBox, tr("Model"), tr("A published model on this machine, or one of your runs"));
    allowShrinking(*models_, 18);
    connect(models_, &QComboBox::activated, this,
            [this](int index) { open(models_->itemData(index).toString()); });
    comparison_box_ = named(new ElidedComboBox, tr("Comparison model"),
                            tr("Another model that reads the same text: its pairs, value kernels, heads and "
                               "predictions are shown as well"));
    allowShrinking(*comparison_box_, 12);
    connect(comparison_box_, &QComboBox::activated, this,
            [this](int index) { setComparison(comparison_box_->itemData(index).toString()); });
    steps_ = named(new QComboBox, tr("Step of the model"), tr("For a run: the checkpoint to inspect"));
    allowShrinking(*steps_, 12);
    connect(steps_, &QComboBox::currentIndexChanged, this, [this] {
        const QVariant step = steps_->currentData();
        state_->setStep(step.isValid() ? std::optional(step.toLongLong()) : std::nullopt);
    });
    summary_ = faintLabel();
    summary_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    makeTextInput();
    cancel_ = named(new QPushButton(tr("Cancel")), tr("Cancel"), tr("Stop the computation"));
    connect(cancel_, &QPushButton::clicked, this, [this] {
        for (InspectState* state : {state_, comparison_state_}) {
            state->setRequiredAnswers({});  // until another panel requires answers
            state->cancel();
        }
        showMessage(tr("Cancelled; “Read” starts again."));
    });
    progress_ =
        named(new QProgressBar, tr("Progress of the answer"), tr("How much of the answer has been computed"));
    progress_->setTextVisible(false);
    progress_->setFixedWidth(zoomed(120));
    cost_ = new QLabel;
    cost_->setForegroundRole(QPalette::PlaceholderText);
    message_ = messageLabel();
    message_->hide();
    auto* first = rowOf({models_, makeOpenButton(), new QLabel(tr("at")), steps_,
                         new QLabel(tr("compared with")), comparison_box_, kSpacer});
    // The summary has a line of its own: beside the choices it would become a tall column.
    return wrapInWidget(columnOf(
        {first, summary_, text_,
         rowOf({read_, cost_, progress_, cancel_, kSpacer, changes_button_ = makeChangesButton()})}));
}

QToolButton* InspectPage::makeOpenButton() {
    auto* open = named(new QToolButton, tr("Open a model"),
                       tr("A model downloaded by another program, a GGUF file, or a Hugging Face folder"));
    open->setText(tr("Open…"));
    open->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(open);
    menu->addAction(tr("Model on this machine…"), this, &InspectPage::chooseStored);
    menu->addAction(tr("GGUF file…"), this, &InspectPage::chooseFile);
    menu->addAction(tr("Hugging Face folder…"), this, &InspectPage::chooseFolder);
    open->setMenu(menu);
    return open;
}

QToolButton* InspectPage::makeChangesButton() {
    auto* button =
        named(new QToolButton, tr("Ablations and changes"),
              tr("Show or hide the panel at the right that ablates or changes parts of the model"));
    button->setText(tr("Ablations and changes"));
    button->setCheckable(true);
    connect(button, &QToolButton::clicked, this, [this](bool shown) {
        changes_wanted_ = shown;
        showOrHideChanges();
    });
    return button;
}

void InspectPage::makeTextInput() {
    text_ = named(new TextInput(kRoomForText), tr("Text that the model reads"),
                  tr("Press Ctrl+Return to let the model read it"));
    text_->setPlaceholderText(tr("Type a text; Ctrl+Return lets the model read it"));
    text_->setTabChangesFocus(true);
    const auto lines = [this](int count) { return text_->fontMetrics().lineSpacing() * count + 12; };
    text_->setMinimumHeight(lines(1));
    text_->setMaximumHeight(lines(3));
    read_ = named(new QPushButton(tr("Read")), tr("Read"), tr("Let the model read the text (Ctrl+Return)"));
    const auto readIt = [this] { readText(text_->toPlainText()); };
    connect(read_, &QPushButton::clicked, this, readIt);
    for (const auto key : {Qt::Key_Return, Qt::Key_Enter})
        new QShortcut(Qt::CTRL | key, text_, this, readIt, Qt::WidgetShortcut);
}

QWidget* InspectPage::makeWelcome() {
    auto* text = wrappedLabel(
        tr("Open a language model on this machine, as a GGUF file or a Hugging Face folder, or one of your "
           "runs. “./lab setup --model” downloads a small one (SmolLM2, 98 MB)."));
    text->setAlignment(Qt::AlignCenter);
    auto* buttons = new QWidget;
    welcome_buttons_ = new QVBoxLayout(buttons);
    buttons->setMaximumWidth(zoomed(420));
    auto* welcome = new QWidget;
    auto* layout = new QVBoxLayout(welcome);
    layout->addStretch(1);
    layout->addWidget(text);
    layout->addSpacing(zoomed(12));
    layout->addWidget(buttons, 0, Qt::AlignHCenter);
    layout->addStretch(2);
    return welcome;
}

void InspectPage::addActions(Actions& actions) {
    const QString group = tr("Inspect");
    actions.add(group, tr("Open a model on this machine…"), {}, [this] { chooseStored(); });
    actions.add(group, tr("Open a GGUF file…"), {}, [this] { chooseFile(); });
    actions.add(group, tr("Open a Hugging Face folder…"), {}, [this] { chooseFolder(); });
    for (ModelPanel* panel : panels_)
        actions.add(group, panel->title(), {}, [this, panel] { choose(*panel); });
    actions.add(group, tr("Play or pause the snapshots"), Qt::Key_Space,
                [this] { panel<SnapshotsPanel>().play(); });
    actions.add(group, tr("First snapshot"), Qt::Key_Home, [this] { state_->showSnapshot(0); });
    actions.add(group, tr("Generate a continuation"), {}, [this] {
        showPanel<GenerationPanel>();
        panel<GenerationPanel>().generate();
    });
    actions.add(group, tr("As trained"), {}, [this] { state_->setChange({}); });
}

/// @throws Error (usage) if there is no such run or published model
void InspectPage::requireModel(const QString& model) {
    if (isPublishedModel(model)) return;
    store_.readAll();
    if (store_.find(model) == nullptr)
        throw Error(ErrorKind::usage,
                    "no run \"" + model.toStdString() + "\" in " + store_.folder().string());
}

/// @throws Error (usage) if the model has no such head
void InspectPage::openForFigure(const QString& model, const InspectFigureSettings& picture) {
    state_->setRequiredAnswers({&answers::model});
    state_->setText(QString::fromStdString(picture.question.text));
    state_->setChange(picture.question.change);
    state_->setModel(model);
    waitWhile([&] { return state_->isAsking(); }, "the answer of the model");
    if (state_->summary() == nullptr) throw Error(ErrorKind::usage, state_->message().toStdString());
    const ModelSummary& summary = *state_->summary();
    const std::int64_t layer = picture.question.layer.value_or(0), head = picture.question.head.value_or(0);
    if (layer >= summary.layers || head >= summary.heads)
        throw Error(ErrorKind::usage, "the model has layers 0 to " + std::to_string(summary.layers - 1) +
                                          " and heads 0 to " + std::to_string(summary.heads - 1));
    state_->setHead(static_cast<int>(layer), static_cast<int>(head));
    comparison_state_->setRequiredAnswers({});
    const QString comparison = QString::fromStdString(picture.comparison);
    setComparison(isPublishedModel(comparison) ? QFileInfo(comparison).absoluteFilePath() : comparison);
}

Figure& InspectPage::prepareFigure(FigureRequest request) {
    const QScopedValueRollback<bool> prepares(is_preparing_, true);
    InspectFigureSettings picture;
    applySettings(inspectFields(), picture, request.settings);
    if (request.run.empty())
        throw Error(ErrorKind::usage, request.kind + " needs a model: --run NAME, a .gguf file or a folder");
    const QString kind = QString::fromStdString(request.kind);
    Figure& figure = pageFigures().named(request.kind);
    const auto has_it = [&](const ModelPanel* panel) {
        const PageFigures::Figures figures = panel->figures();
        return std::ranges::find(figures, &figure) != figures.end();
    };
    ModelPanel& shown = **std::ranges::find_if(panels_, has_it);
    const AnswerSpecs requiredAnswers = shown.answersForFigure(kind);
    if (picture.question.text.empty() && std::ranges::any_of(requiredAnswers, [](const AnswerSpec* spec) {
            return spec->questionKind().reads_text;
        }))
        throw Error(ErrorKind::usage, request.kind + " needs a text: --set text=…");
    const QString model = QString::fromStdString(request.run);
    requireModel(model);
    // Such figures are drawn from the run's files, without an answer of the model.
    const bool is_of_run = requiredAnswers.empty();
    if (!is_of_run)
        openForFigure(model, picture);
    else if (isPublishedModel(model) &&
             (request.kind == "solved-by-size" || request.kind == "learned-positions"))
        throw Error(ErrorKind::usage, request.kind + " is only for runs; this model has no such numbers");
    else
        state_->setModel(model);
    if (kind == panel<GenerationPanel>().continuation().figureName() && picture.question.text.empty())
        throw Error(ErrorKind::usage, "continuation needs a text: --set text=…");
    shown.prepare(kind, picture);
    if (is_of_run) {
        shown.refreshNow();
        return figure;
    }
    // `prepare` has chosen the colors, for which more answers may be required.
    for (InspectState* state : {comparison_state_, state_})
        state->setRequiredAnswers(shown.answersForFigure(kind));
    for (InspectState* state : {comparison_state_, state_}) {
        waitWhile([&] { return state->isAsking(); },
                  state == state_ ? "the answer of the model" : "the answer of the other model");
        if (!state->message().isEmpty()) throw Error(ErrorKind::usage, state->message().toStdString());
    }
    shown.refreshNow();
    return figure;
}

}  // namespace roper
