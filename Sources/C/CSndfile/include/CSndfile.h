#pragma once
#include <stdint.h>

// libsndfile, loaded when the first sound file is: with the codecs that it brings it would take a good part of the
// memory of an appliance that has none.

/// A sound file that is being read.
struct portero_sound_file {
    void *handle;  ///< NULL: it could not be opened, `failure` says why.
    const char *failure;
    int rate;
    int channels;
};

struct portero_sound_file portero_sound_open(const char *path);
/// Interleaved samples of up to so many frames. Returns the count of frames; 0 at the end.
long portero_sound_read(struct portero_sound_file file, int16_t *samples, long frames);
void portero_sound_close(struct portero_sound_file file);
