/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "floats.h"
#include "harness.h"
#include "ref.h"

int activation_s8_case(activation_fn variant, activation_fn ref)
{
    const cortexm_activation_s8_t p = {length() * between(1, 5)};
    int8_t *in = random_bytes(p.count);
    int8_t *table = random_bytes(256);
    outputs_t o = outputs(p.count);
    int equal;

    variant(&p, in, table, o.data[0]);
    ref(&p, in, table, o.data[1]);
    equal = agree(&o);
    memcpy(o.data[0], in, (size_t)p.count);
    variant(&p, o.data[0], table, o.data[0]);
    free(in);
    free(table);
    return finish(&o) && equal;
}

/* With differences that have 32 bits, or those alone whose exponential counts (`few`). */
static int softmax_codes(softmax_fn variant, softmax_fn ref, int32_t factor, int32_t size, int few)
{
    const int32_t shift = between(15, 24);
    const int32_t lowest = few ? 0x3fffffff / ((factor >> (31 - shift)) + 1) : 1 << (31 - shift);
    cortexm_softmax_s8_t p;
    int32_t count;
    int8_t *in;
    outputs_t o;
    int equal;

    p.outer = between(1, 3);
    p.inner = one_in(2) ? 1 : between(2, 5);
    p.size = size;
    p.multiplier = factor;
    p.shift = shift;
    p.diff_min = one_in(3) ? -255 : -between(0, 255);
    if (p.diff_min < -lowest) {
        p.diff_min = -lowest;
    }
    count = p.outer * p.inner * p.size;
    in = random_bytes(count);
    if (one_in(4)) {
        memset(in, between(0, 255), (size_t)count); /* equal codes: the largest sums */
    }
    o = outputs(count);
    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    equal = agree(&o);
    memcpy(o.data[0], in, (size_t)count);
    variant(&p, o.data[0], o.data[0]);
    free(in);
    return finish(&o) && equal;
}

int softmax_s8_case(softmax_fn variant, softmax_fn ref)
{
    const int32_t size = one_in(16) ? between(300, 2000) : length();

    return softmax_codes(variant, ref, multiplier(), size, 0);
}

int softmax_few_s8_case(softmax_fn variant, softmax_fn ref)
{
    return softmax_codes(variant, ref, between(1 << 30, INT32_MAX), between(1, 64), 1);
}

/* Into other memory, then in place; `in` is freed. */
static int softmax_of_codes(softmax_table_fn variant, softmax_table_fn ref, const cortexm_softmax_s8_t *p,
                            int8_t *in, const int32_t *table)
{
    const int32_t count = p->outer * p->inner * p->size;
    outputs_t o = outputs(count);
    int equal;

    variant(p, in, table, o.data[0]);
    ref(p, in, table, o.data[1]);
    equal = agree(&o);
    memcpy(o.data[0], in, (size_t)count);
    variant(p, o.data[0], table, o.data[0]);
    free(in);
    return finish(&o) && equal;
}

static int softmax_with(softmax_table_fn variant, softmax_table_fn ref, cortexm_softmax_s8_t p,
                        const int32_t *table)
{
    const int32_t count = p.outer * p.inner * p.size;
    int8_t *in = random_bytes(count);

    if (one_in(3)) {
        for (int32_t i = 0; i < count; ++i) {
            in[i] = (int8_t)between(-3, 3);
        }
    } else if (one_in(4)) {
        memset(in, between(0, 255), (size_t)count); /* equal codes: the largest sums */
    }
    return softmax_of_codes(variant, ref, &p, in, table);
}

/* Exponentials fall with the distance; a few are equal, and some are 0. */
static int softmax_by_table(softmax_table_fn variant, softmax_table_fn ref, cortexm_softmax_s8_t p)
{
    int32_t table[256];

    table[255] = INT32_MAX;
    for (int i = 254; i >= 0; --i) {
        table[i] = one_in(8) ? table[i + 1] : between(0, table[i + 1]);
    }
    return softmax_with(variant, ref, p, table);
}

int softmax_rows_s8_case(softmax_table_fn variant, softmax_table_fn ref)
{
    const int32_t count = one_in(3) ? between(1, 256) : between(20, 128);
    cortexm_softmax_s8_t p = {0};
    int32_t table[261];
    int32_t e = INT32_MAX;

    p.outer = one_in(3) ? 1 : length();
    p.inner = 1;
    p.size = between(4, 64);
    table[0] = 2 * between(0, (1 << 22) - 3); /* what it makes of 2^31 is no share */
    table[1] = INT32_MIN + table[0] / 2;
    table[2] = count;
    table[3] = 1 << 19;
    table[4] = INT32_MIN;
    for (int i = count; i > 0; --i) {
        table[4 + i] = (e - (1 << 30)) * 2;
        e = one_in(8) ? e : between(e - e / 8, e);
    }
    return softmax_with(variant, ref, p, table);
}

int softmax_table_s8_case(softmax_table_fn variant, softmax_table_fn ref)
{
    cortexm_softmax_s8_t p = {0};

    p.outer = between(1, 3);
    p.inner = one_in(2) ? 1 : between(2, 11);
    p.size = one_in(16) ? between(300, 2000) : length();
    return softmax_by_table(variant, ref, p);
}

static int softmax_of_few(softmax_table_fn variant, softmax_table_fn ref, int32_t size)
{
    cortexm_softmax_s8_t p = {0};

    p.inner = one_in(2) ? 1 : between(2, 11);
    p.outer = p.inner == 1 ? length() : between(1, 3);
    p.size = size;
    return softmax_by_table(variant, ref, p);
}

int softmax_short_s8_case(softmax_table_fn variant, softmax_table_fn ref)
{
    return softmax_of_few(variant, ref, between(3, 5));
}

int softmax_six_s8_case(softmax_table_fn variant, softmax_table_fn ref)
{
    return softmax_of_few(variant, ref, 6);
}

int softmax_seven_s8_case(softmax_table_fn variant, softmax_table_fn ref)
{
    return softmax_of_few(variant, ref, 7);
}

/* Factors of numbers that fall, as exponentials do, and that beside the largest one are none whose share the least sum
 * changes. Codes lie together or anywhere. */
static int softmax_by_factors(softmax_factors_fn variant, softmax_factors_fn ref, cortexm_softmax_s8_t p)
{
    static const int32_t constants[] = {-1010580540, 505290270, 1 << 30, 525315};
    const int32_t limit = one_in(3) ? 255 : between(-1, 255); /* in numbers from 0 to 255 */
    const int32_t block = one_in(3) ? 32 : between(8, 128);
    const int32_t blocks = (255 + block) / block;
    const int32_t start[] = {INT32_MAX / block, -block, 4 * (block + blocks), limit - 256};
    uint32_t factors[8 + 136 + 65];
    uint32_t *const across = factors + 8 + block;
    int8_t *const corrections = (int8_t *)(across + blocks);
    const int32_t count = p.outer * p.inner * p.size;
    const int is_near = one_in(2);
    const int spread = between(0, 4);
    int8_t *in = random_bytes(count);

    for (int32_t i = 0; i < blocks; ++i) {
        across[i] = i == blocks - 1 ? UINT32_MAX : (uint32_t)between(0, INT32_MAX) >> between(0, 12);
    }
    for (int32_t i = 0; i < block; ++i) {
        factors[8 + i] = i == block - 1
                             ? UINT32_C(1) << 31
                             : (uint32_t)between(1 << 27, INT32_MAX) >> (one_in(4) ? 0 : between(0, 3));
    }
    memcpy(factors, start, sizeof start);
    memcpy(factors + 4, constants, sizeof constants);
    corrections[0] = 0;
    for (int32_t i = 1; i <= 255 - limit; ++i) {
        /* The largest exponential and 0 have none. */
        corrections[i] = (int8_t)(i + limit >= 256 - block ? 0 : between(0, 127));
    }
    for (int32_t i = 0; i < count && is_near; ++i) {
        in[i] = (int8_t)between(-(1 << spread), 1 << spread);
    }
    return softmax_of_codes(variant, ref, &p, in, (const int32_t *)factors);
}

int softmax_factors_s8_case(softmax_factors_fn variant, softmax_factors_fn ref)
{
    cortexm_softmax_s8_t p = {0};

    p.outer = between(1, 5);
    p.inner = 1;
    p.size = between(1, 64);
    return softmax_by_factors(variant, ref, p);
}

int softmax_factor_row_s8_case(softmax_factors_fn variant, softmax_factors_fn ref, int32_t least, int32_t most)
{
    const cortexm_softmax_s8_t p = {.outer = 1, .size = between(least, most), .inner = 1};

    return softmax_by_factors(variant, ref, p);
}

int softmax_factors_of_five_s8_case(softmax_factors_fn variant, softmax_factors_fn ref)
{
    const cortexm_softmax_s8_t p = {.outer = between(1, 11), .size = 5, .inner = 1};

    return softmax_by_factors(variant, ref, p);
}

int softmax_factor_columns_s8_case(softmax_factors_fn variant, softmax_factors_fn ref)
{
    cortexm_softmax_s8_t p = {0};

    p.outer = between(1, 11);
    p.inner = one_in(2) ? 1 : between(2, 11);
    p.size = between(1, 16);
    return softmax_by_factors(variant, ref, p);
}

/* The same of blocks. Often products are small, and corrections what makes them 0, so that another one would make a
 * number below 0 of them, whose share is seen. */
static int softmax_by_blocks(softmax_blocks_fn variant, softmax_blocks_fn ref, int32_t size, int32_t limit)
{
    static const uint32_t constants[] = {0x10001, 1 << 30, 0xc3c3c3c4, 0x1e1e1e1e, 1 << 20};
    uint32_t factors[74 + 64];
    int8_t *const corrections = (int8_t *)(factors + 74);
    const cortexm_softmax_s8_t p = {.outer = between(1, 5), .size = size, .inner = 1};
    const int32_t count = p.outer * size;
    const int32_t spread = between(0, 9);
    const int32_t of_largest = limit == 255 ? 0 : between(0, 127); /* or what all have */
    int8_t *in = random_bytes(count);

    for (int i = 0; i < 63; ++i) {
        factors[i] = one_in(4) ? (uint32_t)between(1, 128) : (uint32_t)between(1 << 27, INT32_MAX - 128);
    }
    factors[63] = (UINT32_C(1) << 31) - (uint32_t)of_largest;
    for (int i = 0; i < 4; ++i) {
        factors[64 + i] = i == 3      ? UINT32_MAX
                          : one_in(2) ? (uint32_t)between(1, 254)
                                      : (uint32_t)between(1 << 12, INT32_MAX) >> between(0, 3);
    }
    factors[68] = (uint32_t)limit * UINT32_C(0x01010101);
    memcpy(factors + 69, constants, sizeof constants);
    for (int32_t n = 255; n >= limit; --n) {
        const uint64_t product = (uint64_t)factors[n % 64] * factors[64 + n / 64] >> 32;
        const int32_t least = product < 128 ? -(int32_t)product : -128;
        const int32_t any = between(least, 127);

        corrections[n - limit] = (int8_t)(n == 255 ? of_largest : one_in(2) ? least : any);
    }
    if (limit > 0 && limit < 255) {
        corrections[0] = 0;
    }
    for (int32_t i = 0; i < count && spread < 8; ++i) {
        in[i] = (int8_t)between(-(1 << spread) + 1, (1 << spread) - 1);
    }
    return softmax_of_codes(variant, ref, &p, in, (const int32_t *)factors);
}

int softmax_blocks_s8_case(softmax_blocks_fn variant, softmax_blocks_fn ref)
{
    return softmax_by_blocks(variant, ref, between(8, 64), 0);
}

int any_softmax_blocks_s8_case(softmax_blocks_fn variant, softmax_blocks_fn ref, int32_t size)
{
    return softmax_by_blocks(variant, ref, size, one_in(3) ? 255 : between(0, 255));
}

static int softmax_of_pairs(softmax_two_fn variant, softmax_two_fn ref, int32_t outer, int32_t inner)
{
    const cortexm_softmax_s8_t p = {.outer = outer, .size = 2, .inner = inner};
    int8_t *table = random_bytes(511);
    int32_t count;
    int8_t *in;
    outputs_t o;
    int equal;

    count = p.outer * p.inner * p.size;
    in = random_bytes(count);
    if (one_in(4)) { /* the largest differences */
        for (int32_t i = 0; i < count; ++i) {
            in[i] = one_in(2) ? INT8_MIN : INT8_MAX;
        }
    }
    o = outputs(count);
    variant(&p, in, table, o.data[0]);
    ref(&p, in, table, o.data[1]);
    equal = agree(&o);
    memcpy(o.data[0], in, (size_t)count);
    variant(&p, o.data[0], table, o.data[0]);
    free(in);
    free(table);
    return finish(&o) && equal;
}

int softmax_two_s8_case(softmax_two_fn variant, softmax_two_fn ref)
{
    const int32_t outer = one_in(2) ? length() : between(1, 3);

    return softmax_of_pairs(variant, ref, outer, one_in(2) ? 1 : length());
}

int softmax_pair_s8_case(softmax_two_fn variant, softmax_two_fn ref)
{
    return softmax_of_pairs(variant, ref, 1, 1);
}

/* A table of int16 codes; a smooth one has no steps of more than 2^15 - 1, often of as much. */
int16_t *table_s16(int32_t bits, int is_smooth)
{
    const int32_t count = (65536 >> bits) + 1;
    const int32_t most = one_in(2) ? INT16_MAX : between(0, 600);
    int16_t *const table = random_codes_s16(count);

    for (int32_t i = 1; is_smooth && i < count; ++i) {
        int32_t step = one_in(3) ? (one_in(2) ? most : -most) : between(-most, most);

        if (table[i - 1] + step > INT16_MAX || table[i - 1] + step < INT16_MIN) {
            step = -step;
        }
        table[i] = (int16_t)(table[i - 1] + step);
    }
    return table;
}

int any_activation_s16_case(activation_s16_fn variant, activation_s16_fn ref, int is_smooth)
{
    const cortexm_activation_s16_t p = {length() * between(1, 5), between(4, 7)};
    int16_t *in = random_codes_s16(p.count);
    int16_t *table = table_s16(p.bits, is_smooth);
    outputs_t o = outputs(2 * p.count);
    int equal;

    variant(&p, in, table, o.data[0]);
    ref(&p, in, table, o.data[1]);
    equal = agree(&o);
    memcpy(o.data[0], in, 2 * (size_t)p.count);
    variant(&p, o.data[0], table, o.data[0]);
    free(in);
    free(table);
    return finish(&o) && equal;
}

/* What a kernel of softmax of int16 takes. */
typedef struct {
    int32_t least, most; /* elements of a column */
    int32_t bits;        /* of the multiplier */
    int32_t inner;       /* columns beside each other, at most */
    int32_t kept;        /* bytes of scratch memory for each of a column's elements */
    int32_t even;        /* whether columns are in pairs */
    int32_t outer;       /* of those columns, at most */
} softmax_limits_t;

/* With `rows`, a kernel that keeps exponentials, if that is not NULL. */
static int softmax_codes_s16(softmax_s16_fn columns, softmax_rows_fn rows, softmax_limits_t limits)
{
    const int32_t least = limits.least;
    const int32_t most = limits.most;
    cortexm_softmax_s16_t p;
    void *scratch = NULL;
    int32_t count;
    int16_t *in;
    outputs_t o;
    int equal;

    p.outer = between(1, limits.outer);
    p.inner = 1;
    if (limits.inner > 1 && (limits.kept == 8 || !one_in(2))) {
        p.inner = between(2, limits.inner);
    }
    p.inner += limits.even ? p.inner % 2 : 0;
    p.size = one_in(16) ? between(300, 700) : length();
    p.size = p.size < least || p.size > most ? between(least, most < 40 ? most : 40) : p.size;
    p.size = most > 700 && one_in(100) ? most : p.size;
    p.multiplier = one_in(4) ? (one_in(2) ? UINT32_MAX : (uint32_t)between(0, 1))
                             : random32() >> between(0, 20);
    if (one_in(4)) {
        p.multiplier = UINT32_C(1) << between(0, 31); /* exponents without a fraction */
    }
    p.multiplier >>= 32 - limits.bits;
    count = p.outer * p.inner * p.size;
    in = random_codes_s16(count);
    if (one_in(3)) {
        const int32_t about = between(-32000, 32000);

        for (int32_t i = 0; i < count; ++i) {
            in[i] = (int16_t)between(about - 200, about + 200);
        }
    }
    if (one_in(8)) {
        memset(in, between(0, 255), 2 * (size_t)count); /* equal codes: the largest sums */
    }
    o = outputs(2 * count);
    cortexm_softmax_s16_ref(&p, in, o.data[1]);
    if (rows != NULL) {
        scratch = allocate(limits.kept * p.size);
        rows(&p, in, o.data[0], scratch);
    } else {
        columns(&p, in, o.data[0]);
    }
    equal = agree(&o);
    memcpy(o.data[0], in, 2 * (size_t)count);
    if (rows != NULL) {
        rows(&p, o.data[0], o.data[0], scratch);
    } else {
        columns(&p, o.data[0], o.data[0]);
    }
    free(scratch);
    free(in);
    return finish(&o) && equal;
}

int softmax_s16_case(softmax_s16_fn variant, softmax_s16_fn ref)
{
    (void)ref;
    return softmax_codes_s16(variant, NULL, (softmax_limits_t){1, 700, 32, 5, 0, 0, 6});
}

int softmax_few_s16_case(softmax_s16_fn variant, softmax_s16_fn ref)
{
    (void)ref;
    return softmax_codes_s16(variant, NULL, (softmax_limits_t){1, 64, 32, 5, 0, 0, 6});
}

/* Of columns of so many elements. */
#define SOFTMAX_OF(number, elements)                                                               \
    int softmax_of_##number##_s16_case(softmax_s16_fn variant, softmax_s16_fn ref)                 \
    {                                                                                              \
        (void)ref;                                                                                 \
        return softmax_codes_s16(variant, NULL,                                                    \
                                 (softmax_limits_t){elements, elements, 32, 11, 0, 0, 6});            \
    }

SOFTMAX_OF(two, 2)
SOFTMAX_OF(three, 3)
SOFTMAX_OF(four, 4)
SOFTMAX_OF(five, 5)
SOFTMAX_OF(six, 6)
SOFTMAX_OF(seven, 7)

int softmax_pair_s16_case(softmax_s16_fn variant, softmax_s16_fn ref)
{
    (void)ref;
    return softmax_codes_s16(variant, NULL, (softmax_limits_t){2, 2, 32, 1, 0, 0, 1});
}

int softmax_short_s16_case(softmax_s16_fn variant, softmax_s16_fn ref)
{
    (void)ref;
    return softmax_codes_s16(variant, NULL, (softmax_limits_t){3, 4, 30, 11, 0, 0, 6});
}

int softmax_two_in_lanes_s16_case(softmax_s16_fn variant, softmax_s16_fn ref)
{
    (void)ref;
    return softmax_codes_s16(variant, NULL, (softmax_limits_t){2, 2, 30, 11, 0, 0, 6});
}

int softmax_columns_s16_case(softmax_s16_fn variant, softmax_s16_fn ref)
{
    (void)ref;
    return softmax_codes_s16(variant, NULL, (softmax_limits_t){1, 40, 30, 11, 0, 0, 6});
}

int softmax_kept_rows_s16_case(softmax_s16_fn variant, softmax_s16_fn ref)
{
    (void)ref;
    return softmax_codes_s16(variant, NULL, (softmax_limits_t){1, 64, 30, 1, 0, 0, 6});
}

int any_softmax_row_s16_case(softmax_s16_fn variant, int32_t least, int32_t most)
{
    return softmax_codes_s16(variant, NULL, (softmax_limits_t){least, most, 30, 1, 0, 0, 1});
}

int softmax_kept_pairs_s16_case(softmax_s16_fn variant, softmax_s16_fn ref)
{
    (void)ref;
    return softmax_codes_s16(variant, NULL, (softmax_limits_t){2, 64, 24, 1, 0, 0, 6});
}

int softmax_kept_row_s16_case(softmax_s16_fn variant, softmax_s16_fn ref)
{
    (void)ref;
    return softmax_codes_s16(variant, NULL, (softmax_limits_t){2, 64, 24, 1, 0, 0, 1});
}

int softmax_rows_of_eight_s16_case(softmax_s16_fn variant, softmax_s16_fn ref)
{
    (void)ref;
    return softmax_codes_s16(variant, NULL, (softmax_limits_t){5, 8, 30, 1, 0, 0, 6});
}

int softmax_fives_s16_case(softmax_s16_fn variant, softmax_s16_fn ref)
{
    (void)ref;
    return softmax_codes_s16(variant, NULL, (softmax_limits_t){5, 5, 30, 1, 0, 0, 11});
}

int any_softmax_rows_of_s16_case(softmax_s16_fn variant, int32_t size)
{
    return softmax_codes_s16(variant, NULL, (softmax_limits_t){size, size, 24, 1, 0, 0, 6});
}

int softmax_rows_s16_case(softmax_rows_fn variant, softmax_rows_fn ref)
{
    (void)ref;
    return softmax_codes_s16(NULL, variant, (softmax_limits_t){2, 2047, 32, 1, 4, 0, 6});
}

int softmax_gentle_rows_s16_case(softmax_rows_fn variant, softmax_rows_fn ref)
{
    (void)ref;
    return softmax_codes_s16(NULL, variant, (softmax_limits_t){2, 2047, 24, 1, 4, 0, 6});
}

int softmax_pairs_s16_case(softmax_rows_fn variant, softmax_rows_fn ref)
{
    (void)ref;
    return softmax_codes_s16(NULL, variant, (softmax_limits_t){2, 2047, 24, 9, 8, 1, 6});
}

int softmax_odd_pairs_s16_case(softmax_rows_fn variant, softmax_rows_fn ref)
{
    (void)ref;
    return softmax_codes_s16(NULL, variant, (softmax_limits_t){2, 2047, 24, 9, 8, 0, 6});
}

int softmax_long_columns_s16_case(softmax_rows_fn variant, softmax_rows_fn ref)
{
    (void)ref;
    return softmax_codes_s16(NULL, variant, (softmax_limits_t){2, 2047, 32, 9, 8, 0, 6});
}

static int any_softmax_f32_case(softmax_f32_fn variant, softmax_f32_fn ref, closeness_t closeness)
{
    cortexm_softmax_f32_t p;
    int32_t count;
    float *in;
    outputs_t o;

    p.outer = between(1, 4);
    p.size = between(1, 12);
    p.inner = between(1, 4);
    count = p.outer * p.size * p.inner;
    in = closeness == EXACT ? reals(count) : any_reals(count);
    o = float_outputs(count);
    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return closeness == EXACT ? finish(&o) : finish_floats(&o, closeness);
}

int softmax_f32_case(softmax_f32_fn variant, softmax_f32_fn ref)
{
    return any_softmax_f32_case(variant, ref, EXACT);
}

int softmax_close_f32_case(softmax_f32_fn variant, softmax_f32_fn ref)
{
    return any_softmax_f32_case(variant, ref, CLOSE);
}

static int any_unary_case(unary_fn variant, unary_fn ref, closeness_t closeness, int subnormal)
{
    cortexm_unary_f32_t p;
    float *in;
    outputs_t o;

    p.count = between(1, 40);
    p.alpha = real();
    p.scale = real();
    p.input_scale = real();
    in = any_reals(p.count);
    if (closeness != EXACT && one_in(2)) { /* as far as exponentials go, and further */
        p.input_scale = 1.0f;
        for (int32_t i = 0; i < p.count; ++i) {
            in[i] *= 30.0f;
        }
    }
    for (int32_t i = 0; i < p.count && subnormal; ++i) {
        if (one_in(8)) {
            in[i] = ldexpf(in[i], -130);
        }
    }
    o = float_outputs(p.count);
    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish_floats(&o, closeness);
}

int unary_f32_case(unary_fn variant, unary_fn ref)
{
    return any_unary_case(variant, ref, EXACT, 0);
}

int unary_subnormal_f32_case(unary_fn variant, unary_fn ref)
{
    return any_unary_case(variant, ref, EXACT, 1);
}

int unary_close_f32_case(unary_fn variant, unary_fn ref)
{
    return any_unary_case(variant, ref, CLOSE, 1);
}

int clamp_f32_case(clamp_f32_fn variant, clamp_f32_fn ref)
{
    cortexm_clamp_f32_t p;
    float *in;
    outputs_t o;

    p.count = between(1, 40);
    p.low = one_in(4) ? -INFINITY : one_in(3) ? 0.0f : real();
    p.high = one_in(4) ? INFINITY : fmaxf(p.low, real());
    in = any_reals(p.count);
    o = float_outputs(p.count);
    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish_floats(&o, EXACT);
}

#define CLAMP_CASE(name, type, lowest, highest)                                                    \
    int clamp_##name##_case(clamp_##name##_fn variant, clamp_##name##_fn ref)                      \
    {                                                                                              \
        cortexm_clamp_t p;                                                                         \
        type *in;                                                                                  \
        outputs_t o;                                                                               \
                                                                                                   \
        p.count = between(1, 40);                                                                  \
        p.low = between(0, 3) == 0 ? (lowest) : between(0, 60);                                    \
        p.high = between(0, 3) == 0 ? (highest) : between(60, 120);                                \
        in = any_bytes(p.count * (int32_t)sizeof *in);                                             \
        o = outputs(p.count * (int32_t)sizeof *in);                                                \
        variant(&p, in, o.data[0]);                                                                \
        ref(&p, in, o.data[1]);                                                                    \
        free(in);                                                                                  \
        return finish(&o);                                                                         \
    }

CLAMP_CASE(s8, int8_t, INT8_MIN, INT8_MAX)
CLAMP_CASE(u8, uint8_t, 0, UINT8_MAX)
CLAMP_CASE(s16, int16_t, INT16_MIN, INT16_MAX)
CLAMP_CASE(s32, int32_t, INT32_MIN, INT32_MAX)
CLAMP_CASE(s64, int64_t, INT64_MIN, INT64_MAX)
