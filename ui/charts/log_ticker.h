#pragma once

#include <qcustomplot.h>

namespace roper {

/// Ticks of a logarithmic axis: powers of ten, and 2 and 5 times those where there are few of them; over
/// about one decade more, so that both ends of 0.6 to 6 have some.
class LogTicker : public QCPAxisTicker {
  protected:
    QVector<double> createTickVector(double step, const QCPRange& range) override;
    int getSubTickCount(double step) override;
};

}  // namespace roper
