#pragma once
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/uio.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
// Only plain functions of sd-journal are used: the text-formatting ones are variadic.
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

/// `sd_journal_sendv`, which is a macro where the caller's place in the source is wanted.
int portero_journal_send(const struct iovec *fields, int count);
