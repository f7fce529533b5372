// SPDX-License-Identifier: GPL-2.0
/* Sockets that are closed before the timestamps of their zerocopy packets were read. */
#include <err.h>
#include <stdlib.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <linux/net_tstamp.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(53) };
	int stamps = SOF_TIMESTAMPING_TX_SOFTWARE, one = 1;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	while (n--) {
		int fd = socket(AF_INET, SOCK_DGRAM, 0);

		if (fd < 0 ||
		    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof(stamps)) ||
		    setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)))
			err(1, "socket");
		if (sendto(fd, "", 0, MSG_ZEROCOPY, (void *)&to, sizeof(to)) < 0)
			err(1, "sendto");
		close(fd);
		usleep(1000);
	}
	return 0;
}
