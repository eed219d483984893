/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- random numbers ------------------------------------------------------------------------- */

static uint32_t state = 1;

void seed_cases(uint32_t seed)
{
    state = seed * 2654435761u + 1u;
}

static uint32_t random32(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static int32_t between(int32_t low, int32_t high)
{
    return (int32_t)(low + (int64_t)(random32() % ((uint32_t)high - (uint32_t)low + 1u)));
}

static int one_in(int32_t n)
{
    return between(1, n) == 1;
}

/* Around the widths of vectors and blocks, and primes. */
static int32_t length(void)
{
    static const int32_t lengths[] = {1,  2,  3,  4,  5,  7,  8,  9,  11, 12, 13, 15,
                                      16, 17, 19, 23, 24, 31, 32, 33, 37, 40, 47, 65};

    return lengths[between(0, (int32_t)(sizeof lengths / sizeof *lengths) - 1)];
}

static int32_t code(void)
{
    return one_in(3) ? (one_in(2) ? INT8_MIN : INT8_MAX) : between(INT8_MIN, INT8_MAX);
}

static int32_t multiplier(void)
{
    if (one_in(8)) {
        return one_in(2) ? 0 : (one_in(2) ? 1 << 30 : INT32_MAX);
    }
    return between(1 << 30, INT32_MAX);
}

/* Mostly a shift that brings sums of about 2^bits into the range of a code. */
static int32_t shift(int32_t bits)
{
    return one_in(8) ? between(-31, 30) : between(-bits, 9 - bits);
}

static void clamp_range(int8_t *low, int8_t *high)
{
    *low = INT8_MIN;
    *high = INT8_MAX;
    if (one_in(2)) {
        *low = (int8_t)code();
        *high = (int8_t)between(*low, INT8_MAX);
    }
}

static int32_t sweep = -1;

void sweep_cases(int32_t boundary)
{
    sweep = boundary;
}

/* A random extent, or in a sweep the next one of 1 … limit. */
static int32_t extent(int32_t random, int32_t limit)
{
    return sweep < 0 ? random : 1 + sweep % limit;
}

/* --- buffers -------------------------------------------------------------------------------- */

static void *allocate(int32_t size)
{
    /* No byte more than asked for: a sanitizer then sees the first one beyond. */
    void *memory = malloc((size_t)(size > 0 ? size : 1));

    if (memory == NULL) {
        abort();
    }
    return memory;
}

static void randomize(void *memory, int32_t size)
{
    unsigned char *bytes = memory;
    const int extreme = one_in(6);

    for (int32_t i = 0; i < size; ++i) {
        bytes[i] = (unsigned char)(extreme ? (one_in(2) ? 0x80u : 0x7fu) : random32() >> 24);
    }
}

static void *random_bytes(int32_t size)
{
    void *memory = allocate(size);

    randomize(memory, size);
    return memory;
}

/* Two equal outputs between guard bytes. */
#define GUARD 16

typedef struct {
    int32_t size;
    unsigned char *memory[2];
    void *data[2];
} outputs_t;

static outputs_t outputs(int32_t size)
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

static int agree(const outputs_t *o)
{
    return memcmp(o->memory[0], o->memory[1], (size_t)o->size) == 0;
}

static int finish(const outputs_t *o)
{
    const int equal = agree(o);

    free(o->memory[0]);
    free(o->memory[1]);
    return equal;
}

static int32_t *random_bias(int32_t n)
{
    int32_t *bias = allocate(n * (int32_t)sizeof *bias);

    for (int32_t i = 0; i < n; ++i) {
        bias[i] = one_in(16) ? (int32_t)random32() : between(-(1 << 15), 1 << 15);
    }
    return bias;
}

/* --- packed constants -------------------------------------------------------------------------- */

/* Channels of every group up to whole blocks; takes over `array`. */
static void *pad_channels(void *array, int32_t size, int32_t channels, int32_t groups, int32_t block)
{
    const int32_t padded = (channels + block - 1) / block * block;
    char *result = allocate(groups * padded * size);

    memset(result, 0, (size_t)(groups * padded * size));
    for (int32_t g = 0; g < groups; ++g) {
        memcpy(result + g * padded * size, (char *)array + g * channels * size,
               (size_t)(channels * size));
    }
    free(array);
    return result;
}

/* As gemm4 in plan/pack.py, written the other way round: byte by byte. */
static int8_t *pack_gemm4(const int8_t *weight, int32_t channels, int32_t groups, int32_t depth)
{
    const int32_t blocks = (channels + 3) / 4;
    const int32_t first = (depth - 1) % 16 + 1;
    int8_t *packed = allocate(groups * blocks * 4 * depth + 15);

    randomize(packed, groups * blocks * 4 * depth + 15);
    for (int32_t g = 0; g < groups; ++g) {
        for (int32_t o = 0; o < channels; ++o) {
            int8_t *block = packed + (g * blocks + o / 4) * 4 * depth;

            for (int32_t k = 0; k < depth; ++k) {
                const int32_t chunk = k < first ? 0 : 4 * (k - (k - first) % 16);
                const int32_t width = k < first ? first : 16;
                const int32_t at = k < first ? k : (k - first) % 16;

                block[chunk + o % 4 * width + at] = weight[(g * channels + o) * depth + k];
            }
        }
    }
    return packed;
}

/* The next three as the functions of their names in plan/pack.py. */
static int8_t *pack_fours(const int8_t *weight, int32_t channels, int32_t groups, int32_t depth)
{
    const int32_t blocks = (channels + 3) / 4;
    int8_t *packed = allocate(groups * blocks * 4 * depth);

    memset(packed, 0x80, (size_t)(groups * blocks * 4 * depth));
    for (int32_t g = 0; g < groups; ++g) {
        for (int32_t o = 0; o < channels; ++o) {
            for (int32_t k = 0; k < depth; ++k) {
                packed[((g * blocks + o / 4) * depth + k) * 4 + o % 4] =
                    (int8_t)(weight[(g * channels + o) * depth + k] ^ 0x80);
            }
        }
    }
    return packed;
}

static int8_t *pack_pairs(const int8_t *weight, int32_t channels, int32_t depth)
{
    const int32_t padded = (depth + 3) / 4 * 4;
    int8_t *packed = allocate((channels + 3) / 4 * 4 * padded);

    for (int32_t o = 0; o < (channels + 3) / 4 * 4; o += 2) {
        for (int32_t k = 0; k < padded; ++k) {
            const int32_t a = o < channels && k < depth ? weight[o * depth + k] : 0;
            const int32_t b = o + 1 < channels && k < depth ? weight[(o + 1) * depth + k] : 0;
            const uint32_t both = (uint32_t)(256 * b + a + 128);
            const int32_t at = o / 4 * 4 * padded + k / 2 * 8 + o % 4 / 2 * 4 + k % 2 * 2;

            packed[at] = (int8_t)(both & 0xffu);
            packed[at + 1] = (int8_t)(both >> 8 & 0xffu);
        }
    }
    return packed;
}

static int8_t *pack_depthwise(conv_kind_t kind, const int8_t *weight, int32_t taps, int32_t channels)
{
    int8_t *packed = allocate((channels + 3) / 4 * 4 * taps * 2);

    memset(packed, 0, (size_t)((channels + 3) / 4 * 4 * taps * 2));
    for (int32_t o = 0; o < channels; ++o) {
        for (int32_t t = 0; t < taps; ++t) {
            const int8_t w = weight[t * channels + o];

            if (kind == DEPTHWISE_TAP_FOURS) {
                packed[(o / 4 * taps + t) * 4 + o % 4] = w;
            } else {
                int8_t *const row = packed + (o * 3 + t / 3) * 4;

                row[t % 3 + t % 3 / 2] = w;
                if (t % 3 == 1) {
                    row[2] = w;
                }
            }
        }
    }
    return packed;
}

/* As the cases `shifts_right` and `narrow_sums` of plan/cases.py. */
static void make_narrow(int8_t *shifts, int32_t *bias, int32_t channels)
{
    for (int32_t i = 0; i < channels; ++i) {
        if (shifts != NULL && shifts[i] >= 0) {
            shifts[i] = (int8_t)(-1 - shifts[i]);
        }
        bias[i] /= 4;
    }
}

/* Of chunks of eight channels, the last chunk the last eight: place `i` of a packed array. */
static int32_t channel_of_place(int32_t i, int32_t channels)
{
    const int32_t start = i / 8 * 8;

    return (start + 8 > channels ? channels - 8 : start) + i % 8;
}

/* As depthwise8 in plan/pack.py; takes over `weight`. */
static int8_t *pack_depthwise8(int8_t *weight, int32_t channels, int32_t taps)
{
    const int32_t places = (channels + 7) / 8 * 8;
    int8_t *packed = allocate(places * taps);

    for (int32_t i = 0; i < places; ++i) {
        for (int32_t t = 0; t < taps; ++t) {
            packed[(i / 8 * taps + t) * 8 + i % 8] =
                weight[t * channels + channel_of_place(i, channels)];
        }
    }
    free(weight);
    return packed;
}

/* An array per channel of depthwise8: a chunk's even channels, then its odd ones; takes over `array`. */
static void *pack_halves(void *array, int32_t size, int32_t channels)
{
    const int32_t places = (channels + 7) / 8 * 8;
    char *packed = allocate(places * size);

    for (int32_t i = 0; i < places; ++i) {
        const int32_t half = i % 8 / 4;
        const int32_t channel = channel_of_place(i / 8 * 8 + i % 4 * 2 + half, channels);

        memcpy(packed + i * size, (char *)array + channel * size, (size_t)size);
    }
    free(array);
    return packed;
}

/* --- cases ---------------------------------------------------------------------------------- */

int conv_case(conv_fn variant, conv_fn ref, conv_kind_t kind)
{
    cortexm_conv_s8_t p;
    const int32_t narrow = between(1, 9);
    const int is_depthwise = kind == DEPTHWISE_TAP_FOURS || kind == DEPTHWISE_WINDOW_ROWS ||
                             kind == DEPTHWISE8;
    const int32_t any_in = extent(one_in(2) ? narrow : length(), 33) * (kind == DEPTHWISE_WINDOW_ROWS ? 4 : 1);
    const int32_t group_in = kind == DEPTHWISE8 && any_in < 8 ? 7 + any_in : any_in;
    const int32_t group_out = extent(one_in(2) ? between(1, 9) : length(), 31);
    const int32_t groups = kind <= CONV_GEMM4 && one_in(3) && sweep < 0 ? between(2, 4) : 1;
    const int32_t weights_per_output = is_depthwise ? 1 : group_in;
    const int32_t multiple = kind == DEPTHWISE_TAP_FOURS ? between(1, 3) : 1;
    int32_t in_size;
    int32_t weight_size;
    int32_t *multipliers;
    int8_t *shifts;
    int8_t *in;
    int8_t *weight;
    int8_t *packed;
    int8_t *scratch = NULL;
    int32_t *bias;
    outputs_t o;

    p.groups = (uint16_t)groups;
    p.in_c = (uint16_t)(groups * group_in);
    p.out_c = (uint16_t)(groups * (is_depthwise ? group_in * multiple : group_out));
    p.kernel_h = (uint16_t)between(1, 5);
    p.kernel_w = (uint16_t)(one_in(8) ? between(6, 10) : between(1, 5));
    if (one_in(3)) {
        p.kernel_h = p.kernel_w = one_in(2) ? 1 : 3;
    }
    p.stride_h = (uint16_t)between(1, 3);
    p.stride_w = (uint16_t)between(1, 3);
    p.dilation_h = (uint16_t)(one_in(2) ? 1 : between(1, 3));
    p.dilation_w = (uint16_t)(one_in(2) ? 1 : between(1, 3));
    if (kind == DEPTHWISE_WINDOW_ROWS) {
        p.kernel_h = p.kernel_w = 3;
        p.dilation_h = p.dilation_w = 1;
        p.stride_w = (uint16_t)between(1, 2);
    }
    p.in_h = (uint16_t)between(1, kind == DEPTHWISE_WINDOW_ROWS ? 20 : 8);
    p.in_w = (uint16_t)between(1, 11);
    p.out_h = (uint16_t)between(1, kind == DEPTHWISE_WINDOW_ROWS ? 17 : 5);
    p.out_w = (uint16_t)extent(between(1, 9), 9);
    p.in_y0 = (int16_t)-between(0, p.kernel_h * p.dilation_h);
    p.in_x0 = (int16_t)-between(0, p.kernel_w * p.dilation_w);
    if (one_in(4)) {
        p.in_y0 = (int16_t)between(-3, 3);
        p.in_x0 = (int16_t)between(-3, 3);
    }
    p.in_row_stride = p.in_w * p.in_c + between(0, 3);
    p.out_row_stride = p.out_w * p.out_c + between(0, 3);
    p.in_zero_point = (int8_t)(one_in(3) ? 0 : code());
    p.out_zero_point = (int8_t)code();
    clamp_range(&p.act_min, &p.act_max);

    multipliers = allocate(p.out_c * (int32_t)sizeof *multipliers);
    shifts = allocate(p.out_c);
    for (int32_t i = 0; i < p.out_c; ++i) {
        multipliers[i] = multiplier();
        shifts[i] = (int8_t)shift(16);
        if ((kind == CONV_GEMM4 || kind == DEPTHWISE8) && shifts[i] >= 0) {
            shifts[i] = (int8_t)(-1 - shifts[i]);
        }
    }
    p.multiplier = multipliers;
    p.shift = shifts;

    in_size = (p.in_h - 1) * p.in_row_stride + p.in_w * p.in_c;
    weight_size = p.out_c * p.kernel_h * p.kernel_w * weights_per_output;
    in = random_bytes(in_size);
    weight = random_bytes(weight_size);
    bias = random_bias(p.out_c);
    if (kind == CONV_PAIRS || kind == DEPTHWISE_WINDOW_ROWS) {
        make_narrow(shifts, bias, p.out_c);
    }
    o = outputs(p.out_h * p.out_row_stride);
    ref(&p, in, weight, bias, o.data[1], NULL);
    if (kind == CONV_GEMM4) {
        const int32_t depth = p.kernel_h * p.kernel_w * group_in;
        const int32_t channels = p.out_c / groups;

        packed = pack_gemm4(weight, channels, groups, depth);
        free(weight);
        weight = packed;
        bias = pad_channels(bias, (int32_t)sizeof *bias, channels, groups, 4);
        multipliers = pad_channels(multipliers, (int32_t)sizeof *multipliers, channels, groups, 4);
        shifts = pad_channels(shifts, 1, channels, groups, 4);
        p.multiplier = multipliers;
        p.shift = shifts;
        scratch = allocate(2 * depth);
    }
    if (kind == CONV_FOURS || kind == CONV_PAIRS) {
        const int32_t depth = p.kernel_h * p.kernel_w * group_in;

        packed = kind == CONV_FOURS ? pack_fours(weight, p.out_c / groups, groups, depth)
                                    : pack_pairs(weight, p.out_c, depth);
        free(weight);
        weight = packed;
        scratch = allocate(kind == CONV_FOURS ? 8 * depth + 8 * ((depth + 63) / 64) + group_in
                                              : (depth + 3) / 4 * 32);
    } else if (kind == DEPTHWISE8) {
        const int32_t taps = p.kernel_h * p.kernel_w;

        weight = pack_depthwise8(weight, p.out_c, taps);
        bias = pack_halves(bias, (int32_t)sizeof *bias, p.out_c);
        multipliers = pack_halves(multipliers, (int32_t)sizeof *multipliers, p.out_c);
        shifts = pack_halves(shifts, 1, p.out_c);
        p.multiplier = multipliers;
        p.shift = shifts;
        scratch = allocate(20 * ((taps + 3) / 4 * 4) + p.in_c);
    } else if (is_depthwise) {
        const int32_t columns = p.stride_w == 1 ? (p.out_w + 1) / 2 : p.out_w;

        packed = pack_depthwise(kind, weight, p.kernel_h * p.kernel_w, p.out_c);
        free(weight);
        weight = packed;
        scratch = allocate(kind == DEPTHWISE_WINDOW_ROWS
                               ? 144 * (columns + 1)
                               : 32 * p.kernel_h * p.kernel_w + p.in_c);
    }
    variant(&p, in, weight, bias, o.data[0], scratch);
    free(in);
    free(weight);
    free(bias);
    free(scratch);
    free(multipliers);
    free(shifts);
    return finish(&o);
}

typedef enum { LINEAR_FOURS, LINEAR_PAIRS, LINEAR_GEMM4 } linear_kind_t;

static int linear_case(linear_fn variant, linear_fn ref, linear_kind_t kind)
{
    const int is_pairs = kind == LINEAR_PAIRS;
    cortexm_linear_s8_t p;
    int8_t *in;
    int8_t *weight;
    int8_t *packed;
    int8_t *scratch = NULL;
    int32_t *bias;
    outputs_t o;

    p.rows = between(1, 5);
    p.in_features = extent(one_in(8) ? between(1, 1100) : length(), 33);
    p.out_features = extent(length(), 31);
    p.multiplier = multiplier();
    p.shift = (int8_t)shift(16);
    if (is_pairs && p.shift >= 0) {
        p.shift = (int8_t)(-1 - p.shift);
    }
    p.weight_zero_point = (int8_t)(one_in(2) ? 0 : code());
    p.out_zero_point = (int8_t)code();
    clamp_range(&p.act_min, &p.act_max);
    in = random_bytes(p.rows * p.in_features);
    weight = random_bytes(p.out_features * p.in_features);
    bias = random_bias(p.out_features);
    packed = is_pairs             ? pack_pairs(weight, p.out_features, p.in_features)
             : kind == LINEAR_GEMM4 ? pack_gemm4(weight, p.out_features, 1, p.in_features)
                                    : pack_fours(weight, p.out_features, 1, p.in_features);
    if (is_pairs) {
        make_narrow(NULL, bias, p.out_features);
        scratch = allocate((p.in_features + 3) / 4 * 8);
    } else if (kind == LINEAR_FOURS) {
        scratch = allocate((p.in_features + 511) / 512 * 4);
    }
    o = outputs(p.rows * p.out_features);
    ref(&p, in, weight, bias, o.data[1], NULL);
    if (kind == LINEAR_GEMM4) {
        bias = pad_channels(bias, (int32_t)sizeof *bias, p.out_features, 1, 4);
    }
    variant(&p, in, packed, bias, o.data[0], scratch);
    free(in);
    free(weight);
    free(packed);
    free(scratch);
    free(bias);
    return finish(&o);
}

int linear_fours_case(linear_fn variant, linear_fn ref)
{
    return linear_case(variant, ref, LINEAR_FOURS);
}

int linear_pairs_case(linear_fn variant, linear_fn ref)
{
    return linear_case(variant, ref, LINEAR_PAIRS);
}

int linear_gemm4_case(linear_fn variant, linear_fn ref)
{
    return linear_case(variant, ref, LINEAR_GEMM4);
}

int batch_matmul_case(batch_matmul_fn variant, batch_matmul_fn ref)
{
    cortexm_batch_matmul_s8_t p;
    int8_t *lhs;
    int8_t *rhs;
    outputs_t o;

    p.batches = between(1, 3);
    p.rows = between(1, 9);
    p.cols = between(1, 9);
    p.inner = length();
    p.multiplier = multiplier();
    p.shift = (int8_t)shift(16);
    p.lhs_zero_point = (int8_t)(one_in(2) ? 0 : code());
    p.rhs_zero_point = (int8_t)(one_in(2) ? 0 : code());
    p.out_zero_point = (int8_t)code();
    lhs = random_bytes(p.batches * p.rows * p.inner);
    rhs = random_bytes(p.batches * p.cols * p.inner);
    o = outputs(p.batches * p.rows * p.cols);
    variant(&p, lhs, rhs, o.data[0], NULL);
    ref(&p, lhs, rhs, o.data[1], NULL);
    free(lhs);
    free(rhs);
    return finish(&o);
}

static int any_pool_case(pool_fn variant, pool_fn ref, int32_t least_channels)
{
    cortexm_pool_s8_t p;
    int8_t *in;
    outputs_t o;

    p.channels = (uint16_t)extent(length(), 33);
    if (p.channels < least_channels) {
        p.channels = (uint16_t)(p.channels + least_channels - 1);
    }
    p.kernel_h = (uint16_t)between(1, 5);
    p.kernel_w = (uint16_t)between(1, 5);
    p.stride_h = (uint16_t)between(1, 3);
    p.stride_w = (uint16_t)between(1, 3);
    p.dilation_h = (uint16_t)(one_in(2) ? 1 : between(1, 3));
    p.dilation_w = (uint16_t)(one_in(2) ? 1 : between(1, 3));
    p.out_h = (uint16_t)between(1, 5);
    p.out_w = (uint16_t)between(1, 5);
    /* Every window has a pixel: its first tap is above the bottom, its last below the top, and
     * dilation does not step over the whole image. */
    p.in_h = (uint16_t)((p.out_h - 1) * p.stride_h + p.dilation_h + between(0, 4));
    p.in_w = (uint16_t)((p.out_w - 1) * p.stride_w + p.dilation_w + between(0, 4));
    p.in_y0 = (int16_t)-between(0, (p.kernel_h - 1) * p.dilation_h);
    p.in_x0 = (int16_t)-between(0, (p.kernel_w - 1) * p.dilation_w);
    p.in_row_stride = p.in_w * p.channels + between(0, 3);
    p.out_row_stride = p.out_w * p.channels + between(0, 3);
    clamp_range(&p.act_min, &p.act_max);
    in = random_bytes((p.in_h - 1) * p.in_row_stride + p.in_w * p.channels);
    o = outputs(p.out_h * p.out_row_stride);
    variant(&p, in, o.data[0], NULL);
    ref(&p, in, o.data[1], NULL);
    free(in);
    return finish(&o);
}

int pool_case(pool_fn variant, pool_fn ref)
{
    return any_pool_case(variant, ref, 1);
}

int pool_4_case(pool_fn variant, pool_fn ref)
{
    return any_pool_case(variant, ref, 4);
}

int pool_16_case(pool_fn variant, pool_fn ref)
{
    return any_pool_case(variant, ref, 16);
}

/* The result's size and the periods of two operands of which one may be broadcast. */
static void periods(int32_t *count, int32_t *a_period, int32_t *b_period)
{
    const int32_t inner = length();
    const int32_t middle = between(1, 4);

    *count = inner * middle * between(1, 3);
    *a_period = *count;
    *b_period = one_in(3) ? 1 : (one_in(2) ? inner : (one_in(2) ? inner * middle : *count));
    if (one_in(2)) {
        const int32_t a = *a_period;

        *a_period = *b_period;
        *b_period = a;
    }
    if (one_in(4)) {
        *a_period = one_in(2) ? 1 : inner;
    }
}

static int any_add_case(add_fn variant, add_fn ref, int shifts_right)
{
    cortexm_add_s8_t p;
    int8_t *a;
    int8_t *b;
    outputs_t o;
    int equal;

    periods(&p.count, &p.a_period, &p.b_period);
    p.a_multiplier = multiplier();
    p.b_multiplier = multiplier();
    p.out_multiplier = multiplier();
    p.a_shift = (int8_t)(one_in(8) ? between(-31, 3) : between(-4, 0));
    p.b_shift = (int8_t)(one_in(8) ? between(-31, 3) : between(-4, 0));
    p.out_shift = (int8_t)shift(28);
    if (shifts_right) {
        p.a_shift = (int8_t)(p.a_shift > 0 ? 0 : p.a_shift);
        p.b_shift = (int8_t)(p.b_shift > 0 ? 0 : p.b_shift);
        p.out_shift = (int8_t)(p.out_shift >= 0 ? -1 - p.out_shift : p.out_shift);
    }
    p.a_zero_point = (int16_t)code();
    p.b_zero_point = (int16_t)code();
    p.out_zero_point = (int8_t)code();
    clamp_range(&p.act_min, &p.act_max);
    a = random_bytes(p.a_period);
    b = random_bytes(p.b_period);
    o = outputs(p.count);
    variant(&p, a, b, o.data[0]);
    ref(&p, a, b, o.data[1]);
    equal = agree(&o);
    if (p.a_period == p.count) { /* in place */
        memcpy(o.data[0], a, (size_t)p.count);
        variant(&p, o.data[0], b, o.data[0]);
    }
    free(a);
    free(b);
    return finish(&o) && equal;
}

int add_case(add_fn variant, add_fn ref)
{
    return any_add_case(variant, ref, 0);
}

int add_shifts_right_case(add_fn variant, add_fn ref)
{
    return any_add_case(variant, ref, 1);
}

int mul_case(mul_fn variant, mul_fn ref)
{
    cortexm_mul_s8_t p;
    int8_t *a;
    int8_t *b;
    outputs_t o;
    int equal;

    periods(&p.count, &p.a_period, &p.b_period);
    p.multiplier = multiplier();
    p.shift = (int8_t)shift(14);
    /* Not all zero points are codes. */
    p.a_zero_point = (int16_t)(one_in(4) ? between(-400, 400) : code());
    p.b_zero_point = (int16_t)(one_in(4) ? between(-400, 400) : code());
    p.out_zero_point = (int8_t)code();
    a = random_bytes(p.a_period);
    b = random_bytes(p.b_period);
    o = outputs(p.count);
    variant(&p, a, b, o.data[0]);
    ref(&p, a, b, o.data[1]);
    equal = agree(&o);
    if (p.b_period == p.count) { /* in place */
        memcpy(o.data[0], b, (size_t)p.count);
        variant(&p, a, o.data[0], o.data[0]);
    }
    free(a);
    free(b);
    return finish(&o) && equal;
}

int minmax_case(minmax_fn variant, minmax_fn ref)
{
    cortexm_minmax_t p;
    int8_t *a;
    int8_t *b;
    outputs_t o;

    periods(&p.count, &p.a_period, &p.b_period);
    a = random_bytes(p.a_period);
    b = random_bytes(p.b_period);
    o = outputs(p.count);
    variant(&p, a, b, o.data[0]);
    ref(&p, a, b, o.data[1]);
    free(a);
    free(b);
    return finish(&o);
}

/* Leaves out of scale() what the case `normal_scale` of plan/cases.py does. */
static int only_normal_scales = 0;

/* A positive float over many magnitudes, at times infinite. */
static float scale(void)
{
    if (one_in(16) && !only_normal_scales) {
        return one_in(2) ? INFINITY : 1e-40f;
    }
    return ldexpf(1.0f + (float)(random32() >> 9) * 0x1p-23f, between(-12, 8));
}

static cortexm_div_t div_params(int32_t low, int32_t high)
{
    cortexm_div_t p;

    p.count = length();
    do {
        p.scale = scale();
    } while (isinf(p.scale));
    p.a_zero_point = one_in(3) ? low : between(low, high);
    p.b_zero_point = one_in(3) ? high : between(low, high);
    p.out_zero_point = one_in(3) ? (one_in(2) ? low : high) : between(low, high);
    return p;
}

int div_s8_case(div_s8_fn variant, div_s8_fn ref)
{
    const cortexm_div_t p = div_params(INT8_MIN, INT8_MAX);
    int8_t *a = random_bytes(p.count);
    int8_t *b = random_bytes(p.count);
    outputs_t o = outputs(p.count);

    b[between(0, p.count - 1)] = (int8_t)p.b_zero_point;
    variant(&p, a, b, o.data[0]);
    ref(&p, a, b, o.data[1]);
    free(a);
    free(b);
    return finish(&o);
}

int div_s16_case(div_s16_fn variant, div_s16_fn ref)
{
    const cortexm_div_t p = div_params(INT16_MIN, INT16_MAX);
    int16_t *a = random_bytes(2 * p.count);
    int16_t *b = random_bytes(2 * p.count);
    outputs_t o = outputs(2 * p.count);

    b[between(0, p.count - 1)] = (int16_t)p.b_zero_point;
    variant(&p, a, b, o.data[0]);
    ref(&p, a, b, o.data[1]);
    free(a);
    free(b);
    return finish(&o);
}

int activation_case(activation_fn variant, activation_fn ref)
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

int softmax_case(softmax_fn variant, softmax_fn ref)
{
    cortexm_softmax_s8_t p;
    int32_t count;
    int8_t *in;
    outputs_t o;
    int equal;

    p.outer = between(1, 3);
    p.inner = one_in(2) ? 1 : between(2, 5);
    p.size = one_in(16) ? between(300, 2000) : length();
    p.multiplier = multiplier();
    p.shift = between(15, 24);
    p.diff_min = one_in(3) ? -255 : -between(0, 255);
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

/* Floats of all kinds: any bit pattern, halves, and their neighbours. */
static float *random_floats(int32_t n)
{
    float *values = random_bytes(n * (int32_t)sizeof *values);

    for (int32_t i = 0; i < n; ++i) {
        if (one_in(2)) {
            values[i] = (float)between(-600, 600) * 0.5f;
        }
        if (one_in(4)) {
            values[i] = nextafterf(values[i], one_in(2) ? INFINITY : -INFINITY);
        }
        if (one_in(16)) {
            values[i] = one_in(2) ? INFINITY : -3.4e38f;
        }
    }
    return values;
}

static cortexm_quantize_t quantize_params(int32_t low, int32_t high)
{
    cortexm_quantize_t p;

    p.count = length();
    p.inv_scale = one_in(2) ? 1.0f : scale();
    p.zero_point = (int16_t)(one_in(3) ? (one_in(2) ? low : high) : between(low, high));
    p.qmin = (int16_t)(one_in(3) ? between(low, high) : low);
    p.qmax = (int16_t)(one_in(3) ? between(p.qmin, high) : high);
    return p;
}

int quantize_s8_case(quantize_s8_fn variant, quantize_s8_fn ref)
{
    const cortexm_quantize_t p = quantize_params(INT8_MIN, INT8_MAX);
    float *in = random_floats(p.count);
    outputs_t o = outputs(p.count);

    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish(&o);
}

int quantize_s16_case(quantize_s16_fn variant, quantize_s16_fn ref)
{
    const cortexm_quantize_t p = quantize_params(INT16_MIN, INT16_MAX);
    float *in = random_floats(p.count);
    outputs_t o = outputs(2 * p.count);

    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish(&o);
}

int dequantize_s8_case(dequantize_s8_fn variant, dequantize_s8_fn ref)
{
    const cortexm_dequantize_t p = {length(), scale(), (int16_t)code()};
    int8_t *in = random_bytes(p.count);
    outputs_t o = outputs(4 * p.count);

    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish(&o);
}

int quantize_s8_normal_case(quantize_s8_fn variant, quantize_s8_fn ref)
{
    int equal;

    only_normal_scales = 1;
    equal = quantize_s8_case(variant, ref);
    only_normal_scales = 0;
    return equal;
}

int dequantize_s8_normal_case(dequantize_s8_fn variant, dequantize_s8_fn ref)
{
    int equal;

    only_normal_scales = 1;
    equal = dequantize_s8_case(variant, ref);
    only_normal_scales = 0;
    return equal;
}

int dequantize_s16_case(dequantize_s16_fn variant, dequantize_s16_fn ref)
{
    const cortexm_dequantize_t p = {length(), scale(),
                                    (int16_t)between(INT16_MIN, INT16_MAX)};
    int16_t *in = random_bytes(2 * p.count);
    outputs_t o = outputs(4 * p.count);

    variant(&p, in, o.data[0]);
    ref(&p, in, o.data[1]);
    free(in);
    return finish(&o);
}

int fill_case(fill_fn variant, fill_fn ref, int32_t element_size)
{
    const cortexm_fill_t p = {one_in(8) ? 0 : length(), (int32_t)random32()};
    outputs_t o = outputs(element_size * p.count);

    variant(&p, o.data[0]);
    ref(&p, o.data[1]);
    return finish(&o);
}

/* Within one buffer, by any number of bytes; the source remains where it is not overwritten. */
int move_case(move_fn variant, move_fn ref)
{
    const cortexm_move_t p = {one_in(8) ? 0 : length()};
    const int32_t by = one_in(2) ? 4 * between(0, 12) : between(0, 40);
    const int32_t first = one_in(2) ? 0 : between(0, 7);
    const int32_t size = first + by + p.count;
    unsigned char *const in = random_bytes(size);
    outputs_t o = outputs(size);

    for (int i = 0; i < 2; ++i) {
        unsigned char *const data = o.data[i];

        memcpy(data, in, (size_t)size);
        (i == 0 ? variant : ref)(&p, data + first + by, data + first);
    }
    free(in);
    return finish(&o);
}

/* A box whose output is dense in a random order of dimensions, perhaps with gaps and flipped, and
 * whose input is dense, broadcast or flipped in each dimension. */
int copy_case(copy_fn variant, copy_fn ref, int32_t element_size)
{
    cortexm_copy_t p;
    int32_t order[CORTEXM_COPY_MAX_RANK];
    int32_t in_count = 1;
    int32_t out_count = 1;
    int32_t in_first = 0;
    int32_t out_first = 0;
    unsigned char *in;
    outputs_t o;

    memset(&p, 0, sizeof p);
    p.rank = between(0, one_in(4) ? CORTEXM_COPY_MAX_RANK : 4);
    for (int32_t d = 0; d < p.rank; ++d) {
        p.dims[d] = one_in(16) ? 0 : between(1, p.rank > 4 ? 3 : 7);
        order[d] = d;
    }
    if (p.rank > 0 && one_in(2)) {
        p.dims[p.rank - 1] = p.rank > 3 ? between(1, 9) : length();
    }
    for (int32_t d = p.rank - 1; d > 0 && one_in(2); --d) {
        const int32_t other = between(0, d);
        const int32_t kept = order[d];

        order[d] = order[other];
        order[other] = kept;
    }
    for (int32_t k = p.rank - 1; k >= 0; --k) {
        const int32_t d = order[k];

        p.out_stride[d] = out_count;
        out_count *= p.dims[d] + (one_in(6) ? 1 : 0);
    }
    for (int32_t d = p.rank - 1; d >= 0; --d) {
        if (!one_in(6)) {
            p.in_stride[d] = in_count;
            in_count *= p.dims[d];
        }
        if (one_in(4) && p.dims[d] > 0) {
            in_first += (p.dims[d] - 1) * p.in_stride[d];
            p.in_stride[d] = -p.in_stride[d];
        }
        if (one_in(8) && p.dims[d] > 0) {
            out_first += (p.dims[d] - 1) * p.out_stride[d];
            p.out_stride[d] = -p.out_stride[d];
        }
    }
    in = random_bytes(in_count * element_size);
    o = outputs(out_count * element_size);
    variant(&p, in + in_first * element_size,
            (unsigned char *)o.data[0] + out_first * element_size);
    ref(&p, in + in_first * element_size, (unsigned char *)o.data[1] + out_first * element_size);
    free(in);
    return finish(&o);
}
