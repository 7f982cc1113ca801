#include <QHBoxLayout>
#include <QSplitter>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/controls/named.h"
#include "ui/live/token_texts.h"
#include "ui/pages/models/models_page.h"
#include "ui/theme/numbers.h"

// What the Models page shows of many passes: longer texts, layers, patching.

namespace roper {
namespace {

/// Rows of numbers as a matrix; all of one length.
std::shared_ptr<Eigen::MatrixXd> matrixOf(const std::vector<std::vector<double>>& rows) {
    auto matrix = std::make_shared<Eigen::MatrixXd>(static_cast<Eigen::Index>(rows.size()),
                                                    static_cast<Eigen::Index>(rows.front().size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t k = 0; k < rows[i].size(); ++k)
            (*matrix)(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) = rows[i][k];
    return matrix;
}

void finish(HeatMapView::Map& map, HeatMapView::Scale scale, double limit) {
    map.scale = scale;
    map.limit = limit;
    map.pyramid = HeatMapView::makePyramid(*map.values, scale, limit, false);
}

QColor colorOfScaling(const std::string& scaling) {
    if (scaling == "none") return Theme::rope();
    if (scaling == "linear") return Theme::key();
    return scaling == "ntk" ? Theme::value() : Theme::output();
}

}  // namespace

QWidget* ModelsPage::makeLengthsTab() {
    length_factor_ = named(new NumberEdit(1, 10000), tr("Factor of the scaled readings"),
                           tr("By how much frequencies are scaled for texts longer than those of training"));
    length_factor_->setHelp(length_factor_->toolTip());
    length_factor_->setValue(4);
    length_factor_->setMaximumWidth(zoomed(70));
    trained_ = named(new QSpinBox, tr("Tokens of the texts of training"), tr("0: what the model says"));
    trained_->setRange(0, 100000000);
    trained_->setSpecialValueText(tr("trained as the model says"));
    trained_->setSuffix(tr(" tokens trained"));
    read_longer_ =
        named(new QPushButton(tr("Read with scaled frequencies")), tr("Read with scaled frequencies"),
              tr("The loss by position: frequencies as they are, linear, NTK and YaRN; four passes"));
    connect(read_longer_, &QPushButton::clicked, this, [this] {
        Question question{"lengths"};
        question.change.factor = length_factor_->value();
        question.change.original_length = trained_->value();
        state_->request(need::lengths, question);
    });
    const Question usual;
    const auto edit = [](const QString& name, const QString& help, const std::string& text) {
        auto* line = named(new LineEdit, name, help);
        line->setText(QString::fromStdString(text));
        line->setCursorPosition(0);
        return line;
    };
    needle_text_ = edit(tr("Needle"), tr("A sentence that is hidden in the text"), usual.needle);
    needle_question_ = edit(tr("Question"), tr("What is put after the text"), usual.question);
    needle_answer_ = edit(tr("Answer"), tr("What should follow the question, with its blank"), usual.answer);
    hide_needle_ =
        named(new QPushButton(tr("Needle test")), tr("Needle test"),
              tr("Whether the model finds it, by the text's length and the needle's depth; 20 passes"));
    connect(hide_needle_, &QPushButton::clicked, this, [this] {
        Question question{"needle"};
        question.needle = needle_text_->text().toStdString();
        question.question = needle_question_->text().toStdString();
        question.answer = needle_answer_->text().toStdString();
        state_->request(need::needle, question);
    });
    lengths_->setEmptyText(tr("How the loss goes with the position in the text is shown here."));
    needle_map_->setEmptyText(tr("Where in the text the model finds the needle is shown here."));
    auto* first = new QHBoxLayout;
    for (QWidget* widget :
         std::initializer_list<QWidget*>{read_longer_, new QLabel(tr("factor")), length_factor_, trained_})
        first->addWidget(widget);
    first->addStretch(1);
    auto* second = new QHBoxLayout;
    second->addWidget(hide_needle_);
    second->addWidget(needle_text_, 3);
    second->addWidget(needle_question_, 4);
    second->addWidget(needle_answer_, 1);
    auto* pictures = new QSplitter(Qt::Vertical);
    pictures->addWidget(lengths_);
    pictures->addWidget(needle_map_);
    pictures->setChildrenCollapsible(false);
    auto* tab = new QWidget;
    auto* layout = new QVBoxLayout(tab);
    layout->addLayout(first);
    layout->addLayout(second);
    layout->addWidget(pictures, 1);
    return tab;
}

QWidget* ModelsPage::makeLayersTab() {
    lens_map_->setEmptyText(tr("What every layer would predict is shown here."));
    auto* tab = new QWidget;
    auto* layout = new QVBoxLayout(tab);
    layout->addWidget(lens_map_, 1);
    return tab;
}

QWidget* ModelsPage::makePatchTab() {
    other_ = named(new LineEdit, tr("Other text"), tr("As many tokens, to which another answer is right"));
    other_->setPlaceholderText(tr("another text of as many tokens, to which another answer is right"));
    patch_button_ =
        named(new QPushButton(tr("Patch every head")), tr("Patch every head"),
              tr("Each head's output of the text is put into a pass over the other text: how much of its "
                 "answer does that restore? A pass for every head"));
    connect(patch_button_, &QPushButton::clicked, this, [this] {
        Question question{"patch"};
        question.other = other_->text().toStdString();
        state_->request(need::patch, question);
    });
    patch_map_->setEmptyText(tr("Which heads carry the answer is shown here."));
    auto* bar = new QHBoxLayout;
    bar->addWidget(patch_button_);
    bar->addWidget(other_, 1);
    auto* pictures = new QSplitter(Qt::Vertical);
    pictures->addWidget(patch_map_);
    pictures->addWidget(patch_positions_);
    pictures->setSizes({420, 220});
    pictures->setChildrenCollapsible(false);
    auto* tab = new QWidget;
    auto* layout = new QVBoxLayout(tab);
    layout->addLayout(bar);
    layout->addWidget(pictures, 1);
    return tab;
}

void ModelsPage::connectStudies() {
    for (FigureView* view :
         std::initializer_list<FigureView*>{needle_map_, lens_map_, patch_map_, patch_positions_})
        connect(view, &FigureView::pointed, this, [this](const QString& text) { setReadout(text); });
    connect(lengths_, &CurveChart::pointed, this, [this](const QString& text) { setReadout(text); });
    connect(needle_map_, &HeatMapView::cellPointed, this, [this](int row, int column) {
        const NeedleAnswer* answer = state_->answer(need::needle);
        if (answer == nullptr || row < 0 || column < 0) return setReadout({});
        const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(column);
        setReadout(tr("%1 tokens, needle at %2 % of the text: −ln p of the answer %3 nats a token, %4")
                       .arg(answer->lengths[r])
                       .arg(noteNumber(100 * answer->depths[c], 3), fixedNumber(answer->nll[r][c], 3),
                            answer->found[r][c] ? tr("found") : tr("not found")));
    });
    connect(lens_map_, &HeatMapView::cellPointed, this,
            [this](int row, int column) { setReadout(pointedLayer(row, column)); });
    connect(patch_map_, &HeatMapView::cellPointed, this, [this](int row, int column) {
        const PatchAnswer* answer = state_->answer(need::patch);
        if (answer == nullptr || row < 0 || column < 0) return setReadout({});
        setReadout(
            tr("layer %1, head %2 restores %3 % of the difference; a click shows where")
                .arg(row)
                .arg(column)
                .arg(noteNumber(
                    100 * answer->restored[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)],
                    3)));
    });
    connect(patch_map_, &HeatMapView::cellClicked, this, [this](int row, int column) {
        if (state_->answer(need::patch) == nullptr || row < 0 || column < 0) return;
        state_->setHead(row, column);
        Question question{"patch"};
        question.other = other_->text().toStdString();
        question.positions = true;
        state_->request(need::patch_positions, question);
    });
    connect(patch_positions_, &BarChart::placePointed, this, [this](int place) {
        const PatchAnswer* answer = state_->answer(need::patch_positions);
        if (answer == nullptr || place < 0) return setReadout({});
        const auto token = static_cast<std::size_t>(place);
        setReadout(tr("token %1, “%2” (in the other text “%3”): restores %4 %")
                       .arg(place)
                       .arg(shownToken(answer->tokens[token]), shownToken(answer->other_tokens[token]),
                            noteNumber(100 * answer->restored.front()[token], 3)));
    });
}

/// Means over windows of the text: single tokens scatter too much to be compared.
void ModelsPage::showLengths() {
    const LengthsAnswer* answer = state_->answer(need::lengths);
    if (answer == nullptr) return lengths_->setCurves({}, {});
    constexpr std::size_t kWindows = 48;
    std::vector<CurveChart::Curve> curves;
    std::size_t window = 1;
    for (const LengthsAnswer::Variant& variant : answer->variants) {
        const std::vector<double>& nll = variant.nll;
        window = std::max<std::size_t>(1, (nll.size() + kWindows - 1) / kWindows);
        QVector<double> x, y;
        for (std::size_t begin = 0; begin < nll.size(); begin += window) {
            const std::size_t end = std::min(nll.size(), begin + window);
            x << static_cast<double>(begin + end) / 2;
            y << std::accumulate(nll.begin() + static_cast<std::ptrdiff_t>(begin),
                                 nll.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
                     static_cast<double>(end - begin);
        }
        const QString name = QString::fromStdString(variant.scaling);
        const double mean = std::accumulate(nll.begin(), nll.end(), 0.0) / static_cast<double>(nll.size());
        curves.push_back(
            {name,
             tr("%1: %2 nats")
                 .arg(variant.scaling == "none" ? tr("as they are") : name, fixedNumber(mean, 3)),
             colorOfScaling(variant.scaling),
             x,
             y,
             false,
             variant.scaling == "none",
             {}});
    }
    std::vector<CurveChart::Mark> marks;
    if (answer->trained > 0 && static_cast<double>(answer->trained) < curves.front().x.back())
        marks.push_back({static_cast<double>(answer->trained), tr("trained")});
    lengths_->setTitle(tr("Loss by position, frequencies scaled by %1 (means over %2 tokens)")
                           .arg(noteNumber(answer->factor, 4))
                           .arg(window));
    lengths_->setCaption(tr("−ln p by position, frequencies as they are and scaled by %1 from %2 tokens on")
                             .arg(noteNumber(answer->factor, 4))
                             .arg(answer->trained));
    lengths_->setCurves(curves, marks);
}

void ModelsPage::showNeedle() {
    const NeedleAnswer* answer = state_->answer(need::needle);
    if (answer == nullptr) return needle_map_->setMap({});
    HeatMapView::Map map;
    const auto values = matrixOf(answer->nll);
    map.values = values;
    for (const std::int64_t length : answer->lengths)
        map.row_labels << QString::number(length);
    for (const double depth : answer->depths)
        map.column_labels << tr("%1 %").arg(noteNumber(100 * depth, 3));
    map.row_name = tr("tokens");
    map.column_name = tr("needle's depth");
    map.value_name = tr("−ln p, nats");
    finish(map, HeatMapView::Scale::sequential, std::max(0.1, values->maxCoeff()));
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

void ModelsPage::showLens() {
    const LensAnswer* answer = state_->answer(need::lens);
    if (answer == nullptr || answer->nll.front().empty()) return lens_map_->setMap({});
    HeatMapView::Map map;
    const auto values = matrixOf(answer->nll);
    map.values = values;
    map.row_labels << tr("emb");
    for (std::size_t layer = 0; layer + 1 < answer->nll.size(); ++layer)
        map.row_labels << QString::number(layer);
    map.row_labels_are_names = true;
    map.column_labels = shownTokens(answer->tokens).mid(0, values->cols());
    map.row_name = tr("after layer");
    map.column_name = tr("token");
    map.value_name = tr("−ln p, nats");
    constexpr double kDarkest_nats = 12;
    finish(map, HeatMapView::Scale::sequential, std::min(kDarkest_nats, std::max(0.1, values->maxCoeff())));
    lens_map_->setTitle(tr("−ln p of the token that follows, read off after every layer (logit lens)"));
    lens_map_->setCaption(
        tr("−ln p of the next token from the residual stream after every layer, by the final norm and head"));
    lens_map_->setMap(std::move(map));
}

QString ModelsPage::pointedLayer(int row, int column) const {
    const LensAnswer* answer = state_->answer(need::lens);
    if (answer == nullptr || row < 0 || column < 0) return {};
    const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(column);
    const QString where = row == 0 ? tr("the embeddings") : tr("layer %1").arg(row - 1);
    return tr("after %1, “%2” is followed by “%3” (%4); by “%5”, as it is, with −ln p %6 nats")
        .arg(where, shownToken(answer->tokens[c]), shownToken(answer->top[r][c]),
             probabilityText(answer->probability[r][c]), shownToken(answer->tokens[c + 1]),
             fixedNumber(answer->nll[r][c], 3));
}

void ModelsPage::showPatch() {
    const PatchAnswer* answer = state_->answer(need::patch);
    if (answer == nullptr) return patch_map_->setMap({});
    HeatMapView::Map map;
    const auto values = matrixOf(answer->restored);
    map.values = values;
    map.row_name = tr("layer");
    map.column_name = tr("head");
    map.value_name = tr("share restored");
    finish(map, HeatMapView::Scale::diverging, HeatMapView::limitOf(*values, false));
    patch_map_->setTitle(tr("Share of “%1” against “%2” that each head restores")
                             .arg(shownToken(answer->answer), shownToken(answer->other_answer)));
    patch_map_->setCaption(tr("Activation patching: the share of the difference between the logits of “%1” "
                              "and “%2” that a head's output restores")
                               .arg(shownToken(answer->answer), shownToken(answer->other_answer)));
    patch_map_->setMap(std::move(map));
    patch_map_->setMarked(state_->layer(), state_->head());
}

void ModelsPage::showPatchPositions() {
    const PatchAnswer* answer = state_->answer(need::patch_positions);
    patch_positions_->clearPlaceNames();
    if (answer == nullptr) return patch_positions_->setBars({}, {});
    std::vector<int> places(answer->tokens.size());
    std::iota(places.begin(), places.end(), 0);
    patch_positions_->setHeadline(
        tr("What layer %1, head %2 restores, position by position").arg(answer->layer).arg(answer->head));
    patch_positions_->setCaption(
        tr("Activation patching of layer %1, head %2, by position").arg(answer->layer).arg(answer->head));
    patch_positions_->setBars(
        places,
        {{QStringLiteral("restored"), tr("share restored"), Theme::output(), answer->restored.front(), {}}});
}

}  // namespace roper
