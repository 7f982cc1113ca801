#pragma once

#include "ui/charts/figure_view.h"
#include "ui/pages/inspect/inspect_state.h"
#include "ui/pages/inspect/view_text.h"

namespace roper {

/// The text token by token, shaded by surprisal; a click chooses a token, whose predicted successors are
/// shown beside the text. The height follows the text, so put it into a scroll area.
class SurprisalView : public FigureView {
    Q_OBJECT

  public:
    enum class Shade {
        trained,     ///< −ln p under the model as trained
        changed,     ///< −ln p under the changed model
        difference,  ///< increase caused by the change
    };

    SurprisalView(InspectState& state, QWidget* parent);

    void setShade(Shade shade) { setAndUpdate(shade_, shade); }
    /// Index of the chosen token, from 0.
    int chosen() const { return chosen_; }
    /// @param token  its index; negative: the last
    void choose(int token);
    /// Position of a token on the canvas.
    QRectF tokenRect(int token) const;

    QSize defaultSize() const override { return {900, 340}; }
    QSize minFigureSize() const override { return {240, 120}; }
    QSizeF sizeForWidth(double width) const override;
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;
    int heightForWidth(int width) const override;

  signals:
    void chosenChanged(int token);

  protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    TokenLines linesIn(const QRectF& area) const;
    /// Shade of a token in nats; nothing for the first token and while unknown.
    std::optional<double> shadeOf(std::size_t token) const;
    void paintLegend(QPainter& painter, const QRectF& line, const Theme& theme) const;
    QString describe(int token) const;
    void refresh();

    InspectState& state_;
    Shade shade_ = Shade::trained;
    int chosen_ = -1;  ///< −1: the last
};

}  // namespace roper
