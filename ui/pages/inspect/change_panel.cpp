#include "ui/pages/inspect/change_panel.h"

#include <QScopedValueRollback>
#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/questions/wilson_interval.h"
#include "ui/controls/layout_helpers.h"
#include "ui/theme/numbers.h"

namespace roper {

ChangePanel::ChangePanel(InspectState& state, QWidget* parent)
    : QWidget(parent), state_(state), column_(new QVBoxLayout(this)) {
    column_->setContentsMargins(8, 8, 8, 8);
    auto* heading = new QLabel(tr("Ablations and changes"));
    heading->setFont(boldFont(heading->font()));
    column_->addWidget(heading);
    addHeads();
    addParts();
    addPositions();
    nothing_ = named(new QPushButton(tr("As trained")), tr("As trained"), tr("Undo all changes"));
    connect(nothing_, &QPushButton::clicked, this, [this] {
        show({});
        emit changed(change_);
    });
    column_->addWidget(nothing_);
    const auto result = [this](const QString& name) {
        auto* label = messageLabel();
        label->setAccessibleName(name);
        column_->addWidget(label);
        return label;
    };
    effect_ = result(tr("Effect of the change on the loss"));
    solve_ = named(new QPushButton(tr("Solve 64 problems")), tr("Solve 64 problems"),
                   tr("How many of the run's problems the model solves as trained and with the change"));
    connect(solve_, &QPushButton::clicked, this, [this] {
        constexpr std::int64_t kProblems = 64;
        Question question{"solve"};
        question.count = kProblems;
        state_.request(answers::solved, question);
    });
    column_->addWidget(solve_);
    solved_ = result(tr("Effect of the change on solved problems"));
    column_->addStretch(1);
    connect(&state_, &InspectState::modelChanged, this, &ChangePanel::showModel);
    connect(&state_, &InspectState::inputsChanged, this, &ChangePanel::showModel);
    connect(&state_, &InspectState::answered, this, [this] {
        showEffect();
        showSolved();
    });
    showModel();
}

template <class Value>
void ChangePanel::edit(Value ModelChange::*member, const std::type_identity_t<Value>& value) {
    if (showing_) return;
    ModelChange change = change_;
    change.*member = value;
    show(change);
    emit changed(change_);
}

/// Starts a form of labeled rows below the existing contents. Widgets that are sometimes hidden stand
/// between such forms, because a form layout with hidden rows squeezes the others.
void ChangePanel::beginForm() {
    form_ = new QFormLayout;
    form_->setRowWrapPolicy(QFormLayout::WrapLongRows);
    column_->addLayout(form_);
}

void ChangePanel::addHeads() {
    beginForm();
    const auto choice = [this](const QString& name, const QString& help,
                               std::optional<std::int64_t> ModelChange::*member) {
        auto* box = named(new QComboBox, name, help);
        connect(box, &QComboBox::currentIndexChanged, this, [this, member](int index) {
            edit(member, index > 0 ? std::optional<std::int64_t>(index - 1) : std::nullopt);
        });
        form_->addRow(name, box);
        return box;
    };
    layer_ = choice(tr("Layer"), tr("The layer whose heads are changed"), &ModelChange::layer);
    head_ = choice(tr("Head"), tr("The heads of the layer that are changed"), &ModelChange::head);
}

QCheckBox* ChangePanel::addCheck(const QString& text, const QString& help, bool ModelChange::*member) {
    auto* box = named(new QCheckBox(text), text, help);
    connect(box, &QCheckBox::toggled, this, [this, member](bool on) { edit(member, on); });
    column_->addWidget(box);
    checks_.emplace_back(box, member);
    return box;
}

void ChangePanel::addParts() {
    ablated_pairs_ =
        named(new LineEdit, tr("Ablated pairs"),
              tr("Scores are computed without these pairs: 24-31, 5 or 0,1,7; pair 0 rotates fastest"));
    ablated_pairs_->setPlaceholderText(tr("such as 24-31"));
    connect(ablated_pairs_, &LineEdit::edited, this,
            [this](const QString& text) { edit(&ModelChange::mute, text.trimmed().toStdString()); });
    form_->addRow(tr("Ablated pairs"), ablated_pairs_);
    addCheck(tr("zero the heads' output"), tr("The heads add nothing to the residual stream"),
             &ModelChange::mute_heads);
    addCheck(tr("q and k not rotated"), tr("Scores of these heads do not depend on positions"),
             &ModelChange::no_rotation);
    no_value_rotation_ =
        addCheck(tr("v not rotated"), tr("RoPER without the rotation of values and without its inverse"),
                 &ModelChange::no_value_rotation);
    no_inverse_ = addCheck(tr("outputs not rotated back"), tr("RoPER without the inverse rotation"),
                           &ModelChange::no_inverse);
}

void ChangePanel::addPositions() {
    beginForm();
    shift_ = named(new QSpinBox, tr("Shift all positions"),
                   tr("Added to every position; a relative encoding does not depend on it"));
    shift_->setRange(-100000000, 100000000);
    shift_->setKeyboardTracking(false);
    connect(shift_, &QSpinBox::valueChanged, this, [this](int value) { edit(&ModelChange::shift, value); });
    form_->addRow(tr("Shift S"), shift_);
    base_ = named(new NumberEdit(0, 1e15), tr("Base of the frequencies"), tr("Empty: the model’s own"));
    base_->setHelp(base_->toolTip());
    base_->setUnset(0, tr("as trained"));
    connect(base_, &NumberEdit::edited, this, [this](double value) { edit(&ModelChange::base, value); });
    form_->addRow(tr("Base"), base_);
    scaling_ =
        named(new QComboBox, tr("Scaling of the frequencies"), tr("Used for texts longer than in training"));
    for (const std::string& name : allNames<ScalingMethod>())
        // longrope needs a list of factors, for which this form has no field.
        if (name != "longrope") scaling_->addItem(QString::fromStdString(name));
    connect(scaling_, &QComboBox::currentTextChanged, this, [this](const QString& name) {
        edit(&ModelChange::scaling, enumFromName<ScalingMethod>(name.toStdString()));
    });
    form_->addRow(tr("Scaling"), scaling_);
    factor_ = named(new NumberEdit(1, 10000), tr("Factor of the scaling"),
                    tr("How many times longer texts are than in training"));
    factor_->setHelp(factor_->toolTip());
    connect(factor_, &NumberEdit::edited, this, [this](double value) { edit(&ModelChange::factor, value); });
    form_->addRow(tr("Factor s"), factor_);
}

void ChangePanel::showModel() {
    const ModelSummary* model = state_.summary();
    const QScopedValueRollback showing(showing_, true);
    const auto fill = [](QComboBox* box, const QString& all, std::int64_t count) {
        const int kept = box->currentIndex();
        box->clear();
        box->addItem(all);
        for (std::int64_t i = 0; i < count; ++i)
            box->addItem(QString::number(i));
        box->setCurrentIndex(std::clamp(kept, 0, static_cast<int>(count)));
    };
    fill(layer_, tr("all"), model != nullptr ? model->layers : 0);
    fill(head_, tr("all"), model != nullptr ? model->heads : 0);
    if (model != nullptr) {
        const std::int64_t pairs = std::ssize(model->theta);
        ablated_pairs_->setPlaceholderText(pairs > 1 ? tr("such as %1-%2").arg(pairs / 2).arg(pairs - 1)
                                                     : QString());
    }
    setEnabled(model != nullptr);
    solve_->setVisible(model != nullptr && model->has_problems);
    const QString rotated = model != nullptr ? QString::fromStdString(model->rotated) : QString();
    no_value_rotation_->setVisible(rotated.contains('v'));
    no_inverse_->setVisible(rotated.contains('o'));
    show(state_.change());
    showEffect();
    showSolved();
}

void ChangePanel::show(const ModelChange& change) {
    const QScopedValueRollback showing(showing_, true);
    change_ = change;
    layer_->setCurrentIndex(change.layer ? static_cast<int>(*change.layer) + 1 : 0);
    head_->setCurrentIndex(change.head ? static_cast<int>(*change.head) + 1 : 0);
    ablated_pairs_->showText(QString::fromStdString(change.mute));
    for (const auto& [box, member] : checks_)
        box->setChecked(change.*member);
    shift_->setValue(static_cast<int>(change.shift));
    base_->setValue(change.base);
    scaling_->setCurrentText(
        QString::fromStdString(allNames<ScalingMethod>().at(static_cast<std::size_t>(change.scaling))));
    factor_->setValue(change.factor);
    factor_->setEnabled(change.scaling != ScalingMethod::none);
    nothing_->setEnabled(change != ModelChange{});
}

void ChangePanel::showEffect() {
    const TextPredictions *before = state_.answer(answers::predictions),
                          *after = state_.answer(answers::changed_predictions);
    if (before == nullptr || before->nll.empty()) return setTextOrHide(*effect_, {});
    QString text = tr("loss %1 nats per token, perplexity %2")
                       .arg(fixedNumberText(before->loss, 4), numberText(std::exp(before->loss), 4));
    if (after != nullptr && after->nll.size() == before->nll.size())
        text +=
            tr("\nwith the change %1 (%2%3), perplexity %4")
                .arg(fixedNumberText(after->loss, 4),
                     after->loss < before->loss ? QString() : QStringLiteral("+"),
                     fixedNumberText(after->loss - before->loss, 4), numberText(std::exp(after->loss), 4));
    setTextOrHide(*effect_, text);
}

void ChangePanel::showSolved() {
    const SolvedAnswer* answer = state_.answer(answers::solved);
    if (answer == nullptr) return setTextOrHide(*solved_, {});
    const auto share = [](const std::vector<bool>& solved) {
        const std::int64_t count = SolvedAnswer::count(solved);
        const auto [low, high] = wilsonInterval(count, static_cast<std::int64_t>(solved.size()));
        return tr("%1 of %2 solved (95 % interval %3 to %4 %)")
            .arg(count)
            .arg(solved.size())
            .arg(fixedNumberText(100 * low, 0), fixedNumberText(100 * high, 0));
    };
    QString text = share(answer->solved);
    if (!state_.change().isEmpty())
        text += tr("\nwith the change %1; %2 no longer solved, %3 newly solved")
                    .arg(share(answer->changed))
                    .arg(answer->lost())
                    .arg(answer->gained());
    setTextOrHide(*solved_, text);
}

}  // namespace roper
