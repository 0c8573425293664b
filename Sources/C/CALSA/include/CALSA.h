#pragma once
#include <alsa/asoundlib.h>

/// Keeps alsa-lib from writing its diagnostics to standard error: every call returns its error anyway.
void portero_alsa_quiet(void);

/// What was wanted of a PCM device and, after portero_alsa_configure, what it gave.
struct portero_alsa_format {
    unsigned rate;              /* samples in a second */
    unsigned channels;
    snd_pcm_uframes_t period;   /* frames between two interrupts */
    snd_pcm_uframes_t buffer;   /* frames */
    int wide;                   /* 0: 16 bit samples, 1: 32 bit samples, native order */
};

/// Negotiates interleaved access, 16 bits (else 32), the rate nearest to the wanted one without ALSA's own resampler, one
/// channel (else the nearest count), period and buffer near the wanted ones. Playback and capture start by hand.
/// Returns 0 or a negative error number.
int portero_alsa_configure(snd_pcm_t *pcm, struct portero_alsa_format *format);
