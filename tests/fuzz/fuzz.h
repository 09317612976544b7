/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz: what fuzz targets share. Each is a program of its own and includes this once. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/*
 * libfyaml 0.7.12 loses 4 KiB for a quoted key with over 30 escaped characters (fy_atom_is_number()
 * returns without fy_atom_iter_finish()). The unit tests run without this, so that what we do not
 * give back to libfyaml is found there.
 */
const char *__lsan_default_suppressions(void)
{
	return "leak:libfyaml.so";
}

static inline void require(bool holds)
{
	if (!holds)
		abort();
}

#endif
