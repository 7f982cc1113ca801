#pragma once

#include <qcustomplot.h>
#include <vector>

namespace roper {

/// About `count` round numbers from low to high, 1, 2 or 5 times a power of ten apart.
std::vector<double> niceTicks(double low, double high, int count);

/// The whole numbers among `niceTicks`, for an axis that counts something.
std::vector<double> wholeTicks(double low, double high, int count);

/// The smallest step of 1, 2 or 5 times a power of ten for which count/step does not exceed `most`.
int wholeStep(double count, double most);

/// Ticks of a logarithmic axis: powers of ten, and for few of them also 2 and 5 times those; for about one
/// decade even more, so that both ends of a range such as 0.6 to 6 have ticks.
class LogTicker : public QCPAxisTicker {
  protected:
    QVector<double> createTickVector(double step, const QCPRange& range) override;
    int getSubTickCount(double step) override;
};

/// Ticks of a linear axis, with "−" for minus, as in all other texts.
class LinearTicker : public QCPAxisTicker {
  protected:
    QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;
};

/// Ticks at whole numbers, for an axis that counts: pairs, positions, distances, steps.
class WholeTicker : public LinearTicker {
  protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double step) override;
};

}  // namespace roper
