#pragma once
#include <microhttpd.h>
#include <stdint.h>
#include <string.h>

/* Calls of libmicrohttpd that take variable arguments, in the one form that is needed here. */

/* Leaves the path as it came: its segments are decoded where they are read. */
static inline size_t portero_http_keep(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

/* A server on a listening socket, without a thread of its own; NULL where it cannot start. The socket becomes its. */
static inline struct MHD_Daemon *portero_http_start(
    int socket, MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback changed, void *context,
    unsigned int connections, unsigned int idle_seconds) {
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handler, context,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)socket,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_NOTIFY_CONNECTION, changed, context,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
        MHD_OPTION_UNESCAPE_CALLBACK, portero_http_keep, NULL,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(32 * 1024),
        MHD_OPTION_END);
}

/* The descriptor that becomes readable when the server has work; -1 where there is none. */
static inline int portero_http_descriptor(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

/* Milliseconds until the server wants to run though nothing is readable; -1: never. */
static inline int64_t portero_http_timeout(struct MHD_Daemon *daemon) {
    MHD_UNSIGNED_LONG_LONG milliseconds;
    return MHD_get_timeout(daemon, &milliseconds) == MHD_YES ? (int64_t)milliseconds : -1;
}

/* Another idle time for one connection. */
static inline void portero_http_set_timeout(struct MHD_Connection *connection, unsigned int seconds) {
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

static const uint64_t PORTERO_HTTP_SIZE_UNKNOWN = MHD_SIZE_UNKNOWN;
static const unsigned int PORTERO_HTTP_CLOSED = MHD_CONNECTION_NOTIFY_CLOSED;
