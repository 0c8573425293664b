#pragma once

/// A c-ares channel, with raw answers and its descriptors reported. Hides what differs between 1.18 and 1.34.
typedef struct portero_resolver portero_resolver;

enum portero_dns_status {
    PORTERO_DNS_ANSWER,     ///< A response with records, or one that says there are none.
    PORTERO_DNS_CANCELLED,  ///< The channel went.
    PORTERO_DNS_SILENT,     ///< No name server answered.
    PORTERO_DNS_FAILED,     ///< One answered that it cannot.
};

/// Calls `watch` whenever the events to be watched on a descriptor change; neither: it is about to be closed.
/// `servers` is `ADDRESS:PORT[,…]`, or NULL for the system's. NULL on failure.
portero_resolver *portero_resolver_create(
    const char *servers, void (*watch)(void *context, int descriptor, int readable, int writable), void *context);

/// Every query that is still open is answered with PORTERO_DNS_CANCELLED; `watch` is not called any more.
void portero_resolver_destroy(portero_resolver *resolver);

/// Asks; `answer` is called exactly once, at times before this returns. Names without a dot go through the search list.
/// `text` is the reason of a failure.
void portero_resolver_query(
    portero_resolver *resolver, const char *name, int type,
    void (*answer)(
        void *context, enum portero_dns_status status, const char *text, const unsigned char *octets, int count),
    void *context);

/// A descriptor is ready; -1 for none. Also to be called when the time is over.
void portero_resolver_process(portero_resolver *resolver, int readable, int writable);

/// Milliseconds until `portero_resolver_process` is due; -1 while nothing is pending.
int portero_resolver_timeout(portero_resolver *resolver);

/// c-ares's version text.
const char *portero_resolver_version(void);
