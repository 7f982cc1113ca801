#pragma once

// All families of models that are read, by their model_type. To add one, add a line here and a function of
// that name to a file of this folder; models that grew out of one another share a file.
#define ROPER_FAMILIES(FAMILY) \
    FAMILY(llama)              \
    FAMILY(mistral)            \
    FAMILY(qwen2)              \
    FAMILY(qwen3)              \
    FAMILY(gemma)              \
    FAMILY(gemma2)             \
    FAMILY(gemma3_text)        \
    FAMILY(gpt_neox)           \
    FAMILY(gpt2)               \
    FAMILY(roper)
