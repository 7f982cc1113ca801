// Preloaded (LD_PRELOAD) into a program under test: makes the N-th call of one kind on files of one folder fail, and
// counts the calls.
//
//   IO_FAULT_FOLDER  only files below this folder count
//   IO_FAULT_CALL    open, read, write, truncate, fsync, lock, rename, mkdir or unlink
//   IO_FAULT_AT      index of the call that fails, from 1; 0: none; -N: call N and all later ones
//   IO_FAULT_ERROR   errno; "short": a write writes half of its bytes and the next write fails with ENOSPC; a read reads half
//   IO_FAULT_COUNTS  file to which the counts are appended at exit, one line per kind
//
// libfiu does the same at random for calls with a path, but not for openat and the like, by which programs avoid following
// links.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum kind { kind_open, kind_read, kind_write, kind_truncate, kind_fsync, kind_lock, kind_rename, kind_mkdir, kind_unlink, kinds };
static const char* const names[kinds] = {"open", "read", "write", "truncate", "fsync", "lock", "rename", "mkdir", "unlink"};
static atomic_long counts[kinds];
static atomic_int after_short;

static int below_folder(int folder, const char* name) {
    const char* wanted = getenv("IO_FAULT_FOLDER");
    char link[64], path[PATH_MAX];
    if (wanted == NULL) return 0;
    if (name != NULL && name[0] == '/') return strncmp(name, wanted, strlen(wanted)) == 0;
    if (folder == AT_FDCWD) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = '\0';
    return strncmp(path, wanted, strlen(wanted)) == 0;
}

/// Whether this call must fail.
static int fails(enum kind kind, int folder, const char* name) {
    if (!below_folder(folder, name)) return 0;
    const long number = atomic_fetch_add(&counts[kind], 1) + 1;
    const char *call = getenv("IO_FAULT_CALL"), *at = getenv("IO_FAULT_AT");
    if (call == NULL || at == NULL || strcmp(call, names[kind]) != 0) return 0;
    const long wanted = atol(at);
    return wanted > 0 ? number == wanted : wanted < 0 && number >= -wanted;
}

static int is_short(void) {
    const char* error = getenv("IO_FAULT_ERROR");
    return error != NULL && strcmp(error, "short") == 0;
}

static int fail(void) {
    const char* error = getenv("IO_FAULT_ERROR");
    errno = error == NULL ? EIO : atoi(error);
    return -1;
}

#define REAL(name, type) \
    static type real;    \
    if (real == NULL) real = (type)dlsym(RTLD_NEXT, name)

static int open_at(int folder, const char* name, int flags, mode_t mode) {
    typedef int (*call)(int, const char*, int, ...);
    REAL("openat", call);
    return fails(kind_open, folder, name) ? fail() : real(folder, name, flags, mode);
}

static mode_t mode_of(int flags, va_list arguments) {
    return flags & (O_CREAT | __O_TMPFILE) ? (mode_t)va_arg(arguments, int) : 0;
}

int openat(int folder, const char* name, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_at(folder, name, flags, mode);
}

int open(const char* name, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_at(AT_FDCWD, name, flags, mode);
}

ssize_t read(int file, void* bytes, size_t count) {
    typedef ssize_t (*call)(int, void*, size_t);
    REAL("read", call);
    if (!fails(kind_read, file, NULL)) return real(file, bytes, count);
    return is_short() ? real(file, bytes, (count + 1) / 2) : fail();
}

ssize_t pread(int file, void* bytes, size_t count, off_t at) {
    typedef ssize_t (*call)(int, void*, size_t, off_t);
    REAL("pread", call);
    if (!fails(kind_read, file, NULL)) return real(file, bytes, count, at);
    return is_short() ? real(file, bytes, (count + 1) / 2, at) : fail();
}

int ftruncate(int file, off_t size) {
    typedef int (*call)(int, off_t);
    REAL("ftruncate", call);
    return fails(kind_truncate, file, NULL) ? fail() : real(file, size);
}

int flock(int file, int operation) {
    typedef int (*call)(int, int);
    REAL("flock", call);
    return operation != LOCK_UN && fails(kind_lock, file, NULL) ? fail() : real(file, operation);
}

ssize_t write(int file, const void* bytes, size_t count) {
    typedef ssize_t (*call)(int, const void*, size_t);
    REAL("write", call);
    if (below_folder(file, NULL) && atomic_exchange(&after_short, 0)) {
        errno = ENOSPC;
        return -1;
    }
    if (!fails(kind_write, file, NULL)) return real(file, bytes, count);
    if (!is_short() || count < 2) return is_short() ? real(file, bytes, count) : fail();
    atomic_store(&after_short, 1);
    return real(file, bytes, count / 2);
}

int fsync(int file) {
    typedef int (*call)(int);
    REAL("fsync", call);
    return fails(kind_fsync, file, NULL) ? fail() : real(file);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
    typedef int (*call)(int, const char*, int, const char*);
    REAL("renameat", call);
    return fails(kind_rename, to_folder, to) ? fail() : real(from_folder, from, to_folder, to);
}

int rename(const char* from, const char* to) {
    typedef int (*call)(const char*, const char*);
    REAL("rename", call);
    return fails(kind_rename, AT_FDCWD, to) ? fail() : real(from, to);
}

int mkdirat(int folder, const char* name, mode_t mode) {
    typedef int (*call)(int, const char*, mode_t);
    REAL("mkdirat", call);
    return fails(kind_mkdir, folder, name) ? fail() : real(folder, name, mode);
}

int mkdir(const char* name, mode_t mode) {
    typedef int (*call)(const char*, mode_t);
    REAL("mkdir", call);
    return fails(kind_mkdir, AT_FDCWD, name) ? fail() : real(name, mode);
}

int unlinkat(int folder, const char* name, int flags) {
    typedef int (*call)(int, const char*, int);
    REAL("unlinkat", call);
    return fails(kind_unlink, folder, name) ? fail() : real(folder, name, flags);
}

static void write_counts(void) {
    const char* path = getenv("IO_FAULT_COUNTS");
    if (path == NULL) return;
    FILE* file = fopen(path, "a");
    if (file == NULL) return;
    for (int i = 0; i < kinds; ++i)
        fprintf(file, "%s %ld\n", names[i], atomic_load(&counts[i]));
    fclose(file);
}

// The trainer ends by _Exit, which calls no destructors.
__attribute__((noreturn)) void _Exit(int code) {
    write_counts();
    _exit(code);
}
