#pragma once

#include <QByteArray>
#include <QString>
#include <string>
#include <vector>

#include "core/control/messages.h"
#include "core/explorer/setup.h"

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

/// Parses the answer to a question. @throws Error (checkpoint)
RunHead readRunHead(const HeadQuestion& question, const QByteArray& payload);

}  // namespace roper
