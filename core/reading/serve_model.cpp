#include "core/reading/serve_model.h"

#include <optional>

#include "core/base/available.h"
#include "core/base/error.h"
#include "core/base/stop_signals.h"
#include "core/control/run_control.h"
#include "core/operators/translating_errors.h"
#include "core/reading/answers.h"
#include "core/reading/opened_model.h"
#include "core/training/loaded_model.h"
#include "core/training/probes.h"

namespace roper {
namespace {

/// A control socket that is there. @throws Error (disk)
class Socket {
  public:
    Socket() : control(/*open_socket=*/true) {
        if (control.socketPath().empty())
            throw Error(ErrorKind::disk, "no control socket: " + control.problem());
        removeAtPromptStop(control.socketPath());
    }
    ~Socket() { removeAtPromptStop({}); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    RunControl control;
};

/// Parameters that were decoded are kept, so that the next question is answered sooner.
ReaderOptions readerOptions(const RunControl& control, const ServeOptions& options) {
    ReaderOptions of_reader;
    of_reader.kept_bytes = static_cast<std::uint64_t>(availableMemory().value_or(0) / 3);
    of_reader.progress = [&control, &options](std::int64_t done, std::int64_t all,
                                              const std::string& counted) {
        if (stopIsRequested()) throw Error(ErrorKind::other, "told to end");
        if (control.askerHasLeft()) throw Error(ErrorKind::other, "nobody waits for the answer any more");
        if (options.progress) options.progress(done, all, counted);
    };
    return of_reader;
}

/// The question of a request; `head`, `maps` and `generate` are former forms of three of them.
Question questionIn(const Request& request) {
    if (request.command == Command::look) return roper::questionOf(request.question);
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

Reply replyTo(const Request& request, ModelReader& reader) {
    return {"", true, reader.model().name, sentAnswer(reader, questionIn(request))};
}

}  // namespace

void serveRun(const RunFolder& folder, const ReadingOptions& reading, const ServeOptions& options) {
    handleStopSignals();
    const StopsPromptly nothing_to_save;
    translatingErrors([&] {
        LoadedModel loaded = loadModel(folder, reading);
        Socket socket;
        options.announce(socket.control.socketPath(), loaded.step);
        std::optional<ModelReader> reader;  // what only some questions need
        RequestHandlers handlers{[&] { return "serving step " + std::to_string(loaded.step); }, false};
        handlers.probe = [&](const Request& request) {
            return answerProbe({*loaded.model, *loaded.task, loaded.specification, loaded.step}, request);
        };
        handlers.look = [&](const Request& request) {
            if (!reader) reader.emplace(openRun(folder, loaded.step), readerOptions(socket.control, options));
            return replyTo(request, *reader);
        };
        serveRequests(socket.control, handlers, options.goes_on);
    });
}

void servePublished(const FilePath& path, const ServeOptions& options) {
    handleStopSignals();
    const StopsPromptly nothing_to_save;
    translatingErrors([&] {
        Socket socket;
        ModelReader reader(openPublished(path), readerOptions(socket.control, options));
        options.announce(socket.control.socketPath(), -1);
        RequestHandlers handlers{[&] { return "serving " + reader.model().name; }, false};
        handlers.probe = [&](const Request& request) { return replyTo(request, reader); };
        handlers.look = [&](const Request& request) { return replyTo(request, reader); };
        serveRequests(socket.control, handlers, options.goes_on);
    });
}

}  // namespace roper
