/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a template (.inc) makes of the macros that a stamp defines before it. A stamp is the source file
 * of one kernel, generated from a row of kernels.json; it includes this first and defines
 *   OP         what the kernel computes, e.g. clamp
 *   TYPES      its element types, e.g. f32 or s8f32
 *   FROM, TO   the types of operand and result: both TYPES, or its two halves
 *   ISA        the last part of its name, e.g. scalar
 *   PARAMS     its parameter struct
 *   CORTEXM_IS_clamp, CORTEXM_IS_f32 (of OP and FROM), for templates of kernels that share a file only
 */
#ifndef CORTEXM_COMMON_STAMP_H
#define CORTEXM_COMMON_STAMP_H

#include <stdint.h>

/* Projects that ask for these warnings mean other code: functions that objects share (CORTEXM_SHARED) have no
 * declaration but their definition, and floats are compared for being equal where equal is meant. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-declarations"
#pragma GCC diagnostic ignored "-Wfloat-equal"
#endif

/*
 * A function that is assembly from its first instruction to the last, which returns by itself. GCC puts
 * the guard of -fstack-protector-all in front of it all the same, in the stack of its caller; clang allows
 * no other statement in it, and GCC wants to see every argument used.
 */
#if defined __has_attribute
#if __has_attribute(no_stack_protector)
#define CORTEXM_UNGUARDED , no_stack_protector
#endif
#endif
#ifndef CORTEXM_UNGUARDED
#define CORTEXM_UNGUARDED
#endif
#define CORTEXM_NAKED __attribute__((naked, noinline, unused CORTEXM_UNGUARDED))
#if defined __clang__
#define CORTEXM_TAKES(argument)
#else
#define CORTEXM_TAKES(argument) (void)(argument)
#endif

/*
 * Kernels name macros of their own as briefly as variables, and are compiled with the definitions of the
 * application, which may have others under these names (Zephyr defines KERNEL everywhere). A source
 * file that defines one includes this before.
 */
#undef A4
#undef A8
#undef ADD
#undef ADD_BIAS
#undef ADD_CODES
#undef ADD_EXPONENTIAL
#undef ADD_FOUR
#undef ADD_FOUR_s16_dsp
#undef ADD_FOUR_s16_v7m
#undef ADD_FOUR_s8_dsp
#undef ADD_FOUR_s8_v7m
#undef ADD_LOWER
#undef ADD_MORE_PRODUCTS
#undef ADD_NEXT_W
#undef ADD_ONE
#undef ADD_ONE_s16
#undef ADD_ONE_s8
#undef ADD_PIXEL
#undef ADD_POWER
#undef ADD_POWER_s16
#undef ADD_POWER_s8
#undef ADD_PRODUCTS
#undef ADD_ROW
#undef ADD_UPPER
#undef ADD_VECTOR
#undef ADD_VECTOR_s16
#undef ADD_VECTOR_s8
#undef ADD_ZERO_POINT
#undef ADD_avg_pool2d
#undef ADD_avg_pool2d_eights
#undef ADD_max_pool2d
#undef AFTER_ROWS
#undef AGAIN
#undef ALL_CHANNELS
#undef ALL_LANES
#undef ALL_LANES_avg_pool2d
#undef ALL_LANES_avg_pool2d_eights
#undef ALL_LANES_max_pool2d
#undef ALL_PIXELS
#undef ALL_ROWS
#undef ALWAYS
#undef ANOTHER
#undef ANY
#undef ANY_ROWS
#undef ANY_STORES
#undef ANY_TERMS
#undef APART
#undef AT
#undef AT_LAST
#undef AT_ONCE
#undef B4
#undef B8
#undef BACK
#undef BAND
#undef BASE
#undef BEFORE
#undef BEGIN
#undef BEGIN_BOTH
#undef BEGIN_GROUPS
#undef BEGIN_PAIR
#undef BEGIN_PAIRS
#undef BEGIN_SUMS
#undef BEGIN_TAP
#undef BEGIN_TWO_ROWS
#undef BEGIN_s16
#undef BEGIN_s8
#undef BESIDE
#undef BEST
#undef BETTER
#undef BETTER_argmax
#undef BETTER_argmin
#undef BEYOND_CHUNK
#undef BIAS
#undef BIAS4
#undef BIAS8
#undef BIASES
#undef BIASES4
#undef BIASES8
#undef BIAS_OF_ALL
#undef BIAS_OF_THREE
#undef BIAS_conv2d
#undef BIAS_depthwise_conv2d
#undef BITS
#undef BITS_s16
#undef BITS_s8
#undef BLOCK
#undef BLOCKS
#undef BLOCK_OPERANDS
#undef BLOCK_WORDS
#undef BOTH
#undef BYTES
#undef BYTES_OF_FOUR
#undef BYTES_OF_FOUR_s16
#undef BYTES_OF_FOUR_s8
#undef BY_OFFSETS
#undef C4
#undef C8
#undef CHANNEL
#undef CHANNELS
#undef CHUNK
#undef CHUNK_2X2
#undef CHUNK_BYTES
#undef CHUNK_SHIFT
#undef CLAMP
#undef CLEAR_SUMS
#undef CLEAR_SUMS_s16
#undef CLEAR_SUMS_s8
#undef CLOBBERED
#undef CODE
#undef CODES
#undef CODES_OF_TWO
#undef CODE_BITS
#undef CODE_MAX
#undef CODE_MIN
#undef CODE_OF
#undef CODE_OF_HIGH
#undef COLUMN
#undef COLUMNS
#undef COLUMNS_OF
#undef COLUMNS_OR
#undef COLUMN_OF_FOUR
#undef CONSTANT
#undef CONSTANTS
#undef CONVERT
#undef CONVERT_f32
#undef CONVERT_s16
#undef CONVERT_s32
#undef CONVERT_s64
#undef CONVERT_s8
#undef CONVERT_u8
#undef CONV_conv2d
#undef CONV_depthwise_conv2d
#undef CONV_transpose_conv2d
#undef CORRECT_SIGNS
#undef DENSE_PIXELS
#undef DENSE_TERMS
#undef DISTANT
#undef DIVIDE
#undef DOUBLED
#undef EACH
#undef EACH_APART
#undef EACH_BESIDE
#undef EACH_OF_FOUR
#undef EACH_OF_FOUR_BIASES
#undef EACH_TERM
#undef EDGED
#undef EDGED_ROW
#undef EDGED_STRIDE1
#undef EDGED_STRIDE2
#undef EIGHT
#undef EIGHTS
#undef EIGHTS_OF_COLUMNS
#undef EIGHT_APART
#undef EIGHT_BESIDE
#undef EIGHT_BIASES
#undef EIGHT_OF_COLUMNS
#undef EIGHT_OF_ONE
#undef EIGHT_OF_TWO
#undef EIGHT_ROWS
#undef EIGHT_STORED_APART
#undef EIGHT_TERMS
#undef EIGHT_WEIGHTS
#undef ELEMENT
#undef ELEMENTS
#undef ELEMENTS_s16
#undef ELEMENTS_s8
#undef ENTER
#undef ENTERED
#undef EXPONENTIALS
#undef EXTREME
#undef EXTREME_maximum
#undef EXTREME_minimum
#undef FEW
#undef FEWEST
#undef FEW_BIASES
#undef FEW_STORES
#undef FILTER_conv2d
#undef FILTER_depthwise_conv2d
#undef FILTER_transpose_conv2d
#undef FIND_LARGEST
#undef FINISH
#undef FINISH_ALL
#undef FINISH_BLOCK
#undef FINISH_ONE
#undef FINISH_POSITIVE
#undef FINISH_ROWS
#undef FINISH_TWO
#undef FINISH_amax
#undef FINISH_amin
#undef FINISH_mean
#undef FINISH_sum
#undef FIRST
#undef FIRST0
#undef FIRST1
#undef FIRST2
#undef FIRST3
#undef FIRST4
#undef FIRST8
#undef FIRST_AGAIN
#undef FIRST_COLUMNS
#undef FIRST_LANES
#undef FIRST_OF
#undef FIRST_ROUND
#undef FIRST_TAP
#undef FIRST_TAPS
#undef FIRST_VECTOR
#undef FIVE_COLUMNS
#undef FOLD
#undef FOR_ELEMENTS
#undef FOURS
#undef FOURS_OF_COLUMNS
#undef FOURS_OF_ONE
#undef FOURS_OF_TWO
#undef FOURS_THEN
#undef FOUR_APART
#undef FOUR_BIASES
#undef FOUR_CHANNELS
#undef FOUR_MORE
#undef FOUR_NEIGHBOURS
#undef FOUR_OF_COLUMNS
#undef FOUR_OF_EIGHT
#undef FOUR_OF_FOUR
#undef FOUR_OF_ONE
#undef FOUR_OF_THREE
#undef FOUR_OF_TWO
#undef FOUR_PIXELS
#undef FOUR_STARTS
#undef FOUR_TERMS
#undef FPU_REGISTERS
#undef FRACTION
#undef FRACTION_FROM
#undef FROM
#undef FROM_PLACE
#undef FROM_PLACE_s16
#undef FROM_PLACE_s8
#undef FURTHER
#undef GATHER
#undef GATHERED1
#undef GATHERED2
#undef GATHERED4
#undef GATHER_TWO
#undef GATHER_avg_pool2d
#undef GATHER_avg_pool2d_eights
#undef GATHER_max_pool2d
#undef GATHER_s16
#undef GATHER_s8
#undef GIVE
#undef GIVE_s16
#undef GIVE_s8
#undef GO_ON
#undef HALF
#undef HALF_s16
#undef HALF_s8
#undef HAS_COLUMNS
#undef HAS_COLUMNS_dsp
#undef HAS_COLUMNS_mve
#undef HAS_COLUMNS_scalar
#undef HAS_COLUMNS_v6m
#undef HAS_COLUMNS_v7m
#undef HIGH
#undef HIGH_HALF
#undef INNER
#undef INNER_BEHIND_FIRST
#undef INSTRUCTION
#undef INSTRUCTION_amax
#undef INSTRUCTION_amin
#undef INSTRUCTION_maximum
#undef INSTRUCTION_minimum
#undef INVERSE_ROOT
#undef IN_TURNS
#undef IN_WORD
#undef ISA
#undef IS_AVERAGE
#undef IS_BYTE_s16
#undef IS_BYTE_s8
#undef IS_EASY
#undef IS_FEW
#undef IS_HALF
#undef IS_MODERATE
#undef IS_PAIRED
#undef IS_PLAIN
#undef IS_POSITIVE
#undef IS_RELU
#undef IS_ROW
#undef IS_ROWS
#undef IS_SUM
#undef IS_SYMMETRIC
#undef ITERATE
#undef ITS_SQUARES
#undef ITS_SQUARES_s16
#undef ITS_SQUARES_s8
#undef KEEP_START
#undef KEEP_k
#undef KEEP_x
#undef KEPT
#undef KERNEL
#undef KIND
#undef LANES
#undef LANES_avg_pool2d
#undef LANES_avg_pool2d_eights
#undef LANES_max_pool2d
#undef LANE_NUMBERS
#undef LANE_NUMBERS_avg_pool2d
#undef LANE_NUMBERS_avg_pool2d_eights
#undef LANE_NUMBERS_max_pool2d
#undef LARGER
#undef LARGEST
#undef LAST_COLUMN
#undef LAST_OF_EIGHT
#undef LAST_PRODUCTS
#undef LAST_TAP
#undef LAST_TAPS
#undef LATER_BYTES
#undef LATER_QUADS
#undef LEAST_OF_FOUR
#undef LEAST_PIECE
#undef LEAST_PIECE_scalar
#undef LEAST_PIECE_v7m
#undef LEAST_ROW
#undef LEAST_avg_pool2d
#undef LEAST_avg_pool2d_eights
#undef LEAST_max_pool2d
#undef LEFT_OF_SHIFT
#undef LEFT_OF_SHIFT_s16
#undef LEFT_OF_SHIFT_s8
#undef LESS_THAN_EIGHT
#undef LIMITED
#undef LINEAR_CHUNK
#undef LINEAR_OUTPUTS
#undef LINEAR_WORDS_scalar
#undef LINEAR_WORDS_v6m
#undef LINEAR_WORDS_v7m
#undef LITERALS
#undef LOAD
#undef LOAD_FIRST
#undef LOAD_FOUR
#undef LOAD_HALVES
#undef LOAD_LANES
#undef LOAD_MULTIPLIER
#undef LOAD_MULTIPLIERS
#undef LOAD_ROWS
#undef LOAD_SECOND
#undef LOAD_START
#undef LOAD_STEP
#undef LOAD_SUMS
#undef LOAD_SUMS_s16
#undef LOAD_SUMS_s8
#undef LOAD_TAP
#undef LOAD_TWO
#undef LOAD_s16
#undef LOAD_s8
#undef LOG
#undef LOG_log_softmax
#undef LOG_softmax
#undef LOOP
#undef LOWER
#undef LOWER_BYTES
#undef LOWEST
#undef MAC
#undef MACS
#undef MACS4
#undef MACS8
#undef MACS_OF
#undef MANY
#undef MAX_SHIFT
#undef MAX_SIZE
#undef MORE_STARTS
#undef MOST_FOURS
#undef MOST_OF_ONE
#undef MOST_OUTSIDE
#undef MOST_PIXELS
#undef MOST_SPANS
#undef MOST_avg_pool2d
#undef MOST_avg_pool2d_eights
#undef MOST_max_pool2d
#undef MOVE_BLOCKS
#undef MOVE_IN_ASSEMBLY_scalar
#undef MOVE_IN_ASSEMBLY_v7m
#undef MULTIPLIER
#undef MULTIPLIER_LOG2
#undef MULTIPLY
#undef MULTIPLY_BLOCK
#undef MULTIPLY_BOTH
#undef MULTIPLY_BOTH_LAST
#undef MULTIPLY_CODES
#undef MULTIPLY_COLUMN
#undef MULTIPLY_EIGHT
#undef MULTIPLY_FIRST
#undef MULTIPLY_FOUR
#undef MULTIPLY_HALVES
#undef MULTIPLY_LAST
#undef MULTIPLY_PAIR
#undef MULTIPLY_PIXEL
#undef MULTIPLY_QUAD
#undef MULTIPLY_QUADS
#undef MULTIPLY_ROWS
#undef MULTIPLY_SMALL
#undef MULTIPLY_STEP
#undef MULTIPLY_TAP
#undef MULTIPLY_THREE
#undef MULTIPLY_TWO
#undef MULTIPLY_TWO_QUADS
#undef MULTIPLY_WIDE
#undef MULTIPLY_WIDE_STEP
#undef NEIGHBOURS
#undef NEXT
#undef NEXT4
#undef NEXT8
#undef NEXT_APART
#undef NEXT_BOTH
#undef NEXT_CHANNEL
#undef NEXT_COLUMN
#undef NEXT_EIGHT
#undef NEXT_GROUP
#undef NEXT_ROW
#undef NEXT_ROWS
#undef NEXT_SHIFT
#undef NEXT_WEIGHT
#undef NEXT_WEIGHTS
#undef NINES
#undef NINE_COLUMNS
#undef NN_s8
#undef NN_s8w4
#undef NOT_BEFORE
#undef NO_FIRST
#undef NO_LAST
#undef NO_SUM
#undef NUMBER
#undef ODD_TERM
#undef OF
#undef OFFSET
#undef OFFSETS
#undef OFFSETS_avg_pool2d
#undef OFFSETS_avg_pool2d_eights
#undef OFFSETS_max_pool2d
#undef OFFSET_avg_pool2d
#undef OFFSET_avg_pool2d_eights
#undef OFFSET_max_pool2d
#undef OF_2
#undef OF_BOTH
#undef OF_CHANNEL
#undef OF_CHANNEL_dsp
#undef OF_CHANNEL_v7m
#undef OF_E
#undef OF_EIGHT
#undef OF_ELEMENT
#undef OF_FLOATS
#undef OF_FOURS
#undef OF_LIBRARY
#undef OF_NARROW
#undef OF_NARROW_s16
#undef OF_NARROW_s8
#undef OF_ONE
#undef OF_ONE_dsp
#undef OF_ONE_v7m
#undef OF_STRIP
#undef OF_TWO
#undef OF_TWO_dsp
#undef OF_TWO_v7m
#undef OF_VECTOR
#undef OF_VECTORS
#undef OF_WIDE
#undef OF_WIDE_s16
#undef OF_WIDE_s8
#undef OF_WIDTH
#undef ONE
#undef ONES
#undef ONE_BESIDE
#undef ONE_CHANNEL
#undef ONE_OF
#undef ONE_OF_EIGHT
#undef ONE_OF_FOUR
#undef ONE_OF_ONE
#undef ONE_OF_THREE
#undef ONE_OF_TWO
#undef ONE_OUTPUT
#undef ONE_PIXEL
#undef ONE_ROW
#undef ONE_f32
#undef ONE_s16
#undef ONE_s8
#undef OP
#undef OTHERS
#undef OUTPUT
#undef OUT_CHANNELS
#undef OUT_OFFSETS
#undef OWN
#undef PADDING
#undef PAIR
#undef PAIRS
#undef PAIRS_APART
#undef PAIRS_BESIDE
#undef PAIRS_OF_ROWS
#undef PAIRS_STRIDE1
#undef PAIRS_STRIDE2
#undef PAIR_WORDS
#undef PANEL
#undef PARAMS
#undef PARAMS_conv2d
#undef PARAMS_depthwise_conv2d
#undef PARAMS_transpose_conv2d
#undef PIECES_IN_ASSEMBLY_scalar
#undef PIECES_IN_ASSEMBLY_v7m
#undef PITCH
#undef PIXEL
#undef PIXELS
#undef PIXELS_OF_CHANNEL
#undef PIXELS_OF_ROW
#undef PIXEL_OF_ROW
#undef PIXEL_f32
#undef PIXEL_s16
#undef PIXEL_s8
#undef PLACE
#undef PLACES
#undef PLACES4
#undef PLACES8
#undef PLACES_AND_OUT
#undef PLANES_OF_FOUR
#undef PLANES_OF_PIXELS
#undef PLANES_OF_SIX
#undef PLANES_OF_THREE
#undef POOL
#undef POOL_ADD
#undef POOL_GATHER
#undef POOL_KEEP
#undef POOL_LEAST
#undef POOL_LOAD
#undef POOL_MOST
#undef POOL_RESULT
#undef POOL_SCATTER
#undef POOL_START
#undef POOL_STORE
#undef POOL_TAKE
#undef POOL_WIDTH
#undef POOL_avg_pool2d
#undef POOL_max_pool2d
#undef POP_MASK
#undef POSITIVE_TWOS
#undef POWERS_ALONE
#undef PRODUCT
#undef PRODUCTS
#undef PRODUCT_mve
#undef PRODUCT_scalar
#undef PRODUCT_v6m
#undef PUSH_MASK
#undef PUT
#undef PUT_CODES
#undef PUT_LARGE_SHARE
#undef PUT_QUAD
#undef PUT_QUADS
#undef PUT_ROWS
#undef PUT_SHARE
#undef PUT_SUMS
#undef PUT_TWO
#undef PUT_WORDS
#undef QUAD_BYTES
#undef QUAD_WORDS
#undef QUANTIZE_DIFFICULT
#undef QUANTIZE_EASY
#undef RAISE
#undef RAISED
#undef RAISE_s16
#undef RAISE_s8
#undef RELATION
#undef RELATION_compare_eq
#undef RELATION_compare_le
#undef RELATION_compare_lt
#undef RELATION_compare_ne
#undef REPEAT
#undef REPEATED
#undef REPEATED_COUNT
#undef REPEAT_FOURS
#undef RESCALE
#undef RESULT
#undef RESULT_avg_pool2d
#undef RESULT_max_pool2d
#undef RETURN_START
#undef ROUND
#undef ROW
#undef ROW3
#undef ROW3_STRIDE1
#undef ROW3_STRIDE2
#undef ROWS_APART
#undef ROWS_BESIDE
#undef ROWS_OF
#undef ROWS_OF_BLOCKS
#undef ROWS_OF_EIGHT
#undef ROWS_OF_FEW
#undef ROWS_OF_FIVE
#undef ROWS_OF_FOUR
#undef ROWS_OF_TAIL
#undef ROWS_OF_TAPS
#undef ROWS_OF_THREE
#undef ROW_BYTES
#undef ROW_END
#undef ROW_OF_EIGHT
#undef ROW_OF_FEW
#undef ROW_OF_ONE
#undef ROW_OF_STRIP
#undef ROW_STRIDE
#undef RUN
#undef RUN_BYTES
#undef RUN_STEPS
#undef SATURATE
#undef SATURATE_s16
#undef SATURATE_s8
#undef SCALED
#undef SCATTER
#undef SCATTERED1
#undef SCATTERED2
#undef SCATTERED4
#undef SCATTER_LAST
#undef SCATTER_avg_pool2d
#undef SCATTER_avg_pool2d_eights
#undef SCATTER_max_pool2d
#undef SECOND
#undef SECOND0
#undef SECOND1
#undef SECOND2
#undef SECOND3
#undef SECOND_BIASES
#undef SECOND_FOUR
#undef SECOND_VECTOR
#undef SECOND_s16
#undef SECOND_s8
#undef SEPARATE
#undef SEPARATE_BLOCK
#undef SHARE
#undef SHARED
#undef SHARED_ONE
#undef SHARED_OUTPUT
#undef SHARED_ROWS
#undef SHARED_ROWS_OF
#undef SHARED_THREE
#undef SHARED_TWO
#undef SHIFTED
#undef SHIFT_AND_CLAMP
#undef SIDE_BY_SIDE
#undef SIGN
#undef SIX_COLUMNS
#undef SIZE
#undef SIZE_OF_TWO
#undef SIZE_OF_TWO_s16
#undef SIZE_OF_TWO_s8
#undef SIZE_s16
#undef SIZE_s8
#undef SKIPPED
#undef SMALLEST
#undef SMALLEST_s16
#undef SMALLEST_s8
#undef SMALL_PRODUCT
#undef SMALL_PRODUCT_mve
#undef SMALL_PRODUCT_scalar
#undef SMALL_PRODUCT_v6m
#undef SOFTMAX_COLUMNS
#undef SOME_FIRST
#undef SOME_LAST
#undef SOME_OF_FOUR
#undef SQUARE
#undef SQUARES
#undef SQUARES_s16
#undef SQUARES_s8
#undef START
#undef START_ALL
#undef START_OF
#undef START_amax
#undef START_amin
#undef START_avg_pool2d
#undef START_max_pool2d
#undef START_mean
#undef START_sum
#undef STEP
#undef STEPS
#undef STEP_BYTES
#undef STEP_amax
#undef STEP_amin
#undef STEP_mean
#undef STEP_sum
#undef STORE
#undef STORE4
#undef STORE8
#undef STORES
#undef STORE_ALL
#undef STORE_BOTH
#undef STORE_CHANNELS
#undef STORE_EIGHT
#undef STORE_FOUR
#undef STORE_HALVES
#undef STORE_PIXELS
#undef STORE_SUMS
#undef STORE_SUMS_s16
#undef STORE_SUMS_s8
#undef STORE_TAIL
#undef STORE_avg_pool2d
#undef STORE_avg_pool2d_eights
#undef STORE_max_pool2d
#undef STORE_s16
#undef STORE_s8
#undef STORE_scatter
#undef STORE_scatter_add
#undef STRIP
#undef SUBTRACT_ZERO_POINTS
#undef SUM
#undef SUMS
#undef SUM_COLUMN
#undef SUM_OF
#undef SUM_ROW
#undef SUM_ROWS
#undef SUM_f32
#undef SUM_s16
#undef SUM_s8
#undef TABLE
#undef TAIL
#undef TAKE
#undef TAKEN
#undef TAKEN_TOGETHER
#undef TAKE_EIGHT
#undef TAKE_EIGHT_s16
#undef TAKE_EIGHT_s8
#undef TAKE_QUAD
#undef TAKE_REST
#undef TAKE_avg_pool2d
#undef TAKE_avg_pool2d_eights
#undef TAKE_max_pool2d
#undef TAKE_s16
#undef TAKE_s8
#undef TAP
#undef TAP0
#undef TAP1
#undef TAP2
#undef TAPS
#undef TAPS_OF_EIGHT
#undef TAPS_OF_FOUR
#undef TAP_BYTES
#undef TAP_ROW
#undef TERM
#undef TERM16
#undef TERM24
#undef TERM4
#undef TERM8
#undef TERMS_APART
#undef TERMS_BESIDE
#undef TERMS_OF_EIGHT
#undef TERMS_OF_FOUR
#undef TERMS_OF_ONE
#undef TERMS_OF_ROW
#undef TERM_APART
#undef TERM_OF_ONE
#undef TERM_OF_TWO
#undef TEST_QUADS
#undef THIRD
#undef THREES_BESIDE
#undef THREES_OF_ONE
#undef THREES_OF_TWO
#undef THREE_MACS
#undef THREE_NEIGHBOURS
#undef THREE_OF
#undef THREE_OUTPUTS
#undef THREE_PIXELS
#undef THREE_TAPS
#undef TO
#undef TO_FIRST
#undef TO_SECOND
#undef TURN
#undef TURNS
#undef TURN_QUADS
#undef TURN_dsp
#undef TURN_scalar
#undef TURN_v6m
#undef TWICE_OF_EIGHT
#undef TWICE_OF_FOUR
#undef TWICE_RAISE
#undef TWICE_RAISE_s16
#undef TWICE_RAISE_s8
#undef TWO
#undef TWO_COLUMNS
#undef TWO_MACS
#undef TWO_OF
#undef TWO_OF_EIGHT
#undef TWO_OF_s16
#undef TWO_OF_s8
#undef TWO_OUTPUTS
#undef TWO_PRODUCTS
#undef TWO_ROWS
#undef TWO_STARTS
#undef TWO_TAPS
#undef TWO_s16
#undef TWO_s8
#undef TYPES
#undef UNLESS
#undef UNLESS_LAST
#undef UNTIL_LAST_CHANNEL
#undef UPPER
#undef UPPER_BITS
#undef UPPER_BITS_s16
#undef UPPER_BITS_s8
#undef UP_TO_6
#undef UP_TO_HIGH
#undef VECTOR
#undef VECTOR_avg_pool2d
#undef VECTOR_avg_pool2d_eights
#undef VECTOR_max_pool2d
#undef WEIGHT
#undef WEIGHTED
#undef WEIGHTS
#undef WEIGHTS4
#undef WEIGHTS8
#undef WEIGHT_BITS
#undef WHICH_OF_FEW
#undef WIDEN
#undef WIDE_conv2d
#undef WIDE_conv2d_wide
#undef WIDE_depthwise_conv2d
#undef WIDE_depthwise_conv2d_wide
#undef WIDTH
#undef WIDTH_avg_pool2d
#undef WIDTH_avg_pool2d_eights
#undef WIDTH_max_pool2d
#undef WORD
#undef WORDS
#undef ZERO_POINT
#undef ZERO_POINTS
#undef ZERO_POINT_VECTORS
#undef block_sums
#undef high_half_dsp
#undef of_pixels
#undef pixels_of
#undef square_dsp
#undef weighted_dsp

/* Functions that stay functions: merged into a larger one, a loop would lose its registers.
 *
 * static CORTEXM_APART: one in each object. CORTEXM_SHARED, not static: objects that have it share one;
 * the linker keeps the first and drops the sections of the others. */
#if defined(__GNUC__)
#define CORTEXM_APART __attribute__((noinline, unused))
#define CORTEXM_SHARED __attribute__((noinline, weak))
#else
#define CORTEXM_APART
#define CORTEXM_SHARED static
#endif

/* Nor have these copies for one value of an argument, whose stacks could not be told apart. */
#if defined __has_attribute
#if __has_attribute(noclone)
#define CORTEXM_UNCLONED __attribute__((noclone))
#endif
#endif
#ifndef CORTEXM_UNCLONED
#define CORTEXM_UNCLONED
#endif

/* Pastes names after macros in them are expanded. */
#define CORTEXM_JOIN(a, b) CORTEXM_PASTE(a, b)
#define CORTEXM_PASTE(a, b) a##b
#define CORTEXM_NAME(op, types, isa) CORTEXM_PASTE_NAME(op, types, isa)
#define CORTEXM_PASTE_NAME(op, types, isa) cortexm_##op##_##types##_##isa

/* The kernel's name, and the C types of its elements. */
#define KERNEL CORTEXM_NAME(OP, TYPES, ISA)
#define ELEMENT CORTEXM_JOIN(CORTEXM_TYPE_, FROM)
#define RESULT CORTEXM_JOIN(CORTEXM_TYPE_, TO)

/* The instruction set's own routines, for templates that serve several: "common/scalar.h" and so on, seen
 * from the folder of a family, and those for int16 codes. */
#define CORTEXM_ROUTINES CORTEXM_QUOTE(../common/ISA.h)
#define CORTEXM_ROUTINES_WIDE CORTEXM_QUOTE(../common/wide/ISA.h)
#define CORTEXM_QUOTE(path) CORTEXM_QUOTE_PATH(path)
#define CORTEXM_QUOTE_PATH(path) #path

/* The high product of cortexm/requantize.h as the instruction set multiplies. */
#define CORTEXM_HIGH_MUL CORTEXM_JOIN(CORTEXM_HIGH_MUL_, ISA)
#define CORTEXM_HIGH_MUL_scalar cortexm_high_mul_wide
#define CORTEXM_HIGH_MUL_v6m cortexm_high_mul_narrow
#define CORTEXM_HIGH_MUL_v7m cortexm_high_mul_wide
#define CORTEXM_HIGH_MUL_dsp cortexm_high_mul_wide
#define CORTEXM_HIGH_MUL_mve cortexm_high_mul_wide
#define CORTEXM_HIGH_MUL_cmsis_nn cortexm_high_mul_wide

/* Bits of a code, and of a weight, which is what TO stands for where TYPES are activations and weights:
 * s8, s8w4 or s16, whose weights are int8. */
#define CODE_BITS CORTEXM_JOIN(CORTEXM_CODE_BITS_, FROM)
#define CORTEXM_CODE_BITS_s8 8
#define CORTEXM_CODE_BITS_s16 16
#define WEIGHT_BITS CORTEXM_JOIN(CORTEXM_BITS_, TO)
#define CORTEXM_BITS_s8 8
#define CORTEXM_BITS_s16 8
#define CORTEXM_BITS_w4 4
#define CORTEXM_BITS_f32 32

/* A multiplier per channel as it is stored, and that of int8 codes in Q31: of weights of 4 bits the lower
 * half is 0, and is left out. */
#define MULTIPLIER CORTEXM_JOIN(CORTEXM_MULTIPLIER_, TYPES)
#define CORTEXM_MULTIPLIER_s8 int32_t
#define CORTEXM_MULTIPLIER_s8w4 int16_t
#define CORTEXM_MULTIPLIER_s16 int16_t
#define CORTEXM_MULTIPLIER_s16w4 int16_t
#define CORTEXM_Q31(multiplier) ((int32_t)(multiplier) * (WEIGHT_BITS == 4 ? 1 << 16 : 1))

#define CORTEXM_TYPE_s8 int8_t
#define CORTEXM_TYPE_s16 int16_t
#define CORTEXM_TYPE_s32 int32_t
#define CORTEXM_TYPE_s64 int64_t
#define CORTEXM_TYPE_u8 uint8_t
#define CORTEXM_TYPE_f32 float

/* Elements that are moved without looking at their type, e.g. floats as 4 bytes. may_alias: the
 * compiler must not conclude from these types that no float lies there. */
typedef uint8_t cortexm_x8_t;
typedef uint16_t __attribute__((may_alias)) cortexm_x16_t;
typedef uint32_t __attribute__((may_alias)) cortexm_x32_t;
typedef uint64_t __attribute__((may_alias)) cortexm_x64_t;

#define CORTEXM_TYPE_x8 cortexm_x8_t
#define CORTEXM_TYPE_x16 cortexm_x16_t
#define CORTEXM_TYPE_x32 cortexm_x32_t
#define CORTEXM_TYPE_x64 cortexm_x64_t

/* Whether x takes the place of the extreme element so far: the first of equal ones stays, and the first
 * NaN wins over everything. For integers the tests for NaN are constant and vanish. */
#define CORTEXM_IS_NAN(x) ((x) != (x))
#define CORTEXM_ABOVE(x, best) ((x) > (best) || (CORTEXM_IS_NAN(x) && !CORTEXM_IS_NAN(best)))
#define CORTEXM_BELOW(x, best) ((x) < (best) || (CORTEXM_IS_NAN(x) && !CORTEXM_IS_NAN(best)))

/* What the assembly of Armv6-M repeats: of its registers most instructions take r0 to r7 alone, and the
 * others are stored, loaded and computed on by way of these. r4 … r7 = r8 … r11, and back: */
#define CORTEXM_HIGH_TO_LOW                                                                        \
    "mov  r4, r8\n"                                                                                \
    "mov  r5, r9\n"                                                                                \
    "mov  r6, r10\n"                                                                               \
    "mov  r7, r11\n"
#define CORTEXM_LOW_TO_HIGH                                                                        \
    "mov  r8, r4\n"                                                                                \
    "mov  r9, r5\n"                                                                                \
    "mov  r10, r6\n"                                                                               \
    "mov  r11, r7\n"

#endif
