#include "core/inspection/serve_model.h"

#include <optional>

#include "core/base/available.h"
#include "core/base/error.h"
#include "core/base/stop_signals.h"
#include "core/control/run_control.h"
#include "core/inspection/answer_look.h"
#include "core/inspection/opened_model.h"
#include "core/inspection/published_probe.h"
#include "core/operators/translating_errors.h"
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
InspectorOptions inspectorOptions(const RunControl& control, const ServeOptions& options) {
    InspectorOptions of_inspector;
    of_inspector.kept_bytes = static_cast<std::uint64_t>(availableMemory().value_or(0) / 3);
    of_inspector.progress = [&control, &options](std::int64_t done, std::int64_t all) {
        if (stopIsRequested()) throw Error(ErrorKind::other, "told to end");
        if (control.askerHasLeft()) throw Error(ErrorKind::other, "nobody waits for the answer any more");
        if (options.progress) options.progress(done, all);
    };
    return of_inspector;
}

Reply replyTo(const Request& request, Inspector& inspector) {
    return {"", true, inspector.model().name, answerLook(inspector, questionOf(request.question))};
}

}  // namespace

void serveRun(const RunFolder& folder, const ReadingOptions& reading, const ServeOptions& options) {
    handleStopSignals();
    const StopsPromptly nothing_to_save;
    translatingErrors([&] {
        LoadedModel loaded = loadModel(folder, reading);
        Socket socket;
        options.announce(socket.control.socketPath(), loaded.step);
        std::optional<Inspector> inspector;  // what only some questions need
        RequestHandlers handlers{[&] { return "serving step " + std::to_string(loaded.step); }, false};
        handlers.probe = [&](const Request& request) {
            return answerProbe({*loaded.model, *loaded.task, loaded.specification, loaded.step}, request);
        };
        handlers.look = [&](const Request& request) {
            if (!inspector)
                inspector.emplace(openRun(folder, loaded.step), inspectorOptions(socket.control, options));
            return replyTo(request, *inspector);
        };
        serveRequests(socket.control, handlers, options.goes_on);
    });
}

void servePublished(const FilePath& path, const ServeOptions& options) {
    handleStopSignals();
    const StopsPromptly nothing_to_save;
    translatingErrors([&] {
        Socket socket;
        Inspector inspector(openPublished(path), inspectorOptions(socket.control, options));
        options.announce(socket.control.socketPath(), -1);
        RequestHandlers handlers{[&] { return "serving " + inspector.model().name; }, false};
        handlers.probe = [&](const Request& request) -> Reply {
            return {"", true, inspector.model().name, answerPublishedProbe(inspector, request)};
        };
        handlers.look = [&](const Request& request) { return replyTo(request, inspector); };
        serveRequests(socket.control, handlers, options.goes_on);
    });
}

}  // namespace roper
