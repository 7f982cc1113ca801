#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/explorer/setup.h"

namespace roper {

/// One member of a Setup under the name that texts and `--set` use.
struct SetupField {
    std::string key;
    std::string help;  ///< one line
    std::function<std::string(const Setup&)> text;
    /// Reads a text of this form. @throws Error (usage) saying what the field accepts
    std::function<void(Setup&, const std::string&)> set;
};

/// All members, in the order in which they are written.
const std::vector<SetupField>& setupFields();

/// @throws Error (usage) with the nearest known name; `also` are further names that the asker knows
const SetupField& findSetupField(std::string_view key, const std::vector<std::string>& also = {});

/// The name of a choice as texts have it: "half", "yarn", "no_inverse", …
std::string nameOf(Schedule schedule);
std::string nameOf(Pairing pairing);
std::string nameOf(ScalingMethod method);
std::string nameOf(Method method);
std::string nameOf(Mistake mistake);

}  // namespace roper
