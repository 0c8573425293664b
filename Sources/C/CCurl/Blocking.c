#include "CCurlBlocking.h"
#include "Loading.h"
#include <stdio.h>
#include <string.h>

struct exchange {
    portero_http_octets take;
    void *context;
    int ended;
};

static size_t take_octets(char *octets, size_t size, size_t count, void *context) {
    struct exchange *exchange = context;
    if (exchange->take(octets, size * count, exchange->context)) return size * count;
    exchange->ended = 1;
    return 0;
}

int portero_http_exchange(
    const char *socket, const char *method, const char *path, const char *body, long seconds,
    portero_http_octets take, void *context, long *status, char *error) {
    char url[2048];
    struct exchange exchange = {take, context, 0};
    *status = 0;
    error[0] = 0;
    if (snprintf(url, sizeof url, "http://portero%s", path) >= (int)sizeof url) {
        strcpy(error, "the names are too long");
        return PORTERO_HTTP_FAILED;
    }
    CURL *curl = portero_curl_load() ? curl_easy_init() : NULL;
    if (!curl) {
        strcpy(error, "libcurl is not there");
        return PORTERO_HTTP_FAILED;
    }
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Expect:");
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, socket);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L); // A door may be named "..".
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    if (body) curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    else if (strcmp(method, "POST") == 0) curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "");
    if (seconds > 0) curl_easy_setopt(curl, CURLOPT_TIMEOUT, seconds);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_octets);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &exchange);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    if (code == CURLE_OK) return PORTERO_HTTP_DONE;
    if (exchange.ended) return PORTERO_HTTP_ENDED;
    snprintf(error, 256, "%s", curl_easy_strerror(code));
    return code == CURLE_COULDNT_CONNECT ? PORTERO_HTTP_NOT_RUNNING : PORTERO_HTTP_FAILED;
}
