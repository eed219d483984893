/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left to do behind a detector: of boxes that cover each other, keep the best one. In integers, in
 * place, without memory of its own.
 */
#ifndef CORTEXM_NMS_H
#define CORTEXM_NMS_H

#include <stdint.h>

#include "cortexm/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A box, from (left, top) to (right, bottom), in any unit that is the same for all four: pixels, parts of a
 * pixel, or the codes of an output that has them all, whose scale and zero point make no difference
 * here. The score too may be a code: a higher one is a better box.
 */
typedef struct {
    int16_t left, top, right, bottom;
    int16_t score;
    int16_t label; /* the class */
} cortexm_box_t;

/* A number from 0 to 1 as a threshold below. */
#define CORTEXM_NMS_OVERLAP(number) ((uint16_t)((number) * 32768 + 0.5))

typedef struct {
    uint16_t overlap;     /* of two boxes, intersection over union, in 1/32768: what has more goes */
    uint8_t is_agnostic;  /* not 0: boxes of one class suppress those of others, too */
    int16_t least_score;  /* boxes below it go first; INT16_MIN keeps all */
    int32_t most;         /* boxes to keep, 0 or more */
} cortexm_nms_t;

/*
 * Greedy non-maximum suppression: the box with the highest score stays, all that overlap it by more than
 * the threshold go, and so on with what is left. Of equal scores the first in the array is the higher.
 * Boxes without an area (right <= left or bottom <= top) go as well.
 *
 * Those that stay are at the front of the array then, best first; what is behind them is lost. Returns how
 * many they are, or CORTEXM_ERR_ARGUMENT: a pointer is NULL, `count` or `most` is negative, or
 * `overlap` above 32768. It takes time by the product of `count` and the boxes that stay.
 */
int32_t cortexm_nms(const cortexm_nms_t *options, cortexm_box_t *boxes, int32_t count);

#ifdef __cplusplus
}
#endif

#endif /* CORTEXM_NMS_H */
