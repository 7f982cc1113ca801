// Preloaded (LD_PRELOAD) into a program under test: writes a line to the file $NETWORK_WATCH for each socket
// that could reach another machine, and for each host name that is looked up.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static void note(const char* what, int family) {
    const char* path = getenv("NETWORK_WATCH");
    FILE* file = path == NULL ? NULL : fopen(path, "a");
    if (file == NULL) return;
    fprintf(file, "%s of family %d\n", what, family);
    fclose(file);
}

int socket(int family, int type, int protocol) {
    typedef int (*call)(int, int, int);
    static call real;
    if (real == NULL) real = (call)dlsym(RTLD_NEXT, "socket");
    if (family != AF_UNIX) note("a socket", family);
    return real(family, type, protocol);
}

int getaddrinfo(const char* host, const char* service, const struct addrinfo* hints,
                struct addrinfo** found) {
    typedef int (*call)(const char*, const char*, const struct addrinfo*, struct addrinfo**);
    static call real;
    if (real == NULL) real = (call)dlsym(RTLD_NEXT, "getaddrinfo");
    note("a host's name", hints == NULL ? 0 : hints->ai_family);
    return real(host, service, hints, found);
}
