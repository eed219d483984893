/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a step makes of its sums, cell by cell; kernels/README.md has the formulas. The header of an
 * instruction set (ISA.h) brings
 *   CORTEXM_SCALED(a, m)      floor(a * m / 2^16), m in [0, 2^15)
 *   CORTEXM_SATURATED(x, n)   x as a signed number of n bits
 *   CORTEXM_PARABOLA(v, w, f) v + ((w + c * f) >> 16) * f with the lower half c of w
 *
 * But for mve, which takes the table of tanh alone.
 *
 * Sums come in blocks of four cells, the last one of those that are left: for each gate one of each
 * cell. So do multipliers.
 */
#ifndef CORTEXM_RECURRENT_CELLS_H
#define CORTEXM_RECURRENT_CELLS_H

#include "common/stamp.h"
#include "cortexm/params.h"
#include "cortexm/requantize.h"

/*
 * tanh of numbers in units of 2^-16, from -2^19 to 2^19 - 1, by a parabola around each multiple of 1/8:
 * docs/numerics.md. python/cortexm_tools/ir/recurrent.py makes the table.
 */

/* With f in [-2^12, 2^12), the distance from the middle, and the signed halves c and s of the word,
 * c the lower one: value + (((s * 2^16 + c + c * f) >> 16) * f) in Q31, which is rounded to 15 bits when
 * the lower 16 are dropped. (s * 2^16 + c is the word, if c is taken without its sign.) */
typedef struct {
    int32_t value;
    uint32_t word;
} cortexm_parabola_t;

static inline int32_t cortexm_parabola(int32_t value, uint32_t word, int32_t f)
{
    const int32_t slope = (int32_t)(word + (uint32_t)((int16_t)word * f));

    return value + (slope >> 16) * f;
}

#define CORTEXM_PARABOLA_BITS 13 /* of the distance between two */
#define CORTEXM_PARABOLA_ZERO 64 /* the one around 0 */

#if defined(__GNUC__)
extern const cortexm_parabola_t cortexm_parabolas[129];
__attribute__((weak)) /* objects share one, as functions that are CORTEXM_SHARED */
#else
static
#endif
const cortexm_parabola_t cortexm_parabolas[129] = {
    {-2147450397, 0x00000000}, {-2147450259, 0x00000000}, {-2147450083, 0x00000000},
    {-2147449857, 0x00000000}, {-2147449566, 0x00000000}, {-2147449193, 0x00000000},
    {-2147448714, 0x00000000}, {-2147448099, 0x00000000}, {-2147447309, 0x00000000},
    {-2147446294, 0x00000000}, {-2147444992, 0x00000000}, {-2147443319, 0x00000000},
    {-2147441172, 0x00000000}, {-2147438415, 0x00000000}, {-2147434874, 0x00000000},
    {-2147430328, 0x00010001}, {-2147424491, 0x00010001}, {-2147416996, 0x00010001},
    {-2147407372, 0x00010001}, {-2147395015, 0x00020002}, {-2147379148, 0x00020002},
    {-2147358775, 0x00030003}, {-2147332615, 0x00040004}, {-2147299026, 0x00050005},
    {-2147255898, 0x00060006}, {-2147200521, 0x00080008}, {-2147129418, 0x000a000a},
    {-2147038123, 0x000d000d}, {-2146920904, 0x00100010}, {-2146770402, 0x00150015},
    {-2146577168, 0x001b001b}, {-2146329076, 0x00220022}, {-2146010562, 0x002c002c},
    {-2145601651, 0x00390038}, {-2145076714, 0x00490048}, {-2144402869, 0x005d005d},
    {-2143537945, 0x00780077}, {-2142427872, 0x00990099}, {-2141003351, 0x00c500c4},
    {-2139175618, 0x00fd00fb}, {-2136831044, 0x01440142}, {-2133824311, 0x019f019c},
    {-2129969772, 0x0214020f}, {-2125030611, 0x02aa02a2}, {-2118705304, 0x0369035c},
    {-2110610861, 0x045d0448}, {-2100262321, 0x05930572}, {-2087048062, 0x071d06e8},
    {-2070200696, 0x090f08ba}, {-2048763828, 0x0b830af9}, {-2021555808, 0x0e970db9},
    {-1987133120, 0x126d1109}, {-1943758306, 0x172a14f2}, {-1889380683, 0x1cf41973},
    {-1821642478, 0x23ef1e74}, {-1737928047, 0x2c3523be}, {-1635478228, 0x35cc28ee},
    {-1511593006, 0x409c2d6f}, {-1363939221, 0x4c613077}, {-1190961067, 0x589f311a},
    {-992356271, 0x64a12e75}, {-769533885, 0x6f7f27eb}, {-525926055, 0x783a1d6b},
    {-267013270, 0x7de70fa4}, {32768, 0x7fe00000}, {267078806, 0x7de7f05c},
    {525991591, 0x783ae295}, {769599421, 0x6f7fd815}, {992421807, 0x64a1d18b},
    {1191026603, 0x589fcee6}, {1364004757, 0x4c61cf89}, {1511658542, 0x409cd291},
    {1635543764, 0x35ccd712}, {1737993583, 0x2c35dc42}, {1821708014, 0x23efe18c},
    {1889446219, 0x1cf4e68d}, {1943823842, 0x172aeb0e}, {1987198656, 0x126deef7},
    {2021621344, 0x0e97f247}, {2048829364, 0x0b83f507}, {2070266232, 0x090ff746},
    {2087113598, 0x071df918}, {2100327857, 0x0593fa8e}, {2110676397, 0x045dfbb8},
    {2118770840, 0x0369fca4}, {2125096147, 0x02aafd5e}, {2130035308, 0x0214fdf1},
    {2133889847, 0x019ffe64}, {2136896580, 0x0144febe}, {2139241154, 0x00fdff05},
    {2141068887, 0x00c5ff3c}, {2142493408, 0x0099ff67}, {2143603481, 0x0078ff89},
    {2144468405, 0x005dffa3}, {2145142250, 0x0049ffb8}, {2145667187, 0x0039ffc8},
    {2146076098, 0x002cffd4}, {2146394612, 0x0022ffde}, {2146642704, 0x001bffe5},
    {2146835938, 0x0015ffeb}, {2146986440, 0x0010fff0}, {2147103659, 0x000dfff3},
    {2147194954, 0x000afff6}, {2147266057, 0x0008fff8}, {2147321434, 0x0006fffa},
    {2147364562, 0x0005fffb}, {2147398151, 0x0004fffc}, {2147424311, 0x0003fffd},
    {2147444684, 0x0002fffe}, {2147460551, 0x0002fffe}, {2147472908, 0x0001ffff},
    {2147479552, 0x0001ffff}, {2147479552, 0x0001ffff}, {2147479552, 0x0001ffff},
    {2147483647, 0x00000000}, {2147483647, 0x00000000}, {2147483647, 0x00000000},
    {2147483647, 0x00000000}, {2147483647, 0x00000000}, {2147483647, 0x00000000},
    {2147483647, 0x00000000}, {2147483647, 0x00000000}, {2147483647, 0x00000000},
    {2147483647, 0x00000000}, {2147483647, 0x00000000}, {2147483647, 0x00000000},
    {2147483647, 0x00000000}, {2147483647, 0x00000000}, {2147483647, 0x00000000}
};

#if defined CORTEXM_SCALED /* cell by cell */

/* The shifts of sums; copies, as codes that are written might be those of the parameters. */
typedef struct {
    int32_t left, right;
} preactivation_t;

static inline preactivation_t preactivation_of(const cortexm_recurrent_t *p)
{
    const preactivation_t to = {p->gate_left, p->gate_right};

    return to;
}

/* A sum in units of 2^-16. Of int8 codes there is no shift to the right. */
static inline int32_t preactivation(const preactivation_t *to, int32_t sum, int32_t multiplier)
{
    const int32_t value = CORTEXM_SCALED((int32_t)((uint32_t)sum << to->left), multiplier);

#if CODE_BITS == 8
    return value;
#else
    return value >> to->right;
#endif
}

/* tanh in Q31, for the upper 16 bits. */
static inline int32_t tanh_of(int32_t x)
{
    const int32_t rest = CORTEXM_SATURATED(x, 20);
    const int32_t f = (int32_t)((uint32_t)rest << (32 - CORTEXM_PARABOLA_BITS)) >>
                      (32 - CORTEXM_PARABOLA_BITS);
    /* The distance is a multiple of 2^13, an entry has 2^3 bytes. */
    const char *const zero = (const char *)&cortexm_parabolas[CORTEXM_PARABOLA_ZERO];
    const void *const near = zero + ((rest - f) >> (CORTEXM_PARABOLA_BITS - 3));
    const cortexm_parabola_t *const at = near;

    return CORTEXM_PARABOLA(at->value, at->word, f);
}

/* Sigmoid of twice the argument in Q15, from the tanh. */
static inline int32_t sigmoid_of(int32_t x)
{
    return ((tanh_of(x) >> 1) + (INT32_C(1) << 30)) >> 16;
}

/* What codes of h begin with: half a unit and the zero point. */
static inline int32_t cortexm_out_start(const cortexm_recurrent_t *p)
{
    return (int32_t)((UINT32_C(1) << (p->out_shift - 1)) +
                     ((uint32_t)p->out_zero_point << p->out_shift));
}

/* Sums and multipliers of a block of n < 4 cells, at the distances of four. */
typedef struct {
    int32_t sum[16];
    int16_t m[16];
} last_t;

static inline void spread(last_t *last, int32_t gates, const int32_t *sum, const int16_t *m, int32_t n)
{
    for (int32_t i = 0; i < gates * n; ++i) {
        last->sum[i / n * 4 + i % n] = sum[i];
        last->m[i / n * 4 + i % n] = m[i];
    }
}

static inline void lstm_cells(const cortexm_recurrent_t *p, const int32_t *sum, int16_t *c, ROW *h,
                              ELEMENT *y)
{
    const int16_t *m = p->gates;
    const preactivation_t to = preactivation_of(p);
    const int32_t start = cortexm_out_start(p);
    const int32_t multiplier = p->out_multiplier;
    const int32_t shift = p->out_shift;
    const int32_t state_right = 15 - p->state_bits;
    const int32_t state_left = 16 - p->state_bits;
    last_t last;

    for (int32_t left = p->hidden; left > 0; left -= 4) {
        const int16_t *const end = c + cortexm_min(left, 4);

        if (left < 4) {
            spread(&last, 4, sum, m, left);
            sum = last.sum;
            m = last.m;
        }
        do {
            const int32_t in = sigmoid_of(preactivation(&to, sum[0], m[0]));
            const int32_t change = tanh_of(preactivation(&to, sum[8], m[8])) >> 16;
            const int32_t forget = sigmoid_of(preactivation(&to, sum[4], m[4]));
            const int32_t kept = forget * *c + ((in * change) >> state_right) + (1 << 14);
            const int32_t state = CORTEXM_SATURATED(kept >> 15, 16);
            const int32_t shown = tanh_of((int32_t)((uint32_t)state << state_left)) >> 16;
            const int32_t out = sigmoid_of(preactivation(&to, sum[12], m[12])) * shown;
            const int32_t code = (CORTEXM_SCALED(out, multiplier) + start) >> shift;

            *c++ = (int16_t)state;
            *h++ = *y++ = (ELEMENT)CORTEXM_SATURATED(code, CODE_BITS);
            ++sum;
            ++m;
        } while (c != end);
        sum += 12;
        m += 12;
    }
}

/* The code of a state. */
static inline ELEMENT cortexm_state_code(const cortexm_recurrent_t *p, int32_t state, int32_t start)
{
    return (ELEMENT)CORTEXM_SATURATED((state * p->out_multiplier + start) >> p->out_shift, CODE_BITS);
}

/* both: sums of r and z; of_x, of_h: the parts of n. */
static inline void gru_cells(const cortexm_recurrent_t *p, const int32_t *both, const int32_t *of_x,
                             const int32_t *of_h, int16_t *state, ROW *h, ELEMENT *y)
{
    const int16_t *m = p->gates;
    const int16_t *m_x = m + 2 * p->hidden;
    const int16_t *m_h = m_x + p->hidden;
    const preactivation_t to = preactivation_of(p);
    const int32_t start = cortexm_out_start(p);
    const int32_t multiplier = p->out_multiplier;
    const int32_t shift = p->out_shift;
    const int32_t state_right = 31 - p->state_bits;
    last_t last;

    for (int32_t left = p->hidden; left > 0; left -= 4) {
        const int16_t *const end = state + cortexm_min(left, 4);

        if (left < 4) {
            spread(&last, 2, both, m, left);
            both = last.sum;
            m = last.m;
        }
        do {
            const int32_t reset = sigmoid_of(preactivation(&to, both[0], m[0]));
            const int32_t part = preactivation(&to, *of_h++, *m_h++);
            const int32_t rest = preactivation(&to, *of_x++, *m_x++);
            const int32_t fresh = tanh_of(rest + 2 * CORTEXM_SCALED(part, reset)) >> state_right;
            const int32_t keep = sigmoid_of(preactivation(&to, both[4], m[4]));
            const int32_t next = fresh + ((keep * (*state - fresh) + (1 << 14)) >> 15);
            const int32_t code = (next * multiplier + start) >> shift;

            *state++ = (int16_t)next;
            *h++ = *y++ = (ELEMENT)CORTEXM_SATURATED(code, CODE_BITS);
            ++both;
            ++m;
        } while (state != end);
        both += 4;
        m += 4;
    }
}

static inline void rnn_cells(const cortexm_recurrent_t *p, const int32_t *sum, ROW *h, ELEMENT *y)
{
    const int16_t *m = p->gates;
    const preactivation_t to = preactivation_of(p);
    const int32_t start = cortexm_out_start(p);
    const int32_t is_relu = p->is_relu;

    for (int32_t left = p->hidden; left > 0; --left) {
        const int32_t x = preactivation(&to, *sum++, *m++);
        const int32_t value = is_relu ? cortexm_max(CORTEXM_SATURATED(x, 20), 0) >> 4
                                      : tanh_of(x) >> 16;

        *h++ = *y++ = cortexm_state_code(p, value, start);
    }
}

#endif

#endif
