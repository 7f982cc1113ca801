#include <QBuffer>
#include <QImageReader>
#include <QSignalSpy>
#include <QTest>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "core/methods/position_method.h"
#include "tests/support/gui_test.h"
#include "tests/support/label_problems.h"
#include "ui/charts/bar_chart.h"
#include "ui/charts/curve_chart.h"
#include "ui/charts/figure_export.h"
#include "ui/charts/heat_map_view.h"
#include "ui/charts/label_placer.h"
#include "ui/charts/series.h"
#include "ui/charts/ticks.h"
#include "ui/pages/inspect/head_maps.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/lab_style.h"

using namespace roper;

/// Building blocks of charts: pyramids compared with plain loops, means, labels, colors; curves and maps.
class ChartsTest : public QObject {
    Q_OBJECT

  private slots:
    void pyramidKeepsEverySpike() {
        MinMaxPyramid pyramid;
        std::mt19937 random(1);
        std::vector<double> values;
        for (int i = 0; i < 10007; ++i) {
            values.push_back(static_cast<double>(random() % 1000));
            if (i % 997 == 5) values.back() = 1e6 + i;
            pyramid.append(i, values.back());
        }
        std::vector<double> xs, ys;
        pyramid.collect(0, 10007, 300, xs, ys);
        QVERIFY(xs.size() <= 2 * 300 + 40);
        QVERIFY(std::is_sorted(xs.begin(), xs.end()));
        for (int i = 5; i < 10007; i += 997)
            QVERIFY(std::find(ys.begin(), ys.end(), 1e6 + i) != ys.end());
        for (std::size_t i = 0; i < xs.size(); ++i)
            QCOMPARE(values[static_cast<std::size_t>(xs[i])], ys[i]);
    }

    void pyramidRangeIsThatOfThePoints() {
        MinMaxPyramid pyramid;
        std::mt19937 random(2);
        std::vector<double> values;
        for (int i = 0; i < 1000; ++i) {
            values.push_back(static_cast<double>(random() % 100000));
            pyramid.append(i, values.back());
        }
        for (int trial = 0; trial < 200; ++trial) {
            const auto a = random() % 1000, b = a + random() % (1000 - a);
            const auto range = pyramid.range(static_cast<double>(a), static_cast<double>(b));
            const auto first = values.begin() + static_cast<long>(a),
                       last = values.begin() + static_cast<long>(b) + 1;
            QCOMPARE(range.low, *std::min_element(first, last));
            QCOMPARE(range.high, *std::max_element(first, last));
        }
    }

    void pyramidKeepsNotANumberApart() {
        MinMaxPyramid pyramid;
        for (int i = 0; i < 64; ++i)
            pyramid.append(i, i == 20   ? std::nan("")
                              : i == 40 ? std::numeric_limits<double>::infinity()
                                        : double(i));
        QCOMPARE(pyramid.notFinite(), (std::vector<double>{20, 40}));
        std::vector<double> xs, ys;
        pyramid.collect(0, 64, 4, xs, ys);
        for (const double y : ys)
            QVERIFY(std::isfinite(y));
        QCOMPARE(pyramid.range(0, 64).high, 63.0);
        QCOMPARE(pyramid.range(0, 64).low, 0.0);
        QVERIFY(pyramid.range(20, 20).low > pyramid.range(20, 20).high);
    }

    void dotsOfEqualValuesLieBesideEachOther() {
        const std::vector<double> at{5, 5, 5, 5, 40, 41, 300};
        const std::vector<double> across = beeswarm(at, 9, 40);
        for (std::size_t i = 0; i < at.size(); ++i) {
            QVERIFY(std::abs(across[i]) <= 40);
            for (std::size_t j = 0; j < i; ++j)
                QVERIFY2(std::hypot(at[i] - at[j], across[i] - across[j]) >= 9,
                         qPrintable(QString::number(i)));
        }
        QCOMPARE(across[0], 0.0);
        QCOMPARE(across[6], 0.0);
        QCOMPARE(beeswarm(at, 9, 40), across);
        // Even if there are more dots than fit, all stay within the limit.
        for (const double offset : beeswarm(std::vector<double>(200, 1.0), 9, 20))
            QVERIFY(std::abs(offset) <= 20);
        QVERIFY(beeswarm({}, 9, 20).empty());
    }

    void labelsAreCutWhereLeastIsLost() {
        const QFontMetricsF metrics{QFont()};
        const QString label = "Addition, small, learning rate 0.001, width 64: RoPER";
        const double half = metrics.horizontalAdvance(label) / 2;
        const QString cut = elidedLabel(label, metrics, half);
        QVERIFY2(cut.startsWith("Addition, sm") && cut.endsWith("…: RoPER"), qPrintable(cut));
        QVERIFY(metrics.horizontalAdvance(cut) <= half);
        QCOMPARE(elidedLabel(label, metrics, 3 * half), label);
        const QString plain = elidedLabel("RoPE, width 64, frequencies trained", metrics, half / 2);
        QVERIFY2(plain.startsWith("R") && plain.endsWith("d"), qPrintable(plain));
        // Names of runs lose their task first.
        const QString run = "Associative recall · RoPER · seed 12";
        const double whole = metrics.horizontalAdvance(run);
        const QString short_task = elidedLabel(run, metrics, whole - 30);
        QVERIFY2(short_task.startsWith("Assoc") && short_task.endsWith("… · RoPER · seed 12"),
                 qPrintable(short_task));
        QCOMPARE(elidedLabel(run, metrics, metrics.horizontalAdvance("RoPER · seed 12") + 1),
                 "RoPER · seed 12");
    }

    // Regression: a mean over past values only showed 0.93 where the loss was 0.65.
    void meansDoNotLag() {
        CenteredMean mean;
        for (int i = 0; i < 100; ++i)
            mean.append(3.0 * i);
        for (const std::size_t i : {0U, 1U, 7U, 50U, 98U, 99U})
            QVERIFY(std::abs(mean.at(i, 12) - 3.0 * static_cast<double>(i)) < 1e-9);
        QCOMPARE(mean.at(50, 0), 150.0);
        CenteredMean with_gap;
        for (const double value : {1.0, std::nan(""), 5.0})
            with_gap.append(value);
        QCOMPARE(with_gap.at(1, 1), 3.0);
        QVERIFY(std::isnan(with_gap.at(1, 0)));
    }

    /// Each letter is on its curve, and no two share an x, so that the letters of coinciding curves can be
    /// read.
    void sharesAreShownOutOfAHundred() {
        CurveChart chart("test", "step", "solved, %", nullptr);
        chart.resize(500, 300);
        chart.setFullYRange(std::pair(0.0, 100.0));
        chart.setCurves({{"a", "a", Qt::red, {0, 100}, {0, 0}, false, false, {}}}, {});
        chart.redrawNow();
        const QCPRange shown = chart.plot().yAxis->range();
        QVERIFY2(shown.lower < 0 && shown.lower > -10 && shown.upper > 100 && shown.upper < 130,
                 qPrintable(QString::number(shown.upper)));
    }

    void lettersStandOnTheirCurves() {
        CurveChart chart("test", "", "", nullptr);
        chart.resize(500, 300);
        // Four coinciding curves, a steeper one, a bent one, and two that end early.
        std::vector<CurveChart::Curve> curves;
        for (int i = 0; i < 4; ++i)
            curves.push_back({"level", "level", Qt::red, {0, 100}, {1, 1}, false, false, {}});
        curves.push_back({"steep", "steep", Qt::red, {0, 100}, {0, 10}, false, false, {}});
        curves.push_back({"bent", "bent", Qt::red, {0, 50, 100}, {0, 8, 2}, false, false, {}});
        curves.push_back({"short", "short", Qt::red, {0, 20}, {5, 5}, false, false, {}});
        curves.push_back({"shorter", "shorter", Qt::red, {0, 10}, {6, 6}, false, false, {}});
        for (std::size_t i = 0; i < curves.size(); ++i)
            curves[i].letter_label = CurveLetters::letterLabel(static_cast<int>(i));
        chart.setCurves(curves, {});
        chart.plot().replot();
        const QCustomPlot& plot = chart.plot();
        const auto valueAt = [&](std::size_t curve, double x) {
            const auto& [xs, ys] = std::pair(curves[curve].x, curves[curve].y);
            for (qsizetype i = 1; i < xs.size(); ++i)
                if (x <= xs[i] + 1e-9)
                    return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1]);
            return ys.last();
        };
        const auto boxes = lettersOf(chart, chart.size());
        QSet<QString> found;
        for (const auto& box : boxes) {
            const auto curve = static_cast<std::size_t>(box.text[0].unicode() - 'A');
            found.insert(box.text);
            const QPointF at = box.bounds().center();
            const double x = plot.xAxis->pixelToCoord(at.x());
            // No letter is beyond the end of its curve.
            QVERIFY2(x <= curves[curve].x.last() + 2, qPrintable(box.text));
            const double y = plot.yAxis->coordToPixel(valueAt(curve, x));
            // Near an edge of the axes a letter is moved inside.
            QVERIFY2(std::abs(y - at.y()) < 12, qPrintable(box.text + QString(" %1 %2").arg(y).arg(at.y())));
            for (const auto& other : boxes)
                QVERIFY(other.text == box.text || std::abs(other.bounds().center().x() - at.x()) > 5);
        }
        QCOMPARE(found.size(), 8);
        QCOMPARE(CurveLetters::letterLabel(25), QString("Z"));
        QCOMPARE(CurveLetters::letterLabel(26), QString("AA"));
        QCOMPARE(CurveLetters::letterLabel(52), QString("BA"));
        QVERIFY(CurveLetters::isBefore("Z", "AA") && !CurveLetters::isBefore("B", "A"));
    }

    /// As beside a run that trains on: all other curves end within the first pixels.
    void lettersOfCurvesThatEndEarlyLieBesideEachOther() {
        CurveChart chart("test", "", "", nullptr);
        std::vector<CurveChart::Curve> curves = {
            {"long", "long", Qt::red, {0, 10000}, {1, 0}, false, false, {}}};
        for (int i = 0; i < 14; ++i)
            curves.push_back({"short", "short", Qt::red, {0, 60}, {0.01 * i, 0.9}, false, false, {}});
        for (std::size_t i = 0; i < curves.size(); ++i)
            curves[i].letter_label = CurveLetters::letterLabel(static_cast<int>(i));
        chart.setCurves(curves, {});
        for (const QSize size : {QSize(520, 240), QSize(1100, 560)}) {
            const QStringList problems = labelProblems(chart, size);
            QVERIFY2(problems.isEmpty(), qPrintable(problems.join('\n')));
            QSet<QString> found;
            for (const auto& box : lettersOf(chart, size))
                found.insert(box.text);
            QCOMPARE(found.size(), 15);
        }
    }

    void namesBesideEachOtherKeepWhatTellsThemApart() {
        const QFontMetricsF metrics(Zoom::instance().figureFont());
        const QStringList names{"Sweep addition-heads4-lr1: RoPE", "Sweep addition-heads4-lr3: RoPE",
                                "Sweep addition-w32: RoPER"};
        const double width = metrics.horizontalAdvance("…heads4-lr1: RoPER") + 1;
        const QStringList elided = elidedLabels(names, metrics, width);
        QCOMPARE(elided[0], QString("…heads4-lr1: RoPE"));
        QCOMPARE(elided[1], QString("…heads4-lr3: RoPE"));
        for (const QString& name : elided)
            QVERIFY(metrics.horizontalAdvance(name) <= width);
        QCOMPARE(elidedLabels(names, metrics, 1000), names);
        // A number keeps its name and first digits, and every label keeps some text.
        QCOMPARE(commonPrefixLength({"RoPE, width 32", "RoPE, width 36"}), 6);
        QCOMPARE(commonPrefixLength({"lr 0.001", "lr 0.003"}), 0);
        QCOMPARE(commonPrefixLength({"Sweep lr1e-3", "Sweep lr1e-4"}), 6);
        QCOMPARE(commonPrefixLength({"Sweep base-x", "Sweep base-y"}), 11);
        QCOMPARE(commonPrefixLength({"a sweep: RoPE", "a sweep: "}), 2);
        QCOMPARE(commonPrefixLength({"RoPE", "RoPER"}), 0);
        QCOMPARE(commonPrefixLength({"one alone"}), 0);
        for (const QString& line : wrapped("one two three four five", metrics, 60).split('\n'))
            QVERIFY(metrics.horizontalAdvance(line) <= 60);
    }

    // WCAG 2.1, AA: 4.5 : 1 for text, 3 : 1 for edges of controls and for lines that carry meaning.
    void textAndControlsStandOut() {
        for (const bool dark : {false, true}) {
            const QPalette palette = fixedPalette(dark);
            const Theme theme = Theme::of(palette);
            const auto expect = [&](const QColor& a, const QColor& b, double least, const char* what) {
                QVERIFY2(
                    contrast(a, b) >= least,
                    qPrintable(
                        QStringLiteral("%1, %2: %3").arg(what, dark ? "dark" : "light").arg(contrast(a, b))));
            };
            const std::pair<QPalette::ColorRole, QPalette::ColorRole> texts[] = {
                {QPalette::WindowText, QPalette::Window},
                {QPalette::Text, QPalette::Base},
                {QPalette::Text, QPalette::AlternateBase},
                {QPalette::ButtonText, QPalette::Button},
                {QPalette::PlaceholderText, QPalette::Window},
                {QPalette::PlaceholderText, QPalette::Base},
                {QPalette::ToolTipText, QPalette::ToolTipBase},
                {QPalette::HighlightedText, QPalette::Highlight},
                {QPalette::Link, QPalette::Window},
                {QPalette::Link, QPalette::Base}};
            for (const auto& [text, behind] : texts)
                expect(palette.color(text), palette.color(behind), 4.5, "text");
            for (const auto role : {QPalette::Window, QPalette::Base, QPalette::Button})
                expect(LabStyle::edge(palette), palette.color(role), 3, "edge of a control");
            expect(LabStyle::accent(palette), palette.color(QPalette::Window), 3, "focus");
            expect(theme.text, theme.background, 4.5, "text of a picture");
            expect(theme.faint_text, theme.background, 4.5, "faint text of a picture");
            expect(theme.frame, theme.background, 3, "axis");
            for (const PositionMethod& method : positionMethods())
                expect(theme.readable(Theme::method(method.name)), theme.background, 4.5,
                       method.name.c_str());
            for (const PositionMethod& method : positionMethods())
                for (int number = 0; number < 8; ++number)
                    expect(theme.visible(theme.run(method.name, number)), theme.background, 3, "curve");
            for (const QColor& color : {Theme::query(), Theme::key(), Theme::value(), Theme::output()})
                expect(theme.ghost(color), theme.background, theme.dark ? 3 : 1.8, "pale arrow");
        }
    }

    /// A message in place of curves hides the axes; when curves return, so do the axes.
    void aMessageHasNoAxesBehindIt() {
        CurveChart chart("test", "step", "y", nullptr);
        chart.setEmptyText("There is nothing to draw yet.");
        QVERIFY(!chart.plot().xAxis->visible() && !chart.plot().yAxis->visible());
        CurveChart::Curve curve;
        curve.key = curve.label = "a";
        curve.x = {0, 1};
        curve.y = {0, 1};
        chart.setCurves({curve}, {});
        QVERIFY(chart.plot().xAxis->visible() && chart.plot().yAxis->visible());
        QVERIFY(!chart.plot().xAxis2->visible() && !chart.plot().yAxis2->visible());
        chart.setCurves({}, {});
        QVERIFY(!chart.plot().xAxis->visible());
    }

    // A short run next to a long one: the crosshair reads the long one up to its end.
    void theCrosshairReadsTheCurvesThatReachIt() {
        CurveChart chart("test", "step", "y", nullptr);
        chart.resize(600, 400);
        chart.setCurves({{"short", "short", Qt::red, {0, 50, 100}, {1, 2, 3}, false, false, {}},
                         {"long", "long", Qt::blue, {0, 250, 400, 600}, {4, 5, 6, 7}, false, false, {}}},
                        {});
        chart.plot().replot();
        QSignalSpy hovered(&chart, &CurveChart::hovered);
        const auto read = [&](double x) {
            QCustomPlot& plot = chart.plot();
            const QPointF at(plot.xAxis->coordToPixel(x), plot.axisRect()->rect().center().y());
            QMouseEvent move(QEvent::MouseMove, at, plot.mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
            QCoreApplication::sendEvent(&plot, &move);
            return hovered.isEmpty() ? QString() : hovered.takeLast()[0].toString();
        };
        QCOMPARE(read(590), QString("step 600    long 7"));
        QCOMPARE(read(105), QString("step 100    short 3    long 4"));
    }

    /// A minus sign replaces hyphens only in numbers.
    void aReadoutKeepsTheHyphenOfALabel() {
        BarChart chart("logits", "distance", "logit", nullptr);
        chart.resize(300, 200);
        chart.setBars({0}, {{"p-rope", "p-RoPE", Qt::black, {-0.5}}});
        QSignalSpy hovered(&chart, &FigureView::hovered);
        const QPointF at = chart.categoryRect(0).center();
        QMouseEvent move(QEvent::MouseMove, at, chart.mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
        QCoreApplication::sendEvent(&chart, &move);
        QVERIFY(!hovered.isEmpty());
        QCOMPARE(hovered.last()[0].toString(), QString("distance 0    p-RoPE −0.5"));
    }

    /// The label of a mark is inside the axes and avoids the curves.
    void aMarksLabelKeepsOffTheCurves() {
        CurveChart chart("test", "x", "y", nullptr);
        chart.resize(500, 300);
        // The curve is close to the mark, above and below, at one end and far from it at the other.
        for (const bool at_left : {true, false}) {
            CurveChart::Curve curve{"a", "a", Qt::red, {}, {}, false, false, {}};
            for (int i = 0; i <= 200; ++i) {
                const double away = at_left ? i / 200.0 : 1 - i / 200.0;
                curve.x.append(i);
                curve.y.append(5 + (i % 2 == 0 ? 1 : -1) * 5 * std::max(0.15, away));
                if (away > 0.5) curve.y.last() = 10;
            }
            chart.setCurves({curve}, {{5, "the middle", true}});
            TextBoxRecorder recorder(chart.size());
            QPainter painter(&recorder);
            painter.setFont(Zoom::instance().figureFont());
            chart.paintFigure(painter, chart.rect(), Theme::light());
            painter.end();
            bool found = false;
            for (const auto& box : recorder.boxes()) {
                if (box.text != "the middle") continue;
                found = true;
                QCOMPARE(box.bounds().center().x() > chart.width() / 2.0, at_left);
            }
            QVERIFY(found);
        }
    }

    void whatCountsHasWholeTicks() {
        QCOMPARE(wholeTicks(199, 201, 6), (std::vector<double>{199, 200, 201}));
        QCOMPARE(wholeTicks(0, 600, 6), niceTicks(0, 600, 6));
    }

    /// Coinciding curves share one line of the legend, which gives their number.
    void manyCurvesThatCoincide() {
        CurveChart chart("test", "x", "y", nullptr);
        chart.resize(500, 300);
        const auto curve = [](const QString& name, double y) {
            return CurveChart::Curve{name, name, Qt::red, {0, 1}, {y, y}, false, false, {}};
        };
        constexpr double kRounded = 1 + 6e-8;  // in single precision the same
        chart.setCurves({curve("a", 1), curve("b", kRounded), curve("c", 1), curve("d", 2), curve("e", 2)},
                        {});
        QStringList names;
        for (int i = 0; i < chart.plot().legend->itemCount(); ++i)
            names << qobject_cast<QCPPlottableLegendItem*>(chart.plot().legend->item(i))->plottable()->name();
        QCOMPARE(names, (QStringList{"a and 2 others, identical", "d", "e (same as d)"}));
    }

    void mapsMergeOnlyWhereThereIsNoRoom() {
        Eigen::MatrixXd values(8, 257);
        for (int row = 0; row < 8; ++row)
            for (int column = 0; column < 257; ++column)
                values(row, column) = (row % 2 == 0 ? 1.0 : -1.0) * (column % 2 == 0 ? 0.5 : 0.25);
        TilePyramid pyramid(values, false, -1, 1);
        const int level = pyramid.levelFor(20.0, 0.4);
        QCOMPARE(pyramid.rowsPerEntry(level), 1);
        QCOMPARE(pyramid.columnsPerEntry(level), 4);
        QCOMPARE(pyramid.rows(level), 8);
        QCOMPARE(pyramid.columns(level), 65);
        for (int row = 0; row < 8; ++row)
            QCOMPARE(pyramid.colorIndex(level, row, 3), row % 2 == 0 ? 191 : 64);
        QCOMPARE(pyramid.rowsPerEntry(pyramid.levelFor(0.4, 20.0)), 4);
        // On the screen: 2 device pixels per number, rows of either sign.
        HeatMapView view("map", nullptr);
        view.resize(300, 160);
        HeatMapView::Map map;
        map.setValues(values);
        view.setMap(map);
        ExportOptions at_once;
        at_once.scale = 1;
        const QImage image = figureImage(view, at_once, Theme::light());
        const auto colorOf = [&](int row) {
            return image.pixelColor(view.cellRect(row, 100).center().toPoint());
        };
        for (int row = 1; row < 8; ++row)
            QVERIFY2(colorOf(row) != colorOf(row - 1), qPrintable(QString::number(row)));
    }

    void keysOutsideTheWindowAreMasked() {
        const auto weights = std::make_shared<const Eigen::MatrixXd>(Eigen::MatrixXd::Constant(5, 5, 0.2));
        const HeatMapView::Map causal = attentionMap(weights, /*causal=*/true, {}, 2);
        QVERIFY(causal.has_gaps);
        QVERIFY(std::isnan((*causal.values)(3, 1)));
        QCOMPARE((*causal.values)(3, 2), 0.2);
        QVERIFY(weightAt(causal, 3, 1).endsWith("masked"));
        QVERIFY(weightAt(causal, 3, 2).endsWith("weight 0.2"));
        const HeatMapView::Map bidirectional = attentionMap(weights, /*causal=*/false, {}, 2);
        QVERIFY(std::isnan((*bidirectional.values)(1, 3)));
        HeatMapView view("map", nullptr);
        view.setMap(bidirectional);
        const std::vector<TextBox> texts = textsOf(view, {640, 400});
        QVERIFY(std::ranges::any_of(texts, [](const TextBox& box) { return box.text == "masked"; }));
        QVERIFY(!attentionMap(weights, /*causal=*/true, {}, 5).has_gaps);
    }

    /// The numbers of a map appear where they fit, and can be read on every color.
    void cellsWithRoomShowTheirNumbers() {
        Eigen::MatrixXd values(3, 4);
        values << 0.25, -1, 0, -1e-9, 0.5, 0.125, std::nan(""), 1, -0.5, 0.75, -0.25, 0.06;
        HeatMapView::Map map;
        map.has_gaps = true;
        map.setValues(std::move(values));
        HeatMapView view("map", nullptr);
        view.setMap(map);
        const auto numbersAt = [&](const QSize& size) {
            QStringList numbers;
            for (const TextBox& box : textsOf(view, size))
                if (box.text.contains('.')) numbers << box.text;
            return numbers;
        };
        QCOMPARE(numbersAt({640, 300}), (QStringList{"0.25", "−1.00", "0.00", "0.00", "0.50", "0.13", "1.00",
                                                     "−0.50", "0.75", "−0.25", "0.06"}));
        QCOMPARE(numbersAt({250, 300}), QStringList());
        QCOMPARE(numbersAt({640, 80}), QStringList());
        QCOMPARE(labelProblems(view, {640, 300}), QStringList());
        QCOMPARE(contrastProblems(view, {640, 300}), QStringList());
    }

    /// One column of values from zero is bars with values, whose lengths are in proportion.
    void aColumnOfValuesIsBars() {
        HeatMapView::Map map;
        map.scale = HeatMapView::Scale::sequential;
        map.limit = 100;
        map.setValues(Eigen::Vector4d(100, 50, 25, 0));
        map.row_name = "letters";
        map.column_name = "copies";
        map.value_name = "solved, %";
        HeatMapView view("map", nullptr);
        view.resize(600, 400);
        view.setMap(map);
        std::vector<double> ends;
        QStringList texts;
        for (const TextBox& box : textsOf(view, {600, 400})) {
            texts << box.text;
            if (ends.size() < 4 &&
                QStringList{"100", "50", "25", "0"}.value(static_cast<int>(ends.size())) == box.text)
                ends.push_back(box.bounds().left());
        }
        QVERIFY2(!texts.filter("solved, %").isEmpty() && texts.filter("copies").isEmpty(),
                 qPrintable(texts.join('|')));
        QCOMPARE(ends.size(), std::size_t(4));
        QVERIFY2(std::abs((ends[0] - ends[3]) - 2 * (ends[1] - ends[3])) < 4, qPrintable(texts.join('|')));
        for (const QSize size : {QSize(260, 200), QSize(600, 400), QSize(1400, 700)}) {
            QCOMPARE(labelProblems(view, size), QStringList());
            QCOMPARE(contrastProblems(view, size), QStringList());
        }
    }

    void mapsMayShowTheMean() {
        Eigen::MatrixXd values = Eigen::MatrixXd::Zero(300, 300);
        values(0, 0) = 1;
        values.row(7).setConstant(std::nan(""));
        TilePyramid largest(values, true, 0, 1),
            mean(values, true, 0, 1, TilePyramid::NotANumber::absent, TilePyramid::Merging::mean);
        const int level = mean.levelFor(0.5, 0.5);
        QCOMPARE(largest.colorIndex(largest.levelFor(0.5, 0.5), 0, 0), 255);
        // Of four cells, the one right of the diagonal does not count: 1/3.
        QCOMPARE(mean.colorIndex(level, 0, 0), 85);
        // Of the sixteen cells of the next level, 10 are on or left of the diagonal.
        QCOMPARE(mean.colorIndex(mean.levelFor(0.25, 0.25), 0, 0), static_cast<int>(25.5 + 0.5));
        QCOMPARE(mean.colorIndex(level, 3, 0), 0);  // row 6 alone; row 7 does not exist
    }

    /// Numbers of categories are never averaged: a color between those of two experts would be a third one's.
    void categoriesKeepTheirColors() {
        Eigen::MatrixXd values = Eigen::MatrixXd::Zero(4, 300);
        for (int column = 0; column < 300; ++column)
            values.col(column).fill(column);
        values(0, 0) = std::nan("");
        HeatMapView view("view", nullptr);
        HeatMapView::Map map;
        map.scale = HeatMapView::Scale::categorical;
        map.limit = 299;
        map.has_gaps = true;
        map.setValues(values);
        view.setMap(std::move(map));
        view.setMerging(TilePyramid::Merging::mean);  // has no effect
        TilePyramid& pyramid = *view.map().pyramid;
        QCOMPARE(pyramid.colorIndex(0, 1, 7), 7);
        QCOMPARE(pyramid.colorIndex(0, 1, 258), 2);  // of 256 colors
        QCOMPARE(pyramid.colorIndex(pyramid.levelFor(1, 0.5), 1, 3), 6);
        QCOMPARE(pyramid.colorIndex(pyramid.levelFor(0.5, 1), 0, 0), 0);  // the entry that exists
        const ColorTable colors = Theme::light().categoryColors();
        QCOMPARE(std::set<QRgb>(colors.begin(), colors.end()).size(), colors.size());
        view.showCells({0, 0, 6, 3});
        QStringList texts;
        for (const TextBox& box : textsOf(view, {600, 400}))
            texts << box.text;
        QVERIFY2(texts.contains("5") && !texts.contains("5.00"), qPrintable(texts.join('|')));
        for (const QSize size : {QSize(260, 200), QSize(600, 400)})
            QCOMPARE(contrastProblems(view, size), QStringList());
    }

    /// Each frame, though only its changed part is stored, is read by Qt as it was drawn.
    void anAnimationIsReadBackAsItWasDrawn() {
        constexpr int kFrames = 5;
        std::vector<QImage> frames;
        for (int i = 0; i < kFrames; ++i) {
            QImage& frame = frames.emplace_back(120, 80, QImage::Format_ARGB32_Premultiplied);
            frame.fill(Qt::white);
            QPainter painter(&frame);
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setPen(QPen(QColor("#0072b2"), 3));
            // The last two are equal.
            painter.drawLine(10, 10, 100, 20 * std::min(i, kFrames - 2));
        }
        QByteArray gif = gifBytes(frames, 2);
        QBuffer buffer(&gif);
        QImageReader reader(&buffer, "gif");
        QCOMPARE(reader.imageCount(), kFrames);
        QCOMPARE(reader.loopCount(), -1);  // forever
        for (const QImage& frame : frames) {
            const QImage read = reader.read().convertToFormat(QImage::Format_RGB32);
            QVERIFY2(!read.isNull(), qPrintable(reader.errorString()));
            QCOMPARE(read.size(), frame.size());
            QCOMPARE(reader.nextImageDelay(), 400);
            QCOMPARE(read.pixel(0, 0), QColor(Qt::white).rgb());
            int most = 0;
            for (int y = 0; y < frame.height(); ++y)
                for (int x = 0; x < frame.width(); ++x) {
                    const QColor a = read.pixelColor(x, y), b = frame.pixelColor(x, y);
                    most = std::max({most, std::abs(a.red() - b.red()), std::abs(a.green() - b.green()),
                                     std::abs(a.blue() - b.blue())});
                }
            QVERIFY2(most < 16, qPrintable(QString::number(most)));
        }
    }
};

ROPER_GUI_TEST(ChartsTest, "charts_test")
#include "charts_test.moc"
