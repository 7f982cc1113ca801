#include "core/corpus/tokenizer_program.h"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "core/base/child_process.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

namespace fs = std::filesystem;

fs::path programPath() {
    const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path() / "roper-tokenizer";
    if (::access(beside.c_str(), X_OK) != 0)
        throw Error(ErrorKind::usage, "texts are tokenized by roper-tokenizer, which was not found at " +
                                          beside.string() + "; build it with ./lab setup");
    return beside;
}

/// The program's message without its name as prefix.
std::string messageOf(const ProgramResult& result) {
    constexpr std::string_view kName = "roper-tokenizer: ";
    const std::string message = trimmed(result.errors);
    return message.starts_with(kName) ? message.substr(kName.size()) : message;
}

}  // namespace

std::optional<std::string> runTokenizer(const std::vector<std::string>& arguments, std::string_view input,
                                        const std::function<bool()>& should_continue) {
    std::vector<std::string> command = {programPath().string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    auto result = runProgramWhile(should_continue, command, input);
    if (!result) return std::nullopt;
    if (result->signal != 0)
        throw Error(ErrorKind::memory, "roper-tokenizer was terminated by signal " +
                                           std::to_string(result->signal) +
                                           "; the machine may be short of memory");
    if (result->exit_code == 0) return std::move(result->output);
    throw Error(static_cast<ErrorKind>(result->exit_code), messageOf(*result));
}

}  // namespace roper
