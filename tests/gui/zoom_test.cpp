#include <QHeaderView>
#include <QLabel>
#include <QTabBar>
#include <QTableView>
#include <QTest>
#include <QToolBar>
#include <QToolButton>

#include "tests/support/label_problems.h"
#include "tests/support/page_test.h"
#include "ui/charts/figure_export.h"
#include "ui/theme/appearance.h"

using namespace roper;

/// Zoom of the whole window, and reduced motion.
class ZoomTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() { clearSettings("zoom_test"); }
    void init() {
        QSettings().clear();
        openWindow("Rotation");
    }
    void cleanup() {
        window_.reset();
        Zoom::instance().set(1);
    }

    void keysZoomTheWholeWindow() {
        const double text = QApplication::font().pointSizeF();
        const double title = titleOf("Rotation")->font().pointSizeF();
        const int panel = panelOf(window_->rotationPage())->width();
        press(Qt::Key_Plus);
        press(Qt::Key_Equal);  // on keyboards where + requires Shift
        const double zoom = Zoom::instance().factor();
        QCOMPARE(zoom, 1.25);
        QCOMPARE(QApplication::font().pointSizeF(), text * zoom);
        QCOMPARE(titleOf("Rotation")->font().pointSizeF(), title * zoom);
        QCOMPARE(panelOf(window_->rotationPage())->width(), qRound(panel * zoom));
        QCOMPARE(QSettings().value("zoom").toDouble(), zoom);
        press(Qt::Key_Minus);
        QCOMPARE(Zoom::instance().factor(), 1.1);
        press(Qt::Key_0);
        QCOMPARE(QApplication::font().pointSizeF(), text);
        QCOMPARE(titleOf("Rotation")->font().pointSizeF(), title);
        QCOMPARE(panelOf(window_->rotationPage())->width(), panel);
        for (int i = 0; i < 20; ++i)
            Zoom::instance().step(1);
        QCOMPARE(Zoom::instance().factor(), Zoom::kMaxFactor);
        for (int i = 0; i < 20; ++i)
            Zoom::instance().step(-1);
        QCOMPARE(Zoom::instance().factor(), Zoom::kMinFactor);
    }

    void theNextStartHasIt() {
        QSettings().setValue("zoom", 1.5);
        Zoom::instance().restore();
        QCOMPARE(Zoom::instance().factor(), 1.5);
        for (const char* odd : {"nan", "-3", "1e300", "much"}) {
            QSettings().setValue("zoom", odd);
            Zoom::instance().restore();
            QVERIFY(Zoom::instance().factor() >= Zoom::kMinFactor &&
                    Zoom::instance().factor() <= Zoom::kMaxFactor);
        }
    }

    /// Figures are drawn larger, and pointing still finds the right element.
    void thePointerFindsWhatItIsOn() {
        window_->showPage("Spectrum");
        HeatMapView& map = window_->spectrumPage().cosineMapView();
        for (const double zoom : {0.7, 1.0, 1.75}) {
            Zoom::instance().set(zoom);
            QCoreApplication::processEvents();
            QSignalSpy hovered(&map, &HeatMapView::cellHovered);
            const QPointF at = map.cellRect(3, 120).center() * zoom;
            QVERIFY(QRectF(map.rect()).contains(at));
            readoutAt(&map, at.toPoint());
            QCOMPARE(hovered.size(), 1);
            QCOMPARE(hovered[0][0].toInt(), 3);
            QVERIFY(std::abs(hovered[0][1].toInt() - 120) <= 1);  // a cell is about a pixel wide
        }
    }

    void noControlIsCutOff_data() {
        QTest::addColumn<double>("zoom");
        for (const double zoom : {0.7, 1.0, 1.5, 2.5})
            QTest::newRow(qPrintable(QString::number(zoom))) << zoom;
    }

    /// The panels have no horizontal scroll bar, so controls that do not fit could not be reached.
    void noControlIsCutOff() {
        QFETCH(double, zoom);
        Zoom::instance().set(zoom);
        for (const QSize& size : {QSize(1000, 640), QSize(1400, 900)}) {
            window_->resize(size);
            for (Page* page :
                 std::initializer_list<Page*>{&window_->rotationPage(), &window_->spectrumPage(),
                                              &window_->attentionPage(), &window_->mixingPage()}) {
                window_->showPage(page);
                QCoreApplication::processEvents();
                const SetupPanel* panel = panelOf(*page);
                QTRY_VERIFY2(panel->widget()->width() <= panel->viewport()->width(),
                             qPrintable(QStringLiteral("%1: %2 in %3")
                                            .arg(page->name())
                                            .arg(panel->widget()->width())
                                            .arg(panel->viewport()->width())));
            }
        }
    }

    /// A tool bar hides buttons that do not fit, but the sidebar is the only way to change pages by pointer.
    void everyPageHasItsButton() {
        auto* sidebar = window_->findChild<QToolBar*>("sidebar");
        for (const double zoom : {1.0, 1.75, 2.5}) {
            Zoom::instance().set(zoom);
            for (const QSize& size : {QSize(800, 520), QSize(1000, 640), QSize(1360, 860)}) {
                window_->resize(size);
                QTRY_COMPARE(window_->size(), size);
                for (const Page* page : window_->pages()) {
                    QToolButton* button = nullptr;
                    for (auto* each : sidebar->findChildren<QToolButton*>())
                        if (each->accessibleName() == page->name()) button = each;
                    QVERIFY(button != nullptr);
                    QTRY_VERIFY2(button->isVisible() && sidebar->rect().contains(button->geometry()),
                                 qPrintable(QStringLiteral("%1 at zoom %2, %3 × %4: %5 to %6 of %7")
                                                .arg(page->name())
                                                .arg(zoom)
                                                .arg(size.width())
                                                .arg(size.height())
                                                .arg(button->y())
                                                .arg(button->geometry().bottom())
                                                .arg(sidebar->height())));
                }
            }
        }
    }

    /// In the smallest window, pages scroll; no control lies over another.
    void noControlLiesOverAnother() {
        window_->resize(window_->minimumSize());
        for (Page* page : window_->pages()) {
            window_->showPage(page);
            QCoreApplication::processEvents();
            QTest::qWait(50);
            std::vector<std::pair<const QWidget*, QRect>> controls;
            for (const QWidget* widget : page->findChildren<QWidget*>()) {
                if (!widget->isVisible() || widget->visibleRegion().isEmpty()) continue;
                if (qobject_cast<const QTabBar*>(widget->parentWidget()) != nullptr) continue;  // its arrows
                const bool is_control =
                    qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QComboBox*>(widget) ||
                    qobject_cast<const QTabBar*>(widget) || qobject_cast<const QAbstractItemView*>(widget) ||
                    qobject_cast<const QAbstractSpinBox*>(widget);
                if (!is_control) continue;
                const QRect seen = widget->visibleRegion().boundingRect();
                controls.emplace_back(widget, QRect(widget->mapTo(page, seen.topLeft()), seen.size()));
            }
            for (const auto& [a, a_place] : controls)
                for (const auto& [b, b_place] : controls) {
                    if (a >= b || a->isAncestorOf(b) || b->isAncestorOf(a)) continue;
                    QVERIFY2(!a_place.intersects(b_place),
                             qPrintable(QStringLiteral("%1: %2 “%3” lies over %4 “%5”")
                                            .arg(page->name(), a->metaObject()->className(), nameOf(*a),
                                                 b->metaObject()->className(), nameOf(*b))));
                }
        }
    }

    /// A file exported for a given size on paper does not depend on the zoom.
    void exportsStayAsTheyAre() {
        ExportOptions column;
        column.width_mm = 84;
        for (Page* page : std::initializer_list<Page*>{&window_->rotationPage(), &window_->spectrumPage(),
                                                       &window_->attentionPage(), &window_->mixingPage()}) {
            window_->showPage(page);
            page->refreshNow();
            for (const Figure* figure : page->figures()) {
                Zoom::instance().set(1);
                QCoreApplication::processEvents();
                const QStringList before = textsOf(*figure, column);
                Zoom::instance().set(1.75);
                QCoreApplication::processEvents();
                const QStringList larger = textsOf(*figure, column);
                QVERIFY(!before.isEmpty());
                // The available area in the window has another shape, but the file is the same.
                QCOMPARE(larger.first(), before.first());
                QVERIFY2(sizesOf(larger) == sizesOf(before), qPrintable(figure->figureName()));
            }
        }
    }

    void rowsOfTablesHoldTheirText() {
        Zoom::instance().set(2.5);
        int tables = 0;
        for (Page* page : window_->pages()) {
            for (const QTableView* table : page->findChildren<QTableView*>()) {
                ++tables;
                QVERIFY2(table->verticalHeader()->defaultSectionSize() >= table->fontMetrics().height(),
                         qPrintable(table->accessibleName()));
            }
        }
        QVERIFY(tables >= 4);
    }

    /// With reduced motion, a slow animation still advances, and one that is already playing continues as it
    /// began.
    void slowMotionArrives() {
        auto& page = window_->rotationPage();
        control<QDoubleSpinBox>("Speed")->setValue(0.5);
        QPushButton* play = playOf(page);
        setMotionReduced(true);
        play->click();
        QTRY_VERIFY_WITH_TIMEOUT(setup().position >= 4, 5000);  // from 3
        setMotionReduced(false);
        play->click();
        const double before = setup().position;
        play->click();
        setMotionReduced(true);
        QTRY_VERIFY_WITH_TIMEOUT(setup().position > before, 2000);
        QVERIFY(setup().position != std::round(setup().position));
        play->click();
        setMotionReduced(false);
    }

    /// Reduced motion: integer positions, few per second.
    void motionMovesInSteps() {
        setMotionReduced(true);
        QPushButton* play = playOf(window_->rotationPage());
        QSignalSpy moved(&window_->selection(), &Selection::changed);
        play->click();
        QTest::qWait(1900);
        play->click();
        QVERIFY2(moved.size() >= 1 && moved.size() <= 3, qPrintable(QString::number(moved.size())));
        QCOMPARE(setup().position, std::round(setup().position));
        QVERIFY(setup().position > 0);
        setMotionReduced(false);
        moved.clear();
        play->click();
        QTest::qWait(1000);
        play->click();
        QVERIFY2(moved.size() >= 8, qPrintable(QString::number(moved.size())));
    }

  private:
    void press(int key) { QTest::keyClick(window_.get(), static_cast<Qt::Key>(key), Qt::ControlModifier); }

    QLabel* titleOf(const QString& page) const {
        for (QLabel* label : window_->findChildren<QLabel*>())
            if (label->text() == page) return label;
        qFatal("no title");
    }

    static QString nameOf(const QWidget& widget) {
        const auto* button = qobject_cast<const QAbstractButton*>(&widget);
        return widget.accessibleName().isEmpty() && button != nullptr ? button->text()
                                                                      : widget.accessibleName();
    }

    /// The width of the file, and the size of each text in it.
    static QStringList textsOf(const Figure& figure, const ExportOptions& options) {
        QStringList texts;
        QString font;
        QXmlStreamReader reader(figureSvg(figure, options, Theme::light()));
        while (!reader.atEnd()) {
            if (reader.readNext() != QXmlStreamReader::StartElement) continue;
            const auto attributes = reader.attributes();
            if (reader.name() == QLatin1String("svg")) texts << attributes.value("width").toString();
            if (attributes.hasAttribute("font-size")) font = attributes.value("font-size").toString();
            if (reader.name() == QLatin1String("text")) texts << font;
        }
        return texts;
    }

    static QPushButton* playOf(const QWidget& page) {
        for (QPushButton* button : page.findChildren<QPushButton*>())
            if (button->text() == "Play") return button;
        qFatal("no button plays");
    }

    static QSet<QString> sizesOf(const QStringList& texts) { return {texts.begin(), texts.end()}; }

    static SetupPanel* panelOf(Page& page) { return page.findChild<SetupPanel*>(); }
};

ROPER_GUI_TEST(ZoomTest, "zoom_test")
#include "zoom_test.moc"
