/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers and buffers of the cases of integer kernels. */
#ifndef CORTEXM_TESTS_HARNESS_H
#define CORTEXM_TESTS_HARNESS_H

#include <stdint.h>

uint32_t random32(void);
int32_t between(int32_t low, int32_t high);

/* Whether an event of probability 1 / n happens. */
int one_in(int32_t n);

/* Around the widths of vectors and blocks, and primes. */
int32_t length(void);
int32_t code(void);
int32_t multiplier(void);

/* Mostly a shift that brings sums of about 2^bits into the range of a code. */
int32_t shift(int32_t bits);
void clamp_range(int8_t *low, int8_t *high);

/* The same of int16 codes: a multiplier in Q15 and a shift in [-31, 14]. */
int16_t *random_codes_s16(int32_t n);
int16_t multiplier_s16(void);
int8_t shift_s16(int32_t bits);
void clamp_range_s16(int16_t *low, int16_t *high);

/* Whether sweep_cases() gives the extents. */
int is_sweep(void);

/* A random extent, or in a sweep the next one of 1 … limit. */
int32_t extent(int32_t random, int32_t limit);
void *allocate(int32_t size);
void randomize(void *memory, int32_t size);

/* Memory of exactly so many bytes, as all here: a sanitizer sees the first one beyond. */
void *random_bytes(int32_t size);

/* The same, codes of so many bits; now and then all of them the smallest or the largest one. */
int8_t *random_codes(int32_t size, int32_t bits);

/* The same without extremes: every byte is any. */
void *any_bytes(int32_t size);

/* Two equal outputs between guard bytes; the size is with these. */
#define GUARD 16
typedef struct {
    int32_t size;
    unsigned char *memory[2];
    void *data[2];
} outputs_t;

outputs_t outputs(int32_t size);

/* Whether both outputs and the bytes around them are equal. */
int agree(const outputs_t *o);

/* The same, and frees them. */
int finish(const outputs_t *o);
int32_t *random_bias(int32_t n);

/* The biases of a layer of int16 codes, up to those with which a sum reaches the last number below 2^bits:
 * 32 bits in memory, or 64 beyond 2^31. Output o has the weights weight[o * first + i * step] for
 * i < count; narrow sums may need fewer of them, and the others become 0. */
void *random_bias_s16(int8_t *weight, int32_t outputs, int32_t count, int32_t first, int32_t step,
                      int32_t bits);

#endif
