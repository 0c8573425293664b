#include "COpus.h"

int portero_opus_set_bitrate(OpusEncoder *encoder, int bits_per_second)
{
    return opus_encoder_ctl(encoder, OPUS_SET_BITRATE(bits_per_second));
}

int portero_opus_set_complexity(OpusEncoder *encoder, int complexity)
{
    return opus_encoder_ctl(encoder, OPUS_SET_COMPLEXITY(complexity));
}

int portero_opus_set_fec(OpusEncoder *encoder, int on)
{
    return opus_encoder_ctl(encoder, OPUS_SET_INBAND_FEC(on));
}

int portero_opus_set_loss(OpusEncoder *encoder, int percent)
{
    return opus_encoder_ctl(encoder, OPUS_SET_PACKET_LOSS_PERC(percent));
}

int portero_opus_set_dtx(OpusEncoder *encoder, int on)
{
    return opus_encoder_ctl(encoder, OPUS_SET_DTX(on));
}
