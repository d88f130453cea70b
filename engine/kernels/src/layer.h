// What stands between the products: norms, rotation, writing keys and values; and a whole decoder layer out of all parts,
// for a rank that is alone. `kind` is the format of activations, and of the weights of norms.
#pragma once
#include "attention.h"

struct Norm {
  const void* weight;
  float eps, offset;  // offset is added to the weight; 0 for most families
};

// out may be x. In bf16 the sum's root is applied in fp32, rounded, and then multiplied, as the reference does.
static void norm_row(const Norm& norm, const void* x, void* out, int64_t at, int64_t to, int64_t width, int64_t kind) {
  f8 sum = set8(0);
  for (int64_t i = 0; i < width; i += 8) {
    f8 v = take8(x, at + i, kind);
    sum = fma8(v, v, sum);
  }
  float root = 1.0f / std::sqrt(sum8(sum) / (float)width + norm.eps);
  for (int64_t i = 0; i < width; i += 8) {
    f8 v = take8(x, at + i, kind) * root, weight = take8(norm.weight, i, kind);
    put8(out, to + i, kind, norm.offset != 0 ? v * (weight + norm.offset) : through8(v, kind) * weight);
  }
}

// sum: x + added, [rows, width], which may be x; not written where nothing is added. out: its norm.
static void add_norm(const Norm& norm, const void* x, const void* added, void* sum, void* out, int64_t rows,
                     int64_t width, int64_t kind, int64_t threads) {
#pragma omp parallel for num_threads(threads) if (rows * width > 16384)
  for (int64_t r = 0; r < rows; r++) {
    int64_t at = r * width;
    if (added)
      for (int64_t i = at; i < at + width; i += 8) put8(sum, i, kind, take8(x, i, kind) + take8(added, i, kind));
    norm_row(norm, added ? sum : x, out, at, at, width, kind);
  }
}

// cos, sin: fp32, [positions, D]. x: one head, turned where it lies; the pair of number i is number i + D / 2.
static void turn_head(void* x, int64_t at, const float* cos, const float* sin, int64_t dim, int64_t kind) {
  int64_t half = dim / 2;
  for (int64_t i = 0; i < half; i += 8) {
    f8 a = take8(x, at + i, kind), b = take8(x, at + half + i, kind);
    put8(x, at + i, kind, a * load8(cos + i) - b * load8(sin + i));
    put8(x, at + half + i, kind, b * load8(cos + half + i) + a * load8(sin + half + i));
  }
}

// qkv: [T, (H + 2 K) * D]; its q and k are turned (and normed before, where norms are given), k and v written to their
// slots where the cache has a format that needs no scales (kv_kind F32 or BF16), else left to the caller (keys null).
struct Turn {
  void* qkv;
  const float* cos;
  const float* sin;
  const int64_t* positions;
  const int64_t* slots;
  void* keys;
  void* values;
  Norm q_norm, k_norm;  // weight null: none
  int64_t heads, kv_heads, dim, kind, kv_kind;
};

static void store_head(const Turn& t, int64_t from, void* into, int64_t to) {
  for (int64_t d = 0; d < t.dim; d += 8) put8(into, to + d, t.kv_kind, take8(t.qkv, from + d, t.kind));
}

static void turn(const Turn& t, int64_t tokens, int64_t threads) {
  int64_t all = t.heads + 2 * t.kv_heads;
#pragma omp parallel for num_threads(threads) if (tokens * all * t.dim > 16384)
  for (int64_t n = 0; n < tokens; n++) {
    const float *cos = t.cos + t.positions[n] * t.dim, *sin = t.sin + t.positions[n] * t.dim;
    for (int64_t h = 0; h < all; h++) {
      int64_t at = (n * all + h) * t.dim;
      bool is_key = h >= t.heads && h < t.heads + t.kv_heads, is_value = h >= t.heads + t.kv_heads;
      if (!is_value) {
        const Norm& norm = is_key ? t.k_norm : t.q_norm;
        if (norm.weight) norm_row(norm, t.qkv, t.qkv, at, at, t.dim, t.kind);
        turn_head(t.qkv, at, cos, sin, t.dim, t.kind);
      }
      if (t.keys && (is_key || is_value)) {
        int64_t head = is_key ? h - t.heads : h - t.heads - t.kv_heads;
        store_head(t, at, is_key ? t.keys : t.values, (t.slots[n] * t.kv_heads + head) * t.dim);
      }
    }
  }
}

// One layer. Norms whose weight is null are not there. is_windowed: its KV is in the blocks of the second pool.
struct Layer {
  Weight qkv, out, gate_up, down;
  Norm attention, post_attention, ffn, post_ffn;
  Turn turn;
  Attend attend;
  int64_t width, gate, is_windowed;
};

// What a step brings to every layer.
struct Step {
  const int64_t* positions;
  const int64_t* slots;
  const int64_t* window_slots;
  const int32_t* tables;
  const int32_t* window_tables;
  const int64_t* spans;
  int64_t table_stride, sequences;
};

// delta: what the layer before gave and is not yet added to x. Both are [T, width]; both are changed.
static void layer_step(Layer layer, const Step& step, void* x, void* delta, bool has_delta, int64_t tokens, int64_t kind,
                       int64_t threads) {
  int64_t width = layer.width, hidden = layer.down.inputs, size = bytes_of(kind);
  int64_t made = std::max({width, layer.qkv.outputs, layer.out.inputs, hidden});
  char* normed = (char*)scratch<10>(tokens * made * size / 4 + 16);
  char* wide = (char*)scratch<11>(tokens * made * size / 4 + 16);
  add_norm(layer.attention, x, has_delta ? delta : nullptr, x, normed, tokens, width, kind, threads);
  linear(layer.qkv, normed, kind, tokens, {wide, layer.qkv.outputs, kind, NONE}, threads);
  layer.turn.qkv = wide;
  layer.turn.positions = step.positions;
  layer.turn.slots = layer.is_windowed ? step.window_slots : step.slots;
  turn(layer.turn, tokens, threads);
  layer.attend.q = wide;
  layer.attend.out = normed;
  layer.attend.tables = layer.is_windowed ? step.window_tables : step.tables;
  layer.attend.spans = step.spans;
  layer.attend.table_stride = step.table_stride;
  layer.attend.sequences = step.sequences;
  attend(layer.attend, threads);
  linear(layer.out, normed, kind, tokens, {delta, width, kind, NONE}, threads);
  if (layer.post_attention.weight) add_norm(layer.post_attention, delta, nullptr, nullptr, delta, tokens, width, kind, threads);
  add_norm(layer.ffn, x, delta, x, normed, tokens, width, kind, threads);
  linear(layer.gate_up, normed, kind, tokens, {wide, hidden, kind, layer.gate}, threads);
  linear(layer.down, wide, kind, tokens, {delta, width, kind, NONE}, threads);
  if (layer.post_ffn.weight) add_norm(layer.post_ffn, delta, nullptr, nullptr, delta, tokens, width, kind, threads);
}
