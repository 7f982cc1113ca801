#include "ui/shell/explain.h"

namespace roper {

QString noteNumber(double value, int digits) {
    return QString::number(value, 'g', digits).replace('-', QChar(0x2212));
}

}  // namespace roper
