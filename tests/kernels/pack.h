/* SPDX-License-Identifier: Apache-2.0 */
/* Constants in the forms that kernels want, as python/cortexm_tools/plan/kernels/packing*.py pack them. */
#ifndef CORTEXM_TESTS_PACK_H
#define CORTEXM_TESTS_PACK_H

#include "cases.h"

/* As sixteens. */
int8_t *pack_sixteens(const int8_t *weight, int32_t outputs, int32_t depth);

/* As gemm4 in plan/kernels/packing_mve.py, written the other way round: byte by byte. */
int8_t *pack_gemm4(const int8_t *weight, int32_t channels, int32_t groups, int32_t depth);

/* The same in blocks of so many channels, as gemm8; in chunks of so many weights, as gemm4_wide. */
int8_t *pack_gemm_of(int32_t block, int32_t chunk_width, const int8_t *weight, int32_t channels, int32_t groups,
                     int32_t depth);
int8_t *pack_gemm4_in(int32_t chunk_width, const int8_t *weight, int32_t channels, int32_t groups,
                      int32_t depth);

/* As tiles and tile_tables in plan/kernels/packing_mve.py. They take over `weight` and `bias`. */
int8_t *pack_tiles(const cortexm_conv_s8_t *p, int8_t *weight);
int32_t *pack_tile_tables(const cortexm_conv_s8_t *p, int32_t *bias);

/* As fours in plan/kernels/packing_scalar.py. */
int8_t *pack_fours(const int8_t *weight, int32_t channels, int32_t groups, int32_t depth);

/* As raised and eights in plan/kernels/packing_scalar.py. */
int8_t *pack_raised(const int8_t *weight, int32_t count);
int8_t *pack_eights(const int8_t *weight, int32_t channels, int32_t depth);

/* The next five as the functions of their names in plan/kernels/packing_dsp.py; bytes that need not be zeros are not. */
int8_t *pack_twos(const int8_t *weight, int32_t channels, int32_t depth);

int8_t *pack_split_twos(const int8_t *weight, int32_t channels, int32_t depth);
int8_t *pack_signed_split_twos(const int8_t *weight, int32_t channels, int32_t depth);
int8_t *pack_signed_split_fours(const int8_t *weight, int32_t channels, int32_t depth);
/* As four_tables there. It takes over `bias`. */
int8_t *pack_column_twos(const int8_t *weight, int32_t channels, int32_t rows, int32_t inputs);
int32_t *pack_two_tables(int32_t channels, const int32_t *multiplier, const int8_t *shift, int32_t *bias, int in_runs);
int32_t *pack_four_tables(int32_t channels, const int32_t *multiplier, const int8_t *shift, int32_t *bias);

int8_t *pack_pairs(const int8_t *weight, int32_t channels, int32_t depth);

/* The forms of weights of 4 bits, as the functions of their names. */
int8_t *pack_nibble_twos(const int8_t *weight, int32_t channels, int32_t depth);
int8_t *pack_nibble_pairs(const int8_t *weight, int32_t channels, int32_t depth);
int8_t *pack_nibble_fours(const int8_t *weight, int32_t channels, int32_t groups, int32_t depth);
int8_t *pack_nibble_channels(const int8_t *weight, int32_t channels, int32_t depth);
int8_t *pack_nibble_gemm4(const int8_t *weight, int32_t channels, int32_t groups, int32_t depth);
int8_t *pack_nibble_gemm_of(int32_t block, int32_t chunk_width, const int8_t *weight, int32_t channels,
                            int32_t groups, int32_t depth);
int8_t *pack_nibble_gemm4_in(int32_t chunk_width, const int8_t *weight, int32_t channels,
                             int32_t groups, int32_t depth);
int8_t *pack_nibble_eights(const int8_t *weight, int32_t channels, int32_t depth);
int8_t *pack_nibble_lines(const int8_t *weight, int32_t channels, int32_t depth);

/* The bytes of a group of nibble_gemm4, and of so many codes as nibble_vectors. */
int32_t nibble_gemm4_size(int32_t channels, int32_t depth);
int32_t nibble_vectors_size(int32_t count);

/* nibble_vectors; takes over `codes`. */
int8_t *pack_nibble_vectors(int8_t *codes, int32_t count);

/* Codes two in a byte, the first in its lower half; takes over `codes`. */
int8_t *pack_nibbles(int8_t *codes, int32_t count);

/* A transposed convolution in phases, each as linear's: pack_gemm4 or pack_pairs. Takes over `weight`
 * and *bias, which becomes the biases of all phases. */
int8_t *pack_phases(conv_kind_t kind, int32_t bits, const cortexm_conv_s8_t *p, int8_t *weight,
                    int32_t **bias);

/* As tap_fours and window_rows. */
int8_t *pack_depthwise(conv_kind_t kind, const int8_t *weight, int32_t taps, int32_t channels);

/* A shift that is at least so far to the right, as `shifts_right` and `shifts_right_2`. */
int8_t right(int8_t shift, int32_t least);

/* A copy of so many codes. */
int8_t *copy_of(const int8_t *codes, int32_t count);

/* As tap_pairs in plan/kernels/packing_dsp.py. */
int8_t *pack_tap_pairs(const int8_t *weight, int32_t channels, int32_t taps);
/* As depthwise8 in plan/kernels/packing_mve.py; takes over `weight`. */
int8_t *pack_depthwise8(int8_t *weight, int32_t channels, int32_t taps);
/* As depthwise16 there, the same. */
int8_t *pack_depthwise16(int8_t *weight, int32_t channels, int32_t taps);

#endif
