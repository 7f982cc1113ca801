#include "ui/pages/rotation/worked_example_view.h"

#include <QScrollArea>
#include <QScrollBar>
#include <algorithm>

#include "ui/charts/csv_text.h"
#include "ui/controls/layout_helpers.h"
#include "ui/theme/numbers.h"
#include "ui/theme/plain_text.h"

namespace roper {
namespace {

constexpr std::size_t kMaxPairsShown = 4;

QString number(double value, int decimals = 6) {
    return fixedNumberText(value, decimals);
}

QString vectorText(const Eigen::VectorXd& v, int decimals) {
    QStringList cells;
    for (const double value : v.head(std::min<Eigen::Index>(v.size(), 8)))
        cells << number(value, decimals);
    if (v.size() > 8) cells << QStringLiteral("…");
    return '[' + cells.join(QStringLiteral(", ")) + ']';
}

/// One table row per shown pair; `cells(index, pair)` makes its cells.
template <class Cells>
QString rows(const WorkedExample& example, Cells cells) {
    QString text = QStringLiteral("<table cellspacing='0' cellpadding='2'>");
    for (std::size_t i = 0; i < std::min(example.exact.size(), kMaxPairsShown); ++i) {
        text += "<tr>";
        for (const QString& cell : cells(static_cast<int>(i), example.exact[i]))
            text += "<td style='padding-right:18px'>" + cell + "</td>";
        text += "</tr>";
    }
    text += "</table>";
    if (example.exact.size() > kMaxPairsShown)
        text += QObject::tr("<i>and %1 more pairs in the same way</i>")
                    .arg(example.exact.size() - kMaxPairsShown);
    return text;
}

QString frequencyStep(const WorkedExample& example, const Setup& setup) {
    if (example.exact.empty()) return QObject::tr("<p>No feature rotates: the rotated fraction is 0.</p>");
    if (setup.scaling.method != ScalingMethod::none)
        return rows(example,
                    [&](int i, const WorkedPair& pair) {
                        return QStringList{QStringLiteral("θ<sub>%1</sub>").arg(i),
                                           QStringLiteral("= <b>%1</b>").arg(numberText(pair.theta))};
                    }) +
               QObject::tr("<p>scaled as chosen on the Spectrum page</p>");
    const QString exponent = setup.frequency_formula == FrequencyFormula::standard ? QStringLiteral("−2i/d")
                                                                                   : QStringLiteral("−i/d");
    return rows(example, [&](int i, const WorkedPair& pair) {
        return QStringList{QStringLiteral("θ<sub>%1</sub> = b<sup>%2</sup> = %3<sup>%2</sup>, i = %1, d = %4")
                               .arg(i)
                               .arg(exponent, numberText(setup.base))
                               .arg(2 * example.exact.size()),
                           QStringLiteral("= <b>%1</b>").arg(numberText(pair.theta))};
    });
}

QString angleStep(const WorkedExample& example) {
    return rows(example, [&](int i, const WorkedPair& pair) {
        return QStringList{QStringLiteral("mθ<sub>%1</sub> = %2 · %3")
                               .arg(i)
                               .arg(numberText(example.position), numberText(pair.theta)),
                           QStringLiteral("= <b>%1</b> rad").arg(number(pair.angle))};
    });
}

QString cosineStep(const WorkedExample& example) {
    return rows(example, [&](int i, const WorkedPair& pair) {
        const WorkedPair& rounded = example.rounded[static_cast<std::size_t>(i)];
        return QStringList{
            QStringLiteral("cos %1 = <b>%2</b>").arg(numberText(pair.angle), number(pair.cosine)),
            QStringLiteral("sin %1 = <b>%2</b>").arg(numberText(pair.angle), number(pair.sine)),
            QObject::tr("on paper %1 and %2").arg(number(rounded.cosine, 2), number(rounded.sine, 2))};
    });
}

QString productStep(const WorkedExample& example) {
    return rows(example, [](int, const WorkedPair& p) {
        const auto product = [](int feature, double x, const char* function, double factor, double value) {
            return QStringLiteral("x<sub>%1</sub> %2 = %3 · %4 = <b>%5</b>")
                .arg(feature)
                .arg(QLatin1String(function), numberText(x), number(factor, 6), number(value));
        };
        return QStringList{product(p.first, p.x1, "cos", p.cosine, p.x1_cos) + "<br>" +
                               product(p.second, p.x2, "sin", p.sine, p.x2_sin),
                           product(p.first, p.x1, "sin", p.sine, p.x1_sin) + "<br>" +
                               product(p.second, p.x2, "cos", p.cosine, p.x2_cos)};
    });
}

QString sumStep(const WorkedExample& example) {
    return rows(example, [](int, const WorkedPair& p) {
        return QStringList{
            QStringLiteral("x′<sub>%1</sub> = x<sub>%1</sub> cos − x<sub>%2</sub> sin = <b>%3</b>")
                .arg(p.first)
                .arg(p.second)
                .arg(number(p.y1)),
            QStringLiteral("x′<sub>%2</sub> = x<sub>%1</sub> sin + x<sub>%2</sub> cos = <b>%3</b>")
                .arg(p.first)
                .arg(p.second)
                .arg(number(p.y2))};
    });
}

QString comparisonStep(const WorkedExample& example, bool is_printed) {
    QString text = QObject::tr(
                       "<p>With cos and sin rounded to two decimal places first, as on paper: <b>%1</b>.<br>"
                       "The largest difference is %2: an error of up to 0.005 in cos or sin is multiplied by "
                       "the features, and the two products add up.</p>")
                       .arg(vectorText(example.rounded_result, 3), number(example.largestDifference(), 4));
    if (is_printed)
        text += QObject::tr(
            "<p>The introduction prints [−0.355, 1.06, 0.84, 2.37]: these are the rounded numbers. Its "
            "ω<sub>i</sub> = 10000<sup>−i/d</sup> is not the standard θ<sub>i</sub> = 10000<sup>−2i/d</sup>: "
            "with d = 4 it gives 0.1 for i = 1, where the standard gives 0.01.</p>");
    return text;
}

}  // namespace

WorkedExampleView::WorkedExampleView(RotationState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("worked-example"), tr("The rotation worked line by line")),
      state_(state) {
    connect(&state_, &RotationState::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void WorkedExampleView::setStep(int step) {
    step_ = std::clamp(step, 1, kSteps);
    updateGeometry();
    update();
    emit stepChanged(step_);
}

QString WorkedExampleView::html(const Theme& theme) const {
    const WorkedExample example = state_.worked();
    const Setup& setup = state_.setup();
    const QString given = tr("<p>m = %1, d = %2, b = %3, x = <b>%4</b></p>")
                              .arg(numberText(setup.position))
                              .arg(setup.head_dim)
                              .arg(numberText(setup.base), vectorText(state_.x(), 2));
    const std::pair<QString, QString> steps[] = {
        {tr("Frequencies"), frequencyStep(example, setup)},
        {tr("Angles"), angleStep(example)},
        {tr("Cosine and sine"), cosineStep(example)},
        {tr("Products"), productStep(example)},
        {tr("Sums"), sumStep(example)},
        {tr("Result"), QStringLiteral("<p>x′ = R(m)x = <b>%1</b></p>").arg(vectorText(example.result, 6))},
        {tr("Why results on paper differ"), comparisonStep(example, state_.isWorkedExample())}};
    QString text = "<body style='color:" + theme.text.name() + "'>" + given;
    for (int step = 1; step <= step_; ++step) {
        const bool current = step == step_;
        const QColor color = current ? theme.readable(Theme::roper()) : theme.faint_text;
        text += QStringLiteral("<p style='margin-bottom:2px;color:%1'><b>%2. %3</b></p>")
                    .arg(color.name())
                    .arg(step)
                    .arg(steps[step - 1].first);
        text += steps[step - 1].second;
    }
    return text + "</body>";
}

void WorkedExampleView::layOut(QTextDocument& document, const QFont& font, double width,
                               const Theme& theme) const {
    document.setDefaultFont(font);
    document.setDocumentMargin(12);
    document.setTextWidth(width);
    document.setHtml(html(theme));
}

void WorkedExampleView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    HtmlDocument document;
    layOut(document, painter.font(), area.width(), theme);
    painter.save();
    painter.translate(area.topLeft());
    document.drawContents(&painter);
    painter.restore();
}

QSize WorkedExampleView::preferredSize() const {
    return {420, static_cast<int>(sizeForWidth(std::max(420.0, canvas().width())).height())};
}

QSize WorkedExampleView::figureSize() const {
    return {std::max(520, qRound(canvas().width())), preferredSize().height()};
}

/// High enough for all steps shown.
QSizeF WorkedExampleView::sizeForWidth(double width) const {
    HtmlDocument document;
    layOut(document, font(), width, Theme::light());
    return {width, document.size().height() + 4};
}

QString WorkedExampleView::figureCsv() const {
    const WorkedExample example = state_.worked();
    CsvText csv(QStringLiteral(
        "pair,first,second,theta,angle,cos,sin,x1,x2,x1_cos,x2_sin,x1_sin,x2_cos,rotated1,rotated2,"
        "rounded1,rounded2"));
    for (std::size_t i = 0; i < example.exact.size(); ++i) {
        const WorkedPair &p = example.exact[i], &rounded = example.rounded[i];
        csv.line(i, p.first, p.second, p.theta, p.angle, p.cosine, p.sine, p.x1, p.x2, p.x1_cos, p.x2_sin,
                 p.x1_sin, p.x2_cos, p.y1, p.y2, rounded.y1, rounded.y2);
    }
    return csv.text();
}

QString WorkedExampleView::figureCaption() const {
    return tr("Rotation worked line by line at position %1, d = %2, base %3")
        .arg(numberText(state_.setup().position))
        .arg(state_.setup().head_dim)
        .arg(numberText(state_.setup().base));
}

WorkedExamplePanel::WorkedExamplePanel(RotationState& state, QWidget* parent)
    : QWidget(parent),
      view_(new WorkedExampleView(state, nullptr)),
      step_label_(new QLabel),
      back_(makeActionButton(tr("Back"), {}, this, [this] { view_->setStep(view_->step() - 1); })),
      next_(makeActionButton(tr("Next step"), {}, this, [this] { view_->setStep(view_->step() + 1); })) {
    auto* load = makeActionButton(tr("Load the “cat” example"),
                                  tr("d = 4, position 3, x = [0.5, −1, 1.5, 2], frequencies 1 and 0.1"),
                                  &state, &RotationState::loadWorkedExample);
    connect(view_, &WorkedExampleView::stepChanged, this, &WorkedExamplePanel::showStep);

    auto* scroll = new QScrollArea;
    scroll->setWidget(view_);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    // Scrolls to the newest line when the text has grown.
    connect(scroll->verticalScrollBar(), &QScrollBar::rangeChanged, scroll->verticalScrollBar(),
            [scroll](int, int most) { scroll->verticalScrollBar()->setValue(most); });
    columnOf({rowOf({back_, next_, step_label_, kSpacer, load}), {scroll, 1}}, this)
        ->setContentsMargins(0, 6, 0, 0);
    showStep();
}

void WorkedExamplePanel::showStep() {
    step_label_->setText(tr("step %1 of %2").arg(view_->step()).arg(WorkedExampleView::kSteps));
    back_->setEnabled(view_->step() > 1);
    next_->setEnabled(view_->step() < WorkedExampleView::kSteps);
}

}  // namespace roper
