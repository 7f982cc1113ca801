#include "ui/pages/training/specification_form.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QGroupBox>
#include <QLineEdit>
#include <QScrollArea>
#include <QStyle>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>
#include <utility>

#include "core/specification/presets.h"
#include "ui/controls/layout_helpers.h"
#include "ui/theme/error_text.h"
#include "ui/theme/theme.h"
#include "ui/theme/zoom.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

QString sectionTitle(const std::string& section) {
    const QString name = QString::fromStdString(section);
    return name.at(0).toUpper() + name.mid(1);
}

QString fieldLabel(const SpecificationField& field) {
    const QString name = QString::fromStdString(field.name).replace('_', ' ');
    return field.unit.empty() ? name
                              : name + QStringLiteral("  (%1)").arg(QString::fromStdString(field.unit));
}

bool pathExists(const fs::path& path) {
    std::error_code unreadable;
    return fs::exists(path, unreadable);
}

/// The error of a field without its key, because the label is next to it.
QString withoutKey(const QString& error, const SpecificationField& field) {
    const QString key = QString::fromStdString(field.key()) + ' ';
    return error.startsWith(key) ? error.mid(key.size()) : error;
}

}  // namespace

SpecificationForm::SpecificationForm(fs::path runs, QWidget* parent)
    : QWidget(parent), runs_(std::move(runs)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 4, 10, 4);
    show_unused_ = new QCheckBox;
    show_unused_->setToolTip(
        tr("Settings of other tasks and methods, with the reason why this run does not use them"));
    layout->addWidget(show_unused_);
    QFormLayout* section_layout = nullptr;
    std::string section;
    for (const SpecificationField& field : specificationFields()) {
        if (field.section == "about") continue;
        if (field.section != section) {
            section = field.section;
            auto* box = new QGroupBox(sectionTitle(section));
            section_layout = new QFormLayout(box);
            layout->addWidget(box);
        }
        Row row{&field,
                makeEditor(field),
                wrappedLabel(fieldLabel(field)),  // a long name must not widen the form
                wrappedLabel(QString::fromStdString(field.help)),
                nullptr,
                {}};
        row.editor->setAccessibleName(fieldLabel(field));
        row.editor->setObjectName(QString::fromStdString(field.key()));
        row.message->setFont(smallFont(row.message->font()));
        row.label->setBuddy(row.editor);
        row.input = makeInput(field.key(), row.editor);
        // Each in its own row: beside its input, a label would have only half the width.
        section_layout->addRow(row.label);
        section_layout->addRow(row.input);
        section_layout->addRow(row.message);
        rows_.emplace(field.key(), row);
    }
    layout->addStretch();
    connect(show_unused_, &QCheckBox::toggled, this, &SpecificationForm::validate);
    setSpecification({});
}

QWidget* SpecificationForm::makeEditor(const SpecificationField& field) {
    const std::string key = field.key();
    const auto react = [this, key](const QString& text) {
        if (!filling_) read(rows_.at(key), text);
    };
    if (const auto* choice = std::get_if<Choice>(&field.accepts)) {
        auto* box = new QComboBox;
        // No wider than the available room, so that long choices do not widen the form.
        allowShrinking(*box);
        for (const std::string& name : choice->names)
            box->addItem(QString::fromStdString(name));
        connect(box, &QComboBox::currentTextChanged, this, react);
        return box;
    }
    if (std::holds_alternative<Flag>(field.accepts)) {
        auto* box = new QCheckBox(tr("on"));
        connect(box, &QCheckBox::toggled, this, [react](bool on) { react(on ? "1" : "0"); });
        return box;
    }
    auto* line = new QLineEdit;
    connect(line, &QLineEdit::textEdited, this, react);
    return line;
}

/// The editor of a field, with buttons beside it if its value is a path.
QWidget* SpecificationForm::makeInput(const std::string& key, QWidget* editor) {
    auto* line = qobject_cast<QLineEdit*>(editor);
    if (key == "task.text") return withPathChooser(line, tr("Choose a text"), tr("Choose a folder of texts"));
    if (key == "training.initial_weights")
        return withPathChooser(line, tr("Choose a checkpoint"), tr("Choose a run"));
    return editor;
}

QWidget* SpecificationForm::withPathChooser(QLineEdit* line, const QString& file_title,
                                            const QString& folder_title) {
    auto* layout = rowOf({{line, 1}});
    const auto offer = [this, line, layout](const QString& title, QStyle::StandardPixmap icon, auto ask) {
        auto* button = named(new QToolButton, title);
        button->setIcon(style()->standardIcon(icon));
        button->setFocusPolicy(Qt::StrongFocus);
        layout->addWidget(button);
        connect(button, &QToolButton::clicked, this, [this, line, title, ask] {
            const QString path = ask(this, title);
            if (path.isEmpty()) return;
            line->setText(path);
            emit line->textEdited(path);
        });
    };
    offer(file_title, QStyle::SP_FileIcon,
          [](QWidget* parent, const QString& title) { return QFileDialog::getOpenFileName(parent, title); });
    offer(folder_title, QStyle::SP_DirIcon, [](QWidget* parent, const QString& title) {
        return QFileDialog::getExistingDirectory(parent, title);
    });
    return wrapInWidget(layout);
}

void SpecificationForm::setSpecification(const Specification& specification) {
    filling_ = true;
    specification_ = specification;
    for (auto& [key, row] : rows_) {
        const QString text = QString::fromStdString(row.field->text(specification_));
        if (auto* box = qobject_cast<QComboBox*>(row.editor)) box->setCurrentText(text);
        if (auto* box = qobject_cast<QCheckBox*>(row.editor)) box->setChecked(text == "1");
        if (auto* line = qobject_cast<QLineEdit*>(row.editor)) line->setText(text);
        row.typing_error.clear();
    }
    filling_ = false;
    validate();
    emit changed();
}

void SpecificationForm::read(Row& row, const QString& text) {
    const QString error = errorOf([&] { row.field->set(specification_, text.trimmed().toStdString()); });
    row.typing_error = withoutKey(error, *row.field);
    validate();
    emit changed();
}

/// Errors of the fields that the run reads, by key.
std::map<std::string, QString> SpecificationForm::problems() const {
    std::map<std::string, QString> wrong;
    for (const SettingProblem& problem : check(specification()))
        wrong[problem.key] = QString::fromStdString(problem.message);
    const Specification settings = specification();
    if (settings.task.isText() && !settings.task.specific_settings.text("text").empty() &&
        !pathExists(textPath(settings.task.specific_settings.text("text"))))
        wrong["task.text"] = tr("no such file or folder");
    if (!settings.training.initial_weights.empty() && !pathExists(initialWeightsPath(settings, runs_)))
        wrong["training.initial_weights"] = tr("no such run or checkpoint");
    for (const auto& [key, row] : rows_)
        if (!row.typing_error.isEmpty() && !unusedReason(*row.field, specification_))
            wrong[key] = row.typing_error;
    return wrong;
}

void SpecificationForm::validate() {
    const std::map<std::string, QString> wrong = problems();
    problems_ = static_cast<int>(wrong.size());
    int unused_fields = 0;
    for (auto& [key, row] : rows_) {
        const auto found = wrong.find(key);
        const bool is_wrong = found != wrong.end();
        const auto unused = unusedReason(*row.field, specification_);
        unused_fields += unused ? 1 : 0;
        for (QWidget* part :
             {static_cast<QWidget*>(row.label), static_cast<QWidget*>(row.message), row.input})
            part->setVisible(!unused || show_unused_->isChecked());
        row.editor->setEnabled(!unused);
        for (auto* button :
             row.editor->parentWidget()->findChildren<QToolButton*>(Qt::FindDirectChildrenOnly))
            button->setEnabled(!unused);
        row.message->setText(is_wrong ? found->second
                             : unused ? tr("Not used: %1.").arg(QString::fromStdString(*unused))
                                      : QString::fromStdString(row.field->help));
        QPalette colors = palette();
        colors.setColor(QPalette::WindowText, is_wrong
                                                  ? Theme::of(palette()).readable(QColor(0xD5, 0x5E, 0x00))
                                                  : colors.color(QPalette::PlaceholderText));
        row.message->setPalette(colors);
        row.editor->setToolTip(QString::fromStdString(row.field->help));
        row.editor->setAccessibleDescription(row.message->text());
    }
    show_unused_->setText(tr("Show %1 unused settings").arg(unused_fields));
}

void SpecificationForm::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) validate();  // updates the colors of messages
}

void SpecificationForm::reveal(const QString& key) {
    const Row& row = rows_.at(key.toStdString());
    for (QWidget* above = parentWidget(); above != nullptr; above = above->parentWidget()) {
        auto* area = qobject_cast<QScrollArea*>(above);
        if (area == nullptr) continue;
        // The area updates its scroll bars only when the form is laid out.
        QTimer::singleShot(0, this, [area, input = row.input] { area->ensureWidgetVisible(input); });
        row.editor->setFocus();
        return;
    }
}

QWidget* SpecificationForm::editor(const QString& key) const {
    const auto found = rows_.find(key.toStdString());
    return found == rows_.end() ? nullptr : found->second.editor;
}

}  // namespace roper
