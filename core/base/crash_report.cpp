#include "core/base/crash_report.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>

#include "core/base/text.h"
#include "core/base/this_process.h"

namespace roper {
namespace {

struct Crash {
    int signal;
    const char* text;
};

constexpr std::array<Crash, 5> kCrashes = {{
    {SIGSEGV, "SIGSEGV: invalid memory access"},
    {SIGBUS, "SIGBUS: its memory could not be read, for example because a disk failed"},
    {SIGILL, "SIGILL: an instruction that this processor does not support"},
    {SIGFPE, "SIGFPE: an integer division by zero"},
    {SIGABRT, "SIGABRT: an internal check failed"},
}};

constexpr std::string_view kBegin = "the process ";
constexpr std::string_view kStarted = " (started at tick ";
constexpr std::string_view kMiddle = ") crashed with ";

std::atomic<int> log_file = -1;
std::atomic<std::int64_t> own_start = 0;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

/// A line composed without memory allocation, which is not allowed in a signal handler.
class Line {
  public:
    Line& add(std::string_view text) {
        const std::size_t count = std::min(text.size(), bytes_.size() - size_);
        std::memcpy(bytes_.data() + size_, text.data(), count);
        size_ += count;
        return *this;
    }
    /// @param digits  minimal number of digits, padded with zeros
    Line& add(std::int64_t number, std::size_t digits = 1) {
        std::array<char, 24> text;
        const char* const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
        const auto count = static_cast<std::size_t>(end - text.data());
        for (std::size_t i = count; i < digits; ++i)
            add("0");
        return add({text.data(), count});
    }
    std::string_view text() const { return {bytes_.data(), size_}; }

  private:
    std::array<char, 256> bytes_;
    std::size_t size_ = 0;
};

/// In the format of `RunRecorder::log`; gmtime is not used, since it may take a lock.
void addTime(Line& line) {
    using namespace std::chrono;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const sys_seconds time{seconds(now.tv_sec)};
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(time - day);
    line.add(int(date.year()), 4)
        .add("-")
        .add(unsigned(date.month()), 2)
        .add("-")
        .add(unsigned(date.day()), 2);
    line.add("T").add(clock.hours().count(), 2).add(":").add(clock.minutes().count(), 2);
    line.add(":").add(clock.seconds().count(), 2).add("Z  ");
}

void onCrash(int signal) {
    Line line;
    addTime(line);
    line.add(kBegin).add(::getpid()).add(kStarted).add(own_start).add(kMiddle);
    for (const Crash& crash : kCrashes)
        if (crash.signal == signal) line.add(crash.text);
    line.add("\n");
    [[maybe_unused]] const ssize_t ignored = ::write(log_file, line.text().data(), line.text().size());
    ::raise(signal);  // the default action, restored by SA_RESETHAND
}

}  // namespace

void reportCrashesTo(int log) {
    log_file = log;
    own_start = static_cast<std::int64_t>(processStart(::getpid()));
#ifdef ROPER_SANITIZED
    return;
#endif
    // The handler cannot run on an overflowed stack; this is the alternative one, for the main thread.
    static std::array<char, 65536> stack;
    const stack_t other{stack.data(), 0, stack.size()};
    ::sigaltstack(&other, nullptr);
    struct sigaction action {};
    action.sa_handler = log >= 0 ? onCrash : SIG_DFL;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_NODEFER | SA_ONSTACK;
    for (const Crash& crash : kCrashes)
        ::sigaction(crash.signal, &action, nullptr);
}

std::optional<std::string> findCrash(std::string_view log, std::int64_t pid, std::uint64_t start) {
    const std::string mark = std::string(kBegin)
                                 .append(std::to_string(pid))
                                 .append(kStarted)
                                 .append(std::to_string(start))
                                 .append(kMiddle);
    const std::size_t at = log.rfind(mark);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view rest = log.substr(at + mark.size());
    return replaceControlCharacters(rest.substr(0, rest.find('\n')));
}

std::string signalName(int signal) {
    const char* const name = ::sigabbrev_np(signal);
    return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG").append(name);
}

}  // namespace roper
