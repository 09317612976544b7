/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * init: first process of the test VM, alone in its initramfs, linked statically. Loads the modules
 * that ci/vm/run has put beside it, shows the outer machine's file system read-only with a layer in
 * memory over it, goes there, runs ci/vm/guest of the shared checkout, and switches the VM off,
 * whatever happened. It tests nothing and knows no test.
 *
 * The shares, by their 9p tags: "root" the outer machine's /, "modules" this kernel's, "tree" the
 * checkout, "build" what was built (all read-only), "results" the one folder that may be written.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEW_ROOT "/new"

static void off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}

/* What goes wrong here is told on the console, which ci/vm/run shows. */
static void die(const char *what, const char *name)
{
	printf("vm: %s %s: %s\n", what, name, strerror(errno));
	fflush(stdout);
	off();
}

static void console(void)
{
	mkdir("/dev", 0755);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	int fd = open("/dev/console", O_RDWR);

	for (int i = 0; fd >= 0 && i < 3; i++)
		dup2(fd, i);
}

static void load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST))
		die("cannot load", path);
	close(fd);
}

/* "/modules/order" names them, one a line, those first that others need. */
static void load_all(void)
{
	char line[256], path[300];
	FILE *order = fopen("/modules/order", "re");

	if (!order)
		die("cannot open", "/modules/order");
	while (fgets(line, sizeof(line), order)) {
		line[strcspn(line, "\n")] = 0;
		snprintf(path, sizeof(path), "/modules/%s", line);
		load(path);
	}
	fclose(order);
}

static void attach(const char *from, const char *to, const char *type, const char *options)
{
	if ((mkdir(to, 0755) < 0 && errno != EEXIST) || mount(from, to, type, 0, options) < 0)
		die("cannot mount", to);
}

static void share(const char *tag, const char *to, const char *how)
{
	char options[200];

	/* Nobody changes what is read-only here while the VM runs: it may be kept in memory. */
	snprintf(options, sizeof(options), "trans=virtio,version=9p2000.L,msize=262144,%s", how);
	attach(tag, to, "9p", options);
}

static void root(void)
{
	share("root", "/lower", "ro,cache=loose");
	attach("upper", "/upper", "tmpfs", "mode=755");
	mkdir("/upper/files", 0755);
	mkdir("/upper/work", 0755);
	attach("root", NEW_ROOT, "overlay",
	       "lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work");
	attach("proc", NEW_ROOT "/proc", "proc", NULL);
	attach("sysfs", NEW_ROOT "/sys", "sysfs", NULL);
	attach("cgroup", NEW_ROOT "/sys/fs/cgroup", "cgroup2", NULL);
	attach("devtmpfs", NEW_ROOT "/dev", "devtmpfs", NULL);
	attach("devpts", NEW_ROOT "/dev/pts", "devpts", "mode=620,ptmxmode=666");
	attach("shm", NEW_ROOT "/dev/shm", "tmpfs", "mode=1777");
	attach("run", NEW_ROOT "/run", "tmpfs", "mode=755");
	attach("tmp", NEW_ROOT "/tmp", "tmpfs", "mode=1777");
	mkdir(NEW_ROOT "/run/vm", 0755);
	share("tree", NEW_ROOT "/run/vm/tree", "ro,cache=loose");
	share("build", NEW_ROOT "/run/vm/build", "ro,cache=loose");
	share("results", NEW_ROOT "/run/vm/results", "rw,cache=none");
	mkdir(NEW_ROOT "/usr/lib/modules", 0755);
	share("modules", NEW_ROOT "/usr/lib/modules", "ro,cache=loose");
}

static void enter(void)
{
	if (chdir(NEW_ROOT) < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 ||
	    chdir("/") < 0)
		die("cannot enter", NEW_ROOT);
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");
}

static void run(void)
{
	static char *const argv[] = {"bash", "/run/vm/tree/ci/vm/guest", NULL};
	static char *const envp[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:"
				     "/bin",
				     "HOME=/root", "LANG=C.UTF-8", NULL};
	pid_t child = fork();

	if (child == 0) {
		setsid();
		execve("/bin/bash", argv, envp);
		die("cannot run", argv[1]);
	}
	/* Orphans are ours to bury too. */
	for (pid_t pid = 0; pid != child;) {
		pid = wait(NULL);
		if (pid < 0 && errno != EINTR)
			break;
	}
}

int main(void)
{
	console();
	printf("vm: started\n");
	fflush(stdout);
	load_all();
	root();
	enter();
	run();
	off();
}
