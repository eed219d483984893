/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "ref.h"

/* rintf() rounds ties to even in the default rounding mode. */
#define QUANTIZE(op, types, type)                                                                  \
    void cortexm_##op##_##types##_ref(const cortexm_quantize_t *p, const float *in, type *out)     \
    {                                                                                              \
        for (int i = 0; i < p->count; ++i) {                                                       \
            const float scaled = in[i] * p->inv_scale;                                             \
            const double code = (isnan(scaled) ? 0.0 : (double)rintf(scaled)) + p->zero_point;     \
                                                                                                   \
            out[i] = (type)fmin(fmax(code, p->qmin), p->qmax);                                     \
        }                                                                                          \
    }

QUANTIZE(quantize, f32s8, int8_t)
QUANTIZE(quantize_moderate, f32s8, int8_t)
QUANTIZE(quantize, f32s16, int16_t)

#define DEQUANTIZE(op, types, type)                                                                \
    void cortexm_##op##_##types##_ref(const cortexm_dequantize_t *p, const type *in, float *out)   \
    {                                                                                              \
        for (int i = 0; i < p->count; ++i) {                                                       \
            out[i] = (float)(in[i] - p->zero_point) * p->scale;                                    \
        }                                                                                          \
    }

DEQUANTIZE(dequantize, s8f32, int8_t)
DEQUANTIZE(dequantize_moderate, s8f32, int8_t)
DEQUANTIZE(dequantize, s16f32, int16_t)

#define REQUANTIZE(types, from, to)                                                                \
    void cortexm_requantize_##types##_ref(const cortexm_requantize_t *p, const from *in, to *out)  \
    {                                                                                              \
        for (int i = 0; i < p->count; ++i) {                                                       \
            const int64_t code = ref_requantize(in[i] - p->in_zero_point, p->multiplier, p->shift); \
                                                                                                   \
            out[i] = (to)ref_clamp(code + p->out_zero_point, p->act_min, p->act_max);              \
        }                                                                                          \
    }

REQUANTIZE(s8s16, int8_t, int16_t)
REQUANTIZE(s16s8, int16_t, int8_t)
REQUANTIZE(s16s16, int16_t, int16_t)

void cortexm_center_u8s8_ref(const cortexm_cast_t *p, const uint8_t *in, int8_t *out)
{
    for (int i = 0; i < p->count; ++i) {
        out[i] = (int8_t)((int)in[i] - 128);
    }
}

#define LOOKUP(types, type)                                                                        \
    void cortexm_lookup_##types##_ref(const cortexm_lookup_t *p, const uint8_t *in,                \
                                      const type *table, type *out)                                \
    {                                                                                              \
        for (int i = 0; i < p->count; ++i) {                                                       \
            out[i] = table[256 * (i / p->inner % p->channels) + in[i]];                            \
        }                                                                                          \
    }

LOOKUP(u8s8, int8_t)
LOOKUP(u8s16, int16_t)

#define CAST(types, from, to)                                                                      \
    void cortexm_cast_##types##_ref(const cortexm_cast_t *p, const from *in, to *out)              \
    {                                                                                              \
        for (int i = 0; i < p->count; ++i) {                                                       \
            out[i] = (to)in[i];                                                                    \
        }                                                                                          \
    }

CAST(s8s16, int8_t, int16_t)
CAST(s8s32, int8_t, int32_t)
CAST(s8s64, int8_t, int64_t)
CAST(s8f32, int8_t, float)
CAST(u8s16, uint8_t, int16_t)
CAST(u8s32, uint8_t, int32_t)
CAST(u8s64, uint8_t, int64_t)
CAST(u8f32, uint8_t, float)
CAST(s16s32, int16_t, int32_t)
CAST(s16s64, int16_t, int64_t)
CAST(s16f32, int16_t, float)
CAST(s32s64, int32_t, int64_t)
CAST(s32f32, int32_t, float)
CAST(s64f32, int64_t, float)

/* The whole part of a float in [low, high], the range of an integer; 0 for a NaN. */
static int64_t whole(float value, int64_t low, int64_t high)
{
    const double x = trunc((double)value);

    return isnan(x) ? 0 : x >= (double)high ? high : x <= (double)low ? low : (int64_t)x;
}

#define CAST_FLOAT(types, to, low, high)                                                           \
    void cortexm_cast_##types##_ref(const cortexm_cast_t *p, const float *in, to *out)             \
    {                                                                                              \
        for (int i = 0; i < p->count; ++i) {                                                       \
            out[i] = (to)whole(in[i], low, high);                                                  \
        }                                                                                          \
    }

CAST_FLOAT(f32s8, int8_t, INT32_MIN, INT32_MAX)
CAST_FLOAT(f32u8, uint8_t, INT32_MIN, INT32_MAX)
CAST_FLOAT(f32s16, int16_t, INT32_MIN, INT32_MAX)
CAST_FLOAT(f32s32, int32_t, INT32_MIN, INT32_MAX)
CAST_FLOAT(f32s64, int64_t, INT64_MIN, INT64_MAX)
