#include "CALSA.h"

static void quiet(const char *file, int line, const char *function, int error, const char *format, ...)
{
    (void) file; (void) line; (void) function; (void) error; (void) format;
}

void portero_alsa_quiet(void) { snd_lib_error_set_handler(quiet); }

int portero_alsa_configure(snd_pcm_t *pcm, struct portero_alsa_format *format)
{
    snd_pcm_hw_params_t *hw;
    snd_pcm_sw_params_t *sw;
    snd_pcm_uframes_t boundary;
    int error;
    snd_pcm_hw_params_alloca(&hw);
    snd_pcm_sw_params_alloca(&sw);

    if ((error = snd_pcm_hw_params_any(pcm, hw)) < 0) return error;
    if ((error = snd_pcm_hw_params_set_rate_resample(pcm, hw, 0)) < 0) return error;
    if ((error = snd_pcm_hw_params_set_access(pcm, hw, SND_PCM_ACCESS_RW_INTERLEAVED)) < 0) return error;
    format->wide = 0;
    if (snd_pcm_hw_params_set_format(pcm, hw, SND_PCM_FORMAT_S16) < 0) {
        format->wide = 1;
        if ((error = snd_pcm_hw_params_set_format(pcm, hw, SND_PCM_FORMAT_S32)) < 0) return error;
    }
    if ((error = snd_pcm_hw_params_set_rate_near(pcm, hw, &format->rate, NULL)) < 0) return error;
    format->channels = 1;
    if ((error = snd_pcm_hw_params_set_channels_near(pcm, hw, &format->channels)) < 0) return error;
    if ((error = snd_pcm_hw_params_set_period_size_near(pcm, hw, &format->period, NULL)) < 0) return error;
    if (format->buffer < 4 * format->period) format->buffer = 4 * format->period;
    if ((error = snd_pcm_hw_params_set_buffer_size_near(pcm, hw, &format->buffer)) < 0) return error;
    if ((error = snd_pcm_hw_params(pcm, hw)) < 0) return error;
    if ((error = snd_pcm_hw_params_get_rate(hw, &format->rate, NULL)) < 0) return error;
    if ((error = snd_pcm_hw_params_get_channels(hw, &format->channels)) < 0) return error;
    if ((error = snd_pcm_hw_params_get_period_size(hw, &format->period, NULL)) < 0) return error;
    if ((error = snd_pcm_hw_params_get_buffer_size(hw, &format->buffer)) < 0) return error;

    if ((error = snd_pcm_sw_params_current(pcm, sw)) < 0) return error;
    if ((error = snd_pcm_sw_params_get_boundary(sw, &boundary)) < 0) return error;
    if ((error = snd_pcm_sw_params_set_start_threshold(pcm, sw, boundary)) < 0) return error;
    if ((error = snd_pcm_sw_params_set_stop_threshold(pcm, sw, format->buffer)) < 0) return error;
    if ((error = snd_pcm_sw_params_set_avail_min(pcm, sw, format->period)) < 0) return error;
    return snd_pcm_sw_params(pcm, sw);
}
