#include "ui/explorer/example_list.h"

#include <QAbstractItemView>
#include <QIcon>
#include <algorithm>

#include "core/base/error.h"
#include "core/specification/presets.h"

namespace roper {
namespace {

constexpr QSize kPicture{96, 64};

/// The picture of an example; none where the program's resources are missing.
QIcon pictureOf(const Example& example) {
    try {
        return QIcon(QString::fromStdString((resourceFolder("examples") / example.pictureName()).string()));
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

void addExamples(SetupPanel& panel, const std::string& page, std::function<void(const ViewSettings&)> show) {
    const std::vector<const Example*> all = examplesOf(page);
    auto* list = new QComboBox;
    list->setAccessibleName(SetupPanel::tr("Examples"));
    list->setPlaceholderText(SetupPanel::tr("examples …"));
    list->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    list->setMinimumContentsLength(8);
    for (const Example* example : all) {
        list->addItem(pictureOf(*example), QString::fromStdString(example->title));
        list->setItemData(list->count() - 1, QString::fromStdString(example->about), Qt::ToolTipRole);
    }
    list->setIconSize({0, 0});  // in the open list alone
    list->view()->setIconSize(kPicture);
    panel.addRow({}, list, SetupPanel::tr("Settings in which one idea can be seen"));
    QObject::connect(list, &QComboBox::activated, &panel, [&panel, all, show](int index) {
        const Example& example = *all.at(static_cast<std::size_t>(index));
        panel.change(QString::fromStdString(example.title), [&](Setup& s) { s = example.setup; });
        show(example.view);
    });
    panel.whenShown([list, all](const Setup& s) {
        const auto found =
            std::find_if(all.begin(), all.end(), [&](const Example* one) { return one->setup == s; });
        list->setCurrentIndex(found == all.end() ? -1 : static_cast<int>(found - all.begin()));
    });
}

}  // namespace roper
