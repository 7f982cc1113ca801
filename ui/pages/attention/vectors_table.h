#pragma once

#include <QAbstractTableModel>
#include <QTabWidget>
#include <QTableView>

#include "ui/explorer/attention_state.h"

namespace roper {

/// q, k or v of all tokens as a table with a row per token and a column per feature. Vectors set by hand can
/// be edited.
class VectorsModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    using VectorsMember = Eigen::MatrixXd HeadVectors::*;

    VectorsModel(AttentionState& state, VectorsMember which, const QString& name, QObject* parent);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

  signals:
    void editRejected(const QString& why);

  private:
    void onStateChanged();
    /// If one vector is key and value, it is edited in the table of keys.
    bool canEdit() const {
        return state_.setup().source == VectorSource::hand &&
               !(state_.setup().shared_key_value && member_ == &HeadVectors::V);
    }

    AttentionState& state_;
    VectorsMember member_;
    QString name_;
    int rows_ = 0, columns_ = 0;
};

/// The tables of q, k and v, each in a tab.
class VectorsTable : public QTabWidget {
    Q_OBJECT

  public:
    VectorsTable(AttentionState& state, QWidget* parent);

  signals:
    void reported(const QString& text);
};

}  // namespace roper
