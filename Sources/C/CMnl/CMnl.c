#include "CMnl.h"
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { buffer_size = 32768 };

struct listing {
    void (*entry)(void *, const struct portero_netlink_entry *);
    void *context;
};

int portero_netlink_open(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE};
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        close(descriptor);
        errno = error;
        return -1;
    }
    return descriptor;
}

int portero_netlink_drain(int descriptor) {
    char buffer[buffer_size];
    int changed = 0;
    for (int turn = 0; turn < 64; turn++) {
        ssize_t count = recv(descriptor, buffer, sizeof buffer, 0);
        if (count >= 0 || errno == ENOBUFS) changed = 1;
        else if (errno == EAGAIN) return changed;
        else if (errno != EINTR) return -1;
    }
    return changed;
}

static void copy_address(const struct nlattr *attribute, uint16_t family, uint8_t *octets) {
    unsigned wanted = family == 4 ? 4 : 16;
    if (mnl_attr_get_payload_len(attribute) >= wanted) memcpy(octets, mnl_attr_get_payload(attribute), wanted);
}

static int read_link(const struct nlmsghdr *header, struct portero_netlink_entry *entry) {
    const struct ifinfomsg *info = mnl_nlmsg_get_payload(header);
    const struct nlattr *attribute;
    entry->kind = PORTERO_NETLINK_LINK;
    entry->index = (uint32_t)info->ifi_index;
    entry->is_running = (info->ifi_flags & IFF_UP) && (info->ifi_flags & IFF_RUNNING);
    entry->is_loopback = (info->ifi_flags & IFF_LOOPBACK) != 0;
    mnl_attr_for_each(attribute, header, sizeof *info)
        if (mnl_attr_get_type(attribute) == IFLA_IFNAME)
            strncpy(entry->name, mnl_attr_get_str(attribute), sizeof entry->name - 1);
    return 1;
}

static int read_address(const struct nlmsghdr *header, struct portero_netlink_entry *entry) {
    const struct ifaddrmsg *info = mnl_nlmsg_get_payload(header);
    const struct nlattr *attribute;
    uint32_t flags = info->ifa_flags;
    int has_local = 0;
    if (info->ifa_family != AF_INET && info->ifa_family != AF_INET6) return 0;
    entry->kind = PORTERO_NETLINK_ADDRESS;
    entry->index = info->ifa_index;
    entry->family = info->ifa_family == AF_INET ? 4 : 6;
    entry->prefix = info->ifa_prefixlen;
    mnl_attr_for_each(attribute, header, sizeof *info) {
        switch (mnl_attr_get_type(attribute)) {
        case IFA_LOCAL: // On a point-to-point link IFA_ADDRESS is the peer's.
            has_local = 1;
            copy_address(attribute, entry->family, entry->octets);
            break;
        case IFA_ADDRESS:
            if (!has_local) copy_address(attribute, entry->family, entry->octets);
            break;
        case IFA_FLAGS: flags = mnl_attr_get_u32(attribute); break;
        }
    }
    entry->is_usable = (flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED)) == 0;
    return 1;
}

static int read_route(const struct nlmsghdr *header, struct portero_netlink_entry *entry) {
    const struct rtmsg *info = mnl_nlmsg_get_payload(header);
    const struct nlattr *attribute;
    uint32_t table = info->rtm_table;
    if (info->rtm_family != AF_INET && info->rtm_family != AF_INET6) return 0;
    if (info->rtm_type != RTN_UNICAST || (info->rtm_flags & RTM_F_CLONED)) return 0;
    entry->kind = PORTERO_NETLINK_ROUTE;
    entry->family = info->rtm_family == AF_INET ? 4 : 6;
    entry->prefix = info->rtm_dst_len;
    mnl_attr_for_each(attribute, header, sizeof *info) {
        switch (mnl_attr_get_type(attribute)) {
        case RTA_TABLE: table = mnl_attr_get_u32(attribute); break;
        case RTA_DST: copy_address(attribute, entry->family, entry->octets); break;
        case RTA_GATEWAY: copy_address(attribute, entry->family, entry->gateway); break;
        case RTA_PREFSRC: copy_address(attribute, entry->family, entry->source); break;
        case RTA_OIF: entry->index = mnl_attr_get_u32(attribute); break;
        case RTA_PRIORITY: entry->metric = mnl_attr_get_u32(attribute); break;
        }
    }
    return table == RT_TABLE_MAIN;
}

static int read_message(const struct nlmsghdr *header, void *data) {
    struct listing *listing = data;
    struct portero_netlink_entry entry;
    int wanted = 0;
    memset(&entry, 0, sizeof entry);
    switch (header->nlmsg_type) {
    case RTM_NEWLINK: wanted = read_link(header, &entry); break;
    case RTM_NEWADDR: wanted = read_address(header, &entry); break;
    case RTM_NEWROUTE: wanted = read_route(header, &entry); break;
    }
    if (wanted) listing->entry(listing->context, &entry);
    return MNL_CB_OK;
}

static int list(struct mnl_socket *socket, uint16_t type, struct listing *listing) {
    char buffer[buffer_size];
    struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
    unsigned sequence = (unsigned)type;
    request->nlmsg_type = type;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request->nlmsg_seq = sequence;
    struct rtgenmsg *family = mnl_nlmsg_put_extra_header(request, sizeof *family);
    family->rtgen_family = AF_UNSPEC;
    if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0) return -1;
    for (;;) {
        ssize_t count = mnl_socket_recvfrom(socket, buffer, sizeof buffer);
        if (count < 0) {
            if (errno == EINTR) continue;
            return -1;
        }
        int result = mnl_cb_run(buffer, (size_t)count, sequence, mnl_socket_get_portid(socket), read_message, listing);
        if (result == MNL_CB_STOP) return 0;
        // A change during the listing (EINTR): what came counts, and the change is told of by the other descriptor.
        if (result < 0 && errno != EINTR) return -1;
    }
}

int portero_netlink_list(void (*entry)(void *, const struct portero_netlink_entry *), void *context) {
    struct listing listing = {entry, context};
    struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    if (!socket) return -1;
    int result = mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID);
    if (result == 0) result = list(socket, RTM_GETLINK, &listing);
    if (result == 0) result = list(socket, RTM_GETADDR, &listing);
    if (result == 0) result = list(socket, RTM_GETROUTE, &listing);
    int error = errno;
    mnl_socket_close(socket);
    errno = error;
    return result;
}
