// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * company: the file and its locks. It waits for nobody but for the moment in which another one
 * joins. Called by core/harness/attempt.c.
 */
#include "emulator/lab/company.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "emulator/lab/handle.h"

/* Bytes that are locked, far behind the numbers. */
#define PRESENCE (INT64_C(1) << 40) /* and the node's index: who measures there now */
#define JOINING	 (INT64_C(1) << 41)

struct company {
	int fd;
	const struct path *way;
	uint32_t *own; /* [hop]: the number that its node has had from us */
	int met;       /* the node of one that was there already, or -1 */
};

static int lock(int fd, short type, int64_t at, bool wait)
{
	struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
	int r;

	do
		r = fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &l);
	while (r < 0 && errno == EINTR);
	return r;
}

/* Does anybody else measure at that node? */
static bool taken(int fd, int node)
{
	struct flock l = {
	    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = PRESENCE + node, .l_len = 1};

	return !fcntl(fd, F_OFD_GETLK, &l) && l.l_type != F_UNLCK;
}

static off_t place_of(int node)
{
	return (off_t)node * (off_t)sizeof(uint32_t);
}

static uint32_t number_at(int fd, int node)
{
	uint32_t n = 0;

	return pread(fd, &n, sizeof(n), place_of(node)) == sizeof(n) ? n : 0;
}

static bool join_node(struct company *c, int node)
{
	uint32_t n = number_at(c->fd, node) + 1;

	if (c->met < 0 && taken(c->fd, node))
		c->met = node;
	return pwrite(c->fd, &n, sizeof(n), place_of(node)) == sizeof(n) &&
	       !lock(c->fd, F_RDLCK, PRESENCE + node, false);
}

static bool join_all(struct company *c)
{
	bool good = !lock(c->fd, F_WRLCK, JOINING, true);

	VEC_FOREACH (hop, &c->way->hops)
		good = good && join_node(c, hop->node);
	for (size_t i = 0; i < c->way->hops.n; i++)
		c->own[i] = number_at(c->fd, c->way->hops.v[i].node);
	lock(c->fd, F_UNLCK, JOINING, false);
	return good;
}

struct company *company_join(const struct lab *lab, const struct path *way)
{
	autofree char *file = mem_printf("%s/measuring", lab->dir);
	int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return NULL;
	struct company *c = mem_zalloc(sizeof(*c));
	*c = (struct company){.fd = fd,
			      .way = way,
			      .own = mem_zalloc((way->hops.n + 1) * sizeof(*c->own)),
			      .met = -1};
	if (join_all(c))
		return c;
	company_leave(c);
	return NULL;
}

int company_met(const struct company *c)
{
	if (c->met >= 0)
		return c->met;
	for (size_t i = 0; i < c->way->hops.n; i++)
		if (number_at(c->fd, c->way->hops.v[i].node) != c->own[i])
			return c->way->hops.v[i].node;
	return -1;
}

void company_leave(struct company *c)
{
	if (!c)
		return;
	close(c->fd);
	free(c->own);
	free(c);
}
