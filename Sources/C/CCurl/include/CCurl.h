#pragma once
#include "CCurlBlocking.h"
#include <stddef.h>
#include <stdint.h>

/// Transfers of libcurl on somebody else's loop.
typedef struct portero_http portero_http;

struct portero_http_request {
    const char *url;
    int is_encrypted;         ///< https alone; else http alone, without a proxy. Redirects lead to https in any case.
    const char *etag;         ///< For If-None-Match; NULL: none.
    const char *authorities;  ///< File of the only trusted authorities; NULL: the system's.
    const char *user_agent;
    size_t limit;             ///< Octets of the body.
    long time_limit;          ///< Milliseconds for the whole.
};

struct portero_http_result {
    /// NULL, or why there is no response.
    const char *failure;
    long status;
    const unsigned char *body;
    size_t count;
    /// Of the last response; NULL: none.
    const char *etag;
};

struct portero_http_callbacks {
    void *context;
    /// The events to be watched on a descriptor change; neither: no more.
    void (*watch)(void *context, int descriptor, int readable, int writable);
    /// `portero_http_process(…, -1, 0, 0)` is due in so many milliseconds; -1: it is not.
    void (*timer)(void *context, long milliseconds);
    /// A transfer is over.
    void (*finished)(void *context, uint64_t number, const struct portero_http_result *result);
};

/// NULL on failure.
portero_http *portero_http_create(const struct portero_http_callbacks *callbacks);
/// Drops transfers that are under way; no callback is called any more.
void portero_http_destroy(portero_http *http);
/// Begins a transfer, which `finished` names by `number`. NULL, or why it could not begin.
const char *portero_http_get(portero_http *http, uint64_t number, const struct portero_http_request *request);
/// A descriptor is ready, or the time is over. Calls `finished`.
void portero_http_process(portero_http *http, int descriptor, int readable, int writable);
/// libcurl's version text.
const char *portero_http_version(void);
