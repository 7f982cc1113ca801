#include "ui/pages/attention/vectors_table.h"

#include <QHeaderView>
#include <cmath>

#include "core/base/text.h"
#include "ui/controls/layout_helpers.h"
#include "ui/theme/numbers.h"

namespace roper {

VectorsModel::VectorsModel(AttentionState& state, VectorsMember which, const QString& name, QObject* parent)
    : QAbstractTableModel(parent), state_(state), member_(which), name_(name) {
    connect(&state_, &AttentionState::changed, this, &VectorsModel::onStateChanged);
    onStateChanged();
}

void VectorsModel::onStateChanged() {
    const Eigen::MatrixXd& values = state_.heads().*member_;
    if (rows_ != values.rows() || columns_ != values.cols()) {
        beginResetModel();
        rows_ = static_cast<int>(values.rows());
        columns_ = static_cast<int>(values.cols());
        endResetModel();
    } else if (rows_ > 0) {
        emit dataChanged(index(0, 0), index(rows_ - 1, columns_ - 1));
    }
}

int VectorsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : rows_;
}

int VectorsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : columns_;
}

QVariant VectorsModel::data(const QModelIndex& index, int role) const {
    if (role == Qt::TextAlignmentRole) return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
    if (role != Qt::DisplayRole && role != Qt::EditRole) return {};
    const Eigen::MatrixXd& values = state_.heads().*member_;
    if (index.row() >= values.rows() || index.column() >= values.cols()) return {};
    const double value = values(index.row(), index.column());
    return role == Qt::EditRole ? QString::fromStdString(formatNumber(value)) : fixedNumberText(value, 3);
}

QVariant VectorsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole) return {};
    return orientation == Qt::Horizontal ? QString::number(section) : state_.tokenText(section);
}

Qt::ItemFlags VectorsModel::flags(const QModelIndex& index) const {
    return QAbstractTableModel::flags(index) | (canEdit() ? Qt::ItemIsEditable : Qt::NoItemFlags);
}

bool VectorsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::EditRole || !canEdit()) return false;
    const QString typed = value.toString().trimmed().replace(QChar(0x2212), '-');
    const auto number = parseNumber(typed.toStdString());
    if (!number || !std::isfinite(*number) || std::abs(*number) > bounds::kMaxFeature) {
        emit editRejected(
            tr("%1 must be a number between −1000000 and 1000000, not “%2”; the old value was kept")
                .arg(name_, value.toString()));
        return false;
    }
    state_.selection().change(tr("Table of %1").arg(name_), [&](Setup& s) {
        (s.manual_vectors.*member_)(index.row(), index.column()) = *number;
    });
    return true;
}

VectorsTable::VectorsTable(AttentionState& state, QWidget* parent) : QTabWidget(parent) {
    setDocumentMode(true);
    for (const auto& [name, title, which] : {std::tuple{"q", tr("queries q"), &HeadVectors::Q},
                                             {"k", tr("keys k"), &HeadVectors::K},
                                             {"v", tr("values v"), &HeadVectors::V}}) {
        auto* model = new VectorsModel(state, which, QString::fromLatin1(name), this);
        connect(model, &VectorsModel::editRejected, this, &VectorsTable::reported);
        auto* table = new QTableView;
        table->setModel(model);
        setCellSize(*table, 20, 58);
        named(table, tr("%1 of every token").arg(QString::fromLatin1(name)),
              tr("One row per token, one column per feature. Choose “a table to edit” to change the numbers; "
                 "if one vector is key and value, edit the key."));
        addTab(table, title);
    }
}

}  // namespace roper
