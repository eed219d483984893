/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of convolutions of floats in eights and fours, DSP. */
#ifndef CORTEXM_CONV_FLOAT_BLOCKS_DSP_H
#define CORTEXM_CONV_FLOAT_BLOCKS_DSP_H

#include "common/stamp.h"
#include "common/dsp.h" /* first, for its pragma */
#include "common/accumulate.h"
#include "common/taps.h"
#include "cortexm/kernels.h"

#if !CORTEXM_VFMA

/* The terms of outputs whose weights lie side by side. */
static cortexm_terms_t terms(const cortexm_window_f32_t *at, int32_t outputs)
{
    return (cortexm_terms_t){{at->step / 4, at->row_gap / 4, at->plane_gap / 4},
                             {outputs, outputs * at->w_row_gap / 4, outputs * at->w_plane_gap / 4},
                             1,
                             at->planes,
                             at->rows,
                             at->columns};
}

/* Eight or four outputs at a time, of three pixels or of one. */
static CORTEXM_APART void eight_or_four(const cortexm_window_f32_t *at, const cortexm_place_f32_t *from,
                                        int32_t outputs)
{
    const cortexm_terms_t all = terms(at, outputs);
    const float *x = (const float *)(const void *)(from->x + at->in);
    float *out = from->out;

    for (int32_t pixel = from->run->pixels; pixel > 0; --pixel) {
        const float *w = (const float *)(const void *)(from->w + outputs * at->weight);
        const float *bias = from->bias;
        float *to = out;

        for (int32_t done = 0; done < outputs; done += 4) {
            float sum[4];

            for (int32_t i = 0; i < 4; ++i) {
                sum[i] = *bias;
                bias += from->bias_step;
            }
            cortexm_accumulate4(sum, &all, x, w);
            for (int32_t i = 0; i < 4; ++i) {
                *to = sum[i];
                to += from->out_step;
            }
            w += 4;
        }
        x += from->beside / 4;
        out += from->out_beside;
    }
}

#endif

/* The outputs of a group in eights and fours; with VFMA those that are left, too. */
static void blocks(const cortexm_window_f32_t *at, cortexm_place_f32_t *from, int32_t count,
                   int32_t weights)
{
    while (count >= (CORTEXM_VFMA ? 1 : 4)) {
        const int32_t outputs = count >= 8 ? 8 : cortexm_min(count, 4);

#if CORTEXM_VFMA
        one_pixel(at, from, outputs);
#else
        eight_or_four(at, from, outputs);
#endif
        cortexm_pass_f32(from, outputs, weights);
        count -= outputs;
    }
}

#if !CORTEXM_VFMA

/* One output of four pixels or of one; its weights are `apart` beside those of others. */
static CORTEXM_APART void one_output(const cortexm_window_f32_t *at, const cortexm_place_f32_t *from,
                                     int32_t number, int32_t apart)
{
    const cortexm_terms_t own = terms(at, apart);
    const cortexm_terms_t of_four = {own.own,    own.shared, from->beside / 4,
                                     own.planes, own.rows,   own.columns};
    const float *x = (const float *)(const void *)(from->x + at->in);
    const float *w = (const float *)(const void *)(from->w + apart * at->weight) + number;
    const float bias = from->bias[number * from->bias_step];
    float *const out = from->out + number * from->out_step;
    float sum[4] = {bias, bias, bias, bias};

    if (from->run->pixels != 1) {
        cortexm_accumulate4(sum, &of_four, w, x);
        for (int32_t i = 0; i < 4; ++i) {
            out[i * from->out_beside] = sum[i];
        }
        return;
    }
    for (int32_t plane = own.planes; plane > 0; --plane) {
        for (int32_t row = own.rows; row > 0; --row) {
            sum[0] = cortexm_accumulate(sum[0], x, own.shared.step, w, apart, own.columns);
            x += own.columns * own.shared.step + own.shared.row_gap;
            w += own.columns * apart + own.own.row_gap;
        }
        x += own.shared.plane_gap;
        w += own.own.plane_gap;
    }
    *out = sum[0];
}

#endif

/* The outputs of each group of a block; without VFMA the eights and fours, or what is left. */
static void block(const cortexm_conv_f32_t *p, const cortexm_window_f32_t *at,
                  const cortexm_place_f32_t *first, int32_t of_rest)
{
    cortexm_place_f32_t from = *first;
    const int32_t weights = from.run->weights;
    const int32_t group_out = from.run->outputs;

    for (int32_t g = p->groups; g > 0; --g) {
#if CORTEXM_VFMA
        (void)of_rest;
        blocks(at, &from, group_out, weights);
#else
        if (of_rest) {
            cortexm_pass_f32(&from, group_out / 4 * 4, weights);
            for (int32_t i = 0; i < group_out % 4; ++i) {
                one_output(at, &from, i, group_out % 4);
            }
        } else {
            blocks(at, &from, group_out, weights);
        }
        cortexm_pass_f32(&from, group_out % 4, weights);
#endif
        from.x += 4 * (p->in_c / p->groups) * p->in_strides[1];
    }
}

static void groups(const cortexm_conv_f32_t *p, const cortexm_window_f32_t *at,
                   cortexm_place_f32_t *from, int32_t of_rest)
{
#if CORTEXM_VFMA
    if (from->run->pixels != 1) {
        for (int32_t g = p->groups; g > 0; --g) {
            int32_t count = from->run->outputs;

            while (count > 0) {
                const int32_t outputs = count >= 8 ? 8 : cortexm_min(count, 4);
                const int32_t together = count >= 8 ? count / 8 * 8 : outputs;

                three_pixels(at, from, outputs, together);
                cortexm_pass_f32(from, together, from->run->weights);
                count -= together;
            }
            from->x += 4 * p->in_c / p->groups * p->in_strides[1];
        }
        return;
    }
#endif
    cortexm_each_block_f32(p, at, from, of_rest, block);
}

#endif
