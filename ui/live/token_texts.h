#pragma once

#include <QStringList>
#include <string>
#include <vector>

#include "core/base/safetensors.h"

namespace roper {

/// A JSON list of texts in a file's metadata, such as `token_texts`. @throws Error (checkpoint) if there is
/// none
std::vector<std::string> textsIn(const SafetensorsFile& file, const std::string& key);

/// The tokens of a file's text; in files of versions that did not list them, its characters.
std::vector<std::string> tokenTexts(const SafetensorsFile& file);

/// What is seen of a token: blanks and ends of lines by signs.
QString shownToken(const std::string& token);
QStringList shownTokens(const std::vector<std::string>& tokens);

}  // namespace roper
