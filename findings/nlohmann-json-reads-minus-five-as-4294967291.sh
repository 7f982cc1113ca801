#!/usr/bin/env bash
# get<unsigned>() of nlohmann's JSON turns -5 into 4294967291, 3.9 into 3, 4294967301 into 5 and true into 1 without any
# error.
#
# Surprising: the same call throws type_error for a string or null in place of a number, and the parser throws out_of_range
# for 1e400, so one expects numbers to be checked, too. But they are converted by static_cast: any number converts to any
# other type, and true and false count as numbers (although 1 is not a bool: that throws). value("key", default) does the
# same. A negative size in a file becomes a huge one that passes "at least 1", and half a layer becomes none.
#
# Version: nlohmann-json3-dev 3.11.2-2 (Debian 12), g++ 12.2.
# Seen:
#     -5 as unsigned: 4294967291
#     3.9 as int: 3
#     4294967301 as int: 5
#     true as int: 1
#     {"size": -1} value("size", 8u): 4294967295
#     1 as bool: type_error 302
#     "5" as int: type_error 302
# Source: from_json for arithmetic types in nlohmann/detail/conversions/from_json.hpp; the documentation of get() is silent.
# Ours: core/base/safetensors.cpp, core/control/messages.cpp and core/runs/status.cpp check is_number_unsigned() or
# is_number_integer() before such a get; tests/core/control/messages_test.cpp refuses a layer of -1.
set -euo pipefail
for package in g++ nlohmann-json3-dev; do
    dpkg-query --show "$package" >/dev/null 2>&1 || { echo "Debian's package $package is needed: apt-get install $package"; exit 2; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/read.cpp" <<'C'
#include <iostream>
#include <nlohmann/json.hpp>

using nlohmann::json;

template <typename T>
void read(const char* text, const char* type) {
    std::cout << text << " as " << type << ": ";
    try {
        std::cout << json::parse(text).get<T>() << '\n';
    } catch (const json::exception& error) {
        std::cout << "type_error " << error.id << '\n';
    }
}

int main() {
    read<unsigned>("-5", "unsigned");
    read<int>("3.9", "int");
    read<int>("4294967301", "int");
    read<int>("true", "int");
    std::cout << R"({"size": -1} value("size", 8u): )" << json::parse(R"({"size": -1})").value("size", 8U) << '\n';
    read<bool>("1", "bool");
    read<int>("\"5\"", "int");
}
C
g++ -std=c++17 "$folder/read.cpp" -o "$folder/read"
echo "nlohmann-json3-dev $(dpkg-query --show --showformat='${Version}' nlohmann-json3-dev)"
"$folder/read" | tee "$folder/seen"
diff "$folder/seen" <(sed -n 's/^#     //p' "$0") || { echo "Changed: numbers are converted in another way."; exit 1; }
