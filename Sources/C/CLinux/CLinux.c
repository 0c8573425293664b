#include "CLinux.h"
#include <string.h>

const char *portero_error_text(int number) {
    const char *text = strerrordesc_np(number);
    return text ? text : "unknown error";
}

void portero_block_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

void portero_name_thread(pthread_t thread, const char *name) { pthread_setname_np(thread, name); }
