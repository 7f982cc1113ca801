#include <sys/stat.h>

#include <QClipboard>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QThreadPool>
#include <fstream>

#include "core/base/machine_load.h"
#include "core/runs/tensorboard_events.h"
#include "tests/support/label_problems.h"
#include "tests/support/made_runs.h"
#include "tests/support/page_test.h"
#include "ui/controls/narrow_controls.h"
#include "ui/pages/compare/import_dialog.h"

using namespace roper;

/// The Compare page with runs of known outcomes.
class ComparePageTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() {
        clearSettings("compare_page_test");
        const std::int64_t rope[] = {98, 101, 120, 87, 93}, roper[] = {110, 104, 119, 112, 99};
        for (std::int64_t seed = 0; seed < 5; ++seed) {
            const std::string number = std::to_string(seed);
            makeFinishedRun(runs(), {"rope-" + number, "rope", seed, rope[seed]});
            makeFinishedRun(runs(), {"roper-" + number, "roper", seed, roper[seed]});
        }
        openWindow("Compare");
        window_->runs().readAll();
        page().state().refresh();
    }

    void theSentenceSaysWhatThePairsAllow() {
        const auto& c = page().state().comparison();
        QVERIFY(c && c->test);
        QCOMPARE(c->differences(), (std::vector<double>{12, 3, -1, 25, 6}));
        // Result of scipy.stats.ttest_rel for these numbers.
        QVERIFY(std::abs(c->test->t - 1.9877674693472376) < 1e-9);
        QVERIFY(page().conclusion().text().contains("RoPER solves 9 more problems than RoPE"));
        QVERIFY(page().conclusion().text().contains("The interval includes 0"));
        QCOMPARE(page().headline().text(), QString("RoPER +9 of 128 problems (−3.57 to 21.57), 5 pairs"));
        buttonOf(page(), "Copy as a sentence")->click();
        const QString copied = QApplication::clipboard()->text();
        QVERIFY2(copied.startsWith(
                     "Over 5 pairs of runs with equal seeds, RoPER solves 9 more problems than RoPE"),
                 qPrintable(copied));
    }

    void theExportedPairsAreThoseOfTheSentence() {
        page().showTab(ComparePage::Tab::seed_by_seed);
        const QString csv = page().figures().front()->figureCsv();
        QVERIFY(csv.startsWith("data_seed,model_seed,run_a,a,run_b,b,difference\n"));
        QVERIFY(csv.contains("3,3,rope-3,87,roper-3,112,25\n"));
        QCOMPARE(page().figures().front()->figureCaption(), page().conclusion().text());
    }

    void everyControlChangesWhatItSays() {
        page().showTab(ComparePage::Tab::curves);
        const auto pick = [&](const char* name, int index) {
            auto* box = control<QComboBox>(name);
            box->setCurrentIndex(index);
        };
        const auto curves = [&] {
            QStringList keys;
            for (const auto& curve : page().curves().curves())
                keys << curve.key;
            return keys;
        };
        QCOMPARE(curves(), (QStringList{"RoPE", "RoPER"}));
        QVERIFY(std::abs(page().curves().curves()[0].y.last() - 100 * 99.8 / 128) < 1e-9);
        QVERIFY(std::abs(page().curves().curves()[0].high.last() - 100 * 120.0 / 128) < 1e-9);
        pick("Meaning of the band", 1);
        QVERIFY(page().curves().curves()[0].high.last() < 100 * 110.0 / 128);
        pick("Quantity on the x axis", 1);
        QVERIFY(std::abs(page().curves().curves()[0].x.last() - 10) < 1e-9);
        pick("Quantity of the curves", 0);
        QVERIFY(page().curves().curves()[0].x.size() > 50);
        QVERIFY(page().curves().curves()[0].x.first() < 0.1 * page().curves().curves()[0].x.last());
        check("final half");
        QVERIFY(page().curves().curves()[0].x.first() >= 0.5 * page().curves().curves()[0].x.last());
        check("each run");
        QCOMPARE(curves().size(), 12);
        check("drop each group's worst run");
        QCOMPARE(page().state().groups()[0].values.size(), std::size_t(4));
        QCOMPARE(curves().size(), 10);
        for (const char* box : {"final half", "each run", "drop each group's worst run"})
            check(box);
        pick("Measure to compare", 5);
        QCOMPARE(page().state().question().measure, Measure::steps_until);
        auto* share = control<QSpinBox>("Share of problems to reach");
        QVERIFY(share->isVisible());
        share->setValue(80);
        QVERIFY(page().conclusion().text().contains(
            "The target was never reached by 4 runs with RoPE and 1 run with RoPER"));
        page().showTab(ComparePage::Tab::run_by_run);
        const QString csv = page().figures().front()->figureCsv();
        QCOMPARE(csv.count(QRegularExpression("RoPE,rope-\\d,not reached\n")), 4);
        page().showTab(ComparePage::Tab::curves);
        pick("Measure to compare", 0);
        pick("First group of the pair", 1);
        // A group is never compared with itself.
        QCOMPARE(page().state().comparison()->label_b, std::string("RoPE"));
        pick("Second group of the pair", 0);
        QCOMPARE(page().state().comparison()->label_a, std::string("RoPER"));
        QVERIFY(page().conclusion().text().contains("RoPE solves 9 fewer problems than RoPER"));
    }

    void theFilterChoosesRunsAndSaysWhatItCannotRead() {
        auto* filter = control<QLineEdit>("Run filter");
        filter->setText("seed<2");
        QCOMPARE(page().state().groups()[0].group.runs.size(), std::size_t(2));
        filter->setText("sede<2");
        QVERIFY(page().state().filterProblem().contains("did you mean seed"));
        QCOMPARE(page().state().groups()[0].group.runs.size(), std::size_t(2));
        filter->clear();
        QCOMPARE(page().state().groups()[0].group.runs.size(), std::size_t(5));
    }

    void anUntickedGroupIsLeftOutOfThePictures() {
        auto* groups = control<QTreeWidget>("Groups of runs");
        groups->topLevelItem(0)->setCheckState(0, Qt::Unchecked);
        QCOMPARE(page().curves().curves().size(), std::size_t(1));
        groups->topLevelItem(0)->setCheckState(0, Qt::Checked);
        QCOMPARE(page().curves().curves().size(), std::size_t(2));
        // They can be distinguished in print without colors.
        QVERIFY(page().curves().plot().graph(0)->pen().style() !=
                page().curves().plot().graph(1)->pen().style());
    }

    // Regression: the readout was a single line that extended beyond the window.
    void theReadoutFitsTheWindow() {
        window_->resize(1000, 640);
        page().showTab(ComparePage::Tab::curves);
        QTest::qWait(50);
        auto* readout = page().findChild<QLabel*>(QStringLiteral("readout"));
        QVERIFY(readout != nullptr);
        QString longest;
        for (int i = 0; i < 15; ++i)
            longest += QStringLiteral("problems solved %1, ").arg(i);
        emit page().curves().hovered(longest);
        QVERIFY(readout->text().contains(QStringLiteral("solved 14")));
        QVERIFY(readout->width() <= window_->width());
        QVERIFY(readout->height() >= readout->heightForWidth(readout->width()));
        // Its height does not change, so that figures do not move under the pointer.
        const int height = readout->height();
        emit page().curves().hovered(QStringLiteral("short"));
        QTest::qWait(50);
        QCOMPARE(readout->height(), height);
    }

    void theBoardShowsTheSourceAndQueuesWhatIsMissing() {
        page().showTab(ComparePage::Tab::board);
        QCOMPARE(page().board().rows().size(), std::size_t(3));
        QVERIFY(page().board().figureCsv().contains(
            "prefix-paper,rope,0.32690000000000002,0.33289999999999997,,0,0,0,10,,"));
        // Sixty runs of the papers' sizes are queued only after a confirmation.
        for (auto* button : page().findChildren<QPushButton*>())
            if (button->text() == "Queue missing runs") QTest::mouseClick(button, Qt::LeftButton);
        QVERIFY2(longWorkQuestion()->text().startsWith("60 runs"), qPrintable(longWorkQuestion()->text()));
        QVERIFY2(longWorkQuestion()->informativeText().contains(QString::fromStdString(machineName())),
                 qPrintable(longWorkQuestion()->informativeText()));
        // The board gives the same estimate.
        QString need;
        for (const QLabel* label : page().findChildren<QLabel*>())
            if (label->text().startsWith("60 runs missing"))
                need = QRegularExpression("they need (?:about|roughly) (.+?)(?: on this machine| \\()")
                           .match(label->text())
                           .captured(1);
        QVERIFY(!need.isEmpty());
        QVERIFY2(longWorkQuestion()->text().contains(need), qPrintable(longWorkQuestion()->text()));
        const std::size_t before = window_->runs().runs().size();
        answerLongWork(false);
        QCOMPARE(window_->runs().runs().size(), before);
        QVERIFY(readQueue(runs()).entries.empty());
    }

    void allOutcomesStandInOneTable() {
        window_->showPage("Compare");
        page().state().change([](CompareSettings& question) { question.a = question.b = {}; });
        page().showTab(ComparePage::Tab::all_outcomes);
        OutcomeTableView& table = page().outcomeTable();
        QVERIFY2(table.rows().size() >= 4, qPrintable(QString::number(table.rows().size())));
        QCOMPARE(table.rows().front().title(), std::string("problems solved at the end, of 128"));
        QVERIFY(std::abs(table.rows().front().comparison.test->difference.mean - 9) < 1e-12);
        QVERIFY(table.figureCsv().startsWith("measure,share,unit,pairs,mean_a"));
        QStringList wrong;
        for (const QSize& size : {QSize(560, 280), QSize(640, 300), QSize(900, 400), QSize(1400, 800)})
            wrong += labelProblems(table, size);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
        // Columns that do not fit are named.
        const auto texts = [&](const QSize& size) {
            QString all;
            for (const TextBox& box : textsOf(table, size))
                all += box.text + ' ';
            return all;
        };
        const QString narrow = texts({560, 280}), wide = texts({1400, 800});
        QVERIFY2(narrow.contains("No room for:") && narrow.count("p by Holm") == 1, qPrintable(narrow));
        QVERIFY2(!wide.contains("No room for:"), qPrintable(wide));
        // A click compares by the measure of the row.
        std::size_t loss = 0;
        while (table.rows()[loss].comparison.measure != Measure::training_loss)
            ++loss;
        QSignalSpy chosen(&table, &OutcomeTableView::measureChosen);
        for (int y = 0; y < table.height() && page().state().question().measure != Measure::training_loss;
             y += 4)
            QTest::mouseClick(&table, Qt::LeftButton, {}, QPoint(80, y));
        QVERIFY(!chosen.isEmpty());
        QCOMPARE(page().state().question().measure, Measure::training_loss);
        QVERIFY(page().conclusion().text().contains("training loss, mean of the last tenth"));
        page().state().change([](CompareSettings& question) { question.measure_chosen = false; });
        QCOMPARE(page().state().question().measure, Measure::final_correct);
        // The arrow keys and Enter do the same, from the last row up to this one.
        QSignalSpy said(&table, &OutcomeTableView::hovered);
        for (std::size_t row = table.rows().size(); row > loss; --row)
            QTest::keyClick(&table, Qt::Key_Up);
        QVERIFY(said.last().first().toString().contains("training loss, mean of the last tenth"));
        QTest::keyClick(&table, Qt::Key_Return);
        QCOMPARE(page().state().question().measure, Measure::training_loss);
        page().state().change([](CompareSettings& question) { question.measure_chosen = false; });
    }

    // Regression: curves were drawn by indices into a list that had changed since.
    void aRunThatIsRemovedWhileThePageIsHiddenLeavesItsGroup() {
        makeFinishedRun(runs(), {"extra", "rope", 9, 50});
        window_->runs().refresh();
        window_->runs().readAll();
        page().state().refresh();
        window_->showPage("Training");
        std::filesystem::remove_all(runs() / "extra");
        window_->runs().refresh();
        page().showTab(ComparePage::Tab::curves);
        window_->showPage("Compare");
        page().state().change([](CompareSettings& question) { question.curve = Quantity::correct; });
        QCOMPARE(page().state().groups()[0].members.size(), 5);
        QVERIFY(std::abs(page().curves().curves()[0].y.last() - 100 * 99.8 / 128) < 1e-9);
    }

    /// Pairs leave the repeat out; the mean once counted both.
    void aSeedThatWasTrainedAgainCountsOnce() {
        const double mean = page().state().groups()[0].summary.mean;
        makeFinishedRun(runs(), {"rope-0-again", "rope", 0, 20});
        window_->runs().refresh();
        window_->runs().readAll();
        page().state().refresh();
        const ComparedGroup& group = page().state().groups()[0];
        QCOMPARE(group.all.size(), 6);
        QCOMPARE(group.excluded, 1);
        QCOMPARE(group.members.size(), 5);
        QVERIFY(group.members.contains("rope-0-again") &&
                !group.members.contains("rope-0"));  // the later one
        QVERIFY(std::abs(group.summary.mean - (mean - (98.0 - 20) / 5)) < 1e-9);
        double pairs = 0;
        for (const SeedPair& pair : page().state().comparison()->pairs)
            pairs += pair.a.value / 5;
        QVERIFY(std::abs(group.summary.mean - pairs) < 1e-9);
        page().showTab(ComparePage::Tab::run_by_run);
        QVERIFY(page().figures().front()->figureCaption().contains("whose seed was trained again"));
        std::filesystem::remove_all(runs() / "rope-0-again");
        window_->runs().refresh();
        page().state().refresh();
        QCOMPARE(page().state().groups()[0].summary.mean, mean);
        page().showTab(ComparePage::Tab::curves);
    }

    /// The readout once named a mean of 0 runs.
    void aGroupWithoutValuesHasNoMean() {
        const CompareSettings before = page().state().question();
        page().showTab(ComparePage::Tab::run_by_run);
        page().state().change([](CompareSettings& question) {
            question.measure = Measure::steps_until;
            question.measure_chosen = true;
            question.share = 100;  // which no run reaches
        });
        auto* outcomes = page().findChild<OutcomeView*>();
        QVERIFY(outcomes != nullptr);
        const QString said = readoutAt(outcomes, QPoint(outcomes->width() / 2, 60));
        QVERIFY2(said.endsWith("no run has a value"), qPrintable(said));
        page().state().change([&](CompareSettings& question) { question = before; });
        page().showTab(ComparePage::Tab::curves);
    }

    // Runs after the tests that count runs, because its click really queues some.
    void theSentenceEndsInButtons() {
        const auto button = [&](const QString& text) -> QPushButton* {
            for (auto* b : page().findChildren<QPushButton*>())
                if (b->text().contains(text) && b->isVisibleTo(&page())) return b;
            return nullptr;
        };
        QSignalSpy queued(&page(), &ComparePage::runsRequested),
            inspected(&page(), &ComparePage::inspectRequested);
        const int more = *page().state().comparison()->pairs_needed - 5;
        QVERIFY(page().conclusion().text().contains(QStringLiteral("(%1 more)").arg(more)));
        QPushButton* pairs = button(QStringLiteral("Queue %1 more pairs (").arg(more));
        QVERIFY(pairs != nullptr);
        QVERIFY(button(QStringLiteral("missing twin")) == nullptr);
        pairs->click();
        QCOMPARE(queued.size(), 1);
        QCOMPARE(queued[0][0].value<std::vector<Specification>>().size(), std::size_t(2 * more));
        if (longWorkQuestion() != nullptr) answerLongWork(false);
        button(QStringLiteral("Inspect RoPER"))->click();
        QCOMPARE(inspected.size(), 1);
        QCOMPARE(inspected[0][0].toString(), QStringLiteral("roper-0"));
        window_->showPage("Compare");
    }

    void metricsOfAnotherProgramBecomeARun() {
        const std::string file = tables_.filePath("other.csv").toStdString();
        std::ofstream(file) << "it,my loss\n10,1.5\n20,1.25\n";
        ImportDialog dialog(file, runs(), nullptr);
        dialog.show();
        QTRY_VERIFY(!dialog.isBusy());
        const auto refusal = [&] {
            dialog.import();
            return QTest::qWaitFor([&] { return !dialog.isBusy(); }) ? dialog.problem() : QString();
        };
        dialog.name().setText("bad/name");
        QVERIFY(refusal().contains("counts the steps"));
        dialog.choice("step")->setCurrentText("it");
        dialog.choice("loss")->setCurrentText("my loss");
        QVERIFY(refusal().contains("bad/name"));
        dialog.name().setText("theirs");
        QCOMPARE(dialog.method().currentText(), "unknown");
        QCOMPARE(dialog.findChild<QSpinBox*>()->text(), "unknown");
        dialog.import();
        QTRY_COMPARE(dialog.result(), static_cast<int>(QDialog::Accepted));
        window_->runs().refresh();
        window_->runs().readAll();
        QCOMPARE(window_->runs().find("theirs")->metrics().size(), std::size_t(2));
        QCOMPARE(window_->runs().find("theirs")->specification()->methodTitle(), std::string("imported"));
        QCOMPARE(window_->runs().find("theirs")->specification()->about.known, std::string("training.steps"));
        QTRY_COMPARE(window_->trainingPage().runsPanel().model().labelOf("theirs"), "imported, seed unknown");
    }

    /// Regression: only a file could be chosen, although a TensorBoard run is a folder with one file per
    /// session.
    void aFolderOfEventsBecomesARun() {
        const QString folder = tables_.filePath("theirs.v2");
        QVERIFY(QDir().mkdir(folder));
        for (std::int64_t session = 0; session < 2; ++session) {
            std::ofstream file(folder.toStdString() + "/events.out.tfevents." + std::to_string(session));
            for (std::int64_t step = 1; step <= 2; ++step)
                file << formatEvent({1.7e9 + static_cast<double>(step), 2 * session + step, {{"loss", 0.5}}});
        }
        QTimer person;
        connect(&person, &QTimer::timeout, &person, [&] {
            QWidget* shown = QApplication::activeModalWidget();
            if (auto* chooser = qobject_cast<QFileDialog*>(shown)) {
                chooser->findChild<QLineEdit*>()->setText(folder);
                QMetaObject::invokeMethod(chooser, "accept");
            } else if (auto* dialog = qobject_cast<ImportDialog*>(shown); dialog && !dialog->isBusy()) {
                if (!dialog->problem().isEmpty()) return dialog->reject();
                if (dialog->notes().isEmpty()) dialog->import();
                if (!dialog->notes().isEmpty()) dialog->reject();
            }
        });
        person.start(50);
        for (const QPushButton* each : page().findChildren<QPushButton*>())
            if (each->text() == "Import metrics…") each->menu()->actions().at(1)->trigger();
        const RunWatcher* run = window_->runs().find("imported-theirs.v2");
        QVERIFY(run != nullptr);
        window_->runs().readAll();
        QCOMPARE(run->metrics().size(), std::size_t(4));
        QCOMPARE(run->steps(), std::int64_t(4));
    }

    /// What was left out of the run is shown before the dialog closes, and the run exists however it is
    /// closed.
    void whatIsLeftOutOfAnImportIsSaid() {
        const std::string file = tables_.filePath("resumed.csv").toStdString();
        std::ofstream(file) << "step,loss,epoch\n1,3,0\n2,2,0\n3,nan,0\n2,1.5,0\n";
        ImportDialog dialog(file, runs(), nullptr);
        dialog.show();
        QTRY_VERIFY(!dialog.isBusy());
        dialog.name().setText("left-out");
        dialog.method().setCurrentText("RoPE");
        dialog.import();
        QTRY_VERIFY(!dialog.isBusy());
        QVERIFY2(dialog.problem().isEmpty(), qPrintable(dialog.problem()));
        QVERIFY(dialog.isVisible());
        for (const char* part : {"not imported: epoch", "the steps go back from 3 to 2",
                                 "2 rows of the earlier session were replaced"})
            QVERIFY2(dialog.notes().contains(part), qPrintable(dialog.notes()));
        dialog.reject();
        QCOMPARE(dialog.result(), static_cast<int>(QDialog::Accepted));
        window_->runs().refresh();
        window_->runs().readAll();
        QCOMPARE(window_->runs().find("left-out")->specification()->methodTitle(), std::string("RoPE"));
    }

    void aPipeIsNotImported() {
        const QString pipe = tables_.filePath("pipe.csv");
        QCOMPARE(::mkfifo(qPrintable(pipe), 0600), 0);
        ImportDialog dialog(pipe.toStdString(), runs(), nullptr);
        QTRY_VERIFY(!dialog.isBusy());
        QVERIFY2(dialog.problem().contains(", not a file"), qPrintable(dialog.problem()));
    }

    /// The event loop runs while a long file is read and imported, and closing the dialog cancels both.
    void aLongFileIsReadBesideTheWindow() {
        const std::string file = tables_.filePath("long.csv").toStdString();
        {
            std::ofstream out(file);
            out << "step,loss\n";
            for (int row = 0; row < 300'000; ++row)
                out << row << ",0.5\n";
        }
        auto dialog = std::make_unique<ImportDialog>(file, runs(), nullptr);
        dialog->show();
        const auto comes_round = [&] {
            for (int round = 0; round < 10; ++round)
                QTest::qWait(1);
            return dialog->isBusy();
        };
        QVERIFY(comes_round());
        QTRY_VERIFY(!dialog->isBusy());
        dialog->name().setText("cancelled");
        dialog->import();
        QVERIFY(comes_round());
        dialog.reset();
        QThreadPool::globalInstance()->waitForDone();
        QVERIFY(!std::filesystem::exists(runs() / "cancelled"));
    }

    void allInputsAreNamedAndExplained() {
        for (int tab = 0; tab <= static_cast<int>(ComparePage::Tab::lengths); ++tab) {
            page().showTab(static_cast<ComparePage::Tab>(tab));
            checkInputs();
        }
    }

    /// Six sweeps with similar names and a narrow list: the list, the boxes and the legend below the curves
    /// keep the parts that distinguish them, and no text is cut off or overlapped.
    void groupsOfManyExperimentsAreToldApart() {
        for (const RunWatcher* run : window_->runs().runs())
            writeLabels(run->folder(), {"Sweep of additions, base", {}, ""});
        for (int width = 16; width <= 56; width += 8)
            for (const char* method : {"rope", "roper"})
                for (std::int64_t seed = 0; seed < 3; ++seed) {
                    const std::string name =
                        "w" + std::to_string(width) + "-" + method + "-" + std::to_string(seed);
                    const RunFolder folder =
                        makeFinishedRun(runs(), {name, method, seed, 60 + width + 3 * seed},
                                        [&](Specification& s) { s.model.width = width; });
                    writeLabels(folder, {"Sweep of additions, width " + std::to_string(width), {}, ""});
                }
        window_->runs().refresh();
        window_->runs().readAll();
        for (RunWatcher* run : window_->runs().runs())
            run->pollIfChanged();
        page().state().refresh();
        page().showTab(ComparePage::Tab::curves);
        const auto count = static_cast<int>(page().state().groups().size());
        QVERIFY(count >= 14);  // including runs of earlier tests
        auto* list = control<QTreeWidget>("Groups of runs");
        QSet<QString> names;
        for (int i = 0; i < list->topLevelItemCount(); ++i) {
            const QTreeWidgetItem& item = *list->topLevelItem(i);
            names.insert(item.text(0));
            QVERIFY2(item.text(0).startsWith(CurveLetters::letterLabel(i) + "  "), qPrintable(item.text(0)));
            const int room = list->visualItemRect(&item).width();
            for (const QString& line : item.text(0).split('\n'))
                QVERIFY2(list->fontMetrics().horizontalAdvance(line) < room - 40, qPrintable(line));
        }
        QCOMPARE(names.size(), count);
        for (const char* name : {"First group of the pair", "Second group of the pair"}) {
            auto* box = dynamic_cast<ElidedComboBox*>(control<QComboBox>(name));
            QVERIFY(box != nullptr);
            QSet<QString> shown;
            const int before = box->currentIndex();
            const QSignalBlocker no_signals(box);
            for (int i = 0; i < box->count(); ++i) {
                box->setCurrentIndex(i);
                shown.insert(box->displayedText());
            }
            box->setCurrentIndex(before);
            QCOMPARE(shown.size(), count);
        }
        for (const auto& curve : page().curves().curves())
            QVERIFY(!curve.letter_label.isEmpty());
        QVERIFY(page().curves().figureCaption().contains(" Sweep of additions, width 56: RoPER"));
        // The pointer reads all curves and gives the label of the nearest curve's letter.
        QSignalSpy hovered(&page().curves(), &CurveChart::hovered);
        QCustomPlot& plot = page().curves().plot();
        const QPointF at = plot.axisRect()->rect().center();
        QMouseEvent move(QEvent::MouseMove, at, plot.mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
        QCoreApplication::sendEvent(&plot, &move);
        QVERIFY(!hovered.isEmpty());
        const QString read = hovered.last()[0].toString();
        int letters = 0;
        for (int i = 0; i < count; ++i)
            letters += read.contains("    " + CurveLetters::letterLabel(i) + " ");
        QVERIFY2(letters >= 14, qPrintable(read));
        QVERIFY2(read.contains(": RoPE"), qPrintable(read));
        // Selected groups can be shown alone, with the first two compared.
        list->clearSelection();
        for (const int row : {3, 5, 8})
            list->topLevelItem(row)->setSelected(true);
        chooseInMenu(*list->viewport(), {"Show only these"});
        const auto shown = [&] {
            const auto& groups = page().state().groups();
            return std::count_if(groups.begin(), groups.end(),
                                 [](const ComparedGroup& group) { return group.shown; });
        };
        QCOMPARE(shown(), 3);
        QCOMPARE(QString::fromStdString(page().state().comparison()->label_a),
                 QString::fromStdString(page().state().groups()[3].group.label));
        chooseInMenu(*list->viewport(), {"Show all"});
        QCOMPARE(shown(), count);
        // Figures at several sizes, including the pair of two experiments.
        auto* second = control<QComboBox>("Second group of the pair");
        second->setCurrentIndex(second->count() - 1);
        for (const ComparePage::Tab tab : {ComparePage::Tab::curves, ComparePage::Tab::seed_by_seed}) {
            page().showTab(tab);
            for (const QSize size : {QSize(520, 240), QSize(700, 360), QSize(1100, 560)}) {
                const QStringList problems = labelProblems(*page().figures().front(), size);
                QVERIFY2(problems.isEmpty(), qPrintable(problems.join('\n')));
            }
        }
    }

  private:
    std::filesystem::path runs() const { return folder_.path().toStdString(); }
    ComparePage& page() { return window_->comparePage(); }
    void check(const char* text) {
        for (auto* box : page().findChildren<QCheckBox*>())
            if (box->text() == text) return box->toggle();
        qFatal("no check box %s", text);
    }

    QTemporaryDir tables_;  ///< files of other programs
};

ROPER_GUI_TEST(ComparePageTest, "compare_page_test")
#include "compare_page_test.moc"
