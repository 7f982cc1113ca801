#include "core/training/data_parallel.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "core/base/child_process.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/corpus/open_task.h"
#include "core/model/device.h"
#include "core/training/batch_stream.h"
#include "core/training/loaded_model.h"
#include "core/training/own_stream.h"
#include "core/training/session.h"
#include "core/training/stepper.h"

namespace roper {
namespace {

/// What the first process may say besides a number of steps.
constexpr std::int64_t kEnd = 0, kTakeOver = -1;

constexpr const char* kMeetingFile = "processes.json";

std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string() : value;
}

/// Names the step of a job that srun has started, so that what an earlier one left is not taken for it.
std::string slurmStep() {
    return environment("SLURM_JOB_ID") + "." + environment("SLURM_STEP_ID") + "." +
           environment("SLURM_RESTART_COUNT");
}

void writeMeetingPoint(const RunFolder& folder, const MeetingPoint& at) {
    const nlohmann::json json = {{"step", slurmStep()}, {"host", at.host}, {"port", at.port}};
    writeFileAtomically(folder.file(kMeetingFile), json.dump() + "\n", Durability::process_death);
}

/// Waits until the first process has said in the run's folder where it is. @throws Error (other) after two
/// minutes
MeetingPoint awaitMeetingPoint(const RunFolder& folder) {
    constexpr int kTries = 1200;
    for (int i = 0; i < kTries; ++i) {
        try {
            const auto json = nlohmann::json::parse(readFile(folder.file(kMeetingFile)));
            if (json.at("step").get<std::string>() == slurmStep())
                return {json.at("host").get<std::string>(), json.at("port").get<int>()};
        } catch (const std::exception&) {
            // Not there yet, or of an earlier step.
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    throw Error(ErrorKind::other, "the first process of " + folder.path().string() +
                                      " has not said within two minutes where it is");
}

pid_t startFollower(const MeetingPoint& at, int rank, int size, const FilePath& messages) {
    const Descriptor nothing = openFile("/dev/null", O_RDWR);
    const Descriptor said = openFile(messages, O_WRONLY | O_CREAT | O_APPEND);
    return startProcess(
        "/proc/self/exe",
        {"roper-train", "follow", at.host + ":" + std::to_string(at.port), "--rank", std::to_string(rank),
         "--of", std::to_string(size), "--with-parent", std::to_string(::getpid())},
        {nothing.number(), nothing.number(), said.number()});
}

/// Whether the processes of a group have GPUs, each another. All of them ask. NCCL can be told to let several
/// share one, for trials.
bool eachHasItsOwn(ProcessGroup& group, const std::string& gpu) {
    constexpr const char* kNone = "none";
    const auto name = [](int rank) { return "GPU of " + std::to_string(rank); };
    group.set(name(group.rank()), gpu.empty() ? kNone : gpu);
    std::set<std::string> gpus;
    for (int rank = 0; rank < group.size(); ++rank)
        gpus.insert(group.get(name(rank)));
    const bool may_share = environment("NCCL_MULTI_RANK_GPU_ENABLE") == "1";
    return !gpus.contains(kNone) && (may_share || static_cast<int>(gpus.size()) == group.size());
}

}  // namespace

Specification sharedBy(std::int64_t processes, Specification specification) {
    if (processes == 1) return specification;
    const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    if (specification.device.threads == 0 && !slurmRank(processes))
        specification.device.threads = std::max<std::int64_t>(1, cores / processes);
    return specification;
}

Shard shardOf(std::int64_t batch, int rank, int size) {
    const std::int64_t first = batch * rank / size;
    return {first, batch * (rank + 1) / size - first};
}

SharedGradients::SharedGradients(ProcessGroup& group, at::Device device) : group_(group) {
    const bool on_gpu = gpu() != nullptr && gpu()->deviceType() == device.type();
    const bool each_its_own = eachHasItsOwn(group, on_gpu ? gpu()->uuid() : "");
    if (each_its_own) {
        constexpr const char* kName = "GPUs";
        if (group.rank() == 0) group.set(kName, gpu()->newGroup());
        try {
            gpus_ = gpu()->join(group.get(kName), group.rank(), group.size());
        } catch (const c10::Error& error) {
            throw Error(ErrorKind::other,
                        std::string(error.what_without_backtrace()) +
                            ". With device.kernel = plain gradients go by way of the hosts.");
        }
        note_ = "gradients are added up by NCCL, each process on a GPU of its own";
    } else if (!device.is_cpu()) {
        note_ = "gradients are added up by way of the hosts, because " +
                std::string(on_gpu ? "several processes share a GPU" : "our own CUDA half is not used");
    }
}

double SharedGradients::begin(double loss, const at::Tensor& targets) {
    const double ours = targets.ne(kIgnoreIndex).sum().item<double>();
    at::Tensor sums = at::tensor({ours > 0 ? loss * ours : 0.0, ours}, at::kDouble);
    group_.sum(sums);
    const double all = sums[1].item<double>();
    share_ = ours / all;
    return sums[0].item<double>() / all;
}

void SharedGradients::sum(at::Tensor& gradients) {
    gradients.mul_(share_);
    if (!gpus_) return group_.sum(gradients);
    try {
        gpus_->sum(gradients);
    } catch (const c10::Error& error) {
        throw Error(ErrorKind::preempted, error.what_without_backtrace());
    }
}

void shareState(ProcessGroup& group, Transformer& model, AdamW& optimizer, TrainingPosition& position) {
    const at::NoGradGuard no_gradients;
    for (std::size_t i = 0; i < model.parameters().size(); ++i) {
        const AdamW::Moments moments = optimizer.moments(i);
        for (at::Tensor tensor : {model.parameters()[i].second.detach(), moments.mean, moments.square})
            group.share(tensor);
    }
    at::Tensor numbers = at::tensor(
        {position.step, static_cast<std::int64_t>(position.next_sequence), optimizer.stepsDone()}, at::kLong);
    group.share(numbers);
    position.step = numbers[0].item<std::int64_t>();
    position.next_sequence = static_cast<std::uint64_t>(numbers[1].item<std::int64_t>());
    optimizer.setStepsDone(numbers[2].item<std::int64_t>());
}

Followers::Followers(std::int64_t processes, const RunFolder& folder, const Specification& specification) {
    if (processes > specification.training.batch)
        throw Error(ErrorKind::usage, std::to_string(processes) + " processes cannot share a batch of " +
                                          std::to_string(specification.training.batch) + " (training.batch)");
    const auto size = static_cast<int>(processes);
    const bool by_srun = slurmRank(processes).has_value();
    group_ = ProcessGroup::lead(size, !by_srun);
    group_->set("specification", toToml(specification));
    group_->set("folder", folder.confinedPath().string());
    if (by_srun)
        writeMeetingPoint(folder, group_->meetingPoint());
    else
        for (int rank = 1; rank < size; ++rank)
            children_.push_back(startFollower(group_->meetingPoint(), rank, size, folder.messagesPath()));
    group_->gather();
}

Followers::~Followers() {
    try {
        order(kEnd);
    } catch (const Error&) {
        // They notice that this one is gone.
    }
    group_.reset();
    for (const pid_t child : children_) {
        constexpr int kMostPolls = 200;
        for (int polls = 0; ::waitpid(child, nullptr, WNOHANG) == 0; ++polls) {
            if (polls == kMostPolls) ::kill(child, SIGKILL);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
}

void Followers::order(std::int64_t what) {
    at::Tensor number = at::tensor({what}, at::kLong);
    group_->share(number);
}

void Followers::step(std::int64_t count) {
    order(count);
}

void Followers::takeOver(Transformer& model, AdamW& optimizer, TrainingPosition& position) {
    order(kTakeOver);
    shareState(*group_, model, optimizer, position);
}

void followRun(const std::string& host, int port, int rank, int size) {
    // Only the first process decides when to end; without it this one ends, too.
    ::signal(SIGTERM, SIG_IGN);
    ::signal(SIGINT, SIG_IGN);
    keepHeapWarm();
    translatingErrors([&] {
        const std::unique_ptr<ProcessGroup> group = ProcessGroup::join({host, port}, rank, size);
        const Specification specification =
            parseSpecification(group->get("specification"), "what the first process trains");
        const RunFolder folder(group->get("folder"));
        setThreads(specification.device.threads);
        const std::unique_ptr<Task> task = openTask(specification.task, folder);
        const at::Device device = openDevice(specification.device, rankOnThisMachine(rank)).device;
        const OwnStream stream(device);
        Transformer model(specification, modelVocabularySize(*task, specification), device);
        AdamW optimizer(model.parameters(), specification.training);
        group->gather();
        TrainingPosition position;
        std::optional<BatchStream> batches;
        std::unique_ptr<Stepper> stepper;
        SharedGradients gradients(*group, device);
        while (true) {
            at::Tensor number = at::zeros({1}, at::kLong);
            group->share(number);
            const auto what = number.item<std::int64_t>();
            if (what == kEnd) return;
            if (what == kTakeOver) {
                stepper.reset();
                batches.reset();
                shareState(*group, model, optimizer, position);
                batches.emplace(*task, specification, position.next_sequence,
                                shardOf(specification.training.batch, rank, size));
                model.chooseAttention(specification.training.batch, specification.inputLength());
                stepper = makeStepper({model, optimizer, *batches, specification, device, &gradients, rank},
                                      position.step);
                continue;
            }
            stepper->advance(what);
        }
    });
}

std::optional<SlurmRank> slurmRank(std::int64_t processes) {
    const auto rank = parseInteger(environment("SLURM_PROCID")),
               size = parseInteger(environment("SLURM_STEP_NUM_TASKS"));
    if (!rank || !size || *size < 2 || processes < 2) return std::nullopt;
    if (*size != processes)
        throw Error(ErrorKind::usage, "srun has started " + std::to_string(*size) +
                                          " processes, but --processes says " + std::to_string(processes) +
                                          ": give both the same number");
    return SlurmRank{static_cast<int>(*rank), static_cast<int>(*size)};
}

int rankOnThisMachine(int rank) {
    return static_cast<int>(parseInteger(environment("SLURM_LOCALID")).value_or(rank));
}

bool isAmongTasksOfSrun(std::int64_t processes) {
    return slurmRank(processes).has_value();
}

bool isFollowerOfSrun(std::int64_t processes) {
    const auto rank = slurmRank(processes);
    return rank && rank->rank > 0;
}

bool followAmongTasks(const RunFolder& folder, std::int64_t processes) {
    if (!isFollowerOfSrun(processes)) return false;
    const SlurmRank rank = *slurmRank(processes);
    const MeetingPoint at = awaitMeetingPoint(folder);
    followRun(at.host, at.port, rank.rank, rank.size);
    return true;
}

}  // namespace roper
