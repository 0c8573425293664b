#pragma once
/* libcurl, loaded when it is first needed: with the two dozen libraries that it brings it would be a fifth of the
   memory of an appliance that never asks for a remote file. The calls keep their names. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#define PORTERO_CURL_CALLS(X)                                                                                      \
    X(easy_cleanup) X(easy_getinfo) X(easy_init) X(easy_perform) X(easy_setopt) X(easy_strerror) X(global_init)    \
    X(multi_add_handle) X(multi_cleanup) X(multi_info_read) X(multi_init) X(multi_remove_handle) X(multi_setopt)   \
    X(multi_socket_action) X(multi_strerror) X(slist_append) X(slist_free_all) X(version_info)

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

struct portero_curl {
#define X(name) __typeof__(&curl_##name) name;
    PORTERO_CURL_CALLS(X)
#undef X
};

/* NULL where the library is not there. */
const struct portero_curl *portero_curl_load(void);

/* What portero_curl_load gave; every use stands behind a call of it that succeeded. */
extern struct portero_curl portero_curl;

#ifndef PORTERO_CURL_LOADS
#define curl_easy_cleanup portero_curl.easy_cleanup
#define curl_easy_getinfo portero_curl.easy_getinfo
#define curl_easy_init portero_curl.easy_init
#define curl_easy_perform portero_curl.easy_perform
#define curl_easy_setopt portero_curl.easy_setopt
#define curl_easy_strerror portero_curl.easy_strerror
#define curl_global_init portero_curl.global_init
#define curl_multi_add_handle portero_curl.multi_add_handle
#define curl_multi_cleanup portero_curl.multi_cleanup
#define curl_multi_info_read portero_curl.multi_info_read
#define curl_multi_init portero_curl.multi_init
#define curl_multi_remove_handle portero_curl.multi_remove_handle
#define curl_multi_setopt portero_curl.multi_setopt
#define curl_multi_socket_action portero_curl.multi_socket_action
#define curl_multi_strerror portero_curl.multi_strerror
#define curl_slist_append portero_curl.slist_append
#define curl_slist_free_all portero_curl.slist_free_all
#define curl_version_info portero_curl.version_info
#endif
