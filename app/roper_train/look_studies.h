#pragma once

#include <map>
#include <string>

#include "app/roper_train/look_commands.h"

namespace roper {

/// Prints the answers of kinds that take many passes or look at every layer, by the name of the kind.
extern const std::map<std::string, PrintAnswer> kStudyPrinters;

}  // namespace roper
