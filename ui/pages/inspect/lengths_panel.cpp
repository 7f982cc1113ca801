#include "ui/pages/inspect/lengths_panel.h"

#include <QLabel>
#include <algorithm>
#include <numeric>

#include "ui/controls/layout_helpers.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

QColor colorOfScaling(const std::string& scaling) {
    if (scaling == "none") return Theme::rope();
    if (scaling == "linear") return Theme::key();
    return scaling == "ntk" ? Theme::value() : Theme::output();
}

QString nameOfScaling(const std::string& scaling) {
    if (scaling == "none") return LengthsPanel::tr("unscaled");
    if (scaling == "ntk") return LengthsPanel::tr("NTK-aware");
    return scaling == "yarn" ? LengthsPanel::tr("YaRN") : QString::fromStdString(scaling);
}

}  // namespace

LengthsPanel::LengthsPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Longer text"), tr("Texts longer than in training"), models, parent),
      lengths_(new CurveChart(QStringLiteral("longer-text"), tr("position"), tr("−ln p, nats"), this)),
      needle_map_(
          makeMap(QStringLiteral("needle"),
                  tr("For language models, “Needle test” shows whether the model finds a sentence hidden "
                     "in the text above."),
                  answers::needle, &LengthsPanel::needleReadout)) {
    length_factor_ = named(new NumberEdit(1, 10000), tr("Scaling factor"),
                           tr("Factor by which frequencies are scaled for texts longer than in training"));
    length_factor_->setHelp(length_factor_->toolTip());
    length_factor_->setValue(4);
    length_factor_->setMaximumWidth(zoomed(70));
    trained_ = named(new QSpinBox, tr("Length of training texts in tokens"), tr("0: as the model states"));
    trained_->setRange(0, 100000000);
    trained_->setSpecialValueText(tr("as the model states"));
    trained_->setSuffix(tr(" tokens per training text"));
    read_longer_ =
        named(new QPushButton(tr("Read with scaled frequencies")), tr("Read with scaled frequencies"),
              tr("The loss by position: frequencies unscaled, linear, NTK-aware and YaRN; four passes"));
    connect(read_longer_, &QPushButton::clicked, this, [this] {
        Question question{"lengths"};
        question.change.factor = length_factor_->value();
        question.change.original_length = trained_->value();
        state().request(answers::lengths, question);
    });
    const Question usual;
    const auto edit = [](const QString& name, const QString& help, const std::string& text) {
        auto* line = named(new LineEdit, name, help);
        line->setText(QString::fromStdString(text));
        line->setCursorPosition(0);
        return line;
    };
    needle_text_ = edit(tr("Needle"), tr("A sentence hidden in the text"), usual.needle);
    needle_question_ = edit(tr("Question"), tr("Appended to the text"), usual.question);
    needle_answer_ =
        edit(tr("Answer"), tr("What should follow the question, including the leading space"), usual.answer);
    hide_needle_ = named(
        new QPushButton(tr("Needle test")), tr("Needle test"),
        tr("Whether the model finds the needle, by the text's length and the needle's depth; 20 passes"));
    connect(hide_needle_, &QPushButton::clicked, this, [this] {
        Question question{"needle"};
        question.needle = needle_text_->text().toStdString();
        question.question = needle_question_->text().toStdString();
        question.answer = needle_answer_->text().toStdString();
        state().request(answers::needle, question);
    });
    lengths_->setEmptyText(
        tr("“Read with scaled frequencies” shows the loss at every position of the text above."));
    forwardReadouts(lengths_);
    columnOf({makeFlowRow({read_longer_, new QLabel(tr("factor")), length_factor_, trained_}),
              rowOf({hide_needle_, {needle_text_, 3}, {needle_question_, 4}, {needle_answer_, 1}}),
              {makeSplitter(Qt::Vertical, {lengths_, needle_map_}, {}), 1}},
             this);
}

void LengthsPanel::prepare(const QString& figure, const InspectFigureSettings& picture) {
    if (figure == needle_map_->figureName())
        state().request(answers::needle, picture.question);
    else
        state().request(answers::lengths, picture.question);
}

void LengthsPanel::refresh() {
    const bool is_open = state().summary() != nullptr;
    read_longer_->setEnabled(is_open);
    // Vocabularies of tasks with problems lack the letters of a sentence.
    hide_needle_->setEnabled(is_open && !state().summary()->has_problems);
    showLengths();
    showNeedle();
}

QString LengthsPanel::needleReadout(const NeedleAnswer& answer, std::size_t row, std::size_t column) const {
    return tr("%1 tokens, needle at %2 % of the text: −ln p of the answer %3 nats per token, %4")
        .arg(answer.lengths[row])
        .arg(numberText(100 * answer.depths[column], 3), fixedNumberText(answer.nll[row][column], 3),
             answer.found[row][column] ? tr("found") : tr("not found"));
}

/// Draws means over windows of the text, because the losses of single tokens are too noisy to compare.
void LengthsPanel::showLengths() {
    const LengthsAnswer* answer = state().answer(answers::lengths);
    if (answer == nullptr) {
        lengths_->setTitle({});
        return lengths_->setCurves({}, {});
    }
    constexpr std::size_t kWindows = 48;
    std::vector<CurveChart::Curve> curves;
    std::size_t window = 1;
    for (const LengthsAnswer::Variant& variant : answer->variants) {
        const std::vector<double>& nll = variant.nll;
        window = std::max<std::size_t>(1, (nll.size() + kWindows - 1) / kWindows);
        QVector<double> x, y;
        for (std::size_t begin = 0; begin < nll.size(); begin += window) {
            const std::size_t end = std::min(nll.size(), begin + window);
            x << static_cast<double>(begin + end - 1) / 2;
            y << std::accumulate(nll.begin() + static_cast<std::ptrdiff_t>(begin),
                                 nll.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
                     static_cast<double>(end - begin);
        }
        const QString name = QString::fromStdString(variant.scaling);
        const double mean = std::accumulate(nll.begin(), nll.end(), 0.0) / static_cast<double>(nll.size());
        const bool is_plain = variant.scaling == "none";
        const QString label = tr("%1: %2 nats").arg(nameOfScaling(variant.scaling), fixedNumberText(mean, 3));
        curves.push_back({name, label, colorOfScaling(variant.scaling), x, y, false, is_plain, {}});
    }
    std::vector<CurveChart::Mark> marks;
    if (answer->trained > 0 && static_cast<double>(answer->trained) < curves.front().x.back())
        marks.push_back({static_cast<double>(answer->trained), tr("training length")});
    const QString title = tr("Loss by position, frequencies scaled by %1").arg(numberText(answer->factor, 4));
    lengths_->setTitle(window == 1 ? title : tr("%1 (means over %2 tokens)").arg(title).arg(window));
    lengths_->setCaption(
        tr("−ln p by position, frequencies unscaled and scaled by %1; original context %2 tokens")
            .arg(numberText(answer->factor, 4))
            .arg(answer->trained));
    lengths_->setCurves(curves, marks);
}

void LengthsPanel::showNeedle() {
    const NeedleAnswer* answer = state().answer(answers::needle);
    if (answer == nullptr) {
        needle_map_->setTitle({});
        return needle_map_->setMap({});
    }
    HeatMapView::Map map = answerMap(answer->nll, {tr("tokens"), tr("needle's depth"), tr("−ln p, nats")},
                                     HeatMapView::Scale::sequential, std::max(0.1, largestOf(answer->nll)));
    for (const std::int64_t length : answer->lengths)
        map.row_labels << QString::number(length);
    for (const double depth : answer->depths)
        map.column_labels << tr("%1 %").arg(numberText(100 * depth, 3));
    int found = 0, all = 0;
    for (const auto& row : answer->found)
        for (const bool one : row) {
            found += one ? 1 : 0;
            ++all;
        }
    needle_map_->setTitle(
        tr("The answer's −ln p by length and depth; found in %1 of %2").arg(found).arg(all));
    needle_map_->setCaption(tr("−ln p of the answer's tokens by the text's length and the needle's depth"));
    needle_map_->setMap(std::move(map));
}

}  // namespace roper
