/* AMX's tiles as the Intel manual defines them (volume 1, chapter 18, and the pages of the instructions). Where the
 * manual raises an exception, this file prints the reason and ends the process. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AMX_TILES 8
#define AMX_ROWS 16
#define AMX_ROW_BYTES 64

/* The state of a thread, XTILECFG and XTILEDATA. Palette 0 is the initial state. */
static _Thread_local struct {
    amx_config config;
    uint8_t tile[AMX_TILES][AMX_ROWS][AMX_ROW_BYTES];
} amx_state;

static inline void amx_require(bool condition, const char *fault) {
    if (!condition) {
        fprintf(stderr, "AMX: %s\n", fault);
        abort();
    }
}

static inline void amx_load_config(const amx_config *config) {
    static const uint8_t zeros[sizeof config->reserved];
    amx_require(config->palette == 1, "#GP: palette");
    amx_require(config->start_row == 0 && !memcmp(config->reserved, zeros, sizeof zeros), "#GP: reserved bytes");
    for (int t = 0; t < 16; t++) {
        amx_require((config->rows[t] == 0) == (config->row_bytes[t] == 0), "#GP: half a tile");
        amx_require(config->rows[t] <= (t < AMX_TILES ? AMX_ROWS : 0), "#GP: rows");
        amx_require(config->row_bytes[t] <= AMX_ROW_BYTES, "#GP: bytes of a row");
    }
    memset(&amx_state, 0, sizeof amx_state);
    amx_state.config = *config;
}

static inline void amx_release(void) {
    memset(&amx_state, 0, sizeof amx_state);
}

static inline void amx_require_tile(int t) {
    amx_require(amx_state.config.palette == 1, "#UD: tiles are not configured");
    amx_require(t >= 0 && t < AMX_TILES && amx_state.config.rows[t] > 0, "#UD: no such tile");
}

static inline void amx_zero(int t) {
    amx_require_tile(t);
    memset(amx_state.tile[t], 0, sizeof amx_state.tile[t]);
}

static inline void amx_load(int t, const void *base, int64_t stride) {
    amx_zero(t);
    for (int i = 0; i < amx_state.config.rows[t]; i++)
        memcpy(amx_state.tile[t][i], (const char *)base + i * stride, amx_state.config.row_bytes[t]);
}

static inline void amx_store(int t, void *base, int64_t stride) {
    amx_require_tile(t);
    for (int i = 0; i < amx_state.config.rows[t]; i++)
        memcpy((char *)base + i * stride, amx_state.tile[t][i], amx_state.config.row_bytes[t]);
}

static inline void amx_dot(int sum, int a, int b, bool a_is_signed) {
    const amx_config *config = &amx_state.config;
    amx_require_tile(sum), amx_require_tile(a), amx_require_tile(b);
    amx_require(sum != a && sum != b && a != b, "#UD: a tile named twice");
    amx_require(config->row_bytes[sum] % 4 == 0 && config->row_bytes[a] % 4 == 0, "#UD: part of a quad");
    amx_require(config->rows[sum] == config->rows[a], "#UD: rows");
    amx_require(config->row_bytes[sum] == config->row_bytes[b], "#UD: columns");
    amx_require(config->row_bytes[a] / 4 == config->rows[b], "#UD: quads");
    const int columns = config->row_bytes[sum] / 4, depth = config->row_bytes[a];
    int32_t right[AMX_ROW_BYTES][AMX_ROW_BYTES / 4] = {{0}};
    for (int k = 0; k < depth; k++)
        for (int j = 0; j < columns; j++)
            right[k][j] = (int8_t)amx_state.tile[b][k / 4][4 * j + k % 4];
    for (int i = 0; i < config->rows[sum]; i++) {
        uint32_t totals[AMX_ROW_BYTES / 4];
        memcpy(totals, amx_state.tile[sum][i], sizeof totals);
        for (int k = 0; k < depth; k++) {
            const uint8_t byte = amx_state.tile[a][i][k];
            const int32_t left = a_is_signed ? (int8_t)byte : byte;
            for (int j = 0; j < AMX_ROW_BYTES / 4; j++)
                totals[j] += (uint32_t)(left * right[k][j]);
        }
        memcpy(amx_state.tile[sum][i], totals, sizeof totals);
    }
}

#define LDTILECFG(config) amx_load_config(config)
#define TILERELEASE() amx_release()
#define TILEZERO(t) amx_zero(t)
#define TILELOADD(t, base, stride) amx_load(t, base, stride)
#define TILESTORED(t, base, stride) amx_store(t, base, stride)
#define TILELOADDT1(t, base, stride) amx_load(t, base, stride)
#define TDPBUSD(sum, a, b) amx_dot(sum, a, b, false)
#define TDPBSSD(sum, a, b) amx_dot(sum, a, b, true)
