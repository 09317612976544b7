/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outcome: the words in which everything is judged. verdict.c gives their names. */
#ifndef VPCLAB_HARNESS_OUTCOME_H
#define VPCLAB_HARNESS_OUTCOME_H

/* Of an expectation, a proof, or a whole run; only a run is an error: something was never measured.
 */
enum verdict { VERDICT_PASS, VERDICT_FAIL, VERDICT_INCONCLUSIVE, VERDICT_SKIP, VERDICT_ERROR };

#endif
