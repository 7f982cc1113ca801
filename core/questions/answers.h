#pragma once

// What a model answers, as plain numbers: a header for each question, or for those that share an answer.

#include "core/questions/band_subsets.h"
#include "core/questions/generated_text.h"
#include "core/questions/heads_answer.h"
#include "core/questions/kernels_answer.h"
#include "core/questions/lengths_answer.h"
#include "core/questions/lens_answer.h"
#include "core/questions/model_summary.h"
#include "core/questions/needle_answer.h"
#include "core/questions/patch_answer.h"
#include "core/questions/solved_answer.h"
#include "core/questions/text_reading.h"
#include "core/questions/token_map.h"
