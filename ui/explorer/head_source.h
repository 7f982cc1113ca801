#pragma once

#include <QObject>
#include <QString>

#include "core/control/messages.h"
#include "core/explorer/setup.h"
#include "ui/live/model_client.h"

namespace roper {

/// Asks for one head of a run's model while it reads a text.
struct HeadQuestion {
    QString run;
    int layer = 0, head = 0;
    QString text;

    bool operator==(const HeadQuestion&) const = default;
};

/// The model's answer: q, k and v before rotation, and the description of the model.
struct RunHead {
    ModelDescription model;
    HeadQuestion question;
    HeadVectors vectors;
    std::vector<std::string> tokens;  ///< the text, token by token
    LearnedParameters learned;
    Eigen::MatrixXd table;  ///< learned positions [positions × model width]; empty for other methods
};

/// Fetches q, k and v of a head from a run. Never blocks; a new question replaces the pending one.
class HeadSource : public QObject {
    Q_OBJECT

  public:
    HeadSource(RunStore& store, QObject* parent);

    void ask(const HeadQuestion& question);

  signals:
    void answered(const roper::RunHead& head);
    void failed(const QString& why);

  private:
    ModelClient client_;
    HeadQuestion question_;
};

}  // namespace roper
