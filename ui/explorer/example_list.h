#pragma once

#include "core/explorer/examples.h"
#include "ui/explorer/setup_panel.h"

namespace roper {

/// Adds the page's list of examples, with pictures, to the panel.
/// @param page  as in `roper-lab --page`
/// @param show  brings the tabs with the example to the front
void addExamples(SetupPanel& panel, const std::string& page, std::function<void(const ViewSettings&)> show);

}  // namespace roper
