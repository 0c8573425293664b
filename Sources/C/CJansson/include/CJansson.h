#pragma once
#include <jansson.h>
#include <stdlib.h>

/* jansson's reference counting is static inline functions and macros; these have names that Swift sees. */

static inline void portero_json_release(json_t *value) { json_decref(value); }

/* Compact text in the order of insertion, numbers with 12 significant digits; free it with free(3). */
static inline char *portero_json_text(const json_t *value) {
    return json_dumps(value, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
}

/* NULL if the text is no JSON, has a name twice, or nests deeper than the library allows. */
static inline json_t *portero_json_read(const char *text, size_t length, json_error_t *error) {
    return json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, error);
}

static inline int portero_json_is_true(const json_t *value) { return json_is_true(value); }
static inline json_type portero_json_type(const json_t *value) { return json_typeof(value); }
static inline const char *portero_json_error_text(const json_error_t *error) { return error->text; }
