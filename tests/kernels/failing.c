/* Preloaded: counts the allocations and threads that the extension asks for, and lets one of them fail.
 *
 * failing_arm(n) lets the n-th from then on fail, with 0 none. failing_count ends this and says how many there were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_bool armed;
static atomic_long count, failing;

void failing_arm(long number) {
    atomic_store(&count, 0);
    atomic_store(&failing, number);
    atomic_store(&armed, true);
}

long failing_count(void) {
    atomic_store(&armed, false);
    return atomic_load(&count);
}

/* Whether this one fails. dladdr allocates nothing. */
static bool fails(const void *caller) {
    Dl_info info;
    if (!atomic_load(&armed) || !dladdr(caller, &info) || !info.dli_fname || !strstr(info.dli_fname, "/_ext/"))
        return false;
    return atomic_fetch_add(&count, 1) + 1 == atomic_load(&failing);
}

void *malloc(size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(number, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    *block = fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context) {
    static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!create)
        create =
            (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    return fails(__builtin_return_address(0)) ? EAGAIN : create(thread, attributes, run, context);
}
