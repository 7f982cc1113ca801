#include <QApplication>
#include <QSignalSpy>
#include <QTest>
#include <cmath>
#include <limits>

#include "tests/support/gui_test.h"
#include "tests/support/label_problems.h"
#include "ui/charts/metric_chart.h"

using namespace roper;

/// The chart of live curves, controlled by events.
class MetricChartTest : public QObject {
    Q_OBJECT

  private slots:
    void theBoldCurveIsTheMeanOfSoMany() {
        MetricChart chart("loss", "loss", nullptr);
        chart.resize(600, 300);
        chart.addSeries("a", {"run a", Theme::rope()});
        for (int i = 0; i < 200; ++i)
            chart.append("a", {double(i), 0, 0, i % 2 == 0 ? 1.0 : 3.0});
        chart.setSmoothing(51);
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        chart.redrawNow();
        const auto* bold = chart.plot().graph(1);
        QVERIFY(bold->dataCount() > 100);
        for (const auto& point : *bold->data())
            if (point.key > 30 && point.key < 170) QVERIFY(std::abs(point.value - 2) < 0.03);
        QVERIFY(chart.figureCaption().contains("mean of the 51 values"));
        chart.setSmoothing(1);
        QVERIFY(!chart.figureCaption().contains("mean"));
    }

    void aFirstPointHasAnAxisThatCanBeRead() {
        MetricChart chart("accuracy", "solved, %", nullptr);
        chart.resize(600, 300);
        chart.addSeries("a", {"run a", Theme::rope()});
        chart.append("a", {50, 1, 1, 12.5});
        chart.redrawNow();
        QVERIFY(chart.plot().yAxis->range().size() >= 1);
        QVERIFY(chart.plot().yAxis->range().contains(12.5));
    }

    void sharesAreShownOutOfAHundred() {
        MetricChart chart("solved", "solved, %", nullptr);
        chart.resize(600, 300);
        chart.setFullYRange(std::pair(0.0, 100.0));
        chart.addSeries("a", {"run a", Theme::rope()});
        for (const double value : {0.0, 12.5}) {
            chart.append("a", {50 + value, 1, 1, value});
            chart.redrawNow();
            const QCPRange shown = chart.plot().yAxis->range();
            QVERIFY2(shown.lower < 0 && shown.lower > -10 && shown.upper > 100 && shown.upper < 110,
                     qPrintable(QString::number(shown.upper)));
        }
        chart.setFullYRange({});
        chart.redrawNow();
        QVERIFY(chart.plot().yAxis->range().upper < 20);
    }

    void chartShowsWhatIsAppended() {
        MetricChart chart("loss", "loss", nullptr);
        chart.resize(600, 300);
        chart.show();
        chart.addSeries("a", {"run a", Theme::rope()});
        chart.addSeries("b", {"run b", Theme::roper()});
        chart.setSmoothing(25);
        QSignalSpy replots(&chart.plot(), &QCustomPlot::afterReplot);
        for (int i = 1; i <= 5000; ++i)
            chart.append("a", {double(i), i * 0.1, i * 100.0, 3.0 / i});
        chart.append("b", {1, 0.1, 100, 2.0});
        QTRY_VERIFY(replots.count() > 0);
        QTest::qWait(120);
        QVERIFY2(replots.count() <= 6, "5,000 points must not make 5,000 replots");
        QVERIFY(chart.plot().xAxis->range().contains(1) && chart.plot().xAxis->range().contains(5000));
        QVERIFY(chart.plot().graph(0)->dataCount() <= 2 * chart.plot().axisRect()->width());
        QCOMPARE(chart.pointCount("a"), std::size_t(5000));
        // All data are exported; only the screen shows fewer points.
        QCOMPARE(chart.figureCsv().count('\n'), 5002);
    }

    void chartMarksNotANumber() {
        MetricChart chart("loss", "loss", nullptr);
        chart.resize(600, 300);
        chart.addSeries("a", {"a", Theme::rope()});
        for (int i = 1; i <= 10; ++i)
            chart.append("a", {double(i), 0, 0, i == 7 ? std::nan("") : 1.0});
        chart.redrawNow();
        const QCPGraph* marks = chart.plot().graph(2);
        QCOMPARE(marks->dataCount(), 1);
        QCOMPARE(marks->data()->at(0)->key, 7.0);
        QVERIFY(chart.figureCsv().contains("nan"));
    }

    /// Imported runs may lack times or tokens. Such points are not drawn on that axis, and a message says so.
    void whatWasNotRecordedHasNoPlace() {
        constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
        MetricChart chart("loss", "loss", nullptr);
        chart.resize(600, 300);
        chart.addSeries("a", {"run a", Theme::rope()});
        for (int i = 1; i <= 50; ++i)
            chart.append("a", {double(i), i < 11 ? kNone : i * 2.0, kNone, 3.0 / i});
        const auto message = [&]() -> QString {
            chart.redrawNow();
            for (int i = 0; i < chart.plot().itemCount(); ++i)
                if (const auto* text = qobject_cast<QCPItemText*>(chart.plot().item(i)))
                    if (text->visible() && text->text().simplified().startsWith("Not recorded"))
                        return text->text().simplified();
            return {};
        };
        QVERIFY(message().isEmpty());
        QVERIFY(chart.figureCsv().contains("\na,1,,,3,"));
        chart.setXAxis(MetricChart::XAxis::time);
        QVERIFY(message().isEmpty());
        QVERIFY(chart.xRange() && chart.xRange()->first == 22);
        QVERIFY(chart.figureCsv().contains("\na,1,,,3,,run a\n"));
        chart.setXAxis(MetricChart::XAxis::tokens);
        QCOMPARE(message(), "Not recorded: tokens");
        QVERIFY(!chart.xRange());
        QCOMPARE(chart.pointCount("a"), std::size_t(50));
    }

    void legendHidesAndIsolates() {
        MetricChart chart("loss", "loss", nullptr);
        chart.resize(600, 400);
        for (const char* key : {"a", "b", "c"}) {
            chart.addSeries(key, {key, Theme::rope()});
            chart.append(key, {1, 1, 1, 1});
            chart.append(key, {2, 2, 2, 2});
        }
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        chart.redrawNow();
        QTest::qWait(80);
        const auto clickLegend = [&](int item, bool twice) {
            const QPoint at = chart.plot().legend->item(item)->rect().center();
            QTest::mouseClick(&chart.plot(), Qt::LeftButton, {}, at);
            if (twice) QTest::mouseDClick(&chart.plot(), Qt::LeftButton, {}, at);
            chart.redrawNow();
            QTest::qWait(60);
        };
        clickLegend(1, false);
        QVERIFY(!chart.isCurveVisible("b"));
        QVERIFY(!chart.plot().graph(4)->visible());
        clickLegend(1, false);
        QVERIFY(chart.isCurveVisible("b"));
        QTest::qWait(QApplication::doubleClickInterval() + 50);
        clickLegend(2, true);
        QVERIFY(chart.isCurveVisible("c") && !chart.isCurveVisible("a") && !chart.isCurveVisible("b"));
        QTest::qWait(QApplication::doubleClickInterval() + 50);
        clickLegend(2, true);
        QVERIFY(chart.isCurveVisible("a") && chart.isCurveVisible("b") && chart.isCurveVisible("c"));
    }

    void crosshairReadsTheNumbers() {
        MetricChart chart("loss", "loss", nullptr);
        chart.resize(600, 300);
        chart.addSeries("a", {"run a", Theme::rope()});
        for (int i = 1; i <= 100; ++i)
            chart.append("a", {double(i), 0, 0, i / 100.0});
        chart.setSmoothing(1);
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        chart.redrawNow();
        QTest::qWait(80);
        QSignalSpy hovered(&chart, &MetricChart::hovered);
        const int x = static_cast<int>(chart.plot().xAxis->coordToPixel(50));
        // Sent directly to the plot, independent of the real pointer's position.
        const QPointF at(x, chart.plot().axisRect()->center().y());
        QMouseEvent move(QEvent::MouseMove, at, chart.plot().mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
        QApplication::sendEvent(&chart.plot(), &move);
        QVERIFY(!hovered.isEmpty());
        QVERIFY2(hovered.last()[0].toString().contains("run a: 0.5"),
                 qPrintable(hovered.last()[0].toString()));
    }

    // Regression: the crosshair showed the evaluation of step 600 at step 539.
    void crosshairReadsTheNearestValueAndItsStep() {
        MetricChart chart("accuracy", "solved, %", nullptr);
        chart.resize(600, 300);
        for (const char* key : {"a", "b", "c", "d", "e", "f"}) {
            chart.addSeries(key, {key, Theme::rope()});
            for (int step = 500; step <= 700; step += 100)
                chart.append(key, {double(step), 0, 0, step / 10.0 + key[0] - 'a'});
        }
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        chart.redrawNow();
        QTest::qWait(80);
        QSignalSpy hovered(&chart, &MetricChart::hovered);
        const QPointF at(chart.plot().xAxis->coordToPixel(539), chart.plot().yAxis->coordToPixel(54));
        QMouseEvent move(QEvent::MouseMove, at, chart.plot().mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
        QApplication::sendEvent(&chart.plot(), &move);
        const QString readout = hovered.last()[0].toString();
        QVERIFY2(readout.contains("e: 54 at 500"), qPrintable(readout));
        QVERIFY2(!readout.contains("a: 50") && readout.contains("and 2 more"), qPrintable(readout));
        // With several runs of a kind, it reads the mean and the nearest run.
        for (const char* key : {"a", "b", "c", "d", "e", "f"})
            chart.setCurveStyle(key, {key[0] < 'd' ? "RoPE" : "RoPER", Theme::rope(), 0, 0, false, key});
        QApplication::sendEvent(&chart.plot(), &move);
        const QString of_kinds = hovered.last()[0].toString();
        QVERIFY2(of_kinds.contains("RoPER: mean 54 (53 to 55, 3 runs)    RoPE: mean 51 (50 to 52, 3 runs)"
                                   "    nearest: e: 54 at 500"),
                 qPrintable(of_kinds));
        // A diverged run is counted but is never the nearest.
        chart.clear("f");
        chart.append("f", {500, 0, 0, std::nan("")});
        for (const char* key : {"b", "c"})
            chart.setCurveStyle(key, {"x=%2", Theme::rope(), 0, 0, false, key});
        QApplication::sendEvent(&chart.plot(), &move);
        const QString with_nan = hovered.last()[0].toString();
        QVERIFY2(
            with_nan.contains("RoPER: mean 53.5 (53 to 54, 2 runs), 1 NaN") &&
                with_nan.contains("x=%2: mean 51.5 (51 to 52, 2 runs)    a: 50 at 500    nearest: e: 54"),
            qPrintable(with_nan));
    }

    void theLegendKeepsOffTheCurves() {
        MetricChart chart("loss", "loss", nullptr);
        chart.resize(600, 400);
        chart.addSeries("a", {"a run", Theme::rope()});
        for (int i = 1; i <= 100; ++i)
            chart.append("a", {double(i), 0, 0, i / 100.0});  // rises to where the legend usually is
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        chart.redrawNow();
        chart.plot().replot();
        const auto corner = chart.plot().axisRect()->insetLayout()->insetAlignment(0);
        QVERIFY(corner == (Qt::AlignBottom | Qt::AlignRight) || corner == (Qt::AlignTop | Qt::AlignLeft));
    }

    void theLegendKeepsOffALineWhosePointsAreFarApart() {
        MetricChart chart("accuracy", "solved, %", nullptr);
        chart.resize(600, 400);
        chart.addSeries("a", {"a run", Theme::rope()});
        for (const auto& [x, y] : {std::pair{0.0, 100.0}, {50.0, 100.0}, {100.0, 0.0}})
            chart.append("a", {x, 0, 0, y});
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        QCPLayoutInset* layout = chart.plot().axisRect()->insetLayout();
        layout->setInsetAlignment(0, Qt::AlignTop | Qt::AlignLeft);  // between two points of the line
        chart.redrawNow();
        chart.plot().replot();
        QVERIFY(layout->insetAlignment(0) != (Qt::AlignTop | Qt::AlignLeft));
    }

    void oneEntryOfTheLegendForEachLabel() {
        MetricChart chart("loss", "loss", nullptr);
        chart.resize(600, 400);
        for (int seed = 0; seed < 20; ++seed)
            for (const char* label : {"RoPE", "RoPER"}) {
                const QString key = label + QString::number(seed);
                chart.addSeries(key, {label, Theme::rope(), 0, label[4] == 'R'});
                chart.append(key, {1, 1, 1, 1});
                chart.append(key, {2, 2, 2, 2});
            }
        chart.redrawNow();
        QCOMPARE(chart.plot().legend->itemCount(), 2);
        QVERIFY(chart.isLegendShown());
        QVERIFY(chart.figureCaption().contains("RoPE (20 runs); RoPER (20 runs)"));
        // Without colors, RoPER is recognized by its markers.
        QCOMPARE(chart.plot().graph(1)->scatterStyle().shape(), QCPScatterStyle::ssNone);
        QCOMPARE(chart.plot().graph(4)->scatterStyle().shape(), QCPScatterStyle::ssDisc);
    }

    /// A legend below the axes covers no curve and its lines do not overlap, at any size and in any theme.
    void aLegendOfManyStandsBelowTheAxes() {
        for (const QSize size : {QSize(318, 212), QSize(430, 300), QSize(960, 420)}) {
            for (const bool dark : {false, true}) {
                MetricChart chart("loss", "loss", nullptr);
                for (int i = 0; i < 20; ++i) {
                    const QString label =
                        QString("Sweep addition-width-%1: %2").arg(i / 2).arg(i % 2 ? "RoPER" : "RoPE");
                    MetricChart::CurveStyle style{label, Theme::rope(), i % 2};
                    style.letter_label = CurveLetters::letterLabel(i);
                    chart.addSeries(label, style);
                    for (int step = 1; step <= 10; ++step)
                        chart.append(label, {step * 10.0, 0, 0, 3 - 0.01 * i * step});
                }
                chart.resize(size);
                chart.redrawNow();
                TextBoxRecorder recorder(size);
                QPainter painter(&recorder);
                painter.setFont(Zoom::instance().figureFont());
                chart.paintFigure(painter, QRect(QPoint(), size), Theme::of(fixedPalette(dark)));
                painter.end();
                // The rows of the legend are below the label of the x axis.
                double axis_name = 0;
                for (const auto& box : recorder.boxes())
                    if (box.text == "step") axis_name = box.bounds().bottom();
                QVERIFY(axis_name > 0);
                int in_legend = 0, on_curves = 0;
                for (const auto& box : recorder.boxes()) {
                    QVERIFY2(QRectF(QPointF(), size).adjusted(-1, -1, 1, 1).contains(box.bounds()),
                             qPrintable(box.text));
                    in_legend += box.text.contains("RoPE");
                    on_curves += box.text.size() == 1 && box.text[0].isLetter();
                    if (!box.text.contains("RoPE")) continue;
                    QVERIFY2(box.text.contains(": RoPE"), qPrintable(box.text));
                    QVERIFY2(box.bounds().top() > axis_name, qPrintable(box.text));
                    for (const auto& other : recorder.boxes())
                        QVERIFY2(
                            &other == &box || !other.bounds().intersects(box.bounds().adjusted(1, 2, -1, -2)),
                            qPrintable(box.text + " / " + other.text));
                }
                QCOMPARE(on_curves, 20);
                // Curves that do not fit into the legend are counted.
                const QString rest = QString("and %1 more").arg(20 - in_legend);
                QVERIFY2(in_legend == 20 || std::any_of(recorder.boxes().begin(), recorder.boxes().end(),
                                                        [&](const auto& box) { return box.text == rest; }),
                         qPrintable(QString::number(in_legend)));
                QVERIFY(size.width() < 400 || in_legend == 20);
            }
        }
    }

    /// A hidden curve loses its letter, a removed one leaves nothing that an immediate replot would touch,
    /// and an export does not change the screen.
    void lettersGoWithTheirCurves() {
        MetricChart chart("loss", "loss", nullptr);
        chart.resize(600, 400);
        for (int i = 0; i < 7; ++i) {
            MetricChart::CurveStyle style{QString("run %1").arg(i), Theme::rope()};
            style.letter_label = CurveLetters::letterLabel(i);
            chart.addSeries(style.label, style);
            for (int step = 0; step <= 20; ++step)
                chart.append(style.label, {step * 5.0, 0, 0, 1.0 + i});
        }
        const auto letters = [&] {
            chart.redrawNow();
            QSet<QString> all;
            for (const auto& box : lettersOf(chart, chart.size()))
                all.insert(box.text);
            return all;
        };
        QCOMPARE(letters().size(), 7);
        chart.setCurveVisible("run 2", false);
        QVERIFY(!letters().contains("C"));
        chart.setCurveVisible("run 2", true);
        QVERIFY(letters().contains("C"));
        chart.removeSeries("run 3");
        chart.plot().replot();  // before the next update
        QCOMPARE(letters().size(), 6);
        QVERIFY(!letters().contains("D"));
        // A chart whose legend is hidden on the screen is exported with it, and it stays hidden on the
        // screen.
        chart.setLegendShown(false);
        chart.redrawNow();
        QVERIFY(!chart.plot().legend->visible());
        TextBoxRecorder recorder(chart.size());
        QPainter painter(&recorder);
        painter.setFont(Zoom::instance().figureFont());
        chart.paintWithLegend(true, painter, chart.rect(), Theme::light());
        painter.end();
        QVERIFY(std::any_of(recorder.boxes().begin(), recorder.boxes().end(),
                            [](const auto& box) { return box.text == "A  run 0"; }));
        QVERIFY(!chart.plot().legend->visible());
        // If there is no room for letters, none are drawn.
        chart.resize(70, 40);
        chart.redrawNow();
        chart.plot().replot();
    }

    /// The colors of runs need not have enough contrast; their lines must.
    void linesStandOutInBothThemes() {
        for (const bool dark : {false, true}) {
            MetricChart chart("loss", "loss", nullptr);
            chart.setPalette(fixedPalette(dark));
            chart.resize(500, 300);
            const Theme theme = Theme::of(chart.palette());
            for (const QColor& color : {QColor("#101010"), QColor("#f4f4f4"), QColor("#ffe680")}) {
                MetricChart::CurveStyle style;
                style.label = style.name = color.name();
                style.color = color;
                chart.addSeries(color.name(), style);
                for (int step = 1; step <= 3; ++step)
                    chart.append(color.name(), {double(step), double(step), double(step), 1.0 / step});
            }
            chart.redrawNow();
            int lines = 0;
            for (int i = 0; i < chart.plot().graphCount(); ++i) {
                const QCPGraph& graph = *chart.plot().graph(i);
                if (!graph.visible() || graph.data()->size() < 2) continue;
                ++lines;
                QVERIFY2(contrast(graph.pen().color(), theme.background) >= 3,
                         qPrintable(graph.pen().color().name()));
            }
            QCOMPARE(lines, 3);
        }
    }

    void axesCanBeLogarithmic() {
        MetricChart chart("loss", "loss", nullptr);
        chart.resize(600, 300);
        chart.addSeries("a", {"a", Theme::rope()});
        for (int i = 1; i <= 100; ++i)
            chart.append("a", {double(i), i * 1.0, i * 10.0, 1.0 / i});
        chart.setLogX(true);
        chart.setLogY(true);
        chart.redrawNow();
        QCOMPARE(chart.plot().yAxis->scaleType(), QCPAxis::stLogarithmic);
        QVERIFY(chart.plot().yAxis->range().lower > 0);
        chart.plot().replot();
        const auto ticks = chart.plot().yAxis->tickVector();
        QVERIFY2(ticks.contains(0.01) && ticks.contains(0.1) && ticks.contains(0.2), "ticks below 1");
        chart.setXAxis(MetricChart::XAxis::tokens);
        chart.redrawNow();
        QVERIFY(chart.plot().xAxis->range().upper >= 1000);
        // About one decade: losses from 6 to 0.6 have ticks below 1, too.
        chart.plot().yAxis->setRange(0.58, 6.2);
        chart.plot().replot();
        const auto few = chart.plot().yAxis->tickVector();
        QVERIFY(few.contains(1.0) && few.contains(6.0));
        QVERIFY(std::any_of(few.begin(), few.end(), [](double tick) { return tick < 0.9 && tick > 0.58; }));
    }
};

ROPER_GUI_TEST(MetricChartTest, "metric_chart_test")
#include "metric_chart_test.moc"
