/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "boxes.h"
#include "cases.h"
#include "harness.h"

int bilinear_case(kernel_fn variant, kernel_fn ref, element_t type)
{
    const kernel_fn both[] = {variant, ref};
    const int32_t planes = between(1, 3), height = between(1, 4), width = between(1, 4);
    const int32_t inner = between(0, 2) ? between(1, 3) : between(4, 21);
    const int32_t out_h = between(1, 6), out_w = between(1, 6);
    const int32_t plane = height * width * inner;
    int32_t *const tables[] = {offsets(out_h, height, width * inner),
                               offsets(out_h, height, width * inner),
                               offsets(out_w, width, inner), offsets(out_w, width, inner)};
    float down[6], right[6];
    int16_t code_down[6], code_right[6];
    const int32_t few = 4 << between(0, 3);
    void *const in = elements(type, planes * plane, 0);
    const outputs_t o = outputs(planes * out_h * out_w * inner * size_of(type));
    const cortexm_bilinear_f32_t floats = {tables[0], tables[1], tables[2], tables[3], down,
                                           right,     planes,    plane,     out_h,     out_w,
                                           inner};
    cortexm_bilinear_codes_t codes = {tables[0],  tables[1], tables[2], tables[3],
                                      code_down,  code_right, planes,   plane,
                                      out_h,      out_w,      inner,    0,
                                      (int16_t)one_in(3)};

    if (type != F32) {
        codes.away = codes.away && is_inside(&codes);
        codes.zero_point = (int16_t)(type == S16 || codes.away ? 0 : between(-128, 127));
        check_inside(&codes);
    }
    for (int i = 0; i < 6; ++i) {
        code_down[i] = (int16_t)(between(0, 2) ? between(0, few) * (2048 / few) : between(0, 2048));
        code_right[i] = (int16_t)(between(0, 2) ? between(0, few) * (2048 / few) : between(0, 2048));
        down[i] = (float)code_down[i] / 2048.0f;
        right[i] = (float)code_right[i] / 2048.0f;
    }
    for (int i = 0; i < 2; ++i) {
        ((call3_t)both[i])(type == F32 ? (const void *)&floats : (const void *)&codes, in,
                           o.data[i]);
    }
    for (int i = 0; i < 4; ++i) {
        free(tables[i]);
    }
    free(in);
    return finish(&o);
}
