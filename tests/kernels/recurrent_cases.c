/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "harness.h"
#include "pack.h"

typedef CORTEXM_LSTM((*lstm_s8_fn), int8_t);
typedef CORTEXM_LSTM((*lstm_s16_fn), int16_t);
typedef CORTEXM_GRU((*gru_s8_fn), int8_t);
typedef CORTEXM_GRU((*gru_s16_fn), int16_t);
typedef CORTEXM_RNN((*rnn_s8_fn), int8_t);
typedef CORTEXM_RNN((*rnn_s16_fn), int16_t);

/* A layer: rows of weights of h and x, for a gru those of both parts of n, and those of x where the first
 * are of h alone. */
typedef struct {
    cortexm_recurrent_t p;
    int16_t *gates;
    int32_t *bias;
    int8_t *weight[4];
    int8_t *packed[4];
    void *x;
    void *scratch;
    int32_t bytes;   /* of a code */
    int32_t y_codes; /* elements of y */
} layer_t;

static int8_t *pack(linear_kind_t kind, int32_t bytes, int32_t bits, const int8_t *weight,
                    int32_t rows, int32_t depth)
{
    const int32_t width = bytes == 1 ? 16 : 8;

    switch (kind) {
    case LINEAR_FOURS:
        return bits == 8 ? pack_fours(weight, rows, 1, depth)
                         : pack_nibble_fours(weight, rows, 1, depth);
    case LINEAR_EIGHTS:
        return bits == 8 ? pack_eights(weight, rows, depth) : pack_nibble_eights(weight, rows, depth);
    case LINEAR_PAIRS:
        return bits == 8    ? pack_pairs(weight, rows, depth)
               : bytes == 1 ? pack_nibble_pairs(weight, rows, depth)
                            : pack_nibble_twos(weight, rows, depth);
    case LINEAR_GEMM4:
        return bits == 8 ? pack_gemm4_in(width, weight, rows, 1, depth)
                         : pack_nibble_gemm4_in(width, weight, rows, 1, depth);
    default:
        return bits == 8 ? copy_of(weight, rows * depth)
                         : pack_nibbles(copy_of(weight, rows * depth), rows * depth);
    }
}

/* The steps of a sequence in either order of batches and steps, forwards or backwards. */
static void walk(const cortexm_recurrent_t *p, int batch_first, int reverse, int32_t extent,
                 int32_t *start, int32_t *batch, int32_t *step)
{
    *batch = batch_first ? p->steps * extent : extent;
    *step = batch_first ? extent : p->batches * extent;
    *start = reverse ? (p->steps - 1) * *step : 0;
    *step = reverse ? -*step : *step;
}

static layer_t layer(linear_kind_t kind, int32_t bytes, int32_t bits, recurrent_t op)
{
    static const int32_t gates_of[] = {4, 4, 1};
    layer_t l;
    cortexm_recurrent_t *const p = &l.p;
    const int batch_first = one_in(2);
    const int reverse = one_in(3);
    const int32_t gates = gates_of[op];
    int32_t rows[4];
    int32_t depth[4];
    int32_t sums;

    memset(&l, 0, sizeof l);
    l.bytes = bytes;
    p->steps = between(1, 4);
    p->batches = one_in(3) ? 2 : 1;
    /* Of weights of 4 bits beside int16 codes, so that 27 bits hold all sums. */
    p->inputs = extent(one_in(16) ? between(440, 460 + (bits == 4 ? 0 : 60)) : between(1, 40), 33);
    p->hidden = extent(between(1, 20), 31);
    walk(p, batch_first, reverse, p->inputs, &p->x_start, &p->x_batch, &p->x_step);
    walk(p, batch_first, reverse, p->hidden, &p->y_start, &p->y_batch, &p->y_step);
    l.y_codes = p->steps * p->batches * p->hidden;
    sums = gates * p->hidden;
    rows[0] = op == GRU ? 2 * p->hidden : sums;
    rows[1] = rows[2] = op == GRU ? p->hidden : 0;
    p->h_shift = one_in(2) ? between(1, 15) : 0;
    depth[0] = p->hidden + (p->h_shift == 0 ? p->inputs : 0);
    rows[3] = p->h_shift == 0 ? 0 : rows[0];
    depth[1] = depth[3] = p->inputs;
    depth[2] = p->hidden;

    l.gates = allocate(sums * (int32_t)sizeof *l.gates);
    l.bias = allocate(sums * (int32_t)sizeof *l.bias);
    for (int32_t i = 0; i < sums; ++i) {
        l.gates[i] = (int16_t)between(one_in(8) ? 0 : 8192, 32767);
        l.bias[i] = bytes == 1 ? between(-(1 << 17), 1 << 17) : between(-(1 << 25), 1 << 25);
    }
    p->gates = l.gates;
    /* Sums are below 2^14 * 560 + 2^17, or 2^22 * 560 + 2^25, which is 2^31 or less in random bytes. */
    p->gate_left = (int8_t)(bytes == 1 ? between(0, 7) : 0);
    p->gate_right = (int8_t)(bytes == 1 ? 0 : between(0, 5));
    p->out_multiplier = (int16_t)between(one_in(8) ? 0 : 8192, 32767);
    p->out_shift = (int8_t)(op == LSTM ? (bytes == 1 ? between(20, 22) : between(12, 16))
                                       : (bytes == 1 ? between(20, 22) : between(13, 16)));
    p->out_zero_point = (int8_t)(bytes == 1 ? code() : 0);
    p->state_bits = (int8_t)(op == RNN ? 0 : one_in(4) ? between(0, 15) : between(11, 15));
    p->is_relu = (int8_t)(op == RNN && one_in(2));
    for (int i = 0; i < 4; ++i) {
        l.weight[i] = random_codes(rows[i] * depth[i], bits);
        if (bytes == 2 && bits == 8) {
            for (int32_t k = 0; k < rows[i] * depth[i]; ++k) {
                l.weight[i][k] = (int8_t)(l.weight[i][k] / 2);
            }
        }
        l.packed[i] = pack(kind, bytes, bits, l.weight[i], rows[i], depth[i]);
    }
    l.x = bytes == 1 ? (void *)random_bytes(p->steps * p->batches * p->inputs)
                     : (void *)random_codes_s16(p->steps * p->batches * p->inputs);
    l.scratch = scratch_for(p);
    return l;
}

static void release(layer_t *l)
{
    for (int i = 0; i < 4; ++i) {
        free(l->weight[i]);
        free(l->packed[i]);
    }
    free(l->gates);
    free(l->bias);
    free(l->x);
    free(l->scratch);
}

/* y or, in a third of the cases, none: then y is where `instead` points. */
static void *shown(layer_t *l, const outputs_t *y, int which, int unseen, void *instead)
{
    if (!unseen) {
        return y->data[which];
    }
    l->p.y_start = l->p.y_step = 0;
    l->p.y_batch = instead == NULL ? 0 : l->p.hidden;
    return instead;
}

int recurrent_case(kernel_fn variant, kernel_fn ref, linear_kind_t kind, int32_t bytes, int32_t bits,
                   recurrent_t op)
{
    layer_t l = layer(kind, bytes, bits, op);
    const int32_t states = l.p.batches * l.p.hidden;
    const int unseen = one_in(3);
    void *const h = bytes == 1 && op != GRU ? (void *)random_bytes(states)
                                            : (void *)random_codes_s16(states);
    int16_t *const c = random_codes_s16(states);
    const outputs_t y = outputs(l.y_codes * bytes);
    const outputs_t h_after = outputs(states * (op == GRU ? 2 : bytes));
    const outputs_t c_after = outputs(op == LSTM ? 2 * states : 2);
    int same;

    for (int which = 0; which < 2; ++which) {
        int8_t *const *const w = which == 0 ? l.packed : l.weight;

        l.p.x_weight = l.p.h_shift == 0 ? NULL : w[3];
        const kernel_fn fn = which == 0 ? variant : ref;
        void *const after = h_after.data[which];
        void *const codes = shown(&l, &y, which, unseen, op == GRU ? NULL : after);

        if (op == LSTM && bytes == 1) {
            ((lstm_s8_fn)fn)(&l.p, l.x, h, c, w[0], l.bias, after, c_after.data[which], codes,
                             l.scratch);
        } else if (op == LSTM) {
            ((lstm_s16_fn)fn)(&l.p, l.x, h, c, w[0], l.bias, after, c_after.data[which], codes,
                              l.scratch);
        } else if (op == GRU && bytes == 1) {
            ((gru_s8_fn)fn)(&l.p, l.x, h, w[0], w[1], w[2], l.bias, after, codes, l.scratch);
        } else if (op == GRU) {
            ((gru_s16_fn)fn)(&l.p, l.x, h, w[0], w[1], w[2], l.bias, after, codes, l.scratch);
        } else if (bytes == 1) {
            ((rnn_s8_fn)fn)(&l.p, l.x, h, w[0], l.bias, after, codes, l.scratch);
        } else {
            ((rnn_s16_fn)fn)(&l.p, l.x, h, w[0], l.bias, after, codes, l.scratch);
        }
    }
    same = finish(&y);
    same = finish(&h_after) && same;
    same = finish(&c_after) && same;
    free(h);
    free(c);
    release(&l);
    return same;
}

int lstm_interpolated_s8_case(lstm_interpolated_fn variant, lstm_interpolated_fn ref)
{
    cortexm_lstm_interpolated_t p = {.steps = between(1, 4), .batches = between(1, 2),
                                     .inputs = between(1, 40), .hidden = between(1, 20)};
    const int32_t kept = p.batches * p.hidden, rows = 4 * p.hidden;
    const int batch_first = one_in(2);
    int8_t *const x = random_bytes(p.batches * p.steps * p.inputs), *const h = random_bytes(kept);
    int8_t *const weight = random_bytes(rows * (p.inputs + p.hidden));
    int16_t *const c = random_codes_s16(kept);
    int32_t bias[2 * 4 * 20];
    int16_t table[256];
    const outputs_t h_after = outputs(kept), c_after = outputs(2 * kept);
    const outputs_t y = outputs(p.steps * kept);
    int same;

    p.x_batch = batch_first ? p.steps * p.inputs : p.inputs;
    p.x_step = batch_first ? p.inputs : p.batches * p.inputs;
    p.y_batch = batch_first ? p.steps * p.hidden : p.hidden;
    p.y_step = batch_first ? p.hidden : kept;
    for (int g = 0; g < 4; ++g) {
        p.x_multiplier[g] = multiplier();
        p.h_multiplier[g] = multiplier();
        p.x_shift[g] = (int8_t)between(-9, 1);
        p.h_shift[g] = (int8_t)between(-9, 1);
    }
    p.fresh_multiplier = multiplier();
    p.fresh_shift = between(-18, -12);
    p.out_multiplier = multiplier();
    p.out_shift = between(-24, -20);
    p.out_zero_point = (int8_t)code();
    p.cell_limit = one_in(2) ? 32768 : between(0, 32767);
    p.cell_multiplier = (int16_t)(3 << between(0, 13));
    p.cell_shift = (int8_t)between(0, 14);
    for (int i = 0; i < 8 * p.hidden; ++i) {
        bias[i] = between(-(1 << 16), 1 << 16);
    }
    for (int i = 0; i < 256; ++i) {
        table[i] = (int16_t)between(0, 32766);
    }
    check_inside(&p);
    variant(&p, x, h, c, weight, bias, table, h_after.data[0], c_after.data[0], y.data[0]);
    ref(&p, x, h, c, weight, bias, table, h_after.data[1], c_after.data[1], y.data[1]);
    free(x);
    free(h);
    free(weight);
    free(c);
    same = finish(&h_after);
    same = finish(&c_after) && same;
    return finish(&y) && same;
}

/* Into other memory, then in place. */
int svdf_s8_case(svdf_fn variant, svdf_fn ref)
{
    const cortexm_svdf_t p = {between(1, 2), between(1, 40), between(1, 5), between(1, 3),
                              between(1, 9), multiplier(),   between(-9, 3), multiplier(),
                              between(-25, -8), code()};
    const int32_t filters = p.units * p.rank, kept = p.batches * filters * p.memory;
    int16_t *const before = random_codes_s16(kept), *const times = random_codes_s16(kept);
    int8_t *const x = random_bytes(p.batches * p.inputs);
    int8_t *const features = random_bytes(filters * p.inputs);
    int32_t sums[2 * 15];
    const outputs_t after = outputs(2 * kept), y = outputs(p.batches * p.units);
    int same;

    for (int i = 0; i < 30; ++i) {
        sums[i] = between(-(1 << 20), 1 << 20);
    }
    check_inside(&p);
    variant(&p, before, x, features, sums, times, sums + 15, after.data[0], y.data[0]);
    ref(&p, before, x, features, sums, times, sums + 15, after.data[1], y.data[1]);
    same = agree(&after);
    memcpy(after.data[0], before, 2 * (size_t)kept);
    variant(&p, after.data[0], x, features, sums, times, sums + 15, after.data[0], y.data[0]);
    free(before);
    free(times);
    free(x);
    free(features);
    same = finish(&after) && same;
    return finish(&y) && same;
}
