/* SPDX-License-Identifier: Apache-2.0 */
#include "float_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- random numbers and buffers ------------------------------------------------------------- */

static uint32_t state = 1;

void seed_float_cases(uint32_t seed)
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
    return low + (int32_t)(random32() % (uint32_t)(high - low + 1));
}

/* In [-4, 4), often a multiple of 1/2, where rounding has ties. */
static float real(void)
{
    if (between(0, 3) == 0) {
        return 0.5f * (float)between(-8, 8);
    }
    return (float)between(-(1 << 20), (1 << 20) - 1) / (float)(1 << 18);
}

static void *allocate(int32_t size)
{
    /* No byte more than asked for: a sanitizer then sees the first one beyond. */
    void *memory = malloc((size_t)(size > 0 ? size : 1));

    if (memory == NULL) {
        abort();
    }
    return memory;
}

static float *reals(int32_t count)
{
    float *values = allocate(count * (int32_t)sizeof *values);

    for (int32_t i = 0; i < count; ++i) {
        values[i] = real();
    }
    return values;
}

static void *bytes(int32_t size)
{
    unsigned char *values = allocate(size);

    for (int32_t i = 0; i < size; ++i) {
        values[i] = (unsigned char)(random32() >> 24);
    }
    return values;
}

/* Two results of `size` bytes between guard bytes. */
#define GUARD 16

typedef struct {
    int32_t size;
    unsigned char *memory[2];
    void *data[2];
} results_t;

static results_t results(int32_t size)
{
    results_t r;

    r.size = size + 2 * GUARD;
    for (int i = 0; i < 2; ++i) {
        r.memory[i] = allocate(r.size);
        memset(r.memory[i], 0xA5, (size_t)r.size);
        r.data[i] = r.memory[i] + GUARD;
    }
    return r;
}

static results_t float_results(int32_t count)
{
    return results(count * (int32_t)sizeof(float));
}

static int finish(const results_t *r)
{
    const int equal = memcmp(r->memory[0], r->memory[1], (size_t)r->size) == 0;

    free(r->memory[0]);
    free(r->memory[1]);
    return equal;
}

/* How close floats must be to their reference, which is computed in double. */
typedef enum {
    EXACT, /* the same bits, or both no number */
    EQUAL, /* the same value: a zero may have the other sign */
    CLOSE  /* as close as functions of the C library are, and a few roundings before and after them */
} closeness_t;

static int is_close(float a, float b, closeness_t closeness)
{
    if (memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b))) {
        return 1;
    }
    if (closeness == EXACT || a == b) {
        return closeness != EXACT;
    }
    return closeness == CLOSE && fabsf(a - b) <= fmaxf(1.0f, fabsf(b)) * 0x1p-18f;
}

/* The first result is a variant's and the second its reference's. */
static int finish_floats(const results_t *r, closeness_t closeness)
{
    const float *a = r->data[0];
    const float *b = r->data[1];

    for (int32_t i = 0; i < (r->size - 2 * GUARD) / (int32_t)sizeof *a; ++i) {
        if (!is_close(a[i], b[i], closeness)) {
            (void)finish(r);
            return 0;
        }
    }
    memcpy(r->data[0], r->data[1], (size_t)(r->size - 2 * GUARD));
    return finish(r);
}

/* --- element by element ----------------------------------------------------------------------- */

static int any_unary_case(unary_fn variant, unary_fn ref, closeness_t closeness)
{
    cortexm_unary_f32_t p;
    float *in;
    results_t r;

    p.count = between(1, 40);
    p.alpha = real();
    p.scale = real();
    p.input_scale = real();
    in = reals(p.count);
    r = float_results(p.count);
    variant(&p, in, r.data[0]);
    ref(&p, in, r.data[1]);
    free(in);
    return finish_floats(&r, closeness);
}

int unary_f32_case(unary_fn variant, unary_fn ref)
{
    return any_unary_case(variant, ref, EXACT);
}

int unary_close_f32_case(unary_fn variant, unary_fn ref)
{
    return any_unary_case(variant, ref, CLOSE);
}

int clamp_f32_case(clamp_f32_fn variant, clamp_f32_fn ref)
{
    cortexm_clamp_f32_t p;
    float *in;
    results_t r;

    p.count = between(1, 40);
    p.low = between(0, 3) == 0 ? -INFINITY : real();
    p.high = between(0, 3) == 0 ? INFINITY : fmaxf(p.low, real());
    in = reals(p.count);
    r = float_results(p.count);
    variant(&p, in, r.data[0]);
    ref(&p, in, r.data[1]);
    free(in);
    return finish(&r);
}

#define CLAMP_CASE(name, type, lowest, highest)                                                    \
    int clamp_##name##_case(clamp_##name##_fn variant, clamp_##name##_fn ref)                      \
    {                                                                                              \
        cortexm_clamp_t p;                                                                         \
        type *in;                                                                                  \
        results_t r;                                                                               \
                                                                                                   \
        p.count = between(1, 40);                                                                  \
        p.low = between(0, 3) == 0 ? (lowest) : between(0, 60);                                    \
        p.high = between(0, 3) == 0 ? (highest) : between(60, 120);                                \
        in = bytes(p.count * (int32_t)sizeof *in);                                                 \
        r = results(p.count * (int32_t)sizeof *in);                                                \
        variant(&p, in, r.data[0]);                                                                \
        ref(&p, in, r.data[1]);                                                                    \
        free(in);                                                                                  \
        return finish(&r);                                                                         \
    }

CLAMP_CASE(s8, int8_t, INT8_MIN, INT8_MAX)
CLAMP_CASE(u8, uint8_t, 0, UINT8_MAX)
CLAMP_CASE(s16, int16_t, INT16_MIN, INT16_MAX)
CLAMP_CASE(s32, int32_t, INT32_MIN, INT32_MAX)
CLAMP_CASE(s64, int64_t, INT64_MIN, INT64_MAX)

/* A box and two operands, each dense in some dimensions and repeating in the others. Returns the
 * number of results; `sizes` are the operands' elements. */
static int32_t random_box(cortexm_binary_t *p, int32_t sizes[2])
{
    int32_t count = 1;

    memset(p, 0, sizeof *p);
    p->rank = between(1, 4);
    sizes[0] = sizes[1] = 1;
    for (int32_t d = p->rank - 1; d >= 0; --d) {
        int32_t *const stride[2] = {p->a_stride, p->b_stride};

        p->dims[d] = between(1, 4);
        count *= p->dims[d];
        for (int k = 0; k < 2; ++k) {
            if (between(0, 2) != 0) {
                stride[k][d] = sizes[k];
                sizes[k] *= p->dims[d];
            }
        }
    }
    return count;
}

#define BINARY_CASE(name, function, type, fill_a, fill_b, finish_case)                             \
    int name##_case(function variant, function ref)                                                \
    {                                                                                              \
        cortexm_binary_t p;                                                                        \
        int32_t sizes[2];                                                                          \
        const int32_t count = random_box(&p, sizes);                                               \
        type *a = fill_a(sizes[0]);                                                                \
        type *b = fill_b(sizes[1]);                                                                \
        results_t r = results(count * (int32_t)sizeof *a);                                         \
                                                                                                   \
        variant(&p, a, b, r.data[0]);                                                              \
        ref(&p, a, b, r.data[1]);                                                                  \
        free(a);                                                                                   \
        free(b);                                                                                   \
        return finish_case(&r);                                                                    \
    }

#define FINISH_EXACT(r) finish_floats(r, EXACT)
#define FINISH_EQUAL(r) finish_floats(r, EQUAL)
#define FINISH_CLOSE(r) finish_floats(r, CLOSE)
#define INTEGERS_32(count) bytes((count) * (int32_t)sizeof(int32_t))
#define INTEGERS_64(count) bytes((count) * (int32_t)sizeof(int64_t))

BINARY_CASE(binary_f32, binary_f32_fn, float, reals, reals, FINISH_EXACT)
BINARY_CASE(divide_f32, binary_f32_fn, float, reals, reals, FINISH_EQUAL)
BINARY_CASE(binary_close_f32, binary_f32_fn, float, reals, reals, FINISH_CLOSE)
BINARY_CASE(binary_s32, binary_s32_fn, int32_t, INTEGERS_32, INTEGERS_32, finish)
BINARY_CASE(binary_s64, binary_s64_fn, int64_t, INTEGERS_64, INTEGERS_64, finish)

/* The lowest number, 1 and -1, small ones, or any. */
static int64_t whole(int64_t lowest)
{
    switch (between(0, 3)) {
    case 0:
        return lowest;
    case 1:
        return between(0, 1) ? 1 : -1;
    case 2:
        return between(-9, 9);
    default:
        return (int64_t)((uint64_t)random32() << 32 | random32()) % lowest;
    }
}

#define DIVIDE_CASE(name, type, lowest)                                                            \
    static type *wholes_##name(int32_t count)                                                      \
    {                                                                                              \
        type *values = allocate(count * (int32_t)sizeof *values);                                  \
                                                                                                   \
        for (int32_t i = 0; i < count; ++i) {                                                      \
            values[i] = (type)whole(lowest);                                                       \
        }                                                                                          \
        return values;                                                                             \
    }                                                                                              \
                                                                                                   \
    static type *divisors_##name(int32_t count)                                                    \
    {                                                                                              \
        type *values = wholes_##name(count);                                                       \
                                                                                                   \
        for (int32_t i = 0; i < count; ++i) {                                                      \
            values[i] = values[i] != 0 ? values[i] : 3;                                            \
        }                                                                                          \
        return values;                                                                             \
    }                                                                                              \
                                                                                                   \
    BINARY_CASE(divide_##name, binary_##name##_fn, type, wholes_##name, divisors_##name, finish)

DIVIDE_CASE(s32, int32_t, INT32_MIN)
DIVIDE_CASE(s64, int64_t, INT64_MIN)

/* --- layers ----------------------------------------------------------------------------------- */

/* Strides (batch, channel, row, column) of an image in NCHW or NHWC; returns its elements. */
static int32_t image(int32_t strides[4], int32_t n, int32_t c, int32_t h, int32_t w)
{
    const int nhwc = between(0, 1);

    strides[0] = c * h * w;
    strides[1] = nhwc ? 1 : h * w;
    strides[2] = nhwc ? w * c : w;
    strides[3] = nhwc ? c : 1;
    return n * c * h * w;
}

static int conv_case(conv_f32_fn variant, conv_f32_fn ref, int transposed)
{
    cortexm_conv_f32_t p;
    int32_t in_size;
    int32_t out_size;
    float *in;
    float *weight;
    float *bias;
    results_t r;

    p.batches = between(1, 2);
    p.groups = between(1, 3);
    p.in_c = p.groups * between(1, 3);
    p.out_c = p.groups * between(1, 6);
    p.in_h = between(1, 5);
    p.in_w = between(1, 12);
    p.out_h = between(1, 5);
    p.out_w = between(1, 10);
    p.kernel_h = between(1, 3);
    p.kernel_w = between(1, 4);
    p.stride_h = between(1, 3);
    p.stride_w = between(1, 3);
    p.dilation_h = between(1, 2);
    p.dilation_w = between(1, 3);
    p.pad_top = between(transposed ? -1 : 0, 2);
    p.pad_left = between(transposed ? -1 : 0, 3);
    p.bias_stride = between(0, 1);
    in_size = image(p.in_strides, p.batches, p.in_c, p.in_h, p.in_w);
    out_size = image(p.out_strides, p.batches, p.out_c, p.out_h, p.out_w);
    in = reals(in_size);
    weight = reals(p.in_c * p.out_c / p.groups * p.kernel_h * p.kernel_w);
    bias = reals(p.bias_stride * (p.out_c - 1) + 1);
    r = float_results(out_size);
    variant(&p, in, weight, bias, r.data[0]);
    ref(&p, in, weight, bias, r.data[1]);
    free(in);
    free(weight);
    free(bias);
    return finish(&r);
}

int conv2d_f32_case(conv_f32_fn variant, conv_f32_fn ref)
{
    return conv_case(variant, ref, 0);
}

int transpose_conv2d_f32_case(conv_f32_fn variant, conv_f32_fn ref)
{
    return conv_case(variant, ref, 1);
}

int matmul_f32_case(matmul_f32_fn variant, matmul_f32_fn ref)
{
    cortexm_matmul_f32_t p;
    float *a;
    float *b;
    float *bias;
    results_t r;

    memset(&p, 0, sizeof p);
    p.batches = between(1, 3);
    p.rows = between(1, 5);
    p.cols = between(1, 10);
    p.inner = between(1, 20);
    p.a_batch_stride = p.rows * p.inner;
    p.a_row_stride = between(0, 1) ? p.inner : 1;
    p.a_inner_stride = p.a_row_stride == 1 ? p.rows : 1;
    p.b_batch_stride = between(0, 1) * p.cols * p.inner;
    p.b_inner_stride = between(0, 1) ? p.cols : 1;
    p.b_col_stride = p.b_inner_stride == 1 ? p.inner : 1;
    if (p.inner == 1) {
        p.a_row_stride = p.b_col_stride = 1;
    }
    p.bias_col_stride = between(0, 1);
    p.bias_row_stride = between(0, 1) * p.cols;
    a = reals(p.batches * p.rows * p.inner);
    b = reals(p.batches * p.cols * p.inner);
    bias = reals(p.rows * p.cols);
    r = float_results(p.batches * p.rows * p.cols);
    variant(&p, a, b, bias, r.data[0]);
    ref(&p, a, b, bias, r.data[1]);
    free(a);
    free(b);
    free(bias);
    return finish(&r);
}

int softmax_f32_case(softmax_f32_fn variant, softmax_f32_fn ref)
{
    cortexm_softmax_f32_t p;
    int32_t count;
    float *in;
    results_t r;

    p.outer = between(1, 4);
    p.size = between(1, 12);
    p.inner = between(1, 4);
    count = p.outer * p.size * p.inner;
    in = reals(count);
    r = float_results(count);
    variant(&p, in, r.data[0]);
    ref(&p, in, r.data[1]);
    free(in);
    return finish(&r);
}

int pool_f32_case(pool_f32_fn variant, pool_f32_fn ref)
{
    cortexm_pool_f32_t p;
    int32_t in_size;
    int32_t out_size;
    float *in;
    results_t r;

    p.batches = between(1, 2);
    p.channels = between(1, 4);
    p.kernel_h = between(1, 3);
    p.kernel_w = between(1, 4);
    p.stride_h = between(1, 3);
    p.stride_w = between(1, 3);
    p.dilation_h = p.dilation_w = 1;
    p.pad_top = between(0, p.kernel_h - 1);
    p.pad_left = between(0, p.kernel_w - 1);
    p.count_pad_h = between(0, 1) * p.pad_top;
    p.count_pad_w = between(0, 1) * p.pad_left;
    p.divisor = between(0, 2);
    p.out_h = between(1, 4);
    p.out_w = between(1, 4);
    /* Every window reaches into the image. */
    p.in_h = between(1, 4) + (p.out_h - 1) * p.stride_h;
    p.in_w = between(1, 4) + (p.out_w - 1) * p.stride_w;
    in_size = image(p.in_strides, p.batches, p.channels, p.in_h, p.in_w);
    out_size = image(p.out_strides, p.batches, p.channels, p.out_h, p.out_w);
    in = reals(in_size);
    r = float_results(out_size);
    variant(&p, in, r.data[0]);
    ref(&p, in, r.data[1]);
    free(in);
    return finish(&r);
}

int group_norm_f32_case(group_norm_f32_fn variant, group_norm_f32_fn ref)
{
    cortexm_group_norm_f32_t p;
    const int nhwc = between(0, 1);
    int32_t all;
    int32_t count;
    float *in;
    float *weight;
    float *bias;
    results_t r;

    p.batches = between(1, 3);
    p.groups = between(1, 3);
    p.channels = between(1, 4);
    p.pixels = between(1, 6);
    p.epsilon = 0.001f;
    all = p.groups * p.channels;
    count = p.batches * all * p.pixels;
    p.in_batch_stride = p.out_batch_stride = all * p.pixels;
    p.in_channel_stride = nhwc ? 1 : p.pixels;
    p.in_pixel_stride = nhwc ? all : 1;
    p.out_channel_stride = p.pixels;
    p.out_pixel_stride = 1;
    in = reals(count);
    weight = reals(all);
    bias = reals(all);
    r = float_results(count);
    variant(&p, in, weight, bias, r.data[0]);
    ref(&p, in, weight, bias, r.data[1]);
    free(in);
    free(weight);
    free(bias);
    return finish(&r);
}
