#pragma once

#include <Eigen/Core>
#include <QObject>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/questions/answers.h"
#include "core/questions/question.h"
#include "ui/charts/heat_map_view.h"
#include "ui/live/model_client.h"

namespace roper {

/// What a page may want to know of a model. Asked for in this order.
enum class Need {
    model,
    reading,  ///< how the model reads the text as it was trained to
    changed,  ///< the same with the change; nothing where there is none
    heads,
    thumbnails,
    attention,  ///< of the chosen head
    kernels,
    kernel_history,  ///< of the chosen head of a run
    token_map,       ///< of the chosen head, at `distance`
    lens,            ///< what every layer would predict
    // Only when they are requested, because they take many passes.
    subsets,
    written,
    lengths,
    needle,
    solved,           ///< of a run: its task's problems, with and without the change
    patch,            ///< of all heads
    patch_positions,  ///< of the chosen head
};

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

/// A model, published or trained here, a text, what is done to the model, and what it answers. Asks for what
/// is needed and not known yet, one question after the other, and never waits.
class ModelsState : public QObject {
    Q_OBJECT

  public:
    ModelsState(RunStore& store, QObject* parent);

    /// The name of a run, or the absolute path of a published model; empty: none.
    const QString& model() const { return model_; }
    void setModel(const QString& model);
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
    void setNeeds(std::vector<Need> needs);
    /// Asks for what is not asked for by itself. The text, the change and the head are those of this state.
    void request(Need need, const Question& question);
    /// What is being answered is given up, and what was requested with it.
    void cancel();

    // What is known of this model, text and change; null until it is.
    const ModelSummary* summary() const { return summary_.get(); }
    const TextReading* reading() const { return reading_.get(); }
    const TextReading* changed() const { return change_.isNothing() ? nullptr : changed_.get(); }
    const HeadsAnswer* heads() const { return heads_.get(); }
    /// Of the chosen head; null where there is none.
    const HeadReport* report() const;
    const HeadMap* attention() const { return attention_.get(); }
    const HeadThumbnails* thumbnails() const { return thumbnails_.get(); }
    const KernelsAnswer* kernels() const { return kernels_.get(); }
    const KernelHistory* kernelHistory() const { return kernel_history_.get(); }
    const TokenMap* tokenMap() const { return token_map_.get(); }
    const SubsetsAnswer* subsets() const { return subsets_.get(); }
    const GeneratedText* written() const { return written_.get(); }
    const LensAnswer* lens() const { return lens_.get(); }
    const LengthsAnswer* lengths() const { return lengths_.get(); }
    const NeedleAnswer* needle() const { return needle_.get(); }
    const SolvedAnswer* solved() const { return solved_.get(); }
    const PatchAnswer* patch() const { return patch_.get(); }
    const PatchAnswer* patchPositions() const { return patch_positions_.get(); }

    bool isAsking() const { return asking_.has_value(); }
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
    void answered(roper::Need what);
    void workChanged();

  private:
    std::optional<Question> questionFor(Need need) const;
    void askNext();
    void take(const QByteArray& payload);
    void takeMap(const QByteArray& payload);
    void takeSummary(const QByteArray& payload);
    void finish(Need what);
    void fail(Need what, const QString& why);
    void stopAsking();
    void forget(std::initializer_list<Need> answers);
    void say(const QString& message);
    bool isKnown(Need need, const Question& question) const;

    RunStore& store_;
    ModelClient client_;
    QString model_, text_, message_;
    std::optional<std::int64_t> step_;  ///< of a run's checkpoint
    ModelChange change_;
    int layer_ = 0, head_ = 0, distance_ = 0;
    std::vector<Need> needs_;
    std::map<Need, Question> requested_;
    std::optional<Need> asking_;
    Question asked_;
    std::map<Need, Question> known_;    ///< what each answer answers
    std::map<Need, Question> refused_;  ///< what there was an error for, not to be asked again
    double progress_ = -1;
    std::shared_ptr<const ModelSummary> summary_;
    std::shared_ptr<const TextReading> reading_, changed_;
    std::shared_ptr<const HeadsAnswer> heads_;
    std::shared_ptr<const HeadMap> attention_;
    std::shared_ptr<const HeadThumbnails> thumbnails_;
    std::shared_ptr<const KernelsAnswer> kernels_;
    std::shared_ptr<const KernelHistory> kernel_history_;
    std::shared_ptr<const TokenMap> token_map_;
    std::shared_ptr<const SubsetsAnswer> subsets_;
    std::shared_ptr<const GeneratedText> written_;
    std::shared_ptr<const LensAnswer> lens_;
    std::shared_ptr<const LengthsAnswer> lengths_;
    std::shared_ptr<const NeedleAnswer> needle_;
    std::shared_ptr<const SolvedAnswer> solved_;
    std::shared_ptr<const PatchAnswer> patch_, patch_positions_;
};

}  // namespace roper
