#include "core/base/console.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <new>
#include <streambuf>
#include <string>

#include "core/base/error.h"
#include "core/base/stop_signals.h"
#include "core/base/text.h"

namespace roper {

void reportToUser(std::string_view text) {
    std::cerr << replaceControlCharacters(text) << std::endl;
}

/// Replaces a stream's buffer and forwards filtered text. It holds back an incomplete UTF-8 character.
class TerminalOutputFilter::Filter : public std::streambuf {
  public:
    explicit Filter(std::ostream& stream) : stream_(stream), to_(stream.rdbuf(this)) {}
    ~Filter() override {
        pass(replaceControlCharacters(unfinished_));
        stream_.rdbuf(to_);
    }
    Filter(const Filter&) = delete;
    Filter& operator=(const Filter&) = delete;

    std::streambuf* to() const { return to_; }

  protected:
    std::streamsize xsputn(const char* text, std::streamsize count) override {
        const std::lock_guard lock(mutex_);
        const std::string_view added(text, static_cast<std::size_t>(count));
        if (unfinished_.empty() && isPlain(added)) return to_->sputn(text, count);
        unfinished_ += added;
        const std::size_t whole = completeUtf8Length(unfinished_);
        const bool passed = pass(replaceControlCharacters(std::string_view(unfinished_).substr(0, whole)));
        unfinished_.erase(0, whole);
        return passed ? count : 0;
    }

    int_type overflow(int_type character) override {
        if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(character);
        const char one = traits_type::to_char_type(character);
        return xsputn(&one, 1) == 1 ? character : traits_type::eof();
    }

    int sync() override {
        const std::lock_guard lock(mutex_);
        return to_->pubsync();
    }

  private:
    /// Whether a text is only printable ASCII, newlines and tabs, as nearly all are.
    static bool isPlain(std::string_view text) {
        return std::ranges::all_of(text, [](char c) {
            const auto byte = static_cast<unsigned char>(c);
            return c == '\n' || c == '\t' || (byte >= ' ' && byte < 0x7F);
        });
    }

    bool pass(const std::string& clean) {
        const auto count = static_cast<std::streamsize>(clean.size());
        return to_->sputn(clean.data(), count) == count;
    }

    std::ostream& stream_;
    std::streambuf* to_;
    std::string unfinished_;
    std::mutex mutex_;
};

namespace {
std::ostream* unfiltered = &std::cerr;
}

TerminalOutputFilter::TerminalOutputFilter()
    : out_(std::make_unique<Filter>(std::cout)), err_(std::make_unique<Filter>(std::cerr)) {
    static std::ostream stream(nullptr);
    stream.rdbuf(err_->to());
    unfiltered = &stream;
}

TerminalOutputFilter::~TerminalOutputFilter() {
    unfiltered = &std::cerr;
}

std::ostream& terminal() {
    return *unfiltered;
}

int runReportingErrors(const std::string& program, const std::function<int()>& work) {
    const auto fail = [&](ErrorKind kind, const std::string& what) {
        reportToUser(program + ": " + truncateText(what, kMaxMessageBytes));
        return static_cast<int>(kind);
    };
    try {
        const int code = work();
        if (code == 0) flushStdout();
        return code;
    } catch (const Error& error) {
        return fail(error.kind(), error.what());
    } catch (const std::bad_alloc&) {
        return fail(ErrorKind::memory, "this machine does not have enough memory");
    } catch (const std::filesystem::filesystem_error& error) {
        constexpr std::size_t kLongestPath = 200;
        const bool is_name = error.code() == std::errc::filename_too_long;
        return fail(is_name ? ErrorKind::usage : ErrorKind::disk,
                    truncateText(error.path1().string(), kLongestPath) + ": " + error.code().message());
    } catch (const std::exception& error) {
        return fail(ErrorKind::other, error.what());
    }
}

void flushStdout() {
    std::cout.flush();
    if (std::cout) return;
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    if (::poll(&output, 1, 0) < 0 || (output.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return;
    throw Error(ErrorKind::disk, "cannot write to standard output: is the disk full?");
}

ExitOnClosedOutput::ExitOnClosedOutput() {
    struct stat info {};
    const bool reader_may_leave =
        ::fstat(STDOUT_FILENO, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
    if (!reader_may_leave) return;
    wake_ = Descriptor(::eventfd(0, EFD_CLOEXEC));
    if (!wake_) return;
    watcher_ = std::thread([wake = wake_.number()] {
        pollfd watched[] = {{STDOUT_FILENO, 0, 0}, {wake, POLLIN, 0}};
        while (::poll(watched, 2, -1) < 0) {
        }
        if (watched[1].revents == 0) exitImmediately(0);
    });
}

ExitOnClosedOutput::~ExitOnClosedOutput() {
    if (!watcher_.joinable()) return;
    ::eventfd_write(wake_.number(), 1);
    watcher_.join();
}

}  // namespace roper
