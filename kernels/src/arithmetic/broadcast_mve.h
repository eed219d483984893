/* SPDX-License-Identifier: Apache-2.0 */
/* A walk over two operands, MVE. */
#ifndef CORTEXM_ARITHMETIC_BROADCAST_MVE_H
#define CORTEXM_ARITHMETIC_BROADCAST_MVE_H

/* `count` results of operands that lie side by side. */
typedef void run_t(const PARAMS *p, const ELEMENT *a, const ELEMENT *b, ELEMENT *out, int32_t count);

static __attribute__((noinline)) void fill(ELEMENT *to, ELEMENT code, int32_t count)
{
    __asm__ volatile("wlstp." WIDTH "  lr, %[count], 2f\n"
                     "1:\n\t"
                     "vstr" OF_WIDTH "." WIDTH "  %q[t], [%[to]], #16\n\t"
                     "letp     lr, 1b\n"
                     "2:\n\t"
                     : [to] "+r"(to)
                     : [t] "w"(REPEATED(code)), [count] "r"(count)
                     : "lr", "memory");
}

static inline void broadcast(run_t *run, const PARAMS *p, const ELEMENT *a, const ELEMENT *b,
                             ELEMENT *out)
{
    ELEMENT repeated[REPEAT];
    int32_t a_period = p->a_period;
    int32_t b_period = p->b_period;
    cortexm_broadcast_t walk;

    lengthen(&a, &a_period, &b, &b_period, repeated);
    walk = cortexm_broadcast(p->count, a_period, b_period);
    if (walk.a_step + walk.b_step == 0) {
        /* All results are one. */
        run(p, a, b, out, 1);
        fill(out, *out, p->count);
        return;
    }
    while (walk.run > 0) {
        run(p, a + walk.a, b + walk.b, out + walk.done, walk.run);
        cortexm_broadcast_next(&walk);
    }
}

#endif
