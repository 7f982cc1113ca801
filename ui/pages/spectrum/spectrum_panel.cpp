#include "ui/pages/spectrum/spectrum_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QDialogButtonBox>
#include <algorithm>

#include "core/base/error.h"
#include "ui/controls/layout_helpers.h"
#include "ui/controls/text_inputs.h"
#include "ui/explorer/example_list.h"
#include "ui/pages/spectrum/spectrum_curves.h"
#include "ui/theme/theme.h"

namespace roper {
namespace {

constexpr qsizetype kMaxConfigSize = 1 << 20;  // characters

/// The rotations of all kinds of layers of a model; one without a name if all layers rotate alike.
std::vector<LayerTypeSetup> kindsOf(const ParsedConfig& config) {
    return config.kinds.empty() ? std::vector<LayerTypeSetup>{{"", config.setup}} : config.kinds;
}

/// Index of the kind of layer that rotates like a setup; −1: none.
int kindShown(const std::vector<LayerTypeSetup>& kinds, const Setup& setup) {
    const auto found = std::ranges::find_if(
        kinds, [&](const LayerTypeSetup& kind) { return haveSameRotation(kind.setup, setup); });
    return found == kinds.end() ? -1 : static_cast<int>(found - kinds.begin());
}

bool isMethodDrawn(const Setup& setup, ScalingMethod method) {
    return setup.scaling.method == method || std::ranges::count(setup.overlays, method) > 0;
}

}  // namespace

SpectrumPanel::SpectrumPanel(Selection& selection, QWidget* parent) : SetupPanel(selection, parent) {
    addExamples(*this, "spectrum", [](const ViewSettings&) {});
    quantity_ = new QComboBox;
    quantity_->addItems({tr("wavelength λ"), tr("frequency θ")});
    connect(quantity_, &QComboBox::currentIndexChanged, this, &SpectrumPanel::quantityChanged);
    addRow(tr("Show"), quantity_, tr("Positions per full rotation, or radians per position"));
    addPair(tr("Marked in the figures; choose it with ← → or a click"));
    addReal(tr("Text length L′"), "context_length", tr("The dashed line"));
    addInteger(tr("Distances"), "distances", {}, 64);
    addHeading(tr("Rotation"));
    addRotationControls(*this);
    addHeading(tr("Scaling for longer texts"));
    addScalingControls();
    addHeading(tr("Also drawn"));
    addOverlays();
    addOwnParameters();
    addHeading(tr("Models"));
    addModels();
}

void SpectrumPanel::addModels() {
    const auto list = [](const QString& name) {
        auto* box = new QComboBox;
        box->setAccessibleName(name);
        allowShrinking(*box);
        return box;
    };
    models_ = list(tr("Settings of a well-known model"));
    models_->setPlaceholderText(tr("settings of …"));
    for (const KnownModel& model : knownModels()) {
        models_->addItem(QString::fromStdString(model.name));
        layer_kinds_by_model_.push_back(kindsOf(readHuggingFaceConfig(model.config, Setup{})));
    }
    connect(models_, &QComboBox::activated, this, [this](int index) {
        emit reported(
            pasteConfig(QString::fromStdString(knownModels().at(static_cast<std::size_t>(index)).config)));
    });
    addRow({}, models_, tr("The rotary settings of a well-known model"));
    layers_ = list(tr("Kind of layer"));
    connect(layers_, &QComboBox::activated, this, [this](int index) {
        change(tr("Kind of layer"),
               [&](Setup& s) { s = withRotationOf(s, kinds_.at(static_cast<std::size_t>(index)).setup); });
    });
    addRow(tr("Layers"), layers_, tr("This model has layers that rotate differently"));
    addButton(tr("Paste a config.json…"), tr("Shows the spectrum of a Hugging Face model"),
              [this] { askForConfig(); });
    addButton(tr("Copy as config.json"), tr("The rotary fields of these settings, for Hugging Face"),
              [this] { copyConfig(); });
    onSetupShown([this](const Setup& s) { showModel(s); });
}

/// Shows which listed model and kind of layer rotate like the setup, whether chosen, pasted or set by hand.
void SpectrumPanel::showModel(const Setup& setup) {
    const auto model = std::ranges::find_if(layer_kinds_by_model_,
                                            [&](const auto& kinds) { return kindShown(kinds, setup) >= 0; });
    models_->setCurrentIndex(
        model == layer_kinds_by_model_.end() ? -1 : static_cast<int>(model - layer_kinds_by_model_.begin()));
    if (kindShown(kinds_, setup) < 0 && model != layer_kinds_by_model_.end()) kinds_ = *model;
    const int kind = kindShown(kinds_, setup);
    setRowVisible(layers_, kind >= 0 && kinds_.size() > 1);
    layers_->clear();
    for (const LayerTypeSetup& one : kinds_)
        layers_->addItem(QString::fromStdString(one.name).replace('_', ' '));
    layers_->setCurrentIndex(kind);
}

void SpectrumPanel::addScalingControls() {
    QStringList names;
    for (const ScalingMethod method : kScalingMethods)
        names << describe(method).name;
    addChoice(tr("Scaling"), "scaling", names, tr("F1 shows its formula"));
    addReal(tr("Factor s"), "factor");
    addReal(tr("Trained length L"), "original_length");
}

/// Parameters of single methods, visible while the method is used or drawn. They come last, so that showing
/// them moves no other control.
void SpectrumPanel::addOwnParameters() {
    const std::pair<ScalingMethod, QWidget*> own[] = {
        {ScalingMethod::yarn, addReal(tr("β fast"), "beta_fast")},
        {ScalingMethod::yarn, addReal(tr("β slow"), "beta_slow")},
        {ScalingMethod::yarn, addReal(tr("Attention factor"), "attention_factor")},
        {ScalingMethod::llama3, addReal(tr("Low factor"), "low_freq_factor")},
        {ScalingMethod::llama3, addReal(tr("High factor"), "high_freq_factor")},
        {ScalingMethod::longrope, addNumbers(tr("Short factors"), "short_factor")},
        {ScalingMethod::longrope, addNumbers(tr("Long factors"), "long_factor")},
        {ScalingMethod::p_rope, addReal(tr("Proportion p"), "proportion")},
        {ScalingMethod::p_rope, addReal(tr("Divided by"), "proportion_factor")}};
    for (const auto& [method, edit] : own)
        onSetupShown([this, method = method, edit = edit](const Setup& s) {
            setRowVisible(edit, isMethodDrawn(s, method));
        });
}

void SpectrumPanel::addOverlays() {
    for (const ScalingMethod method : kScalingMethods) {
        const ScalingText& text = describe(method);
        auto* box = addUnboundCheck(
            text.name, text.formula + QStringLiteral("\n") + text.source,
            [method](const Setup& s) { return isMethodDrawn(s, method); },
            [method](Setup& s, bool on) {
                std::erase(s.overlays, method);
                if (on) s.overlays.push_back(method);
            });
        box->setIcon(swatch(text.color));
        box->setAccessibleName(tr("Draw: %1").arg(text.name));
        // The scaling in use is always drawn.
        onSetupShown([box, method](const Setup& s) { box->setEnabled(s.scaling.method != method); });
    }
    addCheck(tr("xPos, in the decay"), "xpos_decay");
    addCheck(tr("other formula"), "other_formula");
}

QString SpectrumPanel::pasteConfig(const QString& json) {
    try {
        const ParsedConfig config = readHuggingFaceConfig(json.toStdString(), selection().setup());
        kinds_ = kindsOf(config);
        change(tr("config.json"), [&](Setup& s) { s = config.setup; });
        QStringList reported{frequenciesText(config.setup)};
        for (const std::string& note : config.notes)
            reported << QString::fromStdString(note);
        return reported.join(QStringLiteral("    "));
    } catch (const Error& error) {
        return tr("Not read: %1").arg(QString::fromStdString(error.what()));
    }
}

/// The dialog stays open, showing the error, until the text can be read.
void SpectrumPanel::askForConfig() {
    QDialog dialog(this);
    dialog.setWindowTitle(tr("Paste a config.json"));
    dialog.resize(560, 420);
    auto* text = new TextInput(kMaxConfigSize);
    text->setPlaceholderText(tr("The text of a Hugging Face model's config.json"));
    text->setAccessibleName(tr("Text of the config.json"));
    QLabel* why = messageLabel();
    const QString copied = QApplication::clipboard()->text();
    if (const QString refusal = text->lengthError(copied); !refusal.isEmpty())
        why->setText(refusal);
    else if (copied.trimmed().startsWith('{'))
        text->setPlainText(copied);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    buttons->button(QDialogButtonBox::Ok)->setText(tr("Show its spectrum"));
    connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    connect(buttons, &QDialogButtonBox::accepted, &dialog, [&] {
        const QString answer = pasteConfig(text->toPlainText());
        emit reported(answer);
        if (!answer.startsWith(tr("Not read: %1").arg(QString()))) return dialog.accept();
        why->setText(answer);
    });
    columnOf({{text, 1}, why, buttons}, &dialog);
    dialog.exec();
}

void SpectrumPanel::copyConfig() {
    try {
        QApplication::clipboard()->setText(
            QString::fromStdString(huggingFaceConfig(selection().setup(), true)));
        emit reported(tr("Copied, with rope_parameters as in newer versions of transformers."));
    } catch (const Error& error) {
        emit reported(tr("Not copied: %1").arg(QString::fromStdString(error.what())));
    }
}

}  // namespace roper
