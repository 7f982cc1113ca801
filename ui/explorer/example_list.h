#pragma once

#include "core/explorer/examples.h"
#include "ui/explorer/setup_panel.h"

namespace roper {

/// A list of the examples of a page, with their pictures, at this place of its panel.
/// @param page  as `roper-lab --page` names it
/// @param show  brings the tabs to the front in which the example is seen
void addExamples(SetupPanel& panel, const std::string& page, std::function<void(const ViewSettings&)> show);

}  // namespace roper
