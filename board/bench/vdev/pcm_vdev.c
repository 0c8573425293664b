/* Virtual clocked ALSA device (external I/O plugin): behaves like a sound card whose sample clock
 * is CLOCK_MONOTONIC. No kernel module. Any program that uses alsa-lib can open it as "vdev".
 *  capture : environment VDEV_SRC = speech (default; $VDEV_PCM/speech-RATE.raw, looped by absolute time)
 *            | burst (10 ms of 1 kHz every whole second of CLOCK_MONOTONIC, else silence) | zero
 *  playback: samples are dropped, but an onset detector logs "PLAY t_ns" (time at which the first
 *            loud sample leaves the virtual DAC) and "CAP t_ns" for each burst handed to the reader.
 *  log     : file VDEV_LOG (append); at close "STAT dir rate period buffer frames xruns".
 *
 * A definition in asound.conf may say the same for one device, and more:
 *   pcm.card { type vdev
 *     source    "tone:440"      # as VDEV_SRC, or a sine of so many hertz
 *     log       "/path"         # as VDEV_LOG
 *     record    "/path.wav"     # what is played, channel 0, 16 bit; a second rate goes to /path.wav.RATE
 *     exclusive "/path.lock"    # one opener for each direction, the next gets EBUSY, like hw:
 *     gone      "/path.gone"    # while that file exists the card is unplugged: ENODEV
 *   }
 */
#define _GNU_SOURCE
#define PIC
#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <sys/timerfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <math.h>
#include <time.h>
#include <unistd.h>

struct vdev {
    snd_pcm_ioplug_t io;
    int tfd, running, mode, log;
    int64_t t0;                 /* time of frame 0 since start */
    uint64_t appl;              /* frames transferred since prepare */
    uint64_t total; unsigned xruns, rate;
    const int16_t *pcm; size_t npcm;
    uint64_t quiet;             /* quiet frames seen before (onset detector) */
    uint64_t pend[64]; int npend;
    double hertz;               /* mode 3 */
    int lock, rec;
    char *record, *gone;
};

static int64_t now_ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000LL + t.tv_nsec; }
static void logf_(struct vdev *v, const char *f, ...)
{
    char b[200]; va_list ap; va_start(ap, f); int n = vsnprintf(b, sizeof b, f, ap); va_end(ap);
    if (v->log >= 0 && write(v->log, b, n) < 0) { }
}
static int is_gone(struct vdev *v) { return v->gone && !access(v->gone, F_OK); }

/* The recording is opened when the rate is known, and goes on where an earlier one of that rate ended. */
static void open_record(struct vdev *v)
{
    struct { char riff[4]; uint32_t size; char wave[8]; uint32_t fmt; uint16_t pcm, ch; uint32_t rate, bytes; uint16_t align, bits; char data[4]; uint32_t len; } __attribute__((packed))
        h = {"RIFF", 0x7ffffff0, "WAVEfmt ", 16, 1, 1, v->io.rate, v->io.rate * 2, 2, 16, "data", 0x7fffff00}, old;
    if (!v->record || v->io.stream != SND_PCM_STREAM_PLAYBACK) return;
    if (v->rec >= 0) close(v->rec);
    memcpy(h.riff, "RIFF", 4); memcpy(h.wave, "WAVEfmt ", 8); memcpy(h.data, "data", 4);
    v->rec = open(v->record, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (v->rec >= 0 && pread(v->rec, &old, sizeof old, 0) == sizeof old && old.rate != h.rate) {
        char p[512]; snprintf(p, sizeof p, "%s.%u", v->record, h.rate);
        close(v->rec); v->rec = open(p, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    }
    if (v->rec >= 0 && lseek(v->rec, 0, SEEK_END) == 0 && write(v->rec, &h, sizeof h) < 0) { }
}

static uint64_t hw_frames(struct vdev *v) { return v->running ? (uint64_t)((now_ns() - v->t0) * (__int128)v->io.rate / 1000000000) : 0; }

/* what the application may see: the pointer moves once per period, like a card that only reports at interrupts
 * (a finer pointer makes alsa-lib's blocking reads take a few stray frames and then wait a whole period more) */
static uint64_t seen_frames(struct vdev *v) { uint64_t h = hw_frames(v); return h - h % v->io.period_size; }

static int v_start(snd_pcm_ioplug_t *io)
{
    struct vdev *v = io->private_data;
    int64_t per = (int64_t)io->period_size * 1000000000LL / io->rate, first;
    struct itimerspec it;
    v->t0 = now_ns(); v->running = 1;
    first = v->t0 + per + 60000;   /* just after the period boundary */
    it.it_value.tv_sec = first / 1000000000; it.it_value.tv_nsec = first % 1000000000;
    it.it_interval.tv_sec = per / 1000000000; it.it_interval.tv_nsec = per % 1000000000;
    timerfd_settime(v->tfd, TFD_TIMER_ABSTIME, &it, NULL);
    for (int i = 0; i < v->npend; i++) logf_(v, "PLAY %lld\n", (long long)(v->t0 + (int64_t)(v->pend[i] * 1000000000ULL / io->rate)));
    v->npend = 0;
    return 0;
}
static int v_stop(snd_pcm_ioplug_t *io) { struct vdev *v = io->private_data; struct itimerspec z = {0}; v->running = 0; timerfd_settime(v->tfd, 0, &z, NULL); return 0; }
static int v_prepare(snd_pcm_ioplug_t *io)
{
    struct vdev *v = io->private_data; struct itimerspec it = {{0, 0}, {0, 1}};
    if (is_gone(v)) return -ENODEV;
    v->running = 0; v->appl = 0; v->rate = io->rate; v->npend = 0;
    if (io->stream == SND_PCM_STREAM_PLAYBACK) timerfd_settime(v->tfd, 0, &it, NULL);
    if (!v->pcm && io->stream == SND_PCM_STREAM_CAPTURE && v->mode == 0) {
        char p[512]; struct stat st; const char *d = getenv("VDEV_PCM");
        snprintf(p, sizeof p, "%s/speech-%u.raw", d ? d : ".", io->rate);
        int fd = open(p, O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && !fstat(fd, &st)) {
            void *m = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
            if (m != MAP_FAILED) { v->pcm = m; v->npcm = st.st_size / 2; }
        } else logf_(v, "NOFILE %s\n", p);
        if (fd >= 0) close(fd);
    }
    return 0;
}
static snd_pcm_sframes_t v_pointer(snd_pcm_ioplug_t *io)
{
    struct vdev *v = io->private_data;
    if (is_gone(v)) return -ENODEV;
    if (!v->running) return 0;
    uint64_t h = hw_frames(v);
    if (io->stream == SND_PCM_STREAM_PLAYBACK) {
        if (h > v->appl) { v->xruns++; logf_(v, "XRUN play %lld\n", (long long)now_ns()); return -EPIPE; }
    } else if (h > v->appl + io->buffer_size) { v->xruns++; logf_(v, "XRUN cap %lld\n", (long long)now_ns()); return -EPIPE; }
    return seen_frames(v) % io->buffer_size;
}
static snd_pcm_sframes_t v_transfer(snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *ar, snd_pcm_uframes_t off, snd_pcm_uframes_t n)
{
    struct vdev *v = io->private_data;
    unsigned st = ar[0].step / 8;
    char *p = (char *)ar[0].addr + ar[0].first / 8 + off * st;
    if (is_gone(v)) return -ENODEV;
    if (v->rec >= 0) for (snd_pcm_uframes_t i = 0; i < n; ) {
        int16_t b[1024]; snd_pcm_uframes_t k = n - i < 1024 ? n - i : 1024;
        for (snd_pcm_uframes_t j = 0; j < k; j++) b[j] = *(int16_t *)(p + (i + j) * st);
        if (write(v->rec, b, k * 2) < 0) { }
        i += k;
    }
    if (io->stream == SND_PCM_STREAM_PLAYBACK) {
        for (snd_pcm_uframes_t i = 0; i < n; i++, p += st) {
            int s = *(int16_t *)p; if (s < 0) s = -s;
            if (s > 2500) {
                if (v->quiet > io->rate / 5) {
                    if (v->running) logf_(v, "PLAY %lld\n", (long long)(v->t0 + (int64_t)((v->appl + i) * 1000000000ULL / io->rate)));
                    else if (v->npend < 64) v->pend[v->npend++] = v->appl + i;
                }
                v->quiet = 0;
            } else v->quiet++;
        }
    } else {
        for (snd_pcm_uframes_t i = 0; i < n; i++, p += st) {
            int64_t t = v->t0 + (int64_t)((v->appl + i) * 1000000000ULL / io->rate);
            int16_t s = 0;
            if (v->mode == 1) {
                int64_t r = t % 1000000000LL;
                if (r < 10000000) {
                    s = (int16_t)(12000 * sin(2 * M_PI * 1000 * r / 1e9));
                    if (r < 1000000000LL / io->rate) logf_(v, "CAP %lld\n", (long long)(t - r));
                }
            } else if (v->mode == 0 && v->npcm) s = v->pcm[(v->appl + i) % v->npcm];
            else if (v->mode == 3) s = (int16_t)(8000 * sin(2 * M_PI * v->hertz * (double)(v->appl + i) / io->rate));
            for (unsigned c = 0; c < io->channels; c++) ((int16_t *)p)[c] = s;
        }
    }
    v->appl += n; v->total += n;
    return n;
}
static int v_poll_revents(snd_pcm_ioplug_t *io, struct pollfd *pfd, unsigned nfds, unsigned short *re)
{
    struct vdev *v = io->private_data; uint64_t x; int ready;
    (void)nfds; *re = 0;
    if (!(pfd[0].revents & POLLIN)) return 0;
    if (is_gone(v)) { *re = POLLERR | POLLHUP; return 0; }
    uint64_t h = seen_frames(v);
    snd_pcm_uframes_t am = io->period_size;
    if (io->stream == SND_PCM_STREAM_PLAYBACK) {
        ready = !v->running ? 1 : (int64_t)(io->buffer_size - (v->appl - h)) >= (int64_t)am || h > v->appl;
        if (ready) *re = POLLOUT;
    } else {
        ready = v->running && (int64_t)(h - v->appl) >= (int64_t)am;
        if (ready) *re = POLLIN;
    }
    if (!ready && read(v->tfd, &x, sizeof x) < 0) { }
    return 0;
}
static void release(struct vdev *v)
{
    if (v->lock >= 0) close(v->lock);
    if (v->rec >= 0) close(v->rec);
    free(v->record); free(v->gone); free(v);
}
static int v_close(snd_pcm_ioplug_t *io)
{
    struct vdev *v = io->private_data;
    logf_(v, "STAT %s rate=%u period=%lu buffer=%lu frames=%llu xruns=%u\n", io->stream == SND_PCM_STREAM_PLAYBACK ? "play" : "cap",
          v->rate, io->period_size, io->buffer_size, (unsigned long long)v->total, v->xruns);
    if (v->tfd >= 0) close(v->tfd);
    if (v->log >= 0) close(v->log);
    if (v->pcm) munmap((void *)v->pcm, v->npcm * 2);
    release(v);
    return 0;
}
static int v_hw_params(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *p)
{
    struct vdev *v = io->private_data; (void)p;
    open_record(v);
    logf_(v, "OPEN %s rate=%u ch=%u period=%lu buffer=%lu\n", io->stream == SND_PCM_STREAM_PLAYBACK ? "play" : "cap", io->rate, io->channels, io->period_size, io->buffer_size);
    return 0;
}
static int v_drain(snd_pcm_ioplug_t *io)
{
    struct vdev *v = io->private_data;
    if (io->stream != SND_PCM_STREAM_PLAYBACK || !v->appl || is_gone(v)) return 0;
    if (!v->running) v_start(io);
    for (;;) {
        uint64_t h = hw_frames(v);
        if (h >= v->appl) return 0;
        if (io->nonblock) return -EAGAIN;
        uint64_t ns = (v->appl - h) * 1000000000ULL / io->rate;
        struct timespec t = {ns / 1000000000ULL, ns % 1000000000ULL};
        nanosleep(&t, NULL);
    }
}
static const snd_pcm_ioplug_callback_t cb = {
    .start = v_start, .stop = v_stop, .pointer = v_pointer, .transfer = v_transfer, .close = v_close,
    .prepare = v_prepare, .poll_revents = v_poll_revents, .hw_params = v_hw_params, .drain = v_drain,
};
SND_PCM_PLUGIN_DEFINE_FUNC(vdev)
{
    static const unsigned acc[] = {SND_PCM_ACCESS_RW_INTERLEAVED, SND_PCM_ACCESS_MMAP_INTERLEAVED}, fmt[] = {SND_PCM_FORMAT_S16_LE};
    struct vdev *v = calloc(1, sizeof *v);
    const char *l = getenv("VDEV_LOG"), *s = getenv("VDEV_SRC");
    const char *record = NULL, *exclusive = NULL, *gone = NULL;
    snd_config_iterator_t i, next;
    int e; (void)root;
    v->lock = v->rec = v->log = -1;
    snd_config_for_each(i, next, conf) {
        snd_config_t *n = snd_config_iterator_entry(i); const char *id, *val;
        if (snd_config_get_id(n, &id) < 0 || snd_config_get_string(n, &val) < 0) continue;
        if (!strcmp(id, "source")) s = val;
        else if (!strcmp(id, "log")) l = val;
        else if (!strcmp(id, "record")) record = val;
        else if (!strcmp(id, "exclusive")) exclusive = val;
        else if (!strcmp(id, "gone")) gone = val;
    }
    v->gone = gone ? strdup(gone) : NULL; v->record = record ? strdup(record) : NULL;
    if (is_gone(v)) { release(v); return -ENODEV; }
    if (exclusive) {
        char p[512]; snprintf(p, sizeof p, "%s.%s", exclusive, stream == SND_PCM_STREAM_PLAYBACK ? "play" : "cap");
        v->lock = open(p, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (v->lock < 0 || flock(v->lock, LOCK_EX | LOCK_NB) < 0) { release(v); return -EBUSY; }
    }
    v->io.version = SND_PCM_IOPLUG_VERSION; v->io.name = "virtual clocked device"; v->io.callback = &cb; v->io.private_data = v;
    v->tfd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    v->io.poll_fd = v->tfd; v->io.poll_events = POLLIN; v->io.mmap_rw = 0;
    v->log = l && *l ? open(l, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    v->mode = s && !strcmp(s, "burst") ? 1 : s && !strcmp(s, "zero") ? 2 : s && !strncmp(s, "tone:", 5) ? 3 : 0;
    if (v->mode == 3) v->hertz = atof(s + 5);
    v->quiet = 1 << 30;
    if ((e = snd_pcm_ioplug_create(&v->io, name, stream, mode)) < 0) { close(v->tfd); if (v->log >= 0) close(v->log); release(v); return e; }
    snd_pcm_ioplug_set_param_list(&v->io, SND_PCM_IOPLUG_HW_ACCESS, 2, acc);
    snd_pcm_ioplug_set_param_list(&v->io, SND_PCM_IOPLUG_HW_FORMAT, 1, fmt);
    snd_pcm_ioplug_set_param_minmax(&v->io, SND_PCM_IOPLUG_HW_CHANNELS, 1, 2);
    snd_pcm_ioplug_set_param_minmax(&v->io, SND_PCM_IOPLUG_HW_RATE, 8000, 48000);
    snd_pcm_ioplug_set_param_minmax(&v->io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, 64, 65536);
    snd_pcm_ioplug_set_param_minmax(&v->io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, 128, 262144);
    snd_pcm_ioplug_set_param_minmax(&v->io, SND_PCM_IOPLUG_HW_PERIODS, 2, 64);
    *pcmp = v->io.pcm;
    return 0;
}
SND_PCM_PLUGIN_SYMBOL(vdev);
