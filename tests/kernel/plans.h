/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plans: topology files as plans, for tests that apply them. */
#ifndef VPCLAB_TESTS_KERNEL_PLANS_H
#define VPCLAB_TESTS_KERNEL_PLANS_H

#include "core/base/file.h"
#include "emulator/lab/load.h"
#include "emulator/lab/lab.h"
#include "emulator/plan/plan.h"
#include "tests/kernel/sandbox.h"

struct lab_plan {
	struct problems problems;
	struct wire wire;
	struct plan plan;
};

static inline void make_plan(const char *path, struct lab_plan *p)
{
	struct compile_options o = {.machine = MACHINE_DEFAULT};
	struct err err = ERR_INIT;
	struct machine here;
	autofree char *text = NULL;
	struct load load;
	size_t len;

	sandbox_ok(&err, lab_measure_machine(&here, &err));
	o.machine.netem = here.netem;
	o.machine.police = here.police;
	o.machine.vlan = here.vlan;
	problems_init(&p->problems);
	sandbox_ok(&err, file_read(path, &text, &len, &err));
	load_topology(&(struct topology_source){.main = {path, text, len}}, &load, &p->problems);
	topology_compile(load.topology, &o, &p->wire, &p->problems);
	load_done(&load);
	if (problems_count(&p->problems)) {
		autostr struct strbuf s = {0};
		problems_print(&p->problems, &s);
		fail_msg("%s", strbuf_text(&s));
	}
	plan_build(&p->wire, &o.machine, &p->plan);
}

static inline void drop_plan(struct lab_plan *p)
{
	plan_done(&p->plan);
	wire_done(&p->wire);
	problems_done(&p->problems);
}

#endif
