#include "CSndfile.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sndfile.h>
#include <stddef.h>

static struct {
    __typeof__(&sf_open) open;
    __typeof__(&sf_readf_short) read;
    __typeof__(&sf_close) close;
    __typeof__(&sf_strerror) error;
} library;
static int is_loaded;

static void load(void) {
    void *handle = dlopen("libsndfile.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
    library.open = (__typeof__(&sf_open))dlsym(handle, "sf_open");
    library.read = (__typeof__(&sf_readf_short))dlsym(handle, "sf_readf_short");
    library.close = (__typeof__(&sf_close))dlsym(handle, "sf_close");
    library.error = (__typeof__(&sf_strerror))dlsym(handle, "sf_strerror");
    is_loaded = library.open && library.read && library.close && library.error;
}

struct portero_sound_file portero_sound_open(const char *path) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct portero_sound_file file = {NULL, "libsndfile is not there", 0, 0};
    pthread_once(&once, load);
    if (!is_loaded) return file;
    SF_INFO info = {0};
    file.handle = library.open(path, SFM_READ, &info);
    file.failure = file.handle ? NULL : library.error(NULL);
    file.rate = info.samplerate;
    file.channels = info.channels;
    return file;
}

long portero_sound_read(struct portero_sound_file file, int16_t *samples, long frames) {
    return (long)library.read(file.handle, samples, frames);
}

void portero_sound_close(struct portero_sound_file file) { library.close(file.handle); }
