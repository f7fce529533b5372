// SPDX-License-Identifier: GPL-2.0
/* Cgroups that are made, watched by one event with many thresholds, and removed. */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#define THRESHOLDS 30

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	long i;

	for (i = 0; i < n; i++) {
		char dir[64], text[64];
		int event, usage, control, t, len;

		snprintf(dir, sizeof(dir), "/memory/g%ld", i);
		if (mkdir(dir, 0755) || chdir(dir))
			err(1, "%s", dir);
		event = eventfd(0, EFD_NONBLOCK);
		usage = open("memory.usage_in_bytes", O_RDONLY);
		control = open("cgroup.event_control", O_WRONLY);
		for (t = 1; t <= THRESHOLDS; t++) {
			len = snprintf(text, sizeof(text), "%d %d %d", event, usage, t << 20);
			if (write(control, text, len) != len)
				err(1, "cgroup.event_control");
		}
		close(control);
		close(usage);
		close(event);
		if (chdir("/") || rmdir(dir))
			err(1, "rmdir %s", dir);
	}
	return 0;
}
