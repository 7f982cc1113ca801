#pragma once

// All position methods in display order, each with the function of core/model/positions that implements it
// (`rotary`: `rotaryPositions`). To add a method, add a line here, a file to this folder and, unless it
// rotates, a file of the same name there.
#define ROPER_METHODS(METHOD)      \
    METHOD(none, none)             \
    METHOD(learned, learned)       \
    METHOD(sinusoidal, sinusoidal) \
    METHOD(t5, t5)                 \
    METHOD(alibi, alibi)           \
    METHOD(rope, rotary)           \
    METHOD(roper, rotary)          \
    METHOD(rotary, rotary)         \
    METHOD(xpos, rotary)
