#include "Allocations.h"
#include <errno.h>
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

static __thread int counting;
static __thread long count;

void portero_count_allocations(int on)
{
    if (on) count = 0;
    counting = on;
}

#ifdef SANITIZED
long portero_allocations(void) { return -1; }
#else
long portero_allocations(void) { return count; }

// These take the place of the C library's in the whole process and pass on to them.
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size)
{
    if (counting) count++;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    if (counting) count++;
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size)
{
    if (counting) count++;
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    if (counting) count++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
    if (counting) count++;
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : ENOMEM;
}
#endif
