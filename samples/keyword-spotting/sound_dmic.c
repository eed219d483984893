/* SPDX-License-Identifier: Apache-2.0 */
/* Sound from the digital microphone that the devicetree labels dmic_dev. */
#include <stdio.h>
#include <string.h>
#include <zephyr/audio/dmic.h>
#include <zephyr/device.h>
#include <zephyr/kernel.h>

#include "keyword_spotting.h"
#include "sound.h"

#define BLOCK_SIZE KEYWORD_SPOTTING_INPUT_0_SIZE
#define BLOCKS 8 /* of 20 ms each: what a printf() may delay */

K_MEM_SLAB_DEFINE_STATIC(slab, BLOCK_SIZE, BLOCKS, 4);

static const struct device *const microphone = DEVICE_DT_GET_OR_NULL(DT_NODELABEL(dmic_dev));

static int start(void)
{
    struct pcm_stream_cfg stream = {
        .pcm_rate = SOUND_KHZ * 1000, .pcm_width = 16, .block_size = BLOCK_SIZE, .mem_slab = &slab};
    struct dmic_cfg config = {
        .io = {.min_pdm_clk_freq = 1000000,
               .max_pdm_clk_freq = 3500000,
               .min_pdm_clk_dc = 40,
               .max_pdm_clk_dc = 60},
        .streams = &stream,
        .channel = {.req_num_streams = 1,
                    .req_num_chan = 1,
                    .req_chan_map_lo = dmic_build_channel_map(0, 0, PDM_CHAN_LEFT)},
    };

    if (microphone == NULL || !device_is_ready(microphone)) {
        return -ENODEV;
    }
    const int status = dmic_configure(microphone, &config);

    return status < 0 ? status : dmic_trigger(microphone, DMIC_TRIGGER_START);
}

bool sound_read(int16_t *samples, size_t count)
{
    static bool started;
    void *block;
    size_t size;
    int status = 0;

    if (!started) {
        status = start();
        started = status == 0;
        printf("%s", started ? "listening\n" : "");
    }
    if (status == 0) {
        status = dmic_read(microphone, 0, &block, &size, 1000);
    }
    if (status < 0) {
        printf("the microphone failed: %d\n", status);
        return false;
    }
    memcpy(samples, block, MIN(size, count * sizeof *samples));
    k_mem_slab_free(&slab, block);
    return true;
}
