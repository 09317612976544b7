/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listen_tls: TLS 1.3 and nothing older, no certificates, and a fresh Diffie-Hellman exchange in
 * each session, so that a key that leaks later opens no old one. All cryptography is GnuTLS's.
 */
#include "core/engine/listen_tls.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gnutls/gnutls.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/units.h"

#define TLS_USER     "vpclab"
#define TLS_PRIORITY "NORMAL:-VERS-ALL:+VERS-TLS1.3:-KX-ALL:+ECDHE-PSK:+DHE-PSK"
#define TLS_KEY_MIN  16
#define TLS_GONE_MS  20000 /* without an acknowledgement: the peer is gone */

struct listen_tls {
	gnutls_session_t session;
	gnutls_psk_client_credentials_t client;
	gnutls_psk_server_credentials_t server;
	struct listen_key key;
	int fd;
};

static int tls_digit(char c)
{
	return c >= '0' && c <= '9'	    ? c - '0'
	       : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10
					    : -1;
}

static int tls_key_parse(const char *path, const char *text, struct listen_key *key,
			 struct err *err)
{
	unsigned digits = 0;
	*key = (struct listen_key){.size = 0};
	for (; *text; text++) {
		if (isspace((unsigned char)*text))
			continue;
		if (tls_digit(*text) < 0)
			return err_input(err,
					 "%s: a key has hexadecimal digits only; make one with "
					 "'openssl rand -hex 32'",
					 path);
		if (digits / 2 >= LISTEN_KEY_MAX)
			return err_input(err, "%s: a key has at most %d digits", path,
					 2 * LISTEN_KEY_MAX);
		unsigned char *byte = &key->bytes[digits++ / 2];
		*byte = (unsigned char)(*byte << 4 | tls_digit(*text));
	}
	if (digits < 2 * TLS_KEY_MIN || digits % 2)
		return err_input(err,
				 "%s: %u digits; a key has %d or more, two a byte; make one with "
				 "'openssl rand -hex 32'",
				 path, digits, 2 * TLS_KEY_MIN);
	key->size = digits / 2;
	return 0;
}

int listen_key_read(const char *path, struct listen_key *key, struct err *err)
{
	autofd int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *text = NULL;
	size_t len = 0;
	if (fd < 0 || fstat(fd, &st))
		return err_sys(err, errno, "%s", path);
	if (st.st_mode & 077)
		return err_input(err, "%s: others may read this key: chmod 600 %s", path, path);
	int r = file_read_fd(fd, path, &text, &len, err);
	if (r)
		return r;
	r = strlen(text) == len ? tls_key_parse(path, text, key, err)
				: err_input(err, "%s: a key has hexadecimal digits only", path);
	gnutls_memset(text, 0, len);
	free(text);
	return r;
}

/* The key of whoever gives our one name; another name is unknown. */
static int tls_find_key(gnutls_session_t session, const char *user, gnutls_datum_t *key)
{
	const struct listen_tls *t = gnutls_session_get_ptr(session);
	if (strcmp(user, TLS_USER) != 0)
		return -1;
	key->data = gnutls_malloc(t->key.size);
	key->size = t->key.size;
	if (!key->data)
		return -1;
	memcpy(key->data, t->key.bytes, t->key.size);
	return 0;
}

static int tls_credentials(struct listen_tls *t, bool server)
{
	if (server) {
		int r = gnutls_psk_allocate_server_credentials(&t->server);
		if (r)
			return r;
		gnutls_psk_set_server_credentials_function(t->server, tls_find_key);
		return gnutls_credentials_set(t->session, GNUTLS_CRD_PSK, t->server);
	}
	gnutls_datum_t key = {t->key.bytes, t->key.size};
	int r = gnutls_psk_allocate_client_credentials(&t->client);
	if (!r)
		r = gnutls_psk_set_client_credentials(t->client, TLS_USER, &key,
						      GNUTLS_PSK_KEY_RAW);
	return r ? r : gnutls_credentials_set(t->session, GNUTLS_CRD_PSK, t->client);
}

static int tls_shake(struct listen_tls *t, bool server)
{
	unsigned flags =
	    (server ? GNUTLS_SERVER : GNUTLS_CLIENT) | GNUTLS_NO_TICKETS | GNUTLS_NO_SIGNAL;
	int r = gnutls_init(&t->session, flags);
	if (r)
		return r;
	gnutls_session_set_ptr(t->session, t);
	r = gnutls_priority_set_direct(t->session, TLS_PRIORITY, NULL);
	if (!r)
		r = tls_credentials(t, server);
	if (r)
		return r;
	gnutls_transport_set_int(t->session, t->fd);
	gnutls_handshake_set_timeout(t->session, LISTEN_SHAKE_NS / NSEC_PER_MSEC);
	do
		r = gnutls_handshake(t->session);
	while (r < 0 && !gnutls_error_is_fatal(r));
	return r;
}

struct listen_tls *listen_tls_open(int fd, const struct listen_key *key, bool server,
				   struct err *err)
{
	struct listen_tls *t = mem_zalloc(sizeof(*t));
	t->fd = fd;
	t->key = *key;
	int r = tls_shake(t, server);
	if (!r)
		return t;
	err_fail(err, EACCES, "no TLS session: %s; do both ends have the same key?",
		 gnutls_strerror(r));
	t->fd = -1; /* there is nobody to say good-bye to */
	listen_tls_close(t);
	return NULL;
}

void listen_tls_close(struct listen_tls *t)
{
	if (t->session && t->fd >= 0)
		gnutls_bye(t->session, GNUTLS_SHUT_WR);
	if (t->session)
		gnutls_deinit(t->session);
	if (t->client)
		gnutls_psk_free_client_credentials(t->client);
	if (t->server)
		gnutls_psk_free_server_credentials(t->server);
	gnutls_memset(&t->key, 0, sizeof(t->key));
	free(t);
}

static bool tls_to_plain(struct listen_tls *t, int plain)
{
	char data[16384];
	do {
		ssize_t n = gnutls_record_recv(t->session, data, sizeof(data));
		if (n < 0 && !gnutls_error_is_fatal((int)n))
			continue;
		if (n <= 0 || file_write_fd(plain, data, (size_t)n))
			return false;
	} while (gnutls_record_check_pending(t->session));
	return true;
}

static bool tls_from_plain(struct listen_tls *t, int plain)
{
	char data[16384];
	ssize_t n = read(plain, data, sizeof(data));
	if (n < 0 && errno == EINTR)
		return true;
	for (ssize_t done = 0, r; done < n; done += r) {
		do
			r = gnutls_record_send(t->session, data + done, (size_t)(n - done));
		while (r < 0 && !gnutls_error_is_fatal((int)r));
		if (r < 0)
			return false;
	}
	return n > 0;
}

void listen_tls_pump(struct listen_tls *t, int plain)
{
	struct pollfd fds[2] = {{.fd = t->fd, .events = POLLIN}, {.fd = plain, .events = POLLIN}};
	bool go = !gnutls_record_check_pending(t->session) || tls_to_plain(t, plain);
	while (go) {
		if (poll(fds, 2, -1) < 0) {
			go = errno == EINTR;
			continue;
		}
		if (fds[0].revents)
			go = tls_to_plain(t, plain);
		if (go && fds[1].revents)
			go = tls_from_plain(t, plain);
	}
}

void listen_tune(int fd)
{
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int){1}, sizeof(int));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &(int){TLS_GONE_MS}, sizeof(int));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &(int){TLS_GONE_MS / 2000}, sizeof(int));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &(int){TLS_GONE_MS / 10000}, sizeof(int));
}
