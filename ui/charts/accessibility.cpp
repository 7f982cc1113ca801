#include <QAccessibleWidget>
#include <QComboBox>
#include <algorithm>

#include "ui/charts/plot_view.h"

// What screen readers present. By default, Qt reports custom widgets as fillers, and on Linux it names a
// combo box by its value.

namespace roper {
namespace {

/// A chart, with its caption as description and its data in CSV as text that can be read line by line; or the
/// widget around a plot, as a grouping without text.
class AccessibleFigure : public QAccessibleWidget, public QAccessibleTextInterface {
  public:
    AccessibleFigure(QWidget* widget, const Figure& figure, QAccessible::Role role)
        : QAccessibleWidget(widget, role), figure_(figure) {}

    void* interface_cast(QAccessible::InterfaceType type) override {
        return type == QAccessible::TextInterface && role() == QAccessible::Chart
                   ? static_cast<QAccessibleTextInterface*>(this)
                   : QAccessibleWidget::interface_cast(type);
    }
    QString text(QAccessible::Text kind) const override {
        const QString own = QAccessibleWidget::text(kind);
        if (!own.isEmpty()) return own;
        if (kind == QAccessible::Name) return figure_.figureTitle();
        return kind == QAccessible::Description ? figure_.figureCaption() : own;
    }

    QString text(int begin, int end) const override { return data().mid(begin, end - begin); }
    int characterCount() const override { return static_cast<int>(data().size()); }
    int cursorPosition() const override { return cursor_; }
    void setCursorPosition(int position) override { cursor_ = std::clamp(position, 0, characterCount()); }

    // Nothing can be selected, and the text has no position on the screen.
    int selectionCount() const override { return 0; }
    void selection(int, int* begin, int* end) const override { *begin = *end = 0; }
    void addSelection(int, int) override {}
    void removeSelection(int) override {}
    void setSelection(int, int, int) override {}
    QRect characterRect(int) const override { return {}; }
    int offsetAtPoint(const QPoint&) const override { return -1; }
    void scrollToSubstring(int, int) override {}
    QString attributes(int, int* begin, int* end) const override {
        *begin = 0;
        *end = characterCount();
        return {};
    }

  private:
    /// The beginning of the data: nobody listens to more, and that of a map of 4,096 tokens has 100 MB.
    QString data() const {
        constexpr qsizetype kMost = 20000;
        struct Enough {};
        QByteArray csv;
        try {
            figure_.writeCsv([&](const QByteArray& part) {
                csv += part;
                if (csv.size() > kMost) throw Enough();
            });
        } catch (const Enough&) {
            csv.truncate(csv.lastIndexOf('\n', kMost) + 1);
        }
        return QString::fromUtf8(csv);
    }

    const Figure& figure_;
    int cursor_ = 0;
};

/// A combo box with its own name, and its choice as value.
class AccessibleChoice : public QAccessibleWidget {
  public:
    explicit AccessibleChoice(QComboBox* box) : QAccessibleWidget(box, QAccessible::ComboBox), box_(box) {}

    QString text(QAccessible::Text kind) const override {
        return kind == QAccessible::Value ? box_->currentText() : QAccessibleWidget::text(kind);
    }
    QAccessible::State state() const override {
        QAccessible::State state = QAccessibleWidget::state();
        state.hasPopup = true;
        state.expandable = true;
        return state;
    }
    QStringList actionNames() const override {
        return QStringList{showMenuAction()} + QAccessibleWidget::actionNames();
    }
    void doAction(const QString& name) override {
        if (name == showMenuAction())
            box_->showPopup();
        else
            QAccessibleWidget::doAction(name);
    }

  private:
    QComboBox* box_;
};

QAccessibleInterface* makeInterface(const QString&, QObject* object) {
    auto* widget = qobject_cast<QWidget*>(object);
    if (widget == nullptr) return nullptr;
    if (const auto* view = qobject_cast<PlotView*>(object->parent()); view && &view->plot() == object)
        return new AccessibleFigure(widget, *view, QAccessible::Chart);
    // The plot inside a PlotView receives its keys, so the frame around it is no second chart.
    if (const auto* figure = dynamic_cast<const Figure*>(object))
        return new AccessibleFigure(
            widget, *figure,
            qobject_cast<PlotView*>(object) != nullptr ? QAccessible::Grouping : QAccessible::Chart);
    auto* box = qobject_cast<QComboBox*>(object);
    return box != nullptr ? new AccessibleChoice(box) : nullptr;
}

}  // namespace

void installAccessibility() {
    QAccessible::installFactory(makeInterface);  // has no effect the second time
}

}  // namespace roper
