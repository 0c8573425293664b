#define PORTERO_CURL_LOADS
#include "Loading.h"
#include <dlfcn.h>

struct portero_curl portero_curl;

const struct portero_curl *portero_curl_load(void) {
    static int is_loaded;
    if (is_loaded) return &portero_curl;
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return NULL;
#define X(name)                                                              \
    portero_curl.name = (__typeof__(&curl_##name))dlsym(library, "curl_" #name); \
    if (!portero_curl.name) return NULL;
    PORTERO_CURL_CALLS(X)
#undef X
    is_loaded = 1;
    return &portero_curl;
}
