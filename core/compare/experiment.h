#pragma once

#include <ctime>
#include <set>
#include <string>
#include <vector>

#include "core/runs/run_queue.h"

namespace roper {

/// What a run does, whatever its method and seeds: the title of its preset, and the settings that differ from
/// that preset's: "Addition, small" or "Addition, small, width 64"; without a preset, the task and the
/// settings that differ from the defaults.
std::string settingsTitle(const Specification& specification);

/// The same of several that stand beside each other: without the differences that all of them have, and those
/// that few have before the others.
std::vector<std::string> distinguishingTitles(const std::vector<Specification>& specifications);

/// Tells experiments apart: the name that was given when the run was started, else its settings without
/// method and seeds.
std::string experimentKey(const Specification& specification, const std::string& experiment);

/// How it is shown: that name, else `settingsTitle`.
std::string experimentName(const Specification& specification, const std::string& experiment);

/// Whether somebody gave it that name, in the window or as that of a sweep's file: it is neither empty nor
/// one of `newExperimentName`.
bool isGivenName(const Specification& specification, const std::string& experiment);

/// A name for an experiment that is started now: "Addition, small, 2026-11-24 12:10", local time, with a
/// number behind it if that is taken.
std::string newExperimentName(const Specification& specification, const std::set<std::string>& taken,
                              std::time_t now);

/// Runs to be made now, those of one settings in one new experiment.
std::vector<NewRun> asExperiments(const std::vector<Specification>& specifications,
                                  std::set<std::string> taken, std::time_t now);

}  // namespace roper
