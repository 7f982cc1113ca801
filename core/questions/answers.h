#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/questions/band_subsets.h"
#include "core/questions/copying.h"
#include "core/questions/experts_answer.h"
#include "core/questions/generated_text.h"
#include "core/questions/heads_answer.h"
#include "core/questions/induction.h"
#include "core/questions/kernels_answer.h"
#include "core/questions/lengths_answer.h"
#include "core/questions/lens_answer.h"
#include "core/questions/model_summary.h"
#include "core/questions/needle_answer.h"
#include "core/questions/ov_by_distance.h"
#include "core/questions/patch_answer.h"
#include "core/questions/score_parts.h"
#include "core/questions/sinks_answer.h"
#include "core/questions/solved_answer.h"
#include "core/questions/text_predictions.h"
#include "core/questions/token_map.h"
#include "core/questions/walkthrough.h"
