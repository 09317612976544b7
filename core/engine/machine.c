/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine: reads a description and judges nothing. It changes nothing: the requests to the device
 * are those that only ask. Called by result.c, once a measurement, after it.
 */
#include "core/engine/machine.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/engine/cpu.h"

/* The first line of a file; null where there is none. */
static json_t *machine_line(const char *path)
{
	autofree char *text = NULL;
	struct err ignored = ERR_INIT;
	size_t n;
	if (file_read(path, &text, &n, &ignored))
		return json_null();
	text[strcspn(text, "\n")] = '\0';
	for (char *tab; (tab = strchr(text, '\t'));)
		*tab = ' ';
	json_t *j = json_string(text);
	return j ? j : json_null();
}

static json_t *machine_cpu(void)
{
	char name[128];
	cpu_model(name, sizeof(name));
	return name[0] ? json_string(name) : json_null();
}

static bool machine_same(const struct sockaddr *a, const struct sockaddr_storage *b)
{
	if (!a || a->sa_family != b->ss_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return a->sa_family == AF_INET6 &&
	       !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
		       &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr));
}

/* The device that has the socket's own address; "" where none has. */
static void machine_device(int fd, char name[static IFNAMSIZ])
{
	struct sockaddr_storage own = {0};
	struct ifaddrs *all = NULL;
	name[0] = '\0';
	if (fd < 0 || getsockname(fd, (struct sockaddr *)&own, &(socklen_t){sizeof(own)}) ||
	    getifaddrs(&all))
		return;
	for (const struct ifaddrs *i = all; i && !name[0]; i = i->ifa_next)
		if (machine_same(i->ifa_addr, &own))
			snprintf(name, IFNAMSIZ, "%s", i->ifa_name);
	freeifaddrs(all);
}

static const struct {
	const char *name;
	uint32_t command;
} machine_offloads[] = {
    {"rx_checksum", ETHTOOL_GRXCSUM},
    {"tx_checksum", ETHTOOL_GTXCSUM},
    {"sg", ETHTOOL_GSG},
    {"tso", ETHTOOL_GTSO},
    {"gso", ETHTOOL_GGSO},
    {"gro", ETHTOOL_GGRO},
};

static void machine_ask_device(const char *device, json_t *j)
{
	autofd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {0};
	struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
	json_t *offloads = json_object();
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
	if (!ioctl(fd, SIOCGIFMTU, &request))
		json_object_set_new(j, "mtu", json_integer(request.ifr_mtu));
	for (size_t i = 0; i < ARRAY_SIZE(machine_offloads); i++) {
		struct ethtool_value value = {.cmd = machine_offloads[i].command};
		request.ifr_data = (void *)&value;
		if (!ioctl(fd, SIOCETHTOOL, &request))
			json_object_set_new(offloads, machine_offloads[i].name,
					    json_boolean(value.data));
	}
	request.ifr_data = (void *)&driver;
	if (!ioctl(fd, SIOCETHTOOL, &request))
		json_object_set_new(j, "driver", json_string(driver.driver));
	json_object_set_new(j, "offloads", offloads);
}

json_t *machine_describe(int fd)
{
	static const char *const lines[][2] = {
	    {"boot_id", "/proc/sys/kernel/random/boot_id"},
	    {"clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
	    {"congestion_available", "/proc/sys/net/ipv4/tcp_available_congestion_control"},
	    {"tcp_rmem", "/proc/sys/net/ipv4/tcp_rmem"},
	    {"tcp_wmem", "/proc/sys/net/ipv4/tcp_wmem"},
	};
	struct utsname names;
	char device[IFNAMSIZ];
	json_t *j = json_object();
	json_object_set_new(j, "kernel", uname(&names) ? json_null() : json_string(names.release));
	json_object_set_new(j, "vpclab", json_string(VPCLAB_VERSION));
	json_object_set_new(j, "cpu", machine_cpu());
	json_object_set_new(j, "cpus", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		json_object_set_new(j, lines[i][0], machine_line(lines[i][1]));
	machine_device(fd, device);
	json_object_set_new(j, "device", device[0] ? json_string(device) : json_null());
	if (device[0])
		machine_ask_device(device, j);
	return j;
}
