// SPDX-License-Identifier: GPL-2.0
/* IPv6 sockets that joined an anycast group, are turned to IPv4, and closed. */
#include <err.h>
#include <stdlib.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#ifndef IPV6_JOIN_ANYCAST
#define IPV6_JOIN_ANYCAST 27
#endif

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_port = htons(53) };
	struct ipv6_mreq mreq = { .ipv6mr_interface = if_nametoindex("lo") };
	int family = AF_INET;

	inet_pton(AF_INET6, "::ffff:127.0.0.1", &to.sin6_addr);
	inet_pton(AF_INET6, "2001:db8::1", &mreq.ipv6mr_multiaddr);
	while (n--) {
		int fd = socket(AF_INET6, SOCK_DGRAM, 0);

		if (fd < 0 || connect(fd, (void *)&to, sizeof(to)))
			err(1, "connect");
		if (setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_ANYCAST, &mreq, sizeof(mreq)))
			err(1, "IPV6_JOIN_ANYCAST");
		if (setsockopt(fd, IPPROTO_IPV6, IPV6_ADDRFORM, &family, sizeof(family)))
			err(1, "IPV6_ADDRFORM");
		close(fd);
		usleep(1000);
	}
	return 0;
}
