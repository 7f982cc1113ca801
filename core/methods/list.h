#pragma once

// All position methods in display order. To add a method, add a line here, a file to this folder and a file
// of the same name to core/model/positions, where methods that rotate share rotary_positions.cpp.
#define ROPER_METHODS(METHOD) \
    METHOD(none)              \
    METHOD(learned)           \
    METHOD(sinusoidal)        \
    METHOD(t5)                \
    METHOD(alibi)             \
    METHOD(rope)              \
    METHOD(roper)             \
    METHOD(rotary)            \
    METHOD(xpos)
