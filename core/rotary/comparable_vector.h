#pragma once

#include <Eigen/Core>

namespace roper {

/// Whether two matrices have equal shapes and entries; Eigen's own == requires equal shapes.
template <class A, class B>
bool haveEqualEntries(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() && a == b;
}

/// A vector with comparison by value, so that structs with such members can default operator==.
struct ComparableVector : Eigen::VectorXd {
    using Eigen::VectorXd::VectorXd;
    using Eigen::VectorXd::operator=;

    bool operator==(const ComparableVector& other) const {
        return haveEqualEntries<Eigen::VectorXd, Eigen::VectorXd>(*this, other);
    }
};

}  // namespace roper
