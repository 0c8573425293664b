#pragma once
// The kernel's and the C library's headers that the Glibc module leaves out, and wrappers for what Swift cannot
// import. `_GNU_SOURCE` is defined for the C files alone: GNU functions are wrapped there.
#include <sys/types.h>
#include <sys/socket.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
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

/// Gives a thread a name of at most 15 octets.
void portero_name_thread(pthread_t thread, const char *name);
