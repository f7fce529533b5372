// SPDX-License-Identifier: GPL-2.0
/*
 * A rule that turns down the default route, as VPN software sets it up, and
 * look-ups that meet it: each time a socket joins an anycast group without
 * naming a device. (The packet filter's "fib" expression made the same look-up
 * for every packet, when this was found.)
 */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <linux/fib_rules.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#ifndef IPV6_JOIN_ANYCAST
#define IPV6_JOIN_ANYCAST 27
#define IPV6_LEAVE_ANYCAST 28
#endif

static void add_u32(struct nlmsghdr *n, int type, unsigned int value)
{
	struct rtattr *a = (void *)((char *)n + NLMSG_ALIGN(n->nlmsg_len));

	a->rta_type = type;
	a->rta_len = RTA_LENGTH(sizeof(value));
	memcpy(RTA_DATA(a), &value, sizeof(value));
	n->nlmsg_len = NLMSG_ALIGN(n->nlmsg_len) + a->rta_len;
}

/* ip -6 rule add pref 100 table main suppress_prefixlength 0 */
static void add_rule(void)
{
	struct {
		struct nlmsghdr n;
		struct fib_rule_hdr rule;
		char attributes[64];
	} req = {
		.n.nlmsg_len = NLMSG_LENGTH(sizeof(struct fib_rule_hdr)),
		.n.nlmsg_type = RTM_NEWRULE,
		.n.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
		.rule.family = AF_INET6,
		.rule.action = FR_ACT_TO_TBL,
		.rule.table = RT_TABLE_MAIN,
	};
	struct {
		struct nlmsghdr n;
		struct nlmsgerr e;
		char rest[256];
	} answer;
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	add_u32(&req.n, FRA_PRIORITY, 100);
	add_u32(&req.n, FRA_SUPPRESS_PREFIXLEN, 0);
	if (send(fd, &req, req.n.nlmsg_len, 0) < 0 || recv(fd, &answer, sizeof(answer), 0) < 0)
		err(1, "netlink");
	if (answer.e.error && answer.e.error != -EEXIST)
		errx(1, "rule: %s", strerror(-answer.e.error));
	close(fd);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	struct ipv6_mreq mreq = { 0 };
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);

	add_rule();
	inet_pton(AF_INET6, "2001:db8::1", &mreq.ipv6mr_multiaddr);
	while (n--) {
		if (setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_ANYCAST, &mreq, sizeof(mreq)))
			err(1, "IPV6_JOIN_ANYCAST");
		if (setsockopt(fd, IPPROTO_IPV6, IPV6_LEAVE_ANYCAST, &mreq, sizeof(mreq)))
			err(1, "IPV6_LEAVE_ANYCAST");
		usleep(1000);
	}
	return 0;
}
