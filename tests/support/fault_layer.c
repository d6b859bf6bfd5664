/*
 * Faults below the program: a library that the loader puts before the C library (LD_PRELOAD).
 *
 * Calls on files below SVC_FAULT_ROOT are counted in the file SVC_FAULT_COUNT, for all threads and child processes. From call
 * SVC_FAULT_AT on, SVC_FAULT_TIMES calls fail with the number SVC_FAULT_ERRNO; 0 ends the process by SIGKILL instead.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *root;
static size_t root_length;
static long at, times;
static int number;
static long *counter;

__attribute__((constructor)) static void start(void) {
  const char *file = getenv("SVC_FAULT_COUNT");
  root = getenv("SVC_FAULT_ROOT");
  if (file == NULL || root == NULL) return;
  root_length = strlen(root);
  at = atol(getenv("SVC_FAULT_AT"));
  times = atol(getenv("SVC_FAULT_TIMES"));
  number = atoi(getenv("SVC_FAULT_ERRNO"));
  int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR);
  if (fd < 0) return;
  void *memory = mmap(NULL, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  if (memory != MAP_FAILED) counter = memory;
}

/* Whether a call fails; `writes` is false for calls that change nothing. */
static int fails(int writes) {
  long call = __atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST);
  if (call < at || call >= at + times) return 0;
  if (number == 0) syscall(SYS_kill, getpid(), SIGKILL);
  /* A full or read-only disk refuses writing alone. */
  if (!writes && (number == ENOSPC || number == EROFS)) return 0;
  errno = number;
  return 1;
}

static int is_below(const char *path) {
  return strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == 0);
}

static int path_fails(int folder, const char *path, int writes) {
  if (counter == NULL || path == NULL) return 0;
  if (path[0] == '/') return is_below(path) && fails(writes);
  char link[64], place[PATH_MAX];
  if (folder == AT_FDCWD) strcpy(link, "/proc/self/cwd");
  else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  ssize_t size = syscall(SYS_readlinkat, AT_FDCWD, link, place, sizeof place - 1);
  if (size < 0) return 0;
  place[size] = 0;
  return is_below(place) && fails(writes);
}

static int file_fails(int fd) {
  if (counter == NULL) return 0;
  char link[64], place[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = syscall(SYS_readlinkat, AT_FDCWD, link, place, sizeof place - 1);
  if (size < 0) return 0;
  place[size] = 0;
  return is_below(place) && fails(1);
}

#define NEXT(name) \
  static __typeof__(name) *next; \
  if (next == NULL) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    NEXT(name); \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = va_arg(rest, mode_t); \
    va_end(rest); \
    if (path_fails(AT_FDCWD, path, (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0)) return -1; \
    return next(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
  int name(int folder, const char *path, int flags, ...) { \
    NEXT(name); \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = va_arg(rest, mode_t); \
    va_end(rest); \
    if (path_fails(folder, path, (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0)) return -1; \
    return next(folder, path, flags, mode); \
  }
OPENAT(openat)
OPENAT(openat64)

#define ON_PATH(name, folder, path, parameters, arguments) \
  int name parameters { \
    NEXT(name); \
    if (path_fails(folder, path, 1)) return -1; \
    return next arguments; \
  }
ON_PATH(mkdir, AT_FDCWD, path, (const char *path, mode_t mode), (path, mode))
ON_PATH(rename, AT_FDCWD, to, (const char *from, const char *to), (from, to))
ON_PATH(link, AT_FDCWD, to, (const char *from, const char *to), (from, to))
ON_PATH(linkat, b, to, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags))
ON_PATH(unlink, AT_FDCWD, path, (const char *path), (path))
ON_PATH(unlinkat, folder, path, (int folder, const char *path, int flags), (folder, path, flags))
ON_PATH(rmdir, AT_FDCWD, path, (const char *path), (path))
ON_PATH(chmod, AT_FDCWD, path, (const char *path, mode_t mode), (path, mode))

#define ON_FILE(type, name, parameters, arguments) \
  type name parameters { \
    NEXT(name); \
    if (file_fails(fd)) return -1; \
    return next arguments; \
  }
ON_FILE(ssize_t, write, (int fd, const void *bytes, size_t size), (fd, bytes, size))
ON_FILE(ssize_t, pwrite, (int fd, const void *bytes, size_t size, off_t offset), (fd, bytes, size, offset))
ON_FILE(ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off64_t offset), (fd, bytes, size, offset))
ON_FILE(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
ON_FILE(int, fsync, (int fd), (fd))
ON_FILE(int, fdatasync, (int fd), (fd))
ON_FILE(int, ftruncate, (int fd, off_t size), (fd, size))
ON_FILE(int, ftruncate64, (int fd, off64_t size), (fd, size))
