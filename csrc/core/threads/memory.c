/* Memory: aligned blocks, packed weights in huge pages, the workspaces of threads. */
#include <pthread.h>
#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/core.h"

#define HUGE_PAGE ((uintptr_t)2 << 20)

typedef struct {
    void *memory[QRT_WORKSPACES];
    size_t bytes[QRT_WORKSPACES];
} workspaces;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int key_status;

void qrt_advise_huge_pages(void *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
    const uintptr_t first = ((uintptr_t)memory + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    const uintptr_t end = ((uintptr_t)memory + bytes) / HUGE_PAGE * HUGE_PAGE;
    if (first < end)
        madvise((void *)first, end - first, MADV_HUGEPAGE); /* only advice: without it the pages are small */
#else
    (void)memory;
    (void)bytes;
#endif
}

void *qrt_aligned_alloc(size_t bytes) {
    void *memory = NULL;
    return posix_memalign(&memory, QRT_ALIGNMENT, bytes ? bytes : 1) == 0 ? memory : NULL;
}

void qrt_aligned_free(void *memory) {
    free(memory);
}

/* Weights of half a huge page and more get whole huge pages. Pages of 4 KiB have random physical addresses, which
 * compete for the same sets of L2: a MiB of weights then takes 1.1 to 3 times as long to read from there. */
static size_t huge_bytes(size_t bytes) {
    return bytes < HUGE_PAGE / 2 ? 0 : (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

void *qrt_weights_alloc(size_t bytes) {
#ifdef MADV_HUGEPAGE
    const size_t huge = huge_bytes(bytes);
    if (huge) {
        char *mapped = mmap(NULL, huge + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED)
            return NULL;
        const size_t before = (size_t)(-(uintptr_t)mapped % HUGE_PAGE), after = HUGE_PAGE - before;
        if (before)
            munmap(mapped, before);
        munmap(mapped + before + huge, after);
        qrt_advise_huge_pages(mapped + before, huge);
        return mapped + before;
    }
#endif
    return qrt_aligned_alloc(bytes);
}

void qrt_weights_free(void *memory, size_t bytes) {
#ifdef MADV_HUGEPAGE
    if (huge_bytes(bytes)) {
        if (memory)
            munmap(memory, huge_bytes(bytes));
        return;
    }
#endif
    qrt_aligned_free(memory);
}

static void release(void *value) {
    workspaces *owned = value;
    for (int slot = 0; slot < QRT_WORKSPACES; slot++)
        qrt_aligned_free(owned->memory[slot]);
    free(owned);
}

static void create_key(void) {
    key_status = pthread_key_create(&key, release);
}

void *qrt_workspace(qrt_workspace_slot slot, size_t bytes) {
    pthread_once(&once, create_key);
    if (key_status)
        return NULL;
    workspaces *owned = pthread_getspecific(key);
    if (!owned) {
        owned = calloc(1, sizeof *owned);
        if (!owned || pthread_setspecific(key, owned)) {
            free(owned);
            return NULL;
        }
    }
    if (owned->bytes[slot] < bytes || !owned->memory[slot]) {
        void *memory = qrt_aligned_alloc(bytes);
        if (!memory)
            return NULL;
        qrt_aligned_free(owned->memory[slot]);
        owned->memory[slot] = memory;
        owned->bytes[slot] = bytes;
    }
    return owned->memory[slot];
}
