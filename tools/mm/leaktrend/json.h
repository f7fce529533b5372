/* SPDX-License-Identifier: GPL-2.0 */
/*
 * leaktrend: JSON of the model, by json-c. Objects are the caller's to put.
 */
#ifndef LEAKTREND_JSON_H
#define LEAKTREND_JSON_H

#include <json-c/json.h>

#include "source.h"

/* Broken UTF-8 becomes '?'. NULL becomes null. */
struct json_object *json_text(const char *text);
void json_add(struct json_object *to, const char *key, struct json_object *value);
void json_add_u64(struct json_object *to, const char *key, uint64_t value);
void json_add_s64(struct json_object *to, const char *key, int64_t value);
void json_add_text(struct json_object *to, const char *key, const char *value);

/* Numbers become numbers. */
struct json_object *json_pairs(const struct pairs *pairs);
struct json_object *json_host(const struct host *host);
struct json_object *json_site(const struct site *site);

/*
 * json_head() - What every document begins with: "format" (its version), time,
 * rounds, host, status and tunables.
 */
struct json_object *json_head(const struct snapshot *snap, const struct host *host);

/* Print it, and put it. */
void json_print(struct json_object *json, FILE *f);

#endif
