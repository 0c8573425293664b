#pragma once
#include <stdint.h>

/// What the kernel lists, in one neutral form. Fields that do not belong to the kind are zero.
struct portero_netlink_entry {
    enum { PORTERO_NETLINK_LINK, PORTERO_NETLINK_ADDRESS, PORTERO_NETLINK_ROUTE } kind;
    uint32_t index;      ///< Interface.
    char name[16];       ///< Of a link.
    int is_running;      ///< A link that is up and has a carrier.
    int is_loopback;
    int is_usable;       ///< An address that can be a source (not tentative, not failed, not deprecated).
    uint16_t family;     ///< 4 or 6; of a route without a destination the family of the table.
    uint8_t prefix;      ///< Length in bits.
    uint8_t octets[16];  ///< Address, or destination of a route.
    uint8_t gateway[16];
    uint8_t source[16];  ///< Preferred source of a route.
    uint32_t metric;
};

/// A non-blocking descriptor that is readable when a link, an address or a route changes; -1 and errno on failure.
int portero_netlink_open(void);

/// Reads all that has come. 1: something changed (or was lost), 0: nothing did, -1 and errno: the descriptor is of no
/// use any more.
int portero_netlink_drain(int descriptor);

/// Lists links, addresses and the routes of the main table. 0, or -1 and errno.
int portero_netlink_list(void (*entry)(void *context, const struct portero_netlink_entry *entry), void *context);
