#pragma once

#include <QLineEdit>

namespace roper {

/// An input for a number in any notation ("1e-3", "0.001"), always with a decimal point. Emits `edited` after
/// a valid number was entered; invalid input is marked, with the reason, and reverted when the focus leaves.
class NumberEdit : public QLineEdit {
    Q_OBJECT

  public:
    NumberEdit(double low, double high, QWidget* parent = nullptr);

    /// Sets the tooltip for valid input.
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
    void markInvalid(const QString& why);

    QString help_;
    double low_, high_;
    double value_ = 0;
};

}  // namespace roper
