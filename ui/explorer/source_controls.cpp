#include "ui/explorer/source_controls.h"

#include "ui/controls/layout_helpers.h"
#include "ui/controls/narrow_controls.h"
#include "ui/controls/text_inputs.h"
#include "ui/live/published_models.h"

namespace roper {
namespace {

QString controlText(const char* source) {
    return QCoreApplication::translate("roper::SourceControls", source);
}

/// Published models on this machine and the runs of the folder; the choice is kept while others appear and
/// disappear.
QComboBox* addModelChoice(SetupPanel& panel, AttentionState& state) {
    auto* models = new ElidedComboBox;
    allowShrinking(*models, 10);
    models->setPlaceholderText(controlText("choose a model"));
    const auto fill = [models, &state] {
        const QSignalBlocker quiet(models);
        const QString chosen = QString::fromStdString(state.setup().run);
        QStringList names, titles, shown;
        for (const RunWatcher* run : state.runs().runs())
            names << run->name();
        names << publishedModels();
        for (const QString& name : names)
            titles << state.runs().titleOf(name);
        for (int i = 0; i < models->count(); ++i)
            shown << models->itemData(i).toString();
        for (int i = 0; i < models->count(); ++i)
            shown << models->itemText(i);
        if (names + titles != shown) {  // an open list is not changed while runs train
            models->clear();
            for (qsizetype i = 0; i < names.size(); ++i) {
                models->addItem(titles[i], names[i]);
                models->setItemData(static_cast<int>(i), names[i], Qt::ToolTipRole);
            }
        }
        models->setCurrentIndex(static_cast<int>(names.indexOf(chosen)));
        models->setEnabled(!names.isEmpty());
    };
    QObject::connect(models, &QComboBox::activated, &state,
                     [models, &state] { state.useRun(models->currentData().toString()); });
    QObject::connect(&state.runs(), &RunStore::titlesChanged, models, fill);
    panel.onSetupShown([fill](const Setup&) { fill(); });
    panel.addRow(controlText("Model"), models,
                 controlText("A run (the current weights if it is training, otherwise its newest "
                             "checkpoint), or a published model opened on the Inspect page"));
    return models;
}

}  // namespace

void addSourceControls(SetupPanel& panel, AttentionState& state, SourceUse use) {
    panel.addChoice(controlText("q, k, v from"), "source",
                    {controlText("random"), controlText("a table to edit"), controlText("a model")});
    auto* tokens = panel.addInteger(controlText("Tokens T"), "tokens");
    auto* seed = panel.addInteger(controlText("Seed"), "seed");
    auto* similarity = panel.addDecimal(controlText("Similarity"), "similarity", {}, 0.1, 2);
    QComboBox* models = addModelChoice(panel, state);
    auto* layer = panel.addIndex(controlText("Layer"), "layer", {}, [&state](const Setup& s) {
        return state.runHead() ? state.runHead()->model.layers : s.layer + 1;
    });
    auto* head = panel.addIndex(controlText("Head"), "head", {}, [](const Setup& s) { return s.heads; });
    auto* words = new LineEdit;
    QObject::connect(words, &LineEdit::edited, &panel, [&panel](const QString& typed) {
        panel.change(controlText("Text"), [&](Setup& s) { s.run_text = typed.toStdString(); });
    });
    words->setPlaceholderText(controlText("text for the model to read"));
    words->setAccessibleName(controlText("Text"));
    panel.addRow(
        {}, words,
        controlText(
            "The text that the model reads, at most 4,096 bytes; for a run, in the characters of its task"));
    QLabel* status = faintLabel();
    panel.addRow({}, status, controlText("The vectors shown"));
    const auto show = [=, &panel, &state] {
        const Setup& s = state.setup();
        const bool is_run = s.source == VectorSource::run;
        for (QWidget* widget : std::initializer_list<QWidget*>{models, layer, words})
            panel.setRowVisible(widget, is_run);
        panel.setRowVisible(tokens, !is_run);
        const bool is_random = s.source == VectorSource::random &&
                               (use == SourceUse::attention || s.effectiveMixedTokens() == MixedTokens::all);
        panel.setRowVisible(seed, is_random);
        panel.setRowVisible(similarity, is_random);
        panel.setRowVisible(head, is_run || s.positionMethod().biases_scores);
        const QString shown = use == SourceUse::mixing ? state.mixedText() : state.sourceText();
        status->setText(state.isReady() ? shown : state.message());
    };
    QObject::connect(&state, &AttentionState::changed, status, show);
    panel.onSetupShown([=, &state](const Setup& s) {
        words->showText(QString::fromStdString(s.run_text));
        show();
    });
}

}  // namespace roper
