#include "ui/pages/inspect/walkthrough_panel.h"

#include <QKeyEvent>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "ui/controls/layout_helpers.h"
#include "ui/live/token_texts.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

double lengthOf(const std::vector<double>& vector) {
    return std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0));
}

/// What each pair adds to the score of a query and a key, both rotated.
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

/// “ the” (token 3)
QString tokenName(const Walkthrough& w, std::size_t token) {
    return WalkthroughPanel::tr("“%1” (token %2)").arg(formatToken(w.tokens[token])).arg(token);
}

QString predictionsText(const std::vector<Prediction>& predictions, std::size_t most) {
    QStringList parts;
    for (std::size_t i = 0; i < std::min(most, predictions.size()); ++i)
        parts << QStringLiteral("“%1” %2").arg(formatToken(predictions[i].token),
                                               probabilityText(predictions[i].probability));
    return parts.join(QStringLiteral(", "));
}

QString number(double value) {
    return numberText(value, 3);
}

}  // namespace

struct WalkthroughPanel::Stage {
    QString name, title;
    QString (WalkthroughPanel::*show)(const Walkthrough&);
    bool has_arrows = false;
    bool (*is_part)(const Walkthrough&) = [](const Walkthrough&) { return true; };
};

const std::vector<WalkthroughPanel::Stage>& WalkthroughPanel::allStages() {
    using W = const Walkthrough&;
    static const std::vector<Stage> stages{
        {QStringLiteral("residual"), tr("Residual stream"), &WalkthroughPanel::showResidual},
        {QStringLiteral("projections"), tr("Query, key, value"), &WalkthroughPanel::showProjections},
        {QStringLiteral("rotation"), tr("Rotation"), &WalkthroughPanel::showRotation, true,
         [](W w) { return !w.pairs.empty(); }},
        {QStringLiteral("scores"), tr("Scores"), &WalkthroughPanel::showScores},
        {QStringLiteral("weights"), tr("Weights"), &WalkthroughPanel::showWeights},
        {QStringLiteral("value_rotation"), tr("Rotation of values"), &WalkthroughPanel::showValueRotation,
         true, [](W w) { return rotates(w, 'v'); }},
        {QStringLiteral("sum"), tr("Weighted sum"), &WalkthroughPanel::showSum},
        {QStringLiteral("rotation_back"), tr("Rotation back"), &WalkthroughPanel::showRotationBack, true,
         [](W w) { return rotates(w, 'o'); }},
        {QStringLiteral("output"), tr("Output"), &WalkthroughPanel::showOutput, false,
         [](W w) { return !w.added.empty(); }},
        {QStringLiteral("prediction"), tr("Prediction"), &WalkthroughPanel::showPrediction, false,
         [](W w) { return !w.predictions.empty(); }}};
    return stages;
}

std::vector<std::string> WalkthroughPanel::stageNames() {
    std::vector<std::string> names;
    for (const Stage& stage : allStages())
        names.push_back(stage.name.toStdString());
    return names;
}

WalkthroughPanel::WalkthroughPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Walkthrough"), tr("One head and one token, from the residual stream to the prediction"),
                 models, parent),
      stages_(named(new QListWidget, tr("Stage"),
                    tr("The stages of the computation; go through them with the arrow keys"))),
      text_(wrappedLabel()),
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
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    text_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    layer_->setPrefix(tr("layer "));
    head_->setPrefix(tr("head "));
    token_->setPrefix(tr("n = "));
    key_->setPrefix(tr("j = "));
    connect(stages_, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
        if (is_filling_ || item == nullptr) return;
        chosen_ = item->data(Qt::UserRole).toString();
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
        showStage();
    });
    connect(bars_, &BarChart::categoryClicked, this, [this](int token) {
        const Stage* stage = chosenStage();
        if (stage != nullptr && (stage->name == "scores" || stage->name == "weights")) key_->setValue(token);
    });
    forwardReadouts(bars_, arrows_);
    stack_->addWidget(bars_);
    stack_->addWidget(arrows_);
    auto* left = wrapInWidget(columnOf({{rowOf({{layer_}, {head_}})},
                                        {rowOf({{token_}, {key_}})},
                                        {stages_, 1},
                                        {rowOf({{back_}, {next_}})}}));
    auto* right = column({{text_, 0}, {stack_, 1}});
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(splitter(Qt::Horizontal, {left, right}, {190, 700}), 1);
}

const Walkthrough* WalkthroughPanel::walkthrough() const {
    const Walkthrough* answer = state().answer(answers::walkthrough);
    return answer != nullptr && answer->layer == state().layer() && answer->head == state().head() ? answer
                                                                                                   : nullptr;
}

const WalkthroughPanel::Stage* WalkthroughPanel::chosenStage() const {
    for (const Stage& stage : allStages())
        if (stage.name == chosen_) return &stage;
    return nullptr;
}

void WalkthroughPanel::prepare(const QString& figure, const InspectFigureSettings& picture) {
    const bool has_arrows = figure == arrows_->figureName();
    chosen_ = QString::fromStdString(picture.stage.value_or(has_arrows ? "rotation" : "weights"));
    if (chosenStage()->has_arrows != has_arrows) {
        const QString right = has_arrows ? bars_->figureName() : arrows_->figureName();
        throw Error(ErrorKind::usage, "the stage " + chosen_.toStdString() + " is drawn by the figure " +
                                          right.toStdString() + ", not by " + figure.toStdString());
    }
    if (picture.token) state().setToken(static_cast<int>(*picture.token));
    if (picture.key) chosen_key_ = static_cast<int>(*picture.key);
}

void WalkthroughPanel::refresh() {
    is_filling_ = true;
    fillStages();
    fillInputs();
    is_filling_ = false;
    showStage();
}

/// Lists the stages that the model has. The chosen one stays if it can.
void WalkthroughPanel::fillStages() {
    const Walkthrough* w = walkthrough();
    if (w == nullptr && stages_->count() > 0) return;  // until the answer arrives
    stages_->clear();
    for (const Stage& stage : allStages()) {
        if (w != nullptr && !stage.is_part(*w)) continue;
        auto* item = new QListWidgetItem(tr("%1  %2").arg(stages_->count() + 1).arg(stage.title), stages_);
        item->setData(Qt::UserRole, stage.name);
        if (stage.name == chosen_) stages_->setCurrentItem(item);
    }
    if (stages_->currentRow() < 0) {
        stages_->setCurrentRow(0);
        chosen_ = stages_->currentItem()->data(Qt::UserRole).toString();
    }
}

/// Keeps the chosen key where it is, unless the token cannot see it: then it is the one with the largest
/// weight.
void WalkthroughPanel::fillInputs() {
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
    for (QSpinBox* input : {token_, key_})
        input->setEnabled(w != nullptr);
    if (w == nullptr) return;
    const int last = static_cast<int>(w->tokens.size()) - 1;
    token_->setRange(0, last);
    token_->setValue(static_cast<int>(w->token));
    const bool is_causal = state().summary() == nullptr || state().summary()->causal;
    key_->setRange(0, is_causal ? static_cast<int>(w->token) : last);
    if (chosen_key_ > key_->maximum()) chosen_key_.reset();
    const auto heaviest = std::max_element(w->weights.begin(), w->weights.end()) - w->weights.begin();
    key_->setValue(chosen_key_.value_or(static_cast<int>(heaviest)));
}

void WalkthroughPanel::move(int by) {
    stages_->setCurrentRow(std::clamp(stages_->currentRow() + by, 0, stages_->count() - 1));
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
    const Stage* stage = chosenStage();
    back_->setEnabled(w != nullptr && stages_->currentRow() > 0);
    next_->setEnabled(w != nullptr && stages_->currentRow() + 1 < stages_->count());
    stack_->setCurrentWidget(stage->has_arrows ? static_cast<QWidget*>(arrows_) : bars_);
    if (w == nullptr || keyIndex() >= w->tokens.size()) {
        const QString empty = state().placeholder(tr("The computation of one head is shown here."));
        text_->clear();
        bars_->setEmptyText(empty);
        arrows_->setEmptyText(empty);
        bars_->setBars({}, {});
        return arrows_->setVectors({}, {});
    }
    bars_->clearCategoryNames();
    bars_->setMarked(-1);
    QString text = (this->*stage->show)(*w);
    if (stage->name == "scores" || stage->name == "weights" || stage->name == "projections")
        for (const std::string& note : w->notes)
            text += QStringLiteral("<br>") + QString::fromStdString(note).toHtmlEscaped();
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
    std::vector<int> tokens(static_cast<std::size_t>(key_->maximum()) + 1);
    std::iota(tokens.begin(), tokens.end(), 0);
    bars_->setXName(tr("token"));
    if (tokens.size() <= kNamed)
        for (const int token : tokens)
            bars_->setCategoryName(token, formatToken(w.tokens[static_cast<std::size_t>(token)]));
    bars_->setHeadline(label);
    bars_->setMarked(key_->value());
    bars_->setBars(tokens, {{key,
                             label,
                             color,
                             {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(tokens.size())},
                             {}}});
}

void WalkthroughPanel::showFeatures(const std::vector<BarChart::Series>& series) {
    std::vector<int> features(series.front().values.size());
    std::iota(features.begin(), features.end(), 0);
    bars_->setXName(tr("feature"));
    bars_->setBars(features, series);
}

QString WalkthroughPanel::showResidual(const Walkthrough& w) {
    std::vector<int> places(w.residual.size());
    std::iota(places.begin(), places.end(), -1);
    bars_->setXName(tr("after layer"));
    bars_->setCategoryName(-1, tr("emb"));
    bars_->setHeadline(tr("‖x‖ of the token in the residual stream"));
    bars_->setMarked(static_cast<int>(w.layer) - 1);
    bars_->setBars(places,
                   {{QStringLiteral("length"), tr("‖x‖"), Theme::of(palette()).frame, w.residual, {}}});
    const auto before = static_cast<std::size_t>(w.layer);
    QString text = tr("%1 arrives at layer %2 as the vector x<sub>n</sub> of length %3.")
                       .arg(tokenName(w, static_cast<std::size_t>(w.token)).toHtmlEscaped())
                       .arg(w.layer)
                       .arg(number(w.residual[before]));
    if (!w.lens.empty())
        text += ' ' + tr("Read as a prediction there (logit lens), it means %1.")
                          .arg(predictionsText({w.lens[before]}, 1).toHtmlEscaped());
    return text;
}

QString WalkthroughPanel::showProjections(const Walkthrough& w) {
    std::vector<BarChart::Series> series{
        {QStringLiteral("query"), tr("query q"), Theme::query(), w.query, {}},
        {QStringLiteral("key"), tr("key k"), Theme::key(), w.keys[keyIndex()], {}}};
    if (w.values[keyIndex()].size() == w.query.size())
        series.push_back({QStringLiteral("value"), tr("value v"), Theme::value(), w.values[keyIndex()], {}});
    bars_->setHeadline(tr("before any rotation"));
    showFeatures(series);
    return tr("The normed x of each token is multiplied by three matrices of the head: query q<sub>n</sub> "
              "(length %1), and key and value of %2 (lengths %3 and %4).")
        .arg(number(lengthOf(w.query)), tokenName(w, keyIndex()).toHtmlEscaped(),
             number(lengthOf(w.keys[keyIndex()])), number(lengthOf(w.values[keyIndex()])));
}

QString WalkthroughPanel::showRotation(const Walkthrough& w) {
    const std::vector<double> scores = pairScores(w, keyIndex());
    arrows_->setHeadline(
        tr("Each pair, with what it adds to the score; arrows show the square root of the length"));
    arrows_->setVectors(
        w.pairs,
        {{QStringLiteral("query"), tr("query"), Theme::query(), w.query, w.rotated_query},
         {QStringLiteral("key"), tr("key"), Theme::key(), w.keys[keyIndex()], w.rotated_keys[keyIndex()]}},
        scores, tr("adds to the score"));
    const auto most = std::max_element(scores.begin(), scores.end(),
                                       [](double a, double b) { return std::abs(a) < std::abs(b); });
    const std::size_t unrotated = w.query.size() - 2 * w.pairs.size();
    QString text =
        rotates(w, 'q') && rotates(w, 'k')
            ? tr("Pair i of the query is rotated by n θ<sub>i</sub>, pair i of the key by j θ<sub>i</sub>: "
                 "their angle, and so the score, depends on n − j = %1 alone.")
                  .arg(static_cast<int>(w.token) - key_->value())
            : tr("Only the %1 is rotated by its position, so the score depends on that position, not on "
                 "the distance.")
                  .arg(rotates(w, 'q') ? tr("query") : tr("key"));
    text += ' ' + tr("Pair %1 adds most: %2.").arg(most - scores.begin()).arg(number(*most));
    if (unrotated > 0) text += ' ' + tr("%1 features do not rotate.").arg(unrotated);
    return text;
}

QString WalkthroughPanel::showScores(const Walkthrough& w) {
    showOverTokens(w, QStringLiteral("score"), tr("score of each key"), Theme::key(), w.scores);
    const std::vector<double> pairs = pairScores(w, keyIndex());
    const double rotated = std::accumulate(pairs.begin(), pairs.end(), 0.0), all = w.scores[keyIndex()];
    QString text = tr("s<sub>nj</sub> = c q<sub>n</sub>·k<sub>j</sub> with c = %1. For %2: %3")
                       .arg(number(w.scale), tokenName(w, keyIndex()).toHtmlEscaped(), number(all));
    if (!w.pairs.empty() && 2 * w.pairs.size() < w.query.size())
        text += tr(", %1 of it from rotated pairs").arg(number(rotated));
    return text + '.';
}

QString WalkthroughPanel::showWeights(const Walkthrough& w) {
    showOverTokens(w, QStringLiteral("weight"), tr("weight of each key"), Theme::key(), w.weights);
    const auto heaviest =
        static_cast<std::size_t>(std::max_element(w.weights.begin(), w.weights.end()) - w.weights.begin());
    const double sum = std::accumulate(w.weights.begin(), w.weights.end(), 0.0);
    return tr("The softmax makes weights a<sub>nj</sub> of the scores; they sum to %1. The largest, %2, goes "
              "to "
              "%3; %4 has %5.")
        .arg(number(sum), probabilityText(w.weights[heaviest]), tokenName(w, heaviest).toHtmlEscaped(),
             tokenName(w, keyIndex()).toHtmlEscaped(), probabilityText(w.weights[keyIndex()]));
}

QString WalkthroughPanel::showValueRotation(const Walkthrough& w) {
    arrows_->setHeadline(
        tr("The value of token %1; arrows show the square root of the length").arg(keyIndex()));
    arrows_->setVectors(w.value_pairs, {{QStringLiteral("value"), tr("value"), Theme::value(),
                                         w.values[keyIndex()], w.rotated_values[keyIndex()]}});
    return tr("Each value, too, is rotated by its position: R(j) v<sub>j</sub>, here of %1. The method RoPER "
              "does so.")
        .arg(tokenName(w, keyIndex()).toHtmlEscaped());
}

QString WalkthroughPanel::showSum(const Walkthrough& w) {
    bars_->setHeadline(tr("features of the weighted sum"));
    showFeatures({{QStringLiteral("sum"), tr("Σ a v"), Theme::output(), w.sum, {}}});
    return (!rotates(w, 'v') ? tr("The values are summed by their weights: Σ<sub>j</sub> a<sub>nj</sub> "
                                  "v<sub>j</sub>, of length %1. They are not rotated, so the sum does "
                                  "not know how far away each of them was.")
                             : tr("The rotated values are summed by their weights: Σ<sub>j</sub> "
                                  "a<sub>nj</sub> R(j) v<sub>j</sub>, of length %1."))
        .arg(number(lengthOf(w.sum)));
}

QString WalkthroughPanel::showRotationBack(const Walkthrough& w) {
    arrows_->setHeadline(tr("The output of the head; arrows show the square root of the length"));
    arrows_->setVectors(w.value_pairs,
                        {{QStringLiteral("output"), tr("output"), Theme::output(), w.sum, w.output}});
    return tr(
        "The sum is rotated back by the position of the query: o<sub>n</sub> = R(−n) Σ<sub>j</sub> "
        "a<sub>nj</sub> R(j) v<sub>j</sub>. Each value has now been rotated by −(n − j): only its distance "
        "matters.");
}

QString WalkthroughPanel::showOutput(const Walkthrough& w) {
    std::vector<int> heads(w.added.size());
    std::iota(heads.begin(), heads.end(), 0);
    bars_->setXName(tr("head"));
    bars_->setHeadline(tr("‖W o‖ that each head of layer %1 adds").arg(w.layer));
    bars_->setMarked(static_cast<int>(w.head));
    bars_->setBars(heads, {{QStringLiteral("length"), tr("‖W o‖"), Theme::output(), w.added, {}}});
    const auto head = static_cast<std::size_t>(w.head), after = static_cast<std::size_t>(w.layer) + 1;
    return tr("The output matrix of the head brings o<sub>n</sub> (length %1) to the width of the model: a "
              "vector of length %2. With the other heads and the feed-forward layer, x<sub>n</sub> has "
              "length %3 after the layer.")
        .arg(number(lengthOf(w.output)), number(w.added[head]), number(w.residual[after]));
}

QString WalkthroughPanel::showPrediction(const Walkthrough& w) {
    std::vector<BarChart::Series> series{
        {QStringLiteral("probability"), tr("with the head"), Theme::output(), {}, {}},
        {QStringLiteral("without_head"), tr("without it"), Theme::of(palette()).frame, {}, {}}};
    const auto probabilityIn = [](const std::vector<Prediction>& all, std::int64_t id) {
        const auto found =
            std::find_if(all.begin(), all.end(), [id](const Prediction& one) { return one.id == id; });
        return found == all.end() ? std::nan("") : found->probability;
    };
    std::vector<int> places;
    const auto add = [&](const Prediction& one) {
        const int place = static_cast<int>(places.size());
        places.push_back(place);
        bars_->setCategoryName(place, formatToken(one.token));
        series[0].values.push_back(probabilityIn(w.predictions, one.id));
        series[1].values.push_back(probabilityIn(w.without_head, one.id));
    };
    // The five likeliest of both, with both probabilities.
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
    bars_->setXName(tr("next token"));
    bars_->setHeadline(tr("probability of the next token"));
    bars_->setBars(places, series);
    return tr("After the last layer, the model predicts %1. With this head ablated at all tokens: %2.")
        .arg(predictionsText(w.predictions, 3).toHtmlEscaped(),
             predictionsText(w.without_head, 3).toHtmlEscaped());
}

}  // namespace roper
