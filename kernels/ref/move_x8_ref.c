/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ref.h"

void cortexm_move_x8_ref(const cortexm_move_t *p, const void *in, void *out)
{
    memmove(out, in, (size_t)p->count);
}
