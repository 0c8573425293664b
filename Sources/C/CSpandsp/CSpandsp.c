#include "CSpandsp.h"
#include <dlfcn.h>
#include <pthread.h>
#include <spandsp.h>

/* spandsp is loaded when the first call needs it: it brings a library for images and all that that one brings. */

#define CALLS(X)                                                                                              \
    X(g722_encode_init) X(g722_encode_free) X(g722_encode) X(g722_decode_init) X(g722_decode_free)            \
    X(g722_decode) X(dtmf_rx_init) X(dtmf_rx_free) X(dtmf_rx_get_logging_state) X(dtmf_rx) X(dtmf_rx_get)     \
    X(span_log_set_level)

static struct {
#define X(name) __typeof__(&name) name;
    CALLS(X)
#undef X
} library;
static int is_loaded;

static void load(void)
{
    void *handle = dlopen("libspandsp.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
#define X(name)                                                      \
    library.name = (__typeof__(&name)) dlsym(handle, #name);         \
    if (!library.name) return;
    CALLS(X)
#undef X
    is_loaded = 1;
}

static int loads(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded;
}

void *portero_g722_encoder(void) { return loads() ? library.g722_encode_init(NULL, 64000, 0) : NULL; }
void portero_g722_encoder_free(void *encoder) { library.g722_encode_free(encoder); }
int portero_g722_encode(void *encoder, uint8_t *octets, const int16_t *samples, int count)
{
    return library.g722_encode(encoder, octets, samples, count);
}

void *portero_g722_decoder(void) { return loads() ? library.g722_decode_init(NULL, 64000, 0) : NULL; }
void portero_g722_decoder_free(void *decoder) { library.g722_decode_free(decoder); }
int portero_g722_decode(void *decoder, int16_t *samples, const uint8_t *octets, int count)
{
    return library.g722_decode(decoder, samples, octets, count);
}

void *portero_dtmf_receiver(void)
{
    dtmf_rx_state_t *receiver = loads() ? library.dtmf_rx_init(NULL, NULL, NULL) : NULL;
    /* Its log would go to standard error from the media thread. */
    if (receiver) library.span_log_set_level(library.dtmf_rx_get_logging_state(receiver), SPAN_LOG_NONE);
    return receiver;
}
void portero_dtmf_receiver_free(void *receiver) { library.dtmf_rx_free(receiver); }
int portero_dtmf_receive(void *receiver, const int16_t *samples, int count, char *digits, int room)
{
    library.dtmf_rx(receiver, samples, count);
    return (int) library.dtmf_rx_get(receiver, digits, room);
}
