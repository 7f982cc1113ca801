#pragma once

#include <QTableWidget>

#include "core/tour/implementations.h"
#include "ui/charts/figure.h"
#include "ui/explorer/attention_state.h"

namespace roper {

/// Published implementations that rotate values, one per row; a click shows how one of its heads mixes
/// values.
class ImplementationsTable : public QTableWidget, public Figure {
    Q_OBJECT

  public:
    ImplementationsTable(AttentionState& state, QWidget* parent);

    /// Fills the table and marks the row that the current setup shows, if any. @throws Error
    void showRows();

    QString figureName() const override { return QStringLiteral("in-the-wild"); }
    QSize figureSize() const override;
    QSize minFigureSize() const override { return {330, 300}; }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;

  signals:
    /// Emitted when a row that a setup can represent has been chosen.
    void implementationChosen(const roper::Implementation& implementation);
    /// Emitted with what the chosen row shows, or why it cannot be shown.
    void reported(const QString& text);

  protected:
    void contextMenuEvent(QContextMenuEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void fill();
    void choose(int row);

    AttentionState& state_;
};

}  // namespace roper
