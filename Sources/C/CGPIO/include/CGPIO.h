#pragma once
#include <stdint.h>

// One face for libgpiod 1.6 (Debian 12) and 2.x (Debian 13). Levels are the electrical ones: 1 is high.

struct portero_gpio_line {
    char path[64];      ///< `/dev/gpiochip0`: may be another one after the next start.
    char label[33];     ///< Of the chip.
    char name[33];      ///< Empty: none.
    char consumer[33];  ///< Who uses the line; empty: unknown or nobody.
    uint32_t offset;
    int is_used;
    int is_output;
};

/// Lists every line of every chip, in the order of the devices' names. A chip that cannot be opened is told of by
/// `refused` with its errno number.
void portero_gpio_list(
    void (*line)(void *context, const struct portero_gpio_line *line),
    void (*refused)(void *context, const char *path, int number), void *context);

/// A line in use.
typedef struct portero_gpio_request portero_gpio_request;

enum portero_gpio_bias {
    PORTERO_GPIO_BIAS_AS_IS, PORTERO_GPIO_BIAS_DISABLED, PORTERO_GPIO_BIAS_PULL_UP, PORTERO_GPIO_BIAS_PULL_DOWN
};

/// Takes a line as input that reports both edges. NULL and errno on failure (EBUSY: somebody has it).
portero_gpio_request *portero_gpio_request_input(const char *path, uint32_t offset, enum portero_gpio_bias bias);
/// Takes a line as output, driven to the level from the first moment.
portero_gpio_request *portero_gpio_request_output(const char *path, uint32_t offset, int level);
void portero_gpio_release(portero_gpio_request *request);

/// Of an input: readable while edges wait.
int portero_gpio_descriptor(portero_gpio_request *request);

struct portero_gpio_edge {
    int64_t nanoseconds;  ///< CLOCK_MONOTONIC.
    int level;            ///< After the edge.
};
enum { portero_gpio_batch = 16 };

/// Takes the edges that wait, `portero_gpio_batch` at most, without blocking. `lost` is set where the kernel's queue
/// has or may have run over: then the level is to be read. -1 and errno on failure (ENODEV: the chip is gone).
int portero_gpio_read(portero_gpio_request *request, struct portero_gpio_edge *edges, int *lost);
/// 0 or 1, or -1 and errno.
int portero_gpio_get(portero_gpio_request *request);
/// 0, or -1 and errno.
int portero_gpio_set(portero_gpio_request *request, int level);

/// libgpiod's version text.
const char *portero_gpio_version(void);
