#include "ui/pages/inspect/generation_panel.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>
#include <span>

#include "core/base/error.h"
#include "core/control/messages.h"
#include "ui/charts/csv_text.h"
#include "ui/charts/drawing.h"
#include "ui/controls/layout_helpers.h"
#include "ui/live/published_models.h"
#include "ui/live/run_texts.h"
#include "ui/live/token_texts.h"
#include "ui/pages/inspect/inspect_fields.h"
#include "ui/pages/inspect/view_text.h"
#include "ui/theme/numbers.h"
#include "ui/theme/theme.h"

namespace roper {
namespace {

constexpr double kGenerationMargin = 14, kCellWidth = 15, kCellHeight = 38, kBarRow = 22;
constexpr double kTokenFontScale = 1.15;

}  // namespace

ContinuationView::ContinuationView(InspectState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("continuation"),
                 tr("Generated text, its probabilities and its attention")),
      state_(state) {
    setFocusPolicy(Qt::StrongFocus);
    const auto reset = [this] {
        chosen_ = 0;
        head_ = -1;
        update();
    };
    connect(&state_, &InspectState::modelChanged, this, reset);
    connect(&state_, &InspectState::answered, this, [reset](const AnswerSpec* spec) {
        if (spec == &answers::continuation) reset();
    });
    connect(&state_, &InspectState::answerOrProgressChanged, this, qOverload<>(&QWidget::update));
}

void ContinuationView::choose(int generated) {
    if (state_.answer(answers::continuation) == nullptr) return;
    const int last = static_cast<int>(state_.answer(answers::continuation)->generated()) - 1;
    chosen_ = std::clamp(generated, 0, std::max(0, last));
    update();
}

std::vector<double> ContinuationView::weights() const {
    const Continuation& c = *state_.answer(answers::continuation);
    std::vector<double> mean(c.tokens.size(), 0);
    const bool is_one_head = head_ >= 0 && head_ < static_cast<int>(c.attention.size());
    const std::span<const Eigen::MatrixXd> heads =
        is_one_head ? std::span(&c.attention[static_cast<std::size_t>(head_)], 1) : std::span(c.attention);
    const double share = 1.0 / static_cast<double>(heads.size());
    for (const Eigen::MatrixXd& attention : heads)
        for (std::size_t j = 0; j < mean.size(); ++j)
            mean[j] += share * attention(chosen_, static_cast<Eigen::Index>(j));
    return mean;
}

TokenLines ContinuationView::linesIn(const QRectF& area) const {
    const Continuation* c = state_.answer(answers::continuation);
    const QFontMetricsF metrics(monospaced(font(), kTokenFontScale));
    return layOutTokens(c != nullptr ? c->tokens : std::vector<std::string>(),
                        area.adjusted(kGenerationMargin, kGenerationMargin + 18, -kGenerationMargin, 0),
                        {.line = kCellHeight, .height = kCellHeight}, [&](const std::string& token) {
                            const QString text = formatToken(token);
                            return text.size() <= 1 ? kCellWidth : metrics.horizontalAdvance(text) + 6;
                        });
}

QRectF ContinuationView::tokenRect(int index) const {
    return linesIn(canvas()).cell(index);
}

void ContinuationView::paintText(QPainter& painter, const TokenLines& lines, const Theme& theme) const {
    const Continuation& c = *state_.answer(answers::continuation);
    const std::vector<double> attention_weights = weights();
    const double largest = std::max(1e-12, *std::ranges::max_element(attention_weights));
    const auto colors = theme.sequentialColors();
    const auto prompt_tokens = static_cast<int>(c.prompt_tokens);
    const QFont plain = painter.font(), mono = monospaced(plain, kTokenFontScale);
    for (int index = 0; index < static_cast<int>(lines.cells.size()); ++index) {
        const QRectF cell = lines.cell(index);
        const QRectF letter = cell.adjusted(0, 0, 0, -14);
        const auto fraction = attention_weights[static_cast<std::size_t>(index)] / largest;
        constexpr double kShown = 0.004, kOpacity = 0.75;
        QColor fill = theme.background;
        if (fraction > kShown) {
            fill =
                mixed(fill, QColor(colors[static_cast<std::size_t>(std::lround(255 * fraction))]), kOpacity);
            painter.fillRect(letter, fill);
        }
        const bool is_generated = index >= prompt_tokens;
        painter.setFont(mono);
        constexpr double kReadable = 4.5;  // contrast required by the Web Content Accessibility Guidelines
        const QColor usual = is_generated ? theme.text : theme.faint_text;
        drawColoredText(painter, letter, Qt::AlignCenter,
                        formatToken(c.tokens[static_cast<std::size_t>(index)]),
                        contrast(usual, fill) >= kReadable ? usual : textColorOn(fill));
        if (is_generated) {
            // The length of the bar is the token's probability.
            const double p = c.probability[static_cast<std::size_t>(index - prompt_tokens)];
            const QRectF bar(cell.left() + 1.5, cell.bottom() - 11, (cell.width() - 3) * p, 4);
            painter.setPen(Qt::NoPen);
            painter.setBrush(p > 0.9 ? Theme::value() : p > 0.5 ? Theme::key() : Theme::roper());
            painter.drawRect(bar);
        }
        if (index == prompt_tokens + chosen_) {
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(Theme::roper(), 2));
            painter.drawRect(cell.adjusted(0, 0, 0, -4));
        }
    }
    painter.setFont(plain);
}

void ContinuationView::paintCandidates(QPainter& painter, const QRectF& box, const Theme& theme) const {
    const Continuation& c = *state_.answer(answers::continuation);
    const auto& candidates = c.candidates[static_cast<std::size_t>(chosen_)];
    const std::string& chosen = c.tokens[c.prompt_tokens + static_cast<std::size_t>(chosen_)];
    const QFontMetricsF metrics(painter.font());
    double widest = 26;
    for (const Continuation::Candidate& candidate : candidates)
        widest = std::max(widest, metrics.horizontalAdvance(formatToken(candidate.text)) + 8);
    drawColoredText(painter, QRectF(box.left(), box.top(), box.width(), 18), kLeftMiddle,
                    tr("candidates for generated token %1").arg(chosen_ + 1), theme.text);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const double y = box.top() + 22 + kBarRow * static_cast<double>(i);
        if (y + kBarRow > box.bottom() + 4) break;
        const auto& candidate = candidates[i];
        const bool is_generated = candidate.text == chosen;
        drawColoredText(painter, QRectF(box.left(), y, widest, kBarRow), Qt::AlignCenter,
                        formatToken(candidate.text), theme.text);
        painter.setPen(Qt::NoPen);
        painter.setBrush(is_generated ? Theme::output() : theme.faded(Theme::output(), 0.35));
        const double full_length = box.width() - 104 - widest;
        painter.drawRect(QRectF(box.left() + widest + 6, y + 4,
                                std::max(1.0, full_length * candidate.probability), kBarRow - 8));
        drawColoredText(
            painter, QRectF(box.left() + widest + 14 + full_length * candidate.probability, y, 90, kBarRow),
            kLeftMiddle, probabilityText(candidate.probability),
            is_generated ? theme.text : theme.faint_text);
    }
}

void ContinuationView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const Continuation* c = state_.answer(answers::continuation);
    if (c == nullptr || c->generated() == 0) {
        paintPlaceholder(
            painter, area, theme,
            state_.placeholder(tr("Type the beginning of a problem and press “Generate”:\nthe model "
                                  "continues it, token by token.")));
        return;
    }
    const TokenLines lines = linesIn(area);
    drawColoredText(
        painter,
        QRectF(area.left() + kGenerationMargin, area.top() + 6, area.width() - 2 * kGenerationMargin, 18),
        kLeftMiddle, tr("pale: prompt; shading: attention of the query that generated the framed token"),
        theme.faint_text);
    paintText(painter, lines, theme);
    const double top = lines.bottom + 12;
    paintCandidates(painter,
                    QRectF(area.left() + kGenerationMargin, top, area.width() - 2 * kGenerationMargin,
                           area.bottom() - top - 4),
                    theme);
}

QString ContinuationView::describe(int index) const {
    const Continuation& c = *state_.answer(answers::continuation);
    const auto prompt_tokens = static_cast<int>(c.prompt_tokens);
    QString text = tr("“%1” at position %2: attention weight %3 when the framed token was generated")
                       .arg(formatToken(c.tokens[static_cast<std::size_t>(index)]), QString::number(index),
                            numberText(weights()[static_cast<std::size_t>(index)], 4));
    if (index >= prompt_tokens)
        text += tr("    generated with probability %1")
                    .arg(probabilityText(c.probability[static_cast<std::size_t>(index - prompt_tokens)]));
    return text;
}

void ContinuationView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return FigureView::mousePressEvent(event);
    const int index = linesIn(canvas()).at(event->position());
    if (index >= 0) choose(index - static_cast<int>(state_.answer(answers::continuation)->prompt_tokens));
}

void ContinuationView::mouseMoveEvent(QMouseEvent* event) {
    const int index = linesIn(canvas()).at(event->position());
    emit hovered(index >= 0 ? describe(index) : QString());
}

void ContinuationView::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Left) return choose(chosen_ - 1);
    if (event->key() == Qt::Key_Right) return choose(chosen_ + 1);
    if (event->key() == Qt::Key_Home) return choose(0);
    FigureView::keyPressEvent(event);
}

QString ContinuationView::figureCsv() const {
    CsvText csv(QStringLiteral("step,generated,rank,candidate,probability"));
    const Continuation* c = state_.answer(answers::continuation);
    if (c == nullptr) return csv.text();
    for (std::size_t i = 0; i < c->generated(); ++i)
        for (std::size_t rank = 0; rank < c->candidates[i].size(); ++rank)
            csv.line(i + 1, c->tokens[c->prompt_tokens + i], rank + 1, c->candidates[i][rank].text,
                     c->candidates[i][rank].probability);
    return csv.text();
}

QString ContinuationView::figureCaption() const {
    const Continuation* c = state_.answer(answers::continuation);
    if (c == nullptr) return {};
    return tr("%1 continues “%2”; shaded: attention when generated token %3 was predicted, %4")
        .arg(modelAtStep(state_.title(), c->step), QString::fromStdString(c->prompt),
             QString::number(chosen_ + 1),
             head_ < 0 ? tr("mean over all heads") : headTitle(head_ / c->heads, head_ % c->heads));
}

GenerationPanel::GenerationPanel(const ShownModels& models, QWidget* parent)
    : ModelPanel(tr("Generate"), tr("How the model continues a prompt"), models, parent),
      continuation_(new ContinuationView(models.state, this)),
      comparison_continuation_(new ContinuationView(models.comparison, this)) {
    makeControls();
    for (InspectState* one : {&state(), &comparison()})
        connect(one, &InspectState::answerOrProgressChanged, this, &GenerationPanel::refreshWhenVisible);
    connect(&state(), &InspectState::modelChanged, this, &GenerationPanel::showModel);
    connect(&state(), &InspectState::answered, this, [this](const AnswerSpec* spec) {
        if (spec == &answers::continuation) fillHeads();
    });
    forwardReadouts(continuation_, comparison_continuation_);
    comparison_text_ = titled(comparison_title_, comparison_continuation_);
    auto* texts =
        makeSplitter(Qt::Horizontal, {titled(continuation_title_, continuation_), comparison_text_}, {});
    columnOf({rowOf({{prompt_, 1}, generate_}),
              makeFlowRow({count_, temperature_, seed_, head_}),
              {texts, 1},
              end_note_},
             this);
    showModel();
    GenerationPanel::refresh();  // hides the comparison until there is one
}

void GenerationPanel::makeControls() {
    prompt_ = named(new LineEdit, tr("Prompt"), tr("The text that the model continues"));
    prompt_->setPlaceholderText(tr("empty: the text above"));
    count_ = named(new QSpinBox, tr("Tokens to generate"),
                   tr("How many tokens the model generates (one character each in synthetic tasks)"));
    count_->setRange(1, static_cast<int>(kMaxGeneratedTokens));
    count_->setValue(64);
    count_->setSuffix(tr(" tokens"));
    temperature_ = named(new QDoubleSpinBox, tr("Temperature"),
                         tr("0: the most likely token; above 0, tokens are sampled"));
    temperature_->setRange(0, 10);
    temperature_->setSingleStep(0.1);
    temperature_->setPrefix(tr("temperature "));
    seed_ = named(new QSpinBox, tr("Sampling seed"), tr("The same seed generates the same text"));
    seed_->setRange(0, 1000000);
    seed_->setPrefix(tr("seed "));
    generate_ = named(new QPushButton(tr("Generate")), tr("Generate"), {});
    head_ = named(new QComboBox, tr("Head for the shading"),
                  tr("The attention shown behind the text: the mean of all heads, or one head"));
    // The heads are known only once a model is loaded.
    head_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    fillHeads();
    end_note_ = messageLabel();
    end_note_->setAccessibleName(tr("Text generated by the changed model"));
    connect(generate_, &QPushButton::clicked, this, &GenerationPanel::generate);
    connect(prompt_, &QLineEdit::returnPressed, this, &GenerationPanel::generate);
    connect(head_, &QComboBox::currentIndexChanged, this, [this](int index) {
        continuation_->setHead(index - 1);
        comparison_continuation_->setHead(index - 1);
    });
}

PageFigures::Figures GenerationPanel::figures() const {
    PageFigures::Figures all{continuation_};
    if (hasComparison()) all.push_back(comparison_continuation_);
    return all;
}

void GenerationPanel::prepare(const QString&, const InspectFigureSettings& picture) {
    constexpr std::int64_t kTokens = 64;
    Question question = picture.question;
    question.count = picture.question.count.value_or(kTokens);
    state().setStep(picture.step);
    state().request(answers::continuation, question);
    waitWhile([&] { return state().isAsking(); }, "the answer of the model");
    if (!state().message().isEmpty()) throw Error(ErrorKind::usage, state().message().toStdString());
    continuation_->choose(static_cast<int>(picture.token.value_or(0)));
}

void GenerationPanel::generate() {
    Question question{"continuation", prompt().toStdString()};
    question.count = count_->value();
    question.temperature = temperature_->value();
    question.seed = seed_->value();
    const bool is_long = question.text.size() > kMaxRequestTextBytes;
    if (!is_long)
        for (InspectState* one : {&state(), &comparison()})
            if (!one->model().isEmpty()) one->request(answers::continuation, question);
    if (is_long || !state().change().isEmpty()) state().request(answers::generated_text, question);
}

/// Sets a prompt and a length that suit the model.
void GenerationPanel::showModel() {
    const RunWatcher* run = state().run();
    const bool is_published = isPublishedModel(state().model());
    if ((run == nullptr && !is_published) || state().model() == shown_model_) return;
    const Specification* s = run != nullptr && run->specification() ? &*run->specification() : nullptr;
    const bool has_problems = s != nullptr && s->task.hasProblems();
    // Solutions can be nearly as long as the training sequences.
    constexpr int kTextTokens = 64, kLanguageModelTokens = 24;
    count_->setValue(has_problems   ? static_cast<int>(s->training.length)
                     : is_published ? kLanguageModelTokens
                                    : kTextTokens);
    // A run's prompt makes no sense to a published model, or the reverse.
    const bool other_kind = !shown_model_.isEmpty() && isPublishedModel(shown_model_) != is_published;
    if (prompt_->text().isEmpty() || other_kind)
        prompt_->setText(is_published ? exampleProse() : examplePrompt(*run));
    shown_model_ = state().model();
}

void GenerationPanel::fillHeads() {
    const QSignalBlocker filling(head_);
    head_->clear();
    head_->addItem(tr("mean of all heads"));
    if (const Continuation* c = state().answer(answers::continuation))
        for (int head = 0; head < c->layers * c->heads; ++head)
            head_->addItem(headTitle(head / c->heads, head % c->heads));
}

void GenerationPanel::refresh() {
    const RunWatcher* run = state().run();
    const bool is_there = run != nullptr || isPublishedModel(state().model());
    const ModelSummary* const summary = state().summary();
    const bool is_masked = (run != nullptr && run->specification() && run->specification()->isMasked()) ||
                           (summary != nullptr && !summary->causal);
    const bool asks = state().isAsking(answers::continuation) || state().isAsking(answers::generated_text) ||
                      comparison().isAsking(answers::continuation);
    prompt_->setEnabled(is_there && !is_masked);
    generate_->setEnabled(is_there && !is_masked);
    generate_->setText(asks ? tr("…") : tr("Generate"));
    const QString reason = tr("This model sees the tokens on both sides; it cannot generate text");
    generate_->setToolTip(is_masked ? reason : tr("Let the model continue the prompt"));
    continuation_title_->setText(state().title());
    continuation_title_->setVisible(hasComparison());
    comparison_title_->setText(comparison().title());
    comparison_text_->setVisible(hasComparison());
    const GeneratedText* generated_text = state().answer(answers::generated_text);
    end_note_->setVisible(generated_text != nullptr);
    if (generated_text == nullptr) return end_note_->clear();
    const QString end = generated_text->text.empty() ? tr("(the model ends the text immediately)")
                                                     : QString::fromStdString(generated_text->text);
    end_note_->setText(state().change().isEmpty() ? end : tr("with the change: %1").arg(end));
    end_note_->setToolTip(tr("%1 tokens").arg(generated_text->generated.size()));
}

}  // namespace roper
