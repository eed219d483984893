/* SPDX-License-Identifier: Apache-2.0 */
#include "data_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cortexm/params.h"

#define MAX_RANK 4
#define MAX_EXTENT 4
#define MAX_SIZE 256 /* MAX_EXTENT ^ MAX_RANK */
#define GUARD 16

static uint32_t state = 1;

void seed_data_cases(uint32_t seed)
{
    state = seed * 2246822519u + 3u;
}

static int32_t between(int32_t low, int32_t high)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return (int32_t)(low + (int64_t)(state % ((uint32_t)high - (uint32_t)low + 1u)));
}

static int32_t size_of(element_t type)
{
    return type == S8 || type == U8 ? 1 : type == S16 ? 2 : type == S64 ? 8 : 4;
}

/* --- buffers: sanitizers see the first byte beyond an operand, guard bytes protect the results --- */

typedef struct {
    unsigned char *memory[2];
    int32_t size;
} results_t;

static void *allocate(int32_t size)
{
    void *memory = malloc((size_t)(size > 0 ? size : 1));

    if (memory == NULL) {
        abort();
    }
    return memory;
}

static results_t results(int32_t size)
{
    results_t r = {{NULL, NULL}, size + 2 * GUARD};

    for (int i = 0; i < 2; ++i) {
        r.memory[i] = allocate(r.size);
        memset(r.memory[i], 0xA5, (size_t)r.size);
    }
    return r;
}

static void *result(const results_t *r, int i)
{
    return r->memory[i] + GUARD;
}

static int finish(const results_t *r)
{
    const int equal = memcmp(r->memory[0], r->memory[1], (size_t)r->size) == 0;

    free(r->memory[0]);
    free(r->memory[1]);
    return equal;
}

/* `count` random elements; floats are NaN and infinite only if `special`. */
static void *elements(element_t type, int32_t count, int special)
{
    unsigned char *bytes = allocate(count * size_of(type));
    const int few = between(0, 2) == 0; /* so that equal elements occur */

    for (int32_t i = 0; i < count; ++i) {
        unsigned char *const at = bytes + i * size_of(type);

        if (type == F32) {
            static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 3e9f, -3e9f, 1e20f, 300.5f};
            const float value = special && between(0, 9) == 0 ? odd[between(0, 7)]
                                                              : (float)between(-9999, 9999) / 16.0f;

            memcpy(at, &value, sizeof value);
        } else {
            for (int32_t k = 0; k < size_of(type); ++k) {
                at[k] = (unsigned char)(few ? (k == 0 ? between(0, 2) : 0) : between(0, 255));
            }
        }
    }
    return bytes;
}

/* --- boxes ------------------------------------------------------------------------------------ */

typedef struct {
    int32_t rank;
    int32_t dims[CORTEXM_BOX_MAX_RANK];
    int32_t size;
} walk_t;

static walk_t walk(void)
{
    walk_t w = {between(0, MAX_RANK), {0}, 1};

    for (int32_t d = 0; d < w.rank; ++d) {
        w.dims[d] = between(1, MAX_EXTENT);
        w.size *= w.dims[d];
    }
    return w;
}

/* Strides of an operand in some memory order, `unit` elements apart, that stands still in some
 * dimensions. */
static void strides(const walk_t *w, int32_t unit, int still, int32_t *stride)
{
    int32_t used[CORTEXM_BOX_MAX_RANK] = {0};
    int32_t step = unit;

    for (int32_t n = 0; n < w->rank; ++n) {
        int32_t d = between(0, w->rank - 1);

        while (used[d]) {
            d = (d + 1) % w->rank;
        }
        used[d] = 1;
        stride[d] = still && between(0, 3) == 0 ? 0 : step;
        step *= w->dims[d];
    }
    if (w->rank == 0) {
        stride[0] = 0;
    }
}

#define START(params, w)                                                                           \
    (params).rank = (w).rank;                                                                      \
    memcpy((params).dims, (w).dims, sizeof (params).dims)

/* Kernels are called through one type: pointers of every kind are passed alike. */
typedef void (*call3_t)(const void *params, const void *a, void *b);
typedef void (*call4_t)(const void *params, const void *a, const void *b, void *c);
typedef void (*call5_t)(const void *params, const void *a, const void *b, const void *c, void *d);

int compare_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t w = walk();
    cortexm_binary_t p = {0};
    void *const a = elements(type, w.size, 1);
    void *const b = elements(type, w.size, 1);
    const results_t r = results(w.size);

    START(p, w);
    if (p.rank == 0) { /* never below 1 in a binary block */
        p.rank = p.dims[0] = 1;
    }
    strides(&w, 1, 1, p.a_stride);
    strides(&w, 1, 1, p.b_stride);
    for (int i = 0; i < 2; ++i) {
        ((call4_t)both[i])(&p, a, b, result(&r, i));
    }
    free(a);
    free(b);
    return finish(&r);
}

int where_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t w = walk();
    cortexm_where_t p = {0};
    void *const c = elements(U8, w.size, 0);
    void *const a = elements(type, w.size, 1);
    void *const b = elements(type, w.size, 1);
    const results_t r = results(w.size * size_of(type));

    START(p, w);
    strides(&w, 1, 1, p.condition_stride);
    strides(&w, 1, 1, p.a_stride);
    strides(&w, 1, 1, p.b_stride);
    for (int i = 0; i < 2; ++i) {
        ((call5_t)both[i])(&p, c, a, b, result(&r, i));
    }
    free(a);
    free(b);
    free(c);
    return finish(&r);
}

int minmax_of_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const int32_t period = between(1, 20);
    cortexm_minmax_t p = {period * between(1, 4), 0, 0};

    p.a_period = between(0, 2) == 0 ? period : p.count;
    p.b_period = between(0, 2) == 0 ? 1 : p.count;
    {
        void *const a = elements(type, p.a_period, 1);
        void *const b = elements(type, p.b_period, 1);
        const results_t r = results(p.count * size_of(type));

        for (int i = 0; i < 2; ++i) {
            ((call4_t)both[i])(&p, a, b, result(&r, i));
        }
        free(a);
        free(b);
        return finish(&r);
    }
}

/* Results of `out` bytes each; sums take no infinities. */
static int reduction(kernel_fn variant, kernel_fn ref, element_t type, int32_t out, int special)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t kept = walk();
    const walk_t reduced = walk();
    cortexm_reduce_t p = {0};
    void *const in = elements(type, kept.size * reduced.size, special);
    const results_t r = results(kept.size * out);

    START(p, kept);
    p.reduced_rank = reduced.rank;
    memcpy(p.reduced_dims, reduced.dims, sizeof p.reduced_dims);
    if (between(0, 1)) {
        strides(&kept, 1, 0, p.stride);
        strides(&reduced, kept.size, 0, p.reduced_stride);
    } else {
        strides(&kept, reduced.size, 0, p.stride);
        strides(&reduced, 1, 0, p.reduced_stride);
    }
    for (int i = 0; i < 2; ++i) {
        ((call3_t)both[i])(&p, in, result(&r, i));
    }
    free(in);
    return finish(&r);
}

int extreme_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    return reduction(variant, ref, type, size_of(type), 1);
}

int sum_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    return reduction(variant, ref, type, size_of(type), 0);
}

int arg_reduce_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    return reduction(variant, ref, type, 8, 1);
}

int cumsum_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t w = walk();
    cortexm_cumsum_t p = {0};
    const int32_t size = between(1, 9);
    void *const in = elements(type, w.size * size, 0);
    const results_t r = results(w.size * size * size_of(type));

    START(p, w);
    p.size = size;
    p.in_step = w.size;
    p.out_step = 1;
    strides(&w, 1, 0, p.in_stride);
    strides(&w, size, 0, p.out_stride);
    for (int i = 0; i < 2; ++i) {
        ((call3_t)both[i])(&p, in, result(&r, i));
    }
    free(in);
    return finish(&r);
}

int topk_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t w = walk();
    cortexm_topk_t p = {0};
    const int32_t size = between(1, 9);
    const int32_t k = between(1, size);
    void *const in = elements(type, w.size * size, 1);
    const results_t values = results(w.size * k * size_of(type));
    const results_t index = results(w.size * k * 8);

    START(p, w);
    p.size = size;
    p.k = k;
    p.largest = between(0, 1);
    p.in_step = w.size;
    p.value_step = 1;
    p.index_step = w.size;
    strides(&w, 1, 0, p.in_stride);
    strides(&w, k, 0, p.value_stride);
    strides(&w, 1, 0, p.index_stride);
    for (int i = 0; i < 2; ++i) {
        ((call4_t)both[i])(&p, in, result(&values, i), result(&index, i));
    }
    free(in);
    {
        const int equal = finish(&values);

        return finish(&index) && equal;
    }
}

int cast_case(kernel_fn variant, kernel_fn ref, element_t from, element_t to)
{
    const kernel_fn both[] = {variant, ref};
    const cortexm_cast_t p = {between(0, 40)};
    void *const in = elements(from, p.count, 1);
    const results_t r = results(p.count * size_of(to));

    for (int i = 0; i < 2; ++i) {
        ((call3_t)both[i])(&p, in, result(&r, i));
    }
    free(in);
    return finish(&r);
}

/* --- indexing --------------------------------------------------------------------------------- */

int index_offsets_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t w = walk();
    cortexm_index_offsets_t p = {0};
    void *const index = elements(type, w.size, 0);
    const results_t r = results(w.size * 4);

    START(p, w);
    strides(&w, 1, 1, p.stride);
    p.size = between(1, 50);
    p.step = between(1, 50);
    p.add = between(0, 1);
    for (int i = 0; i < 2; ++i) {
        if (p.add) {
            memset(result(&r, i), 0, (size_t)w.size * 4);
        }
        ((call3_t)both[i])(&p, index, result(&r, i));
    }
    free(index);
    return finish(&r);
}

/* Offsets of whole blocks of `block` elements among `blocks`. */
static int32_t *offsets(int32_t count, int32_t blocks, int32_t block)
{
    int32_t *const list = allocate(count * 4);

    for (int32_t i = 0; i < count; ++i) {
        list[i] = between(0, blocks - 1) * block;
    }
    return list;
}

int gather_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t w = walk();
    cortexm_gather_t p = {0};
    int32_t *const list = offsets(w.size, 5, w.size);
    void *const in = elements(type, 5 * w.size, 1);
    const results_t r = results(w.size * size_of(type));

    START(p, w);
    strides(&w, 1, 1, p.offset_stride);
    strides(&w, 1, 1, p.in_stride);
    for (int i = 0; i < 2; ++i) {
        ((call4_t)both[i])(&p, in, list, result(&r, i));
    }
    free(list);
    free(in);
    return finish(&r);
}

int scatter_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const walk_t w = walk();
    cortexm_scatter_t p = {0};
    int32_t *const list = offsets(w.size, 3, w.size);
    void *const values = elements(type, w.size, 0);
    const results_t r = results(3 * w.size * size_of(type));

    START(p, w);
    strides(&w, 1, 1, p.offset_stride);
    strides(&w, 1, 1, p.value_stride);
    strides(&w, 1, 1, p.out_stride);
    for (int i = 0; i < 2; ++i) {
        memset(result(&r, i), 0, (size_t)(3 * w.size * size_of(type)));
        ((call4_t)both[i])(&p, list, values, result(&r, i));
    }
    free(list);
    free(values);
    return finish(&r);
}

int bilinear_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const int32_t planes = between(1, 3), height = between(1, 4), width = between(1, 4);
    const int32_t inner = between(1, 3), out_h = between(1, 6), out_w = between(1, 6);
    const int32_t plane = height * width * inner;
    int32_t *const tables[] = {offsets(out_h, height, width * inner),
                               offsets(out_h, height, width * inner),
                               offsets(out_w, width, inner), offsets(out_w, width, inner)};
    float down[6], right[6];
    int16_t code_down[6], code_right[6];
    void *const in = elements(type, planes * plane, 0);
    const results_t r = results(planes * out_h * out_w * inner * size_of(type));
    const cortexm_bilinear_f32_t floats = {tables[0], tables[1], tables[2], tables[3], down,
                                           right,     planes,    plane,     out_h,     out_w,
                                           inner};
    const cortexm_bilinear_s8_t codes = {tables[0],  tables[1], tables[2], tables[3],
                                         code_down,  code_right, planes,   plane,
                                         out_h,      out_w,      inner,    between(-128, 127)};

    for (int i = 0; i < 6; ++i) {
        code_down[i] = (int16_t)(between(0, 2) ? between(0, 4) * 512 : between(0, 2048));
        code_right[i] = (int16_t)(between(0, 2) ? between(0, 4) * 512 : between(0, 2048));
        down[i] = (float)code_down[i] / 2048.0f;
        right[i] = (float)code_right[i] / 2048.0f;
    }
    for (int i = 0; i < 2; ++i) {
        ((call3_t)both[i])(type == F32 ? (const void *)&floats : (const void *)&codes, in,
                           result(&r, i));
    }
    for (int i = 0; i < 4; ++i) {
        free(tables[i]);
    }
    free(in);
    return finish(&r);
}
