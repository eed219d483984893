/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of conv2d of floats over the terms of blocks of pixels, MVE. */
#ifndef CORTEXM_CONV_FLOAT_WALK_MVE_H
#define CORTEXM_CONV_FLOAT_WALK_MVE_H

#include "common/stamp.h"

/* What the assembly for blocks of three pixels takes, which knows the places of the members: biases and
 * distances of outputs, in bytes; a window's terms, with the gaps between the weights of outputs side by side. */
typedef struct {
    float bias[8];
    uint32_t places[8];
    const uint8_t *w;
    int32_t kind;
    int32_t step, ahead;
    int32_t beside, columns;
    int32_t planes, gap;          /* from the end of a block's terms to the next block */
    int32_t rows, edges;
    int32_t row_gap, w_row_gap;
    int32_t plane_gap, w_plane_gap;
    float *out;
    int32_t next;                 /* from a pixel's outputs to the next one's */
    int32_t blocks, fours;        /* of those of a row (sixes) that are left, and that have fewer than six pixels */
    int32_t last_edges, last_back;
    int32_t threes;               /* that have three */
} walk_t;

/* Kinds of terms: a single row, side by side in the image, of an even number or an odd one; any, of a block, also one whose pixels lie side by side,
 * or of one pixel; rows side by side, of pixels that lie one or two columns apart; any, of pixels a column apart; 3x3
 * in every plane of windows one or two columns apart, and rows of three side by side, of blocks inside the image; and
 * those of others. */
enum { DENSE, ODD, ANY, BESIDE, ONE, PAIRS1, PAIRS2, APART, NINES1, NINES2, THREES, FIVES, EDGED1, EDGED2 };

/* Of a block, whose first term is by itself where their number is odd. */
#define DENSE_PIXELS                                  \
    "ldrd      %[q], %[p], [%[g], #80]\n\t"           \
    "add       %[y], %[x], %[q]\n\t"                  \
    "add       %[z], %[y], %[q]\n"
#define DENSE_TERMS(WEIGHTS, A, B, C)                 \
    DENSE_PIXELS                                      \
    "24:\n\t"                                         \
    PAIRS("p", WEIGHTS, A, B, C)
#define ODD_TERM(WEIGHTS, A, B, C)                    \
    DENSE_PIXELS                                      \
    "\tldr       %[s], [%[x]], #4\n\t"               \
    "ldr       %[t], [%[y]], #4\n\t"                  \
    WEIGHTS                                           \
    "ldr       %[o], [%[z]], #4\n\t"                  \
    A("s") B("t") C("o")                              \
    "b         24f\n"
#define EACH_TERM(REST)                               \
    "ldr       %[y], [%[g], #72]\n\t"                 \
    "ldr       %[z], [%[g], #80]\n\t"                 \
    "ldr       %[o], [%[g], #88]\n\t"                 \
    "cmp       %[o], #0\n\t"                          \
    "beq       9f\n"                                  \
    "2:\n\t"                                          \
    "ldr       %[s], [%[g], #96]\n"                   \
    "3:\n\t"                                          \
    "ldr       %[p], [%[g], #84]\n\t"                 \
    "dls       lr, %[p]\n"                            \
    "4:\n\t"                                          \
    REST                                              \
    "le        lr, 4b\n\t"                            \
    "ldrd      %[p], %[q], [%[g], #104]\n\t"          \
    "add       %[x], %[p]\n\t"                        \
    "add       %[w], %[q]\n\t"                        \
    "subs      %[s], #1\n\t"                          \
    "bne       3b\n\t"                                \
    "ldrd      %[p], %[q], [%[g], #112]\n\t"          \
    "add       %[x], %[p]\n\t"                        \
    "add       %[w], %[q]\n\t"                        \
    "subs      %[o], #1\n\t"                          \
    "bne       2b\n\t"
#define ANY_TERMS(WEIGHTS, A, B, C)                   \
    EACH_TERM("ldr       %[p], [%[x]]\n\t"            \
              "ldr       %[q], [%[x], %[z]]\n\t"      \
              "ldr       %[r], [%[x], %[z], lsl #1]\n\t" \
              WEIGHTS                                 \
              "add       %[x], %[y]\n\t"              \
              A("p") B("q") C("r"))
#define TERMS_BESIDE                                  \
    EACH_TERM("ldrd      %[p], %[q], [%[x]]\n\t"      \
              "ldr       %[r], [%[x], #8]\n\t"        \
              WEIGHTS8                                \
              "add       %[x], %[y]\n\t"              \
              A8("p") B8("q") C8("r"))
/* Of one pixel, whose outputs are stored, too: no other block follows. */
#define TERMS_OF_ONE(WEIGHTS, A, STORES)              \
    EACH_TERM("ldr       %[p], [%[x]]\n\t"            \
              WEIGHTS                                 \
              "add       %[x], %[y]\n\t"              \
              A("p"))                                 \
    "9:\n\t"                                          \
    "ldr       %[r], [%[g], #92]\n\t"                 \
    "ldr       %[p], [%[g], #120]\n\t"                \
    "add       %[x], %[r]\n\t"                        \
    STORES                                            \
    "b         25f\n"

/* Rows of terms side by side, two at a time: four or six activations of three pixels. */
#define PAIRS_BESIDE(TWO, ONE_MORE)                   \
    "ldr       %[z], [%[g], #88]\n\t"                 \
    "cmp       %[z], #0\n\t"                          \
    "beq       9f\n"                                  \
    "2:\n\t"                                          \
    "ldr       %[y], [%[g], #96]\n"                   \
    "3:\n\t"                                          \
    "ldr       %[p], [%[g], #84]\n\t"                 \
    "lsrs      %[p], %[p], #1\n\t"                    \
    "wls       lr, %[p], 5f\n"                        \
    "4:\n\t"                                          \
    TWO                                               \
    "le        lr, 4b\n"                              \
    "5:\n\t"                                          \
    "bcc       6f\n\t"                                \
    ONE_MORE WEIGHTS8 A8("p") B8("q") C8("r")         \
    "6:\n\t"                                          \
    "ldrd      %[p], %[q], [%[g], #104]\n\t"          \
    "add       %[x], %[p]\n\t"                        \
    "add       %[w], %[q]\n\t"                        \
    "subs      %[y], #1\n\t"                          \
    "bne       3b\n\t"                                \
    "ldrd      %[p], %[q], [%[g], #112]\n\t"          \
    "add       %[x], %[p]\n\t"                        \
    "add       %[w], %[q]\n\t"                        \
    "subs      %[z], #1\n\t"                          \
    "bne       2b\n\t"
#define PAIRS_STRIDE1                                                                       \
    PAIRS_BESIDE("ldrd      %[p], %[q], [%[x]], #8\n\t"                                     \
                 "ldrd      %[r], %[s], [%[x]]\n\t"                                         \
                 WEIGHTS8 A8("p") B8("q") C8("r") WEIGHTS8 A8("q") B8("r") C8("s"),         \
                 "ldr       %[p], [%[x]], #4\n\t"                                           \
                 "ldrd      %[q], %[r], [%[x]]\n\t")
#define PAIRS_STRIDE2                                                                       \
    PAIRS_BESIDE("ldrd      %[p], %[s], [%[x]], #8\n\t"                                     \
                 "ldrd      %[q], %[t], [%[x]]\n\t"                                         \
                 "ldrd      %[r], %[o], [%[x], #8]\n\t"                                     \
                 WEIGHTS8 A8("p") B8("q") C8("r") WEIGHTS8 A8("s") B8("t") C8("o"),         \
                 "ldr       %[p], [%[x]], #4\n\t"                                           \
                 "ldr       %[q], [%[x], #4]\n\t"                                           \
                 "ldr       %[r], [%[x], #12]\n\t")
/* The same of pixels that lie as far from each other as columns do. */
#define PAIRS_APART                                                                         \
    "ldr       %[t], [%[g], #72]\n\t"                                                       \
    PAIRS_BESIDE("ldr       %[p], [%[x]]\n\t"                                               \
                 "ldr       %[q], [%[x], %[t]]\n\t"                                         \
                 "ldr       %[r], [%[x], %[t], lsl #1]\n\t"                                 \
                 "add       %[x], %[x], %[t], lsl #1\n\t"                                   \
                 "ldr       %[s], [%[x], %[t]]\n\t"                                         \
                 WEIGHTS8 A8("p") B8("q") C8("r") WEIGHTS8 A8("q") B8("r") C8("s"),         \
                 "ldr       %[p], [%[x]]\n\t"                                               \
                 "ldr       %[q], [%[x], %[t]]\n\t"                                         \
                 "ldr       %[r], [%[x], %[t], lsl #1]\n\t"                                 \
                 "add       %[x], %[t]\n\t")
/* And rows of five terms: seven pixels for fifteen. */
#define ROWS_OF_FIVE                                                                        \
    "ldr       %[y], [%[g], #72]\n\t"                                                       \
    "ldr       %[z], [%[g], #88]\n"                                                         \
    "2:\n\t"                                                                                \
    "ldr       %[p], [%[g], #96]\n\t"                                                       \
    "dls       lr, %[p]\n"                                                                  \
    "3:\n\t"                                                                                \
    "ldr       %[p], [%[x]]\n\t"                                                            \
    "ldr       %[q], [%[x], %[y]]\n\t"                                                      \
    "ldr       %[r], [%[x], %[y], lsl #1]\n\t"                                              \
    WEIGHTS8                                                                                \
    "ldr       %[t], [%[x], %[y], lsl #2]\n\t"                                              \
    "add       %[x], %[y]\n\t"                                                              \
    "ldr       %[s], [%[x], %[y], lsl #1]\n\t"                                              \
    "ldr       %[o], [%[x], %[y], lsl #2]\n\t"                                              \
    "add       %[x], %[y]\n\t"                                                              \
    A8("p") B8("q") C8("r")                                                                 \
    WEIGHTS8                                                                                \
    "ldr       %[p], [%[x], %[y], lsl #2]\n\t"                                              \
    A8("q") B8("r") C8("s")                                                                 \
    WEIGHTS8                                                                                \
    "ldr       %[q], [%[g], #76]\n\t"                                                       \
    A8("r") B8("s") C8("t")                                                                 \
    WEIGHTS8                                                                                \
    "add       %[x], %[q]\n\t"                                                              \
    A8("s") B8("t") C8("o")                                                                 \
    WEIGHTS8                                                                                \
    A8("t") B8("o") C8("p")                                                                 \
    "le        lr, 3b\n\t"                                                                  \
    "ldrd      %[p], %[q], [%[g], #112]\n\t"                                                \
    "add       %[x], %[p]\n\t"                                                              \
    "add       %[w], %[q]\n\t"                                                              \
    "subs      %[z], #1\n\t"                                                                \
    "bne       2b\n\t"

/* The pixels of windows of three columns overlap: five or seven of them for nine terms. `step` is in y, and in
 * z what is left from the third column to the next row. */
#define ROW3(LOADS, FIRST, SECOND, THIRD)                  \
    "ldr       %[p], [%[x]]\n\t"                           \
    "ldr       %[q], [%[x], %[y]]\n\t"                     \
    "ldr       %[r], [%[x], %[y], lsl #1]\n\t"             \
    WEIGHTS8                                               \
    "ldr       %[t], [%[x], %[y], lsl #2]\n\t"             \
    "add       %[x], %[y]\n\t"                             \
    "ldr       %[s], [%[x], %[y], lsl #1]\n\t"             \
    LOADS                                                  \
    FIRST                                                  \
    WEIGHTS8                                               \
    SECOND                                                 \
    WEIGHTS8                                               \
    THIRD                                                  \
    "add       %[x], %[z]\n\t"
#define ROW3_STRIDE1                                                           \
    ROW3("", A8("p") B8("q") C8("r"), A8("q") B8("r") C8("s"), A8("r") B8("s") C8("t"))
#define ROW3_STRIDE2                                                           \
    ROW3("ldr       %[o], [%[x], %[y], lsl #2]\n\tadd       %[x], %[y]\n\t",   \
         A8("p") B8("r") C8("t") "ldr       %[p], [%[x], %[y], lsl #2]\n\t",   \
         A8("q") B8("s") C8("o"), A8("r") B8("t") C8("p"))
#define NINES(ROW, MORE)                                   \
    "ldrd      %[y], %[z], [%[g], #72]\n\t"                \
    MORE                                                   \
    "ldr       %[p], [%[g], #88]\n\t"                      \
    "dls       lr, %[p]\n"                                 \
    "2:\n\t"                                               \
    ROW ROW ROW                                            \
    "ldr       %[p], [%[g], #112]\n\t"                     \
    "add       %[x], %[p]\n\t"                             \
    "le        lr, 2b\n\t"

/* The same of any rows, where the pixels lie side by side: five for three terms. */
#define THREES_BESIDE                                      \
    "ldr       %[o], [%[g], #88]\n\t"                      \
    "ldr       %[z], [%[g], #76]\n"                        \
    "2:\n\t"                                               \
    "ldr       %[p], [%[g], #96]\n\t"                      \
    "dls       lr, %[p]\n"                                 \
    "3:\n\t"                                               \
    "ldrd      %[p], %[q], [%[x]], #8\n\t"                 \
    "ldrd      %[r], %[s], [%[x]]\n\t"                     \
    WEIGHTS8                                               \
    "ldr       %[t], [%[x], #8]\n\t"                       \
    A8("p") B8("q") C8("r")                                \
    WEIGHTS8                                               \
    A8("q") B8("r") C8("s")                                \
    WEIGHTS8                                               \
    A8("r") B8("s") C8("t")                                \
    "add       %[x], %[z]\n\t"                             \
    "le        lr, 3b\n\t"                                 \
    "ldrd      %[p], %[q], [%[g], #112]\n\t"               \
    "add       %[x], %[p]\n\t"                             \
    "add       %[w], %[q]\n\t"                             \
    "subs      %[o], #1\n\t"                               \
    "bne       2b\n\t"

/* The same of up to three rows, where the first pixel may have no first column or the last one no last (`edges`,
 * cortexm_run_f32_t): N and C skip their products. */
#define EDGED(WEIGHTS, A, B, C, LOADS, SECOND, THIRD, LAST)  \
    "ldrd      %[y], %[z], [%[g], #72]\n\t"                  \
    "ldr       %[o], [%[g], #88]\n"                          \
    "2:\n\t"                                                 \
    "ldrd      %[p], %[q], [%[g], #96]\n\t"                  \
    "dls       lr, %[p]\n\t"                                 \
    "lsls      %[q], %[q], #31\n"                            \
    "3:\n\t"                                                 \
    WEIGHTS                                                  \
    "bmi       4f\n\t"                                       \
    "ldr       %[p], [%[x]]\n\t"                             \
    A("p")                                                   \
    "4:\n\t"                                                 \
    "add       %[x], %[y]\n\t"                               \
    "ldr       %[q], [%[x]]\n\t"                             \
    "ldr       %[r], [%[x], %[y]]\n\t"                       \
    "ldr       %[s], [%[x], %[y], lsl #1]\n\t"               \
    LOADS                                                    \
    WEIGHTS                                                  \
    SECOND                                                   \
    "add       %[x], %[y]\n\t"                               \
    WEIGHTS                                                  \
    THIRD                                                    \
    "bcs       5f\n\t"                                       \
    "ldr       %[p], [%[x], %[y], lsl #" LAST "]\n\t"        \
    C("p")                                                   \
    "5:\n\t"                                                 \
    "add       %[x], %[z]\n\t"                               \
    "le        lr, 3b\n\t"                                   \
    "ldrd      %[p], %[q], [%[g], #112]\n\t"                 \
    "add       %[x], %[p]\n\t"                               \
    "add       %[w], %[q]\n\t"                               \
    "subs      %[o], #1\n\t"                                 \
    "bne       2b\n\t"
#define EDGED_STRIDE1(WEIGHTS, A, B, C)                                                     \
    EDGED(WEIGHTS, A, B, C, B("q") C("r"), A("q") B("r") C("s"), A("r") B("s"), "1")
#define EDGED_STRIDE2(WEIGHTS, A, B, C)                                                     \
    EDGED(WEIGHTS, A, B, C,                                                                 \
          "add       %[t], %[x], %[y]\n\t"                                                  \
          "ldr       %[t], [%[t], %[y], lsl #1]\n\t" B("r") C("t"),                         \
          A("q") "ldr       %[q], [%[x], %[y], lsl #2]\n\t" B("s") C("q"), A("r") B("t"), "2")

/* The routines of all kinds are one text, longer than what C promises to take for a string. */
#pragma GCC diagnostic ignored "-Woverlength-strings"
/* All blocks. TERMS begins with where those of each kind are, from 7 on, and goes from there to 9. */
#define BLOCKS(BIASES, TERMS, STORES, ...)                                                  \
    __asm__ volatile("1:\n\t"                                                               \
                     "ldrd      %[w], %[p], [%[g], #64]\n\t"                                \
                     BIASES                                                                 \
                     "tbh       [pc, %[p], lsl #1]\n"                                       \
                     "7:\n\t"                                                               \
                     TERMS                                                                  \
                     "9:\n\t"                                                               \
                     "ldr       %[r], [%[g], #92]\n\t"                                      \
                     "ldrd      %[p], %[q], [%[g], #120]\n\t"                               \
                     "add       %[x], %[r]\n\t"                                             \
                     STORES                                                                 \
                     "str       %[p], [%[g], #120]\n\t"                                     \
                     "subs      %[blocks], #1\n\t"                                          \
                     "bne       1b\n"                                                       \
                     "25:"                                                                  \
                     : __VA_ARGS__, [x] "+r"(x), [w] "=&r"(w), [y] "=&r"(y), [z] "=&r"(z),  \
                       [p] "=&r"(p), [q] "=&r"(q), [r] "=&r"(r), [s] "=&r"(s),              \
                       [t] "=&r"(t), [o] "=&r"(o), [blocks] "+r"(blocks)                    \
                     : [g] "r"(walk)                                                        \
                     : "lr", "cc", "memory")
#define KIND(label) ".short    (" label " - 7b) / 2\n\t"
#define BIASES4                                  \
    "vldrw.u32 %q[a], [%[g]]\n\t"                \
    "vmov      %q[b], %q[a]\n\t"                 \
    "vmov      %q[c], %q[a]\n\t"
#define BIASES8                                  \
    BIASES4                                      \
    "vldrw.u32 %q[d], [%[g], #16]\n\t"           \
    "vmov      %q[e], %q[d]\n\t"                 \
    "vmov      %q[f], %q[d]\n\t"
#define PLACES4 "vldrw.u32 %q[u], [%[g], #32]\n\t"
#define PLACES8 PLACES4 "vldrw.u32 %q[v], [%[g], #48]\n\t"
#define FIRST4 "vstrw.32  %q[a], [%[p], %q[u]]\n\t"
#define FIRST8 FIRST4 "vstrw.32  %q[d], [%[p], %q[v]]\n\t"
#define STORE4(sum)                              \
    "vstrw.32  %q[" sum "], [%[p], %q[u]]\n\t"   \
    "add       %[p], %[q]\n\t"
#define STORE8(low, high)                        \
    "vstrw.32  %q[" low "], [%[p], %q[u]]\n\t"   \
    "vstrw.32  %q[" high "], [%[p], %q[v]]\n\t"  \
    "add       %[p], %[q]\n\t"

/* The terms of `outputs` side by side, and the distances of the blocks at `from`. */
static void set_walk(walk_t *walk, const cortexm_window_f32_t *at, const cortexm_place_f32_t *from,
                     int32_t outputs, int32_t is_dense)
{
    const int32_t beside = from->beside;
    const int32_t step = at->step;
    const int32_t row_step = at->columns * step + at->row_gap;
    const int32_t stride_2 = beside == 2 * step;
    const int32_t pixels = from->run->pixels;

    walk->kind = ANY;
    if (pixels == 1) {
        walk->kind = ONE;
    } else if (is_dense) {
        walk->kind = at->columns % 2 == 0 ? DENSE : ODD;
    } else if (at->planes != 0 && at->columns == 3 && at->w_row_gap == 0 && (beside == step || stride_2)) {
        walk->kind = outputs == 8 && at->rows == 3 && at->w_plane_gap == 0 ? NINES1 : EDGED1;
        walk->kind += stride_2;
        if (outputs == 8 && step == 4 && beside == 4) {
            walk->kind = THREES;
        }
    } else if (outputs == 8 && at->planes != 0 && at->columns == 5 && at->w_row_gap == 0 &&
               beside == step) {
        walk->kind = FIVES;
    } else if (outputs == 8 && step == 4 && at->columns > 1 && (beside == 4 || beside == 8)) {
        walk->kind = beside == 4 ? PAIRS1 : PAIRS2;
    } else if (outputs == 8 && at->columns > 1 && beside == step) {
        walk->kind = APART;
    } else if (outputs == 8 && beside == 4) {
        walk->kind = BESIDE;
    }
    walk->step = step;
    walk->ahead = row_step - 2 * step;
    walk->beside = beside;
    walk->columns = walk->kind <= ODD ? at->columns / 2 : at->columns;
    walk->planes = at->planes;
    walk->gap = pixels * beside - (walk->kind <= ODD
                                       ? at->columns * step
                                       : at->planes * (at->rows * row_step + at->plane_gap));
    walk->rows = at->rows;
    walk->row_gap = at->row_gap;
    walk->w_row_gap = outputs * at->w_row_gap;
    walk->plane_gap = at->plane_gap;
    walk->w_plane_gap = outputs * at->w_plane_gap;
    /* Where planes have one row there is nothing to begin and end for each; windows of three columns expect that their
     * rows of weights have no gaps. */
    if (at->rows == 1 && (walk->kind < NINES1 || at->w_plane_gap == 0)) {
        walk->rows = at->planes;
        walk->planes = at->planes != 0;
        walk->ahead += at->plane_gap;
        walk->row_gap += at->plane_gap;
        walk->w_row_gap += walk->w_plane_gap;
        walk->plane_gap = 0;
    }
    walk->next = pixels == 1 ? 0 : 4 * from->out_beside;
    vstrwq_u32(walk->places, lanes(from->out_step));
    vstrwq_u32(walk->places + 4, vaddq_n_u32(lanes(from->out_step), (uint32_t)(16 * from->out_step)));
}

/* So many blocks of eight outputs, or four, the first one's pixels at x. */
static inline const uint8_t *walk_on(walk_t *walk, const uint8_t *x, int32_t blocks,
                                     int32_t outputs)
{
    const uint8_t *w, *y, *z;
    int32_t p, q, r, s, t, o;
    float32x4_t a, b, c, d, e, f, u, v;

    if (outputs == 8) {
        BLOCKS(BIASES8,
               KIND("10f") KIND("23f") KIND("11f") KIND("17f") KIND("12f") KIND("19f") KIND("20f") KIND("21f")
               KIND("13f") KIND("14f") KIND("18f") KIND("22f") KIND("15f") KIND("16f")
               "12:\n\t"
               TERMS_OF_ONE(WEIGHTS8, A8, PLACES8 FIRST8)
               "22:\n\t"
               ROWS_OF_FIVE
               "b         9f\n"
               "21:\n\t"
               PAIRS_APART
               "b         9f\n"
               "20:\n\t"
               PAIRS_STRIDE2
               "b         9f\n"
               "19:\n\t"
               PAIRS_STRIDE1
               "b         9f\n"
               "18:\n\t"
               THREES_BESIDE
               "b         9f\n"
               "17:\n\t"
               TERMS_BESIDE
               "b         9f\n"
               "16:\n\t"
               EDGED_STRIDE2(WEIGHTS8, A8, B8, C8)
               "b         9f\n"
               "15:\n\t"
               EDGED_STRIDE1(WEIGHTS8, A8, B8, C8)
               "b         9f\n"
               "14:\n\t"
               NINES(ROW3_STRIDE2, "")
               "b         9f\n"
               "13:\n\t"
               NINES(ROW3_STRIDE1, "add       %[z], %[y]\n\t")
               "b         9f\n"
               "11:\n\t"
               ANY_TERMS(WEIGHTS8, A8, B8, C8)
               "b         9f\n"
               "23:\n\t"
               ODD_TERM(WEIGHTS8, A8, B8, C8)
               "10:\n\t"
               DENSE_TERMS(WEIGHTS8, A8, B8, C8),
               PLACES8 STORE8("a", "d") STORE8("b", "e") STORE8("c", "f"),
               [a] "=&w"(a), [b] "=&w"(b), [c] "=&w"(c), [d] "=&w"(d), [e] "=&w"(e), [f] "=&w"(f),
               [u] "=&w"(u), [v] "=&w"(v));
    } else {
        BLOCKS(BIASES4,
               KIND("10f") KIND("23f") KIND("11f") KIND("9f") KIND("12f") KIND("9f") KIND("9f") KIND("9f") KIND("9f")
               KIND("9f") KIND("9f") KIND("9f") KIND("9f") KIND("16f")
               "12:\n\t"
               TERMS_OF_ONE(WEIGHTS4, A4, PLACES4 FIRST4)
               "16:\n\t"
               EDGED_STRIDE2(WEIGHTS4, A4, B4, C4)
               "b         9f\n"
               "11:\n\t"
               ANY_TERMS(WEIGHTS4, A4, B4, C4)
               "b         9f\n"
               "23:\n\t"
               ODD_TERM(WEIGHTS4, A4, B4, C4)
               "10:\n\t"
               DENSE_TERMS(WEIGHTS4, A4, B4, C4),
               PLACES4 STORE4("a") STORE4("b") STORE4("c"),
               [a] "=&w"(a), [b] "=&w"(b), [c] "=&w"(c), [u] "=&w"(u));
    }
    return x;
}

#endif
