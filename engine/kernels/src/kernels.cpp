// What Python calls. Plain C functions over pointers and sizes: no headers of torch, so that this compiles in seconds.
#include "experts.h"

extern "C" {

int64_t engine_abi() { return 3; }

// gate != 0: out is [rows, outputs / 2].
void engine_linear(const Weight* w, const void* x, int64_t kind, int64_t rows, void* out, int64_t out_kind, int64_t gate,
                   int64_t threads) {
  linear(*w, x, kind, rows, {out, gate ? w->outputs / 2 : w->outputs, out_kind, gate}, threads);
}

// The weights as floats again: [outputs, inputs].
void engine_unpack(const Weight* w, float* out, int64_t threads) {
#pragma omp parallel for num_threads(threads)
  for (int64_t panel = 0; panel < (w->outputs + COLUMNS - 1) / COLUMNS; panel++) {
    float* b = scratch<9>(w->inputs * COLUMNS);
    auto made = [&](auto from) {
      from.open(*w, panel);
      expand(from, *w, 0, w->inputs, b);
    };
    switch (w->kind) {
      case F32: made(FromF32()); break;
      case BF16: made(FromBf16()); break;
      case INT8: made(FromInt8()); break;
      default: made(FromInt4());
    }
    int64_t first = panel * COLUMNS, count = std::min(COLUMNS, w->outputs - first);
    for (int64_t n = 0; n < count; n++)
      for (int64_t k = 0; k < w->inputs; k++) out[(first + n) * w->inputs + k] = b[k * COLUMNS + n];
  }
}

// Blocks of 32 numbers as GGUF files have them: a half, in 4 bits a lowest value, the numbers; in 4 bits the second half
// of them in the upper nibbles. A number times a half is exact in fp32, so these are the bits of any other reader.
void engine_unblock(const uint8_t* raw, int64_t blocks, int64_t is_int4, float* out, int64_t threads) {
  int64_t size = is_int4 ? 20 : 34;
#pragma omp parallel for num_threads(threads) if (blocks > 4096)
  for (int64_t i = 0; i < blocks; i++) {
    const uint8_t* at = raw + i * size;
    uint16_t parts[2];
    memcpy(parts, at, 4);
    float scale = half(parts[0]), low = half(parts[1]), *to = out + i * 32;
    if (is_int4)
      for (int j = 0; j < 16; j++) {
        to[j] = (float)(at[4 + j] & 15) * scale + low;
        to[j + 16] = (float)(at[4 + j] >> 4) * scale + low;
      }
    else
      for (int j = 0; j < 32; j++) to[j] = (float)(int8_t)at[2 + j] * scale;
  }
}

void engine_add_norm(const Norm* norm, const void* x, const void* added, void* sum, void* out, int64_t rows,
                     int64_t width, int64_t kind, int64_t threads) {
  add_norm(*norm, x, added, sum, out, rows, width, kind, threads);
}

void engine_turn(const Turn* t, int64_t tokens, int64_t threads) { turn(*t, tokens, threads); }

void engine_attend(const Attend* c, int64_t threads) { attend(*c, threads); }

// gated: [rows, 2 * width] in, [rows, width] out.
void engine_gate(const void* x, void* out, int64_t rows, int64_t width, int64_t kind, int64_t gate, int64_t threads) {
#pragma omp parallel for num_threads(threads) if (rows * width > 16384)
  for (int64_t r = 0; r < rows; r++)
    for (int64_t i = 0; i < width; i += 8) {
      int64_t at = 2 * r * width + i;
      put8(out, r * width + i, kind, gated8(take8(x, at, kind), take8(x, at + width, kind), gate));
    }
}

// gate_up, down: the matrices of all experts, one below the other. slots: [tokens, top]. out: [tokens, top, inputs].
void engine_experts(const Weight* gate_up, const Weight* down, int64_t count, const void* x, int64_t kind,
                    const int64_t* slots, int64_t tokens, int64_t top, void* out, int64_t out_kind, int64_t gate,
                    int64_t threads) {
  ExpertWork work;
  work.gate_up = gate_up, work.down = down, work.experts = count, work.gate = gate;
  work.out = out, work.out_kind = out_kind;
  work.next[0] = work.next[1] = 0;
  experts(work, x, kind, slots, tokens, top, threads);
}

void engine_weighed(const void* x, const float* weights, void* out, int64_t tokens, int64_t top, int64_t width,
                    int64_t kind, int64_t threads) {
  weighed(x, weights, out, tokens, top, width, kind, threads);
}

// All layers of a stage: x becomes what comes out of the last one. delta: [T, width], the caller's memory.
void engine_layers(const Layer* layers, int64_t count, const Step* step, void* x, void* delta, int64_t tokens,
                   int64_t kind, int64_t threads) {
  for (int64_t i = 0; i < count; i++) layer_step(layers[i], *step, x, delta, i > 0, tokens, kind, threads);
  int64_t size = tokens * layers[0].width;
#pragma omp parallel for num_threads(threads) if (size > 16384)
  for (int64_t i = 0; i < size; i += 8) put8(x, i, kind, take8(x, i, kind) + take8(delta, i, kind));
}
}
