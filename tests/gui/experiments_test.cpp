#include <QAbstractProxyModel>
#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QProcess>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>
#include <QTreeView>
#include <QUndoStack>
#include <set>

#include "core/compare/experiment.h"
#include "tests/support/made_runs.h"
#include "tests/support/page_test.h"
#include "ui/pages/training/differences_dialog.h"

using namespace roper;

/// Many experiments in one folder: each can be found, distinguished and acted on as a whole.
class ExperimentsTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() {
        clearSettings("experiments_test");
        for (int experiment = 0; experiment < kExperiments; ++experiment)
            makeExperiment(experiment);
    }

    void init() {
        runs_ = std::make_unique<QTemporaryDir>();
        QCOMPARE(QProcess::execute("cp", {"-a", made_.path() + "/.", runs_->path()}), 0);
        openWindow("Training", runs());
        QTRY_COMPARE(model().rowCount(), kExperiments);
    }
    void cleanup() { window_.reset(); }

    void eachExperimentIsOneRowTheNewestFirst() {
        for (int row = 0; row < kExperiments; ++row) {
            const QModelIndex index = model().index(row, 0);
            QCOMPARE(titleOf(index), nameOf(kExperiments - 1 - row));
            QVERIFY2(index.data().toString().contains(QString("\n%1 runs · ").arg(kRuns)),
                     qPrintable(index.data().toString()));
            QCOMPARE(model().rowCount(index), kRuns);
        }
        const QModelIndex first = model().index(0, 0);
        QTRY_COMPARE(model().index(0, 0, first).data().toString(), QString("RoPE, seed 0"));
        QCOMPARE(model().index(kRuns - 1, 0, first).data().toString(), QString("RoPER, seed 9"));
    }

    void theChartsHoldTheChosenExperimentAndThoseThatAreTicked() {
        page().runsPanel().select("e3-rope-s4");
        QTRY_VERIFY(page().metrics().chart(0).hasSeries("e3-roper-s9"));
        QVERIFY(!page().metrics().chart(0).hasSeries("e4-rope-s0"));
        MetricChart& lowest = page().metrics().chart(page().metrics().count() - 1);
        QTRY_COMPARE(legend(lowest), (QStringList{"RoPE", "RoPER"}));
        const QModelIndex other = model().index(kExperiments - 1 - 5, 0);
        QVERIFY(model().setData(other, Qt::Checked, Qt::CheckStateRole));
        QTRY_VERIFY(page().metrics().chart(0).hasSeries("e5-rope-s0"));
        QTRY_COMPARE(legend(lowest).size(), 4);
        QVERIFY(legend(lowest).contains(nameOf(5) + ": RoPER"));
        // Even without colors, each kind of curve has its own line style.
        QTRY_COMPARE(lineKinds(page().metrics().chart(0)).size(), std::size_t(4));
        // Selecting another run keeps the ticked one.
        page().runsPanel().select("e0-rope-s0");
        QTRY_VERIFY(page().metrics().chart(0).hasSeries("e0-roper-s9"));
        QVERIFY(!page().metrics().chart(0).hasSeries("e3-rope-s4"));
        QVERIFY(page().metrics().chart(0).hasSeries("e5-rope-s0"));
    }

    void ofMoreRunsThanAreDrawnEachKindHasAsMany() {
        page().runsPanel().select("e3-rope-s4");
        for (const int row : {0, 1})
            QVERIFY(model().setData(model().index(row, 0), Qt::Checked, Qt::CheckStateRole));
        MetricChart& chart = page().metrics().chart(page().metrics().count() - 1);
        QTRY_COMPARE(legend(chart).size(), 6);
        // Twelve experiments of twenty runs: three of them have sixty.
        int drawn = 0;
        for (const int experiment : {3, kExperiments - 1, kExperiments - 2})
            for (const char* method : {"rope", "roper"}) {
                int of_kind = 0;
                for (int seed = 0; seed < kRuns / 2; ++seed)
                    of_kind +=
                        chart.hasSeries(QString("e%1-%2-s%3").arg(experiment).arg(method).arg(seed)) ? 1 : 0;
                QCOMPARE(of_kind, 8);
                drawn += of_kind;
            }
        bool is_said = false;
        for (const QLabel* label : page().metrics().findChildren<QLabel*>())
            is_said =
                is_said || (label->isVisible() && label->text() == QString("%1 of 60 runs drawn").arg(drawn));
        QVERIFY(is_said);
        // The names fit even into a narrow chart.
        chart.resize(330, 240);
        chart.redrawNow();
        chart.plot().replot();
        QCPLegend& legend_below = *chart.plot().legend;
        for (int i = 0; i < legend_below.itemCount(); ++i) {
            auto* item = dynamic_cast<QCPPlottableLegendItem*>(legend_below.item(i));
            const QString name = item->plottable()->name();
            const double width = QFontMetricsF(item->font()).horizontalAdvance(name) +
                                 legend_below.iconSize().width() + legend_below.iconTextPadding();
            QVERIFY2(width <= item->outerRect().width() + 1, qPrintable(name));
            QVERIFY2(item->outerRect().right() <= chart.width(), qPrintable(name));
        }
        for (const QString& name : legend(chart)) {
            QVERIFY2(name.endsWith(": RoPE") || name.endsWith(": RoPER"), qPrintable(name));
        }
    }

    /// All ten in one chart: each of the twenty kinds of curves has its own letter, also in the legend below.
    void allExperimentsAreToldApartInOneChart() {
        page().runsPanel().select("e3-rope-s4");
        tree().setFocus();
        tree().selectAll();
        QTest::keyClick(&tree(), Qt::Key_Space);
        MetricChart& lowest = page().metrics().chart(page().metrics().count() - 1);
        QTRY_VERIFY(legend(lowest).size() > 10);
        lowest.plot().replot();
        QSet<QString> letters;
        for (const QString& name : legend(lowest)) {
            letters.insert(name.section(' ', 0, 0));
            QVERIFY2(name.endsWith(": RoPE") || name.endsWith(": RoPER"), qPrintable(name));
        }
        QCOMPARE(letters.size(), legend(lowest).size());
        // The list shows the letters, too, including those that do not fit into the legend.
        QSet<QString> listed;
        for (int row = 0; row < kExperiments; ++row) {
            const QString name = model().index(row, 0).data().toString();
            for (const QString& letter : name.section("  ", 0, 0).split(' '))
                listed.insert(letter);
            QVERIFY2(name.contains(nameOf(kExperiments - 1 - row)), qPrintable(name));
        }
        QCOMPARE(listed.size(), 2 * kExperiments);
        QVERIFY(listed.contains("A") && listed.contains("T") && listed.contains(letters));
        QVERIFY(lowest.plot().legend->outerRect().top() > lowest.plot().axisRect()->rect().bottom());
        // On the screen one legend serves all charts; exported figures each have it.
        MetricChart& upper = page().metrics().chart(0);
        QTRY_VERIFY(!upper.isLegendShown());
        QVERIFY(upper.hasLegend());
        // Its runs may still be loading.
        QTRY_VERIFY_WITH_TIMEOUT(upper.figureCaption().contains("A Addition"), 30000);
        QVERIFY(upper.figureCaption().contains("T Addition"));
        // Letters stay the same whichever run is selected.
        const QStringList before = legend(lowest);
        page().runsPanel().select("e7-rope-s1");
        QTest::qWait(100);
        lowest.redrawNow();
        QCOMPARE(legend(lowest), before);
        // Ctrl+Space changes the selection, as in any tree, and no ticks.
        QTest::keyClick(&tree(), Qt::Key_Space, Qt::ControlModifier);
        QCOMPARE(page().runsPanel().model().ticked().size(), qsizetype(kExperiments));
        // With all rows selected, Space removes all ticks.
        tree().selectAll();
        QTest::keyClick(&tree(), Qt::Key_Space);
        QTRY_COMPARE(legend(lowest), (QStringList{"RoPE", "RoPER"}));
    }

    void theBestStandFirstAtTheFirstClick() {
        QHeaderView* header = tree().header();
        const auto click = [&](int column) {
            const QPoint at(header->sectionViewportPosition(column) + 5, header->height() / 2);
            QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, at);
        };
        click(RunsModel::best_evaluation_column);
        QCOMPARE(header->sortIndicatorOrder(), Qt::DescendingOrder);
        const auto best = [&](int row) {
            return model()
                .index(row, RunsModel::best_evaluation_column)
                .data()
                .toString()
                .section('/', 0, 0)
                .toInt();
        };
        QVERIFY(best(0) > 0);
        for (int row = 1; row < model().rowCount(); ++row)
            QVERIFY(best(row) <= best(row - 1));
        click(RunsModel::loss_column);
        QCOMPARE(header->sortIndicatorOrder(), Qt::AscendingOrder);
        tree().sortByColumn(RunsModel::name_column, Qt::DescendingOrder);
    }

    /// Scrolling the settings changes none of them, whichever control is under the pointer.
    void theWheelScrollsTheSettingsAndChangesNone() {
        auto* tabs = page().findChild<QTabWidget*>();
        for (auto* each : page().findChildren<QTabWidget*>())
            if (each->tabText(1) == "All settings") tabs = each;
        tabs->setCurrentIndex(1);
        QScrollArea* area = nullptr;
        for (auto* each : page().form().findChildren<QScrollArea*>())
            area = each;
        if (area == nullptr)
            for (QWidget* parent = page().form().parentWidget(); area == nullptr;
                 parent = parent->parentWidget())
                area = qobject_cast<QScrollArea*>(parent);
        QVERIFY(area->verticalScrollBar()->maximum() > 0);
        const std::string before = toToml(page().form().specification());
        int boxes = 0;
        for (auto* box : page().form().findChildren<QComboBox*>()) {
            if (!box->isVisible()) continue;
            ++boxes;
            area->ensureWidgetVisible(box);
            const int scrolled = area->verticalScrollBar()->value();
            const int turn = scrolled > 0 ? 120 : -120;
            const QPoint at = box->rect().center();
            QWheelEvent wheel(at, box->mapToGlobal(at), {}, {0, turn}, Qt::NoButton, Qt::NoModifier,
                              Qt::NoScrollPhase, false);
            QApplication::sendEvent(box, &wheel);
            QVERIFY2(area->verticalScrollBar()->value() != scrolled, qPrintable(box->objectName()));
        }
        QVERIFY(boxes > 3);
        QCOMPARE(toToml(page().form().specification()), before);
    }

    /// Only the experiments selected in the list are compared.
    void severalExperimentsAreCompared() {
        emit page().runsPanel().compareRunsRequested({"e2-rope-s0", "e2-roper-s0", "e5-rope-s1"});
        QCOMPARE(window_->currentPage(), static_cast<Page*>(&window_->comparePage()));
        QStringList shown;
        for (const ComparedGroup& group : window_->comparePage().state().groups())
            if (group.shown) shown << QString::fromStdString(group.group.label);
        QCOMPARE(shown.size(), 3);
        QVERIFY(window_->comparePage().state().comparison().has_value());
        const std::string first = window_->comparePage().state().comparison()->label_a;
        QCOMPARE(QString::fromStdString(first), shown.front());
    }

    void whoGoesToInspectWithARunChosenSeesThatRun() {
        page().runsPanel().select("e4-roper-s2");
        for (auto* button : window_->findChildren<QToolButton*>())
            if (button->accessibleName() == "Inspect") button->click();
        QCOMPARE(window_->inspectPage().state().model(), QString("e4-roper-s2"));
    }

    void oneExperimentIsDeletedAndComesBack() {
        tree().setCurrentIndex(model().index(0, 0));
        QCOMPARE(page().runsPanel().allSelected().size(), std::size_t(kRuns));
        tree().setFocus();
        QTest::keyClick(&tree(), Qt::Key_Delete);
        QCOMPARE(window_->runs().runs().size(), std::size_t((kExperiments - 1) * kRuns));
        QCOMPARE(model().rowCount(), kExperiments - 1);
        window_->selection().history().undo();
        QCOMPARE(model().rowCount(), kExperiments);
        QCOMPARE(window_->runs().find("e9-rope-s0")->labels().experiment, nameOf(9).toStdString());
    }

    void anExperimentGetsAnotherName() {
        tree().setCurrentIndex(model().index(2, 0));
        page().runsPanel().renameExperiment(page().runsPanel().allSelected(), "The good one");
        QTRY_COMPARE(window_->runs().find("e7-rope-s0")->labels().experiment, std::string("The good one"));
        QCOMPARE(model().rowCount(), kExperiments);
        bool found = false;
        for (int row = 0; row < model().rowCount(); ++row)
            found = found || (titleOf(model().index(row, 0)) == "The good one" &&
                              model().rowCount(model().index(row, 0)) == kRuns);
        QVERIFY(found);
    }

    void anExperimentIsFoundByItsNameAndItsRunsTags() {
        auto* filter = control<QLineEdit>("Filter runs");
        page().runsPanel().select("e3-rope-s4");
        filter->setText("width 24");
        QCOMPARE(model().rowCount(), 1);
        QCOMPARE(titleOf(model().index(0, 0)), nameOf(2));
        // The selected run is filtered out, so the charts show runs that are listed.
        QTRY_VERIFY(page().metrics().chart(0).hasSeries("e2-rope-s0"));
        // The samples are those of a listed run.
        filter->setText("width 24 seed>3");
        const auto samples_of = [&](const QString& run) {
            const auto labels = page().findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
                return label->text().startsWith("Samples of " + window_->runs().titleOf(run));
            });
        };
        QTRY_VERIFY(samples_of("e2-rope-s4"));
        filter->setText("nothing is called so");
        const auto labels = page().findChildren<QLabel*>();
        QVERIFY(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
            return label->isVisible() && label->text() == "No run matches.";
        }));
        filter->setText("width 24");
        writeLabels(RunFolder(runs() / "e6-rope-s1"), {nameOf(6).toStdString(), {"odd"}, "looked at again"});
        filter->setText("tag=odd again");
        QTRY_COMPARE_WITH_TIMEOUT(model().rowCount(), 1, 10000);
        QCOMPARE(model().rowCount(model().index(0, 0)), 1);
    }

    void whatDiffersBetweenRunsOfTwoExperimentsIsShown() {
        page().runsPanel().select("e3-rope-s4");
        const QModelIndex first = indexOf("e3-rope-s4"), second = indexOf("e5-roper-s6");
        tree().setCurrentIndex(first);
        tree().selectionModel()->select(second, QItemSelectionModel::Select | QItemSelectionModel::Rows);
        chooseInMenu(*tree().viewport(), {"Differences…"});
        auto* dialog = page().findChild<DifferencesDialog*>();
        QVERIFY(dialog != nullptr);
        std::map<QString, QStringList> rows;
        const QTableWidget& table = dialog->table();
        for (int row = 0; row < table.rowCount(); ++row)
            for (int column = 1; column < table.columnCount(); ++column)
                if (table.item(row, column) != nullptr)
                    rows[table.item(row, 0)->text()] << table.item(row, column)->text();
        QCOMPARE(rows.at("model.position"), (QStringList{"rope", "roper"}));
        QCOMPARE(rows.at("model.width (features)"), (QStringList{"32", "48"}));
        QCOMPARE(rows.at("training.data_seed"), (QStringList{"4", "6"}));
        QCOMPARE(rows.count("training.batch (sequences)"), std::size_t(0));
        QCOMPARE(rows.at("problems solved at the end"), (QStringList{"53 of 128", "55 of 128"}));
        for (QPushButton* button : dialog->findChildren<QPushButton*>())
            if (button->text() == "Copy as Markdown") button->click();
        QVERIFY2(QApplication::clipboard()->text().contains("| model.width (features) | 32 | 48 |"),
                 qPrintable(QApplication::clipboard()->text()));
    }

    /// One column for each of two experiments, with all their seeds and the mean of their results.
    void whatDiffersBetweenExperimentsHasAColumnForEachGroup() {
        page().runsPanel().select("e3-rope-s4");
        window_->runs().readAll();
        tree().setCurrentIndex(model().index(kExperiments - 1 - 3, 0));
        tree().selectionModel()->select(model().index(kExperiments - 1 - 5, 0),
                                        QItemSelectionModel::Select | QItemSelectionModel::Rows);
        chooseInMenu(*tree().viewport(), {"Differences…"});
        auto* dialog = page().findChild<DifferencesDialog*>();
        QVERIFY(dialog != nullptr);
        const QTableWidget& table = dialog->table();
        QCOMPARE(table.columnCount(), 1 + 4);  // two experiments of two methods
        for (int column = 1; column < table.columnCount(); ++column)
            QVERIFY2(table.horizontalHeaderItem(column)->text().endsWith(", 10 runs"),
                     qPrintable(table.horizontalHeaderItem(column)->text()));
        std::map<QString, QString> second_column;
        for (int row = 0; row < table.rowCount(); ++row)
            if (table.item(row, 1) != nullptr)
                second_column[table.item(row, 0)->text()] = table.item(row, 1)->text();
        QCOMPARE(second_column.count("model.width (features)"), std::size_t(1));
        QCOMPARE(second_column.count("training.data_seed"), std::size_t(0));  // the same in all
        QCOMPARE(second_column["problems solved at the end"], QString("53 of 128"));
        const QString loss = second_column["training loss, mean of the last tenth (nats)"];
        QVERIFY2(QRegularExpression(R"(^[\d.]+ \([\d.]+ to [\d.]+\)$)").match(loss).hasMatch(),
                 qPrintable(loss));
    }

    /// If several experiments are selected but not ticked, a hint says how to show them together.
    void selectedExperimentsSayHowTheyComeIntoTheCharts() {
        auto* detail = control<QLabel>("About the run");
        tree().setCurrentIndex(model().index(1, 0));
        QVERIFY(!detail->text().contains("space bar"));
        tree().selectionModel()->select(model().index(4, 0),
                                        QItemSelectionModel::Select | QItemSelectionModel::Rows);
        QVERIFY2(
            detail->isVisible() && detail->text().contains("2 experiments are selected: press the space bar"),
            qPrintable(detail->text()));
        tree().setFocus();
        QTest::keyClick(&tree(), Qt::Key_Space);
        QVERIFY(!detail->text().contains("space bar"));
        chooseInMenu(*tree().viewport(), {"Keep in the charts"});
        QVERIFY(page().runsPanel().model().ticked().isEmpty());
        chooseInMenu(*tree().viewport(), {"Compare 2 experiments"});
        QCOMPARE(window_->currentPage(), static_cast<Page*>(&window_->comparePage()));
    }

    /// The selected run and the name of its experiment are visible, also when the window opens.
    void aChosenRunIsSeenWithItsExperiment() {
        const auto isRowVisible = [this](const QModelIndex& index) {
            return tree().viewport()->rect().contains(tree().visualRect(index).center());
        };
        for (const QString experiment : {"e1", "e9", "e0"}) {
            const auto& proxy = dynamic_cast<const QAbstractProxyModel&>(model());
            const QModelIndex fifth = model().index(4, 0, indexOf(experiment + "-rope-s0").parent());
            const QString run = page().runsPanel().model().run(proxy.mapToSource(fifth))->name();
            tree().scrollToTop();
            page().runsPanel().select(run);
            QVERIFY2(isRowVisible(tree().currentIndex()) && isRowVisible(tree().currentIndex().parent()),
                     qPrintable(run));
        }
        window_->close();
        openWindow("Training", runs());
        QTRY_VERIFY(isRowVisible(tree().currentIndex()) && isRowVisible(tree().currentIndex().parent()));
        QCOMPARE(page().runsPanel().selected()->name().left(2), QString("e0"));
        // They remain visible when rows are sorted again.
        tree().sortByColumn(RunsModel::name_column, Qt::AscendingOrder);
        QVERIFY(isRowVisible(tree().currentIndex()));
        tree().sortByColumn(RunsModel::name_column, Qt::DescendingOrder);
        QVERIFY(isRowVisible(tree().currentIndex()));
        // Also in a lower window.
        page().runsPanel().select("e4-roper-s9");
        QVERIFY(isRowVisible(tree().currentIndex()));
        const int before = tree().viewport()->height();
        window_->resize(1000, 640);
        QTRY_VERIFY(tree().viewport()->height() < before && isRowVisible(tree().currentIndex()));
        // After scrolling elsewhere and returning to the page, the scroll position is unchanged.
        tree().scrollToTop();
        QVERIFY(!isRowVisible(tree().currentIndex()));
        window_->showPage("Compare");
        window_->showPage("Training");
        QTest::qWait(50);
        QCOMPARE(tree().verticalScrollBar()->value(), 0);
    }

    void twinsStartedTogetherAreOneExperiment() {
        page().form().setSpecification(tinyRun(loadPreset("addition-small").specification, 5));
        startWith(page().twinsButton());
        QCOMPARE(model().rowCount(), kExperiments + 1);
        const QModelIndex newest = model().index(0, 0);
        QVERIFY2(newest.data().toString().startsWith("Addition, small, "),
                 qPrintable(newest.data().toString()));
        QCOMPARE(model().rowCount(newest), 2);
        // Next to experiments of other presets, it has its full name in two lines.
        const QString name =
            page().runsPanel().model().experimentNameOf(page().runsPanel().selected()->name());
        QTRY_COMPARE(newest.data().toString(), name.left(name.size() - 18) + "\n2 runs · " + name.right(11));
        for (const RunWatcher* run : page().runsPanel().model().runsOf(
                 page().runsPanel().model().indexOf(page().runsPanel().selected()->name()).parent()))
            QTRY_COMPARE_WITH_TIMEOUT(run->state(), RunState::finished, 60000);
        // More seeds with the same settings join it.
        page().seedCount()->setValue(2);
        startWith(page().queueButton());
        QTRY_COMPARE(model().rowCount(newest), 4);
        for (const RunWatcher* run : window_->runs().runs())
            QTRY_COMPARE_WITH_TIMEOUT(run->state(), RunState::finished, 60000);
    }

    void whatWasChosenIsChosenAfterARestart() {
        page().runsPanel().select("e1-roper-s3");
        page().seedCount()->setValue(7);
        QVERIFY(page().presets().choose("copy-quick"));
        window_->close();
        window_.reset();
        openWindow("Training", runs());
        QCOMPARE(page().runsPanel().selected()->name(), QString("e1-roper-s3"));
        QCOMPARE(page().seedCount()->value(), 7);
        QCOMPARE(page().presets().chosenName(), QString("copy-quick"));
    }

  private:
    /// The first of the two lines.
    static QString titleOf(const QModelIndex& experiment) {
        return experiment.data().toString().section('\n', 0, 0);
    }

    static constexpr int kExperiments = 10, kSeeds = 10, kRuns = 2 * kSeeds;

    std::filesystem::path runs() const { return runs_->path().toStdString(); }
    TrainingPage& page() { return window_->trainingPage(); }
    QTreeView& tree() { return page().runsPanel().tree(); }
    QAbstractItemModel& model() { return *tree().model(); }

    QModelIndex indexOf(const QString& run) {
        auto& proxy = dynamic_cast<QAbstractProxyModel&>(model());
        return proxy.mapFromSource(page().runsPanel().model().indexOf(run));
    }

    static QString nameOf(int experiment) {
        return QString("Addition, width %1, 2026-01-0%2").arg(8 * (experiment + 1)).arg(experiment);
    }

    void makeExperiment(int number) {
        for (int seed = 0; seed < kSeeds; ++seed)
            for (const char* method : {"rope", "roper"}) {
                const std::string name =
                    "e" + std::to_string(number) + "-" + method + "-s" + std::to_string(seed);
                const RunFolder run =
                    makeFinishedRun(made_.path().toStdString(), {name, method, seed, 50 + number, 60},
                                    [&](Specification& s) { s.model.width = 8 * (number + 1); });
                writeLabels(run, {nameOf(number).toStdString(), {}, {}});
                // Sets times as if each had been created an hour after the previous one.
                std::filesystem::last_write_time(
                    run.specificationPath().path(),
                    std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 - number));
            }
    }

    static QStringList legend(MetricChart& chart) {
        chart.redrawNow();
        QStringList labels;
        for (int i = 0; i < chart.plot().legend->itemCount(); ++i)
            if (auto* item = qobject_cast<QCPPlottableLegendItem*>(chart.plot().legend->item(i)))
                labels << item->plottable()->name();
        return labels;
    }

    /// The distinct pairs of line style and marker of the curves.
    static std::set<std::pair<int, int>> lineKinds(MetricChart& chart) {
        std::set<std::pair<int, int>> kinds;
        for (int i = 1; i < chart.plot().graphCount(); i += 3) {
            const QCPGraph* curve = chart.plot().graph(i);
            kinds.insert({int(curve->pen().style()), int(curve->scatterStyle().shape())});
        }
        return kinds;
    }

    QTemporaryDir made_;                   ///< initial state of all experiments
    std::unique_ptr<QTemporaryDir> runs_;  ///< a copy for each test
};

ROPER_GUI_TEST(ExperimentsTest, "experiments_test")
#include "experiments_test.moc"
