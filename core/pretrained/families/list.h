#pragma once

// All supported families of models, by their model_type. To add one, add a line here and a function of that
// name in a file of this folder; related models share a file.
#define ROPER_FAMILIES(FAMILY) \
    FAMILY(llama)              \
    FAMILY(llama4_text)        \
    FAMILY(mistral)            \
    FAMILY(ministral)          \
    FAMILY(ministral3)         \
    FAMILY(mixtral)            \
    FAMILY(qwen2)              \
    FAMILY(qwen3)              \
    FAMILY(qwen2_moe)          \
    FAMILY(qwen3_moe)          \
    FAMILY(gemma)              \
    FAMILY(gemma2)             \
    FAMILY(gemma3_text)        \
    FAMILY(phi)                \
    FAMILY(phi3)               \
    FAMILY(phimoe)             \
    FAMILY(olmo)               \
    FAMILY(olmo2)              \
    FAMILY(olmo3)              \
    FAMILY(olmoe)              \
    FAMILY(flex_olmo)          \
    FAMILY(granite)            \
    FAMILY(granitemoe)         \
    FAMILY(granitemoeshared)   \
    FAMILY(smollm3)            \
    FAMILY(exaone4)            \
    FAMILY(exaone_moe)         \
    FAMILY(deepseek_v2)        \
    FAMILY(deepseek_v3)        \
    FAMILY(cohere)             \
    FAMILY(cohere2)            \
    FAMILY(glm)                \
    FAMILY(glm4)               \
    FAMILY(glm4_moe)           \
    FAMILY(solar_open)         \
    FAMILY(starcoder2)         \
    FAMILY(nemotron)           \
    FAMILY(stablelm)           \
    FAMILY(arcee)              \
    FAMILY(ernie4_5)           \
    FAMILY(ernie4_5_moe)       \
    FAMILY(dots1)              \
    FAMILY(minimax_m2)         \
    FAMILY(gpt_oss)            \
    FAMILY(hunyuan_v1_dense)   \
    FAMILY(hunyuan_v1_moe)     \
    FAMILY(helium)             \
    FAMILY(internlm3)          \
    FAMILY(seed_oss)           \
    FAMILY(gpt_neox)           \
    FAMILY(gpt2)               \
    FAMILY(roper)
