#include "core/reading/serve_model.h"

#include <optional>

#include "core/base/available.h"
#include "core/base/error.h"
#include "core/base/stop_signals.h"
#include "core/control/run_control.h"
#include "core/operators/translate_errors.h"
#include "core/reading/answers.h"
#include "core/reading/opened_model.h"

namespace roper {
namespace {

/// An open control socket. @throws Error (disk)
class Socket {
  public:
    Socket() : control(/*open_socket=*/true) {
        if (control.socketPath().empty())
            throw Error(ErrorKind::disk, "no control socket: " + control.problem());
        setFileToRemoveOnStop(control.socketPath());
    }
    ~Socket() { setFileToRemoveOnStop({}); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    RunControl control;
};

/// Caches decoded parameters, so that further questions are answered faster.
ReaderOptions readerOptions(const RunControl& control, const ServeOptions& options) {
    ReaderOptions of_reader;
    of_reader.weight_cache_bytes = static_cast<std::uint64_t>(availableMemory().value_or(0) / 3);
    of_reader.progress = [&control, &options](std::int64_t done, std::int64_t all, const std::string& unit) {
        requireNotCancelled(control);
        if (options.progress) options.progress(done, all, unit);
    };
    return of_reader;
}

/// The question of a request; the older commands `head`, `maps` and `generate` are three of the questions.
Question questionIn(const Request& request) {
    if (request.command == Command::question) return roper::parseQuestion(request.question);
    Question question;
    question.text = request.text;
    if (request.command == Command::head) {
        question.what = "vectors";
        question.layer = request.layer;
        question.head = request.head;
    } else if (request.command == Command::maps) {
        question.what = "maps";
    } else {
        if (request.count < 1) throw Error(ErrorKind::usage, "\"count\" must be at least 1");
        question.what = "continuation";
        question.count = request.count;
        question.temperature = request.temperature;
        question.seed = request.seed;
    }
    return question;
}

}  // namespace

void requireNotCancelled(const RunControl& control) {
    if (stopIsRequested()) throw Error(ErrorKind::other, "the process was asked to end");
    if (control.clientHasDisconnected())
        throw Error(ErrorKind::other, "no client is waiting for the answer any more");
}

Reply answerRequest(ModelReader& reader, const Request& request) {
    const auto step = reader.runMetadata().find("step");
    return {"", true, step == reader.runMetadata().end() ? reader.model().name : "step " + step->second,
            serializeAnswer(reader, questionIn(request))};
}

namespace {

void serve(const std::function<OpenedModel()>& open, std::optional<std::int64_t> step,
           const ServeOptions& options) {
    handleStopSignals();
    const ExitOnStopSignal stops_promptly;
    translateErrors([&] {
        OpenedModel model = open();
        Socket socket;
        ModelReader reader(std::move(model), readerOptions(socket.control, options));
        options.announce(socket.control.socketPath(), step.value_or(-1));
        const RequestHandlers handlers{
            [&] { return "serving " + (step ? "step " + std::to_string(*step) : reader.model().name); },
            /*trains=*/false, [&](const Request& request) { return answerRequest(reader, request); }};
        serveRequests(socket.control, handlers, options.should_continue);
    });
}

}  // namespace

void serveRun(const RunFolder& folder, std::optional<std::int64_t> step, const ServeOptions& options) {
    const std::int64_t chosen = translateErrors([&] { return chooseCheckpoint(folder, step).step; });
    serve([&] { return openRun(folder, chosen); }, chosen, options);
}

void servePublished(const FilePath& path, const ServeOptions& options) {
    serve([&] { return openPublished(path); }, {}, options);
}

}  // namespace roper
