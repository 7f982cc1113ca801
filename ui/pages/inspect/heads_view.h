#pragma once

#include <optional>

#include "ui/charts/figure_view.h"
#include "ui/pages/inspect/inspect_state.h"

namespace roper {

/// Thumbnails of the attention of all heads, each scaled to its largest weight. Without a sort order, layers
/// are rows, or columns if that makes larger maps; sorted heads fill one row after the other. A click or the
/// arrow keys choose a head. Derived classes provide the attention.
class HeadsView : public FigureView {
    Q_OBJECT

  public:
    HeadsView(InspectState& state, QWidget* parent);

    /// Sorts by ascending `numbers`, one per head; NaN comes last. Empty: by layer and head.
    void setSortedBy(std::vector<double> numbers) { setAndUpdate(numbers_, std::move(numbers)); }
    /// All heads in display order, each as layer·heads + head.
    std::vector<int> ordered() const;
    QRectF headRect(int layer, int head) const;
    /// Layer and head at a point of the canvas; nothing between maps.
    std::optional<std::pair<int, int>> headAt(const QPointF& at) const;

    QSize minFigureSize() const override { return {240, 200}; }
    QSize minScreenSize() const override { return {200, 90}; }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;

  signals:
    void headChosen(int layer, int head);

  protected:
    /// Null while unknown; `placeholderText` is then shown instead.
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
        QSizeF cell;          ///< of a map with its title and a gap
        double side = 0;      ///< of one map
        double title = 0;     ///< height of the title above each map; 0: none
        bool across = false;  ///< without a sort order: layers are columns
    };
    bool isSorted(const HeadThumbnails& all) const { return numbers_.size() == all.maps.size(); }
    Grid grid(const QRectF& area, const HeadThumbnails& all) const;
    Grid sortedGrid(const QRectF& box, int count) const;
    /// @param place  index in display order
    QRectF mapRect(const Grid& grid, int place, const HeadThumbnails& all) const;
    void paintNumbers(QPainter& painter, const QRectF& area, const Grid& grid, const Theme& theme) const;

    InspectState& state_;
    std::vector<double> numbers_;  ///< see `setSortedBy`
};

}  // namespace roper
