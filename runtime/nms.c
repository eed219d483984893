/* SPDX-License-Identifier: Apache-2.0 */
/* Non-maximum suppression; linked only where it is called. */
#include "cortexm/nms.h"

#include <stddef.h>

/* How far two ranges of one axis cover each other; 0 or less if they do not. */
static int32_t common(int32_t low, int32_t high, int32_t other_low, int32_t other_high)
{
    return (high < other_high ? high : other_high) - (low > other_low ? low : other_low);
}

/* Below 2^32. */
static int64_t area(const cortexm_box_t *box)
{
    return (int64_t)(box->right - box->left) * (box->bottom - box->top);
}

/* Whether the intersection over the union is above a threshold, without a division. */
static int overlaps(const cortexm_box_t *a, const cortexm_box_t *b, int32_t threshold)
{
    const int32_t width = common(a->left, a->right, b->left, b->right);
    const int32_t height = common(a->top, a->bottom, b->top, b->bottom);
    int64_t both;

    if (width <= 0 || height <= 0) {
        return 0;
    }
    both = (int64_t)width * height;
    return both * 32768 > (area(a) + area(b) - both) * threshold;
}

int32_t cortexm_nms(const cortexm_nms_t *options, cortexm_box_t *boxes, int32_t count)
{
    int32_t left = 0; /* boxes, among them those that stay */
    int32_t kept = 0;

    if (options == NULL || count < 0 || options->most < 0 || options->overlap > 32768U ||
        (boxes == NULL && count > 0)) {
        return CORTEXM_ERR_ARGUMENT;
    }
    for (int32_t i = 0; i < count; ++i) {
        const cortexm_box_t box = boxes[i];

        if (box.score >= options->least_score && box.right > box.left && box.bottom > box.top) {
            boxes[left++] = box;
        }
    }
    while (kept < left && kept < options->most) {
        cortexm_box_t best;
        int32_t place = kept;
        int32_t end;

        for (int32_t i = kept + 1; i < left; ++i) {
            if (boxes[i].score > boxes[place].score) {
                place = i;
            }
        }
        best = boxes[place];
        /* The others keep their order, which decides between equal scores. */
        for (int32_t i = place; i > kept; --i) {
            boxes[i] = boxes[i - 1];
        }
        boxes[kept++] = best;
        end = kept;
        for (int32_t i = kept; i < left; ++i) {
            const int alike = options->is_agnostic != 0U || boxes[i].label == best.label;

            if (!alike || !overlaps(&best, &boxes[i], (int32_t)options->overlap)) {
                boxes[end++] = boxes[i];
            }
        }
        left = end;
    }
    return kept;
}
