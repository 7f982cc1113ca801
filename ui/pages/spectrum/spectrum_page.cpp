#include "ui/pages/spectrum/spectrum_page.h"

#include <QGridLayout>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/base/error.h"
#include "core/explorer/setup_fields.h"
#include "core/rotary/spectrum.h"
#include "ui/controls/layout_helpers.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

QVector<double> numbers(const Eigen::VectorXd& values) {
    return {values.begin(), values.end()};
}

QVector<double> counting(Eigen::Index count) {
    QVector<double> numbers(count);
    for (Eigen::Index i = 0; i < count; ++i)
        numbers[i] = static_cast<double>(i);
    return numbers;
}

/// The numeric parameters of the scaling in use, derived from its formula. s: factor, b′: changed base, L:
/// trained length, L′: length of the text, p: proportion of pairs that rotate.
/// @param scaled  frequencies of the setup under the scaling in use
QString scalingNumbers(const Setup& s, const ScaledFrequencies& scaled) {
    const int width = s.rotatedWidth();
    const double grown = dynamicNtkFactor(s.scaling, s.context_length);
    const auto base = [&](double factor) {
        return numberText(ntkBase(s.base, factor, width, s.frequency_formula));
    };
    const auto rotations = [&](double count) {
        return numberText(
            yarnCorrectionPair(count, width, s.base, s.frequency_formula, s.scaling.original_length), 4);
    };
    switch (s.scaling.method) {
        case ScalingMethod::linear:
            return QObject::tr("<p>s = %1</p>").arg(numberText(s.scaling.factor));
        case ScalingMethod::ntk:
            return QObject::tr("<p>s = %1: b′ = <b>%2</b></p>")
                .arg(numberText(s.scaling.factor), base(s.scaling.factor));
        case ScalingMethod::dynamic_ntk:
            return QObject::tr("<p>L′/L = %1: s becomes %2, b′ = <b>%3</b></p>")
                .arg(numberText(s.context_length / s.scaling.original_length, 4), numberText(grown),
                     base(grown));
        case ScalingMethod::yarn:
            return QObject::tr("<p>s = %1, ramp from pair %2 to %3%4; cos and sin × <b>%5</b></p>")
                .arg(numberText(s.scaling.factor), rotations(s.scaling.beta_fast),
                     rotations(s.scaling.beta_slow),
                     s.scaling.truncate ? QObject::tr(" (rounded outwards)") : QString(),
                     numberText(scaled.attention_factor));
        case ScalingMethod::llama3:
            return QObject::tr("<p>s = %1: wavelengths below %2 are kept, above %3 divided</p>")
                .arg(numberText(s.scaling.factor),
                     numberText(s.scaling.original_length / s.scaling.high_frequency_factor),
                     numberText(s.scaling.original_length / s.scaling.low_frequency_factor));
        case ScalingMethod::longrope: {
            const bool is_long = s.context_length > s.scaling.original_length;
            const Eigen::VectorXd factors = factorsPerPair(
                is_long ? s.scaling.long_factors : s.scaling.short_factors, scaled.theta.size());
            return QObject::tr("<p>L′ %1 L: the %2 factors, from %3 to %4; cos and sin × <b>%5</b></p>")
                .arg(is_long ? QStringLiteral("&gt;") : QStringLiteral("≤"),
                     is_long ? QObject::tr("long") : QObject::tr("short"), numberText(factors.minCoeff(), 4),
                     numberText(factors.maxCoeff(), 4), numberText(scaled.attention_factor));
        }
        case ScalingMethod::p_rope:
            return QObject::tr("<p>p = %1: %2 of %3 pairs rotate</p>")
                .arg(numberText(s.scaling.proportion))
                .arg((scaled.theta.array() > 0).count())
                .arg(width / 2);
        default:
            return {};
    }
}

const FieldInfo& modelsField() {
    static const FieldInfo field{"", "models", "",
                                 "for model-rotations: paths of models, separated by semicolons (default: "
                                 "well-known and local models)",
                                 AnyText()};
    return field;
}

const FieldInfo& textField() {
    static const FieldInfo field{"", "text", "", "for model-rotations: text to measure attention on",
                                 AnyText()};
    return field;
}

}  // namespace

SpectrumPage::SpectrumPage(Selection& selection, QWidget* parent)
    : ExplorerPage(tr("Spectrum"),
                   tr("How fast each pair rotates, which pairs complete a rotation within the text, and how "
                      "scores decay with distance."),
                   selection, parent),
      selection_(selection),
      spectrum_(
          new CurveChart(QStringLiteral("spectrum"), tr("pair i"), tr("wavelength λ, positions"), this)),
      decay_(new CurveChart(QStringLiteral("decay"), tr("distance δ"), tr("mean |Sⱼ| over pairs"), this)),
      bound_(new CurveChart(QStringLiteral("base-bound"), tr("distance δ"), tr("base bound B(δ)"), this)),
      cosines_(new HeatMapView(QStringLiteral("cosine-map"), this)),
      comparison_(new ModelComparison(this)),
      tabs_(new QTabWidget),
      panel_(new SpectrumPanel(selection, this)) {
    cosines_->setAccessibleName(tr("Cosine of the angle of every pair at every distance"));
    cosines_->setEmptyText(tr("No feature rotates: the rotated fraction is 0."));
    cosines_->setTitle(tr("How each pair sees a distance: cos δθᵢ"));
    bound_->setLog(true, false);
    spectrum_->setTitle(tr("How slowly each pair rotates"));
    decay_->setTitle(tr("How large a score can be, by distance"));
    bound_->setTitle(tr("How far away a similar token can be told from a random one: while B(δ) ≥ 0"));
    decay_->setYFloor(0);
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
    tabs_->setDocumentMode(true);
    tabs_->addTab(wrapInWidget(grid), tr("Frequencies"));
    tabs_->addTab(comparison_, tr("Models compared"));
    contents()->addLayout(rowOf({{tabs_, 1}, panel_}));
    for (CurveChart* chart : {spectrum_, decay_, bound_}) {
        connect(chart, &CurveChart::hovered, this, &SpectrumPage::showReadout);
        connect(chart, &CurveChart::xHovered, this, [this, chart](double x) {
            const int at = static_cast<int>(std::lround(x));
            hoverState().set(chart == spectrum_ ? HoveredItem{.pair = at} : HoveredItem{.distance = at});
        });
    }
    connect(&hoverState(), &HoverState::changed, this, [this] {
        const HoveredItem& now = hoverState().now();
        spectrum_->setHovered(now.pair);
        cosines_->setHovered(now.pair, now.distance);
        for (CurveChart* chart : {decay_, bound_})
            chart->setHovered(now.distance);
    });
    connect(spectrum_, &CurveChart::clicked, this, [this](double x) {
        panel_->change(tr("Pair i"), [&](Setup& s) { s.pair = static_cast<int>(std::lround(x)); });
    });
    connect(cosines_, &HeatMapView::cellClicked, this,
            [this](int pair, int) { panel_->change(tr("Pair i"), [&](Setup& s) { s.pair = pair; }); });
    connect(cosines_, &HeatMapView::cellHovered, this, [this](int pair, int distance) {
        hoverState().set({.pair = pair, .distance = distance});
        setReadout(tr("pair %1    distance δ %2    cos δθ = %3")
                       .arg(pair)
                       .arg(distance)
                       .arg(numberText((*cosines_->map().values)(pair, distance), 7)));
    });
    connect(cosines_, &FigureView::hovered, this, &SpectrumPage::showReadout);
    connect(tabs_, &QTabWidget::currentChanged, this, &SpectrumPage::refreshWhenVisible);
    connect(comparison_, &ModelComparison::hovered, this, &SpectrumPage::setReadout);
    connect(comparison_, &ModelComparison::groupChosen, this, &SpectrumPage::showGroup);
    connect(panel_, &SpectrumPanel::quantityChanged, this, [this] {
        if (!isStale()) showSpectrum();  // otherwise the next refresh shows it, with the curves of its setup
    });
    connect(panel_, &SpectrumPanel::reported, this, &SpectrumPage::setReadout);
    connect(&selection_, &Selection::changed, this, &SpectrumPage::refreshWhenVisible);
    std::vector<const FieldInfo*> settings = fieldInfos(setupFields());
    settings.insert(settings.end(), {&modelsField(), &textField()});
    const auto figures = [this] {
        PageFigures::Figures all{spectrum_, cosines_, decay_, bound_};
        if (!comparison_->view().groups().empty()) all.push_back(&comparison_->view());
        return all;
    };
    pageFigures().set(figures, std::move(settings), {comparison_->view().figureName().toStdString()});
    registerTabSetting("view.spectrum", *tabs_);
    registerNumberSetting(
        "view.spectrum_quantity", [this] { return panel_->quantity().currentIndex(); },
        [this](int quantity) { panel_->quantity().setCurrentIndex(std::min(quantity, 1)); });
    panel_->showSetup();
}

/// @throws Error (usage) for settings of the other figures, or if no model can be read
Figure& SpectrumPage::prepareComparison(FigureRequest request) {
    const auto models = request.takeSetting(modelsField().name), text = request.takeSetting(textField().name);
    if (!request.settings.empty())
        throw Error(ErrorKind::usage, "model-rotations shows models as they are: \"" +
                                          request.settings.front().first + "\" has no effect");
    QStringList paths;
    if (models)
        for (const QString& path : QString::fromStdString(*models).split(';'))
            if (!path.trimmed().isEmpty()) paths << path.trimmed();
    if (models && paths.isEmpty()) throw Error(ErrorKind::usage, "\"models\" names no model");
    if (!request.run.empty()) paths << QString::fromStdString(request.run);
    comparison_->read(paths.isEmpty() ? comparison_->defaultModels() : paths,
                      QString::fromStdString(text.value_or("")));
    waitWhile([&] { return comparison_->isReading(); }, "the comparison of models");
    const auto& groups = comparison_->view().groups();
    if (!comparison_->problem().isEmpty())
        throw Error(ErrorKind::other, comparison_->problem().toStdString());
    if (std::ranges::none_of(groups, [](const LayerGroup& one) { return one.error.empty(); }))
        throw Error(ErrorKind::usage, groups.front().error);
    return comparison_->view();
}

Figure& SpectrumPage::prepareFigure(FigureRequest request) {
    if (request.kind == comparison_->view().figureName().toStdString()) return prepareComparison(request);
    for (const FieldInfo* field : {&modelsField(), &textField()})
        if (request.hasSetting(field->name))
            throw Error(ErrorKind::usage, "\"" + field->name + "\" is used only by model-rotations");
    Setup start;
    start.head_dim = 128;  // default, as in the figures of Su et al. 2021
    selection_.replace(withSettings(start, request.settings));
    refreshNow();
    return pageFigures().named(request.kind);
}

Eigen::VectorXd SpectrumPage::thetaInUse() const {
    return curves_.empty() ? Eigen::VectorXd() : curves_.front().theta;
}

QColor SpectrumPage::shade(const SpectrumCurve& curve) const {
    return curve.text.color.isValid() ? curve.text.color : Theme::of(palette()).text;
}

void SpectrumPage::refresh() {
    if (comparison_->isVisibleTo(this)) comparison_->readOnce();
    curves_ = spectrumCurves(setup());
    showSpectrum();
    // Choosing another pair only moves a mark; curves depend on frequencies and lengths.
    if (!isDrawn()) {
        showCosines();
        showDecay();
        showBound();
    }
    setReadout({});
    emit explanationChanged();
}

void SpectrumPage::showGroup(const LayerGroup& group) {
    const QString name = QString::fromStdString(group.model);
    if (!group.error.empty()) return showMessage(QString::fromStdString(group.error));
    if (!group.problem.empty())
        return showMessage(tr("%1: %2").arg(name, QString::fromStdString(group.problem)));
    panel_->change(tr("Rotation of %1").arg(name), [&](Setup& s) {
        s = withRotationOf(s, withSettings(Setup{}, group.settings));
        if (!group.values_rotate) return;
        s.method = "roper";
        s.mistake = group.values_rotate_back ? Mistake::none : Mistake::no_inverse;
    });
    tabs_->setCurrentIndex(0);
    showMessage(tr("The rotation of %1").arg(name));
}

bool SpectrumPage::isDrawn() {
    Drawn now{setup().context_length, setup().distances, setup().xpos_decay, palette().cacheKey(), {}};
    for (const SpectrumCurve& curve : curves_)
        now.curves.emplace_back(curve.key + (curve.in_use ? "*" : ""), curve.theta);
    return std::exchange(drawn_, now) == now;
}

void SpectrumPage::showSpectrum() {
    const Setup& s = setup();
    const bool wavelength = panel_->quantity().currentIndex() == 0;
    std::vector<CurveChart::Curve> curves;
    for (const SpectrumCurve& curve : curves_) {
        // A pair that does not rotate cannot be shown on a logarithmic axis.
        const Eigen::VectorXd y = wavelength ? wavelengths(curve.theta) : curve.theta;
        QVector<double> shown = numbers(y);
        for (double& value : shown)
            if (!std::isfinite(value) || value <= 0) value = std::nan("");
        curves.push_back({curve.key, curve.text.name, shade(curve), counting(y.size()), shown, curve.in_use,
                          curve.in_use, curve.text.formula});
    }
    const double tau = 2 * std::numbers::pi;
    const Eigen::VectorXd frequencies = thetaInUse();
    const int complete = pairsCompletingRotation(frequencies, s.context_length);
    spectrum_->setAxisNames(tr("pair i"),
                            wavelength ? tr("wavelength λ, positions") : tr("frequency θ, rad per position"));
    spectrum_->setLegendCorner(Qt::AlignTop | (wavelength ? Qt::AlignLeft : Qt::AlignRight));
    spectrum_->setLog(false, true);
    spectrum_->setCurves(curves, {{wavelength ? s.context_length : tau / s.context_length,
                                   tr("L′ = %1: %2 of %3 rotate fully")
                                       .arg(s.context_length, 0, 'g', 8)
                                       .arg(complete)
                                       .arg(frequencies.size()),
                                   true},
                                  {static_cast<double>(s.pair), tr("pair %1").arg(s.pair), false}});
    const bool rotates = s.pair < frequencies.size() && frequencies[s.pair] > 0;
    const double theta = rotates ? frequencies[s.pair] : 0;
    spectrum_->setTitle(
        !rotates ? tr("How slowly each pair rotates")
        : wavelength
            ? tr("How slowly each pair rotates; pair %1: λ = %2 positions")
                  .arg(s.pair)
                  .arg(numberText(tau / theta, 5))
            : tr("How slowly each pair rotates; pair %1: θ = %2").arg(s.pair).arg(numberText(theta, 5)));
    spectrum_->setCaption(tr("%1 by pair: %2 with s = %3; %4 of %5 pairs rotate fully within %6 positions")
                              .arg(wavelength ? tr("Wavelength") : tr("Frequency"), frequenciesText(s))
                              .arg(s.scaling.factor)
                              .arg(complete)
                              .arg(frequencies.size())
                              .arg(s.context_length));
}

void SpectrumPage::showCosines() {
    const Setup& s = setup();
    HeatMapView::Map map;
    if (!curves_.empty()) map.setValues(cosineMap(thetaInUse(), s.distances));
    map.row_name = tr("pair i");
    map.column_name = tr("distance δ");
    map.value_name = QStringLiteral("cos δθᵢ");
    cosines_->setMap(std::move(map));
    cosines_->setCaption(tr("cos δθᵢ of every pair and distance: %1").arg(frequenciesText(s)));
}

void SpectrumPage::showDecay() {
    const Setup& s = setup();
    std::vector<CurveChart::Curve> curves;
    for (const SpectrumCurve& curve : curves_)
        curves.push_back({curve.key, curve.text.name, shade(curve), counting(s.distances),
                          numbers(decayCurve(curve.theta, s.distances)), false, curve.in_use});
    if (s.xpos_decay && !curves_.empty())
        curves.push_back({QStringLiteral("xpos"), tr("xPos"), Theme::of(palette()).frame,
                          counting(s.distances), numbers(xposDecayCurve(thetaInUse(), s.distances)), false,
                          false, QStringLiteral("pair i also × ζᵢ^(δ/512), ζᵢ = (2i/d + 0.4)/1.4")});
    decay_->setCurves(curves, {});
    decay_->setCaption(tr("Long-range attenuation (1/(r/2)) Σ|Sⱼ|, Sⱼ = Σ exp(iδθᵢ) over i < j: %1")
                           .arg(frequenciesText(s)));
}

void SpectrumPage::showBound() {
    constexpr int kFarthest = 131072;  // positions; longer sums are too slow while a slider is dragged
    const Setup& s = setup();
    const int length = std::min(static_cast<int>(s.context_length), kFarthest);
    std::vector<CurveChart::Curve> curves;
    std::vector<CurveChart::Mark> marks{{0, {}, true}};
    QString found;
    for (const SpectrumCurve& curve : curves_) {
        const Eigen::VectorXd bound = baseBound(curve.theta, length);
        if (curve.in_use) {
            const int zero = firstNegative(bound);
            found = zero < 0 ? tr("not below 0 up to δ = %1").arg(length)
                             : tr("first below 0 at δ = %1").arg(zero);
            if (zero > 0) marks.push_back({static_cast<double>(zero), found, false});
        }
        // From 1, because the axis is logarithmic.
        QVector<double> x = counting(bound.size());
        QVector<double> y = numbers(bound);
        x.removeFirst();
        y.removeFirst();
        curves.push_back({curve.key, curve.text.name, shade(curve), x, y, false, curve.in_use});
        curves.back().envelope = true;
    }
    bound_->setCurves(curves, marks);
    bound_->setCaption(tr("Base bound B(δ) = Σ cos δθᵢ, %1: %2").arg(found, frequenciesText(s)));
}

QString SpectrumPage::explanation() const {
    const Setup& s = setup();
    const ScalingText& scaling = describe(s.scaling.method);
    const ScaledFrequencies scaled = s.scaled(s.scaling.method);
    const Eigen::VectorXd& frequencies = scaled.theta;
    QString text =
        tr("<h3>Frequencies</h3>"
           "<p>θ<sub>i</sub> = %1, λ<sub>i</sub> = 2π/θ<sub>i</sub>, b = %2, r = %3 rotated features.</p>"
           "<p>Scaling in use: <b>%4</b>: %5<br><i>%6</i></p>")
            .arg(s.frequency_formula == FrequencyFormula::standard ? QStringLiteral("b<sup>−2i/r</sup>")
                                                                   : QStringLiteral("b<sup>−i/r</sup>"))
            .arg(numberText(s.base))
            .arg(2 * frequencies.size())
            .arg(scaling.name, scaling.formula, scaling.source);
    text += scalingNumbers(s, scaled);
    if (s.pair < frequencies.size() && frequencies[s.pair] > 0)
        text +=
            tr("<p>Pair %1: θ = <b>%2</b>, λ = <b>%3</b> positions, %4 rotations within L′.</p>")
                .arg(s.pair)
                .arg(numberText(frequencies[s.pair]), numberText(2 * std::numbers::pi / frequencies[s.pair]),
                     numberText(s.context_length * frequencies[s.pair] / (2 * std::numbers::pi), 4));
    else
        text += tr("<p>Pair %1 does not rotate.</p>").arg(s.pair);
    return text + tr("<h3>Decay</h3>"
                     "<p>(1/(r/2)) Σ<sub>j=1</sub><sup>r/2</sup> |S<sub>j</sub>|, S<sub>j</sub> = "
                     "Σ<sub>i&lt;j</sub> e<sup>iδθ<sub>i</sub></sup>, bounds how large a score can be at "
                     "distance δ. <i>Su 2021; the figure there has d = 128.</i></p>"
                     "<h3>Base bound</h3>"
                     "<p>B(δ) = Σ<sub>i</sub> cos δθ<sub>i</sub>. While it is not negative, a similar token "
                     "at distance δ scores above a random one. The first δ with B(δ) below 0 is the limit of "
                     "this base. <i>Xu et al. 2024, arXiv 2405.14591</i></p>");
}

void SpectrumPage::addActions(Actions& actions) {
    const QString group = tr("Spectrum");
    const auto step = [this](int by) {
        panel_->change(tr("Pair i"), [&](Setup& s) { s.pair = std::max(0, s.pair + by); });
    };
    actions.add(group, tr("Next pair"), Qt::Key_Right, [step] { step(1); });
    actions.add(group, tr("Previous pair"), Qt::Key_Left, [step] { step(-1); });
    actions.add(group, tr("Ten pairs forward"), Qt::SHIFT | Qt::Key_Right, [step] { step(10); });
    actions.add(group, tr("Ten pairs back"), Qt::SHIFT | Qt::Key_Left, [step] { step(-10); });
    actions.add(group, tr("First pair"), Qt::Key_Home, [step] { step(-bounds::kMaxHeadDim); });
    actions.add(group, tr("Paste a config.json…"), {}, [this] { panel_->askForConfig(); });
    actions.add(group, tr("Copy as config.json"), {}, [this] { panel_->copyConfig(); });
    actions.add(group, tr("Add a model to the comparison…"), {}, [this] {
        tabs_->setCurrentWidget(comparison_);
        comparison_->addModel();
    });
}

}  // namespace roper
