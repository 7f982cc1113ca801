#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/questions/ov_by_distance.h"
#include "core/questions/value_kernel.h"
#include "core/reading/answers.h"
#include "core/reading/head_observer.h"
#include "core/reading/value_weights.h"

namespace roper {
namespace {

/// The factor R of a thin QR decomposition; a matrix with fewer rows than columns, or
/// with entries that are not finite, is returned unchanged.
Eigen::MatrixXd triangularFactor(const Eigen::MatrixXd& matrix) {
    if (matrix.rows() < matrix.cols() || !matrix.allFinite()) return matrix;
    return matrixOf(std::get<1>(at::linalg_qr(tensorOf(matrix), "r")));
}

/// From the largest to the smallest; NaN if the matrix has entries that are not finite.
Eigen::VectorXd singularValues(const Eigen::MatrixXd& matrix) {
    const Eigen::Index count = std::min(matrix.rows(), matrix.cols());
    if (!matrix.allFinite()) return Eigen::VectorXd::Constant(count, NAN);
    return matrixOf(at::linalg_svdvals(tensorOf(matrix)).reshape({count, 1}));
}

/// Number of leading values that account for this fraction of the sum of squares.
std::int64_t countFor(const Eigen::VectorXd& values, double fraction) {
    const double wanted = fraction * values.squaredNorm();
    double sum = 0;
    for (Eigen::Index i = 0; i < values.size(); ++i) {
        sum += values[i] * values[i];
        if (sum >= wanted) return i + 1;
    }
    return values.size();
}

OvByDistance ovOf(const QuestionContext& context) {
    constexpr double kFraction = 0.9;
    const QuestionContext::Head head = context.selectedHead();
    const ValueWeights weights(context.reader.decoder(), head.layer);
    // W_O = Q S and W_Vᵀ = P U, where Q and P have orthonormal columns. The singular values of K(δ) = Q
    // (S R(−δ) Uᵀ) Pᵀ are therefore those of a d × d matrix, regardless of the model's width.
    const Eigen::MatrixXd S = triangularFactor(weights.output(head.head)),
                          U = triangularFactor(weights.value(head.head).transpose());
    OvByDistance answer{head.layer, head.head, {}, {}};
    for (std::int64_t distance = 0; distance < context.count(); ++distance) {
        context.reader.reportProgress(distance, context.count(), "distances");
        const Eigen::MatrixXd K =
            kernelAt(S, U.transpose(), weights.rotation(), static_cast<double>(distance));
        const Eigen::VectorXd values = singularValues(K);
        answer.singular_values.emplace_back(values.begin(), values.end());
        answer.rank_90.push_back(countFor(values, kFraction));
    }
    return answer;
}

void printOv(const OvByDistance& answer, const QuestionContext&, AnswerWriter& to) {
    to.columns("layer,head,distance,rank_90,index,singular_value");
    for (std::size_t distance = 0; distance < answer.rank_90.size(); ++distance) {
        const std::vector<double>& values = answer.singular_values[distance];
        if (to.isJson()) {
            to.line({{"layer", answer.layer},
                     {"head", answer.head},
                     {"distance", distance},
                     {"rank_90", answer.rank_90[distance]},
                     {"singular_values", values}});
            continue;
        }
        for (std::size_t i = 0; i < values.size(); ++i)
            to.row({std::to_string(answer.layer), std::to_string(answer.head), std::to_string(distance),
                    std::to_string(answer.rank_90[distance]), std::to_string(i),
                    formatRounded(values[i], 6)});
    }
}

}  // namespace

AnswerHandler ov_by_distanceAnswer() {
    return answerHandler(ovOf, printOv);
}

}  // namespace roper
