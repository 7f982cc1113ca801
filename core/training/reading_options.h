#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace roper {

/// Which checkpoint of a run is read, and how; it is no part of what the run is.
struct ReadingOptions {
    std::optional<std::int64_t> step;  ///< of the checkpoint; the newest if not given
    std::string device = "cpu";
    std::function<void(const std::string&)> note = {};  ///< told what takes long, such as preparing a text
    std::string precision = {};                         ///< as `device.precision`; the run's own if not given
};

}  // namespace roper
