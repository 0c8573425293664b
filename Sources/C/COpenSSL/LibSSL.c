#include "LibSSL.h"
#include <dlfcn.h>
#include <pthread.h>

struct portero_ssl libssl;
static int is_loaded;

static void load(void) {
    // With the libraries that it needs: libcrypto's calls are found through it.
    void *library = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
#define X(name)                                              \
    libssl.name = (__typeof__(&name))dlsym(library, #name);  \
    if (!libssl.name) return;
    PORTERO_SSL_CALLS(X)
#undef X
    is_loaded = 1;
}

int portero_ssl_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded;
}
