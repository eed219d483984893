/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of text, `@SEQUENCE WORDS*CRC`, as cortexm_tools/run/console/lines.py describes. What does not begin
 * with @ is no line of this protocol; one that arrived damaged is answered by `@0 again`, and one that
 * arrived twice by the answer of the first time.
 */
#include "console.h"

#include <string.h>

enum { LINE = 320, DATA = 64 };

static char answer[LINE];
static size_t answered; /* length of `answer` */
static uint32_t last;   /* its sequence number */

static uint32_t crc_of(const char *text, size_t size)
{
    uint32_t crc = 0xFFFFFFFFU;

    for (size_t i = 0; i < size; i++) {
        crc ^= (uint8_t)text[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (0xEDB88320U & (0U - (crc & 1U)));
        }
    }
    return ~crc;
}

static void add_char(char byte)
{
    if (answered < sizeof answer) {
        answer[answered++] = byte;
    }
}

static void add_text(const char *text)
{
    while (*text != '\0') {
        add_char(*text++);
    }
}

static void add_number(uint32_t value)
{
    char digits[10];
    size_t count = 0;

    do {
        digits[count++] = (char)('0' + value % 10U);
        value /= 10U;
    } while (value != 0U);
    while (count > 0U) {
        add_char(digits[--count]);
    }
}

static void add_hex(uint32_t value, int digits)
{
    while (digits > 0) {
        digits--;
        add_char("0123456789abcdef"[(value >> (4 * digits)) & 15U]);
    }
}

static void send(const runner_console_t *console)
{
    for (size_t i = 0; i < answered; i++) {
        console->put(answer[i]);
    }
}

static void begin(uint32_t sequence)
{
    answered = 0;
    add_char('@');
    add_number(sequence);
    add_char(' ');
}

static void end(void)
{
    const uint32_t crc = crc_of(answer + 1, answered - 1U);

    add_char('*');
    add_hex(crc, 8);
    add_char('\n');
}

/* The next number of a line, which is left behind it. */
static uint32_t number(const char **text)
{
    uint32_t value = 0;

    while (**text == ' ') {
        (*text)++;
    }
    while (**text >= '0' && **text <= '9') {
        value = value * 10U + (uint32_t)(**text - '0');
        (*text)++;
    }
    return value;
}

static int digit(char byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Whether `size` bytes at `offset` lie in a tensor. */
static int is_inside(const cortexm_tensor_t *tensor, uint32_t offset, uint32_t size)
{
    return size <= DATA && offset <= tensor->info->size && size <= tensor->info->size - offset;
}

static void take_input(const cortexm_model_t *model, const char *text)
{
    const uint32_t index = number(&text);
    const uint32_t offset = number(&text);
    uint8_t data[DATA];
    uint32_t size = 0;

    text += *text == ' ';
    while (size < DATA && digit(text[0]) >= 0 && digit(text[1]) >= 0) {
        data[size++] = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));
        text += 2;
    }
    if (index >= model->input_count) {
        add_text("wrong");
        return;
    }
    const cortexm_tensor_t input = cortexm_input(model, NULL, index);
    if (!is_inside(&input, offset, size)) {
        add_text("wrong");
        return;
    }
    memcpy((uint8_t *)input.data + offset, data, size);
    add_text("ok");
}

static void give_output(const cortexm_model_t *model, const char *text)
{
    const uint32_t index = number(&text);
    const uint32_t offset = number(&text);
    const uint32_t size = number(&text);

    if (index >= model->output_count) {
        add_text("wrong");
        return;
    }
    const cortexm_tensor_t output = cortexm_output(model, NULL, index);
    if (!is_inside(&output, offset, size)) {
        add_text("wrong");
        return;
    }
    add_text("data ");
    for (uint32_t i = 0; i < size; i++) {
        add_hex(((const uint8_t *)output.data)[offset + i], 2);
    }
}

static void answer_line(const runner_console_t *console, const char *text)
{
    const cortexm_model_t *const model = console->model;

    if (strncmp(text, "hello", 5) == 0) {
        const int status = cortexm_init(model, NULL, 0);

        add_text("cortexm 1 ");
        add_text(model->name);
        const uint32_t numbers[5] = {(uint32_t)-status, (uint32_t)model->input_count,
                                     (uint32_t)model->output_count, (uint32_t)model->arena_size,
                                     console->clock_hz};
        for (size_t i = 0; i < 5U; i++) {
            add_char(' ');
            add_number(numbers[i]);
        }
        add_char(' ');
        add_text(console->counter);
    } else if (strncmp(text, "in ", 3) == 0) {
        take_input(model, text + 3);
    } else if (strncmp(text, "run", 3) == 0) {
        const int status = cortexm_invoke(model, NULL);

        add_text("ran ");
        add_number((uint32_t)-status);
        add_char(' ');
        add_number(*console->cycles);
    } else if (strncmp(text, "out ", 4) == 0) {
        give_output(model, text + 4);
    } else if (strncmp(text, "size ", 5) == 0) {
        text += 5;
        const uint32_t index = number(&text);

        add_text("size ");
        add_number(index < model->output_count ? (uint32_t)model->outputs[index].size : 0U);
    } else if (strncmp(text, "layer ", 6) == 0) {
        text += 6;
        const uint32_t index = number(&text);

        add_text("cycles ");
        add_number(console->layers != NULL && index < console->layer_count ? console->layers[index]
                                                                           : 0U);
    } else {
        add_text("wrong");
    }
}

/* One line without its end; bytes that do not fit are dropped, and its CRC is then wrong. */
static size_t read_line(const runner_console_t *console, char *line)
{
    size_t size = 0;

    for (;;) {
        const int byte = console->get();

        if (byte == '\n' || byte == '\r') {
            if (size > 0U) {
                line[size] = '\0';
                return size;
            }
        } else if (byte == '@') {
            line[0] = '@';
            size = 1;
        } else if (size > 0U && size < LINE - 1U) {
            line[size++] = (char)byte;
        }
    }
}

/* Whether a line is whole; cuts its CRC off. */
static int check(char *line, size_t size)
{
    uint32_t sent = 0;

    if (size < 11U || line[size - 9U] != '*') {
        return 0;
    }
    for (size_t i = size - 8U; i < size; i++) {
        if (digit(line[i]) < 0) {
            return 0;
        }
        sent = sent << 4 | (uint32_t)digit(line[i]);
    }
    line[size - 9U] = '\0';
    return crc_of(line + 1, size - 10U) == sent;
}

void runner_console(const runner_console_t *console)
{
    static char line[LINE];

    for (;;) {
        const size_t size = read_line(console, line);
        const char *text = line + 1;

        if (!check(line, size)) {
            last = 0;
            begin(0);
            add_text("again");
        } else {
            const uint32_t sequence = number(&text);

            if (sequence == last && sequence != 0U) {
                send(console);
                continue;
            }
            last = sequence;
            text += *text == ' ';
            begin(sequence);
            answer_line(console, text);
        }
        end();
        send(console);
    }
}
