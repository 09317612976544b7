/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters count what was sent: a known number of UDP datagrams of known size, of three flows, one
 * of them not counted. Runs the inside half of count, standing where lab_call() would put it.
 */
#include "tests/kernel/sandbox.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "emulator/kernel/addr.h"
#include "emulator/kernel/link.h"
#include "emulator/kernel/neigh.h"
#include "emulator/kernel/route.h"
#include "emulator/lab/count_inside.h"

#define PAYLOAD	  1000
#define DATAGRAMS 50
#define OTHERS	  8 /* that the kernel may send besides */

static struct netns sender, receiver;

static void make_side(const struct netns *ns, int ifindex, const char *own, const char *other,
		      const char *other_mac)
{
	struct err err = ERR_INIT;
	struct nl_batch batch = {0};
	struct prefix p;
	struct mac mac;
	struct ip ip;
	struct route_spec r = {.dev = "eth0", .ifindex = ifindex};

	sandbox_ok(&err, prefix_parse(own, &p, &err));
	sandbox_ok(&err, ip_parse(other, &ip, &err));
	sandbox_ok(&err, mac_parse(other_mac, &mac, &err));
	addr_add(&batch, "eth0", ifindex, &p);
	link_up(&batch, "eth0", ifindex);
	r.dst = prefix_network(&p);
	route_add(&batch, &r);
	neigh_add(&batch, "eth0", ifindex, &ip, &mac);
	sandbox_ok(&err, nl_send(ns->rt, &batch, &err));
	nl_batch_done(&batch);
}

static int setup(void **state)
{
	struct err err = ERR_INIT;
	struct nl_batch batch = {0};
	struct link_spec a = {
	    .name = "eth0", .ifindex = 100, .mtu = 1500, .mac = {{2, 0, 0, 0, 0, 1}}};
	struct link_spec b = {
	    .name = "eth0", .ifindex = 200, .mtu = 1500, .mac = {{2, 0, 0, 0, 0, 2}}};

	(void)state;
	sender = sandbox_netns("sender");
	receiver = sandbox_netns("receiver");
	link_veth(&batch, &a, &b, receiver.fd);
	sandbox_ok(&err, nl_send(sender.rt, &batch, &err));
	nl_batch_done(&batch);
	make_side(&sender, 100, "10.0.0.1/24", "10.0.0.2", "02:00:00:00:00:02");
	make_side(&receiver, 200, "10.0.0.2/24", "10.0.0.1", "02:00:00:00:00:01");
	return 0;
}

static void send_udp(uint16_t src_port, uint16_t dst_port)
{
	struct err err = ERR_INIT;
	struct netns self;
	char payload[PAYLOAD] = {0};
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_port = htons(src_port)};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(dst_port)};

	sandbox_ok(&err, netns_self(&self, &err));
	sandbox_ok(&err, netns_enter(&sender, &err));
	inet_pton(AF_INET, "10.0.0.2", &to.sin_addr);
	autofd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	for (int i = 0; i < DATAGRAMS; i++) {
		/* The other side answers the first ones with "port unreachable". */
		ssize_t n;
		do
			n = sendto(fd, payload, sizeof(payload), 0, (struct sockaddr *)&to,
				   sizeof(to));
		while (n < 0 && errno == ECONNREFUSED);
		assert_int_equal(n, PAYLOAD);
	}
	sandbox_ok(&err, netns_enter(&self, &err));
	netns_close(&self);
}

/* Runs one half inside the receiver and gives what it wrote. */
static json_t *inside(int (*fn)(void *, int, struct err *), struct count_request *r)
{
	struct err err = ERR_INIT;
	struct netns self;
	json_error_t error;
	autofd int fd = memfd_create("count", MFD_CLOEXEC);

	sandbox_ok(&err, netns_self(&self, &err));
	sandbox_ok(&err, netns_enter(&receiver, &err));
	sandbox_ok(&err, fn(r, fd, &err));
	sandbox_ok(&err, netns_enter(&self, &err));
	netns_close(&self);
	if (lseek(fd, 0, SEEK_CUR) == 0)
		return NULL;
	lseek(fd, 0, SEEK_SET);
	json_t *j = json_loadfd(fd, 0, &error);
	if (!j)
		fail_msg("%s", error.text);
	return j;
}

static json_int_t number(json_t *j, const char *a, const char *b)
{
	json_t *v = json_object_get(j, a);

	v = b ? json_object_get(v, b) : v;
	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

static json_int_t flow(json_t *j, size_t i, const char *what)
{
	json_t *v = json_object_get(json_array_get(json_object_get(j, "flows"), i), what);

	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

static struct ip ip_of(const char *text)
{
	struct err err = ERR_INIT;
	struct ip ip;

	sandbox_ok(&err, ip_parse(text, &ip, &err));
	return ip;
}

static void flows(void **state)
{
	const struct count_flow f[] = {
	    {IPPROTO_UDP, ip_of("10.0.0.1"), ip_of("10.0.0.2"), 1001, 2001, 0, 0},
	    {IPPROTO_UDP, ip_of("10.0.0.1"), ip_of("10.0.0.2"), 0, 2002, 0, 0},
	    {IPPROTO_TCP, ip_of("10.0.0.1"), ip_of("10.0.0.2"), 1001, 2001, 0, 0},
	    {IPPROTO_UDP, ip_of("2001:db8::1"), ip_of("2001:db8::2"), 1, 2, 0, 0},
	};
	struct count_request r = {.dev = "eth0", .flows = f, .n_flows = ARRAY_SIZE(f)};

	(void)state;
	/* Twice: the second replaces the first. */
	assert_null(inside(count_inside_install, &r));
	assert_null(inside(count_inside_install, &r));
	json_t *before = inside(count_inside_read, &r);
	send_udp(1001, 2001);
	send_udp(1002, 2002);
	send_udp(1003, 2003);
	json_t *after = inside(count_inside_read, &r);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(flow(before, i, "packets"), 0);
		assert_int_equal(flow(after, i, "packets"), DATAGRAMS);
		/* From the IP header on. */
		assert_int_equal(flow(after, i, "bytes"), DATAGRAMS * (PAYLOAD + 28));
	}
	assert_int_equal(flow(after, 2, "packets"), 0);
	assert_int_equal(flow(after, 3, "packets"), 0);
	/* The device counts all three, with the Ethernet header. */
	assert_int_equal(number(after, "device", "rx_packets") -
			     number(before, "device", "rx_packets"),
			 3 * DATAGRAMS);
	assert_int_equal(number(after, "device", "rx_bytes") - number(before, "device", "rx_bytes"),
			 3 * DATAGRAMS * (PAYLOAD + 42));
	assert_true(number(after, "at_ns", NULL) > number(before, "at_ns", NULL));
	json_decref(before);
	json_decref(after);
	assert_null(inside(count_inside_remove, &r));
	autofree char *rules = SANDBOX_RUN(&receiver, "nft", "list", "chains");
	assert_null(strstr(rules, "chain eth0"));
}

static json_t *device(json_t *snapshot, const char *node)
{
	json_t *n = json_object_get(json_object_get(snapshot, "nodes"), node);

	return json_object_get(json_object_get(n, "devices"), "eth0");
}

static void snapshot(void **state)
{
	struct count_request r = {0};
	autofree char *tc = NULL;

	(void)state;
	tc = SANDBOX_RUN(&sender, "tc", "qdisc", "add", "dev", "eth0", "root", "handle",
			 "1:", "tbf", "rate", "1gbit", "burst", "100000", "limit", "100000");
	json_t *before = inside(count_inside_snapshot, &r);
	send_udp(1001, 2001);
	json_t *after = inside(count_inside_snapshot, &r);
	assert_int_equal(json_object_size(json_object_get(after, "nodes")), 2);
	json_t *tx = device(after, "sender"), *rx = device(after, "receiver");
	json_t *qdisc = json_array_get(json_object_get(tx, "qdiscs"), 0);
	assert_string_equal(json_string_value(json_object_get(qdisc, "kind")), "tbf");
	/* Neighbour and listener discovery of IPv6 may come in between. */
	assert_in_range(number(qdisc, "sent_packets", NULL), DATAGRAMS, DATAGRAMS + OTHERS);
	assert_in_range(number(qdisc, "sent_bytes", NULL), DATAGRAMS * (PAYLOAD + 42),
			DATAGRAMS * (PAYLOAD + 42) + OTHERS * 200);
	assert_in_range(number(tx, "tx_packets", NULL) -
			    number(device(before, "sender"), "tx_packets", NULL),
			DATAGRAMS, DATAGRAMS + OTHERS);
	assert_in_range(number(rx, "rx_packets", NULL) -
			    number(device(before, "receiver"), "rx_packets", NULL),
			DATAGRAMS, DATAGRAMS + OTHERS);
	assert_true(number(after, "softnet", "dropped") >= 0);
	json_t *node = json_object_get(json_object_get(after, "nodes"), "receiver");
	assert_int_equal(number(node, "tcp", "retrans_segs"), 0);
	assert_true(number(node, "udp", "in_errors") >= 0);
	assert_true(number(node, "udp", "rcvbuf_errors") >= 0);
	json_decref(before);
	json_decref(after);
}

/* Datagrams that a socket has no room for. */
static void socket_errors(void **state)
{
	const char *const nodes[] = {"receiver"};
	struct count_request r = {.nodes = nodes, .n_nodes = 1};
	struct err err = ERR_INIT;
	struct netns self;
	int small = 1;
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(2009)};

	(void)state;
	sandbox_ok(&err, netns_self(&self, &err));
	sandbox_ok(&err, netns_enter(&receiver, &err));
	autofd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	sandbox_ok(&err, netns_enter(&self, &err));
	netns_close(&self);
	send_udp(1009, 2009);
	json_t *j = inside(count_inside_snapshot, &r);
	json_t *node = json_object_get(json_object_get(j, "nodes"), "receiver");
	assert_int_equal(json_object_size(json_object_get(j, "nodes")), 1);
	assert_true(number(node, "udp", "rcvbuf_errors") > DATAGRAMS / 2);
	assert_true(number(node, "udp", "in_errors") >= number(node, "udp", "rcvbuf_errors"));
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(flows),
	    cmocka_unit_test(snapshot),
	    cmocka_unit_test(socket_errors),
	};

	sandbox_enter();
	return cmocka_run_group_tests(tests, setup, NULL);
}
