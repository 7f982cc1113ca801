#pragma once

#include <Eigen/Core>
#include <QObject>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/questions/answers.h"
#include "core/questions/question.h"
#include "ui/charts/heat_map_view.h"
#include "ui/live/model_client.h"

namespace roper {

/// Attention of one head, ready to be drawn.
struct HeadMap {
    int layer = 0, head = 0;
    QStringList tokens;
    HeatMapView::Map map;
};

/// Attention of all heads, small.
struct HeadThumbnails {
    int layers = 0, heads = 0;
    std::vector<Eigen::MatrixXf> maps;  ///< layer by layer
};

/// Something that the page may want to know of a model: a question, as data. What its answer depends on, the
/// text, the change or the chosen head, follows from its kind (core/questions/question_kind.h).
struct Need {
    enum class Change {
        with,     ///< asked of the model as it is changed, if its kind can be
        without,  ///< of the model as it was trained
        only,     ///< of the changed model, and not at all where nothing is changed
    };
    using Read = std::shared_ptr<const void> (*)(const QByteArray& payload);

    std::string_view name, kind;
    Read read = nullptr;     ///< null: outside the window's thread
    std::int64_t count = 0;  ///< of what the kind counts; 0: the usual
    Change change = Change::with;
    bool on_request = false;  ///< asked for only when it is requested, because it takes many passes

    const QuestionKind& questionKind() const { return roper::questionKind(kind); }
    bool dependsOnHead() const { return questionKind().heads == QuestionKind::Heads::one; }
    bool dependsOnChange() const { return change != Change::without && questionKind().can_change; }
};

/// One whose answer is known to be an `Answer`.
template <class Answer>
struct NeedOf : Need {};

/// @throws Error (checkpoint) if it is another answer than expected
template <class Answer>
std::shared_ptr<const void> readAnswer(const QByteArray& payload) {
    return std::make_shared<const Answer>(
        parseAnswer<Answer>({payload.constData(), static_cast<std::size_t>(payload.size())}));
}
template <>
std::shared_ptr<const void> readAnswer<HeadThumbnails>(const QByteArray& payload);

namespace need {

inline constexpr std::int64_t kCandidates = 10, kDistances = 64;
inline constexpr auto kOnRequest = true;

inline constexpr NeedOf<ModelSummary> model{{"model", "model", readAnswer<ModelSummary>}};
inline constexpr NeedOf<TextReading> reading{
    {"reading", "logits", readAnswer<TextReading>, kCandidates, Need::Change::without}};
inline constexpr NeedOf<TextReading> changed{
    {"changed", "logits", readAnswer<TextReading>, kCandidates, Need::Change::only}};
inline constexpr NeedOf<HeadsAnswer> heads{{"heads", "heads", readAnswer<HeadsAnswer>}};
inline constexpr NeedOf<HeadThumbnails> thumbnails{{"thumbnails", "thumbnails", readAnswer<HeadThumbnails>}};
inline constexpr NeedOf<HeadMap> attention{{"attention", "attention"}};
inline constexpr NeedOf<KernelsAnswer> kernels{{"kernels", "kernels", readAnswer<KernelsAnswer>, kDistances}};
inline constexpr NeedOf<KernelHistory> kernel_history{
    {"kernel_history", "kernel_history", readAnswer<KernelHistory>, kDistances}};
inline constexpr NeedOf<TokenMap> token_map{{"token_map", "token_map", readAnswer<TokenMap>}};
inline constexpr NeedOf<LensAnswer> lens{{"lens", "lens", readAnswer<LensAnswer>}};
inline constexpr NeedOf<SubsetsAnswer> subsets{
    {"subsets", "subsets", readAnswer<SubsetsAnswer>, 0, Need::Change::with, kOnRequest}};
inline constexpr NeedOf<GeneratedText> written{
    {"written", "generate", readAnswer<GeneratedText>, 0, Need::Change::with, kOnRequest}};
inline constexpr NeedOf<LengthsAnswer> lengths{
    {"lengths", "lengths", readAnswer<LengthsAnswer>, 0, Need::Change::with, kOnRequest}};
inline constexpr NeedOf<NeedleAnswer> needle{
    {"needle", "needle", readAnswer<NeedleAnswer>, 0, Need::Change::with, kOnRequest}};
inline constexpr NeedOf<SolvedAnswer> solved{
    {"solved", "solve", readAnswer<SolvedAnswer>, 0, Need::Change::with, kOnRequest}};
inline constexpr NeedOf<PatchAnswer> patch{
    {"patch", "patch", readAnswer<PatchAnswer>, 0, Need::Change::with, kOnRequest}};
inline constexpr NeedOf<PatchAnswer> patch_positions{
    {"patch_positions", "patch", readAnswer<PatchAnswer>, 0, Need::Change::with, kOnRequest}};

}  // namespace need

/// A model, published or trained here, a text, what is done to the model, and what it answers. Asks for what
/// is needed and not known yet, one question after the other, and never waits.
class ModelsState : public QObject {
    Q_OBJECT

  public:
    ModelsState(RunStore& store, QObject* parent);

    /// The name of a run, or the absolute path of a published model; empty: none.
    const QString& model() const { return model_; }
    /// @param step  of a run's checkpoint; its newest unless it is given
    void setModel(const QString& model, std::optional<std::int64_t> step = std::nullopt);
    /// Its name as people read it, and its colour: a run's is that of its method, as everywhere.
    QString title() const;
    QColor color(const Theme& theme) const;
    const QString& text() const { return text_; }
    void setText(const QString& text);
    const ModelChange& change() const { return change_; }
    void setChange(const ModelChange& change);
    int layer() const { return layer_; }
    int head() const { return head_; }
    /// Kept within the model, where it is known.
    void setHead(int layer, int head);

    /// How far back the token of the token map is.
    int distance() const { return distance_; }
    void setDistance(int distance);

    /// What is asked for whenever it is not known; replaces what was wanted before.
    void setNeeds(std::vector<const Need*> needs);
    /// Asks for what is not asked for by itself. The text, the change and the head are those of this state.
    void request(const Need& what, const Question& question);
    /// What is being answered is given up, and what was requested with it.
    void cancel();

    /// What is known of this model, text and change; null until it is.
    template <class Answer>
    const Answer* answer(const NeedOf<Answer>& what) const {
        const auto found = entries_.find(what.name);
        return found == entries_.end() ? nullptr : static_cast<const Answer*>(found->second.answer.get());
    }
    const ModelSummary* summary() const { return answer(need::model); }
    /// Of the chosen head; null where there is none.
    const HeadReport* report() const;

    bool isAsking() const { return asking_ != nullptr; }
    /// What is being answered, in words, and how far it is, 0 to 1; negative: not known.
    QString work() const;
    double progress() const { return progress_; }
    /// Why there is no answer; empty if all is well.
    const QString& message() const { return message_; }
    /// Seconds and bytes that reading the text takes, as estimated; empty while the model is not known.
    struct Cost {
        double seconds = 0, bytes = 0;
        std::int64_t tokens = 0;
    };
    std::optional<Cost> cost() const;
    /// The step of a run's checkpoint that is read.
    std::optional<std::int64_t> step() const { return step_; }

  signals:
    void modelChanged();
    void inputsChanged();
    void headChanged();
    void answered(const roper::Need* what);
    void workChanged();

  private:
    /// What is known, refused and requested of a need.
    struct Entry {
        const Need* need = nullptr;
        std::optional<Question> requested;
        std::optional<Question> known;    ///< what the answer answers
        std::optional<Question> refused;  ///< what there was an error for, not to be asked again
        std::shared_ptr<const void> answer;
    };

    Entry& entryOf(const Need& what);
    std::optional<Question> questionFor(const Need& what) const;
    void askNext();
    void take(const QByteArray& payload);
    void takeMap(const QByteArray& payload);
    void fitToModel();
    void finish(std::shared_ptr<const void> answer);
    void fail(const QString& why);
    void stopAsking();
    void forget(const std::function<bool(const Need&)>& is_of_the_past);
    void say(const QString& message);

    RunStore& store_;
    ModelClient client_;
    QString model_, text_, message_;
    std::optional<std::int64_t> step_;  ///< of a run's checkpoint
    ModelChange change_;
    int layer_ = 0, head_ = 0, distance_ = 0;
    std::vector<const Need*> needs_;
    std::map<std::string_view, Entry> entries_;  ///< by the need's name
    const Need* asking_ = nullptr;
    Question asked_;
    double progress_ = -1;
};

}  // namespace roper
