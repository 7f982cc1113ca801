#include "ui/pages/models/models_state.h"

#include <QFileInfo>
#include <algorithm>

namespace roper {

ModelsState::ModelsState(RunStore& store, QObject* parent)
    : QObject(parent), store_(store), client_(store, this) {
    connect(&client_, &ModelClient::answered, this,
            [this](const ModelQuestion&, const QByteArray& payload) { take(payload); });
    connect(&client_, &ModelClient::failed, this, [this](const QString& why) {
        if (asking_) fail(*asking_, why);
    });
    connect(&client_, &ModelClient::progressed, this, [this](int done, int all) {
        progress_ = all > 0 ? static_cast<double>(done) / all : -1;
        emit workChanged();
    });
    connect(&store_, &RunStore::runRemoved, this, [this](const QString& name) {
        if (name == model_) setModel({});
    });
}

void ModelsState::say(const QString& message) {
    message_ = message;
    emit workChanged();
}

void ModelsState::forget(std::initializer_list<Need> answers) {
    for (const Need need : answers) {
        known_.erase(need);
        switch (need) {
            case Need::model:
                summary_.reset();
                break;
            case Need::reading:
                reading_.reset();
                break;
            case Need::changed:
                changed_.reset();
                break;
            case Need::heads:
                heads_.reset();
                break;
            case Need::thumbnails:
                thumbnails_.reset();
                break;
            case Need::attention:
                attention_.reset();
                break;
            case Need::kernels:
                kernels_.reset();
                break;
            case Need::kernel_history:
                kernel_history_.reset();
                break;
            case Need::token_map:
                token_map_.reset();
                break;
            case Need::lens:
                lens_.reset();
                break;
            case Need::subsets:
                subsets_.reset();
                break;
            case Need::written:
                written_.reset();
                break;
            case Need::lengths:
                lengths_.reset();
                break;
            case Need::needle:
                needle_.reset();
                break;
            case Need::solved:
                solved_.reset();
                break;
            case Need::patch:
                patch_.reset();
                break;
            case Need::patch_positions:
                patch_positions_.reset();
                break;
        }
    }
}

void ModelsState::setModel(const QString& model) {
    // A run that trains moves on; what is seen of it is of one checkpoint, the newest when it was opened.
    std::optional<std::int64_t> step;
    if (const RunWatcher* run = store_.find(model))
        if (const auto checkpoints = run->folder().checkpoints(); !checkpoints.empty())
            step = checkpoints.back().step;
    if (model == model_ && step == step_) return;
    cancel();
    client_.close();
    model_ = model;
    step_ = step;
    forget({Need::model, Need::reading, Need::changed, Need::heads, Need::thumbnails, Need::attention,
            Need::kernels, Need::kernel_history, Need::token_map, Need::lens, Need::subsets, Need::written,
            Need::lengths, Need::needle, Need::solved, Need::patch, Need::patch_positions});
    emit modelChanged();
    emit headChanged();
    askNext();
}

void ModelsState::setText(const QString& text) {
    if (text == text_) return;
    text_ = text;
    cancel();
    forget({Need::reading, Need::changed, Need::heads, Need::thumbnails, Need::attention, Need::token_map,
            Need::lens, Need::subsets, Need::written, Need::lengths, Need::needle, Need::patch,
            Need::patch_positions});
    emit inputsChanged();
    askNext();
}

void ModelsState::setChange(const ModelChange& change) {
    if (change == change_) return;
    change_ = change;
    cancel();
    forget({Need::changed, Need::heads, Need::thumbnails, Need::attention, Need::lens, Need::subsets,
            Need::written, Need::lengths, Need::needle, Need::solved, Need::patch, Need::patch_positions});
    emit inputsChanged();
    askNext();
}

void ModelsState::setHead(int layer, int head) {
    if (summary_) {
        layer = std::clamp(layer, 0, static_cast<int>(summary_->layers) - 1);
        head = std::clamp(head, 0, static_cast<int>(summary_->heads) - 1);
    }
    if (layer == layer_ && head == head_) return;
    layer_ = layer;
    head_ = head;
    if (asking_ == Need::attention || asking_ == Need::kernel_history || asking_ == Need::token_map)
        stopAsking();
    emit headChanged();
    askNext();
}

void ModelsState::setDistance(int distance) {
    if (distance == distance_) return;
    distance_ = distance;
    askNext();
}

void ModelsState::setNeeds(std::vector<Need> needs) {
    needs_ = std::move(needs);
    askNext();
}

void ModelsState::request(Need need, const Question& question) {
    if (asking_ == need) stopAsking();
    requested_[need] = question;
    refused_.erase(need);
    known_.erase(need);
    askNext();
}

/// What is being answered is asked again later, if it is still wanted.
void ModelsState::stopAsking() {
    client_.cancel();
    asking_.reset();
    progress_ = -1;
}

void ModelsState::cancel() {
    stopAsking();
    refused_.clear();
    requested_.clear();
    say({});
}

const HeadReport* ModelsState::report() const {
    if (!heads_) return nullptr;
    for (const HeadReport& report : heads_->heads)
        if (report.layer == layer_ && report.head == head_) return &report;
    return nullptr;
}

/// Nothing where there is nothing to be asked.
std::optional<Question> ModelsState::questionFor(Need need) const {
    constexpr std::int64_t kCandidates = 10, kDistances = 64;
    Question question{"model", text_.toStdString()};
    question.change = change_;
    switch (need) {
        case Need::model:
            return Question{"model"};
        case Need::reading:
            question.what = "logits";
            question.count = kCandidates;
            question.change = {};
            break;
        case Need::changed:
            if (change_.isNothing()) return std::nullopt;
            question.what = "logits";
            question.count = kCandidates;
            break;
        case Need::heads:
            question.what = "heads";
            break;
        case Need::thumbnails:
            question.what = "thumbnails";
            break;
        case Need::attention:
            question.what = "attention";
            question.layer = layer_;
            question.head = head_;
            break;
        case Need::kernels: {
            Question kernels{"kernels"};
            kernels.count = kDistances;
            return kernels;
        }
        case Need::kernel_history: {
            if (summary_ && summary_->checkpoints.size() < 2) return std::nullopt;
            Question history{"kernel_history"};
            history.layer = layer_;
            history.head = head_;
            history.count = kDistances;
            return history;
        }
        case Need::token_map:
            question.what = "token_map";
            question.change = {};
            question.layer = layer_;
            question.head = head_;
            question.distance = distance_;
            break;
        case Need::lens:
            question.what = "lens";
            break;
        case Need::subsets:
        case Need::written:
        case Need::lengths:
        case Need::needle:
        case Need::solved:
        case Need::patch:
        case Need::patch_positions: {
            const auto found = requested_.find(need);
            if (found == requested_.end()) return std::nullopt;
            question = found->second;
            question.text = text_.toStdString();
            question.layer = layer_;
            question.head = head_;
            if (need == Need::solved) question.text.clear();
            const ModelChange scaled = question.change;  // by which longer texts are read
            question.change = change_;
            if (need == Need::lengths) {
                question.change.factor = scaled.factor;
                question.change.original_length = scaled.original_length;
            }
            break;
        }
    }
    if (text_.isEmpty() && need != Need::solved) return std::nullopt;
    return question;
}

bool ModelsState::isKnown(Need need, const Question& question) const {
    const auto is = [&](const std::map<Need, Question>& answers) {
        const auto found = answers.find(need);
        return found != answers.end() && found->second == question;
    };
    return is(known_) || is(refused_);
}

void ModelsState::askNext() {
    if (asking_ || model_.isEmpty()) return;
    std::vector<Need> wanted{Need::model};
    wanted.insert(wanted.end(), needs_.begin(), needs_.end());
    for (const auto& [need, question] : requested_)
        wanted.push_back(need);
    constexpr qsizetype kLongestText = 60000;  // bytes: a message of the socket holds no more
    if (text_.toUtf8().size() > kLongestText && summary_) {
        say(tr("The text has %1 bytes; this page reads at most %2. `roper-train look --text-file` reads "
               "longer ones.")
                .arg(text_.toUtf8().size())
                .arg(kLongestText));
        return;
    }
    for (const Need need : wanted) {
        const auto question = questionFor(need);
        if (!question || isKnown(need, *question)) continue;
        if (need != Need::model && !summary_) return;  // it could not be opened
        asking_ = need;
        asked_ = *question;
        progress_ = -1;
        Request request{Command::look, "1"};
        request.question = questionSettings(*question);
        emit workChanged();
        client_.ask({model_, request, step_});
        return;
    }
    emit workChanged();
}

QString ModelsState::work() const {
    if (!asking_) return {};
    switch (*asking_) {
        case Need::model:
            return tr("opening the model");
        case Need::reading:
            return tr("reading the text");
        case Need::changed:
            return tr("reading the text with the change");
        case Need::heads:
            return tr("measuring all heads");
        case Need::thumbnails:
            return tr("attention of all heads");
        case Need::attention:
            return tr("attention of layer %1, head %2").arg(layer_).arg(head_);
        case Need::kernels:
            return tr("what heads make of values by distance");
        case Need::kernel_history:
            return tr("what the head made of values at each checkpoint");
        case Need::token_map:
            return tr("what the head makes of tokens");
        case Need::subsets:
            return tr("reading the text with every subset of bands");
        case Need::written:
            return tr("writing");
        case Need::lens:
            return tr("what every layer would predict");
        case Need::lengths:
            return tr("reading the text with scaled frequencies");
        case Need::needle:
            return tr("hiding the needle in the text");
        case Need::solved:
            return tr("solving problems");
        case Need::patch:
            return tr("patching every head");
        case Need::patch_positions:
            return tr("patching layer %1, head %2, position by position").arg(layer_).arg(head_);
    }
    return {};
}

std::optional<ModelsState::Cost> ModelsState::cost() const {
    if (!summary_ || text_.isEmpty()) return std::nullopt;
    constexpr double kBytesOfAToken = 4, kOverProducts = 2, kGiga = 1e9;
    constexpr double kQueriesAtATime = 128, kLogitsAtATime = 8192;
    const ModelSummary& m = *summary_;
    const bool is_of_this_text =
        reading_ && known_.count(Need::reading) > 0 && known_.at(Need::reading).text == text_.toStdString();
    const auto bytes = static_cast<double>(text_.toUtf8().size());
    const double T = is_of_this_text                  ? static_cast<double>(reading_->ids.size())
                     : QFileInfo(model_).isAbsolute() ? std::max(1.0, bytes / kBytesOfAToken)
                                                      : bytes;
    const auto C = static_cast<double>(m.width), V = static_cast<double>(m.vocabulary),
               H = static_cast<double>(m.heads), d = static_cast<double>(m.head_dim),
               L = static_cast<double>(m.layers), P = static_cast<double>(m.parameters);
    // Every parameter but the embeddings once a token, the logits, and scores and mixture over half of T².
    const double operations = 2 * T * std::max(0.0, P - V * C) + 2 * T * V * C + 2 * T * T * L * H * d;
    const double held = 4 * (P + T * (2 * static_cast<double>(m.feed_forward) + 6 * C) +
                             3 * kQueriesAtATime * T * H + 3 * kLogitsAtATime * T);
    return Cost{kOverProducts * operations / (std::max(m.gflops, 1.0) * kGiga), held,
                static_cast<std::int64_t>(T)};
}

}  // namespace roper
