/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether x takes the place of the extreme element so far: the first of equal ones stays, and the
 * first NaN wins over everything. For integers the tests for NaN are constant and vanish.
 */
#ifndef CORTEXM_COMMON_EXTREME_H
#define CORTEXM_COMMON_EXTREME_H

#define CORTEXM_IS_NAN(x) ((x) != (x))
#define CORTEXM_ABOVE(x, best) ((x) > (best) || (CORTEXM_IS_NAN(x) && !CORTEXM_IS_NAN(best)))
#define CORTEXM_BELOW(x, best) ((x) < (best) || (CORTEXM_IS_NAN(x) && !CORTEXM_IS_NAN(best)))

#endif
