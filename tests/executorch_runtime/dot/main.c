/* SPDX-License-Identifier: Apache-2.0 */
#include "cortexm_board.h"
#include "dot.h"

#define LENGTH 70

static int8_t in[LENGTH + 4], weight[LENGTH + 4];

/* Codes from end to end of the range, or pseudo-random ones. */
static void fill(int8_t *codes, uint32_t seed)
{
    uint32_t state = seed;

    for (int32_t i = 0; i < LENGTH + 4; ++i) {
        state = state * 1664525U + 1013904223U;
        codes[i] = seed < 2U ? (seed == 0U ? INT8_MIN : INT8_MAX) : (int8_t)(state >> 24);
    }
}

int main(void)
{
    static const int32_t offsets[] = {-128, -127, -1, 0, 5, 127, 128};
    const int32_t count = (int32_t)(sizeof offsets / sizeof offsets[0]);
    int32_t wrong = 0;

    for (uint32_t seed = 0; seed < 6U; ++seed) {
        fill(in, seed);
        fill(weight, seed % 3U + (seed > 2U ? 7U : 0U));
        for (int32_t n = 0; n <= LENGTH; ++n) {
            for (int32_t k = 0; k < count * count; ++k) {
                const int32_t a = offsets[k % count];
                const int32_t b = offsets[k / count];
                const int32_t shift = n % 4;
                int32_t sum = 0;

                for (int32_t i = 0; i < n; ++i) {
                    sum += (in[i + shift] + a) * (weight[i + 3 - shift] + b);
                }
                wrong += cortexm_et_dot(in + shift, a, weight + 3 - shift, b, n) != sum;
            }
        }
    }
    board_write(wrong == 0 ? "all equal\n" : "some differ\n");
    return wrong == 0 ? 0 : 1;
}
