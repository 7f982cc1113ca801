#pragma once

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSlider>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <memory>

#include "tests/support/gui_test.h"
#include "ui/window/main_window.h"

namespace roper {

/// A button by its text; null if there is none.
inline QPushButton* buttonOf(const QWidget& panel, const QString& text) {
    for (auto* button : panel.findChildren<QPushButton*>())
        if (button->text() == text) return button;
    return nullptr;
}

/// Base of page tests: a window with empty settings, and access to controls by name.
class PageTest : public QObject {
    Q_OBJECT

  protected:
    void clearSettings(const char* name) {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName("RoPER Lab tests");
        QCoreApplication::setApplicationName(name);
        QSettings().clear();
    }

    void openWindow(const char* page) { openWindow(page, folder_.path().toStdString()); }
    void openWindow(const char* page, const std::filesystem::path& runs) {
        window_ = std::make_unique<MainWindow>(runs);
        window_->show();
        QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
        QVERIFY(window_->showPage(page));
    }

    template <class Widget>
    Widget* control(const char* name) const {
        for (Widget* widget : window_->currentPage()->findChildren<Widget*>())
            if (widget->accessibleName() == name) return widget;
        qFatal("there is no control named %s", name);
    }

    /// The figure with this name on the current page.
    template <class View>
    View& figure(const std::string& name) const {
        auto* view = dynamic_cast<View*>(&window_->currentPage()->pageFigures().named(name));
        if (view == nullptr) qFatal("the figure %s has another class", name.c_str());
        return *view;
    }

    const Setup& setup() const { return window_->selection().setup(); }
    void change(const std::function<void(Setup&)>& set) {
        Setup next = setup();
        set(next);
        window_->selection().set(next, "test");
    }

    /// Checks that every input has an accessible name and a description.
    void checkInputs() const {
        for (QWidget* widget : window_->currentPage()->findChildren<QWidget*>()) {
            if (widget->objectName().startsWith("qt_")) continue;
            const bool is_input = qobject_cast<QAbstractSpinBox*>(widget) ||
                                  qobject_cast<QComboBox*>(widget) || qobject_cast<QSlider*>(widget) ||
                                  qobject_cast<NumberEdit*>(widget) || qobject_cast<QCheckBox*>(widget) ||
                                  qobject_cast<QPushButton*>(widget);
            if (!is_input || !widget->isVisible()) continue;
            const auto* button = qobject_cast<QAbstractButton*>(widget);
            const QString name =
                widget->accessibleName().isEmpty() && button ? button->text() : widget->accessibleName();
            QVERIFY2(!name.isEmpty(), widget->metaObject()->className());
            QVERIFY2(!widget->toolTip().isEmpty(), qPrintable(name));
        }
    }

    /// The text of the last readout after moving the pointer to a position in a view.
    static QString readoutAt(QWidget* view, const QPoint& at) {
        auto* figure = qobject_cast<FigureView*>(view);
        QSignalSpy hovered(figure, &FigureView::hovered);
        QMouseEvent move(QEvent::MouseMove, QPointF(at), view->mapToGlobal(QPointF(at)), Qt::NoButton,
                         Qt::NoButton, {});
        QCoreApplication::sendEvent(view, &move);
        return hovered.isEmpty() ? QString() : hovered.last()[0].toString();
    }

    /// Opens the context menu of a widget by a right click and follows a path of entries.
    void chooseInMenu(QWidget& widget, const QStringList& path) {
        bool chosen = false;
        QTimer::singleShot(100, this, [&] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            if (menu == nullptr) return;
            QMenu* inner = menu;
            for (const QString& step : path)
                for (QAction* action : inner->actions()) {
                    if (action->text() != step) continue;
                    if (action->menu() != nullptr) {
                        inner = action->menu();
                        break;
                    }
                    chosen = action->isEnabled();
                    action->trigger();
                    break;
                }
            menu->close();
        });
        QContextMenuEvent event(QContextMenuEvent::Mouse, widget.rect().center(),
                                widget.mapToGlobal(widget.rect().center()));
        QApplication::sendEvent(&widget, &event);  // returns when the menu is closed
        QVERIFY2(chosen, qPrintable(path.join(QStringLiteral(" → "))));
    }

    /// Triggers the action of a menu or the window that is called `name` or begins with "name: ".
    void trigger(const QString& name) const {
        QList<QAction*> actions = window_->findChildren<QAction*>();
        for (const QMenu* menu : window_->findChildren<QMenu*>())
            actions += menu->actions();  // these belong to the program's list of actions
        for (QAction* action : actions) {
            const QString text = action->text().remove('&');
            if (text != name && !text.startsWith(name + ": ")) continue;
            QVERIFY2(action->isEnabled(), qPrintable(name));
            return action->trigger();
        }
        QFAIL(qPrintable(name));
    }

    /// The question that the window asks before long work; null if there is none.
    QMessageBox* longWorkQuestion() const {
        return window_->findChild<QMessageBox*>(QStringLiteral("long_work_question"));
    }
    /// Answers the question and waits until it is closed.
    void answerLongWork(bool agree) const {
        QMessageBox* question = longWorkQuestion();
        QVERIFY(question != nullptr && question->isVisible());
        for (QAbstractButton* button : question->buttons())
            if ((question->buttonRole(button) == QMessageBox::AcceptRole) == agree)
                QTest::mouseClick(button, Qt::LeftButton);
        QTRY_VERIFY(longWorkQuestion() == nullptr);
        window_->activateWindow();  // as a desktop does when a dialog closes
        QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    }
    /// Clicks a button that starts runs, and confirms if they take long.
    void startWith(QAbstractButton* button) const {
        QTest::mouseClick(button, Qt::LeftButton);
        if (longWorkQuestion() != nullptr) answerLongWork(true);
    }

    QTemporaryDir folder_;
    std::unique_ptr<MainWindow> window_;
};

}  // namespace roper
