#pragma once
#include <opus/opus.h>

// opus_encoder_ctl and opus_decoder_ctl are variadic: Swift cannot call them. Each returns OPUS_OK or an error.
int portero_opus_set_bitrate(OpusEncoder *encoder, int bits_per_second);
int portero_opus_set_complexity(OpusEncoder *encoder, int complexity);
int portero_opus_set_fec(OpusEncoder *encoder, int on);
int portero_opus_set_loss(OpusEncoder *encoder, int percent);
int portero_opus_set_dtx(OpusEncoder *encoder, int on);
