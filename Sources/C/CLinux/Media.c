#include "CLinux.h"
#include <sched.h>
#include <sys/mman.h>
#include <stdlib.h>
#include <string.h>

int portero_real_time(int priority)
{
    struct sched_param parameters = {.sched_priority = priority};
    /* Pages stay once they were touched; none is fetched for this. Without the right to it, or the kernel's support, they may go. */
    mlockall(MCL_CURRENT | MCL_ONFAULT);
    return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) < 0 ? errno : 0;
}

int portero_wait(struct pollfd *polls, int count, int64_t nanoseconds)
{
    struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    int ready = ppoll(polls, (nfds_t) count, nanoseconds < 0 ? NULL : &limit, NULL);
    return ready < 0 ? 0 : ready;
}

struct portero_batch {
    struct mmsghdr headers[PORTERO_BATCH];
    struct iovec parts[PORTERO_BATCH];
    struct sockaddr_storage sources[PORTERO_BATCH];
    union {
        char room[CMSG_SPACE(sizeof(struct timespec))];
        struct cmsghdr aligned;
    } controls[PORTERO_BATCH];
    struct portero_datagram datagrams[PORTERO_BATCH];
};

struct portero_batch *portero_batch_new(void)
{
    struct portero_batch *batch = calloc(1, sizeof *batch);
    if (!batch) return NULL;
    for (int i = 0; i < PORTERO_BATCH; i++) {
        batch->parts[i] = (struct iovec) {batch->datagrams[i].octets, PORTERO_DATAGRAM};
        batch->headers[i].msg_hdr.msg_iov = &batch->parts[i];
        batch->headers[i].msg_hdr.msg_iovlen = 1;
        batch->headers[i].msg_hdr.msg_name = &batch->sources[i];
        batch->headers[i].msg_hdr.msg_control = &batch->controls[i];
    }
    return batch;
}

void portero_batch_free(struct portero_batch *batch) { free(batch); }

static uint64_t big_endian(const uint8_t *octets, int count)
{
    uint64_t value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | octets[i];
    return value;
}

static void read_source(const struct sockaddr_storage *source, struct portero_datagram *datagram)
{
    datagram->version = 0;
    datagram->zone = 0;
    if (source->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *) source;
        datagram->version = 4;
        datagram->high = 0;
        datagram->low = ntohl(v4->sin_addr.s_addr);
        datagram->port = ntohs(v4->sin_port);
    } else if (source->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *) source;
        datagram->version = 6;
        datagram->high = big_endian(v6->sin6_addr.s6_addr, 8);
        datagram->low = big_endian(v6->sin6_addr.s6_addr + 8, 8);
        datagram->zone = v6->sin6_scope_id;
        datagram->port = ntohs(v6->sin6_port);
    }
}

int portero_batch_receive(struct portero_batch *batch, int descriptor)
{
    for (int i = 0; i < PORTERO_BATCH; i++) {
        batch->headers[i].msg_hdr.msg_namelen = sizeof batch->sources[i];
        batch->headers[i].msg_hdr.msg_controllen = sizeof batch->controls[i];
    }
    int count = recvmmsg(descriptor, batch->headers, PORTERO_BATCH, MSG_DONTWAIT, NULL);
    for (int i = 0; i < count; i++) {
        struct msghdr *header = &batch->headers[i].msg_hdr;
        struct portero_datagram *datagram = &batch->datagrams[i];
        datagram->length = header->msg_flags & MSG_TRUNC ? 0 : (int) batch->headers[i].msg_len;
        datagram->arrival = 0;
        read_source(&batch->sources[i], datagram);
        for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
            if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
                struct timespec stamp;
                memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
                datagram->arrival = stamp.tv_sec * 1000000000LL + stamp.tv_nsec;
            }
        }
    }
    return count < 0 ? 0 : count;
}

const struct portero_datagram *portero_batch_datagram(const struct portero_batch *batch, int index)
{
    return &batch->datagrams[index];
}

void portero_media_socket(int descriptor, int is_ipv6)
{
    int on = 1, expedited = 46 << 2;
    setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    if (is_ipv6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_TCLASS, &expedited, sizeof expedited);
    else setsockopt(descriptor, IPPROTO_IP, IP_TOS, &expedited, sizeof expedited);
}
