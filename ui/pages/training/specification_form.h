#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QWidget>
#include <map>

#include "core/specification/specification.h"

namespace roper {

/// Every field of a specification, made from the table of fields: label with unit, an input, its one-line
/// help. What is typed is checked at once; a field that is wrong says why below itself. One that the run
/// never reads is hidden; if all are shown, it is greyed and says why not.
class SpecificationForm : public QWidget {
    Q_OBJECT

  public:
    explicit SpecificationForm(QWidget* parent);

    void setSpecification(const Specification& specification);

    /// As far as it could be read; what the run never reads has its default.
    Specification specification() const { return withoutUnused(specification_); }

    bool isValid() const { return problems_ == 0; }

    /// The input of a field ("model.width"), for tests and shortcuts.
    QWidget* editor(const QString& key) const;

  signals:
    void changed();

  protected:
    void changeEvent(QEvent* event) override;

  private:
    struct Row {
        const SpecificationField* field;
        QWidget* editor;
        QLabel *label, *message;
        QWidget* input;  ///< the editor, or what it stands in
        QString typing_error;
    };
    std::map<std::string, QString> problems() const;
    QWidget* makeEditor(const SpecificationField& field);
    QWidget* withTextChooser(QLineEdit* line);
    void read(Row& row, const QString& text);
    void validate();

    Specification specification_;
    std::map<std::string, Row> rows_;
    int problems_ = 0;
    QCheckBox* show_unused_;
    bool filling_ = false;
};

}  // namespace roper
