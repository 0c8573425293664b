#include "CLinux.h"
#include <stdio.h>
#include <string.h>

int64_t portero_build_time(void) {
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const char date[] = __DATE__;  // "Jan  2 2026", SOURCE_DATE_EPOCH's where that is set
    char month[4] = {0};
    int day = 1, year = 2026;
    if (sscanf(date, "%3s %d %d", month, &day, &year) != 3) return 0;
    const char *found = strstr(months, month);
    struct tm broken = {
        .tm_mday = day, .tm_mon = found ? (int)(found - months) / 3 : 0, .tm_year = year - 1900};
    // A day less: the date is local where it was compiled.
    return (int64_t)timegm(&broken) - 86400;
}

// A timer that is never due, but is cancelled when the clock is set.
static int arm(int descriptor) {
    struct itimerspec never = {.it_value = {.tv_sec = (time_t)1 << 40}};
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

int portero_clock_watch(void) {
    int descriptor = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (descriptor < 0 || arm(descriptor) == 0) return descriptor;
    int number = errno;
    close(descriptor);
    errno = number;
    return -1;
}

int portero_clock_take(int descriptor) {
    uint64_t count;
    if (read(descriptor, &count, sizeof count) >= 0 || errno != ECANCELED) return 0;
    arm(descriptor);
    return 1;
}
