// SPDX-License-Identifier: GPL-2.0
/*
 * leaktrend: JSON of the model.
 */
#include <stdlib.h>

#include "json.h"

struct json_object *json_text(const char *text)
{
	struct json_object *json;
	char *clean;

	if (!text)
		return NULL;
	clean = utf8_clean(text);
	json = json_object_new_string(clean);
	free(clean);
	return json;
}

void json_add(struct json_object *to, const char *key, struct json_object *value)
{
	json_object_object_add(to, key, value);
}

void json_add_u64(struct json_object *to, const char *key, uint64_t value)
{
	json_object_object_add(to, key, json_object_new_uint64(value));
}

void json_add_s64(struct json_object *to, const char *key, int64_t value)
{
	json_object_object_add(to, key, json_object_new_int64(value));
}

void json_add_text(struct json_object *to, const char *key, const char *value)
{
	json_object_object_add(to, key, json_text(value));
}

struct json_object *json_pairs(const struct pairs *pairs)
{
	struct json_object *json = json_object_new_object();
	uint64_t v;
	size_t i;

	for (i = 0; i < pairs->nr; i++) {
		if (pairs_u64(pairs, pairs->pair[i].key, &v))
			json_add_u64(json, pairs->pair[i].key, v);
		else
			json_add_text(json, pairs->pair[i].key, pairs->pair[i].value);
	}
	return json;
}

struct json_object *json_host(const struct host *host)
{
	struct json_object *json = json_object_new_object();

	json_add_text(json, "name", host->name);
	json_add_text(json, "release", host->release);
	json_add_text(json, "version", host->version);
	json_add_text(json, "machine", host->machine);
	json_add_text(json, "boot_id", host->boot_id);
	json_add_u64(json, "cpus", host->cpus);
	json_add_u64(json, "memory", host->memory);
	json_add_u64(json, "page_size", host->page_size);
	return json;
}

static void add_evidence(struct json_object *json, const struct evidence *e)
{
	if (!e)
		return;
	if (e->changed)
		json_add_u64(json, "changed_ms", e->changed_ms);
	json_add(json, "other_caches", json_object_new_boolean(e->mixed));
	json_add_text(json, "held", e->held);
	json_add_text(json, "missing", *e->missing ? e->missing : NULL);
	json_add_u64(json, "generations", e->generations);
	json_add_s64(json, "growth_low_bytes_h", e->growth_low);
	json_add_s64(json, "growth_high_bytes_h", e->growth_high);
	json_add(json, "tau", json_object_new_double(e->tau / 100.0));
	json_add_u64(json, "growth_rounds", e->rounds);
}

struct json_object *json_site(const struct site *site)
{
	struct json_object *json = json_object_new_object(), *list;
	char text[128];
	uint32_t i;

	json_add_u64(json, "site", site->number);
	json_add_text(json, "kind", kind_name(site->kind));
	json_add_text(json, "class", class_name(site->class));
	json_add_text(json, "verdict", verdict_name(site->verdict));
	json_add_u64(json, "stack_id", site->stack_id);
	json_add_text(json, "cache", site->cache);
	site_function(site, text, sizeof(text));
	json_add_text(json, "function", site->stack ? text : NULL);
	json_add_u64(json, "outstanding", site->outstanding);
	json_add_u64(json, "bytes", site->bytes);
	json_add_u64(json, "allocs", site->allocs);
	json_add_u64(json, "frees", site->frees);
	json_add_u64(json, "low", site->low);
	json_add_u64(json, "elders", site->elders);
	json_add_u64(json, "survivors", site->survivors);
	json_add_u64(json, "oldest_ms", site->oldest_ms);
	json_add_s64(json, "growth_bytes_h", site->growth);
	json_add_u64(json, "error_permille", site->error_permille);
	add_evidence(json, site->evidence);
	if (site->trend) {
		list = json_object_new_array();
		for (i = 0; i < site->trend->nr; i++)
			json_object_array_add(list, json_object_new_uint64(site->trend->value[i]));
		json_add(json, "trend", list);
	}
	if (site->stack) {
		list = json_object_new_array();
		for (i = 0; i < site->stack->nr; i++)
			json_object_array_add(list, json_text(site->stack->line[i]));
		json_add(json, "stack", list);
	}
	return json;
}

struct json_object *json_head(const struct snapshot *snap, const struct host *host)
{
	struct json_object *json = json_object_new_object();

	json_add_text(json, "format", "leaktrend-1");
	json_add_u64(json, "time_ms", snap->time_ms);
	json_add_u64(json, "rounds", snap->rounds);
	json_add(json, "incomplete", json_object_new_boolean(snap->torn));
	json_add(json, "host", json_host(host));
	json_add(json, "status", json_pairs(&snap->status));
	json_add(json, "tunables", json_pairs(&snap->tunables));
	json_add(json, "vm", json_pairs(&snap->vm));
	return json;
}

void json_print(struct json_object *json, FILE *f)
{
	fputs(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY |
					     JSON_C_TO_STRING_NOSLASHESCAPE), f);
	fputc('\n', f);
	json_object_put(json);
}
