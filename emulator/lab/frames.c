/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames: has frames_inside.c send and look inside a lab, and unpacks its answer. Judges nothing.
 * Called by core/harness.
 */
#include "emulator/lab/frames.h"

#include <errno.h>
#include <string.h>

#include "core/base/mem.h"
#include "emulator/lab/frames_inside.h"

/* The next `size` bytes of the answer, copied to the heap; NULL when there are not as many. */
static void *take(const char **at, size_t *left, size_t size)
{
	void *copy;

	if (size > *left)
		return NULL;
	copy = mem_zalloc(size + 1);
	memcpy(copy, *at, size);
	*at += size;
	*left -= size;
	return copy;
}

static bool unpack(const char **at, size_t *left, struct frames_log *log)
{
	struct frames_head head;

	if (*left < sizeof(head))
		return false;
	memcpy(&head, *at, sizeof(head));
	*at += sizeof(head);
	*left -= sizeof(head);
	log->sent_ns = take(at, left, head.n_sent * sizeof(*log->sent_ns));
	log->arrivals = take(at, left, head.n_arrivals * sizeof(*log->arrivals));
	log->n_sent = head.n_sent;
	log->n_arrivals = head.n_arrivals;
	log->foreign = head.foreign;
	log->refused = head.refused;
	log->overrun = head.overrun;
	return log->sent_ns && log->arrivals;
}

int frames_run(const struct lab *lab, const struct frames_spec *spec,
	       struct frames_log logs[static FRAMES_STREAMS], struct err *err)
{
	struct frames_spec copy = *spec; /* read by the child, that is: not changed */
	autofree char *text = NULL;
	const char *at;
	size_t left;
	int rc = lab_call(lab, NULL, frames_inside, &copy, &text, &left, err);

	if (rc)
		return err_wrap(err, "probing from %s of %s to %s of %s", spec->stream[0].from_dev,
				spec->stream[0].from_node, spec->stream[0].to_dev,
				spec->stream[0].to_node);
	at = text;
	for (size_t i = 0; i < spec->n; i++) {
		if (unpack(&at, &left, &logs[i]))
			continue;
		frames_done(logs);
		return err_fail(err, EPROTO, "the probe's answer is cut off");
	}
	return 0;
}

void frames_done(struct frames_log logs[static FRAMES_STREAMS])
{
	for (size_t i = 0; i < FRAMES_STREAMS; i++) {
		free(logs[i].sent_ns);
		free(logs[i].arrivals);
		logs[i] = (struct frames_log){0};
	}
}
