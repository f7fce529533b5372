// SPDX-License-Identifier: GPL-2.0
/*
 * A recorded file as a whole. Built with FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION,
 * which leaves checksums out: no fuzzer would guess them, and what is behind them
 * has to be as safe.
 */
#include "fuzz.h"
#include "log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct snapshot *snap;
	struct log_damage damage;
	struct log_reader *log;
	uint32_t epoch = 0;
	struct err err;
	bool any = false;

	log = log_open_memory("F", data, size, &err);
	if (!log)
		return 0;
	while (log_next(log, &snap, &err) > 0) {
		fuzz_snapshot(snap);
		fuzz_must(!any || snap->epoch - epoch <= 1);
		epoch = snap->epoch;
		any = true;
	}
	log_damage(log, &damage);
	log_damage_text(log, &err);
	fuzz_must(damage.torn_bytes + damage.bad_bytes <= size);
	log_close(log);
	return 0;
}
