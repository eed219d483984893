/* SPDX-License-Identifier: Apache-2.0 */
/* Serves a model over Zephyr's console, with the cycles that the module's hooks report. */
#include <cortexm/zephyr.h>
#include <zephyr/device.h>
#include <zephyr/drivers/uart.h>
#include <zephyr/kernel.h>
#if defined(CONFIG_TIMING_FUNCTIONS)
#include <zephyr/timing/timing.h>
#endif

#include "console.h"
#include "runner_model.h"

static const struct device *const uart = DEVICE_DT_GET(DT_CHOSEN(zephyr_console));
static uint32_t layers[RUNNER_STEPS + 1];
static uint32_t cycles;

void cortexm_profile_hook(const cortexm_model_t *model, uint32_t count)
{
    ARG_UNUSED(model);
    cycles = count;
}

void cortexm_profile_layer_hook(const cortexm_model_t *model, uint32_t step, uint32_t count)
{
    ARG_UNUSED(model);
    if (step >= 1U && step <= RUNNER_STEPS) {
        layers[step - 1U] = count;
    }
}

static int get(void)
{
    unsigned char byte;

    while (uart_poll_in(uart, &byte) != 0) {
    }
    return byte;
}

static void put(char byte)
{
    uart_poll_out(uart, (unsigned char)byte);
}

int main(void)
{
    const runner_console_t console = {
        .model = &RUNNER_MODEL,
        .get = get,
        .put = put,
        .layers = RUNNER_STEPS > 0 ? layers : NULL,
        .layer_count = RUNNER_STEPS,
        .cycles = &cycles,
#if defined(CONFIG_TIMING_FUNCTIONS)
        .clock_hz = (uint32_t)timing_freq_get(),
        .counter = "timing",
#else
        .clock_hz = sys_clock_hw_cycles_per_sec(),
        .counter = "k_cycle_get_32",
#endif
    };

    if (!device_is_ready(uart)) {
        return 1;
    }
#if defined(RUNNER_WEIGHTS)
    /* Without an image that fits cortexm_init() fails, and the console says so. */
    (void)cortexm_load_weights(&RUNNER_WEIGHTS, runner_image, (size_t)(runner_image_end - runner_image));
#endif
    runner_console(&console);
    return 0;
}
