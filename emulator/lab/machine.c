/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine: measures what the shape of a lab depends on: how late timers are, what one frame costs,
 * and which Open vSwitch datapath there is. Called by cli before compiling. It decides no shape.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/units.h"
#include "emulator/kernel/link.h"
#include "emulator/kernel/nl.h"
#include "emulator/kernel/ovs.h"
#include "emulator/lab/lab.h"
#include "emulator/lab/probe.h"
#include "emulator/lab/scratch.h"

#define SLIP_SPAN_NS (25 * NSEC_PER_MSEC)
#define SLIP_STEP_NS (100 * NSEC_PER_USEC)
#define SLIP_MIN_NS  (250 * NSEC_PER_USEC)
#define SLIP_MAX_NS  (10 * NSEC_PER_MSEC)

#define COST_SLICE_NS (600 * NSEC_PER_USEC)
#define COST_SLICES   10
#define FRAME_L1      (SCRATCH_FRAME + 24) /* with preamble, FCS and gap */

/*
 * exact: every frame is handled on its own at each hop. A hop more costs about half of what is
 * measured here (one frame made, sent over a veth pair and dropped), and the longest path of a
 * cloud shape has about 8; so a frame costs about 1 + 8/2 of the measured. 1.2 of
 * two CPUs may go into that: the programs need the rest.
 */
#define PATH_COST      (1.0 + 8 / 2.0)
#define CPU_SHARE      1.2
#define EXACT_FLOOR    INT64_C(100000000)
#define EXACT_STEP_BPS INT64_C(100000000) /* coarse: the choice shall not change with each run */

static int64_t measure_slip(void)
{
	int old = prctl(PR_GET_TIMERSLACK);
	int64_t end = clock_now_ns() + SLIP_SPAN_NS, worst = 0;

	prctl(PR_SET_TIMERSLACK, 1);
	for (int64_t when = clock_now_ns() + SLIP_STEP_NS; when < end; when += SLIP_STEP_NS) {
		int64_t now;

		clock_sleep_until_ns(when);
		now = clock_now_ns();
		if (now - when > worst)
			worst = now - when;
		when = now;
	}
	if (old > 0)
		prctl(PR_SET_TIMERSLACK, old);
	return worst < SLIP_MIN_NS ? SLIP_MIN_NS : worst > SLIP_MAX_NS ? SLIP_MAX_NS : worst;
}

enum { NEAR = 101, FAR = 102 }; /* ifindexes of the pair */

/* Of one frame, made, sent and dropped. The best of a few slices is the one that nobody disturbed.
 */
static int time_frames(double *cost_ns, struct err *err)
{
	autofd int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	double best = HUGE_VAL;

	if (fd < 0 && (errno == EPERM || errno == EACCES)) {
		*cost_ns = 0; /* without CAP_NET_RAW it is not known */
		return 0;
	}
	if (fd < 0)
		return err_sys(err, errno, "cannot make a packet socket");
	for (int i = 0; i < COST_SLICES; i++) {
		int64_t start = clock_now_ns(), n = scratch_flood(fd, NEAR, COST_SLICE_NS);

		if (n > 0)
			best = fmin(best, (double)(clock_now_ns() - start) / (double)n);
	}
	if (best == HUGE_VAL)
		return err_fail(err, EIO, "no frame could be sent");
	*cost_ns = best;
	return 0;
}

static bool takes(probe_fn *probe, struct probe *p)
{
	struct err ignored = ERR_INIT;

	return probe(p, &ignored) == 0;
}

/* Probes put things on the pair: only once frames have been timed. */
static int measure_pair(void *arg, json_t **out, struct err *err)
{
	double cost = 0;
	struct probe *p;
	static const struct link_spec pair[] = {{.name = "near", .ifindex = NEAR},
						{.name = "far", .ifindex = FAR}};
	int rc = scratch_veths(pair, ARRAY_SIZE(pair), err);

	(void)arg;
	if (!rc)
		rc = time_frames(&cost, err);
	if (!rc)
		rc = probe_open(&p, err);
	if (rc)
		return rc;
	*out = json_pack("{s:f, s:b, s:b, s:b}", "cost_ns", cost, "netem", takes(probe_netem, p),
			 "police", takes(probe_police, p), "vlan", takes(probe_vlan, p));
	probe_close(p);
	return 0;
}

static bool measured(const json_t *got, const char *key)
{
	return json_is_true(json_object_get(got, key));
}

/* What `doctor` says of packet sockets: without them mode auto goes by a default. */
static int64_t exact_limit(double cost_ns)
{
	int64_t bps;

	if (cost_ns <= 0)
		return MACHINE_DEFAULT.exact_max_bps;
	bps = (int64_t)(CPU_SHARE * 1e9 / (cost_ns * PATH_COST) * FRAME_L1 * 8);
	bps -= bps % EXACT_STEP_BPS;
	return bps < EXACT_FLOOR ? EXACT_FLOOR : bps;
}

static bool can_open_tun(void)
{
	autofd int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	return fd >= 0;
}

int lab_measure_machine(struct machine *m, struct err *err)
{
	json_t *got = NULL;
	int rc = scratch_run(measure_pair, NULL, &got, err);

	if (rc)
		return err_wrap(err, "cannot measure this machine");
	*m = (struct machine){
	    .slip_ns = measure_slip(),
	    .exact_max_bps = exact_limit(json_real_value(json_object_get(got, "cost_ns"))),
	    .ovs_kernel = ovs_kernel_present(),
	    .ovs_tun = can_open_tun(),
	    .netem = measured(got, "netem"),
	    .police = measured(got, "police"),
	    .vlan = measured(got, "vlan"),
	};
	json_decref(got);
	return 0;
}
