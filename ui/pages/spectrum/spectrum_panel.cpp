#include "ui/pages/spectrum/spectrum_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "core/explorer/hugging_face.h"
#include "ui/pages/spectrum/spectrum_state.h"
#include "ui/theme/plain_text.h"
#include "ui/theme/swatch.h"

namespace roper {
namespace {

/// Well-known settings, as their config.json files have them.
struct KnownModel {
    const char* name;
    const char* config;
};
constexpr KnownModel kModels[] = {
    {"Llama 2", R"({"head_dim": 128, "rope_theta": 10000, "max_position_embeddings": 4096})"},
    {"Llama 3.1",
     R"({"head_dim": 128, "rope_theta": 500000, "max_position_embeddings": 131072, "rope_scaling":
        {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
        "original_max_position_embeddings": 8192}})"},
    {"Code Llama", R"({"head_dim": 128, "rope_theta": 1000000, "max_position_embeddings": 16384})"},
    {"Qwen 2.5 with YaRN",
     R"({"head_dim": 128, "rope_theta": 1000000, "max_position_embeddings": 131072, "rope_scaling":
        {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 32768}})"},
    {"Pythia", R"({"model_type": "gpt_neox", "head_dim": 64, "rotary_pct": 0.25, "rotary_emb_base": 10000,
        "max_position_embeddings": 2048})"},
    {"GPT-J",
     R"({"model_type": "gptj", "head_dim": 256, "rotary_dim": 64, "max_position_embeddings": 2048})"},
};

}  // namespace

SpectrumPanel::SpectrumPanel(Selection& selection, QWidget* parent) : SetupPanel(selection, parent) {
    fill();
}

void SpectrumPanel::fill() {
    quantity_ = new QComboBox;
    quantity_->addItems({tr("wavelength λ"), tr("frequency θ")});
    connect(quantity_, &QComboBox::currentIndexChanged, this, &SpectrumPanel::quantityChanged);
    addRow(tr("Show"), quantity_, tr("Positions a full rotation, or radians per position"));
    addIndex(tr("Pair i"), "pair", tr("Marked in the pictures; ← → and a click choose it"),
             [](const Setup& s) { return s.pairs(); });
    addReal(tr("Text length L′"), "context_length", tr("The dashed line"));
    addWhole(tr("Distances"), "distances", {}, 64);
    addButton(tr("Decay as in Su et al.: d = 128"), tr("d = 128, base 10000, distances 0 to 256, unscaled"),
              [this] {
                  change(tr("Decay as in Su et al."), [](Setup& s) {
                      s.head_dim = 128;
                      s.base = 10000;
                      s.frequency_formula = FrequencyFormula::standard;
                      s.rotary_fraction = 1;
                      s.scaling.method = ScalingMethod::none;
                      s.distances = 257;
                  });
              });
    addHeading(tr("Rotation"));
    addRotationControls(*this);
    addHeading(tr("Scaling for longer texts"));
    addScalingControls();
    addHeading(tr("Drawn beside it"));
    addOverlays();
    addOwnParameters();
    addHeading(tr("Models"));
    auto* models = new QComboBox;
    models->setPlaceholderText(tr("settings of …"));
    for (const KnownModel& model : kModels)
        models->addItem(QString::fromLatin1(model.name));
    models->setCurrentIndex(-1);
    connect(models, &QComboBox::activated, this, [this, models](int index) {
        emit said(pasteConfig(QString::fromUtf8(kModels[index].config)));
        models->setCurrentIndex(-1);
    });
    addRow({}, models, tr("The rotary settings of a well-known model"));
    models->setAccessibleName(tr("Settings of a well-known model"));
    addButton(tr("Paste a config.json…"), tr("Shows the spectrum of a Hugging Face model"),
              [this] { askForConfig(); });
    addButton(tr("Copy as config.json"), tr("The rotary fields of these settings, for Hugging Face"),
              [this] { copyConfig(); });
}

void SpectrumPanel::addScalingControls() {
    QStringList names;
    for (const ScalingMethod method : kScalingMethods)
        names << describe(method).name;
    addChoice(tr("Scaling"), "scaling", names, tr("F1 shows its formula"));
    addReal(tr("Factor s"), "factor");
    addReal(tr("Trained length L"), "original_length");
}

/// Parameters of one method each, shown while it is used or drawn. They come last: what appears moves
/// nothing.
void SpectrumPanel::addOwnParameters() {
    const std::pair<ScalingMethod, NumberEdit*> own[] = {
        {ScalingMethod::yarn, addReal(tr("β fast"), "beta_fast")},
        {ScalingMethod::yarn, addReal(tr("β slow"), "beta_slow")},
        {ScalingMethod::yarn, addReal(tr("Attention factor"), "attention_factor")},
        {ScalingMethod::llama3, addReal(tr("Low factor"), "low_freq_factor")},
        {ScalingMethod::llama3, addReal(tr("High factor"), "high_freq_factor")},
        {ScalingMethod::p_rope, addReal(tr("Proportion p"), "proportion")}};
    for (const auto& [method, edit] : own)
        whenShown([this, method = method, edit = edit](const Setup& s) {
            const bool drawn = std::find(s.overlays.begin(), s.overlays.end(), method) != s.overlays.end();
            setRowVisible(edit, s.scaling.method == method || drawn);
        });
}

void SpectrumPanel::addOverlays() {
    for (const ScalingMethod method : kScalingMethods) {
        const ScalingText text = describe(method);
        auto* box = addOwnCheck(
            text.name, text.formula + QStringLiteral("\n") + text.source,
            [method](const Setup& s) {
                return s.scaling.method == method ||
                       std::find(s.overlays.begin(), s.overlays.end(), method) != s.overlays.end();
            },
            [method](Setup& s, bool on) {
                std::erase(s.overlays, method);
                if (on) s.overlays.push_back(method);
            });
        box->setIcon(swatch(roper::colorOf(method)));
        box->setAccessibleName(tr("Draw: %1").arg(text.name));
        overlays_.emplace_back(method, box);
    }
    addCheck(tr("xPos, in the decay"), "xpos_decay");
    addCheck(tr("other formula"), "other_formula");
    whenShown([this](const Setup& s) {
        for (const auto& [method, box] : overlays_)
            box->setEnabled(s.scaling.method != method);  // the one in use is always drawn
    });
}

QString SpectrumPanel::pasteConfig(const QString& json) {
    try {
        const ConfigReading reading = readHuggingFaceConfig(json.toStdString(), selection().setup());
        change(tr("config.json"), [&](Setup& s) { s = reading.setup; });
        QStringList said{tr("d = %1, base %2, scaling %3")
                             .arg(reading.setup.head_dim)
                             .arg(reading.setup.base)
                             .arg(describe(reading.setup.scaling.method).name)};
        for (const std::string& note : reading.notes)
            said << QString::fromStdString(note);
        return said.join(QStringLiteral("    "));
    } catch (const Error& error) {
        return tr("Not read: %1").arg(QString::fromStdString(error.what()));
    }
}

/// A dialog that stays open until the text can be read, with the reason below it.
void SpectrumPanel::askForConfig() {
    QDialog dialog(this);
    dialog.setWindowTitle(tr("Paste a config.json"));
    dialog.resize(560, 420);
    auto* text = new QPlainTextEdit;
    text->setPlaceholderText(tr("The text of a Hugging Face model's config.json"));
    text->setAccessibleName(tr("Text of the config.json"));
    const QString copied = QApplication::clipboard()->text();
    if (copied.trimmed().startsWith('{')) text->setPlainText(copied);
    auto* why = makePlainLabel();
    why->setWordWrap(true);
    why->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    buttons->button(QDialogButtonBox::Ok)->setText(tr("Show its spectrum"));
    connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    connect(buttons, &QDialogButtonBox::accepted, &dialog, [&] {
        const QString answer = pasteConfig(text->toPlainText());
        emit said(answer);
        if (!answer.startsWith(tr("Not read: %1").arg(QString()))) return dialog.accept();
        why->setText(answer);
    });
    auto* layout = new QVBoxLayout(&dialog);
    layout->addWidget(text, 1);
    layout->addWidget(why);
    layout->addWidget(buttons);
    dialog.exec();
}

void SpectrumPanel::copyConfig() {
    try {
        QApplication::clipboard()->setText(
            QString::fromStdString(huggingFaceConfig(selection().setup(), true)));
        emit said(tr("Copied, with rope_parameters as newer versions of transformers have it."));
    } catch (const Error& error) {
        emit said(tr("Not copied: %1").arg(QString::fromStdString(error.what())));
    }
}

}  // namespace roper
