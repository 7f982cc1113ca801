#include <QSignalSpy>
#include <QTest>

#include "tests/support/gui_test.h"
#include "ui/charts/curve_chart.h"
#include "ui/charts/metric_chart.h"

using namespace roper;

/// Mouse, wheel and keys work alike in charts of live and of computed curves, at any size.
class PlotGesturesTest : public QObject {
    Q_OBJECT

  private slots:
    void theWheelZoomsAtThePointer_data() { chartsAndSizes(); }
    void theWheelZoomsAtThePointer() {
        open();
        const QPointF at(plot().xAxis->coordToPixel(30), axes().center().y());
        wheel(at, 120);
        QVERIFY(plot().xAxis->range().size() < 90);
        // 30 keeps its relative position on the axis, which itself moves a little when the width of its
        // labels changes.
        const QCPRange xs = plot().xAxis->range();
        QVERIFY2(std::abs((30 - xs.lower) / xs.size() - 0.3) < 0.005, qPrintable(text(xs)));
        QVERIFY(!chart_->isAutoscaled());
        wheel(at, -120);
        QVERIFY2(isAbout(plot().xAxis->range(), 0, 100), qPrintable(text(plot().xAxis->range())));
        // Over the labels of the x axis, y does not change.
        const QCPRange ys = plot().yAxis->range();
        wheel({at.x(), axes().bottom() + 10.0}, 240);
        QVERIFY(plot().yAxis->range() == ys && plot().xAxis->range().size() < 80);
    }

    void draggingZoomsIntoABox_data() { chartsAndSizes(); }
    void draggingZoomsIntoABox() {
        open();
        const QCPRange ys = plot().yAxis->range();
        drag(Qt::LeftButton, {}, inAxes(0.25, 0.2), inAxes(0.75, 0.8));
        QVERIFY2(isAbout(plot().xAxis->range(), 25, 75), qPrintable(text(plot().xAxis->range())));
        QVERIFY2(std::abs(plot().yAxis->range().size() / ys.size() - 0.6) < 0.05,
                 qPrintable(text(plot().yAxis->range())));
        doubleClick();
        QVERIFY(isAbout(plot().xAxis->range(), 0, 100) && isAbout(plot().yAxis->range(), ys.lower, ys.upper));
        QVERIFY(chart_->isAutoscaled());
    }

    /// The zoom box is clipped to the axes.
    void aDragMayEndOutside_data() { chartsAndSizes(); }
    void aDragMayEndOutside() {
        open();
        const double top = plot().yAxis->range().upper;
        drag(Qt::LeftButton, {}, inAxes(0.4, 0.5), QPoint(plot().width() + 200, -150));
        QVERIFY2(isAbout(plot().xAxis->range(), 40, 100), qPrintable(text(plot().xAxis->range())));
        QVERIFY(std::abs(plot().yAxis->range().upper - top) < 0.02 * top);
        // The next press starts a new box.
        doubleClick();
        drag(Qt::LeftButton, {}, inAxes(0.6, 0.5), QPoint(-200, plot().height() + 90));
        QVERIFY2(isAbout(plot().xAxis->range(), 0, 60), qPrintable(text(plot().xAxis->range())));
    }

    void draggingWithShiftOrTheMiddleButtonMoves_data() { chartsAndSizes(); }
    void draggingWithShiftOrTheMiddleButtonMoves() {
        open();
        for (const auto& [button, keys] :
             {std::pair{Qt::LeftButton, Qt::KeyboardModifiers(Qt::ShiftModifier)},
              {Qt::MiddleButton, Qt::KeyboardModifiers()}}) {
            drag(button, keys, inAxes(0.6, 0.5), inAxes(0.35, 0.5));
            QVERIFY2(isAbout(plot().xAxis->range(), 25, 125), qPrintable(text(plot().xAxis->range())));
            doubleClick();
            QVERIFY(isAbout(plot().xAxis->range(), 0, 100));
        }
        // The right button opens the menu.
        drag(Qt::RightButton, {}, inAxes(0.2, 0.2), inAxes(0.8, 0.8));
        QVERIFY(chart_->isAutoscaled());
    }

    /// Keys have the same effects as the mouse.
    void keysZoomMoveAndReset_data() { chartsAndSizes(); }
    void keysZoomMoveAndReset() {
        open();
        QTest::keyClick(&plot(), Qt::Key_Plus);
        chart_->redrawNow();
        QVERIFY2(isAbout(plot().xAxis->range(), 15, 85), qPrintable(text(plot().xAxis->range())));
        QTest::keyClick(&plot(), Qt::Key_Right, Qt::ControlModifier);
        chart_->redrawNow();
        QVERIFY2(isAbout(plot().xAxis->range(), 22, 92), qPrintable(text(plot().xAxis->range())));
        QTest::keyClick(&plot(), Qt::Key_Left, Qt::ControlModifier);
        QTest::keyClick(&plot(), Qt::Key_Minus);
        chart_->redrawNow();
        QVERIFY2(isAbout(plot().xAxis->range(), 0, 100), qPrintable(text(plot().xAxis->range())));
        QVERIFY(!chart_->isAutoscaled());
        QTest::keyClick(&plot(), Qt::Key_0);
        QVERIFY(chart_->isAutoscaled());
    }

    /// Without a mouse, values can be read, and the keyboard focus is visible.
    void keysMoveTheCrosshair_data() { chartsAndSizes(); }
    void keysMoveTheCrosshair() {
        open();
        QVERIFY(plot().focusPolicy() & Qt::TabFocus);
        QVERIFY(!plot().accessibleName().isEmpty() && !plot().accessibleDescription().isEmpty());
        QSignalSpy hovered(chart_.get(), &PlotView::hovered);
        QSignalSpy at(chart_.get(), &PlotView::xHovered);
        const QImage before = plot().grab().toImage();
        QFocusEvent focus(QEvent::FocusIn, Qt::TabFocusReason);
        QCoreApplication::sendEvent(&plot(), &focus);
        QVERIFY(plot().grab().toImage() != before);
        for (int i = 0; i < 3; ++i)
            QTest::keyClick(&plot(), Qt::Key_Right);
        QCOMPARE(at.size(), 3);
        QVERIFY(at[0][0].toDouble() < at[1][0].toDouble() && at[1][0].toDouble() < at[2][0].toDouble());
        QVERIFY2(hovered.last()[0].toString().contains("first"), qPrintable(hovered.last()[0].toString()));
        QCOMPARE(plot().accessibleDescription(), hovered.last()[0].toString());
        QTest::keyClick(&plot(), Qt::Key_Left);
        QCOMPARE(at[3][0].toDouble(), at[1][0].toDouble());
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(&plot(), &leave);
        QCOMPARE(hovered.last()[0].toString(), QString());
    }

    /// New points arrive while zoomed; a reset shows all of them.
    void pointsThatComeWhileZoomed_data() { chartsAndSizes(); }
    void pointsThatComeWhileZoomed() {
        open();
        drag(Qt::LeftButton, {}, inAxes(0.2, 0.2), inAxes(0.5, 0.7));
        const QCPRange xs = plot().xAxis->range(), ys = plot().yAxis->range();
        fill(200);
        QVERIFY(plot().xAxis->range() == xs && plot().yAxis->range() == ys);
        doubleClick();
        QVERIFY2(isAbout(plot().xAxis->range(), 0, 200), qPrintable(text(plot().xAxis->range())));
        fill(300);  // and the chart follows again
        QVERIFY2(isAbout(plot().xAxis->range(), 0, 300), qPrintable(text(plot().xAxis->range())));
    }

    /// A curve is hidden and shown through the legend while zoomed.
    void aCurveIsHiddenWhileZoomed_data() { chartsAndSizes(); }
    void aCurveIsHiddenWhileZoomed() {
        open();
        drag(Qt::LeftButton, {}, inAxes(0.2, 0.2), inAxes(0.5, 0.7));
        const QCPRange xs = plot().xAxis->range(), ys = plot().yAxis->range();
        QSignalSpy changed(chart_.get(), &PlotView::curveVisibilityChanged);
        const QPoint entry = plot().legend->item(1)->rect().center();
        QTest::mouseClick(&plot(), Qt::LeftButton, {}, entry);
        settle();
        QVERIFY(chart_->isCurveVisible("first") && !chart_->isCurveVisible("second"));
        QVERIFY(!changed.isEmpty());
        QVERIFY(chart_->figureCsv().contains("first") && !chart_->figureCsv().contains("second"));
        QVERIFY(plot().xAxis->range() == xs && plot().yAxis->range() == ys);
        QVERIFY(!chart_->isAutoscaled());
        // After a reset only the values of the visible curve count; the hidden one's are ten times as large.
        doubleClick();
        QVERIFY2(plot().yAxis->range().upper < 2, qPrintable(text(plot().yAxis->range())));
        QTest::qWait(QApplication::doubleClickInterval() + 50);
        const QPoint again = plot().legend->item(1)->rect().center();
        QTest::mouseClick(&plot(), Qt::LeftButton, {}, again);
        settle();
        QVERIFY(chart_->isCurveVisible("second") && plot().yAxis->range().upper > 9);
    }

    /// A double click in the legend shows only that curve and does not reset the zoom.
    void aDoubleClickInTheLegendShowsACurveAlone_data() { chartsAndSizes(); }
    void aDoubleClickInTheLegendShowsACurveAlone() {
        open();
        drag(Qt::LeftButton, {}, inAxes(0.2, 0.2), inAxes(0.5, 0.7));
        const QPoint entry = plot().legend->item(0)->rect().center();
        QTest::mouseClick(&plot(), Qt::LeftButton, {}, entry);
        QTest::mouseDClick(&plot(), Qt::LeftButton, {}, entry);
        QVERIFY(chart_->isCurveVisible("first") && !chart_->isCurveVisible("second"));
        QVERIFY(!chart_->isAutoscaled());
    }

    void aClickIsNoDrag_data() { chartsAndSizes(); }
    void aClickIsNoDrag() {
        open();
        QSignalSpy clicked(chart_.get(), &PlotView::clicked);
        QTest::mouseClick(&plot(), Qt::LeftButton, {}, inAxes(0.5, 0.5));
        QCOMPARE(clicked.size(), 1);
        QVERIFY(std::abs(clicked[0][0].toDouble() - 50) < 1);
        QVERIFY(chart_->isAutoscaled());
        drag(Qt::LeftButton, {}, inAxes(0.2, 0.2), inAxes(0.5, 0.7));
        drag(Qt::LeftButton, Qt::ShiftModifier, inAxes(0.2, 0.2), inAxes(0.5, 0.7));
        QTest::mouseClick(&plot(), Qt::LeftButton, {}, QPoint(3, plot().height() - 3));
        QCOMPARE(clicked.size(), 1);
    }

    void cleanup() { chart_.reset(); }

  private:
    static void chartsAndSizes() {
        QTest::addColumn<bool>("is_live");
        QTest::addColumn<QSize>("size");
        for (const bool is_live : {true, false})
            for (const QSize size : {QSize(330, 220), QSize(620, 400), QSize(1300, 700)})
                QTest::addRow("%s, %d wide", is_live ? "live" : "computed", size.width()) << is_live << size;
    }

    void open() {
        QFETCH(bool, is_live);
        QFETCH(QSize, size);
        if (is_live) {
            auto live = std::make_unique<MetricChart>("test", "y", nullptr);
            live->addSeries("first", {"first", Qt::red});
            live->addSeries("second", {"second", Qt::blue});
            chart_ = std::move(live);
        } else {
            chart_ = std::make_unique<CurveChart>("test", "x", "y", nullptr);
        }
        chart_->resize(size);
        chart_->show();
        QVERIFY(QTest::qWaitForWindowExposed(chart_.get()));
        fill(100);
    }

    /// Sets both curves from 0 to `last`.
    void fill(int last) {
        if (auto* live = qobject_cast<MetricChart*>(chart_.get())) {
            for (auto i = static_cast<int>(live->pointCount("first")); i <= last; ++i)
                for (const auto& [key, scale] : {std::pair{"first", 1.0}, {"second", 10.0}})
                    live->append(key, {double(i), 0, 0, scale * std::abs(std::sin(0.1 * i))});
        } else {
            std::vector<CurveChart::Curve> curves(2);
            for (auto [place, scale] : {std::pair{0, 1.0}, {1, 10.0}}) {
                CurveChart::Curve& curve = curves[static_cast<std::size_t>(place)];
                curve.key = curve.label = place == 0 ? "first" : "second";
                for (int i = 0; i <= last; ++i) {
                    curve.x << i;
                    curve.y << scale * std::abs(std::sin(0.1 * i));
                }
            }
            dynamic_cast<CurveChart&>(*chart_).setCurves(curves, {});
        }
        settle();
    }

    void settle() {
        chart_->redrawNow();
        QTest::qWait(60);
    }

    QCustomPlot& plot() const { return chart_->plot(); }
    QRect axes() const { return plot().axisRect()->rect(); }
    /// @param across, down  fractions of the axes
    QPoint inAxes(double across, double down) const {
        return axes().topLeft() + QPointF(across * axes().width(), down * axes().height()).toPoint();
    }

    void drag(Qt::MouseButton button, Qt::KeyboardModifiers keys, const QPoint& from, const QPoint& to) {
        QTest::mousePress(&plot(), button, keys, from);
        for (const double share : {0.3, 0.7, 1.0}) {
            const QPointF at = from + (to - from) * share;
            QMouseEvent move(QEvent::MouseMove, at, plot().mapToGlobal(at), Qt::NoButton, button, keys);
            QApplication::sendEvent(&plot(), &move);
        }
        QTest::mouseRelease(&plot(), button, keys, to);
        settle();
    }

    void doubleClick() {
        QTest::mouseDClick(&plot(), Qt::LeftButton, {}, inAxes(0.3, 0.9));
        settle();
    }

    void wheel(const QPointF& at, int angle) {
        QWheelEvent event(at, plot().mapToGlobal(at), {}, {0, angle}, Qt::NoButton, {}, Qt::NoScrollPhase,
                          false);
        QApplication::sendEvent(&plot(), &event);
        settle();
    }

    /// Within about a pixel of the smallest chart.
    static bool isAbout(const QCPRange& range, double lower, double upper) {
        const double close = 0.01 * (upper - lower);
        return std::abs(range.lower - lower) < close && std::abs(range.upper - upper) < close;
    }
    static QString text(const QCPRange& range) {
        return QString("%1 to %2").arg(range.lower).arg(range.upper);
    }

    std::unique_ptr<PlotView> chart_;
};

ROPER_GUI_TEST(PlotGesturesTest, "plot_gestures_test")
#include "plot_gestures_test.moc"
