#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QProcess>
#include <QPushButton>
#include <optional>
#include <vector>

#include "core/explorer/layer_group.h"
#include "ui/charts/figure_view.h"

namespace roper {

/// A row for each group of layers of several models: the wavelength of every rotating pair on a logarithmic
/// axis, beside the context length, and the group's numbers. A click chooses a row.
class ModelComparisonView : public FigureView {
    Q_OBJECT

  public:
    explicit ModelComparisonView(QWidget* parent);

    void setGroups(std::vector<LayerGroup> groups);
    const std::vector<LayerGroup>& groups() const { return groups_; }

    /// Index of the row at a point of the canvas; empty if there is none.
    std::optional<std::size_t> rowAt(const QPointF& at) const;
    /// Center of a row on the canvas.
    QPointF centerOf(std::size_t row) const;

    /// In a figure made without a window, all rows fit.
    QSize defaultSize() const override;
    QSize minFigureSize() const override { return {300, 160}; }
    /// All rows fit, so that the view scrolls.
    QSize minScreenSize() const override;
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;

  signals:
    void groupChosen(const roper::LayerGroup& group);

  protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

  private:
    struct Layout;
    Layout layoutOf(const QRectF& area, const QFontMetricsF& metrics) const;
    void paintAxis(QPainter& painter, const Layout& layout, const Theme& theme) const;
    void paintRow(QPainter& painter, const Layout& layout, std::size_t row, const Theme& theme) const;
    void paintPairs(QPainter& painter, const Layout& layout, const LayerGroup& group, const QRectF& band,
                    const Theme& theme) const;

    std::vector<LayerGroup> groups_;
};

/// The comparison with its controls: well-known models, those on this machine, and added ones, read by
/// `roper-train families`.
class ModelComparison : public QWidget {
    Q_OBJECT

  public:
    explicit ModelComparison(QWidget* parent);
    ~ModelComparison() override;

    ModelComparisonView& view() { return *view_; }

    /// Reads the well-known models and those on this machine, unless that has succeeded.
    void readOnce();
    /// Reads only these models (arguments of `roper-train families`), and attention on a text unless it is
    /// empty.
    void read(const QStringList& models, const QString& text);
    /// The well-known models, and those on this machine.
    QStringList defaultModels() const;
    bool isReading() const { return process_ != nullptr; }
    void addModel();
    /// Why the last reading failed; empty if it did not.
    const QString& problem() const { return problem_; }

  signals:
    void hovered(const QString& readout);
    void groupChosen(const roper::LayerGroup& group);

  private:
    void readAgain();
    void startOrStop();
    void start(const QStringList& models);
    void stop();
    void readLines();
    void finish();
    void showStatus(const QString& text);

    ModelComparisonView* view_;
    QLineEdit* text_;
    QPushButton* measure_;
    QLabel* status_;
    QPointer<QProcess> process_;      ///< the current reading; null: none
    std::vector<LayerGroup> groups_;  ///< its rows so far
    QStringList added_;               ///< paths of added models
    QString problem_;
    bool has_read_ = false;
};

}  // namespace roper
