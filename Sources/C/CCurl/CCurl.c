#include "CCurl.h"
#include "Loading.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { connect_limit_milliseconds = 10000, redirect_limit = 5, etag_size = 256 };

struct portero_http {
    CURLM *multi;
    struct portero_http_callbacks callbacks;
    struct transfer *first;
    int is_ending;
};

struct transfer {
    struct transfer *next;
    CURL *easy;
    struct curl_slist *headers;
    uint64_t number;
    unsigned char *body;
    size_t count, limit;
    int is_too_large;
    char etag[etag_size];
    char error[CURL_ERROR_SIZE];
};

static int on_socket(CURL *easy, curl_socket_t descriptor, int what, void *context, void *unused) {
    (void)easy, (void)unused;
    struct portero_http *http = context;
    if (!http->is_ending)
        http->callbacks.watch(http->callbacks.context, descriptor, (what & CURL_POLL_IN) && what != CURL_POLL_REMOVE,
            (what & CURL_POLL_OUT) && what != CURL_POLL_REMOVE);
    return 0;
}

static int on_timer(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    struct portero_http *http = context;
    if (!http->is_ending) http->callbacks.timer(http->callbacks.context, milliseconds);
    return 0;
}

static size_t on_body(char *octets, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    size *= count;
    if (size > transfer->limit - transfer->count) {
        transfer->is_too_large = 1;
        return 0;
    }
    unsigned char *grown = realloc(transfer->body, transfer->count + size + 1);
    if (!grown) return 0;
    memcpy(grown + transfer->count, octets, size);
    transfer->body = grown;
    transfer->count += size;
    return size;
}

static size_t on_header(char *octets, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    size *= count;
    if (size >= 5 && strncasecmp(octets, "HTTP/", 5) == 0) { // A redirect's response came before.
        transfer->etag[0] = 0;
        transfer->count = 0;
    } else if (size > 5 && strncasecmp(octets, "ETag:", 5) == 0) {
        size_t start = 5, end = size;
        while (start < end && (octets[start] == ' ' || octets[start] == '\t')) start++;
        while (end > start && (unsigned char)octets[end - 1] <= ' ') end--;
        if (end - start < etag_size) {
            memcpy(transfer->etag, octets + start, end - start);
            transfer->etag[end - start] = 0;
        }
    }
    return size;
}

static void free_transfer(struct portero_http *http, struct transfer *transfer) {
    for (struct transfer **place = &http->first; *place; place = &(*place)->next) {
        if (*place != transfer) continue;
        *place = transfer->next;
        break;
    }
    curl_multi_remove_handle(http->multi, transfer->easy);
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    free(transfer->body);
    free(transfer);
}

portero_http *portero_http_create(const struct portero_http_callbacks *callbacks) {
    static int initialised;
    if (!portero_curl_load()) return NULL;
    if (!initialised && curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return NULL;
    initialised = 1;
    struct portero_http *http = calloc(1, sizeof *http);
    if (!http) return NULL;
    http->callbacks = *callbacks;
    http->multi = curl_multi_init();
    if (!http->multi) {
        free(http);
        return NULL;
    }
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    // A look-up an hour needs no connection kept open.
    curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, 1L);
    return http;
}

void portero_http_destroy(portero_http *http) {
    if (!http) return;
    http->is_ending = 1;
    while (http->first) free_transfer(http, http->first);
    curl_multi_cleanup(http->multi);
    free(http);
}

const char *portero_http_get(portero_http *http, uint64_t number, const struct portero_http_request *request) {
    struct transfer *transfer = calloc(1, sizeof *transfer);
    CURL *easy = transfer ? curl_easy_init() : NULL;
    if (!easy) {
        free(transfer);
        return "out of memory";
    }
    transfer->easy = easy;
    transfer->number = number;
    transfer->limit = request->limit;
    if (request->etag) {
        char header[etag_size + 32] = "If-None-Match: ";
        strncat(header, request->etag, etag_size);
        transfer->headers = curl_slist_append(NULL, header);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    }
    curl_easy_setopt(easy, CURLOPT_URL, request->url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, request->is_encrypted ? "https" : "http");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "https");
    if (!request->is_encrypted) curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)redirect_limit);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (request->authorities) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, request->authorities);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    curl_easy_setopt(easy, CURLOPT_USERAGENT, request->user_agent);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, request->time_limit);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_limit_milliseconds);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    transfer->next = http->first;
    http->first = transfer;
    CURLMcode result = curl_multi_add_handle(http->multi, easy);
    if (result == CURLM_OK) return NULL;
    free_transfer(http, transfer);
    return curl_multi_strerror(result);
}

static void finish(struct portero_http *http, struct transfer *transfer, CURLcode code) {
    struct portero_http_result result = {0};
    if (transfer->is_too_large || code == CURLE_FILESIZE_EXCEEDED) result.failure = "too large";
    else if (code != CURLE_OK) result.failure = transfer->error[0] ? transfer->error : curl_easy_strerror(code);
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &result.status);
    result.body = transfer->body;
    result.count = transfer->count;
    result.etag = transfer->etag[0] ? transfer->etag : NULL;
    http->callbacks.finished(http->callbacks.context, transfer->number, &result);
    free_transfer(http, transfer);
}

void portero_http_process(portero_http *http, int descriptor, int readable, int writable) {
    int running, left;
    curl_multi_socket_action(http->multi, descriptor < 0 ? CURL_SOCKET_TIMEOUT : descriptor,
        (readable ? CURL_CSELECT_IN : 0) | (writable ? CURL_CSELECT_OUT : 0), &running);
    CURLMsg *message;
    while ((message = curl_multi_info_read(http->multi, &left))) {
        struct transfer *transfer = NULL;
        if (message->msg != CURLMSG_DONE) continue;
        CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        if (transfer) finish(http, transfer, code);
    }
}

const char *portero_http_version(void) {
    return portero_curl_load() ? curl_version_info(CURLVERSION_NOW)->version : "is not there";
}
