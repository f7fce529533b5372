// SPDX-License-Identifier: GPL-2.0
/*
 * Daemons that mount an automounter's file system, and give it up while somebody
 * waits in it.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <linux/auto_fs.h>

#define WAITERS 8

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;

	mkdir("/auto", 0755);
	while (n > 0) {
		union autofs_v5_packet_union packet;
		char options[128], path[64];
		struct stat st;
		int fds[2], root, i;

		/* Whole packets, not a stream of bytes. */
		if (pipe(fds))
			err(1, "pipe");
		snprintf(options, sizeof(options), "fd=%d,pgrp=%d,minproto=5,maxproto=5,indirect",
			 fds[1], getpgrp());
		if (mount("auto", "/auto", "autofs", 0, options))
			err(1, "mount");
		root = open("/auto", O_RDONLY | O_DIRECTORY);
		for (i = 0; i < WAITERS; i++) {
			if (fork())
				continue;
			/* Not of the daemon's process group, or it would not wait. */
			setpgid(0, 0);
			close(fds[0]);
			close(fds[1]);
			close(root);
			snprintf(path, sizeof(path), "/auto/%d", i);
			_exit(!stat(path, &st));
		}
		for (i = 0; i < WAITERS; i++)
			if (read(fds[0], &packet, sizeof(packet)) <= 0)
				err(1, "read");
		if (ioctl(root, AUTOFS_IOC_CATATONIC, 0))
			err(1, "AUTOFS_IOC_CATATONIC");
		for (i = 0; i < WAITERS; i++)
			wait(NULL);
		close(root);
		close(fds[0]);
		close(fds[1]);
		if (umount("/auto"))
			err(1, "umount");
		n -= WAITERS;
	}
	return 0;
}
