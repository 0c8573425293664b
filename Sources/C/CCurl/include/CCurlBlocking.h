#pragma once
#include <stddef.h>

/* One HTTP exchange over a Unix socket that blocks until it is over, for the command line. */

/* Takes octets of the answer's body; returns 0 to end the exchange. */
typedef int (*portero_http_octets)(const char *octets, size_t count, void *context);

enum {
    PORTERO_HTTP_DONE = 0,
    /* Nobody listens at the socket. */
    PORTERO_HTTP_NOT_RUNNING = 1,
    PORTERO_HTTP_FAILED = 2,
    /* The receiver of the octets wanted no more. */
    PORTERO_HTTP_ENDED = 3,
};

/* `body` NULL: none. `seconds` 0: no limit in time. `status` is the HTTP status; `error` takes up to 256 octets. */
int portero_http_exchange(
    const char *socket, const char *method, const char *path, const char *body, long seconds,
    portero_http_octets take, void *context, long *status, char *error);
