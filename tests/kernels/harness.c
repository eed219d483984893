/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

/* --- random numbers ------------------------------------------------------------------------- */

static uint32_t state = 1;

void seed_cases(uint32_t seed)
{
    state = seed * 2654435761u + 1u;
}

uint32_t random32(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

int32_t between(int32_t low, int32_t high)
{
    return (int32_t)(low + (int64_t)(random32() % ((uint32_t)high - (uint32_t)low + 1u)));
}

int one_in(int32_t n)
{
    return between(1, n) == 1;
}

int32_t length(void)
{
    static const int32_t lengths[] = {1,  2,  3,  4,  5,  7,  8,  9,  11, 12, 13, 15,
                                      16, 17, 19, 23, 24, 31, 32, 33, 37, 40, 47, 65};

    return lengths[between(0, (int32_t)(sizeof lengths / sizeof *lengths) - 1)];
}

int32_t code(void)
{
    return one_in(3) ? (one_in(2) ? INT8_MIN : INT8_MAX) : between(INT8_MIN, INT8_MAX);
}

int32_t multiplier(void)
{
    if (one_in(8)) {
        return one_in(2) ? 0 : (one_in(2) ? 1 << 30 : INT32_MAX);
    }
    return between(1 << 30, INT32_MAX);
}

int32_t shift(int32_t bits)
{
    return one_in(8) ? between(-31, 30) : between(-bits, 9 - bits);
}

void clamp_range(int8_t *low, int8_t *high)
{
    *low = INT8_MIN;
    *high = INT8_MAX;
    if (one_in(2)) {
        *low = (int8_t)code();
        *high = (int8_t)between(*low, INT8_MAX);
    }
}

int16_t multiplier_s16(void)
{
    static const int16_t rare[] = {0, 1, 1 << 14, INT16_MAX};

    return (int16_t)(one_in(8) ? rare[between(0, 3)] : between(1 << 14, INT16_MAX));
}

int8_t shift_s16(int32_t bits)
{
    return (int8_t)(one_in(4) ? between(-31, 14) : between(-bits, 17 - bits));
}

void clamp_range_s16(int16_t *low, int16_t *high)
{
    *low = INT16_MIN;
    *high = INT16_MAX;
    if (one_in(4)) {
        *low = 0;
    } else if (one_in(2)) {
        *low = (int16_t)between(INT16_MIN, INT16_MAX);
        *high = (int16_t)between(*low, INT16_MAX);
    }
}

static int32_t sweep = -1;
static int asked; /* for an extent, or whether it is a sweep */

void sweep_cases(int32_t boundary)
{
    sweep = boundary;
    asked = 0;
}

int has_swept(void)
{
    return asked;
}

int is_sweep(void)
{
    asked = 1;
    return sweep >= 0;
}

int32_t extent(int32_t random, int32_t limit)
{
    asked = 1;
    return sweep < 0 ? random : 1 + sweep % limit;
}

/* --- the kernel under test ------------------------------------------------------------------- */

static const contract_t *contract;
static int is_outside;   /* a case was, which is a mistake */
static uint64_t refused; /* its conditions that parameters one step away from a case's did not meet */

void begin_kernel(const contract_t *of)
{
    refused = of == contract ? refused : 0;
    is_outside = of == contract && is_outside;
    contract = of;
}

const limits_t *limits(void)
{
    return &contract->limits;
}

int8_t fitting(int8_t shift)
{
    const int32_t most = limits()->greatest_shift;
    const int32_t near = shift <= most ? shift : most - (shift - most) % 16;

    return (int8_t)(near < limits()->least_shift ? limits()->least_shift : near);
}

void fit_biases(int32_t *bias, int32_t count)
{
    for (int32_t i = 0; i < count; ++i) {
        if (limits()->sum_bits < 31) {
            bias[i] /= 4;
        }
        if (limits()->bias_bits < 31) {
            bias[i] %= INT32_C(1) << limits()->bias_bits;
        }
    }
}

void fit_weights(int8_t *weight, int32_t count, int8_t *in, int32_t inputs)
{
    const int is_extreme = limits()->least_weight == -127 && one_in(4);

    for (int32_t i = 0; i < count; ++i) {
        weight[i] = is_extreme ? (int8_t)(one_in(4) ? 127 : -127)
                    : weight[i] < limits()->least_weight ? (int8_t)limits()->least_weight : weight[i];
    }
    for (int32_t i = 0; is_extreme && i < inputs; ++i) {
        in[i] = (int8_t)(one_in(8) ? 127 : -128);
    }
}

int is_inside(const void *params)
{
    return contract->unmet == NULL || contract->unmet(params) == 0;
}

/* Goes one step from each of the fields that conditions are about, up and down. */
static void look_around(const void *params)
{
    unsigned char *const block = (unsigned char *)(uintptr_t)params;

    for (int32_t i = 0; i < contract->place_count; ++i) {
        const size_t size = contract->places[i][1];
        unsigned char *const at = block + contract->places[i][0];
        uint64_t was = 0;

        memcpy(&was, at, size); /* of little-endian machines */
        for (int step = -1; step <= 1; step += 2) {
            const uint64_t next = was + (uint64_t)(int64_t)step;
            memcpy(at, &next, size);
            refused |= contract->unmet(params);
            memcpy(at, &was, size);
        }
    }
}

int has_looked_around(void)
{
    int is_whole = !is_outside;

    for (int32_t i = 0; i < contract->near_count; ++i) {
        if ((refused >> i & 1) == 0) {
            printf("%s: no case is at the bound of %s\n", contract->name, contract->conditions[i]);
            is_whole = 0;
        }
    }
    return is_whole;
}

void check_inside(const void *params)
{
    if (is_inside(params)) {
        look_around(params);
    } else if (!is_outside) {
        for (int32_t i = 0; i < contract->count; ++i) {
            if (contract->unmet(params) >> i & 1) {
                printf("%s: a case is outside of %s\n", contract->name, contract->conditions[i]);
            }
        }
        is_outside = 1;
    }
}

void *scratch_for(const void *params)
{
    const int64_t size = contract->scratch == NULL ? 0 : contract->scratch(params);

    check_inside(params);
    return size == 0 ? NULL : allocate((int32_t)size);
}

/* --- buffers -------------------------------------------------------------------------------- */

void *allocate(int32_t size)
{
    /* No byte more than asked for: a sanitizer then sees the first one beyond. */
    void *memory = malloc((size_t)(size > 0 ? size : 1));

    if (memory == NULL) {
        abort();
    }
    return memory;
}

void randomize(void *memory, int32_t size)
{
    unsigned char *bytes = memory;
    const int extreme = one_in(6);

    if (extreme && one_in(2)) {
        /* All the same: the largest sums. */
        memset(bytes, one_in(2) ? 0x80 : 0x7f, (size_t)size);
        return;
    }
    for (int32_t i = 0; i < size; ++i) {
        bytes[i] = (unsigned char)(extreme ? (one_in(2) ? 0x80u : 0x7fu) : random32() >> 24);
    }
}

void *random_bytes(int32_t size)
{
    void *memory = allocate(size);

    randomize(memory, size);
    return memory;
}

void *any_bytes(int32_t size)
{
    unsigned char *bytes = allocate(size);

    for (int32_t i = 0; i < size; ++i) {
        bytes[i] = (unsigned char)(random32() >> 24);
    }
    return bytes;
}

int8_t *random_codes(int32_t size, int32_t bits)
{
    int8_t *const codes = random_bytes(size);
    const int is_extreme = one_in(8);
    const int32_t extreme = one_in(2) ? INT8_MIN : INT8_MAX;

    for (int32_t i = 0; i < size; ++i) {
        codes[i] = (int8_t)((is_extreme ? extreme : codes[i]) >> (8 - bits));
    }
    return codes;
}

int16_t *random_codes_s16(int32_t n)
{
    int16_t *codes = any_bytes(n * (int32_t)sizeof *codes);
    const int extreme = one_in(6);
    const int same = one_in(2);
    const int16_t value = one_in(2) ? INT16_MIN : INT16_MAX;

    for (int32_t i = 0; i < n && extreme; ++i) {
        codes[i] = same ? value : one_in(2) ? INT16_MIN : INT16_MAX;
    }
    return codes;
}

outputs_t outputs(int32_t size)
{
    outputs_t o;

    o.size = size + 2 * GUARD;
    for (int i = 0; i < 2; ++i) {
        o.memory[i] = allocate(o.size);
        memset(o.memory[i], 0xA5, (size_t)o.size);
        o.data[i] = o.memory[i] + GUARD;
    }
    return o;
}

int agree(const outputs_t *o)
{
    return memcmp(o->memory[0], o->memory[1], (size_t)o->size) == 0;
}

int finish(const outputs_t *o)
{
    const int equal = agree(o);

    free(o->memory[0]);
    free(o->memory[1]);
    return equal;
}

int32_t *random_bias(int32_t n)
{
    int32_t *bias = allocate(n * (int32_t)sizeof *bias);

    for (int32_t i = 0; i < n; ++i) {
        bias[i] = one_in(16) ? (int32_t)random32() : between(-(1 << 15), 1 << 15);
    }
    return bias;
}

void *random_bias_s16(int8_t *weight, int32_t outputs, int32_t count, int32_t first, int32_t step,
                      int32_t bits)
{
    const int wide = bits > 31;
    const int64_t limit = ((int64_t)1 << bits) - 1;
    void *const bias = allocate(outputs * (wide ? 8 : 4));

    for (int32_t o = 0; o < outputs; ++o) {
        int64_t room = limit;
        int64_t value;

        for (int32_t i = 0; i < count; ++i) {
            int8_t *const w = weight + o * first + i * step;
            const int64_t largest = (int64_t)(*w < 0 ? -*w : *w) << 15;

            if (largest > room) {
                *w = 0;
            } else {
                room -= largest;
            }
        }
        value = (int64_t)random32() << 16 | random32() >> 16;
        value = one_in(4) ? room : value % (1 + (room < 1 << 20 || one_in(4) ? room : 1 << 20));
        value = one_in(2) ? -value : value;
        if (wide) {
            ((int64_t *)bias)[o] = value;
        } else {
            ((int32_t *)bias)[o] = (int32_t)value;
        }
    }
    return bias;
}
