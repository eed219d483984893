/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a step, MVE: four outputs at a time, at last single ones. */
#ifndef CORTEXM_RECURRENT_PRODUCTS_MVE_H
#define CORTEXM_RECURRENT_PRODUCTS_MVE_H

/* sum[0 … outputs) = bias + the products of a row of n codes with the weights */
static inline void add_products(const ROW *row, int32_t n, const int8_t *weight, const int32_t *bias,
                                int32_t outputs, int32_t *sum)
{
    const cortexm_depth_t depth = cortexm_depth_of(n);
    int32_t o = 0;

    for (; o + 4 <= outputs; o += 4) {
        const int32x4_t four = cortexm_dot_4x1_mve(row, &weight, depth);

        vstrwq_s32(sum + o, vaddq_s32(four, vldrwq_s32(bias + o)));
    }
    for (; o < outputs; ++o) {
        sum[o] = bias[o] + cortexm_dot_mve(row, weight, n);
        weight += n;
    }
}

#endif
