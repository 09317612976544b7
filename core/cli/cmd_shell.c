// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shell: the user's own shell inside a node, with a prompt that says where it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/str.h"
#include "core/cli/command.h"
#include "core/cli/inside.h"

static bool is_bash(const char *shell)
{
	const char *slash = strrchr(shell, '/');

	return str_eq(slash ? slash + 1 : shell, "bash");
}

/*
 * bash sets its prompt in ~/.bashrc, after the environment; so it gets a start file of ours, which
 * reads the user's and then prefixes the prompt. The file exists only as descriptor 3.
 */
static int bash_start_file(const char *place, struct err *err)
{
	autofree char *text = mem_printf("[ -f ~/.bashrc ] && . ~/.bashrc\n"
					 "PS1=\"(%s) $PS1\"\nexec 3<&-\n",
					 place);
	int fd = memfd_create("vpclab-bashrc", MFD_CLOEXEC);

	if (fd < 0)
		return err_sys(err, errno, "cannot make the shell's start file");
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
		close(fd);
		return err_sys(err, EIO, "cannot write the shell's start file");
	}
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static int run_shell(const struct source *lab, int node, struct err *err)
{
	const char *shell = getenv("SHELL") ? getenv("SHELL") : "/bin/sh";
	const char *name = lab->wire.nodes.v[node].name;
	autofree char *place = mem_printf("%s:%s", lab_name(lab->lab), name);
	autofree char *prompt = mem_printf("PS1=(%s) %s ", place, getuid() ? "$" : "#");
	const char *const env[] = {prompt, NULL};
	const char *const plain[] = {shell, NULL};
	const char *const bash[] = {shell, "--rcfile", "/proc/self/fd/3", NULL};
	bool with_file = is_bash(shell) && isatty(STDIN_FILENO);
	struct proc_spec spec = PROC_SPEC(with_file ? bash : plain);
	autofd int file = with_file ? bash_start_file(place, err) : -1;

	if (with_file && file < 0)
		return file;
	spec.env = env;
	spec.keep_fd = file;
	return inside_run(lab, node, &spec, err);
}

static int shell_run(const struct call *call, struct err *err)
{
	struct source lab;
	int node, ret = source_open_node(call->argv[0], &lab, &node, err);

	if (!ret)
		ret = run_shell(&lab, node, err);
	source_done(&lab);
	return ret;
}

const struct command cmd_shell = {
    .name = "shell",
    .summary = "open a shell inside a node",
    .operands = "[LAB:]NODE",
    .operand_kind = OPERAND_NODE,
    .min_operands = 1,
    .max_operands = 1,
    .description =
	"Starts $SHELL (or sh) inside the node; the prompt names lab and node. On a host\n"
	"with Open vSwitch, ovs-vsctl and ovs-ofctl speak to that host's own instance.",
    .run = shell_run,
};
