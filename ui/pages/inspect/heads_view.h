#pragma once

#include <optional>

#include "ui/charts/figure_view.h"
#include "ui/pages/inspect/inspect_state.h"

namespace roper {

/// Thumbnails of the attention of all heads, each scaled to its largest weight. By place, a row is a layer,
/// or a column if that makes larger maps; sorted by a number, heads fill the lines one after another. A click
/// or the arrow keys choose a head. Derived classes provide the attention.
class HeadsView : public FigureView {
    Q_OBJECT

  public:
    HeadsView(InspectState& state, QWidget* parent);

    /// Sorts by ascending `numbers`, one per head; NaN comes last. Empty: by place.
    void setSortedBy(std::vector<double> numbers) { setAndUpdate(numbers_, std::move(numbers)); }
    /// layer·heads + head of all heads in display order.
    std::vector<int> ordered() const;
    QRectF headRect(int layer, int head) const;
    /// Layer and head at a point of the canvas.
    std::optional<std::pair<int, int>> headAt(const QPointF& at) const;

    QSize minFigureSize() const override { return {240, 200}; }
    QSize minScreenSize() const override { return {200, 90}; }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;

  signals:
    void headChosen(int layer, int head);

  protected:
    /// Null while unknown; a text is then shown instead.
    virtual std::shared_ptr<const HeadThumbnails> heads() const = 0;
    virtual QString placeholderText() const = 0;
    /// Text of the readout for a head under the pointer.
    virtual QString describe(int layer, int head) const = 0;

    InspectState& state() const { return state_; }
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    struct Grid {
        int columns = 1, rows = 1;
        QRectF box;
        QSizeF cell;
        double side = 0;      ///< of one map
        double title = 0;     ///< height of the title above each map; 0: none
        bool across = false;  ///< by place: layers are columns
    };
    bool isSorted(const HeadThumbnails& all) const { return numbers_.size() == all.maps.size(); }
    Grid grid(const QRectF& area, const HeadThumbnails& all) const;
    Grid sortedGrid(const QRectF& box, int count) const;
    QRectF mapRect(const Grid& grid, int place, const HeadThumbnails& all) const;
    void paintNumbers(QPainter& painter, const QRectF& area, const Grid& grid, const Theme& theme) const;

    InspectState& state_;
    std::vector<double> numbers_;
};

}  // namespace roper
