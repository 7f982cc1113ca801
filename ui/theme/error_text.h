#pragma once

#include <QString>

#include "core/base/error.h"

namespace roper {

/// The message of the Error that `work` throws; empty only if it throws none, since an Error always has a
/// message.
template <class Work>
QString errorOf(const Work& work) {
    try {
        work();
        return {};
    } catch (const Error& error) {
        return QString::fromStdString(error.what());
    }
}

}  // namespace roper
