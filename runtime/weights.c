/* SPDX-License-Identifier: Apache-2.0 */
/* The check of an image of weights (WEIGHTS partition); linked only where it is called. */
#include "cortexm/model.h"

#include <string.h>

_Static_assert(sizeof(cortexm_weights_header_t) == 128, "the header of an image has 128 bytes");

/* CRC-32 as of IEEE 802.3 (reflected, polynomial 0xEDB88320), four bits at a time. */
static uint32_t crc32_of(const uint8_t *bytes, size_t count)
{
    static const uint32_t table[16] = {
        0x00000000U, 0x1DB71064U, 0x3B6E20C8U, 0x26D930ACU, 0x76DC4190U, 0x6B6B51F4U,
        0x4DB26158U, 0x5005713CU, 0xEDB88320U, 0xF00F9344U, 0xD6D6A3E8U, 0xCB61B38CU,
        0x9B64C2B0U, 0x86D3D2D4U, 0xA00AE278U, 0xBDBDF21CU,
    };
    uint32_t crc = 0xFFFFFFFFU;

    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = (crc >> 4) ^ table[crc & 15U];
        crc = (crc >> 4) ^ table[crc & 15U];
    }
    return ~crc;
}

cortexm_status_t cortexm_check_weights(const cortexm_weights_t *weights, const void *image, size_t size)
{
    const cortexm_weights_header_t *const header = image;
    const size_t covered = offsetof(cortexm_weights_header_t, reserved);

    if (weights == NULL || image == NULL || ((uintptr_t)image & 15U) != 0U) {
        return CORTEXM_ERR_ARGUMENT;
    }
    if (size < sizeof *header || header->magic != CORTEXM_WEIGHTS_MAGIC) {
        return CORTEXM_ERR_NO_WEIGHTS;
    }
    if (header->size < sizeof *header || header->size > size ||
        header->crc32 != crc32_of((const uint8_t *)image + covered, header->size - covered)) {
        return CORTEXM_ERR_WEIGHTS_DAMAGED;
    }
    if (header->format != 1U || header->header_size != sizeof *header ||
        header->abi != CORTEXM_ABI) {
        return CORTEXM_ERR_ABI;
    }
    if (strncmp(header->target, weights->target, sizeof header->target) != 0) {
        return CORTEXM_ERR_WEIGHTS_TARGET;
    }
    if (header->size != weights->size ||
        memcmp(header->plan, weights->plan, sizeof header->plan) != 0) {
        return CORTEXM_ERR_WEIGHTS_MODEL;
    }
    return CORTEXM_OK;
}

cortexm_status_t cortexm_load_weights(const cortexm_weights_t *weights, const void *image, size_t size)
{
    if (weights == NULL) {
        return CORTEXM_ERR_ARGUMENT;
    }
    if (image == NULL) {
        *weights->image = NULL;
        return CORTEXM_OK;
    }
    const cortexm_status_t status = cortexm_check_weights(weights, image, size);
    if (status == CORTEXM_OK) {
        *weights->image = image;
    }
    return status;
}
