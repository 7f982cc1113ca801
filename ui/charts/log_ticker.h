#pragma once

#include <qcustomplot.h>

namespace roper {

/// Ticks of a logarithmic axis: powers of ten, and 2 and 5 times those where there are few of them.
class LogTicker : public QCPAxisTicker {
  protected:
    QVector<double> createTickVector(double step, const QCPRange& range) override;
    int getSubTickCount(double step) override;
};

}  // namespace roper
