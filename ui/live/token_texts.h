#pragma once

#include <QStringList>
#include <string>
#include <vector>

#include "core/base/safetensors.h"

namespace roper {

/// A JSON list of strings in a file's metadata, such as `token_texts`. @throws Error (checkpoint) if it is
/// missing
std::vector<std::string> readTexts(const SafetensorsFile& file, const std::string& key);

/// The tokens of a file's text; its characters in files of older versions, which do not list tokens.
std::vector<std::string> tokenTexts(const SafetensorsFile& file);

/// Display text of a token: spaces and line breaks are replaced by symbols.
QString formatToken(const std::string& token);
/// `formatToken` of each token.
QStringList formatTokens(const std::vector<std::string>& tokens);

}  // namespace roper
