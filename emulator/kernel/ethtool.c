/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ethtool: reads and sets device features through SIOCETHTOOL. Feature bits have no fixed numbers:
 * their names are read once a process (they are the same for all devices of a kernel). Called by
 * emulator/lab/apply.c, check.c and tests.
 */
#include "emulator/kernel/ethtool.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>

#include "core/base/mem.h"

#define ETHTOOL_BLOCKS 4 /* 128 features; kernels have about 60 */

static const struct {
	unsigned group;
	const char *feature;
} ethtool_features[] = {
    {ETHTOOL_TSO, "tx-tcp-segmentation"},
    {ETHTOOL_TSO, "tx-tcp-ecn-segmentation"},
    {ETHTOOL_TSO, "tx-tcp-mangleid-segmentation"},
    {ETHTOOL_TSO, "tx-tcp6-segmentation"},
    {ETHTOOL_GSO, "tx-generic-segmentation"},
    {ETHTOOL_GRO, "rx-gro"},
    {ETHTOOL_TX, "tx-checksum-ipv4"},
    {ETHTOOL_TX, "tx-checksum-ip-generic"},
    {ETHTOOL_TX, "tx-checksum-ipv6"},
    {ETHTOOL_TX, "tx-checksum-fcoe-crc"},
    {ETHTOOL_TX, "tx-checksum-sctp"},
    {ETHTOOL_UDP_SEG, "tx-udp-segmentation"},
};

/* Bit number of each row above, -1 where this kernel has no such feature; filled once. */
static int ethtool_bits[ARRAY_SIZE(ethtool_features)];
static unsigned ethtool_blocks; /* of features; 0: not known yet */
static pthread_mutex_t ethtool_lock = PTHREAD_MUTEX_INITIALIZER;

static int ethtool_ioctl(int fd, const char *dev, void *request)
{
	struct ifreq ifr = {0};

	if (strlen(dev) >= sizeof(ifr.ifr_name))
		return -ENODEV;
	strcpy(ifr.ifr_name, dev);
	ifr.ifr_data = request;
	return ioctl(fd, SIOCETHTOOL, &ifr) < 0 ? -errno : 0;
}

static int ethtool_count(int fd, const char *dev, uint32_t *n)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t n;
	} sset = {.info = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_FEATURES}};
	int rc = ethtool_ioctl(fd, dev, &sset);

	*n = sset.info.sset_mask ? sset.n : 0;
	return rc;
}

static int ethtool_names(int fd, const char *dev)
{
	uint32_t n;
	int rc = ethtool_count(fd, dev, &n);

	if (rc < 0)
		return rc;
	if (n > ETHTOOL_BLOCKS * 32)
		n = ETHTOOL_BLOCKS * 32;
	autofree struct ethtool_gstrings *names =
	    mem_zalloc(sizeof(*names) + (size_t)n * ETH_GSTRING_LEN);
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_FEATURES;
	names->len = n;
	rc = ethtool_ioctl(fd, dev, names);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(ethtool_features); i++) {
		ethtool_bits[i] = -1;
		for (uint32_t bit = 0; bit < n; bit++)
			if (!strncmp((char *)names->data + bit * ETH_GSTRING_LEN,
				     ethtool_features[i].feature, ETH_GSTRING_LEN))
				ethtool_bits[i] = (int)bit;
	}
	ethtool_blocks = (n + 31) / 32;
	return 0;
}

static int ethtool_learn(int fd, const char *dev)
{
	int rc = 0;

	pthread_mutex_lock(&ethtool_lock);
	if (!ethtool_blocks)
		rc = ethtool_names(fd, dev);
	pthread_mutex_unlock(&ethtool_lock);
	return rc;
}

struct ethtool_get {
	struct ethtool_gfeatures head;
	struct ethtool_get_features_block blocks[ETHTOOL_BLOCKS];
};

static int ethtool_read(int fd, const char *dev, struct ethtool_get *get)
{
	int rc = ethtool_learn(fd, dev);

	if (rc < 0)
		return rc;
	*get = (struct ethtool_get){.head = {.cmd = ETHTOOL_GFEATURES, .size = ethtool_blocks}};
	return ethtool_ioctl(fd, dev, get);
}

int ethtool_get(int fd, const char *dev, unsigned *groups, struct err *err)
{
	struct ethtool_get get;
	int rc = ethtool_read(fd, dev, &get);
	unsigned active = 0;

	if (rc < 0)
		return err_sys(err, -rc, "read the features of %s", dev);
	for (size_t i = 0; i < ARRAY_SIZE(ethtool_features); i++) {
		int bit = ethtool_bits[i];
		if (bit >= 0 && get.blocks[bit / 32].active & 1u << bit % 32)
			active |= ethtool_features[i].group;
	}
	*groups = active;
	return 0;
}

int ethtool_set(int fd, const char *dev, unsigned groups, bool on, struct err *err)
{
	struct ethtool_get get;
	struct {
		struct ethtool_sfeatures head;
		struct ethtool_set_features_block blocks[ETHTOOL_BLOCKS];
	} set = {.head = {.cmd = ETHTOOL_SFEATURES}};
	int rc = ethtool_read(fd, dev, &get);

	if (rc < 0)
		return err_sys(err, -rc, "read the features of %s", dev);
	set.head.size = ethtool_blocks; /* exactly the kernel's, or EINVAL */
	for (size_t i = 0; i < ARRAY_SIZE(ethtool_features); i++) {
		int bit = ethtool_bits[i];
		if (bit < 0 || !(ethtool_features[i].group & groups))
			continue;
		uint32_t mask = 1u << bit % 32;
		bool active = get.blocks[bit / 32].active & mask;
		bool settable = get.blocks[bit / 32].available & mask;
		if (active != on && !settable && !on)
			return err_unsupported(err, "%s: %s cannot be switched off", dev,
					       ethtool_features[i].feature);
		if (settable) {
			set.blocks[bit / 32].valid |= mask;
			set.blocks[bit / 32].requested |= on ? mask : 0;
		}
	}
	rc = ethtool_ioctl(fd, dev, &set);
	if (rc < 0)
		return err_sys(err, -rc, "switch features of %s", dev);
	return 0;
}
