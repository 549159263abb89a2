/* Stands between a process and the system: writes to files of one folder fail, and the wall clock
 * is shifted, as a file says that the test writes and this maps. For LD_PRELOAD, on Linux. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* The bits of `faults`, as in shim.rs. */
enum { WRITE_EIO = 1, WRITE_ENOSPC = 2, WRITE_SHORT = 4, SYNC_EIO = 8, TRUNCATE_EIO = 16 };

/* The file; every field is written by one side only, `hits` and `dice` by this one. */
struct control {
    uint64_t faults;
    uint64_t one_in;
    int64_t clock_s;
    uint64_t dice;
    uint64_t hits;
};

static struct control none;
static struct control *control = &none;
static const char *folder;

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("CONSORT_SHIM_CONTROL");
    folder = getenv("CONSORT_SHIM_FOLDER");
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0) return;
    void *mapped = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) control = mapped;
    close(file);
}

/* Whether a call on this file fails this time with one of these faults; which of them. */
static uint64_t fails(int file, uint64_t kinds) {
    uint64_t faults = __atomic_load_n(&control->faults, __ATOMIC_SEQ_CST) & kinds;
    uint64_t one_in = __atomic_load_n(&control->one_in, __ATOMIC_SEQ_CST);
    if (!faults || !one_in || !folder) return 0;
    uint64_t roll = __atomic_add_fetch(&control->dice, 0x9e3779b97f4a7c15, __ATOMIC_SEQ_CST);
    roll = (roll ^ (roll >> 30)) * 0xbf58476d1ce4e5b9;
    roll = (roll ^ (roll >> 27)) * 0x94d049bb133111eb;
    roll ^= roll >> 31;
    if (roll % one_in) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (strncmp(path, folder, strlen(folder))) return 0;
    __atomic_add_fetch(&control->hits, 1, __ATOMIC_SEQ_CST);
    /* Where several faults are wanted, the dice choose one. */
    uint64_t count = __builtin_popcountll(faults), skip = (roll >> 32) % count;
    while (skip--) faults &= faults - 1;
    return faults & -faults;
}

/* Sets how much is written; returns 0 when nothing is. */
static int writes(int file, size_t *count) {
    switch (fails(file, WRITE_EIO | WRITE_ENOSPC | WRITE_SHORT)) {
    case WRITE_EIO: errno = EIO; return 0;
    case WRITE_ENOSPC: errno = ENOSPC; return 0;
    case WRITE_SHORT: *count = *count > 1 ? *count / 2 : *count; return 1;
    default: return 1;
    }
}

ssize_t write(int file, const void *bytes, size_t count) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = next("write");
    return writes(file, &count) ? real(file, bytes, count) : -1;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real) real = next("pwrite");
    return writes(file, &count) ? real(file, bytes, count, at) : -1;
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = next("pwrite64");
    return writes(file, &count) ? real(file, bytes, count, at) : -1;
}

static int syncs(int file, const char *name) {
    if (fails(file, SYNC_EIO)) { errno = EIO; return -1; }
    int (*real)(int) = next(name);
    return real(file);
}

int fsync(int file) { return syncs(file, "fsync"); }
int fdatasync(int file) { return syncs(file, "fdatasync"); }

int ftruncate(int file, off_t length) {
    if (fails(file, TRUNCATE_EIO)) { errno = EIO; return -1; }
    int (*real)(int, off_t) = next("ftruncate");
    return real(file, length);
}

int ftruncate64(int file, off64_t length) {
    if (fails(file, TRUNCATE_EIO)) { errno = EIO; return -1; }
    int (*real)(int, off64_t) = next("ftruncate64");
    return real(file, length);
}

static int64_t shift(void) { return __atomic_load_n(&control->clock_s, __ATOMIC_SEQ_CST); }

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = next("clock_gettime");
    int done = real(clock, now);
    if (!done && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += shift();
    return done;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    static int (*real)(struct timeval *, void *);
    if (!real) real = next("gettimeofday");
    int done = real(now, zone);
    if (!done) now->tv_sec += shift();
    return done;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
