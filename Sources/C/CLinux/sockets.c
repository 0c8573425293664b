#include "CLinux.h"
#include <linux/errqueue.h>
#include <net/if.h>
#include <string.h>

static socklen_t to_native(const struct portero_address *address, struct sockaddr_storage *native) {
    memset(native, 0, sizeof *native);
    if (address->family == 4) {
        struct sockaddr_in *in = (struct sockaddr_in *)native;
        in->sin_family = AF_INET;
        in->sin_port = htons(address->port);
        memcpy(&in->sin_addr, address->octets, 4);
        return sizeof *in;
    }
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)native;
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(address->port);
    in6->sin6_scope_id = address->zone;
    memcpy(&in6->sin6_addr, address->octets, 16);
    return sizeof *in6;
}

static void from_native(const struct sockaddr_storage *native, struct portero_address *address) {
    memset(address, 0, sizeof *address);
    if (native->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)native;
        address->family = 4;
        address->port = ntohs(in->sin_port);
        memcpy(address->octets, &in->sin_addr, 4);
    } else if (native->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)native;
        address->family = 6;
        address->port = ntohs(in6->sin6_port);
        if (IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr)) address->zone = in6->sin6_scope_id;
        memcpy(address->octets, &in6->sin6_addr, 16);
    }
}

int portero_socket(int family, int type) {
    int descriptor = socket(family == 4 ? AF_INET : AF_INET6, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor >= 0 && family == 6) portero_set_option(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    return descriptor;
}

int portero_bind(int descriptor, const struct portero_address *address) {
    struct sockaddr_storage native;
    socklen_t length = to_native(address, &native);
    return bind(descriptor, (struct sockaddr *)&native, length);
}

int portero_connect(int descriptor, const struct portero_address *address) {
    struct sockaddr_storage native;
    socklen_t length = to_native(address, &native);
    return connect(descriptor, (struct sockaddr *)&native, length);
}

int portero_accept(int descriptor, struct portero_address *peer) {
    struct sockaddr_storage native;
    socklen_t length = sizeof native;
    memset(&native, 0, sizeof native);
    int accepted = accept4(descriptor, (struct sockaddr *)&native, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted >= 0) from_native(&native, peer);
    return accepted;
}

int portero_local_address(int descriptor, struct portero_address *address) {
    struct sockaddr_storage native;
    socklen_t length = sizeof native;
    memset(&native, 0, sizeof native);
    int result = getsockname(descriptor, (struct sockaddr *)&native, &length);
    if (result == 0) from_native(&native, address);
    return result;
}

int portero_set_option(int descriptor, int level, int name, int value) {
    return setsockopt(descriptor, level, name, &value, sizeof value);
}

int portero_path_mtu(int descriptor, int family) {
    int size = -1;
    socklen_t length = sizeof size;
    int result = family == 4 ? getsockopt(descriptor, IPPROTO_IP, IP_MTU, &size, &length)
                             : getsockopt(descriptor, IPPROTO_IPV6, IPV6_MTU, &size, &length);
    return result == 0 ? size : -1;
}

int portero_bind_to_interface(int descriptor, const char *name) {
    return setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, name, strlen(name) + 1);
}

int portero_take_error(int descriptor) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

int portero_prepare_datagrams(int descriptor, int family, int dscp) {
    if (family == 4) {
        portero_set_option(descriptor, IPPROTO_IP, IP_TOS, dscp << 2);
        portero_set_option(descriptor, IPPROTO_IP, IP_RECVERR, 1);
        return portero_set_option(descriptor, IPPROTO_IP, IP_PKTINFO, 1);
    }
    portero_set_option(descriptor, IPPROTO_IPV6, IPV6_TCLASS, dscp << 2);
    portero_set_option(descriptor, IPPROTO_IPV6, IPV6_RECVERR, 1);
    return portero_set_option(descriptor, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
}

ssize_t portero_receive(
    int descriptor, void *buffer, size_t capacity, struct portero_address *from, struct portero_address *to) {
    struct sockaddr_storage source;
    union { struct cmsghdr header; char octets[256]; } control;
    struct iovec vector = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {
        .msg_name = &source, .msg_namelen = sizeof source, .msg_iov = &vector, .msg_iovlen = 1,
        .msg_control = &control, .msg_controllen = sizeof control};
    memset(&source, 0, sizeof source);
    memset(to, 0, sizeof *to);
    ssize_t count = recvmsg(descriptor, &message, 0);
    if (count < 0) return count;
    from_native(&source, from);
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(part), sizeof info);
            to->family = 4;
            memcpy(to->octets, &info.ipi_spec_dst, 4);
        } else if (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(part), sizeof info);
            to->family = 6;
            if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr)) to->zone = info.ipi6_ifindex;
            memcpy(to->octets, &info.ipi6_addr, 16);
        }
    }
    return count;
}

ssize_t portero_send(
    int descriptor, const void *buffer, size_t count, const struct portero_address *to,
    const struct portero_address *from) {
    struct sockaddr_storage destination;
    socklen_t length = to_native(to, &destination);
    union { struct cmsghdr header; char octets[CMSG_SPACE(sizeof(struct in6_pktinfo))]; } control;
    struct iovec vector = {.iov_base = (void *)buffer, .iov_len = count};
    struct msghdr message = {
        .msg_name = &destination, .msg_namelen = length, .msg_iov = &vector, .msg_iovlen = 1};
    memset(&control, 0, sizeof control);
    if (from && from->family == to->family) {
        message.msg_control = &control;
        struct cmsghdr *part = &control.header;
        if (from->family == 4) {
            struct in_pktinfo info = {0};
            memcpy(&info.ipi_spec_dst, from->octets, 4);
            part->cmsg_level = IPPROTO_IP;
            part->cmsg_type = IP_PKTINFO;
            part->cmsg_len = CMSG_LEN(sizeof info);
            message.msg_controllen = CMSG_SPACE(sizeof info);
            memcpy(CMSG_DATA(part), &info, sizeof info);
        } else {
            struct in6_pktinfo info = {0};
            memcpy(&info.ipi6_addr, from->octets, 16);
            info.ipi6_ifindex = from->zone;
            part->cmsg_level = IPPROTO_IPV6;
            part->cmsg_type = IPV6_PKTINFO;
            part->cmsg_len = CMSG_LEN(sizeof info);
            message.msg_controllen = CMSG_SPACE(sizeof info);
            memcpy(CMSG_DATA(part), &info, sizeof info);
        }
    }
    return sendmsg(descriptor, &message, MSG_NOSIGNAL);
}

int portero_receive_error(int descriptor, struct portero_address *remote) {
    struct sockaddr_storage destination;
    union { struct cmsghdr header; char octets[512]; } control;
    char octet;
    struct iovec vector = {.iov_base = &octet, .iov_len = 1};
    struct msghdr message = {
        .msg_name = &destination, .msg_namelen = sizeof destination, .msg_iov = &vector, .msg_iovlen = 1,
        .msg_control = &control, .msg_controllen = sizeof control};
    memset(&destination, 0, sizeof destination);
    if (recvmsg(descriptor, &message, MSG_ERRQUEUE) < 0) return 0;
    from_native(&destination, remote);
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if ((part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_RECVERR)
            || (part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_RECVERR)) {
            struct sock_extended_err error;
            memcpy(&error, CMSG_DATA(part), sizeof error);
            return (int)error.ee_errno;
        }
    }
    return EIO;
}
