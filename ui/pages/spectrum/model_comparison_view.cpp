#include "ui/pages/spectrum/model_comparison.h"

#include <QMouseEvent>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/base/text.h"
#include "ui/charts/csv_text.h"
#include "ui/theme/numbers.h"

// The figure of the comparison; model_comparison.cpp has its controls.

namespace roper {
namespace {

constexpr double kMargin = 8, kHeader = 20, kAxis = 20;  // pixels; both above the rows
constexpr double kMore = 18;                             // below the rows, for the number of those left out
constexpr double kMinRow = 20, kMaxRow = 36;
constexpr double kTwoLines = 32;  // height of a row with two lines of text

/// A column at the right of the bands.
struct NumberColumn {
    QString header;
    QString (*text)(const LayerGroup& group);
    double width = 0;  ///< of the widest text, with a gap
    double left = 0;
};

QString rotatedText(const LayerGroup& group) {
    return ModelComparisonView::tr("%1 of %2").arg(2 * group.theta.size()).arg(group.head_dim);
}

QString neverTurnText(const LayerGroup& group) {
    const auto count = group.pairsThatNeverTurn();
    if (group.theta.empty() || !count) return QStringLiteral("–");
    return ModelComparisonView::tr("%1 of %2").arg(*count).arg(group.theta.size());
}

QString windowText(const LayerGroup& group) {
    if (!group.window) return QStringLiteral("?");
    return *group.window > 0 ? QString::number(*group.window) : QStringLiteral("–");
}

QString valuesText(const LayerGroup& group) {
    if (!group.values_rotate) return QStringLiteral("–");
    return group.values_rotate_back ? ModelComparisonView::tr("rotated back")
                                    : ModelComparisonView::tr("not rotated back");
}

QString sinksText(const LayerGroup& group) {
    return !group.sinks   ? QStringLiteral("?")
           : *group.sinks ? ModelComparisonView::tr("yes")
                          : QStringLiteral("–");
}

QString slowText(const LayerGroup& group) {
    return group.slow_share ? QStringLiteral("%1 %").arg(std::lround(100 * *group.slow_share))
                            : QStringLiteral("–");
}

QString distanceText(const LayerGroup& group) {
    return group.mean_distance ? numberText(*group.mean_distance, 3) : QStringLiteral("–");
}

/// The columns that fit beside bands of at least `kBandShare` of the width; the last ones are left out first.
/// @param width  of the figure without the labels of the rows
std::vector<NumberColumn> columnsFor(const std::vector<LayerGroup>& groups, double width,
                                     const QFontMetricsF& metrics) {
    constexpr double kGap = 16, kBandShare = 0.55;
    using View = ModelComparisonView;
    std::vector<NumberColumn> columns = {{View::tr("features rotated"), rotatedText},
                                         {View::tr("no full turn"), neverTurnText}};
    const auto any = [&](const auto& has) { return std::ranges::any_of(groups, has); };
    if (any([](const LayerGroup& one) { return one.window.value_or(0) > 0; }))
        columns.push_back({View::tr("window"), windowText});
    if (any([](const LayerGroup& one) { return one.sinks.value_or(false); }))
        columns.push_back({View::tr("sinks"), sinksText});
    if (any([](const LayerGroup& one) { return one.values_rotate; }))
        columns.push_back({View::tr("values"), valuesText});
    if (any([](const LayerGroup& one) { return one.slow_share.has_value(); })) {
        columns.push_back({View::tr("slow share"), slowText});
        columns.push_back({View::tr("mean distance"), distanceText});
    }
    for (NumberColumn& column : columns) {
        column.width = metrics.horizontalAdvance(column.header);
        for (const LayerGroup& group : groups)
            column.width = std::max(column.width, metrics.horizontalAdvance(column.text(group)));
        column.width += kGap;
    }
    const auto total = [&] {
        double sum = 0;
        for (const NumberColumn& column : columns)
            sum += column.width;
        return sum;
    };
    while (!columns.empty() && total() > (1 - kBandShare) * width)
        columns.pop_back();
    return columns;
}

/// "30 layers", "layers 3, 7, 11", or the kind of layer.
QString layersText(const LayerGroup& group) {
    constexpr std::size_t kFew = 4;
    QStringList numbers;
    for (const int layer : group.layers)
        numbers << QString::number(layer);
    const QString kind = QString::fromStdString(group.kind).replace('_', ' ');
    if (group.layers.empty()) return kind;
    const QString layers = group.layers.size() <= kFew
                               ? (group.layers.size() == 1 ? ModelComparisonView::tr("layer %1")
                                                           : ModelComparisonView::tr("layers %1"))
                                     .arg(numbers.join(QStringLiteral(", ")))
                               : ModelComparisonView::tr("%1 layers").arg(group.layers.size());
    return kind.isEmpty() ? layers : QStringLiteral("%1, %2").arg(kind, layers);
}

double wavelengthOf(double theta) {
    return 2 * std::numbers::pi / theta;
}

QString axisName() {
    return ModelComparisonView::tr("λ = 2π/θ, positions");
}

/// "10", "100", "10³"
QString powerOfTen(int exponent) {
    constexpr const char* kSuperscripts[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    if (exponent <= 2) return QString::number(static_cast<int>(std::lround(std::pow(10, exponent))));
    QString text = QStringLiteral("10");
    for (const QChar digit : QString::number(exponent))
        text += QString::fromUtf8(kSuperscripts[digit.digitValue()]);
    return text;
}

QString nameOf(const LayerGroup& group) {
    return QString::fromStdString(toSingleLine(group.model));
}

/// Whether a row belongs to the model of the row before it.
bool continuesModel(const std::vector<LayerGroup>& groups, std::size_t row) {
    return row > 0 && groups[row - 1].path == groups[row].path && groups[row - 1].model == groups[row].model;
}

QString sentenceAbout(const LayerGroup& group) {
    const QString name = nameOf(group);
    if (!group.error.empty()) return QStringLiteral("%1: %2").arg(name, QString::fromStdString(group.error));
    QStringList parts;
    if (const QString layers = layersText(group); !layers.isEmpty()) parts << layers;
    if (group.theta.empty()) {
        parts << ModelComparisonView::tr("no feature rotates");
    } else {
        parts << ModelComparisonView::tr("%1 of %2 features rotate")
                     .arg(2 * group.theta.size())
                     .arg(group.head_dim);
        const auto [low, high] = std::ranges::minmax(group.theta);
        parts << ModelComparisonView::tr("λ from %1 to %2 positions")
                     .arg(numberText(wavelengthOf(high), 4), numberText(wavelengthOf(low), 4));
        if (const auto count = group.pairsThatNeverTurn())
            parts << ModelComparisonView::tr("%1 of %2 pairs complete no turn within %3 tokens")
                         .arg(*count)
                         .arg(group.theta.size())
                         .arg(group.context);
    }
    if (group.window.value_or(0) > 0)
        parts << ModelComparisonView::tr("window of %1 tokens").arg(*group.window);
    if (group.sinks.value_or(false)) parts << ModelComparisonView::tr("learned sinks");
    if (group.values_rotate)
        parts << (group.values_rotate_back ? ModelComparisonView::tr("values rotate, and outputs back")
                                           : ModelComparisonView::tr("values rotate, outputs never back"));
    if (group.mean_distance && group.even_distance)
        parts << ModelComparisonView::tr("mean distance %1; %2 if attention were even")
                     .arg(numberText(*group.mean_distance, 3), numberText(*group.even_distance, 3));
    return QStringLiteral("%1: %2").arg(name, parts.join(QStringLiteral("; ")));
}

int heightOf(std::size_t rows, double row_height) {
    return static_cast<int>(kHeader + kAxis + kMore + 2 * kMargin + static_cast<double>(rows) * row_height);
}

/// Rows of equal height; those that do not fit are left out.
struct RowGrid {
    double top = 0, height = 0;  ///< of the first row, and of each
    std::size_t count = 0;

    RowGrid() = default;
    RowGrid(const QRectF& area, std::size_t rows) : top(area.top() + kMargin + kHeader + kAxis) {
        const double room = area.bottom() - kMargin - kMore - top;
        height = std::clamp(room / static_cast<double>(std::max<std::size_t>(1, rows)), kMinRow, kMaxRow);
        count = std::min(rows, static_cast<std::size_t>(std::max(0.0, std::floor(room / height + 0.01))));
    }
    double y(std::size_t row) const { return top + static_cast<double>(row) * height; }
};

}  // namespace

/// Where the parts of the figure are.
struct ModelComparisonView::Layout {
    RowGrid rows;
    double label_left, label_width;
    QRectF bands;  ///< all bands, without the axis
    double log_low, log_high;
    std::vector<NumberColumn> columns;

    /// The right edge of the columns.
    double right() const {
        return columns.empty() ? bands.right() : columns.back().left + columns.back().width;
    }
    double x(double wavelength) const {
        const double share = (std::log10(wavelength) - log_low) / (log_high - log_low);
        return bands.left() + std::clamp(share, 0.0, 1.0) * bands.width();
    }
};

ModelComparisonView::ModelComparisonView(QWidget* parent)
    : FigureView(parent, QStringLiteral("model-rotations"), tr("How models rotate, compared")) {}

void ModelComparisonView::setGroups(std::vector<LayerGroup> groups) {
    groups_ = std::move(groups);
    updateGeometry();
    update();
}

QSize ModelComparisonView::defaultSize() const {
    constexpr int kWidth = 960;
    return {kWidth, std::max(minFigureSize().height(), heightOf(groups_.size(), kTwoLines))};
}

QSize ModelComparisonView::minScreenSize() const {
    return {minFigureSize().width(), heightOf(groups_.size(), kMaxRow)};
}

ModelComparisonView::Layout ModelComparisonView::layoutOf(const QRectF& area,
                                                          const QFontMetricsF& metrics) const {
    Layout layout{};
    double numbers = 0, longest = metrics.horizontalAdvance(axisName()), low = 2 * std::numbers::pi,
           high = 1000;
    for (const LayerGroup& group : groups_) {
        longest = std::max({longest, metrics.horizontalAdvance(nameOf(group)),
                            metrics.horizontalAdvance(layersText(group))});
        if (group.context > 0) {
            low = std::min(low, static_cast<double>(group.context));
            high = std::max(high, static_cast<double>(group.context));
        }
        for (const double theta : group.theta) {
            low = std::min(low, wavelengthOf(theta));
            high = std::max(high, wavelengthOf(theta));
        }
    }
    constexpr double kPadding = 0.06;  // decades
    layout.log_low = std::log10(low) - kPadding;
    layout.log_high = std::log10(high) + kPadding;
    layout.label_left = area.left() + kMargin;
    layout.label_width = std::min(longest + 2, 0.32 * area.width());
    layout.columns = columnsFor(groups_, area.width() - layout.label_width, metrics);
    for (const NumberColumn& column : layout.columns)
        numbers += column.width;
    layout.rows = RowGrid(area, groups_.size());
    const double left = layout.label_left + layout.label_width + 12;
    layout.bands = {left, layout.rows.top, area.right() - kMargin - numbers - left,
                    static_cast<double>(layout.rows.count) * layout.rows.height};
    double column_left = layout.bands.right();
    for (NumberColumn& column : layout.columns)
        column.left = std::exchange(column_left, column_left + column.width);
    return layout;
}

void ModelComparisonView::paintAxis(QPainter& painter, const Layout& layout, const Theme& theme) const {
    const QRectF& box = layout.bands;
    const QFontMetricsF metrics(painter.font());
    const auto header = [&](const QRectF& place, Qt::Alignment alignment, const QString& text) {
        drawColoredText(painter, place, static_cast<int>(alignment),
                        metrics.elidedText(text, Qt::ElideRight, place.width()), theme.faint_text);
    };
    const double top = box.top() - kAxis;
    const double right = layout.right();
    header({layout.label_left, top - kHeader, right - layout.label_left, kHeader}, kLeftMiddle,
           tr("One line per pair; gray: no full turn within the context length (▾)"));
    header({layout.label_left, top, layout.label_width, kAxis}, kRightMiddle, axisName());
    double last_label_end = -1e9;
    for (int exponent = static_cast<int>(std::ceil(layout.log_low)); exponent <= layout.log_high;
         ++exponent) {
        const double x = layout.x(std::pow(10, exponent));
        painter.setPen(QPen(theme.grid, 1));
        painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()));
        const QString text = powerOfTen(exponent);
        const double width = metrics.horizontalAdvance(text);
        if (x - width / 2 < last_label_end + 6 || x + width / 2 > box.right() + kMargin) continue;
        last_label_end = x + width / 2;
        header({x - width, top, 2 * width, kAxis}, Qt::AlignCenter, text);
    }
    for (const NumberColumn& column : layout.columns)
        header({column.left, top, column.width, kAxis}, kRightMiddle, column.header);
}

void ModelComparisonView::paintPairs(QPainter& painter, const Layout& layout, const LayerGroup& group,
                                     const QRectF& band, const Theme& theme) const {
    const auto [low, high] = std::ranges::minmax(group.theta);
    const double left = layout.x(wavelengthOf(high)), right = layout.x(wavelengthOf(low));
    painter.fillRect(QRectF(left - 2, band.top(), right - left + 4, band.height()),
                     theme.faded(theme.faint_text, 0.14));
    const auto pairs = static_cast<int>(group.theta.size());
    for (int pair = 0; pair < pairs; ++pair) {
        const double wavelength = wavelengthOf(group.theta[static_cast<std::size_t>(pair)]);
        const bool turns = group.context == 0 || static_cast<double>(group.context) >= wavelength;
        const double x = layout.x(wavelength), cut = turns ? 0 : band.height() / 4;
        painter.setPen(QPen(turns ? theme.visible(theme.pair(pair, pairs)) : theme.faint_text, 1.4));
        painter.drawLine(QPointF(x, band.top() + cut), QPointF(x, band.bottom() - cut));
    }
}

void ModelComparisonView::paintRow(QPainter& painter, const Layout& layout, std::size_t row,
                                   const Theme& theme) const {
    constexpr double kBandShare = 0.56;  // of the height of a row
    const LayerGroup& group = groups_[row];
    const double top = layout.rows.y(row), height = layout.rows.height;
    const QFontMetricsF metrics(painter.font());
    const bool continues = continuesModel(groups_, row);
    if (!continues) {
        painter.setPen(QPen(theme.grid, 1));
        painter.drawLine(QPointF(layout.label_left, top), QPointF(layout.bands.right(), top));
    }
    const auto label = [&](double y, double tall, const QString& text, const QColor& color) {
        drawColoredText(painter, QRectF(layout.label_left, y, layout.label_width, tall), kLeftMiddle,
                        metrics.elidedText(text, Qt::ElideRight, layout.label_width), color);
    };
    const QString name = nameOf(group), layers = layersText(group);
    if (continues || layers.isEmpty() || height < kTwoLines) {
        const bool is_first_of_several = row + 1 < groups_.size() && continuesModel(groups_, row + 1);
        label(top, height,
              continues             ? layers
              : is_first_of_several ? QStringLiteral("%1: %2").arg(name, layers)
                                    : name,
              continues ? theme.faint_text : theme.text);
    } else {
        label(top + 1, height / 2, name, theme.text);
        label(top + height / 2 - 1, height / 2, layers, theme.faint_text);
    }
    const QRectF band(layout.bands.left(), top + (1 - kBandShare) / 2 * height, layout.bands.width(),
                      kBandShare * height);
    if (!group.error.empty() || group.theta.empty()) {
        const QString why =
            group.error.empty() ? tr("no rotation") : QString::fromStdString(toSingleLine(group.error));
        QRectF place = band.adjusted(2, -6, 0, 6);
        if (!group.error.empty()) place.setRight(layout.right());
        const QString shown = metrics.elidedText(why, Qt::ElideRight, place.width() - 4);
        painter.fillRect(
            QRectF(place.left(), band.top(), metrics.horizontalAdvance(shown) + 4, band.height()),
            theme.background);
        drawColoredText(painter, place, kLeftMiddle, shown, theme.faint_text);
        if (!group.error.empty()) return;
    } else {
        paintPairs(painter, layout, group, band, theme);
    }
    if (group.context > 0 && !group.theta.empty()) {
        constexpr double kMark = 4;  // half the width of the triangle
        const double x = layout.x(static_cast<double>(group.context));
        painter.setPen(QPen(theme.text, 1));
        painter.drawLine(QPointF(x, band.top() - 3), QPointF(x, band.bottom() + 2));
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.text);
        painter.drawPolygon(QPolygonF{QPointF(x - kMark, band.top() - 3), QPointF(x + kMark, band.top() - 3),
                                      QPointF(x, band.top() + 3)});
    }
    for (const NumberColumn& column : layout.columns)
        drawColoredText(painter, QRectF(column.left, top, column.width, height), kRightMiddle,
                        column.text(group), theme.text);
}

void ModelComparisonView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    if (groups_.empty())
        return paintNote(painter, area, emptyText().isEmpty() ? tr("No models have been read.") : emptyText(),
                         theme);
    const Layout layout = layoutOf(area, QFontMetricsF(painter.font()));
    paintAxis(painter, layout, theme);
    for (std::size_t row = 0; row < layout.rows.count; ++row)
        paintRow(painter, layout, row, theme);
    if (layout.rows.count < groups_.size())
        drawColoredText(painter, QRectF(layout.label_left, layout.bands.bottom(), layout.label_width, kMore),
                        kLeftMiddle, tr("and %1 more").arg(groups_.size() - layout.rows.count),
                        theme.faint_text);
}

std::optional<std::size_t> ModelComparisonView::rowAt(const QPointF& at) const {
    const RowGrid rows(canvas(), groups_.size());
    const double row = std::floor((at.y() - rows.top) / rows.height);
    if (row < 0 || row >= static_cast<double>(rows.count)) return std::nullopt;
    return static_cast<std::size_t>(row);
}

QPointF ModelComparisonView::centerOf(std::size_t row) const {
    const RowGrid rows(canvas(), groups_.size());
    return {canvas().center().x(), rows.y(row) + rows.height / 2};
}

void ModelComparisonView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const auto row = rowAt(event->position())) emit groupChosen(groups_[*row]);
}

void ModelComparisonView::mouseMoveEvent(QMouseEvent* event) {
    const auto row = rowAt(event->position());
    setCursor(row && !groups_[*row].settings.empty() ? Qt::PointingHandCursor : Qt::ArrowCursor);
    emit hovered(row ? sentenceAbout(groups_[*row]) : QString());
}

QString ModelComparisonView::figureCsv() const {
    constexpr int kCells = 16;  // empty ones of a model that cannot be read
    CsvText csv(
        QStringLiteral("model,family,kind,layers,window,head_dim,rotated,theta_max,theta_min,never_turn,"
                       "context,sinks,values_rotate,values_rotate_back,slow_share,mean_distance,"
                       "even_distance,error,theta"));
    const auto flag = [](bool is_set) { return QString(is_set ? "true" : "false"); };
    const auto whole = [](std::optional<std::int64_t> number) {
        return number ? QString::number(*number) : QString();
    };
    for (const LayerGroup& group : groups_) {
        if (!group.error.empty()) {
            csv.cell(group.model);
            for (int cell = 0; cell < kCells; ++cell)
                csv.cell(QString());
            csv.line(group.error, QString());
            continue;
        }
        std::optional<double> largest, smallest;
        if (!group.theta.empty()) {
            largest = std::ranges::max(group.theta);
            smallest = std::ranges::min(group.theta);
        }
        QStringList theta;
        for (const double one : group.theta)
            theta << QString::number(one, 'g', 17);
        csv.line(group.model, group.family, group.kind,
                 group.layers.empty() ? QString() : QString::number(group.layers.size()), whole(group.window),
                 group.head_dim, 2 * group.theta.size(), largest, smallest, whole(group.pairsThatNeverTurn()),
                 group.context > 0 ? QString::number(group.context) : QString(),
                 group.sinks ? flag(*group.sinks) : QString(), flag(group.values_rotate),
                 flag(group.values_rotate_back), group.slow_share, group.mean_distance, group.even_distance,
                 QString(), theta.join(' '));
    }
    return csv.text();
}

QString ModelComparisonView::figureCaption() const {
    const auto count =
        std::ranges::count_if(groups_, [](const LayerGroup& one) { return one.error.empty(); });
    return tr("Wavelengths of all rotating pairs of %1, and the context length of each model")
        .arg(count == 1 ? tr("1 group of layers") : tr("%1 groups of layers").arg(count));
}

}  // namespace roper
