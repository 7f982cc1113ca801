#include "ui/pages/inspect/walkthrough_panel.h"

#include <QKeyEvent>
#include <QScopedValueRollback>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/controls/layout_helpers.h"
#include "ui/live/token_texts.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

double normOf(const std::vector<double>& vector) {
    return std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0));
}

/// What each pair adds to the score of the rotated query and a rotated key.
std::vector<double> pairScores(const Walkthrough& w, std::size_t key) {
    std::vector<double> scores;
    for (const std::vector<int>& pair : w.pairs) {
        double sum = 0;
        for (const int feature : pair) {
            const auto i = static_cast<std::size_t>(feature);
            sum += w.rotated_query[i] * w.rotated_keys[key][i];
        }
        scores.push_back(w.scale * sum);
    }
    return scores;
}

/// "“ the” (token 3)", as rich text.
QString tokenAsHtml(const Walkthrough& w, std::size_t token) {
    return WalkthroughPanel::tr("“%1” (token %2)")
        .arg(formatToken(w.tokens[token]), QString::number(token))
        .toHtmlEscaped();
}

/// "“ cat” 12.3 %, “ dog” 4.5 %", as rich text.
QString predictionsAsHtml(const std::vector<Prediction>& predictions, std::size_t most) {
    QStringList parts;
    for (std::size_t i = 0; i < std::min(most, predictions.size()); ++i)
        parts << QStringLiteral("“%1” %2").arg(formatToken(predictions[i].token),
                                               probabilityText(predictions[i].probability));
    return parts.join(QStringLiteral(", ")).toHtmlEscaped();
}

QString number(double value) {
    return numberText(value, 3);
}

}  // namespace

struct WalkthroughPanel::Stage {
    QString name, title;
    QString (WalkthroughPanel::*show)(const Walkthrough&);
    bool has_key = false;     ///< whether it shows the key j
    bool has_arrows = false;  ///< otherwise it is drawn as bars
    /// Whether the model has this stage.
    bool (*applies_to)(const Walkthrough&) = [](const Walkthrough&) { return true; };
};

const std::vector<WalkthroughPanel::Stage>& WalkthroughPanel::allStages() {
    using W = const Walkthrough&;
    static const std::vector<Stage> stages{
        {QStringLiteral("residual"), tr("Residual stream"), &WalkthroughPanel::showResidual},
        {QStringLiteral("projections"), tr("Query, key, value"), &WalkthroughPanel::showProjections, true},
        {QStringLiteral("rotation"), tr("Rotation"), &WalkthroughPanel::showRotation, true, true,
         [](W w) { return rotates(w, 'q') || rotates(w, 'k'); }},
        {QStringLiteral("scores"), tr("Scores"), &WalkthroughPanel::showScores, true},
        {QStringLiteral("weights"), tr("Weights"), &WalkthroughPanel::showWeights, true},
        {QStringLiteral("value_rotation"), tr("Rotation of values"), &WalkthroughPanel::showValueRotation,
         true, true, [](W w) { return rotates(w, 'v'); }},
        {QStringLiteral("sum"), tr("Weighted sum"), &WalkthroughPanel::showSum},
        {QStringLiteral("rotation_back"), tr("Rotation back"), &WalkthroughPanel::showRotationBack, false,
         true, [](W w) { return rotates(w, 'o'); }},
        {QStringLiteral("output"), tr("Output"), &WalkthroughPanel::showOutput, false, false,
         [](W w) { return !w.added.empty(); }},
        {QStringLiteral("prediction"), tr("Prediction"), &WalkthroughPanel::showPrediction, false, false,
         [](W w) { return !w.predictions.empty(); }}};
    return stages;
}

std::vector<std::string> WalkthroughPanel::stageNames() {
    return mapped(allStages(), [](const Stage& stage) { return stage.name.toStdString(); });
}

WalkthroughPanel::WalkthroughPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Walkthrough"), tr("One head and one token, from the residual stream to the prediction"),
                 models, parent),
      stages_(named(new QListWidget, tr("Stage"),
                    tr("The stages of the computation; go through them with the arrow keys"))),
      text_(messageLabel()),
      stack_(new QStackedWidget),
      bars_(new BarChart(QStringLiteral("walkthrough"), tr("token"), {}, this)),
      arrows_(new PairArrows(QStringLiteral("walkthrough-pairs"), this)),
      layer_(named(new QSpinBox, tr("Layer of the walkthrough"))),
      head_(named(new QSpinBox, tr("Head of the walkthrough"))),
      token_(named(new QSpinBox, tr("Token n"), tr("The token whose query is followed"))),
      key_(named(new QSpinBox, tr("Key j"), tr("The token whose key and value are shown beside it"))),
      back_(named(makeActionButton(tr("← Back"), {}, this, [this] { move(-1); }), tr("Previous stage"))),
      next_(named(makeActionButton(tr("Next →"), {}, this, [this] { move(1); }), tr("Next stage"))) {
    stages_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    stages_->installEventFilter(this);
    text_->setTextFormat(Qt::RichText);
    text_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    layer_->setPrefix(tr("layer "));
    head_->setPrefix(tr("head "));
    token_->setPrefix(tr("token n = "));
    key_->setPrefix(tr("key j = "));
    for (QSpinBox* input : {layer_, head_, token_, key_})
        input->setKeyboardTracking(false);  // a number is read when it is complete
    connect(&models.state, &InspectState::tokenChanged, this, &WalkthroughPanel::refreshWhenVisible);
    connect(stages_, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
        if (is_filling_ || item == nullptr) return;
        chosen_ = item->data(Qt::UserRole).toString();
        fillInputs();
        showStage();
    });
    for (QSpinBox* input : {layer_, head_})
        connect(input, &QSpinBox::valueChanged, this, [this] {
            if (!is_filling_) state().setHead(layer_->value(), head_->value());
        });
    connect(token_, &QSpinBox::valueChanged, this, [this](int token) {
        if (!is_filling_) state().setToken(token);
    });
    connect(key_, &QSpinBox::valueChanged, this, [this](int key) {
        if (is_filling_) return;
        chosen_key_ = key;
        text_of_key_ = state().text();
        refresh();
    });
    connect(bars_, &BarChart::categoryClicked, this, [this](int token) {
        const Stage* stage = shownStage();
        if (stage != nullptr && (stage->name == "scores" || stage->name == "weights")) key_->setValue(token);
    });
    forwardReadouts(bars_, arrows_);
    stack_->addWidget(bars_);
    stack_->addWidget(arrows_);
    auto* left =
        wrapInWidget(columnOf({rowOf({layer_, head_}), token_, key_, {stages_, 1}, rowOf({back_, next_})}));
    auto* right = wrapInWidget(columnOf({text_, {stack_, 1}}));
    columnOf({{makeSplitter(Qt::Horizontal, {left, right}, {190, 700}), 1}}, this);
}

const Walkthrough* WalkthroughPanel::walkthrough() const {
    const Walkthrough* answer = answerForHead(answers::walkthrough);
    if (answer == nullptr) return nullptr;
    const std::int64_t token = state().token().value_or(static_cast<int>(answer->tokens.size()) - 1);
    return answer->token == token ? answer : nullptr;
}

const WalkthroughPanel::Stage& WalkthroughPanel::stageNamed(const QString& name) {
    const auto found = std::ranges::find(allStages(), name, &Stage::name);
    return found == allStages().end() ? allStages().front() : *found;
}

const WalkthroughPanel::Stage* WalkthroughPanel::shownStage() const {
    const QListWidgetItem* item = stages_->currentItem();
    return item == nullptr ? nullptr : &stageNamed(item->data(Qt::UserRole).toString());
}

void WalkthroughPanel::prepare(const QString& figure, const InspectFigureSettings& picture) {
    const bool has_arrows = figure == arrows_->figureName();
    chosen_ = QString::fromStdString(picture.stage.value_or(has_arrows ? "rotation" : "weights"));
    const Stage& stage = stageNamed(chosen_);
    if (stage.has_arrows != has_arrows) {
        const QString right = has_arrows ? bars_->figureName() : arrows_->figureName();
        throw Error(ErrorKind::usage, "the stage " + chosen_.toStdString() + " is drawn by the figure " +
                                          right.toStdString() + ", not by " + figure.toStdString());
    }
    Walkthrough of_model;  // has only what `applies_to` reads for stages with arrows
    of_model.rotated = state().summary()->rotated;
    if (stage.has_arrows && !stage.applies_to(of_model))
        throw Error(ErrorKind::usage,
                    "this model has no stage " + chosen_.toStdString() + "; of q, k, v and o, " +
                        (of_model.rotated.empty() ? "none rotates" : "it rotates " + of_model.rotated));
    if (picture.token) state().setToken(static_cast<int>(*picture.token));
    if (picture.key && picture.token && *picture.key > *picture.token && state().summary()->causal)
        throw Error(ErrorKind::usage, "token " + std::to_string(*picture.token) + " does not see key " +
                                          std::to_string(*picture.key));
    if (picture.key) {
        chosen_key_ = static_cast<int>(*picture.key);
        text_of_key_ = state().text();
    }
}

void WalkthroughPanel::refresh() {
    fillStages();
    fillInputs();
    showStage();
}

/// Lists the stages that the model has. If the chosen stage is not among them, the first is shown.
void WalkthroughPanel::fillStages() {
    const QScopedValueRollback filling(is_filling_, true);
    const Walkthrough* w = walkthrough();
    if (w == nullptr && stages_->count() > 0) return;  // keeps the list until the answer arrives
    stages_->clear();
    for (const Stage& stage : allStages()) {
        if (w != nullptr && !stage.applies_to(*w)) continue;
        auto* item = new QListWidgetItem(tr("%1  %2").arg(stages_->count() + 1).arg(stage.title), stages_);
        item->setData(Qt::UserRole, stage.name);
        if (stage.name == chosen_) stages_->setCurrentItem(item);
    }
    if (stages_->currentRow() < 0) stages_->setCurrentRow(0);
}

void WalkthroughPanel::fillInputs() {
    const QScopedValueRollback filling(is_filling_, true);
    const Walkthrough* w = walkthrough();
    const ModelSummary* model = state().summary();
    for (QSpinBox* input : {layer_, head_})
        input->setEnabled(model != nullptr);
    if (model != nullptr) {
        layer_->setRange(0, static_cast<int>(model->layers) - 1);
        head_->setRange(0, static_cast<int>(model->heads) - 1);
        layer_->setValue(state().layer());
        head_->setValue(state().head());
    }
    const Stage* stage = shownStage();
    key_->setEnabled(w != nullptr && stage != nullptr && stage->has_key);
    if (w == nullptr) return;
    const int last = static_cast<int>(w->tokens.size()) - 1;
    token_->setRange(0, last);
    token_->setValue(static_cast<int>(w->token));
    key_->setRange(0, model == nullptr || model->causal ? static_cast<int>(w->token) : last);
    const auto heaviest = std::ranges::max_element(w->weights) - w->weights.begin();
    const bool is_chosen = chosen_key_ && text_of_key_ == state().text() && *chosen_key_ <= key_->maximum();
    key_->setValue(is_chosen ? *chosen_key_ : static_cast<int>(heaviest));
    const auto suffix = [&](int token) {
        constexpr int kLetters = 8;
        return tr("  “%1”").arg(formatToken(w->tokens[static_cast<std::size_t>(token)]).left(kLetters));
    };
    token_->setSuffix(suffix(token_->value()));
    key_->setSuffix(suffix(key_->value()));
}

void WalkthroughPanel::move(int by) {
    stages_->setCurrentRow(std::clamp(stages_->currentRow() + by, 0, stages_->count() - 1));
    // If a focused button is disabled, Qt moves the focus to the widget after it.
    if (!(by < 0 ? back_ : next_)->isEnabled()) stages_->setFocus();
}

bool WalkthroughPanel::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Left || key == Qt::Key_Right) {
            move(key == Qt::Key_Left ? -1 : 1);
            return true;
        }
    }
    return ModelPanel::eventFilter(watched, event);
}

void WalkthroughPanel::showStage() {
    const Walkthrough* w = walkthrough();
    const Stage* stage = shownStage();
    back_->setEnabled(w != nullptr && stages_->currentRow() > 0);
    next_->setEnabled(w != nullptr && stages_->currentRow() + 1 < stages_->count());
    if (stage == nullptr) return;
    stack_->setCurrentWidget(stage->has_arrows ? static_cast<QWidget*>(arrows_) : bars_);
    bars_->setBars({}, {});
    arrows_->setVectors({}, {});
    const QString empty = state().placeholder(tr("The computation of one head is shown here."));
    bars_->setEmptyText(empty);
    arrows_->setEmptyText(empty);
    if (w == nullptr || keyIndex() >= w->tokens.size()) return text_->clear();
    bars_->clearCategoryNames();
    bars_->setMarked(-1);
    QString text = (this->*stage->show)(*w);
    for (const WalkthroughNote& note : w->notes)
        if (QString::fromStdString(note.stage) == stage->name)
            text += QStringLiteral("<br>") + QString::fromStdString(note.text).toHtmlEscaped();
    text_->setText(text);
    const QString caption =
        tr("%1 of %2, token %3 (“%4”): %5")
            .arg(headTitle(state().layer(), state().head()), modelName())
            .arg(w->token)
            .arg(formatToken(w->tokens[static_cast<std::size_t>(w->token)]), stage->title);
    bars_->setCaption(caption);
    arrows_->setCaption(caption);
}

void WalkthroughPanel::showOverTokens(const Walkthrough& w, const QString& key, const QString& label,
                                      const QColor& color, const std::vector<double>& values) {
    constexpr std::size_t kNamed = 14;  // more names would not fit
    const auto tokens = static_cast<std::size_t>(key_->maximum()) + 1;
    if (tokens <= kNamed)
        for (std::size_t token = 0; token < tokens; ++token)
            bars_->setCategoryName(static_cast<int>(token), formatToken(w.tokens[token]));
    bars_->setHeadline(label);
    bars_->setMarked(key_->value());
    showBars(
        tr("token"),
        {{key, label, color, {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(tokens)}, {}}});
}

void WalkthroughPanel::showBars(const QString& x_name, const std::vector<BarChart::Series>& series,
                                int first) {
    std::vector<int> categories(series.front().values.size());
    std::iota(categories.begin(), categories.end(), first);
    bars_->setXName(x_name);
    bars_->setBars(categories, series);
}

QString WalkthroughPanel::showResidual(const Walkthrough& w) {
    constexpr int kEmbeddings = -1;
    bars_->setCategoryName(kEmbeddings, tr("emb"));
    bars_->setHeadline(
        tr("‖x‖ of the token in the residual stream; marked: what layer %1 receives").arg(w.layer));
    bars_->setMarked(static_cast<int>(w.layer) - 1);
    showBars(tr("after layer"),
             {{QStringLiteral("length"), tr("‖x‖"), Theme::of(palette()).frame, w.residual, {}}},
             kEmbeddings);
    const auto before = static_cast<std::size_t>(w.layer);
    QString text = tr("%1 arrives at layer %2 as the vector x<sub>n</sub> of norm %3.")
                       .arg(tokenAsHtml(w, static_cast<std::size_t>(w.token)), QString::number(w.layer),
                            number(w.residual[before]));
    if (!w.lens.empty())
        text += ' ' + tr("Decoded at this point (logit lens), it predicts %1.")
                          .arg(predictionsAsHtml({w.lens[before]}, 1));
    return text;
}

QString WalkthroughPanel::showProjections(const Walkthrough& w) {
    std::vector<BarChart::Series> series{
        {QStringLiteral("query"), tr("query q"), Theme::query(), w.query, {}},
        {QStringLiteral("key"), tr("key k"), Theme::key(), w.keys[keyIndex()], {}}};
    if (w.values[keyIndex()].size() == w.query.size())
        series.push_back({QStringLiteral("value"), tr("value v"), Theme::value(), w.values[keyIndex()], {}});
    bars_->setHeadline(tr("before any rotation"));
    showBars(tr("feature"), series);
    return tr("The normalized x of each token is multiplied by three matrices: query q<sub>n</sub> (norm "
              "%1), and key and value of %2 (norms %3 and %4).")
        .arg(number(normOf(w.query)), tokenAsHtml(w, keyIndex()), number(normOf(w.keys[keyIndex()])),
             number(normOf(w.values[keyIndex()])));
}

QString WalkthroughPanel::showRotation(const Walkthrough& w) {
    const std::vector<double> scores = pairScores(w, keyIndex());
    arrows_->setHeadline(
        tr("Each pair, with what it adds to the score. An arrow is as long as the square root of "
           "the norm; query and key are scaled separately"));
    arrows_->setVectors(
        w.pairs,
        {{QStringLiteral("query"), tr("query"), Theme::query(), w.query, w.rotated_query},
         {QStringLiteral("key"), tr("key"), Theme::key(), w.keys[keyIndex()], w.rotated_keys[keyIndex()]}},
        scores, tr("adds to the score"));
    const auto [least, most] = std::ranges::minmax_element(scores);
    const std::size_t unrotated = w.query.size() - 2 * w.pairs.size();
    QString text = rotates(w, 'q') && rotates(w, 'k')
                       ? tr("Pair i of the query is rotated by n θ<sub>i</sub>, pair i of the key by j "
                            "θ<sub>i</sub>: position enters the score only through n − j = %1.")
                             .arg(static_cast<int>(w.token) - key_->value())
                       : tr("Only the %1 is rotated by its position, so the score depends on that position "
                            "rather than on the distance.")
                             .arg(rotates(w, 'q') ? tr("query") : tr("key"));
    text += ' ' + tr("Pair %1 adds most (%2).").arg(most - scores.begin()).arg(number(*most));
    if (*least < 0)
        text += ' ' + tr("Pair %1 subtracts most (%2).").arg(least - scores.begin()).arg(number(*least));
    if (unrotated > 0) text += ' ' + tr("%1 features do not rotate.").arg(unrotated);
    return text;
}

QString WalkthroughPanel::showScores(const Walkthrough& w) {
    showOverTokens(w, QStringLiteral("score"), tr("score of each key; click one to choose it"), Theme::key(),
                   w.scores);
    const double score = w.scores[keyIndex()];
    const QString key = tokenAsHtml(w, keyIndex());
    QString text =
        tr("s<sub>nj</sub> = c ⟨%1, %2⟩ with c = %3.")
            .arg(rotates(w, 'q') ? tr("R(n) q<sub>n</sub>") : tr("q<sub>n</sub>"),
                 rotates(w, 'k') ? tr("R(j) k<sub>j</sub>") : tr("k<sub>j</sub>"), number(w.scale)) +
        ' ';
    if (std::isnan(score)) return text + tr("The query does not see %1.").arg(key);
    text += tr("For %1: %2").arg(key, number(score));
    if (!w.pairs.empty() && 2 * w.pairs.size() < w.query.size()) {
        const std::vector<double> pairs = pairScores(w, keyIndex());
        text +=
            tr(", %1 of it from rotated pairs").arg(number(std::accumulate(pairs.begin(), pairs.end(), 0.0)));
    }
    return text + '.';
}

QString WalkthroughPanel::showWeights(const Walkthrough& w) {
    showOverTokens(w, QStringLiteral("weight"), tr("weight of each key; click one to choose it"),
                   Theme::key(), w.weights);
    const auto heaviest = static_cast<std::size_t>(std::ranges::max_element(w.weights) - w.weights.begin());
    const double sum = std::accumulate(w.weights.begin(), w.weights.end(), 0.0);
    QString text = w.attention == "softmax"
                       ? tr("The softmax turns the scores into weights a<sub>nj</sub>, which sum to %1.")
                   : w.attention == "linear_cosine"
                       ? tr("Linear attention: a<sub>nj</sub> is 1 + s<sub>nj</sub>, divided by the sum of "
                            "these over all visible keys; the weights sum to %1.")
                       : tr("Linear attention: a<sub>nj</sub> is s<sub>nj</sub>, divided by the sum of the "
                            "scores without rotation; the weights sum to %1.");
    text = text.arg(number(sum)) + ' ' +
           tr("The largest, %1, goes to %2.")
               .arg(probabilityText(w.weights[heaviest]), tokenAsHtml(w, heaviest));
    if (keyIndex() != heaviest)
        text +=
            ' ' + tr("%1 has %2.").arg(tokenAsHtml(w, keyIndex()), probabilityText(w.weights[keyIndex()]));
    return text;
}

QString WalkthroughPanel::showValueRotation(const Walkthrough& w) {
    arrows_->setHeadline(
        tr("The value of token %1. An arrow is as long as the square root of the norm").arg(keyIndex()));
    arrows_->setVectors(w.value_pairs, {{QStringLiteral("value"), tr("value"), Theme::value(),
                                         w.values[keyIndex()], w.rotated_values[keyIndex()]}});
    return tr("Each value, too, is rotated by its position: R(j) v<sub>j</sub>, here of %1. This is what "
              "RoPER adds.")
        .arg(tokenAsHtml(w, keyIndex()));
}

QString WalkthroughPanel::showSum(const Walkthrough& w) {
    bars_->setHeadline(tr("features of the weighted sum"));
    showBars(tr("feature"), {{QStringLiteral("sum"), tr("Σ a v"), Theme::output(), w.sum, {}}});
    return (!rotates(w, 'v') ? tr("The weighted sum of the values: Σ<sub>j</sub> a<sub>nj</sub> "
                                  "v<sub>j</sub>, of norm %1. They are not rotated, so nothing "
                                  "in the sum itself marks how far away each value was.")
                             : tr("The weighted sum of the rotated values: Σ<sub>j</sub> "
                                  "a<sub>nj</sub> R(j) v<sub>j</sub>, of norm %1."))
        .arg(number(normOf(w.sum)));
}

QString WalkthroughPanel::showRotationBack(const Walkthrough& w) {
    arrows_->setHeadline(tr("The output of the head. An arrow is as long as the square root of the norm"));
    arrows_->setVectors(w.value_pairs,
                        {{QStringLiteral("output"), tr("output"), Theme::output(), w.sum, w.output}});
    return tr(
        "The sum is rotated back by the position of the query: o<sub>n</sub> = R(−n) Σ<sub>j</sub> "
        "a<sub>nj</sub> R(j) v<sub>j</sub>. In effect, each value has been rotated by −(n − j), the "
        "negative of its distance from the query.");
}

QString WalkthroughPanel::showOutput(const Walkthrough& w) {
    bars_->setHeadline(tr("‖W o‖ of each head of layer %1").arg(w.layer));
    bars_->setMarked(static_cast<int>(w.head));
    showBars(tr("head"), {{QStringLiteral("length"), tr("‖W o‖"), Theme::output(), w.added, {}}});
    const auto head = static_cast<std::size_t>(w.head), after = static_cast<std::size_t>(w.layer) + 1;
    return tr("The output matrix of the head projects o<sub>n</sub> (norm %1) to the width of the model: a "
              "vector of norm %2. With the other heads and the feed-forward layer, x<sub>n</sub> has "
              "norm %3 after the layer.")
        .arg(number(normOf(w.output)), number(w.added[head]), number(w.residual[after]));
}

QString WalkthroughPanel::showPrediction(const Walkthrough& w) {
    std::vector<BarChart::Series> series{
        {QStringLiteral("probability"), tr("with the head"), Theme::output(), {}, {}},
        {QStringLiteral("without_head"), tr("without it"), Theme::of(palette()).frame, {}, {}}};
    const auto probabilityIn = [](const std::vector<Prediction>& all, std::int64_t id) {
        const auto found = std::ranges::find(all, id, &Prediction::id);
        return found == all.end() ? std::nan("") : found->probability;
    };
    const auto add = [&](const Prediction& one) {
        bars_->setCategoryName(static_cast<int>(series[0].values.size()), formatToken(one.token));
        series[0].values.push_back(probabilityIn(w.predictions, one.id));
        series[1].values.push_back(probabilityIn(w.without_head, one.id));
    };
    // The five likeliest with the head and without it, each with both probabilities.
    static constexpr std::size_t kShown = 5;
    const auto likeliest = [](const std::vector<Prediction>& all) {
        return std::vector<Prediction>(
            all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, all.size())));
    };
    const std::vector<Prediction> with_head = likeliest(w.predictions);
    for (const Prediction& one : with_head)
        add(one);
    for (const Prediction& one : likeliest(w.without_head))
        if (std::isnan(probabilityIn(with_head, one.id))) add(one);
    bars_->setHeadline(tr("probability of the next token"));
    showBars(tr("next token"), series);
    return tr("After the last layer, the model predicts %1. With this head ablated at all tokens: %2.")
        .arg(predictionsAsHtml(w.predictions, 3), predictionsAsHtml(w.without_head, 3));
}

}  // namespace roper
