#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QWidget>
#include <filesystem>
#include <map>

#include "core/specification/specification.h"

namespace roper {

/// A form with every field of a specification, made from the table of fields: label with unit, input, one
/// line of help. Input is validated at once, with errors shown below the field. Fields that the run does not
/// read are hidden or, if all fields are shown, disabled with an explanation.
class SpecificationForm : public QWidget {
    Q_OBJECT

  public:
    /// @param runs  folder of the runs whose weights a specification may name as initial weights
    SpecificationForm(std::filesystem::path runs, QWidget* parent);

    void setSpecification(const Specification& specification);

    /// The specification from all valid input; fields that the run does not read have their defaults.
    Specification specification() const { return withoutUnused(specification_); }

    bool isValid() const { return problems_ == 0; }

    /// The input of a field ("model.width"), for tests and shortcuts; null for an unknown field.
    QWidget* editor(const QString& key) const;

    /// Scrolls to a field.
    void reveal(const QString& key);

  signals:
    void changed();

  protected:
    void changeEvent(QEvent* event) override;

  private:
    struct Row {
        const SpecificationField* field;
        QWidget* editor;
        QLabel *label, *message;
        QWidget* input;        ///< the editor, or the widget that contains it
        QString typing_error;  ///< why the entered text is not a value of the field; empty if it is
    };
    std::map<std::string, QString> problems() const;
    QWidget* makeEditor(const SpecificationField& field);
    QWidget* makeInput(const std::string& key, QWidget* editor);
    QWidget* withPathChooser(QLineEdit* line, const QString& file_title, const QString& folder_title);
    void read(Row& row, const QString& text);
    void validate();

    std::filesystem::path runs_;
    Specification specification_;
    std::map<std::string, Row> rows_;
    int problems_ = 0;  ///< number of invalid fields
    QCheckBox* show_unused_;
    bool filling_ = false;  ///< true while `setSpecification` changes the editors
};

}  // namespace roper
