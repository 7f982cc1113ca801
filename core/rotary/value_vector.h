#pragma once

#include <Eigen/Core>

namespace roper {

/// Whether two matrices are equal in shape and in every entry; Eigen's own == asks for equal shapes first.
template <class A, class B>
bool sameEntries(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() && a == b;
}

/// A vector that compares as a value, so that structs of such vectors can, too.
struct ValueVector : Eigen::VectorXd {
    using Eigen::VectorXd::VectorXd;
    using Eigen::VectorXd::operator=;

    bool operator==(const ValueVector& other) const {
        return sameEntries<Eigen::VectorXd, Eigen::VectorXd>(*this, other);
    }
};

}  // namespace roper
