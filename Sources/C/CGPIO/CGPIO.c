#include "CGPIO.h"
#include <dirent.h>
#include <errno.h>
#include <gpiod.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What both versions of the library share. Version 1 is known by GPIOD_LINE_BULK_MAX_LINES: there is no version macro.

static const char consumer[] = "portero";

typedef void (*line_callback)(void *, const struct portero_gpio_line *);

/// Lists the lines of one chip; 0, or -1 and errno.
static int list_chip(const char *path, line_callback line, void *context);

static void copy(char *target, size_t size, const char *text) { snprintf(target, size, "%s", text ? text : ""); }

static int is_chip(const struct dirent *entry) { return strncmp(entry->d_name, "gpiochip", 8) == 0; }

void portero_gpio_list(line_callback line, void (*refused)(void *, const char *, int), void *context) {
    struct dirent **entries;
    int count = scandir("/dev", &entries, is_chip, versionsort);
    for (int index = 0; index < count; index++) {
        char path[sizeof((struct portero_gpio_line *)0)->path];
        if (snprintf(path, sizeof path, "/dev/%s", entries[index]->d_name) < (int)sizeof path
            && list_chip(path, line, context) != 0)
            refused(context, path, errno);
        free(entries[index]);
    }
    if (count >= 0) free(entries);
}

/// Whether a read would not block.
static int is_ready(int descriptor) {
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    return poll(&entry, 1, 0) > 0;
}

#ifdef GPIOD_LINE_BULK_MAX_LINES

struct portero_gpio_request {
    struct gpiod_chip *chip;
    struct gpiod_line *line;
};

static int list_chip(const char *path, line_callback callback, void *context) {
    struct gpiod_chip *chip = gpiod_chip_open(path);
    if (!chip) return -1;
    for (unsigned offset = 0; offset < gpiod_chip_num_lines(chip); offset++) {
        struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
        if (!line) continue;
        struct portero_gpio_line entry = {
            .offset = offset, .is_used = gpiod_line_is_used(line),
            .is_output = gpiod_line_direction(line) == GPIOD_LINE_DIRECTION_OUTPUT};
        copy(entry.path, sizeof entry.path, path);
        copy(entry.label, sizeof entry.label, gpiod_chip_label(chip));
        copy(entry.name, sizeof entry.name, gpiod_line_name(line));
        copy(entry.consumer, sizeof entry.consumer, gpiod_line_consumer(line));
        callback(context, &entry);
    }
    gpiod_chip_close(chip);
    return 0;
}

static portero_gpio_request *request(
    const char *path, uint32_t offset, const struct gpiod_line_request_config *config, int level) {
    portero_gpio_request *request = calloc(1, sizeof *request);
    if (!request) return NULL;
    request->chip = gpiod_chip_open(path);
    if (request->chip) request->line = gpiod_chip_get_line(request->chip, offset);
    if (request->line && gpiod_line_request(request->line, config, level) == 0) return request;
    int number = errno;
    if (request->chip) gpiod_chip_close(request->chip);
    free(request);
    errno = number;
    return NULL;
}

portero_gpio_request *portero_gpio_request_input(const char *path, uint32_t offset, enum portero_gpio_bias bias) {
    static const int flags[] = {
        [PORTERO_GPIO_BIAS_AS_IS] = 0, [PORTERO_GPIO_BIAS_DISABLED] = GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE,
        [PORTERO_GPIO_BIAS_PULL_UP] = GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP,
        [PORTERO_GPIO_BIAS_PULL_DOWN] = GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN};
    struct gpiod_line_request_config config = {
        .consumer = consumer, .request_type = GPIOD_LINE_REQUEST_EVENT_BOTH_EDGES, .flags = flags[bias]};
    return request(path, offset, &config, 0);
}

portero_gpio_request *portero_gpio_request_output(const char *path, uint32_t offset, int level) {
    struct gpiod_line_request_config config = {
        .consumer = consumer, .request_type = GPIOD_LINE_REQUEST_DIRECTION_OUTPUT};
    return request(path, offset, &config, level);
}

void portero_gpio_release(portero_gpio_request *request) {
    if (!request) return;
    gpiod_line_release(request->line);
    gpiod_chip_close(request->chip);
    free(request);
}

int portero_gpio_descriptor(portero_gpio_request *request) { return gpiod_line_event_get_fd(request->line); }

int portero_gpio_read(portero_gpio_request *request, struct portero_gpio_edge *edges, int *lost) {
    struct gpiod_line_event events[portero_gpio_batch];
    *lost = 0;
    if (!is_ready(portero_gpio_descriptor(request))) return 0;
    int count = gpiod_line_event_read_multiple(request->line, events, portero_gpio_batch);
    for (int index = 0; index < count; index++) {
        edges[index].nanoseconds = (int64_t)events[index].ts.tv_sec * 1000000000 + events[index].ts.tv_nsec;
        edges[index].level = events[index].event_type == GPIOD_LINE_EVENT_RISING_EDGE;
    }
    *lost = count == portero_gpio_batch; // The kernel's queue holds no more: it may have run over.
    return count;
}

int portero_gpio_get(portero_gpio_request *request) { return gpiod_line_get_value(request->line); }

int portero_gpio_set(portero_gpio_request *request, int level) { return gpiod_line_set_value(request->line, level); }

const char *portero_gpio_version(void) { return gpiod_version_string(); }

#else

struct portero_gpio_request {
    struct gpiod_line_request *lines;
    struct gpiod_edge_event_buffer *buffer;
    unsigned offset;
    unsigned long sequence;
};

static int list_chip(const char *path, line_callback callback, void *context) {
    struct gpiod_chip *chip = gpiod_chip_open(path);
    if (!chip) return -1;
    struct gpiod_chip_info *info = gpiod_chip_get_info(chip);
    size_t count = info ? gpiod_chip_info_get_num_lines(info) : 0;
    for (size_t offset = 0; offset < count; offset++) {
        struct gpiod_line_info *line = gpiod_chip_get_line_info(chip, (unsigned)offset);
        if (!line) continue;
        struct portero_gpio_line entry = {
            .offset = (uint32_t)offset, .is_used = gpiod_line_info_is_used(line),
            .is_output = gpiod_line_info_get_direction(line) == GPIOD_LINE_DIRECTION_OUTPUT};
        copy(entry.path, sizeof entry.path, path);
        copy(entry.label, sizeof entry.label, gpiod_chip_info_get_label(info));
        copy(entry.name, sizeof entry.name, gpiod_line_info_get_name(line));
        copy(entry.consumer, sizeof entry.consumer, gpiod_line_info_get_consumer(line));
        callback(context, &entry);
        gpiod_line_info_free(line);
    }
    int number = errno;
    int result = info ? 0 : -1;
    if (info) gpiod_chip_info_free(info);
    gpiod_chip_close(chip);
    errno = number;
    return result;
}

/// Takes the settings over.
static portero_gpio_request *request(const char *path, unsigned offset, struct gpiod_line_settings *settings) {
    portero_gpio_request *request = calloc(1, sizeof *request);
    struct gpiod_edge_event_buffer *buffer = gpiod_edge_event_buffer_new(portero_gpio_batch);
    struct gpiod_line_config *lines = gpiod_line_config_new();
    struct gpiod_request_config *config = gpiod_request_config_new();
    struct gpiod_chip *chip = gpiod_chip_open(path);
    int is_done = 0;
    if (request && buffer && lines && config && chip && settings
        && gpiod_line_config_add_line_settings(lines, &offset, 1, settings) == 0) {
        gpiod_request_config_set_consumer(config, consumer);
        gpiod_request_config_set_event_buffer_size(config, 4 * portero_gpio_batch);
        request->lines = gpiod_chip_request_lines(chip, config, lines);
        is_done = request->lines != NULL;
    }
    int number = errno;
    if (chip) gpiod_chip_close(chip);
    if (config) gpiod_request_config_free(config);
    if (lines) gpiod_line_config_free(lines);
    if (settings) gpiod_line_settings_free(settings);
    if (is_done) {
        request->buffer = buffer;
        request->offset = offset;
        return request;
    }
    if (buffer) gpiod_edge_event_buffer_free(buffer);
    free(request);
    errno = number;
    return NULL;
}

portero_gpio_request *portero_gpio_request_input(const char *path, uint32_t offset, enum portero_gpio_bias bias) {
    static const enum gpiod_line_bias biases[] = {
        [PORTERO_GPIO_BIAS_AS_IS] = GPIOD_LINE_BIAS_AS_IS, [PORTERO_GPIO_BIAS_DISABLED] = GPIOD_LINE_BIAS_DISABLED,
        [PORTERO_GPIO_BIAS_PULL_UP] = GPIOD_LINE_BIAS_PULL_UP,
        [PORTERO_GPIO_BIAS_PULL_DOWN] = GPIOD_LINE_BIAS_PULL_DOWN};
    struct gpiod_line_settings *settings = gpiod_line_settings_new();
    if (settings) {
        gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_INPUT);
        gpiod_line_settings_set_edge_detection(settings, GPIOD_LINE_EDGE_BOTH);
        gpiod_line_settings_set_bias(settings, biases[bias]);
    }
    return request(path, offset, settings);
}

portero_gpio_request *portero_gpio_request_output(const char *path, uint32_t offset, int level) {
    struct gpiod_line_settings *settings = gpiod_line_settings_new();
    if (settings) {
        gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_OUTPUT);
        gpiod_line_settings_set_output_value(settings, level ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE);
    }
    return request(path, offset, settings);
}

void portero_gpio_release(portero_gpio_request *request) {
    if (!request) return;
    gpiod_line_request_release(request->lines);
    gpiod_edge_event_buffer_free(request->buffer);
    free(request);
}

int portero_gpio_descriptor(portero_gpio_request *request) { return gpiod_line_request_get_fd(request->lines); }

int portero_gpio_read(portero_gpio_request *request, struct portero_gpio_edge *edges, int *lost) {
    *lost = 0;
    if (!is_ready(portero_gpio_descriptor(request))) return 0;
    int count = gpiod_line_request_read_edge_events(request->lines, request->buffer, portero_gpio_batch);
    for (int index = 0; index < count; index++) {
        struct gpiod_edge_event *event = gpiod_edge_event_buffer_get_event(request->buffer, (unsigned long)index);
        unsigned long sequence = gpiod_edge_event_get_line_seqno(event);
        if (sequence != request->sequence + 1) *lost = 1;
        request->sequence = sequence;
        edges[index].nanoseconds = (int64_t)gpiod_edge_event_get_timestamp_ns(event);
        edges[index].level = gpiod_edge_event_get_event_type(event) == GPIOD_EDGE_EVENT_RISING_EDGE;
    }
    return count;
}

int portero_gpio_get(portero_gpio_request *request) {
    return (int)gpiod_line_request_get_value(request->lines, request->offset);
}

int portero_gpio_set(portero_gpio_request *request, int level) {
    return gpiod_line_request_set_value(
        request->lines, request->offset, level ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE);
}

const char *portero_gpio_version(void) { return gpiod_api_version(); }

#endif
