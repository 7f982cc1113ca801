#include "core/runs/sweep.h"

#include <toml++/toml.h>
#include <algorithm>
#include <set>

#include "core/runs/durable_file.h"
#include "core/runs/error.h"
#include "core/runs/presets.h"
#include "core/runs/run_folder.h"
#include "core/runs/text.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostRuns = 10000;

/// Reads one sweep file; errors begin with its place in it.
class SweepReader {
  public:
    explicit SweepReader(const fs::path& path) : path_(path) {
        try {
            document_ = toml::parse(readFile(path), path.string());
        } catch (const toml::parse_error& error) {
            refuse(error.source(), std::string(error.description()));
        }
    }

    std::vector<SweepRun> read() {
        for (const auto& [key, node] : document_) {
            const std::string name(key.str());
            if (name == "base")
                readBase(node);
            else if (name == "seeds")
                readSeeds(node);
            else if (name == "set")
                readChanges(node);
            else if (name == "axes")
                readAxes(node);
            else
                refuse(key.source(), "unknown key \"" + name + "\"; known are base, seeds, [set] and [axes]");
        }
        if (!has_base_) throw Error(ErrorKind::usage, path_.string() + ": a sweep needs base = \"PRESET\"");
        for (const auto& [setting, source] : changes_)
            apply(base_, setting, source);
        std::vector<SweepRun> runs{{path_.stem().string(), base_}};
        for (const Axis& axis : axes_)
            runs = combined(runs, axis);
        return withSeeds(runs);
    }

  private:
    struct Setting {
        std::string text;  ///< key=value
        toml::source_region source;
    };
    struct Axis {
        std::vector<Setting> settings;
        std::vector<std::string> names;
    };

    [[noreturn]] void refuse(const toml::source_region& source, const std::string& what) const {
        throw Error(ErrorKind::usage, path_.string() + ":" + std::to_string(source.begin.line) + ":" +
                                          std::to_string(source.begin.column) + ": " + what);
    }

    void apply(Specification& specification, const std::string& setting,
               const toml::source_region& source) const {
        try {
            applySetting(specification, setting);
        } catch (const Error& error) {
            refuse(source, error.what());
        }
    }

    void readBase(const toml::node& node) {
        const auto name = node.value_exact<std::string>();
        if (!name) refuse(node.source(), "base must be text: a preset's name or a .toml file");
        try {
            base_ = name->ends_with(".toml") ? readSpecification(path_.parent_path() / *name)
                                             : loadPreset(*name).specification;
        } catch (const Error& error) {
            refuse(node.source(), error.what());
        }
        has_base_ = true;
    }

    void readSeeds(const toml::node& node) {
        if (!node.is_array()) refuse(node.source(), "seeds must be a list such as [0, 1, 2]");
        if (node.as_array()->empty()) refuse(node.source(), "seeds is empty: leave it out, or name some");
        for (const toml::node& seed : *node.as_array()) {
            const auto value = seed.value_exact<std::int64_t>();
            if (!value || *value < 0) refuse(seed.source(), "a seed is a whole number from 0");
            seeds_.push_back(*value);
        }
    }

    /// A value as it would stand after "=" on the command line.
    std::string valueText(const toml::node& node) const {
        if (const auto text = node.value_exact<std::string>()) return *text;
        if (const auto integer = node.value_exact<std::int64_t>()) return std::to_string(*integer);
        if (const auto real = node.value_exact<double>()) return formatNumber(*real);
        refuse(node.source(), "a value is text or a number");
    }

    void readChanges(const toml::node& node) {
        if (!node.is_table()) refuse(node.source(), "set must be a section: write [set] above its keys");
        for (const auto& [key, value] : *node.as_table())
            changes_.push_back({std::string(key.str()) + "=" + valueText(value), value.source()});
    }

    void readAxes(const toml::node& node) {
        if (!node.is_table()) refuse(node.source(), "axes must be a section: write [axes] above its keys");
        for (const auto& [key, values] : *node.as_table()) {
            if (!values.is_array() || values.as_array()->empty())
                refuse(values.source(), "an axis is a list of values such as [\"rope\", \"roper\"]");
            Axis axis;
            for (const toml::node& value : *values.as_array()) {
                axis.settings.push_back({std::string(key.str()) + "=" + valueText(value), value.source()});
                axis.names.push_back(valueText(value));
            }
            axes_.push_back(std::move(axis));
        }
    }

    std::vector<SweepRun> combined(const std::vector<SweepRun>& runs, const Axis& axis) const {
        std::vector<SweepRun> all;
        if (runs.size() * axis.settings.size() * std::max<std::size_t>(1, seeds_.size()) > kMostRuns)
            throw Error(ErrorKind::usage, path_.string() + ": the axes and seeds make more than " +
                                              std::to_string(kMostRuns) + " runs");
        for (const SweepRun& run : runs) {
            for (std::size_t i = 0; i < axis.settings.size(); ++i) {
                SweepRun next{run.name + "-" + axis.names[i], run.specification};
                apply(next.specification, axis.settings[i].text, axis.settings[i].source);
                all.push_back(std::move(next));
            }
        }
        return all;
    }

    std::vector<SweepRun> withSeeds(const std::vector<SweepRun>& runs) const {
        std::vector<SweepRun> all;
        std::set<std::string> names;
        const std::vector<std::int64_t> seeds =
            seeds_.empty() ? std::vector{base_.training.model_seed} : seeds_;
        for (const std::int64_t seed : seeds) {
            for (SweepRun run : runs) {
                run.name += "-s" + std::to_string(seed);
                run.specification.training.data_seed = run.specification.training.model_seed = seed;
                if (!isRunName(run.name))
                    throw Error(ErrorKind::usage,
                                path_.string() + ": \"" + run.name +
                                    "\" is no name of a run; give the sweep a shorter name of "
                                    "letters, digits, '.', '_' and '-'");
                if (!names.insert(run.name).second)
                    throw Error(ErrorKind::usage, path_.string() + ": " + run.name + " would be made twice");
                requireValid(run.specification, path_.string() + ": " + run.name);
                all.push_back(std::move(run));
            }
        }
        return all;
    }

    fs::path path_;
    toml::table document_;
    Specification base_;
    bool has_base_ = false;
    std::vector<std::int64_t> seeds_;
    std::vector<Setting> changes_;
    std::vector<Axis> axes_;
};

}  // namespace

std::vector<SweepRun> readSweep(const fs::path& path) {
    return SweepReader(path).read();
}

fs::path findSweep(const std::string& name_or_path) {
    std::error_code unreadable;
    if (fs::exists(name_or_path, unreadable)) return name_or_path;
    const fs::path bundled = resourceFolder("sweeps") / (name_or_path + ".toml");
    if (fs::exists(bundled, unreadable)) return bundled;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(resourceFolder("sweeps")))
        names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    throw Error(ErrorKind::usage, "there is no sweep \"" + name_or_path +
                                      "\", neither as a file nor bundled (" + join(names, ", ") + ")");
}

}  // namespace roper
