#include "ui/spectrum/spectrum_page.h"

#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QPlainTextEdit>
#include <cmath>
#include <numbers>

#include "core/exchange/hugging_face.h"
#include "core/runs/error.h"
#include "ui/shell/explain.h"

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

QVector<double> numbers(const Eigen::VectorXd& values) {
    return {values.begin(), values.end()};
}

QVector<double> counting(Eigen::Index count) {
    QVector<double> numbers(count);
    for (Eigen::Index i = 0; i < count; ++i)
        numbers[i] = static_cast<double>(i);
    return numbers;
}

QString keyOf(ScalingMethod method) {
    return describe(method).name.toLower().replace(' ', '-');
}

}  // namespace

SpectrumPage::SpectrumPage(Selection& selection, QWidget* parent)
    : Page(tr("Spectrum"),
           tr("How fast each pair turns, which pairs finish a turn within the text, and how far a score can "
              "see."),
           parent),
      state_(selection, this),
      spectrum_(
          new CurveChart(QStringLiteral("spectrum"), tr("pair i"), tr("wavelength λ, positions"), this)),
      decay_(new CurveChart(QStringLiteral("decay"), tr("distance Δ"), tr("decay (2/d) Σ|Sⱼ|"), this)),
      bound_(new CurveChart(QStringLiteral("base-bound"), tr("distance m"), tr("base bound Bₘ = Σ cos mθᵢ"),
                            this)),
      cosines_(new HeatMapView(QStringLiteral("cosine-map"), this)),
      panel_(new SetupPanel(selection, this)) {
    cosines_->setAccessibleName(tr("Cosine of the angle of every pair at every distance"));
    cosines_->setEmptyText(tr("No feature turns: the rotated fraction is 0."));
    bound_->setLog(true, false);
    decay_->setYFloor(0);
    fillPanel();
    auto* grid = new QGridLayout;
    grid->setSpacing(6);
    grid->addWidget(spectrum_, 0, 0);
    grid->addWidget(cosines_, 0, 1);
    grid->addWidget(decay_, 1, 0);
    grid->addWidget(bound_, 1, 1);
    for (int i = 0; i < 2; ++i) {
        grid->setRowStretch(i, i == 0 ? 5 : 4);
        grid->setColumnStretch(i, 1);
    }
    auto* row = new QHBoxLayout;
    row->addLayout(grid, 1);
    row->addWidget(panel_);
    contents()->addLayout(row);
    for (CurveChart* chart : {spectrum_, decay_, bound_})
        connect(chart, &CurveChart::pointed, this, [this](const QString& text) { setReadout(text); });
    connect(spectrum_, &CurveChart::clicked, this, [this](double x) {
        panel_->change(tr("Pair i"), [&](Setup& s) { s.pair = static_cast<int>(std::lround(x)); });
    });
    connect(cosines_, &HeatMapView::cellClicked, this,
            [this](int pair, int) { panel_->change(tr("Pair i"), [&](Setup& s) { s.pair = pair; }); });
    connect(cosines_, &HeatMapView::cellPointed, this, [this](int pair, int distance) {
        setReadout(tr("pair %1    distance Δ %2    cos Δθ = %3")
                       .arg(pair)
                       .arg(distance)
                       .arg(noteNumber((*cosines_->map().values)(pair, distance), 7)));
    });
    connect(cosines_, &FigureView::pointed, this, [this](const QString& text) { setReadout(text); });
    connect(&state_, &SpectrumState::changed, this, &SpectrumPage::follow);
    panel_->showSetup();
    follow();
}

std::vector<const Figure*> SpectrumPage::figures() const {
    return {spectrum_, cosines_, decay_, bound_};
}

void SpectrumPage::fillPanel() {
    quantity_ = new QComboBox;
    quantity_->addItems({tr("wavelength λ"), tr("frequency θ")});
    connect(quantity_, &QComboBox::currentIndexChanged, this, [this] { showSpectrum(); });
    panel_->addRow(tr("Show"), quantity_, tr("Positions a full turn, or radians a position"));
    panel_->addIndex(
        tr("Pair i"), tr("Marked in the pictures; ← → and a click choose it"),
        [](Setup& s) -> int& { return s.pair; }, [](const Setup& s) { return s.pairs(); });
    panel_->addReal(
        tr("Text length L′"), tr("Positions of the text that is read: the dashed line"),
        [](Setup& s) -> double& { return s.context_length; }, 1, bounds::kLongestContext);
    panel_->addWhole(
        tr("Distances"), tr("How many distances Δ the map and the decay curve show"),
        [](Setup& s) -> int& { return s.distances; }, 2, bounds::kMostDistances, 64);
    panel_->addButton(tr("The source's figure: d = 128"),
                      tr("d = 128, base 10000, distances 0 to 256, unscaled"), [this] {
                          panel_->change(tr("The source's figure"), [](Setup& s) {
                              s.head_dim = 128;
                              s.base = 10000;
                              s.schedule = Schedule::standard;
                              s.rotary_fraction = 1;
                              s.scaling.method = ScalingMethod::none;
                              s.distances = 257;
                          });
                      });
    panel_->addHeading(tr("Rotation"));
    addRotationControls(*panel_);
    panel_->addHeading(tr("Scaling for longer texts"));
    addScalingControls();
    panel_->addHeading(tr("Drawn beside it"));
    addOverlays();
    panel_->addHeading(tr("Models"));
    auto* models = new QComboBox;
    models->setPlaceholderText(tr("settings of …"));
    for (const KnownModel& model : kModels)
        models->addItem(QString::fromLatin1(model.name));
    models->setCurrentIndex(-1);
    connect(models, &QComboBox::activated, this, [this, models](int index) {
        setReadout(pasteConfig(QString::fromUtf8(kModels[index].config)));
        models->setCurrentIndex(-1);
    });
    panel_->addRow({}, models, tr("The rotary settings of a well-known model"));
    models->setAccessibleName(tr("Settings of a well-known model"));
    panel_->addButton(tr("Paste a config.json…"), tr("Shows the spectrum of a Hugging Face model"),
                      [this] { askForConfig(); });
    panel_->addButton(tr("Copy as config.json"), tr("The rotary fields of these settings, for Hugging Face"),
                      [this] { copyConfig(); });
}

void SpectrumPage::addScalingControls() {
    QStringList names;
    for (const ScalingMethod method : kScalingMethods)
        names << describe(method).name;
    panel_->addChoice(
        tr("Scaling"), tr("In use on all pages; F1 shows its formula"), names,
        [](const Setup& s) { return static_cast<int>(s.scaling.method); },
        [](Setup& s, int i) { s.scaling.method = static_cast<ScalingMethod>(i); });
    const auto real = [&](const QString& label, const QString& help, SetupPanel::Real at, double low,
                          double high) { return panel_->addReal(label, help, std::move(at), low, high); };
    real(
        tr("Factor s"), tr("How much longer the text may become"),
        [](Setup& s) -> double& { return s.scaling.factor; }, 1, bounds::kLargestFactor);
    real(
        tr("Trained length L"), tr("Positions seen in training"),
        [](Setup& s) -> double& { return s.scaling.original_length; }, 1, bounds::kLongestContext);
    const std::pair<ScalingMethod, NumberEdit*> own[] = {
        {ScalingMethod::yarn,
         real(
             tr("β fast"), tr("YaRN: pairs that turn more often than this within L are kept"),
             [](Setup& s) -> double& { return s.scaling.beta_fast; }, 0.001, 1e6)},
        {ScalingMethod::yarn,
         real(
             tr("β slow"), tr("YaRN: pairs that turn less often than this are divided by s"),
             [](Setup& s) -> double& { return s.scaling.beta_slow; }, 0.001, 1e6)},
        {ScalingMethod::yarn,
         real(
             tr("Attention factor"), tr("YaRN: multiplies cos and sin; 0 stands for 0.1 ln s + 1"),
             [](Setup& s) -> double& { return s.scaling.attention_factor; }, 0, 100)},
        {ScalingMethod::llama3,
         real(
             tr("Low factor"), tr("Llama 3: wavelengths above L/this are divided by s"),
             [](Setup& s) -> double& { return s.scaling.low_frequency_factor; }, 0.001, 1e6)},
        {ScalingMethod::llama3,
         real(
             tr("High factor"), tr("Llama 3: wavelengths below L/this are kept"),
             [](Setup& s) -> double& { return s.scaling.high_frequency_factor; }, 0.001, 2e6)},
        {ScalingMethod::p_rope,
         real(
             tr("Proportion p"), tr("p-RoPE: share of the pairs that turn, the fastest"),
             [](Setup& s) -> double& { return s.scaling.proportion; }, 0, 1)}};
    for (const auto& [method, edit] : own)
        panel_->whenShown([this, method = method, edit = edit](const Setup& s) {
            const bool drawn = std::find(s.overlays.begin(), s.overlays.end(), method) != s.overlays.end();
            panel_->setRowVisible(edit, s.scaling.method == method || drawn);
        });
}

void SpectrumPage::addOverlays() {
    for (const ScalingMethod method : kScalingMethods) {
        const ScalingText text = describe(method);
        auto* box = panel_->addCheck(
            text.name, text.formula + QStringLiteral("\n") + text.source,
            [method](const Setup& s) {
                return s.scaling.method == method ||
                       std::find(s.overlays.begin(), s.overlays.end(), method) != s.overlays.end();
            },
            [method](Setup& s, bool on) {
                std::erase(s.overlays, method);
                if (on) s.overlays.push_back(method);
            });
        QPixmap swatch(12, 12);
        swatch.fill(roper::colorOf(method));
        box->setIcon(swatch);
        box->setAccessibleName(tr("Draw: %1").arg(text.name));
        overlays_.emplace_back(method, box);
    }
    panel_->whenShown([this](const Setup& s) {
        for (const auto& [method, box] : overlays_)
            box->setEnabled(s.scaling.method != method);  // the one in use is always drawn
    });
}

QColor SpectrumPage::shade(const SpectrumCurve& curve) const {
    const Theme theme = Theme::of(palette());
    return curve.in_use && curve.method == ScalingMethod::none ? theme.text : roper::colorOf(curve.method);
}

void SpectrumPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    if (stale_) follow();
}

void SpectrumPage::changeEvent(QEvent* event) {
    Page::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) follow();
}

void SpectrumPage::follow() {
    stale_ = !isVisible();
    if (stale_ && !spectrum_->curves().empty()) return;
    showSpectrum();
    showCosines();
    showDecay();
    showBound();
    setReadout({});
    emit explanationChanged();
}

void SpectrumPage::showSpectrum() {
    const Setup& s = state_.setup();
    const bool wavelength = quantity_->currentIndex() == 0;
    std::vector<CurveChart::Curve> curves;
    for (const SpectrumCurve& curve : state_.curves()) {
        const ScalingText text = describe(curve.method);
        // On a logarithmic axis a pair that does not turn has no place.
        const Eigen::VectorXd y = wavelength ? wavelengths(curve.theta) : curve.theta;
        QVector<double> shown = numbers(y);
        for (double& value : shown)
            if (!std::isfinite(value) || value <= 0) value = std::nan("");
        curves.push_back({keyOf(curve.method), text.name, shade(curve), counting(y.size()), shown,
                          curve.in_use, curve.in_use, text.formula});
    }
    const double tau = 2 * std::numbers::pi;
    const int turning = pairsTurningWithin(state_.theta(), s.context_length);
    spectrum_->setAxisNames(tr("pair i"),
                            wavelength ? tr("wavelength λ, positions") : tr("frequency θ, rad a position"));
    spectrum_->setLegendCorner(Qt::AlignTop | (wavelength ? Qt::AlignLeft : Qt::AlignRight));
    spectrum_->setLog(false, true);
    spectrum_->setCurves(curves, {{wavelength ? s.context_length : tau / s.context_length,
                                   tr("L′ = %1: %2 of %3 pairs turn fully")
                                       .arg(s.context_length, 0, 'g', 8)
                                       .arg(turning)
                                       .arg(state_.theta().size()),
                                   true},
                                  {static_cast<double>(s.pair), tr("pair %1").arg(s.pair), false}});
    spectrum_->setCaption(
        tr("%1 by pair: d = %2, base %3, scaling %4 with s = %5; %6 of %7 pairs turn fully within %8 "
           "positions")
            .arg(wavelength ? tr("Wavelength") : tr("Frequency"))
            .arg(s.head_dim)
            .arg(s.base)
            .arg(describe(s.scaling.method).name)
            .arg(s.scaling.factor)
            .arg(turning)
            .arg(state_.theta().size())
            .arg(s.context_length));
}

void SpectrumPage::showCosines() {
    const Setup& s = state_.setup();
    HeatMapView::Map map;
    if (state_.theta().size() > 0) {
        auto values = std::make_shared<Eigen::MatrixXd>(cosineMap(state_.theta(), s.distances));
        map.pyramid = HeatMapView::makePyramid(*values, HeatMapView::Scale::diverging, 1.0, false);
        map.values = std::move(values);
    }
    map.row_name = tr("pair i");
    map.column_name = tr("distance Δ");
    map.value_name = QStringLiteral("cos Δθᵢ");
    cosines_->setMap(std::move(map));
    cosines_->setCaption(tr("cos Δθᵢ of every pair and distance: d = %1, base %2, scaling %3")
                             .arg(s.head_dim)
                             .arg(s.base)
                             .arg(describe(s.scaling.method).name));
}

void SpectrumPage::showDecay() {
    const Setup& s = state_.setup();
    std::vector<CurveChart::Curve> curves;
    for (const SpectrumCurve& curve : state_.curves())
        curves.push_back({keyOf(curve.method),
                          describe(curve.method).name,
                          shade(curve),
                          counting(s.distances),
                          numbers(decayCurve(curve.theta, s.distances)),
                          false,
                          curve.in_use,
                          {}});
    if (state_.theta().size() > 0)
        curves.push_back({QStringLiteral("xpos"), tr("xPos"), Theme::of(palette()).frame,
                          counting(s.distances), numbers(xposDecayCurve(state_.theta(), s.distances)), false,
                          false, QStringLiteral("pair i also × ζᵢ^(Δ/512), ζᵢ = (2i/d + 0.4)/1.4")});
    decay_->setCurves(curves, {});
    decay_->setCaption(
        tr("Long-range attenuation (2/d) Σ|Sⱼ|, Sⱼ = Σ exp(iΔθᵢ) over i < j: d = %1, base %2, scaling %3")
            .arg(s.head_dim)
            .arg(s.base)
            .arg(describe(s.scaling.method).name));
}

void SpectrumPage::showBound() {
    const Setup& s = state_.setup();
    const int length = static_cast<int>(s.context_length);
    std::vector<CurveChart::Curve> curves;
    std::vector<CurveChart::Mark> marks{{0, {}, true}};
    QString found;
    for (const SpectrumCurve& curve : state_.curves()) {
        const Eigen::VectorXd bound = baseBound(curve.theta, length);
        if (curve.in_use) {
            const int zero = firstNegative(bound);
            found =
                zero < 0 ? tr("Bₘ ≥ 0 up to L′ = %1").arg(length) : tr("first below 0 at m = %1").arg(zero);
            if (zero > 0) marks.push_back({static_cast<double>(zero), tr("m = %1").arg(zero), false});
        }
        // From 1, since the axis is logarithmic.
        QVector<double> x = counting(bound.size());
        QVector<double> y = numbers(bound);
        x.removeFirst();
        y.removeFirst();
        curves.push_back(
            {keyOf(curve.method), describe(curve.method).name, shade(curve), x, y, false, curve.in_use, {}});
    }
    bound_->setAxisNames(tr("distance m    %1").arg(found), tr("base bound Bₘ = Σ cos mθᵢ"));
    bound_->setCurves(curves, marks);
    bound_->setCaption(tr("Base bound Bₘ = Σ cos mθᵢ, %1: d = %2, base %3, scaling %4")
                           .arg(found)
                           .arg(s.head_dim)
                           .arg(s.base)
                           .arg(describe(s.scaling.method).name));
}

QString SpectrumPage::pasteConfig(const QString& json) {
    try {
        const ConfigReading reading = readHuggingFaceConfig(json.toStdString(), state_.setup());
        panel_->change(tr("config.json"), [&](Setup& s) { s = reading.setup; });
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
void SpectrumPage::askForConfig() {
    QDialog dialog(this);
    dialog.setWindowTitle(tr("Paste a config.json"));
    dialog.resize(560, 420);
    auto* text = new QPlainTextEdit;
    text->setPlaceholderText(tr("The text of a Hugging Face model's config.json"));
    text->setAccessibleName(tr("Text of the config.json"));
    const QString copied = QApplication::clipboard()->text();
    if (copied.trimmed().startsWith('{')) text->setPlainText(copied);
    auto* why = new QLabel;
    why->setWordWrap(true);
    why->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    buttons->button(QDialogButtonBox::Ok)->setText(tr("Show its spectrum"));
    connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    connect(buttons, &QDialogButtonBox::accepted, &dialog, [&] {
        const QString said = pasteConfig(text->toPlainText());
        setReadout(said);
        if (!said.startsWith(tr("Not read: %1").arg(QString()))) return dialog.accept();
        why->setText(said);
    });
    auto* layout = new QVBoxLayout(&dialog);
    layout->addWidget(text, 1);
    layout->addWidget(why);
    layout->addWidget(buttons);
    dialog.exec();
}

void SpectrumPage::copyConfig() {
    try {
        QApplication::clipboard()->setText(QString::fromStdString(huggingFaceConfig(state_.setup(), true)));
        setReadout(tr("Copied, with rope_parameters as newer versions of transformers have it."));
    } catch (const Error& error) {
        setReadout(tr("Not copied: %1").arg(QString::fromStdString(error.what())));
    }
}

void SpectrumPage::addActions(Actions& actions) {
    const QString group = tr("Spectrum");
    const auto step = [this](int by) {
        panel_->change(tr("Pair i"), [&](Setup& s) { s.pair = std::max(0, s.pair + by); });
    };
    actions.add(group, tr("Next pair"), Qt::Key_Right, [step] { step(1); });
    actions.add(group, tr("Previous pair"), Qt::Key_Left, [step] { step(-1); });
    actions.add(group, tr("Ten pairs on"), Qt::SHIFT | Qt::Key_Right, [step] { step(10); });
    actions.add(group, tr("Ten pairs back"), Qt::SHIFT | Qt::Key_Left, [step] { step(-10); });
    actions.add(group, tr("First pair"), Qt::Key_Home, [step] { step(-bounds::kMostHeadDim); });
    actions.add(group, tr("Paste a config.json…"), {}, [this] { askForConfig(); });
    actions.add(group, tr("Copy as config.json"), {}, [this] { copyConfig(); });
}

ViewSettings SpectrumPage::viewSettings() const {
    return {{"view.spectrum_quantity", std::to_string(quantity_->currentIndex())}};
}

void SpectrumPage::setViewSettings(const ViewSettings& settings) {
    if (const auto quantity = viewNumber(settings, "view.spectrum_quantity"))
        quantity_->setCurrentIndex(std::min(*quantity, 1));
}

QString SpectrumPage::explanation() const {
    const Setup& s = state_.setup();
    const ScalingText scaling = describe(s.scaling.method);
    QString text =
        tr("<h3>Frequencies</h3><p>θ<sub>i</sub> = %1, λ<sub>i</sub> = 2π/θ<sub>i</sub>, b = %2, r = %3 "
           "rotated features.</p><p>Scaling in use: <b>%4</b>: %5<br><i>%6</i></p>")
            .arg(s.schedule == Schedule::standard ? QStringLiteral("b<sup>−2i/r</sup>")
                                                  : QStringLiteral("b<sup>−i/r</sup>"))
            .arg(noteNumber(s.base))
            .arg(2 * state_.theta().size())
            .arg(scaling.name, scaling.formula, scaling.source);
    if (s.pair < state_.theta().size() && state_.theta()[s.pair] > 0)
        text += tr("<p>Pair %1: θ = <b>%2</b>, λ = <b>%3</b> positions, %4 turns within L′.</p>")
                    .arg(s.pair)
                    .arg(noteNumber(state_.theta()[s.pair]),
                         noteNumber(2 * std::numbers::pi / state_.theta()[s.pair]),
                         noteNumber(s.context_length * state_.theta()[s.pair] / (2 * std::numbers::pi), 4));
    else
        text += tr("<p>Pair %1 does not turn.</p>").arg(s.pair);
    return text +
           tr("<h3>Decay</h3><p>(1/(d/2)) Σ<sub>j=1</sub><sup>d/2</sup> |S<sub>j</sub>|, S<sub>j</sub> = "
              "Σ<sub>i&lt;j</sub> e<sup>iΔθ<sub>i</sub></sup>, bounds how large a score can be at distance "
              "Δ. "
              "<i>Su 2021; the figure has d = 128.</i></p>"
              "<h3>Base bound</h3><p>B<sub>m</sub> = Σ<sub>i</sub> cos mθ<sub>i</sub>. While it is not "
              "negative, a "
              "similar token m away scores above a random one. The first m below 0 is as far as this base "
              "carries. "
              "<i>Xu et al. 2024, arXiv 2405.14591</i></p>");
}

}  // namespace roper
