/* SPDX-License-Identifier: GPL-2.0-or-later */
/* 802.1Q devices: made, read back, and what a shaper below them counts. */
#include "tests/kernel/sandbox.h"

#include "emulator/kernel/dump.h"
#include "emulator/kernel/link.h"

enum { NIC = 100, TAGGED };

struct fixture {
	struct netns ns[2]; /* joined by a pair "nic" */
	bool none;	    /* this kernel has no 802.1Q */
};

static void flush_to(struct fixture *f, int side, struct nl_batch *batch)
{
	struct err err = ERR_INIT;

	sandbox_ok(&err, nl_send(f->ns[side].rt, batch, &err));
}

static int setup(void **state)
{
	static struct fixture f;
	const struct link_spec a = {.name = "nic", .ifindex = NIC, .mac = mac_from_text("a")};
	const struct link_spec b = {.name = "nic", .ifindex = NIC, .mac = mac_from_text("b")};
	struct nl_batch batch = {0};
	struct err err = ERR_INIT;

	f.ns[0] = sandbox_netns("one");
	f.ns[1] = sandbox_netns("two");
	for (int i = 0; i < 2; i++)
		f.ns[i].rt = sandbox_socket(&f.ns[i], NETLINK_ROUTE);
	link_veth(&batch, &a, &b, f.ns[1].fd);
	flush_to(&f, 0, &batch);
	for (int i = 0; i < 2; i++) {
		const struct link_spec spec = {
		    .name = "nic.100", .ifindex = TAGGED, .mtu = 1500, .mac = (i ? b : a).mac};

		free(SANDBOX_RUN(&f.ns[i], "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1",
				 "net.ipv6.conf.all.disable_ipv6=1"));
		link_up(&batch, "nic", NIC);
		flush_to(&f, i, &batch);
		link_vlan(&batch, &spec, NIC, 100);
		f.none = nl_send(f.ns[i].rt, &batch, &err) == -EOPNOTSUPP;
		if (f.none)
			break;
		if (err.code)
			fail_msg("%s", err.text);
		link_up(&batch, "nic.100", TAGGED);
		flush_to(&f, i, &batch);
	}
	nl_batch_done(&batch);
	*state = &f;
	return 0;
}

static void test_dump(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	struct dump d = {0};

	if (f->none)
		skip(); /* this kernel has no 802.1Q */
	sandbox_ok(&err, dump_links(f->ns[0].rt, &d, &err));
	const struct dump_link *l = dump_find_name(&d, "nic.100");
	assert_non_null(l);
	assert_string_equal(l->kind, "vlan");
	assert_int_equal(l->ifindex, TAGGED);
	assert_int_equal(l->vlan, 100);
	assert_int_equal(l->peer, NIC);
	assert_int_equal(l->mtu, 1500);
	assert_true(l->up);
	dump_done(&d);
	json_t *links = SANDBOX_JSON(&f->ns[0], "ip", "-j", "-d", "link", "show", "nic.100");
	json_t *link = json_array_get(links, 0);
	json_t *data = json_object_get(json_object_get(link, "linkinfo"), "info_data");
	assert_string_equal(json_string_value(json_object_get(link, "link")), "nic");
	assert_string_equal(json_string_value(json_object_get(data, "protocol")), "802.1Q");
	assert_int_equal(json_integer_value(json_object_get(data, "id")), 100);
	json_decref(links);
}

/* Bytes that the qdisc of the card has sent. */
static long long sent(struct fixture *f)
{
	json_t *j = SANDBOX_JSON(&f->ns[0], "tc", "-s", "-j", "qdisc", "show", "dev", "nic");
	long long n = json_integer_value(json_object_get(json_array_get(j, 0), "bytes"));

	json_decref(j);
	return n;
}

/* The model counts on it: a tag travels beside the frame, so a shaper charges a frame without. */
static void test_charge(void **state)
{
	static const char *const mac[] = {"a", "b"};
	struct fixture *f = *state;
	char text[ADDR_TEXT];

	if (f->none)
		skip(); /* this kernel has no 802.1Q */
	for (int i = 0; i < 2; i++) {
		const struct mac other = mac_from_text(mac[!i]);

		free(SANDBOX_RUN(&f->ns[i], "ip", "addr", "add", i ? "10.0.0.2/24" : "10.0.0.1/24",
				 "dev", "nic.100"));
		free(SANDBOX_RUN(&f->ns[i], "ip", "neigh", "add", i ? "10.0.0.1" : "10.0.0.2",
				 "lladdr", mac_format(text, &other), "dev", "nic.100"));
	}
	free(SANDBOX_RUN(&f->ns[0], "tc", "qdisc", "add", "dev", "nic", "root", "tbf", "rate",
			 "100mbit", "burst", "10k", "limit", "100k"));
	long long before = sent(f);
	free(SANDBOX_RUN(&f->ns[0], "ping", "-q", "-c", "3", "-i", "0.2", "-W", "5", "-s", "956",
			 "10.0.0.2"));
	assert_int_equal(sent(f) - before, 3 * (14 + 20 + 8 + 956));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_dump),
					   cmocka_unit_test(test_charge)};

	sandbox_enter();
	return cmocka_run_group_tests(tests, setup, NULL);
}
