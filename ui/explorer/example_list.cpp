#include "ui/explorer/example_list.h"

#include <QAbstractItemView>
#include <QIcon>
#include <QStyledItemDelegate>
#include <algorithm>

#include "core/base/error.h"
#include "core/specification/presets.h"
#include "ui/controls/layout_helpers.h"

namespace roper {
namespace {

constexpr QSize kPicture{96, 64};

/// A combo box of examples. It loads their pictures when the list is first opened, which is rare.
class ExampleBox : public QComboBox {
  public:
    explicit ExampleBox(std::vector<const Example*> all) : all_(std::move(all)) {
        for (const Example* example : all_) {
            addItem(QString::fromStdString(example->title));
            setItemData(count() - 1, QString::fromStdString(example->description), Qt::ToolTipRole);
        }
        setIconSize({0, 0});  // pictures only in the open list
        // The delegate of styles with menu-like popups draws no pictures of this size.
        setItemDelegate(new QStyledItemDelegate(this));
    }

    void showPopup() override {
        view()->setIconSize(kPicture);
        if (!has_pictures_) {
            has_pictures_ = true;
            const QPixmap sheet = thumbnailSheet();
            for (int i = 0; i < count() && !sheet.isNull(); ++i)
                setItemIcon(i, QIcon(sheet.copy(thumbnailCell(*all_.at(static_cast<std::size_t>(i))))));
        }
        constexpr int kFrame = 24;  // of the list, including the scroll bar
        view()->setMinimumWidth(view()->sizeHintForColumn(0) + kFrame);
        QComboBox::showPopup();
    }

  private:
    std::vector<const Example*> all_;
    bool has_pictures_ = false;
};

}  // namespace

QRect thumbnailCell(const Example& example) {
    const auto index = static_cast<int>(&example - examples().data());
    return {QPoint(0, index * kThumbnail.height()), kThumbnail};
}

QPixmap thumbnailSheet() {
    try {
        return QPixmap(QString::fromStdString((resourceFolder("examples") / "thumbnails.png").string()));
    } catch (const Error&) {
        return {};
    }
}

void addExamples(SetupPanel& panel, const std::string& page, std::function<void(const ViewSettings&)> show) {
    const std::vector<const Example*> all = examplesForPage(page);
    auto* list = new ExampleBox(all);
    list->setAccessibleName(SetupPanel::tr("Examples"));
    list->setPlaceholderText(SetupPanel::tr("examples …"));
    allowShrinking(*list);
    panel.addRow({}, list, SetupPanel::tr("Settings that each illustrate one idea"));
    QObject::connect(list, &QComboBox::activated, &panel, [&panel, all, show](int index) {
        const Example& example = *all.at(static_cast<std::size_t>(index));
        panel.change(QString::fromStdString(example.title), [&](Setup& s) { s = example.setup; });
        show(example.view);
    });
    panel.onSetupShown([list, all](const Setup& s) {
        const auto found = std::ranges::find(all, s, &Example::setup);
        list->setCurrentIndex(found == all.end() ? -1 : static_cast<int>(found - all.begin()));
    });
}

}  // namespace roper
