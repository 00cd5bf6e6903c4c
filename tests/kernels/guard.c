/* Memory between inaccessible pages, for NumPy's arrays (guard.py installs the functions as its allocator) and,
 * preloaded, for posix_memalign, from which the kernels' packed weights and workspaces come.
 *
 * QRT_GUARD=after puts a block's last byte directly before such a page, =before its first byte directly behind one: one
 * byte beyond ends the process. guard_place moves what is allocated from then on. Bytes left over at the other end hold a pattern that is checked when the block is
 * freed. Freed pages serve blocks of the same number of pages: fresh ones cost a fault each. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE ((size_t)4096)
#define ARENA ((size_t)1 << 38)
#define LISTS ((size_t)1 << 16)
#define PATTERN 0xA5
#define RESERVED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

void __libc_free(void *block); /* glibc's own, behind the free below */

static char *arena;
/* Of the block that begins in a page of the arena; once it is freed, the number of the next such page in its list. */
static size_t *sizes;
static size_t freed[LISTS]; /* by number of pages; 0: none */
static size_t used = 1;     /* pages of the arena */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool before;

static void fail(const char *reason, const void *block) {
    fprintf(stderr, "guard: %s, block %p\n", reason, block);
    abort();
}

__attribute__((constructor)) static void reserve(void) {
    const char *mode = getenv("QRT_GUARD");
    before = mode && strcmp(mode, "before") == 0;
    arena = mmap(NULL, ARENA, PROT_NONE, RESERVED, -1, 0);
    sizes = mmap(NULL, ARENA / PAGE * sizeof *sizes, PROT_READ | PROT_WRITE, RESERVED, -1, 0);
    if (arena == MAP_FAILED || sizes == MAP_FAILED)
        fail("no address space", NULL);
}

void guard_place(bool directly_before) {
    before = directly_before;
}

static bool is_guarded(const void *block) {
    return (const char *)block >= arena && (const char *)block < arena + ARENA;
}

static size_t page_of(const void *block) {
    return (size_t)((const char *)block - arena) / PAGE;
}

static size_t count_pages(size_t size) {
    return (size + PAGE - 1) / PAGE;
}

/* The first of `count` accessible pages, 0 without memory. */
static size_t take_pages(size_t count) {
    pthread_mutex_lock(&lock);
    size_t page = count < LISTS ? freed[count] : 0;
    if (page) {
        freed[count] = sizes[page];
    } else if (count < ARENA / PAGE - used) {
        page = used;
        used += count + 1;
        if (mprotect(arena + page * PAGE, count * PAGE, PROT_READ | PROT_WRITE))
            page = 0;
    }
    pthread_mutex_unlock(&lock);
    return page;
}

void *guard_allocate(size_t size, size_t alignment) {
    size = size ? size : 1;
    const size_t count = count_pages(size), page = take_pages(count), spare = count * PAGE - size;
    if (!page)
        return NULL;
    char *pages = arena + page * PAGE;
    const size_t front = before ? 0 : spare / alignment * alignment;
    memset(pages, PATTERN, front);
    memset(pages + front + size, PATTERN, spare - front);
    sizes[page] = size;
    return pages + front;
}

static void check(const unsigned char *from, const unsigned char *to, const void *block) {
    for (; from < to; from++)
        if (*from != PATTERN)
            fail("written outside", block);
}

void guard_release(void *block) {
    const size_t page = page_of(block), size = sizes[page], count = count_pages(size);
    const unsigned char *pages = (unsigned char *)arena + page * PAGE, *bytes = block;
    check(pages, bytes, block);
    check(bytes + size, pages + count * PAGE, block);
    if (count >= LISTS) {
        mmap((void *)pages, count * PAGE, PROT_NONE, RESERVED | MAP_FIXED, -1, 0);
        return;
    }
    pthread_mutex_lock(&lock);
    sizes[page] = freed[count];
    freed[count] = page;
    pthread_mutex_unlock(&lock);
}

/* ---- the C library's ---- */

int posix_memalign(void **block, size_t alignment, size_t size) {
    *block = guard_allocate(size, alignment);
    return *block ? 0 : ENOMEM;
}

void free(void *block) {
    if (block && is_guarded(block))
        guard_release(block);
    else
        __libc_free(block);
}

/* ---- NumPy's: PyDataMemAllocator ---- */

void *guard_malloc(void *context, size_t size) {
    (void)context;
    return guard_allocate(size, 1); /* a multiple of the item's size, so aligned for it */
}

void *guard_calloc(void *context, size_t count, size_t size) {
    void *block = guard_malloc(context, count * size);
    return block ? memset(block, 0, count * size) : NULL;
}

void guard_free(void *context, void *block, size_t size) {
    (void)context, (void)size;
    if (block)
        guard_release(block);
}

void *guard_realloc(void *context, void *block, size_t size) {
    void *larger = guard_malloc(context, size);
    if (larger && block) {
        const size_t given = sizes[page_of(block)];
        memcpy(larger, block, given < size ? given : size);
        guard_release(block);
    }
    return larger;
}
