#define CARES_NO_DEPRECATED
#include "CAres.h"
#include <ares.h>
#include <stdlib.h>
#include <string.h>

// One server is given so long at first, and each is asked so often.
enum { first_timeout_milliseconds = 1500, tries = 2 };

struct portero_resolver {
    ares_channel channel;
    void (*watch)(void *, int, int, int);
    void *context;
};

struct query {
    void (*answer)(void *, enum portero_dns_status, const char *, const unsigned char *, int);
    void *context;
};

static void socket_state(void *data, ares_socket_t descriptor, int readable, int writable) {
    struct portero_resolver *resolver = data;
    if (resolver->watch) resolver->watch(resolver->context, descriptor, readable, writable);
}

portero_resolver *portero_resolver_create(
    const char *servers, void (*watch)(void *, int, int, int), void *context) {
    static int initialised;
    if (!initialised && ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS) return NULL;
    initialised = 1;
    struct portero_resolver *resolver = calloc(1, sizeof *resolver);
    if (!resolver) return NULL;
    resolver->watch = watch;
    resolver->context = context;
    struct ares_options options;
    memset(&options, 0, sizeof options);
    options.sock_state_cb = socket_state;
    options.sock_state_cb_data = resolver;
    options.timeout = first_timeout_milliseconds;
    options.tries = tries;
    int mask = ARES_OPT_SOCK_STATE_CB | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES;
#ifdef ARES_OPT_QUERY_CACHE
    mask |= ARES_OPT_QUERY_CACHE; // None: the cache above it serves both versions.
    options.qcache_max_ttl = 0;
#endif
    if (ares_init_options(&resolver->channel, &options, mask) != ARES_SUCCESS) {
        free(resolver);
        return NULL;
    }
    if (servers && ares_set_servers_ports_csv(resolver->channel, servers) != ARES_SUCCESS) {
        ares_destroy(resolver->channel);
        free(resolver);
        return NULL;
    }
    return resolver;
}

void portero_resolver_destroy(portero_resolver *resolver) {
    if (!resolver) return;
    resolver->watch = NULL;
    ares_destroy(resolver->channel);
    free(resolver);
}

static void answered(void *data, int status, int timeouts, unsigned char *octets, int count) {
    (void)timeouts;
    struct query *query = data;
    switch (status) {
    case ARES_SUCCESS: case ARES_ENODATA: case ARES_ENOTFOUND:
        query->answer(query->context, PORTERO_DNS_ANSWER, "", octets, octets ? count : 0);
        break;
    case ARES_ECANCELLED: case ARES_EDESTRUCTION:
        query->answer(query->context, PORTERO_DNS_CANCELLED, "", NULL, 0);
        break;
    case ARES_ETIMEOUT: case ARES_ECONNREFUSED:
        query->answer(query->context, PORTERO_DNS_SILENT, ares_strerror(status), NULL, 0);
        break;
    default:
        query->answer(query->context, PORTERO_DNS_FAILED, ares_strerror(status), NULL, 0);
    }
    free(query);
}

void portero_resolver_query(
    portero_resolver *resolver, const char *name, int type,
    void (*answer)(void *, enum portero_dns_status, const char *, const unsigned char *, int), void *context) {
    struct query *query = malloc(sizeof *query);
    if (!query) {
        answer(context, PORTERO_DNS_FAILED, "out of memory", NULL, 0);
        return;
    }
    query->answer = answer;
    query->context = context;
    enum { internet = 1 };
    if (strchr(name, '.')) ares_query(resolver->channel, name, internet, type, answered, query);
    else ares_search(resolver->channel, name, internet, type, answered, query);
}

void portero_resolver_process(portero_resolver *resolver, int readable, int writable) {
    ares_process_fd(
        resolver->channel, readable < 0 ? ARES_SOCKET_BAD : readable, writable < 0 ? ARES_SOCKET_BAD : writable);
}

int portero_resolver_timeout(portero_resolver *resolver) {
    struct timeval time;
    struct timeval *left = ares_timeout(resolver->channel, NULL, &time);
    return left ? (int)(left->tv_sec * 1000 + (left->tv_usec + 999) / 1000) : -1;
}

const char *portero_resolver_version(void) { return ares_version(NULL); }
