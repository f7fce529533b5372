// SPDX-License-Identifier: GPL-2.0
/* Notification pipes that are opened, given their size, and closed. */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <linux/watch_queue.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;

	while (n--) {
		int fds[2];

		if (pipe2(fds, O_NOTIFICATION_PIPE))
			err(1, "pipe2");
		if (ioctl(fds[0], IOC_WATCH_QUEUE_SET_SIZE, 512))
			err(1, "IOC_WATCH_QUEUE_SET_SIZE");
		close(fds[0]);
		close(fds[1]);
		usleep(1000);
	}
	return 0;
}
