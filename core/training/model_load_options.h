#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace roper {

/// Which checkpoint of a run is read, and how; not part of the run itself.
struct ModelLoadOptions {
    std::optional<std::int64_t> step;  ///< of the checkpoint; default: the newest
    std::string device = "cpu";
    /// receives messages about slow operations, such as preparing a text
    std::function<void(const std::string&)> note = {};
    std::string precision = {};  ///< as `device.precision`; default: the run's own
};

}  // namespace roper
