#include "CSpandsp.h"
#include <spandsp.h>

void *portero_g722_encoder(void) { return g722_encode_init(NULL, 64000, 0); }
void portero_g722_encoder_free(void *encoder) { g722_encode_free(encoder); }
int portero_g722_encode(void *encoder, uint8_t *octets, const int16_t *samples, int count)
{
    return g722_encode(encoder, octets, samples, count);
}

void *portero_g722_decoder(void) { return g722_decode_init(NULL, 64000, 0); }
void portero_g722_decoder_free(void *decoder) { g722_decode_free(decoder); }
int portero_g722_decode(void *decoder, int16_t *samples, const uint8_t *octets, int count)
{
    return g722_decode(decoder, samples, octets, count);
}

void *portero_dtmf_receiver(void)
{
    dtmf_rx_state_t *receiver = dtmf_rx_init(NULL, NULL, NULL);
    /* Its log would go to standard error from the media thread. */
    if (receiver) span_log_set_level(dtmf_rx_get_logging_state(receiver), SPAN_LOG_NONE);
    return receiver;
}
void portero_dtmf_receiver_free(void *receiver) { dtmf_rx_free(receiver); }
int portero_dtmf_receive(void *receiver, const int16_t *samples, int count, char *digits, int room)
{
    dtmf_rx(receiver, samples, count);
    return (int) dtmf_rx_get(receiver, digits, room);
}
