#pragma once

#include <vector>

#include "ui/charts/figure_view.h"

namespace roper {

/// Vectors before and after a rotation: one dial for each rotated pair of features, with an arrow for each
/// vector. An arrow is as long as the square root of the pair's norm, relative to the vector's longest pair.
class PairArrows : public FigureView {
    Q_OBJECT

  public:
    struct Vector {
        QString key, name;  ///< name in CSV; name in the legend
        QColor color;
        std::vector<double> before = {}, after = {};  ///< features [d]
    };
    /// The two features of each rotated pair; pair 0, which usually rotates fastest, comes first.
    using Pairs = std::vector<std::vector<int>>;

    PairArrows(const QString& name, QWidget* parent);

    /// @param contributions  a number for each pair, such as what it adds to a score; empty: none
    /// @param meaning        readout text before the number, such as "adds to the score"
    void setVectors(Pairs pairs, std::vector<Vector> vectors, std::vector<double> contributions = {},
                    const QString& meaning = {});
    void setHeadline(const QString& text) { setAndUpdate(headline_, text); }
    void setCaption(const QString& caption) { caption_ = caption; }
    const Pairs& pairs() const { return pairs_; }

    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override {
        paintWithLegend(true, painter, area, theme);
    }
    bool hasLegend() const override { return !vectors_.empty(); }
    void paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                         const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override { return caption_; }
    QSize minFigureSize() const override { return {280, 200}; }

  protected:
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    struct Grid {
        QRectF box;
        int columns = 1;
        double side = 0;  ///< of a dial's cell
        QRectF cell(int pair) const;
    };
    Grid gridIn(const QRectF& area, bool legend) const;
    /// Draws the legend, or measures it without a painter. @returns its height
    double layLegend(QPainter* painter, const QRectF& area, const Theme* theme) const;
    void paintDial(QPainter& painter, const QRectF& cell, std::size_t pair, const Theme& theme) const;
    QPointF arrowOf(const std::vector<double>& vector, std::size_t pair) const;
    QString describe(std::size_t pair) const;

    Pairs pairs_;
    std::vector<Vector> vectors_;
    std::vector<double> longest_;  ///< norm of the longest pair of each vector, before or after
    std::vector<double> contributions_;
    QString headline_, caption_, meaning_;
};

}  // namespace roper
