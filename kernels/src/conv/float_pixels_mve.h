/* SPDX-License-Identifier: Apache-2.0 */
/* Products of floats, and the outputs that are left of four pixels, MVE. */
#ifndef CORTEXM_CONV_FLOAT_PIXELS_MVE_H
#define CORTEXM_CONV_FLOAT_PIXELS_MVE_H

#include "common/stamp.h"

/* A product for four outputs, or pixels. */
#define MAC(sum, w, x) "vfma.f32  %q[" sum "], %q[" w "], %[" x "]\n\t"
/* Products with the first, second and third pixel of a block, for four outputs or eight. */
#define A4(x) MAC("a", "u", x)
#define B4(x) MAC("b", "u", x)
#define C4(x) MAC("c", "u", x)
#define A8(x) MAC("a", "u", x) MAC("d", "v", x)
#define B8(x) MAC("b", "u", x) MAC("e", "v", x)
#define C8(x) MAC("c", "u", x) MAC("f", "v", x)
#define WEIGHTS4 "vldrw.u32 %q[u], [%[w]], #16\n\t"
#define WEIGHTS8                              \
    "vldrw.u32 %q[u], [%[w]], #32\n\t"        \
    "vldrw.u32 %q[v], [%[w], #-16]\n\t"

/* A row of n pairs of terms side by side, of three pixels, on to 3. */
#define PAIRS(n, WEIGHTS, A, B, C)                    \
    "wls       lr, %[" n "], 3f\n"                     \
    "2:\n\t"                                          \
    "ldrd      %[p], %[s], [%[x]], #8\n\t"            \
    "ldrd      %[q], %[t], [%[y]], #8\n\t"            \
    WEIGHTS                                           \
    "ldrd      %[r], %[o], [%[z]], #8\n\t"            \
    A("p") B("q") C("r")                              \
    WEIGHTS                                           \
    A("s") B("t") C("o")                              \
    "le        lr, 2b\n"                              \
    "3:\n\t"

static inline uint32x4_t lanes(int32_t step)
{
    return vmulq_n_u32(vidupq_n_u32(0, 4), (uint32_t)step);
}

static inline void store(float *out, int32_t step, float32x4_t value)
{
    vstrwq_scatter_offset_f32(out, lanes(step), value);
}

/* All terms of a row of a window for four pixels, which are gathered, two at a time. LOAD2 and LOAD1 have the
 * weights of each output for ADD, and LOAD2 those behind them for ADD_NEXT. */
#define ROW_OF_FEW(LOAD2, LOAD1, ADD, ADD_NEXT, ...)                                      \
    __asm__ volatile("lsrs      %[p], %[n], #1\n\t"                                       \
                     "wls       lr, %[p], 2f\n"                                           \
                     "1:\n\t"                                                             \
                     LOAD2 PIXELS("u") PIXELS("v") ADD ADD_NEXT                           \
                     "le        lr, 1b\n"                                                 \
                     "2:\n\t"                                                             \
                     "bcc       3f\n\t"                                                   \
                     LOAD1 PIXELS("u") ADD                                                \
                     "3:"                                                                 \
                     : [a] "+w"(a), [u] "=&w"(u), [v] "=&w"(v), [x] "+r"(x), [w] "+r"(w), \
                       [p] "=&r"(p), [s] "=&r"(s), __VA_ARGS__                            \
                     : [n] "r"(at->columns), [beside] "w"(beside), [step] "r"(at->step)   \
                     : "lr", "cc", "memory")
#define PIXELS(u)                                            \
    "vldrw.u32 %q[" u "], [%[x], %q[beside]]\n\t"            \
    "add       %[x], %[step]\n\t"
#define TWO_OF(p, s, w) "ldrd      %[" p "], %[" s "], [%[" w "]], #8\n\t"
#define ONE_OF(p, w) "ldr       %[" p "], [%[" w "]], #4\n\t"

/* Up to three outputs of four pixels. Each has so many weights. */
static CORTEXM_APART void four_pixels(const cortexm_window_f32_t *at, const cortexm_place_f32_t *from, int32_t count,
                                      int32_t weights)
{
    const uint32x4_t beside = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)from->beside);
    const int32_t second = cortexm_min(count, 2) - 1; /* where there are fewer, the last one again */
    const uint8_t *x = from->x + at->in;
    const uint8_t *w = from->w + at->weight, *y = w + 4 * weights, *z = y + 4 * weights;
    float32x4_t a = vdupq_n_f32(*from->bias);
    float32x4_t b = vdupq_n_f32(from->bias[second * from->bias_step]);
    float32x4_t c = vdupq_n_f32(from->bias[(count - 1) * from->bias_step]);
    float32x4_t u, v;
    int32_t p, q, r, s, t, o;

    for (int32_t plane = IS_ROW ? 1 : at->planes; plane > 0; --plane) {
        int32_t rows = IS_ROW ? 1 : at->rows;

        if (!IS_ROW && count == 1 && at->columns == 3 && at->w_row_gap == 0 && at->step == 4 && from->beside == 4) {
            __asm__ volatile("dls       lr, %[n]\n"
                             "1:\n\t"
                             TWO_OF("p", "q", "w")
                             ONE_OF("r", "w")
                             "vldrw.u32 %q[u], [%[x]]\n\t"
                             "vldrw.u32 %q[v], [%[x], #4]\n\t"
                             "vldrw.u32 %q[b], [%[x], #8]\n\t"
                             "add       %[x], %[ahead]\n\t"
                             MAC("a", "u", "p") MAC("a", "v", "q") MAC("a", "b", "r")
                             "le        lr, 1b"
                             : [a] "+w"(a), [u] "=&w"(u), [v] "=&w"(v), [b] "=&w"(b), [x] "+r"(x), [w] "+r"(w),
                               [p] "=&r"(p), [q] "=&r"(q), [r] "=&r"(r)
                             : [n] "r"(rows), [ahead] "r"(at->row_gap + 12)
                             : "lr", "memory");
            rows = 0;
        }
        for (; rows > 0; --rows) {
            if (count == 3) {
                ROW_OF_FEW(TWO_OF("p", "s", "w") TWO_OF("q", "t", "y") TWO_OF("r", "o", "z"),
                           ONE_OF("p", "w") ONE_OF("q", "y") ONE_OF("r", "z"),
                           MAC("a", "u", "p") MAC("b", "u", "q") MAC("c", "u", "r"),
                           MAC("a", "v", "s") MAC("b", "v", "t") MAC("c", "v", "o"),
                           [b] "+w"(b), [c] "+w"(c), [q] "=&r"(q), [r] "=&r"(r), [t] "=&r"(t), [o] "=&r"(o),
                           [y] "+r"(y), [z] "+r"(z));
            } else if (count == 2) {
                ROW_OF_FEW(TWO_OF("p", "s", "w") TWO_OF("q", "t", "y"),
                           ONE_OF("p", "w") ONE_OF("q", "y"),
                           MAC("a", "u", "p") MAC("b", "u", "q"), MAC("a", "v", "s") MAC("b", "v", "t"),
                           [b] "+w"(b), [q] "=&r"(q), [t] "=&r"(t), [y] "+r"(y));
            } else {
                ROW_OF_FEW(TWO_OF("p", "s", "w"), ONE_OF("p", "w"), MAC("a", "u", "p"), MAC("a", "v", "s"),
                           [b] "+w"(b));
            }
            x += at->row_gap;
            w += at->w_row_gap;
            y += at->w_row_gap;
            z += at->w_row_gap;
        }
        x += at->plane_gap;
        w += at->w_plane_gap;
        y += at->w_plane_gap;
        z += at->w_plane_gap;
    }
    store(from->out, from->out_beside, a);
    if (count > 1) {
        store(from->out + from->out_step, from->out_beside, b);
    }
    if (count > 2) {
        store(from->out + 2 * from->out_step, from->out_beside, c);
    }
}

#endif
