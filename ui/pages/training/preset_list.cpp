#include "ui/pages/training/preset_list.h"

#include <QPainter>
#include <QStyledItemDelegate>
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "ui/theme/numbers.h"
#include "ui/theme/plain_text.h"

namespace roper {
namespace {

constexpr int kChangedRole = Qt::UserRole + 1;  // whether the settings differ from the preset

/// Draws a card, with a height that depends on the list's width.
class CardDelegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const bool selected = option.state & QStyle::State_Selected;
        const QRectF box = QRectF(option.rect).adjusted(4, 3, -4, -3);
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setPen(
            QPen(option.palette.color(selected ? QPalette::Link : QPalette::Mid), selected ? 2 : 1));
        painter->setBrush(option.palette.color(QPalette::Base));
        painter->drawRoundedRect(box, 5, 5);
        painter->translate(box.topLeft());
        HtmlDocument document;
        fill(document, index, option);
        document.drawContents(painter);
        painter->restore();
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        HtmlDocument document;
        fill(document, index, option);
        return {120, static_cast<int>(std::ceil(document.size().height())) + 6};
    }

  private:
    static void fill(QTextDocument& document, const QModelIndex& index, const QStyleOptionViewItem& option) {
        const auto* list = qobject_cast<const QListWidget*>(option.widget);
        document.setDefaultFont(option.font);
        document.setDocumentMargin(7);
        document.setTextWidth((list != nullptr ? list->viewport()->width() : 260) - 8);
        document.setHtml(
            "<body style='color:" + option.palette.color(QPalette::Text).name() + "'>" +
            index.data(Qt::UserRole).toString() +
            (index.data(kChangedRole).toBool()
                 ? QObject::tr("<br><b>Settings changed.</b> Click here to restore those of the preset.")
                 : QString()) +
            "</body>");
    }
};

QString card(const Preset& preset) {
    const auto& about = preset.specification.about;
    const QString time = about.minutes > 0
                             ? QObject::tr("%1 on two CPU cores").arg(shortDuration(60 * about.minutes))
                             : QObject::tr("time not measured");
    return QStringLiteral("<b>%1</b><br>%2<br><i>%3 · %4</i>")
        .arg(QString::fromStdString(about.title).toHtmlEscaped(),
             QString::fromStdString(about.teaches).toHtmlEscaped(),
             QString::fromStdString(preset.name).toHtmlEscaped(), time);
}

}  // namespace

PresetList::PresetList(QWidget* parent) : QListWidget(parent) {
    setItemDelegate(new CardDelegate(this));
    setAccessibleName(tr("Presets"));
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setResizeMode(QListView::Adjust);
    setFrameShape(QFrame::NoFrame);
    std::vector<std::string> names;
    try {
        names = presetNames();
    } catch (const Error& error) {
        // Without presets the explorers still work, and specifications can be entered by hand.
        qWarning("%s", error.what());
        setToolTip(QString::fromStdString(error.what()));
    }
    for (const std::string& name : names) {
        try {
            presets_.push_back(loadPreset(name));
        } catch (const Error& error) {
            qWarning("preset %s: %s", name.c_str(), error.what());
        }
    }
    // Short presets come first, those with unknown time last.
    std::ranges::stable_sort(presets_, {}, [](const Preset& preset) {
        const double minutes = preset.specification.about.minutes;
        return minutes > 0 ? minutes : 1e9;
    });
    for (const Preset& preset : presets_) {
        auto* item = new QListWidgetItem(this);
        item->setData(Qt::UserRole, card(preset));
        item->setData(Qt::AccessibleTextRole, QString::fromStdString(preset.specification.about.title));
    }
    connect(this, &QListWidget::currentRowChanged, this, [this](int row) {
        if (row >= 0) emit chosen(presets_[static_cast<std::size_t>(row)]);
    });
    connect(this, &QListWidget::itemClicked, this, [this](QListWidgetItem* item) {
        if (item->data(kChangedRole).toBool()) emit chosen(presets_[static_cast<std::size_t>(row(item))]);
    });
}

void PresetList::resizeEvent(QResizeEvent* event) {
    QListWidget::resizeEvent(event);
    scheduleDelayedItemsLayout();  // the height of cards depends on the width
}

void PresetList::setChanged(bool changed) {
    for (int i = 0; i < count(); ++i) {
        const bool now = changed && i == currentRow();
        if (item(i)->data(kChangedRole).toBool() != now) item(i)->setData(kChangedRole, now);
    }
    scheduleDelayedItemsLayout();  // a card with a note is higher
}

QString PresetList::chosenName() const {
    const int row = currentRow();
    return row < 0 ? QString() : QString::fromStdString(presets_[static_cast<std::size_t>(row)].name);
}

bool PresetList::choose(const QString& name) {
    const auto found = std::ranges::find(presets_, name.toStdString(), &Preset::name);
    if (found == presets_.end()) return false;
    setCurrentRow(static_cast<int>(found - presets_.begin()));
    return true;
}

}  // namespace roper
