#pragma once
// The kernel's and the C library's headers that the Glibc module leaves out, and wrappers for what Swift cannot
// import. `_GNU_SOURCE` is defined for the C files alone: GNU functions are wrapped there.
#include <sys/types.h>
#include <sys/socket.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include <time.h>
#include <poll.h>
#include <pthread.h>

/// The text of an error number ("No such file or directory"), never NULL; the pointer stays valid for ever.
const char *portero_error_text(int number);

/// Blocks SIGTERM, SIGINT, SIGHUP, SIGUSR1 and SIGUSR2 in the calling thread and those it starts, and ignores SIGPIPE.
void portero_block_signals(void);

/// When this was compiled, seconds since 1970: no clock that is right shows an earlier day.
int64_t portero_build_time(void);

/// A non-blocking descriptor that is readable once the clock of the day was set; -1 and errno on failure.
int portero_clock_watch(void);
/// Takes the news and waits for the next; 0: there was none.
int portero_clock_take(int descriptor);

/// Gives a thread a name of at most 15 octets.
void portero_name_thread(pthread_t thread, const char *name);

/// An address with its port as Swift reads it: no casts between socket address types there.
struct portero_address {
    /// Network octets: the first 4, or 16.
    uint8_t octets[16];
    /// 4, 6, or 0 for none.
    uint16_t family;
    /// Host order.
    uint16_t port;
    /// Interface index of an IPv6 link-local address, else 0.
    uint32_t zone;
};

/// A non-blocking socket (`SOCK_DGRAM`, `SOCK_STREAM`) of family 4 or 6; IPv6 ones take no IPv4. -1 and errno on failure.
int portero_socket(int family, int type);
int portero_bind(int descriptor, const struct portero_address *address);
int portero_connect(int descriptor, const struct portero_address *address);
/// A non-blocking descriptor, or -1 and errno.
int portero_accept(int descriptor, struct portero_address *peer);
/// The socket's own address.
int portero_local_address(int descriptor, struct portero_address *address);
int portero_set_option(int descriptor, int level, int name, int value);
/// What the path of a connected datagram socket carries, octets; -1: it is not known.
int portero_path_mtu(int descriptor, int family);
/// Restricts a socket to an interface.
int portero_bind_to_interface(int descriptor, const char *name);
/// Takes and clears the error that waits on the socket; 0 for none.
int portero_take_error(int descriptor);

/// Turns on what `portero_receive` and `portero_receive_error` need (IP_PKTINFO, IP_RECVERR) and marks what is sent
/// with a DSCP value (0…63).
int portero_prepare_datagrams(int descriptor, int family, int dscp);
/// Receives a datagram, with its source and the own address that it was sent to (the port of `to` is 0).
ssize_t portero_receive(
    int descriptor, void *buffer, size_t capacity, struct portero_address *from, struct portero_address *to);
/// Sends a datagram; `from` (NULL: the kernel's choice) is the source address, its port is not looked at.
ssize_t portero_send(
    int descriptor, const void *buffer, size_t count, const struct portero_address *to,
    const struct portero_address *from);
/// Takes one error (an errno number) from the socket's queue, with the destination that it is about; 0 for none.
int portero_receive_error(int descriptor, struct portero_address *remote);

#include "Media.h"
