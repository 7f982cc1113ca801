#include "ui/explorer/selection.h"

#include <QElapsedTimer>
#include <QUndoCommand>

namespace roper {
namespace {

constexpr int kMaxUndoSteps = 200;
constexpr qint64 kMerge_ms = 900;

}  // namespace

/// One undo step.
class ChangeSetup : public QUndoCommand {
  public:
    ChangeSetup(Selection& selection, Setup after, const QString& what)
        : QUndoCommand(what), selection_(selection), before_(selection.setup()), after_(std::move(after)) {
        age_.start();
    }

    void undo() override { selection_.apply(before_); }
    void redo() override { selection_.apply(after_); }
    int id() const override { return 1; }

    bool mergeWith(const QUndoCommand* command) override {
        const auto& next = static_cast<const ChangeSetup&>(*command);
        if (next.text() != text() || age_.elapsed() > kMerge_ms) return false;
        after_ = next.after_;
        age_.restart();
        return true;
    }

  private:
    Selection& selection_;
    Setup before_, after_;
    QElapsedTimer age_;
};

Selection::Selection(QObject* parent) : QObject(parent), setup_(sanitized(Setup{})) {
    history_.setUndoLimit(kMaxUndoSteps);
}

void Selection::set(const Setup& setup, const QString& what) {
    Setup inside = sanitized(setup);
    if (inside == setup_) return;
    history_.push(new ChangeSetup(*this, std::move(inside), what));
}

void Selection::change(const QString& what, const std::function<void(Setup&)>& make) {
    Setup setup = setup_;
    make(setup);
    set(setup, what);
}

void Selection::replace(const Setup& setup) {
    apply(sanitized(setup));
}

void Selection::apply(const Setup& setup) {
    if (setup == setup_) return;
    setup_ = setup;
    hover_state_.clear();  // the item under the pointer may have changed
    emit changed();
}

}  // namespace roper
