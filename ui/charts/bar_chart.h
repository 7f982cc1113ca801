#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ui/charts/figure_view.h"

namespace roper {

/// Grouped signed bars: one bar per series in each category, such as a distance.
class BarChart : public FigureView {
    Q_OBJECT

  public:
    struct Series {
        QString key, label;
        QColor color;                     ///< of all bars if `colors` is empty
        std::vector<double> values = {};  ///< one per category
        std::vector<QColor> colors = {};  ///< one per category, or empty
    };

    BarChart(const QString& name, const QString& x, const QString& y, QWidget* parent);

    /// @param categories  number of each category, shown below its bars and exported
    void setBars(const std::vector<int>& categories, const std::vector<Series>& series);
    /// Disabled categories with the values that they would have: drawn pale and crossed out.
    void setDisabledCategories(const std::map<int, double>& values) {
        setAndUpdate(disabled_places_, values);
    }
    void setMarked(int category) { setAndUpdate(marked_, category); }
    /// The category under the pointer, possibly in another figure.
    void setHovered(std::optional<int> category) { setAndUpdate(hovered_, category); }
    /// Name of the axis of categories, below them.
    void setXName(const QString& name) { setAndUpdate(x_name_, name); }
    void setHeadline(const QString& text) { setAndUpdate(headline_, text); }
    void setCaption(const QString& caption) { caption_ = caption; }
    /// Labels a category with a word instead of its number. Words of a few categories are always shown; if
    /// all categories have one, only as many as fit.
    void setCategoryName(int category, const QString& name) { category_names_[category] = name; }
    void clearCategoryNames() { category_names_.clear(); }

    const std::vector<int>& categories() const { return categories_; }
    const std::vector<Series>& series() const { return series_; }
    /// Rectangle of a category's bars on the canvas.
    QRectF categoryRect(std::size_t index) const { return categoryRect(plot(canvas()), index); }

    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override {
        paintWithLegend(true, painter, area, theme);
    }
    bool hasLegend() const override { return series_.size() > 1; }
    void paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                         const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override { return caption_; }
    QSize minFigureSize() const override { return {260, 120}; }

  signals:
    void categoryClicked(int category);
    void categoryHovered(int category);

  protected:
    void paintHovered(QPainter& painter, const Theme& theme) const override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    /// The area of the bars: below the headline, which may have several lines, and the legend.
    QRectF plot(const QRectF& area, bool legend = true) const;
    QRectF categoryRect(const QRectF& box, std::size_t index) const;
    QString headline() const { return headline_.isEmpty() ? y_name_ : headline_; }
    double headlineHeight(double width) const;
    /// Width of the legend of several series; 0 for a single series.
    double legendWidth() const;
    bool legendIsBelow(double width) const;
    std::optional<std::size_t> indexAt(const QPointF& at) const;
    QString nameOf(std::size_t index) const;
    std::pair<double, double> valueRange() const;
    void paintCategory(QPainter& painter, const QRectF& area, std::size_t index, double low, double high,
                       const Theme& theme) const;
    void paintLegend(QPainter& painter, double right, double top, const Theme& theme) const;
    void paintScale(QPainter& painter, const QRectF& box, double low, double high, const Theme& theme) const;

    QString x_name_, y_name_, headline_, caption_;
    std::vector<int> categories_;
    std::vector<Series> series_;
    std::map<int, double> disabled_places_;
    std::map<int, QString> category_names_;
    int marked_ = -1;
    std::optional<int> hovered_;
};

}  // namespace roper
