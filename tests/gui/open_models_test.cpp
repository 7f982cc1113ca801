#include <QDialogButtonBox>
#include <QMimeData>
#include <fstream>

#include "tests/support/page_test.h"
#include "tests/support/small_model.h"
#include "ui/live/published_models.h"
#include "ui/pages/inspect/stored_models_dialog.h"

using namespace roper;

/// Opening models: the list of those that other programs have downloaded, and files dropped onto the window.
class OpenModelsTest : public PageTest {
    Q_OBJECT

  private slots:
    void initTestCase() {
        clearSettings("open_models_test");
        const QDir hub(hub_.path());
        const QString snapshot = "models--owner--small/snapshots/aaaa";
        QVERIFY(hub.mkpath(snapshot));
        QTemporaryDir made;
        makeSmallModel("llama", QDir(made.path()));
        for (const QString& file : QDir(made.filePath("llama")).entryList(QDir::Files))
            QVERIFY(QFile::copy(made.filePath("llama/" + file), hub_.filePath(snapshot + '/' + file)));
        QVERIFY(hub.mkpath("models--owner--damaged/snapshots/bbbb"));
        std::ofstream(hub_.filePath("models--owner--damaged/snapshots/bbbb/a.gguf").toStdString()) << "GGUF?";
        for (const char* name : {"OLLAMA_MODELS", "LLAMA_CACHE", "HOME"})
            qputenv(name, hub_.filePath("none").toLocal8Bit());
        qputenv("HF_HUB_CACHE", hub_.path().toLocal8Bit());
        small_ = hub_.filePath(snapshot);
        openWindow("Inspect");
    }

    void init() { page().open({}); }
    void cleanup() {
        for (auto* dialog : window_->findChildren<StoredModelsDialog*>())
            dialog->reject();
    }

    void modelsOfOtherProgramsAreListed() {
        StoredModelsDialog& dialog = openList();
        QTRY_COMPARE_WITH_TIMEOUT(dialog.status().text(), QString("2 models"), 20000);
        auto& list = *dialog.findChild<QTreeWidget*>();
        QPushButton* open = dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Open);
        QTreeWidgetItem *damaged = list.topLevelItem(0), *small = list.topLevelItem(1);
        QCOMPARE(small->text(0), QString("owner/small"));
        QCOMPARE(small->text(1), QString("Hugging Face"));
        QCOMPARE(small->text(2), QString("llama"));
        QCOMPARE(small->text(4), QString("BF16"));
        QCOMPARE(damaged->text(0), QString("owner/damaged"));
        // A model that cannot be opened says why.
        list.setCurrentItem(damaged);
        QVERIFY(!open->isEnabled());
        QVERIFY(!dialog.findChildren<QLabel*>().empty());
        bool is_explained = false;
        for (const QLabel* label : dialog.findChildren<QLabel*>())
            is_explained = is_explained || (label->isVisible() && label->text().contains("a.gguf"));
        QVERIFY(is_explained);
        // The filter hides rows, and a hidden row cannot be opened.
        dialog.findChild<QLineEdit*>()->setText("llama");
        QVERIFY(damaged->isHidden() && !small->isHidden());
        QVERIFY(!open->isEnabled());
        list.setCurrentItem(small);
        QVERIFY(open->isEnabled());
        QTest::mouseClick(open, Qt::LeftButton);
        QCOMPARE(page().state().model(), small_);
        QCOMPARE(control<QComboBox>("Model")->currentText(), QString("owner/small"));
    }

    void theListClosesWhileItIsRead() {
        QPointer dialog = &openList();
        dialog->reject();
        QTRY_VERIFY(dialog == nullptr);
        QVERIFY(page().state().model().isEmpty());
    }

    void aModelDroppedOntoAnyPageIsOpened() {
        QVERIFY(window_->showPage("Rotation"));
        QVERIFY(drop({QUrl::fromLocalFile(small_)}));
        QCOMPARE(window_->currentPage(), &page());
        QCOMPARE(page().state().model(), small_);
    }

    void aDroppedFileThatIsNoModelSaysSo() {
        const QString text = hub_.filePath("notes.txt");
        std::ofstream(text.toStdString()) << "hello";
        drop({QUrl::fromLocalFile(text)});
        QVERIFY(page().state().model().isEmpty());
        bool is_said = false;
        for (const QLabel* label : page().findChildren<QLabel*>())
            is_said = is_said || (label->isVisible() && label->text().contains("notes.txt"));
        QVERIFY(is_said);
    }

    void severalDroppedFilesAreRefused() {
        QVERIFY(!drop({QUrl::fromLocalFile(small_), QUrl::fromLocalFile(hub_.path())}));
        QVERIFY(!drop({QUrl("https://huggingface.co/owner/small")}));
    }

    void titlesOfModels() {
        QCOMPARE(modelTitle("/hub/models--owner--name/snapshots/aaaa"), QString("owner/name"));
        QCOMPARE(modelTitle("/hub/models--owner--a--b/snapshots/aaaa/Q8/x.gguf"),
                 QString("owner/a--b/Q8/x.gguf"));
        QCOMPARE(modelTitle("/o/manifests/registry.ollama.ai/library/llama3.2/1b"), QString("llama3.2:1b"));
        QCOMPARE(modelTitle("/o/manifests/hf.co/owner/name/Q8_0"), QString("owner/name:Q8_0"));
        QCOMPARE(modelTitle("/models/x.gguf"), QString("x.gguf"));
    }

  private:
    QTemporaryDir hub_;
    QString small_;

    InspectPage& page() { return window_->inspectPage(); }

    StoredModelsDialog& openList() {
        window_->showPage("Inspect");
        buttonOf(page(), tr("Find models on this machine…"))->click();
        StoredModelsDialog* dialog = nullptr;
        [&] { QTRY_VERIFY((dialog = window_->findChild<StoredModelsDialog*>()) != nullptr); }();
        return *dialog;
    }

    /// @returns whether the window accepts the files
    bool drop(const QList<QUrl>& urls) {
        QMimeData data;
        data.setUrls(urls);
        const QPoint at = window_->rect().center();
        QDragEnterEvent enter(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        enter.setAccepted(false);
        QApplication::sendEvent(window_.get(), &enter);
        if (!enter.isAccepted()) return false;
        QDropEvent event(QPointF(at), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window_.get(), &event);
        return event.isAccepted();
    }
};

ROPER_GUI_TEST(OpenModelsTest, "open_models_test")
#include "open_models_test.moc"
