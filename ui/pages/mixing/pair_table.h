#pragma once

#include <QTableWidget>

#include "ui/charts/figure.h"
#include "ui/explorer/attention_state.h"

namespace roper {

/// The output of one query, pair by pair, in RoPE and RoPER, with the largest change first.
class PairTable : public QTableWidget, public Figure {
    Q_OBJECT

  public:
    PairTable(AttentionState& state, QWidget* parent);

    struct Row {
        int pair;
        double theta;                 ///< radians per position
        Eigen::Vector2d rope, roper;  ///< the output's two features
        double change;                ///< |roper − rope|
    };
    std::vector<Row> computeRows() const;

    /// Shows the rows of the current setup.
    void showRows();

    QString figureName() const override { return QStringLiteral("all-pairs"); }
    QSize figureSize() const override;
    QSize minFigureSize() const override { return {330, 90}; }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;

  signals:
    void pairChosen(int pair);

  protected:
    void contextMenuEvent(QContextMenuEvent* event) override;

  private:
    AttentionState& state_;
};

}  // namespace roper
