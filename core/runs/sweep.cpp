#include "core/runs/sweep.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/fields/toml_text.h"
#include "core/runs/run_folder.h"
#include "core/specification/presets.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxRuns = 10000;
constexpr std::uint64_t kMaxSweepBytes = 1U << 20U;

/// Reads one sweep file; errors begin with file, line and column.
class SweepReader {
  public:
    explicit SweepReader(const fs::path& path)
        : path_(path), document_(parseToml(readFile(path, kMaxSweepBytes), path.string())) {}

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
            else if (name == "variants")
                readVariants(node);
            else
                refuse(key.source(),
                       "unknown key \"" + name + "\"; expected base, seeds, [set], [axes] or [[variants]]");
        }
        if (bases_.empty())
            throw Error(ErrorKind::usage, path_.string() + ": a sweep needs base = \"PRESET\"");
        requireRunLimit();
        std::vector<Draft> drafts;
        for (const SweepRun& base : bases_) {
            Draft& draft = drafts.emplace_back(Draft{base, {}});
            draft.run.name = path_.stem().string() + (bases_.size() > 1 ? "-" + base.name : "");
            for (const Setting& setting : changes_)
                apply(draft.run.specification, setting);
        }
        for (const Axis& axis : axes_)
            drafts = combined(drafts, axis);
        return withSeeds(drafts);
    }

  private:
    struct Setting {
        std::string text;  ///< key=value
        toml::source_region source;
    };
    /// Values of one field, or variants that set several fields.
    struct Axis {
        struct Level {
            std::string name;  ///< in the names of runs
            std::vector<Setting> settings;
        };
        std::vector<Level> levels;
    };

    /// A run, with the settings set by axes and variants.
    struct Draft {
        SweepRun run;
        std::vector<Setting> settings;
    };

    [[noreturn]] void refuse(const toml::source_region& source, const std::string& what) const {
        refuseToml(path_.string(), source, what);
    }

    /// Checks the number of runs before any is created.
    void requireRunLimit() const {
        std::size_t runs = bases_.size() * std::max<std::size_t>(1, seeds_.size());
        for (const Axis& axis : axes_) {
            if (runs > kMaxRuns) break;  // further products could overflow
            runs *= axis.levels.size();
        }
        if (runs > kMaxRuns)
            throw Error(ErrorKind::usage, path_.string() + ": bases, axes and seeds make more than " +
                                              std::to_string(kMaxRuns) + " runs");
    }

    void apply(Specification& specification, const Setting& setting) const {
        try {
            applySetting(specification, setting.text);
        } catch (const Error& error) {
            refuse(setting.source, error.what());
        }
    }

    void readBase(const toml::node& node) {
        if (const auto* several = node.as_array()) {
            if (several->empty()) refuse(node.source(), "base is empty: name a preset");
            if (several->size() > kMaxRuns)
                refuse(node.source(), "more than " + std::to_string(kMaxRuns) + " bases");
            for (const toml::node& one : *several)
                readOneBase(one);
        } else {
            readOneBase(node);
        }
    }

    void readOneBase(const toml::node& node) {
        const auto name = node.value_exact<std::string>();
        if (!name) refuse(node.source(), "base must be text: a preset's name or a .toml file");
        try {
            bases_.push_back({fs::path(*name).stem().string(),
                              name->ends_with(".toml") ? readSpecification(path_.parent_path() / *name)
                                                       : loadPreset(*name).specification});
        } catch (const Error& error) {
            refuse(node.source(), error.what());
        }
    }

    void readSeeds(const toml::node& node) {
        if (!node.is_array()) refuse(node.source(), "seeds must be a list such as [0, 1, 2]");
        if (node.as_array()->empty()) refuse(node.source(), "seeds is empty: leave it out, or list some");
        for (const toml::node& seed : *node.as_array()) {
            const auto value = seed.value_exact<std::int64_t>();
            if (!value || *value < 0) refuse(seed.source(), "a seed must be a whole number from 0");
            seeds_.push_back(*value);
        }
    }

    /// A value as written after "=" on the command line.
    std::string valueText(const toml::node& node) const {
        if (const auto text = settingText(node)) return *text;
        refuse(node.source(), "a value must be text, a number, true or false");
    }

    Setting settingOf(const toml::key& key, const toml::node& value) const {
        return {std::string(key.str()) + "=" + valueText(value), value.source()};
    }

    void readChanges(const toml::node& node) {
        if (!node.is_table()) refuse(node.source(), "set must be a section: write [set] above its keys");
        for (const auto& [key, value] : *node.as_table())
            changes_.push_back(settingOf(key, value));
    }

    void readAxes(const toml::node& node) {
        if (!node.is_table()) refuse(node.source(), "axes must be a section: write [axes] above its keys");
        for (const auto& [key, values] : *node.as_table()) {
            if (!values.is_array() || values.as_array()->empty())
                refuse(values.source(), "an axis must be a list of values such as [\"rope\", \"roper\"]");
            Axis axis;
            for (const toml::node& value : *values.as_array())
                axis.levels.push_back({valueText(value), {settingOf(key, value)}});
            axes_.push_back(std::move(axis));
        }
    }

    void readVariants(const toml::node& node) {
        if (!node.is_array_of_tables())
            refuse(node.source(), "variants must be sections: write [[variants]] above the keys of each");
        Axis axis;
        for (const toml::node& variant : *node.as_array()) {
            Axis::Level level;
            for (const auto& [key, value] : *variant.as_table()) {
                if (key.str() == "name")
                    level.name = valueText(value);
                else
                    level.settings.push_back(settingOf(key, value));
            }
            if (level.name.empty()) refuse(variant.source(), "a variant needs a name = \"…\" for its runs");
            axis.levels.push_back(std::move(level));
        }
        axes_.push_back(std::move(axis));
    }

    std::vector<Draft> combined(const std::vector<Draft>& drafts, const Axis& axis) const {
        std::vector<Draft> all;
        for (const Draft& draft : drafts) {
            for (const Axis::Level& level : axis.levels) {
                Draft next = draft;
                next.run.name += "-" + level.name;
                for (const Setting& setting : level.settings) {
                    apply(next.run.specification, setting);
                    next.settings.push_back(setting);
                }
                all.push_back(std::move(next));
            }
        }
        return all;
    }

    /// @throws Error if a run would ignore a value set by an axis or a variant, since identical runs would
    /// result
    void requireNotIgnored(const Draft& draft) const {
        for (const Setting& setting : draft.settings) {
            const SpecificationField& field =
                findField(trimmed(setting.text.substr(0, setting.text.find('='))));
            if (const auto why = unusedReason(field, draft.run.specification))
                refuse(setting.source, draft.run.name + " would ignore " + setting.text + ": " + *why);
        }
    }

    std::vector<SweepRun> withSeeds(const std::vector<Draft>& drafts) const {
        std::vector<SweepRun> all;
        std::set<std::string> names;
        const std::vector<std::int64_t> seeds =
            seeds_.empty() ? std::vector{bases_.front().specification.training.model_seed} : seeds_;
        for (const std::int64_t seed : seeds) {
            for (const Draft& draft : drafts) {
                requireNotIgnored(draft);
                SweepRun run = draft.run;
                // Settings needed by some methods of the sweep are removed from runs whose method does not
                // read them.
                run.specification = withoutUnused(run.specification);
                run.name += "-s" + std::to_string(seed);
                run.specification.training.data_seed = run.specification.training.model_seed = seed;
                if (!isRunName(run.name))
                    throw Error(ErrorKind::usage,
                                path_.string() + ": \"" + run.name +
                                    "\" is not a valid name of a run; give the sweep a shorter name of "
                                    "letters, digits, '.', '_' and '-'");
                if (!names.insert(run.name).second)
                    throw Error(ErrorKind::usage,
                                path_.string() + ": " + run.name + " would be created twice");
                requireValid(run.specification, path_.string() + ": " + run.name);
                all.push_back(std::move(run));
            }
        }
        return all;
    }

    fs::path path_;
    toml::table document_;
    std::vector<SweepRun> bases_;  ///< each under its own name
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
    throw Error(ErrorKind::usage, "sweep not found: \"" + name_or_path +
                                      "\" is neither a file nor a bundled sweep (" +
                                      join(resourceNames("sweeps"), ", ") + ")");
}

}  // namespace roper
