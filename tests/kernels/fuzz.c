/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz [cases [seed]]: compares every kernel with its reference on so many random cases. Prints the
 * kernels and seeds of cases that differ; the exit status says whether there were any.
 *
 * Meant to be built with sanitizers. It takes the kernels of the instruction sets that are asked for:
 * FUZZ_SCALAR, FUZZ_V6M, FUZZ_V7M, FUZZ_DSP, FUZZ_MVE; bare metal has no arguments, so FUZZ_CASES is their
 * number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "ref.h"
#include "table.h"

/* Those of v6m that are in C run on the development machine too. */
#ifndef FUZZ_SCALAR
#undef SCALAR_KERNELS
#define SCALAR_KERNELS(K)
#endif
#ifdef FUZZ_V6M_C
#undef V6M_KERNELS
#define V6M_KERNELS(K) V6M_C_KERNELS(K)
#elif !defined(FUZZ_V6M)
#undef V6M_KERNELS
#define V6M_KERNELS(K)
#endif
#ifndef FUZZ_V7M
#undef V7M_KERNELS
#define V7M_KERNELS(K)
#endif
#ifndef FUZZ_DSP
#undef DSP_KERNELS
#define DSP_KERNELS(K)
#endif
#ifndef FUZZ_MVE
#undef MVE_KERNELS
#define MVE_KERNELS(K)
#endif

#define DEFINE_RUN(name, isa, case_fn)                                                             \
    static int name##_##isa(void)                                                                  \
    {                                                                                              \
        begin_kernel(&contract_##name##_##isa);                                                    \
        return case_fn(cortexm_##name##_##isa, cortexm_##name##_ref);                              \
    }
#define ENTRY(name, isa, case_fn) {#name "_" #isa, name##_##isa},

SCALAR_KERNELS(DEFINE_RUN)
V6M_KERNELS(DEFINE_RUN)
V7M_KERNELS(DEFINE_RUN)
DSP_KERNELS(DEFINE_RUN)
MVE_KERNELS(DEFINE_RUN)

static const struct {
    const char *name;
    int (*run)(void);
} kernels[] = {SCALAR_KERNELS(ENTRY) V6M_KERNELS(ENTRY) V7M_KERNELS(ENTRY) DSP_KERNELS(ENTRY)
                   MVE_KERNELS(ENTRY)};

/* Whether a kernel computes several outputs, pixels or inputs in one step. */
static int has_tiles(const char *name)
{
    return strstr(name, "_dsp") != NULL || strstr(name, "_mve") != NULL ||
           strstr(name, "conv2d_s8") != NULL || strstr(name, "conv2d_s16") != NULL ||
           strstr(name, "linear_s8") != NULL || strstr(name, "linear_s16") != NULL ||
           strstr(name, "linear_wide") != NULL;
}

#define ENOUGH 100 /* cases in which every bound is reached */

static int fuzz(unsigned long cases, unsigned long seed)
{
    const size_t count = sizeof kernels / sizeof *kernels;
    int failures = 0;

    for (size_t k = 0; k < count; ++k) {
        for (unsigned long i = 0; i < cases; ++i) {
            seed_cases((uint32_t)(seed + i));
            if (!kernels[k].run()) {
                printf("%s differs from its reference: fuzz 1 %lu\n", kernels[k].name, seed + i);
                ++failures;
                break;
            }
        }
        if (cases >= ENOUGH && !has_looked_around()) {
            ++failures;
        }
    }
    for (size_t k = 0; k < count; ++k) {
        if (!has_tiles(kernels[k].name)) {
            continue;
        }
        for (int32_t i = 0; i < SWEEP; ++i) {
            seed_cases((uint32_t)i);
            sweep_cases(i);
            if (!kernels[k].run()) {
                printf("%s differs from its reference at boundary %d\n", kernels[k].name, (int)i);
                ++failures;
                break;
            }
            if (!has_swept()) {
                break; /* a random case as any other */
            }
        }
        sweep_cases(-1);
    }
    printf("%d of %d kernels differ, %lu cases each\n", failures, (int)count, cases);
    return failures != 0;
}

#ifdef FUZZ_CASES
int main(void)
{
    return fuzz(FUZZ_CASES, 0);
}
#else
int main(int argc, char **argv)
{
    return fuzz(argc > 1 ? strtoul(argv[1], NULL, 10) : 200,
                argc > 2 ? strtoul(argv[2], NULL, 10) : 0);
}
#endif
