// Products x W^T with weights in panels of 16 outputs: [panels][K][16], so that a panel is read front to back. Every
// output is one chain of fused multiply-adds over k, in order: its bits do not depend on how many rows there are.
#pragma once
#include <atomic>

#include "base.h"

constexpr int64_t COLUMNS = 16, TILE = 6, DIRECT_ROWS = 30, ROWS_BLOCK = 120, K_BLOCK = 256;

// scale, low: halfs, [panels][K / group][16]; a weight is scale * number + low. int4 has its numbers four k at a time:
// lane j of eight 32-bit words holds output j in the even and j + 8 in the odd nibbles. bf16: outputs j and j + 8 side by
// side. bias: fp32.
struct Weight {
  const void* numbers;
  const uint16_t* scale;
  const uint16_t* low;
  const float* bias;
  int64_t kind, outputs, inputs, group;
};

struct FromF32 {
  const float* at;
  void open(const Weight& w, int64_t panel) { at = (const float*)w.numbers + panel * w.inputs * COLUMNS; }
  void group(int64_t) {}
  void four(int64_t k) { here = at + k * COLUMNS; }
  template <int J>
  void row(f8& a, f8& b) const {
    a = load8(here + J * COLUMNS);
    b = load8(here + J * COLUMNS + 8);
  }
  const float* here;
};

struct FromBf16 {
  const uint16_t* at;
  void open(const Weight& w, int64_t panel) { at = (const uint16_t*)w.numbers + panel * w.inputs * COLUMNS; }
  void group(int64_t) {}
  void four(int64_t k) { here = at + k * COLUMNS; }
  template <int J>
  void row(f8& a, f8& b) const {
    u8x pair;
    memcpy(&pair, here + J * COLUMNS, 32);
    a = (f8)(pair << 16);
    b = (f8)(pair & 0xffff0000u);
  }
  const uint16_t* here;
};

struct Grouped {
  const uint16_t *scale, *low;
  int64_t length;
  f8 scale_a, scale_b, low_a, low_b;
  void open_groups(const Weight& w, int64_t panel) {
    length = w.group;
    int64_t at = panel * (w.inputs / w.group) * COLUMNS;
    scale = w.scale + at;
    low = w.low ? w.low + at : nullptr;
  }
  void group(int64_t k) {
    int64_t at = k / length * COLUMNS;
    scale_a = half8(scale + at);
    scale_b = half8(scale + at + 8);
    low_a = low ? half8(low + at) : set8(0);
    low_b = low ? half8(low + at + 8) : set8(0);
  }
};

struct FromInt8 : Grouped {
  const int8_t* at;
  const int8_t* here;
  void open(const Weight& w, int64_t panel) {
    open_groups(w, panel);
    at = (const int8_t*)w.numbers + panel * w.inputs * COLUMNS;
  }
  void four(int64_t k) { here = at + k * COLUMNS; }
  static f8 floats(const int8_t* p) {
#ifdef ENGINE_AVX2
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)p)));
#else
    b8x x;
    memcpy(&x, p, 8);
    return __builtin_convertvector(x, f8);
#endif
  }
  template <int J>
  void row(f8& a, f8& b) const {
    a = floats(here + J * COLUMNS) * scale_a;
    b = floats(here + J * COLUMNS + 8) * scale_b;
  }
};

// A number is taken where it stands in its word, times a power of two, and the scale has that power taken off: the same
// product, and no shift. Only the uppermost would be negative there.
struct FromInt4 : Grouped {
  const uint8_t* at;
  u8x words;
  f8 scales_a[4], scales_b[4];
  void open(const Weight& w, int64_t panel) {
    open_groups(w, panel);
    at = (const uint8_t*)w.numbers + panel * w.inputs * COLUMNS / 2;
  }
  void group(int64_t k) {
    Grouped::group(k);
    float factor = 1;
    for (int j = 0; j < 4; j++, factor /= 256) {
      scales_a[j] = scale_a * factor;
      scales_b[j] = j < 3 ? scale_b * (factor / 16) : scale_b;
    }
  }
  void four(int64_t k) { memcpy(&words, at + k * COLUMNS / 2, 32); }
  static f8 floats(u8x x) { return __builtin_convertvector((i8x)x, f8); }
  template <int J>
  void row(f8& a, f8& b) const {
    a = fma8(floats(words & (15u << (8 * J))), scales_a[J], low_a);
    b = fma8(floats(J < 3 ? words & (240u << (8 * J)) : words >> 28), scales_b[J], low_b);
  }
};

// c[M][16] += a[M][k] b[k][16], b already floats.
template <int M>
static inline void tile(const float* a, int64_t lda, const float* b, int64_t ldb, int64_t k, float* c, int64_t ldc) {
  f8 sum[M][2];
  for (int m = 0; m < M; m++) {
    sum[m][0] = load8(c + m * ldc);
    sum[m][1] = load8(c + m * ldc + 8);
  }
  for (int64_t i = 0; i < k; i++) {
    f8 low = load8(b + i * ldb), high = load8(b + i * ldb + 8);
#pragma GCC unroll 8
    for (int m = 0; m < M; m++) {
      f8 x = set8(a[m * lda + i]);
      sum[m][0] = fma8(x, low, sum[m][0]);
      sum[m][1] = fma8(x, high, sum[m][1]);
    }
  }
  for (int m = 0; m < M; m++) {
    store8(c + m * ldc, sum[m][0]);
    store8(c + m * ldc + 8, sum[m][1]);
  }
}

static __attribute__((noinline)) void tiles(const float* a, int64_t lda, const float* b, int64_t ldb, int64_t k, float* c, int64_t ldc,
                  int64_t rows) {
  for (; rows >= TILE; rows -= TILE, a += TILE * lda, c += TILE * ldc) tile<TILE>(a, lda, b, ldb, k, c, ldc);
  switch (rows) {
    case 5: return tile<5>(a, lda, b, ldb, k, c, ldc);
    case 4: return tile<4>(a, lda, b, ldb, k, c, ldc);
    case 3: return tile<3>(a, lda, b, ldb, k, c, ldc);
    case 2: return tile<2>(a, lda, b, ldb, k, c, ldc);
    case 1: return tile<1>(a, lda, b, ldb, k, c, ldc);
  }
}

template <class From, int M, int P, int J>
static inline __attribute__((always_inline)) void step(From* from, const float* a, int64_t lda, f8 (&sum)[P][M][2]) {
#pragma GCC unroll 4
  for (int p = 0; p < P; p++) {
    f8 low, high;
    from[p].template row<J>(low, high);
#pragma GCC unroll 8
    for (int m = 0; m < M; m++) {
      f8 x = set8(a[m * lda + J]);
      sum[p][m][0] = fma8(x, low, sum[p][m][0]);
      sum[p][m][1] = fma8(x, high, sum[p][m][1]);
    }
  }
}

// Few rows: the numbers of P panels become floats in registers, and go no further. c: [P][M][16].
template <class From, int M, int P>
static void direct(const Weight& w, const int64_t* panels, const float* a, float* c) {
  From from[P];
  for (int p = 0; p < P; p++) from[p].open(w, panels[p]);
  f8 sum[P][M][2] = {};
  for (int64_t at = 0; at < w.inputs; at += w.group) {
    for (int p = 0; p < P; p++) from[p].group(at);
    for (int64_t k = at; k < at + w.group; k += 4) {
      for (int p = 0; p < P; p++) from[p].four(k);
      step<From, M, P, 0>(from, a + k, w.inputs, sum);
      step<From, M, P, 1>(from, a + k, w.inputs, sum);
      step<From, M, P, 2>(from, a + k, w.inputs, sum);
      step<From, M, P, 3>(from, a + k, w.inputs, sum);
    }
  }
  memcpy(c, sum, sizeof sum);
}

template <class From>
static void expand(From& from, const Weight& w, int64_t first, int64_t last, float* out) {
  int64_t length = std::min(w.group, last - first);  // a group is within a block of k, or is all of k
  for (int64_t at = first; at < last; at += length) {
    from.group(at);
    for (int64_t k = at; k < at + length; k += 4, out += 4 * COLUMNS) {
      f8 x[8];
      from.four(k);
      from.template row<0>(x[0], x[1]);
      from.template row<1>(x[2], x[3]);
      from.template row<2>(x[4], x[5]);
      from.template row<3>(x[6], x[7]);
      for (int i = 0; i < 8; i++) store8(out + 8 * i, x[i]);
    }
  }
}

// Many rows: a block of a panel becomes floats once, in the first cache, and serves all rows of the block.
template <class From>
static void blocked(const Weight& w, int64_t panel, const float* a, int64_t rows, float* c) {
  alignas(64) float b[K_BLOCK * COLUMNS];
  From from;
  from.open(w, panel);
  memset(c, 0, rows * COLUMNS * sizeof(float));
  for (int64_t k = 0; k < w.inputs; k += K_BLOCK) {
    int64_t end = std::min(k + K_BLOCK, w.inputs);
    expand(from, w, k, end, b);
    tiles(a + k, w.inputs, b, COLUMNS, end - k, c, COLUMNS, rows);
  }
}

template <class From>
static void few(const Weight& w, const int64_t* panel, const float* a, int64_t rows, float* c) {
  switch (rows) {
    case 1: return direct<From, 1, 1>(w, panel, a, c);
    case 2: return direct<From, 2, 1>(w, panel, a, c);
    case 3: return direct<From, 3, 1>(w, panel, a, c);
    case 4: return direct<From, 4, 1>(w, panel, a, c);
    case 5: return direct<From, 5, 1>(w, panel, a, c);
    case 6: return direct<From, 6, 1>(w, panel, a, c);
  }
}

// The products of some rows with one or two panels. c: [count][rows][16]. A decode batch takes its panel as often as it
// has tiles, which the first cache serves; to write it out as floats would cost more.
template <class From>
static void panels_of(const Weight& w, const int64_t* panels, int count, const float* a, int64_t rows, float* c) {
  if (count == 2 && rows == 1) return direct<From, 1, 2>(w, panels, a, c);
  if (count == 2 && rows == 2) return direct<From, 2, 2>(w, panels, a, c);
  int64_t parts = (rows + TILE - 1) / TILE;
  for (int p = 0; p < count; p++, c += rows * COLUMNS) {
    if (rows > DIRECT_ROWS) {
      blocked<From>(w, panels[p], a, rows, c);
      continue;
    }
    for (int64_t i = 0; i < parts; i++) {
      int64_t first = rows * i / parts, last = rows * (i + 1) / parts;
      few<From>(w, panels + p, a + first * w.inputs, last - first, c + first * COLUMNS);
    }
  }
}

// What becomes of the sums. gate: none, SiLU or GELU of the first half of the outputs times the second half.
enum Gate : int64_t { NONE = 0, SILU = 1, GELU = 2 };
struct Sink {
  void* out;
  int64_t stride, kind, gate;
};

static inline f8 gated8(f8 x, f8 up, int64_t gate) {
  f8 inner = x;
  if (gate == GELU) inner = 1.5957691216f * fma8(x * x * x, set8(0.044715f), x);  // tanh(y) = 2 sigmoid(2 y) - 1
  return x / (1.0f + exp8(-inner)) * up;
}

static void finish(const Weight& w, const Sink& sink, const int64_t* panels, float* c, int64_t first, int64_t rows) {
  int64_t at = panels[0] * COLUMNS, width = sink.gate ? w.outputs / 2 : w.outputs;
  int64_t left = std::min(width - at, COLUMNS);
  const float* up = c + rows * COLUMNS;
  for (int64_t m = 0; m < rows; m++) {
    float* row = c + m * COLUMNS;
    for (int64_t i = 0; i < COLUMNS; i += 8) {
      f8 x = load8(row + i);
      if (w.bias) x = x + load8(w.bias + at + i);
      if (sink.gate) {
        f8 y = load8(up + m * COLUMNS + i);
        if (w.bias) y = y + load8(w.bias + panels[1] * COLUMNS + i);
        x = gated8(x, y, sink.gate);
      }
      int64_t to = (first + m) * sink.stride + at + i;
      if (left - i >= 8) {
        put8(sink.out, to, sink.kind, x);
      } else {
        for (int64_t j = 0; j < left - i; j++) {
          if (sink.kind == BF16)
            ((uint16_t*)sink.out)[to + j] = narrow(x[j]);
          else
            ((float*)sink.out)[to + j] = x[j];
        }
      }
    }
  }
}

// Tasks are (block of rows, panel or pair of panels). The threads take runs of them as they come: one that the system
// holds up does not hold up the others.
struct Tasks {
  int64_t blocks, units, run;
  std::atomic<int64_t> next{0};
  Tasks(const Weight& w, int64_t rows, bool is_gated, int64_t threads) {
    int64_t panels = (w.outputs + COLUMNS - 1) / COLUMNS;
    units = is_gated ? panels / 2 : (panels + 1) / 2;
    blocks = (rows + ROWS_BLOCK - 1) / ROWS_BLOCK;
    run = threads == 1 ? blocks * units : std::max<int64_t>(blocks * units / (threads * 8), 1);
  }
};

template <class From>
static void share(const Weight& w, const float* a, int64_t rows, const Sink& sink, Tasks& tasks) {
  int64_t panels = (w.outputs + COLUMNS - 1) / COLUMNS, units = tasks.units, all = units * tasks.blocks;
  alignas(64) float c[2 * ROWS_BLOCK * COLUMNS];
  for (int64_t at; (at = tasks.next.fetch_add(tasks.run)) < all;)
    for (int64_t task = at; task < std::min(at + tasks.run, all); task++) {
      int64_t first = task / units * ROWS_BLOCK, unit = task % units;
      int64_t count = std::min(ROWS_BLOCK, rows - first);
      int64_t pair[2] = {sink.gate ? unit : 2 * unit, sink.gate ? unit + units : 2 * unit + 1};
      int some = pair[1] < panels ? 2 : 1;
      panels_of<From>(w, pair, some, a + first * w.inputs, count, c);
      finish(w, sink, pair, c, first, count);
      if (!sink.gate && some == 2) finish(w, sink, pair + 1, c + count * COLUMNS, first, count);
    }
}

static void share_of(const Weight& w, const float* a, int64_t rows, const Sink& sink, Tasks& tasks) {
  switch (w.kind) {
    case F32: return share<FromF32>(w, a, rows, sink, tasks);
    case BF16: return share<FromBf16>(w, a, rows, sink, tasks);
    case INT8: return share<FromInt8>(w, a, rows, sink, tasks);
    case INT4: return share<FromInt4>(w, a, rows, sink, tasks);
  }
}

static void floats_of(const void* x, int64_t kind, int64_t first, int64_t last, float* out) {
  for (int64_t i = first; i < last; i += 8) store8(out + i, take8(x, i, kind));
}

// x: [rows, inputs], side by side. With few rows each thread makes its own floats of them: cheaper than to wait.
static void linear(const Weight& w, const void* x, int64_t kind, int64_t rows, const Sink& sink, int64_t threads) {
  int64_t count = rows * w.inputs;
  float* shared = rows > TILE ? scratch<0>(count) : nullptr;
  Tasks tasks(w, rows, sink.gate != NONE, threads);
#pragma omp parallel num_threads(threads)
  {
    int64_t thread = omp_get_thread_num(), all = omp_get_num_threads();
    float* a = shared;
    if (shared) {
      floats_of(x, kind, count / 8 * thread / all * 8, count / 8 * (thread + 1) / all * 8, shared);
#pragma omp barrier
    } else {
      a = scratch<1>(count);
      floats_of(x, kind, 0, count, a);
    }
    share_of(w, a, rows, sink, tasks);
  }
}
