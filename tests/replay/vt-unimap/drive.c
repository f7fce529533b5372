// SPDX-License-Identifier: GPL-2.0
/* A virtual console that is opened, given a Unicode map, closed and given up. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <linux/kd.h>
#include <linux/vt.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	struct unipair pair = { .unicode = 0x2603, .fontpos = 1 };
	struct unimapdesc map = { .entry_ct = 1, .entries = &pair };
	int tries, first = open("/dev/tty1", O_RDWR | O_NOCTTY);

	if (first < 0)
		err(1, "/dev/tty1");
	while (n--) {
		int fd = open("/dev/tty5", O_RDWR | O_NOCTTY);

		if (fd < 0)
			err(1, "/dev/tty5");
		if (ioctl(fd, PIO_UNIMAP, &map))
			err(1, "PIO_UNIMAP");
		close(fd);
		/* A worker of the kernel is the last that lets go of it. */
		for (tries = 0; ioctl(first, VT_DISALLOCATE, 5); tries++) {
			if (errno != EBUSY || tries > 1000)
				err(1, "VT_DISALLOCATE");
			usleep(1000);
		}
	}
	return 0;
}
