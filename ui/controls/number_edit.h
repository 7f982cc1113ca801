#pragma once

#include <QLineEdit>

namespace roper {

/// A line for a number, in any notation ("1e-3", "0.001"), always with a point. Says `edited` when a valid
/// number has been put in; anything else is shown as wrong with the reason and put back when the line is
/// left.
class NumberEdit : public QLineEdit {
    Q_OBJECT

  public:
    NumberEdit(double low, double high, QWidget* parent = nullptr);

    /// What the tool tip says while nothing is wrong.
    void setHelp(const QString& help) { help_ = help; }

    double value() const { return value_; }
    void setValue(double value);

  signals:
    void edited(double value);

  protected:
    void focusOutEvent(QFocusEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void read();
    void markWrong(const QString& why);

    QString help_;
    double low_, high_;
    double value_ = 0;
};

}  // namespace roper
