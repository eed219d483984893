/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the test vectors that came with the program; then again with one expectation spoilt. */
#include <stdio.h>

#include "net.h"
#include "net_samples.h"

int main(void)
{
    static uint8_t wrong[NET_OUTPUT_0_SIZE];
    const cortexm_sample_t spoilt = {net_samples[0].input, wrong, -1};
    int passed = 0;

    if (cortexm_init(&net, NULL, 0) != CORTEXM_OK) {
        return 1;
    }
    for (int i = 0; i < NET_SAMPLE_COUNT; i++) {
        passed += cortexm_check_sample(&net, NULL, &net_samples[i]) == 0;
    }
    printf("%d of %d passed\n", passed, NET_SAMPLE_COUNT);
    printf("spoilt: %s\n", cortexm_check_sample(&net, NULL, &spoilt) > 0 ? "noticed" : "missed");
    return 0;
}
