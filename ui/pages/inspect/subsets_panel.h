#pragma once

#include <QPushButton>
#include <QSpinBox>

#include "ui/charts/figure_view.h"
#include "ui/pages/inspect/model_panel.h"

namespace roper {

/// Loss with every subset of the bands (groups of pairs with similar frequencies), the best first: one row
/// per subset, with a square per band, filled if scores use the band.
class SubsetsView : public FigureView {
    Q_OBJECT

  public:
    SubsetsView(InspectState& state, QWidget* parent);

    QSize minFigureSize() const override { return {320, 160}; }
    QSizeF sizeForWidth(double width) const override;
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    int heightForWidth(int width) const override;

  protected:
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    struct Rows {
        std::vector<BandSubset> subsets;  ///< the best first
        double top = 0, height = 0;
    };
    Rows rowsIn(const QRectF& area) const;
    QString namesOf(const std::vector<int>& bands) const;

    InspectState& state_;
};

/// Loss with every subset of the bands.
class SubsetsPanel : public ModelPanel {
    Q_OBJECT

  public:
    SubsetsPanel(const ShownModels& models, QWidget* parent);

    PageFigures::Figures figures() const override { return {subsets_}; }
    void prepare(const QString& figure, const InspectFigureSettings& picture) override;

  protected:
    void refresh() override;

  private:
    SubsetsView* subsets_;
    QSpinBox* band_count_;
    QPushButton* compute_;
};

}  // namespace roper
