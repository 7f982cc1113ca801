#pragma once

// Every position method, in the order in which lists show them. A line here, a file beside this one and a
// file of the same name in core/model/positions make a method.
#define ROPER_METHODS(METHOD) \
    METHOD(none)              \
    METHOD(learned)           \
    METHOD(sinusoidal)        \
    METHOD(t5)                \
    METHOD(alibi)             \
    METHOD(rope)              \
    METHOD(roper)             \
    METHOD(xpos)
