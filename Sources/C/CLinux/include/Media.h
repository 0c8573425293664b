#pragma once
// What the media thread needs of the kernel.
#include <stddef.h>
#include <stdint.h>
#include <poll.h>
#include <netinet/ip.h>

/// Puts the calling thread under SCHED_FIFO, which children do not inherit, and keeps the memory that is mapped from being swapped
/// out. Returns 0 or the error number of the former.
int portero_real_time(int priority);

/// Waits for descriptors, at most `nanoseconds` (negative: for ever). Returns poll's result, 0 after a signal.
int portero_wait(struct pollfd *polls, int count, int64_t nanoseconds);

enum { PORTERO_BATCH = 16, PORTERO_DATAGRAM = 1600 };

/// A datagram that came, with its source in host order and the kernel's time of its arrival.
struct portero_datagram {
    uint8_t octets[PORTERO_DATAGRAM];
    int length;              /* octets; longer datagrams are left out of the batch's results as length 0 */
    int version;             /* 4 or 6; 0: unknown family */
    uint64_t high, low;      /* IPv6 address; IPv4 in low */
    uint32_t zone;           /* interface of a link-local IPv6 address */
    uint16_t port;
    int64_t arrival;         /* nanoseconds of CLOCK_REALTIME; 0: unknown */
};

struct portero_batch;
/// Room for PORTERO_BATCH datagrams; NULL without memory.
struct portero_batch *portero_batch_new(void);
void portero_batch_free(struct portero_batch *batch);
/// Takes the waiting datagrams of a socket that does not block, at most PORTERO_BATCH. Returns their count; 0 for none or an error.
int portero_batch_receive(struct portero_batch *batch, int descriptor);
/// A datagram of the last receive; `index` below its count.
const struct portero_datagram *portero_batch_datagram(const struct portero_batch *batch, int index);

/// Makes the kernel stamp arrivals, and marks what is sent as expedited forwarding (DSCP 46).
void portero_media_socket(int descriptor, int is_ipv6);
