/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Element-wise operators on operands that broadcast, or that lie in other orders than the result: the
 * result is walked in memory order, in runs along which each operand either advances or repeats.
 */
#ifndef CORTEXM_EXECUTORCH_WALK_H
#define CORTEXM_EXECUTORCH_WALK_H

#include "args.h"

namespace cortexm_et {

/* `step[0]` is the result's, 1 and 2 the operands'. The innermost dimension is the last. */
struct Walk {
    int32_t rank = 0;
    int32_t dims[kMaxRank] = {};
    int32_t step[3][kMaxRank] = {};
};

/* The walk over `out` with operands `a` and `b`, which must broadcast to it. */
Walk make_walk(Args &args, const View &out, const View &a, const View &b);

/* Calls run(offsets, count, periods): `offsets` of result and operands in elements; operand i + 1
 * repeats after periods[i] elements, which is 1 or count. */
template <typename Run>
void each_run(const Walk &walk, Run run)
{
    const int32_t last = walk.rank - 1;
    const int32_t inner = walk.rank > 0 ? walk.dims[last] : 1;
    int32_t offsets[3] = {};
    int32_t at[kMaxRank] = {};
    bool straight = true;

    for (int32_t t = 0; t < 3 && walk.rank > 0; ++t) {
        straight = straight && (walk.step[t][last] == 1 || (t > 0 && walk.step[t][last] == 0));
    }
    for (;;) {
        if (straight) {
            const int32_t periods[2] = {walk.rank > 0 && walk.step[1][last] == 0 ? 1 : inner,
                                        walk.rank > 0 && walk.step[2][last] == 0 ? 1 : inner};

            run(offsets, inner, periods);
        } else {
            const int32_t periods[2] = {1, 1};
            int32_t place[3] = {offsets[0], offsets[1], offsets[2]};

            for (int32_t i = 0; i < inner; ++i) {
                run(place, 1, periods);
                for (int32_t t = 0; t < 3; ++t) {
                    place[t] += walk.step[t][last];
                }
            }
        }
        int32_t d = last - 1;

        for (; d >= 0; --d) {
            for (int32_t t = 0; t < 3; ++t) {
                offsets[t] += walk.step[t][d];
            }
            if (++at[d] < walk.dims[d]) {
                break;
            }
            for (int32_t t = 0; t < 3; ++t) {
                offsets[t] -= walk.step[t][d] * walk.dims[d];
            }
            at[d] = 0;
        }
        if (d < 0) {
            return;
        }
    }
}

} // namespace cortexm_et

#endif
