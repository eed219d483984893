/* SPDX-License-Identifier: Apache-2.0 */
#include "walk.h"

namespace cortexm_et {
namespace {

/* The stride of an operand along dimension `d` of the result: 0 where it repeats. */
int32_t step_of(Args &args, const View &out, const View &operand, int32_t d)
{
    const int32_t own = d - (out.rank - operand.rank);

    if (own < 0 || operand.sizes[own] == 1) {
        return 0;
    }
    args.require(operand.sizes[own] == out.sizes[d]);
    return operand.strides[own];
}

} // namespace

Walk make_walk(Args &args, const View &out, const View &a, const View &b)
{
    int32_t order[kMaxRank];
    int32_t count = 0;
    Walk walk;

    args.require(a.rank <= out.rank && b.rank <= out.rank && out.count > 0);
    /* Dimensions by falling stride of the result; those of one element are left out. */
    for (int32_t d = 0; args.ok() && d < out.rank; ++d) {
        if (out.sizes[d] == 1) {
            (void)step_of(args, out, a, d);
            (void)step_of(args, out, b, d);
            continue;
        }
        int32_t place = count++;

        while (place > 0 && out.strides[order[place - 1]] < out.strides[d]) {
            order[place] = order[place - 1];
            --place;
        }
        order[place] = d;
    }
    for (int32_t i = 0; args.ok() && i < count; ++i) {
        const int32_t d = order[i];
        const int32_t steps[3] = {out.strides[d], step_of(args, out, a, d), step_of(args, out, b, d)};
        const int32_t outer = walk.rank - 1;
        bool joins = walk.rank > 0;

        for (int32_t t = 0; t < 3 && joins; ++t) {
            joins = walk.step[t][outer] == steps[t] * out.sizes[d];
        }
        const int32_t place = joins ? outer : walk.rank++;

        walk.dims[place] = joins ? walk.dims[place] * out.sizes[d] : out.sizes[d];
        for (int32_t t = 0; t < 3; ++t) {
            walk.step[t][place] = steps[t];
        }
    }
    return walk;
}

} // namespace cortexm_et
