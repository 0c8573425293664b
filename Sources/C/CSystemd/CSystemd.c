#include "CSystemd.h"

int portero_journal_send(const struct iovec *fields, int count) { return sd_journal_sendv(fields, count); }
