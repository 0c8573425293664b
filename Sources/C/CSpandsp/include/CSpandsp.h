#pragma once
#include <stdint.h>

// spandsp.h draws in image libraries and names that Swift need not see, so it stays in the C file.

/// A G.722 coder, 64 kbit/s, 16 kHz samples; NULL without memory.
void *portero_g722_encoder(void);
void portero_g722_encoder_free(void *encoder);
/// Two samples become one octet. Returns the count of octets.
int portero_g722_encode(void *encoder, uint8_t *octets, const int16_t *samples, int count);

/// A G.722 decoder, 64 kbit/s, 16 kHz samples; NULL without memory.
void *portero_g722_decoder(void);
void portero_g722_decoder_free(void *decoder);
/// One octet becomes two samples. Returns the count of samples.
int portero_g722_decode(void *decoder, int16_t *samples, const uint8_t *octets, int count);

/// A receiver of in-band DTMF in 8 kHz samples; NULL without memory.
void *portero_dtmf_receiver(void);
void portero_dtmf_receiver_free(void *receiver);
/// Takes samples and writes up to `room` digits that became complete ('0'…'9', '*', '#', 'A'…'D'). Returns their count.
int portero_dtmf_receive(void *receiver, const int16_t *samples, int count, char *digits, int room);
