// roper-train, loaded once for many commands of the process tests, because loading LibTorch takes longer than
// most of them. Each line of standard input is a command as JSON; it runs in a child process of its own,
// which is a copy of this one, and its exit code is printed (128 + n after signal n).
//
//   {"arguments": ["look", …], "stdout": PATH, "stderr": PATH, "environment": {NAME: TEXT, …}}

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/roper_train/command_line.h"
#include "commit.h"
#include "core/base/this_process.h"

namespace {

void redirect(int to, const std::string& path, int flags) {
    const int file = ::open(path.c_str(), flags, 0600);
    if (file < 0 || ::dup2(file, to) < 0) std::_Exit(126);
    ::close(file);
}

[[noreturn]] void runCommand(const nlohmann::json& command) {
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
    redirect(STDOUT_FILENO, command.at("stdout"), O_WRONLY | O_CREAT | O_TRUNC);
    redirect(STDERR_FILENO, command.at("stderr"), O_WRONLY | O_CREAT | O_TRUNC);
    for (const auto& [name, text] : command.at("environment").items())
        ::setenv(name.c_str(), text.get<std::string>().c_str(), 1);
    std::vector<std::string> words = {"roper-train"};
    for (const auto& word : command.at("arguments"))
        words.push_back(word);
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    roper::exitProgram(roper::runCommandLine(static_cast<int>(words.size()), arguments.data()));
}

}  // namespace

int main() {
    roper::setProgramCommit(ROPER_LAB_COMMIT);
    roper::ignoreWriteSignals();
    for (std::string line; std::getline(std::cin, line);) {
        const auto command = nlohmann::json::parse(line);
        const pid_t child = ::fork();
        if (child == 0) runCommand(command);
        int status = 0;
        if (child < 0 || ::waitpid(child, &status, 0) != child) return 1;
        std::cout << (WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)) << std::endl;
    }
}
