/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count: calls count_inside inside a lab and reads its answers. Called by core/harness and
 * core/cli.
 */
#include "emulator/lab/count.h"

#include <errno.h>

#include "core/base/mem.h"
#include "emulator/lab/count_inside.h"

int count_install(const struct count_at *at, const struct count_flow *flows, size_t n,
		  struct err *err)
{
	struct count_request r = {
	    .dev = at->dev, .behind = at->behind, .flows = flows, .n_flows = n};
	autofree char *out = NULL;
	size_t len;
	int rc = lab_call(at->lab, at->node, count_inside_install, &r, &out, &len, err);

	return rc < 0 ? err_wrap(err, "count flows at %s of %s", at->dev, at->node) : 0;
}

int count_remove(const struct count_at *at, struct err *err)
{
	struct count_request r = {.dev = at->dev, .behind = at->behind};
	autofree char *out = NULL;
	size_t len;
	int rc = lab_call(at->lab, at->node, count_inside_remove, &r, &out, &len, err);

	return rc < 0 ? err_wrap(err, "counters at %s of %s", at->dev, at->node) : 0;
}

static int count_json(const char *text, json_t **out, struct err *err)
{
	json_error_t error;

	*out = json_loads(text, 0, &error);
	return *out ? 0 : err_fail(err, EPROTO, "counters: %s", error.text);
}

static struct count_value count_pair(const json_t *j, const char *packets, const char *bytes)
{
	return (struct count_value){json_integer_value(json_object_get(j, packets)),
				    json_integer_value(json_object_get(j, bytes))};
}

int count_read(const struct count_at *at, struct count_value *flows, size_t n,
	       struct count_dev *dev, int64_t *at_ns, struct err *err)
{
	struct count_request r = {.dev = at->dev, .behind = at->behind, .n_flows = n};
	autofree char *out = NULL;
	json_t *j = NULL;
	size_t len;
	int rc = lab_call(at->lab, at->node, count_inside_read, &r, &out, &len, err);

	if (rc == 0)
		rc = count_json(out, &j, err);
	if (rc < 0)
		return err_wrap(err, "counters at %s of %s", at->dev, at->node);
	for (size_t i = 0; i < n; i++)
		flows[i] =
		    count_pair(json_array_get(json_object_get(j, "flows"), i), "packets", "bytes");
	const json_t *d = json_object_get(j, "device");
	dev->rx = count_pair(d, "rx_packets", "rx_bytes");
	dev->tx = count_pair(d, "tx_packets", "tx_bytes");
	dev->rx_dropped = json_integer_value(json_object_get(d, "rx_dropped"));
	dev->tx_dropped = json_integer_value(json_object_get(d, "tx_dropped"));
	*at_ns = json_integer_value(json_object_get(j, "at_ns"));
	json_decref(j);
	return 0;
}

int count_snapshot_relays(const struct lab *lab, const struct wire *w, const char *const *nodes,
			  size_t n, json_t **out, struct err *err)
{
	struct count_request r = {.nodes = nodes, .n_nodes = n, .wire = w};
	autofree char *text = NULL;
	size_t len;
	int rc = lab_call(lab, NULL, count_inside_snapshot, &r, &text, &len, err);

	if (rc == 0)
		rc = count_json(text, out, err);
	return rc < 0 ? err_wrap(err, "read counters") : 0;
}

int count_snapshot(const struct lab *lab, const char *const *nodes, size_t n, json_t **out,
		   struct err *err)
{
	return count_snapshot_relays(lab, NULL, nodes, n, out, err);
}
