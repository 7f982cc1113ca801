// fuzz_parsers --target=NAME [argument of libFuzzer...]: fuzzes one parser. For any input the parser must
// return or throw an Error with a message for the user. Any other exception and any report of a sanitizer is
// a bug, and so is an input that needs more than kMostSeconds of CPU time or more memory than libFuzzer's
// -malloc_limit_mb and -rss_limit_mb allow. ROPER_SEED, if set, is libFuzzer's seed.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/safetensors.h"
#include "core/base/text.h"
#include "core/compare/run_filter.h"
#include "core/control/messages.h"
#include "core/corpus/corpus_files.h"
#include "core/explorer/hugging_face.h"
#include "core/explorer/setup_text.h"
#include "core/model_config/rotation_reading.h"
#include "core/pretrained/gguf_rotation.h"
#include "core/pretrained/model_weights.h"
#include "core/pretrained/pretrained_model.h"
#include "core/pretrained/quantized_folder.h"
#include "core/runs/metrics_import.h"
#include "core/runs/rows.h"
#include "core/runs/run_queue.h"
#include "core/runs/status.h"
#include "core/runs/tensorboard_events.h"
#include "core/specification/specification.h"
#include "core/tokenizers/tokenizer_files.h"
#include "tests/fuzz/tokenizer_grammar.h"

namespace roper {
namespace {

/// Round trips: writing a parsed value and parsing it again must give the same value.
void require(bool holds, const char* what) {
    if (holds) return;
    std::cerr << what << "\n";
    std::abort();
}

void specification(const std::string& bytes) {
    const Specification read = parseSpecification(bytes, "fuzz");
    const std::string written = toToml(read);
    require(toToml(parseSpecification(written, "written")) == written, "a specification changed on its way");
    check(read);
}

void queue(const std::string& bytes) {
    const RunQueue read = parseQueue(bytes, "fuzz");
    require(parseQueue(toToml(read), "written") == read, "a queue changed on its way");
}

template <class Row>
void rowOf(const std::string& line) {
    const std::string written = formatRow(parseRow<Row>(line));
    require(formatRow(parseRow<Row>(written)) == written, "a row changed on its way");
}

void metrics(const std::string& bytes) {
    rowOf<MetricsRow>(bytes);
}
void evaluations(const std::string& bytes) {
    rowOf<EvaluationRow>(bytes);
}
void samples(const std::string& bytes) {
    rowOf<Sample>(bytes);
}
void measurements(const std::string& bytes) {
    if (bytes.empty()) return;
    const std::string line = bytes.substr(1);
    switch (bytes[0] & 3) {
        case 0:
            return rowOf<MethodRow>(line);
        case 1:
            return rowOf<SizeRow>(line);
        case 2:
            return rowOf<LengthRow>(line);
        default:
            return rowOf<PositionRow>(line);
    }
}

void status(const std::string& bytes) {
    const Status read = parseStatus(bytes, "fuzz");
    require(toSingleLine(read.error) == read.error, "a status holds control characters");
    livenessCheckFor(read);
    writerIsAlive(read, [] { return std::optional<bool>(); });
}

void safetensors(const std::string& bytes) {
    const SafetensorsFile file = SafetensorsFile::parse(bytes, "fuzz");
    for (const auto& [name, tensor] : file.tensors())
        if (!tensor.bytes.empty())
            require(
                std::to_integer<int>(tensor.bytes.front()) + std::to_integer<int>(tensor.bytes.back()) >= 0,
                "a tensor lies outside of its file");
}

void events(const std::string& bytes) {
    for (const ScalarEvent& event : parseEvents(bytes).events)
        formatEvent(event);
}

void control(const std::string& bytes) {
    LineFramer framer;
    const auto lines = framer.add(bytes);
    if (!lines) return;
    for (const std::string& line : *lines) {
        try {
            const Request request = parseRequest(line);
            parseRequest(formatRequest(request));
        } catch (const Error&) {
        }
        try {
            parseReply(line);
        } catch (const Error&) {
        }
    }
}

void setup(const std::string& bytes) {
    const SetupText read = parseSetup(bytes);
    const std::string written = formatSetup(read);
    require(formatSetup(parseSetup(written)) == written, "a setup changed on its way");
}

void filter(const std::string& bytes) {
    RunFilter(bytes).matches({});
}

void config(const std::string& bytes) {
    readHuggingFaceConfig(bytes, {});
    readRotation(bytes);
}

void import(const std::string& bytes) {
    const ExternalTable table = parseExternalTable(bytes, "fuzz");
    guessMapping(table);
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        all.push_back(i);
    std::size_t rows = 0;
    table.forEachRow(all, [&](const ExternalTable::Row& row, std::size_t) {
        require(row.size() == all.size(), "a row has not all columns");
        ++rows;
    });
    require(rows == table.row_count, "rows were counted wrongly");
}

void corpus(const std::string& bytes) {
    try {
        parseCorpusSummary(bytes, "fuzz");
    } catch (const Error&) {
    }
    const std::vector<std::string> words = parseVocabulary(bytes, "fuzz");
    parseVocabulary(formatVocabulary(words), "written");
}

/// A file in memory with these bytes; it exists as long as this object.
class MemoryFile {
  public:
    explicit MemoryFile(const std::string& bytes) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
        require(
            file_.number() >= 0 && ::ftruncate(file_.number(), static_cast<off_t>(bytes.size())) == 0 &&
                ::pwrite(file_.number(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
            "no file in memory");
    }
    std::string path() const { return "/proc/self/fd/" + std::to_string(file_.number()); }

  private:
    Descriptor file_;
};

/// Short texts of every kind, including some that patterns and normalizers can lengthen a lot.
const std::vector<std::string>& texts() {
    static const std::vector<std::string> made = [] {
        std::vector<std::string> all = {
            "",         "The cat, 12 ÅÉ\n  日本 <s>", "ab ab  abc ▁▁a1 12 'sA_.ﬁ\u0085\u180E",
            "\n\n a\n", std::string(400, 'a'),        std::string(200, ' ') + "b"};
        for (const char* const part : {"ab", "e\u0301\u0323\u0F73", "\uFDFA ", "<s>a"}) {
            all.emplace_back();
            while (all.back().size() < 200)
                all.back() += part;
        }
        return all;
    }();
    return made;
}

/// Texts must encode to tokens of the vocabulary and decode to text within the budget, or an Error must say
/// why not.
void encodeTexts(const Tokenizer& tokenizer) {
    constexpr std::uint64_t kMaxSteps = 200'000;
    for (const std::string& text : texts()) {
        EncodingBudget budget(text.size(), kMaxSteps);
        try {
            const auto ids = tokenizer.encode(text, budget);
            for (const std::int64_t id : ids) {
                require(id >= 0 && id < tokenizer.size(), "a token has no place in the vocabulary");
                tokenizer.textOf(id);
            }
            tokenizer.decode(ids);
        } catch (const Error&) {
        }
        require(budget.steps() <= kMaxSteps, "a text took more steps than it may");
    }
}

/// Reads a row of every tensor that is not large.
void readRows(const TensorStore& store) {
    for (const auto& [name, tensor] : store.tensors()) {
        if (tensor.count() == 0 || tensor.count() >= (1 << 16)) continue;
        std::vector<float> row(static_cast<std::size_t>(tensor.shape.empty() ? 1 : tensor.shape.back()));
        store.readRows(tensor, 0, 1, row);
    }
}

void gguf(const std::string& bytes) {
    const MemoryFile file(bytes);
    GgufFile read = GgufFile::read(file.path());
    try {
        encodeTexts(tokenizerOf(read.metadata));
    } catch (const Error&) {
    }
    readRows(*read.tensors);
    ParsedArchitecture reading = readGgufArchitecture(read.metadata);
    readFrequencyFactors(*read.tensors, reading.architecture);
    locateWeights(*read.tensors, Naming::gguf, reading.architecture);
}

void architecture(const std::string& bytes) {
    readConfigArchitecture(bytes);
}

/// The first line of an input, and all others.
std::pair<std::string, std::string> splitFirstLine(const std::string& bytes) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string::npos) return {bytes, ""};
    return {bytes.substr(0, end), bytes.substr(end + 1)};
}

/// Size in bytes of the tensors that a safetensors header describes, as far as it is valid.
std::uint64_t sizeOfTensors(const std::string& header) {
    std::uint64_t bytes = 0;
    const auto json = nlohmann::json::parse(header, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) return bytes;
    for (const auto& tensor : json) {
        if (!tensor.is_object() || !tensor.contains("data_offsets")) continue;
        const auto& offsets = tensor["data_offsets"];
        if (offsets.is_array() && offsets.size() == 2 && offsets[1].is_number_unsigned())
            bytes = std::max(bytes, offsets[1].get<std::uint64_t>());
    }
    return bytes;
}

/// A safetensors file with this header, whose tensors consist of `data`, repeated, or of zeros.
std::string safetensorsFile(const std::string& header, const std::string& data) {
    constexpr std::uint64_t kMostBytes = 1U << 16U;
    const std::uint64_t data_bytes = std::min(sizeOfTensors(header), kMostBytes);
    std::string file(sizeof(std::uint64_t), '\0');
    for (std::size_t i = 0; i < file.size(); ++i)
        file[i] = static_cast<char>(header.size() >> (8 * i));
    file += header;
    for (std::uint64_t i = 0; i < data_bytes; ++i)
        file += data.empty() ? '\0' : data[i % data.size()];
    return file;
}

/// A folder of quantized matrices: config.json in the first line, the header of model.safetensors in the
/// second, and then the bytes of its tensors.
void quantized(const std::string& bytes) {
    const auto [config, rest] = splitFirstLine(bytes);
    const auto [header, data] = splitFirstLine(rest);
    const MemoryFile file(safetensorsFile(header, data));
    TensorStore store;
    addSafetensors(file.path(), store);
    std::vector<std::string> notes;
    requireSupportedQuantization("fuzz", config);
    combineQuantizedMatrices("fuzz", config, store, notes);
    readRows(store);
}

/// The tokenizer of an ESM-2: tokenizer_config.json in the first line, then vocab.txt.
void vocabulary(const std::string& bytes) {
    const auto [config, lines] = splitFirstLine(bytes);
    const auto json = nlohmann::json::parse(config, nullptr, /*allow_exceptions=*/false);
    if (!json.is_discarded()) encodeTexts(parseEsmVocabulary(lines, json, "fuzz"));
}

void tokenizer(const std::string& bytes) {
    encodeTexts(parseTokenizerJson(bytes, "fuzz"));
}

struct Parser {
    std::string_view name;
    void (*read)(const std::string& bytes);
};
constexpr std::array<Parser, 20> kParsers{{{"specification", specification},
                                           {"queue", queue},
                                           {"metrics", metrics},
                                           {"evaluations", evaluations},
                                           {"samples", samples},
                                           {"measurements", measurements},
                                           {"status", status},
                                           {"safetensors", safetensors},
                                           {"events", events},
                                           {"control", control},
                                           {"setup", setup},
                                           {"config", config},
                                           {"filter", filter},
                                           {"import", import},
                                           {"corpus", corpus},
                                           {"gguf", gguf},
                                           {"architecture", architecture},
                                           {"quantized", quantized},
                                           {"vocabulary", vocabulary},
                                           {"tokenizer", tokenizer}}};

/// The parser named by `--target=`, an option that libFuzzer ignores and passes to the processes it starts.
const Parser& parserNamedIn(std::span<char* const> arguments) {
    constexpr std::string_view kOption = "--target=";
    for (const std::string_view argument : arguments) {
        if (!argument.starts_with(kOption)) continue;
        for (const Parser& parser : kParsers)
            if (parser.name == argument.substr(kOption.size())) return parser;
    }
    std::cerr << "usage: fuzz_parsers --target=NAME [argument of libFuzzer...], where NAME is one of\n";
    for (const Parser& parser : kParsers)
        std::cerr << "  " << parser.name << "\n";
    std::exit(2);
}

const Parser* chosen = nullptr;

double processorSeconds() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// CPU time that one input may take with sanitizers. Bounded work takes much less: the slowest of 446,000
/// inputs took less than a second.
constexpr double kMostSeconds = 10;

}  // namespace
}  // namespace roper

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    roper::chosen = &roper::parserNamedIn({*argv, static_cast<std::size_t>(*argc)});
    if (const char* const seed = std::getenv("ROPER_SEED")) {
        static std::string option = std::string("-seed=") + seed;
        static std::vector<char*> arguments(*argv, *argv + *argc);
        arguments.insert(arguments.begin() + 1, option.data());
        *argc = static_cast<int>(arguments.size());
        arguments.push_back(nullptr);
        *argv = arguments.data();
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    const double begin = roper::processorSeconds();
    try {
        roper::chosen->read(bytes);
    } catch (const roper::Error&) {
        // The expected report of invalid input.
    }
    roper::require(roper::processorSeconds() - begin < roper::kMostSeconds, "an input takes too long");
    return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
    return roper::chosen->name == "tokenizer" ? roper::mutateTokenizer(data, size, most, seed)
                                              : LLVMFuzzerMutate(data, size, most);
}
