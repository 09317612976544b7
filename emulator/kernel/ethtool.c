/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ethtool: reads device features and switches them through SIOCETHTOOL. Feature bits have no
 * fixed numbers: their names are read once a process (they are the same for all devices of a
 * kernel). Called by emulator/lab/apply.c, check.c and tests.
 */
#include "emulator/kernel/ethtool.h"

#include <errno.h>
#include <fnmatch.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>

#include "core/base/mem.h"

#define ETHTOOL_BLOCKS 4 /* 128 features; kernels have about 60 */
#define ETHTOOL_GROUPS 5

/* Names of the features of each group, in the order of its bits, as `ethtool -K` takes them. */
static const char *const ethtool_patterns[ETHTOOL_GROUPS] = {
    "tx-tcp*-segmentation", "tx-generic-segmentation", "rx-gro",
    "tx-checksum-*",	    "tx-udp-segmentation",
};

/* Features of each group by bit; filled once. */
static uint32_t ethtool_masks[ETHTOOL_GROUPS][ETHTOOL_BLOCKS];
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

/* The kernel's requests end in arrays without a length; here they have one. */
struct ethtool_sset { /* struct ethtool_sset_info */
	uint32_t cmd, reserved;
	uint64_t sset_mask;
	uint32_t n;
};
_Static_assert(offsetof(struct ethtool_sset, n) == offsetof(struct ethtool_sset_info, data), "");

struct ethtool_get { /* struct ethtool_gfeatures */
	uint32_t cmd, size;
	struct ethtool_get_features_block blocks[ETHTOOL_BLOCKS];
};
_Static_assert(offsetof(struct ethtool_get, blocks) == offsetof(struct ethtool_gfeatures, features),
	       "");

struct ethtool_set { /* struct ethtool_sfeatures */
	uint32_t cmd, size;
	struct ethtool_set_features_block blocks[ETHTOOL_BLOCKS];
};
_Static_assert(offsetof(struct ethtool_set, blocks) == offsetof(struct ethtool_sfeatures, features),
	       "");

static int ethtool_count(int fd, const char *dev, uint32_t *n)
{
	struct ethtool_sset sset = {.cmd = ETHTOOL_GSSET_INFO,
				    .sset_mask = 1ULL << ETH_SS_FEATURES};
	int rc = ethtool_ioctl(fd, dev, &sset);

	*n = sset.sset_mask ? sset.n : 0;
	return rc;
}

static void ethtool_learn_name(uint32_t bit, const char *data)
{
	char name[ETH_GSTRING_LEN + 1] = {0};

	memcpy(name, data, ETH_GSTRING_LEN);
	for (size_t g = 0; g < ETHTOOL_GROUPS; g++)
		if (fnmatch(ethtool_patterns[g], name, 0) == 0)
			ethtool_masks[g][bit / 32] |= 1u << bit % 32;
}

static int ethtool_names(int fd, const char *dev)
{
	uint32_t n;
	int rc = ethtool_count(fd, dev, &n);

	if (rc < 0)
		return rc;
	if (n == 0 || n > ETHTOOL_BLOCKS * 32)
		return -EOPNOTSUPP;
	autofree struct ethtool_gstrings *names =
	    mem_zalloc(sizeof(*names) + (size_t)n * ETH_GSTRING_LEN);
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_FEATURES;
	names->len = n;
	rc = ethtool_ioctl(fd, dev, names);
	if (rc < 0)
		return rc;
	for (uint32_t bit = 0; bit < n; bit++)
		ethtool_learn_name(bit, (char *)names->data + bit * ETH_GSTRING_LEN);
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

static int ethtool_read(int fd, const char *dev, struct ethtool_get *get, struct err *err)
{
	int rc = ethtool_learn(fd, dev);

	if (rc == 0) {
		*get = (struct ethtool_get){.cmd = ETHTOOL_GFEATURES, .size = ethtool_blocks};
		rc = ethtool_ioctl(fd, dev, get);
	}
	return rc < 0 ? err_sys(err, -rc, "read the features of %s", dev) : 0;
}

int ethtool_get(int fd, const char *dev, unsigned *groups, struct err *err)
{
	struct ethtool_get get;
	int rc = ethtool_read(fd, dev, &get, err);
	unsigned active = 0;

	if (rc < 0)
		return rc;
	for (unsigned g = 0; g < ETHTOOL_GROUPS; g++)
		for (unsigned b = 0; b < ethtool_blocks; b++)
			if (get.blocks[b].active & ethtool_masks[g][b])
				active |= 1u << g;
	*groups = active;
	return 0;
}

static int ethtool_switch(int fd, const char *dev, unsigned groups, bool on, struct err *err)
{
	struct ethtool_get get;
	struct ethtool_set set = {.cmd = ETHTOOL_SFEATURES};
	int rc = ethtool_read(fd, dev, &get, err);

	if (rc < 0)
		return rc;
	set.size = ethtool_blocks; /* exactly the kernel's, or EINVAL */
	for (unsigned g = 0; g < ETHTOOL_GROUPS; g++) {
		for (unsigned b = 0; groups & 1u << g && b < ethtool_blocks; b++) {
			uint32_t mask = ethtool_masks[g][b], can = get.blocks[b].available;
			if (!on && get.blocks[b].active & mask & ~can)
				return err_unsupported(err, "%s: %s cannot be switched off", dev,
						       ethtool_patterns[g]);
			set.blocks[b].valid |= mask & can;
			set.blocks[b].requested |= on ? mask & can : 0;
		}
	}
	rc = ethtool_ioctl(fd, dev, &set);
	return rc < 0 ? err_sys(err, -rc, "switch features of %s %s", dev, on ? "on" : "off") : 0;
}

int ethtool_off(int fd, const char *dev, unsigned groups, struct err *err)
{
	return ethtool_switch(fd, dev, groups, false, err);
}

int ethtool_on(int fd, const char *dev, unsigned groups, struct err *err)
{
	return ethtool_switch(fd, dev, groups, true, err);
}
