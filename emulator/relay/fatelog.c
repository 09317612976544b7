/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fatelog: the relay's side: records in a memory file. Called by lane.c, relay.c, control.c. */
#include "emulator/relay/fatelog.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "emulator/relay/port.h"

#define HEAD_BYTES 4096 /* a page, so that records are aligned */

_Static_assert(sizeof(struct fatelog_head) <= HEAD_BYTES, "the head has a page");

static void fill_head(struct fatelog *l, const struct relay_spec *s)
{
	struct fatelog_head *h = l->head;

	memcpy(h->magic, "VPCLFATE", sizeof(h->magic));
	h->record_bytes = sizeof(struct fatelog_record);
	h->directions = RELAY_DIRECTIONS;
	h->wall_ns = port_wall_ns();
	snprintf(h->link, sizeof(h->link), "%s", s->name);
	for (int d = 0; d < RELAY_DIRECTIONS; d++) {
		snprintf(h->dir[d].in, sizeof(h->dir[d].in), "%s", s->dir[d].in);
		snprintf(h->dir[d].out, sizeof(h->dir[d].out), "%s", s->dir[d].out);
		h->dir[d].max = (uint64_t)s->fates_max;
	}
}

int fatelog_init(struct fatelog *l, const struct relay_spec *s, struct err *err)
{
	size_t max = (size_t)s->fates_max;
	uint8_t *p;

	*l = (struct fatelog){.fd = -1};
	if (!max)
		return 0;
	l->bytes = HEAD_BYTES + RELAY_DIRECTIONS * max * sizeof(struct fatelog_record);
	l->fd = memfd_create("vpclab-fates", MFD_CLOEXEC);
	if (l->fd < 0 || ftruncate(l->fd, (off_t)l->bytes) < 0) {
		err_sys(err, errno, "cannot make a fate log of %zu packets", max);
		fatelog_done(l);
		return -err->code;
	}
	p = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, l->fd, 0);
	if (p == MAP_FAILED) {
		err_sys(err, errno, "cannot map a fate log of %zu packets", max);
		fatelog_done(l);
		return -err->code;
	}
	l->head = (struct fatelog_head *)(void *)p;
	for (size_t d = 0; d < RELAY_DIRECTIONS; d++)
		l->records[d] = (struct fatelog_record *)(void *)(p + HEAD_BYTES) + d * max;
	fill_head(l, s);
	return 0;
}

void fatelog_done(struct fatelog *l)
{
	if (l->head)
		munmap(l->head, l->bytes);
	if (l->fd >= 0)
		close(l->fd);
	*l = (struct fatelog){.fd = -1};
}

struct fatelog_record *fatelog_add(struct fatelog *l, int direction)
{
	struct fatelog_dir *d;

	if (!l->head)
		return NULL;
	d = &l->head->dir[direction];
	if (d->n == d->max) {
		d->not_logged++;
		return NULL;
	}
	/* A reader may see a record that is being filled; it never sees one that does not exist. */
	__atomic_store_n(&d->n, d->n + 1, __ATOMIC_RELEASE);
	return &l->records[direction][d->n - 1];
}

static void add_dir(struct strbuf *out, const struct fatelog *l, int d, uint64_t n)
{
	strbuf_addn(out, (const char *)l->records[d], n * sizeof(struct fatelog_record));
}

/* Copies what is there now out of the memory file. */
static int save(const uint8_t *p, size_t bytes, struct strbuf *out)
{
	struct fatelog l = {.bytes = bytes};
	struct fatelog_head head;
	uint64_t room = (bytes - HEAD_BYTES) / sizeof(struct fatelog_record);

	memcpy(&head, p, sizeof(head));
	for (int d = 0; d < RELAY_DIRECTIONS; d++) {
		if (head.dir[d].n > head.dir[d].max || head.dir[d].max > room / RELAY_DIRECTIONS)
			return -EPROTO;
		l.records[d] =
		    (struct fatelog_record *)(void *)(p + HEAD_BYTES) + (size_t)d * head.dir[0].max;
	}
	strbuf_addn(out, (const char *)&head, sizeof(head));
	for (int d = 0; d < RELAY_DIRECTIONS; d++)
		add_dir(out, &l, d, head.dir[d].n);
	return 0;
}

int fatelog_save(int fd, struct strbuf *out, struct err *err)
{
	off_t end = lseek(fd, 0, SEEK_END);
	void *p;
	int rc;

	if (end < HEAD_BYTES)
		return err_fail(err, EPROTO, "the relay's fate log is no log");
	p = mmap(NULL, (size_t)end, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return err_sys(err, errno, "cannot read the relay's fate log");
	rc = save(p, (size_t)end, out);
	munmap(p, (size_t)end);
	return rc ? err_fail(err, EPROTO, "the relay's fate log is broken") : 0;
}
