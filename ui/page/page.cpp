#include "ui/page/page.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QTabBar>
#include <QTimer>
#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "ui/controls/layout_helpers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

/// Whether a focused widget handles this Qt::Key itself.
bool usesKey(const QWidget* widget, int key) {
    const bool is_arrow =
        key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up || key == Qt::Key_Down;
    const bool is_move = is_arrow || key == Qt::Key_Home || key == Qt::Key_PageUp || key == Qt::Key_PageDown;
    const bool is_return = key == Qt::Key_Return || key == Qt::Key_Enter;
    const bool is_paging = key == Qt::Key_PageUp || key == Qt::Key_PageDown;
    if (qobject_cast<const QLineEdit*>(widget) != nullptr ||
        qobject_cast<const QAbstractSpinBox*>(widget) != nullptr)
        return is_return || is_paging || key == Qt::Key_Up || key == Qt::Key_Down || key == Qt::Key_Space ||
               (key >= Qt::Key_A && key <= Qt::Key_Z);
    if (qobject_cast<const QComboBox*>(widget) != nullptr)
        return is_return || is_move || key == Qt::Key_Space;
    if (qobject_cast<const QAbstractButton*>(widget) != nullptr) return key == Qt::Key_Space || is_return;
    if (qobject_cast<const QTabBar*>(widget) != nullptr) return is_arrow;
    if (qobject_cast<const QAbstractItemView*>(widget) != nullptr) return is_move || key == Qt::Key_Space;
    return qobject_cast<const QAbstractSlider*>(widget) != nullptr && is_move;
}

}  // namespace

QAction* Actions::add(const QString& group, const QString& text, const QKeySequence& shortcut,
                      std::function<void()> run) {
    auto* action = new QAction(text, this);
    action->setShortcut(shortcut);
    action->setData(group);
    connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
    all_.append(action);
    return action;
}

QList<QAction*> Actions::inGroup(const QString& group) const {
    QList<QAction*> chosen;
    for (QAction* action : all_)
        if (groupOf(action) == group) chosen.append(action);
    return chosen;
}

Page::Page(const QString& name, const QString& sentence, QWidget* parent)
    : QWidget(parent),
      name_(name),
      page_figures_(*this),
      sentence_(faintLabel(sentence)),
      contents_(new QVBoxLayout),
      readout_(messageLabel()) {
    auto* title = new QLabel(name);
    title->setFont(titleFont(title->font()));
    title->setToolTip(sentence);
    readout_->setAccessibleName(tr("Numbers under the pointer"));
    readout_->setSizePolicy(QSizePolicy::Ignored,
                            QSizePolicy::Preferred);  // a long line must not widen the window
    readout_->setObjectName(QStringLiteral("readout"));
    readout_->setMinimumHeight(readout_->fontMetrics().height() + 6);

    auto* layout = columnOf({title, sentence_, {contents_, 1}, readout_}, this);
    layout->setContentsMargins(16, 12, 16, 6);
    layout->setSpacing(6);
    setReadout({});
}

/// Hides the sentence in a low window, where figures need its space; it remains the title's tooltip.
void Page::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    constexpr int kLowHeight = 660;
    const int room = parentWidget() != nullptr ? parentWidget()->height() : height();
    sentence_->setVisible(room >= zoomed(kLowHeight));
}

void Page::registerViewSetting(const std::string& key, std::function<std::string()> text,
                               std::function<void(const std::string& text)> restore) {
    registered_settings_.push_back({key, std::move(text), std::move(restore)});
}

void Page::registerNumberSetting(const std::string& key, std::function<int()> number,
                                 std::function<void(int number)> restore) {
    registerViewSetting(
        key, [number = std::move(number)] { return std::to_string(number()); },
        [restore = std::move(restore)](const std::string& text) {
            constexpr long long kMaxValue = 1000;
            const auto read = parseInteger(text);
            if (read && *read >= 0 && *read <= kMaxValue) restore(static_cast<int>(*read));
        });
}

void Page::registerTabSetting(const std::string& key, QTabWidget& tabs) {
    registerNumberSetting(
        key, [&tabs] { return tabs.currentIndex(); },
        [&tabs](int tab) {
            if (tab < tabs.count()) tabs.setCurrentIndex(tab);
        });
}

ViewSettings Page::viewSettings() const {
    ViewSettings settings;
    for (const RegisteredSetting& one : registered_settings_)
        if (const std::string text = one.text(); !text.empty()) settings[one.key] = text;
    return settings;
}

void Page::setViewSettings(const ViewSettings& settings) {
    for (const RegisteredSetting& one : registered_settings_) {
        const auto found = settings.find(one.key);
        one.restore(found == settings.end() ? std::string() : found->second);
    }
}

void Page::setReadout(const QString& text) {
    constexpr qsizetype kMaxReadoutLength = 500;  // laying out many thousands of characters is slow
    const QString shown =
        text.size() <= kMaxReadoutLength ? text : text.left(kMaxReadoutLength) + QStringLiteral("…");
    // While the pointer is on the page, for example during playback, the hint would flicker.
    const bool hints = shown.isEmpty() && !underMouse();
    readout_->setText(hints ? tr("Point at a figure to see its numbers here.") : shown);
    readout_->setForegroundRole(hints ? QPalette::PlaceholderText : QPalette::WindowText);
    readout_->setToolTip(shown);
    // The label never becomes lower at the same width, so that figures do not jump under the pointer.
    const int one_line = readout_->fontMetrics().height() + 6;
    const int needed = std::max(one_line, readout_->heightForWidth(readout_->width()));
    const int kept = readout_->width() == readout_width_ ? readout_->minimumHeight() : one_line;
    readout_width_ = readout_->width();
    readout_->setFixedHeight(std::max(kept, needed));
}

void Page::showMessage(const QString& text) {
    constexpr int kMinShown_ms = 8000, kEachLetter_ms = 60;
    setReadout(text);
    QTimer::singleShot(kMinShown_ms + kEachLetter_ms * static_cast<int>(text.size()), this,
                       [this, shown = readout_->text()] {
                           if (readout_->text() == shown) setReadout({});
                       });
}

void Page::refreshNow() {
    is_stale_ = false;
    refresh();
    refreshHiddenTabs();
}

void Page::refreshWhenVisible() {
    is_stale_ = !isVisible();
    if (!is_stale_) refresh();
}

void Page::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    onVisibilityChanged(true);
    if (std::exchange(is_stale_, false)) refresh();
}

void Page::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    onVisibilityChanged(false);
}

bool Page::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->modifiers() == Qt::NoModifier && usesKey(window()->focusWidget(), key->key())) {
            event->accept();
            return true;
        }
    }
    return QWidget::event(event);
}

}  // namespace roper
