// Attention over paged keys and values. A sequence's positions are taken in chunks of 256, counted from 0; each chunk
// gives a largest score, a sum and a weighted sum of values, and the chunks are put together in order. So a query's bits
// depend on its own history alone: not on the step's other rows, nor on how a prompt was cut, nor on the threads.
#pragma once
#include "linear.h"

constexpr int64_t CHUNK = 256, QUERY_ROWS = 48;

// q: rows of q_stride numbers, [H, D] at the front. out: [T, H, D]. keys, values: [slots, K, D]. scales: [slots, K] where
// every token and head has its own. tables: blocks of each sequence. spans: (first row, end row, start, end) of each.
struct Attend {
  const void* q;
  void* out;
  const void* keys;
  const void* values;
  const float* key_scales;
  const float* value_scales;
  const int32_t* tables;
  const int64_t* spans;
  int64_t q_stride, kind, kv_kind, heads, kv_heads, dim, block_tokens, table_stride, sequences, window;
  float scale, key_factor, value_factor;
};

static const float* e4m3_table() {
  static const std::vector<float> made = [] {
    std::vector<float> table(256);
    for (int i = 0; i < 256; i++) {
      int exponent = (i >> 3) & 15, rest = i & 7;
      float x = exponent ? std::ldexp(1.0f + rest / 8.0f, exponent - 7) : std::ldexp(rest / 8.0f, -6);
      if ((i & 127) == 127) x = std::numeric_limits<float>::quiet_NaN();
      table[i] = i & 128 ? -x : x;
    }
    return table;
  }();
  return made.data();
}

static inline f8 eight_of(const void* p, int64_t at, int64_t kind) {
  f8 x;
  switch (kind) {
    case F32: return load8((const float*)p + at);
    case BF16: return widen8((const uint16_t*)p + at);
    case F16: return half8((const uint16_t*)p + at);
    case INT8: return FromInt8::floats((const int8_t*)p + at);
    case E5M2: {
      uint16_t wide[8];  // the upper half of a half
      for (int i = 0; i < 8; i++) wide[i] = (uint16_t)(((const uint8_t*)p)[at + i] << 8);
      return half8(wide);
    }
    default: {
      const float* table = e4m3_table();
      for (int i = 0; i < 8; i++) x[i] = table[((const uint8_t*)p)[at + i]];
      return x;
    }
  }
}

static inline void transpose8(const f8 (&in)[8], float* out) {  // out: rows of 16
#ifdef ENGINE_AVX2
  __m256 a[8], b[8];
  for (int i = 0; i < 4; i++) {
    a[2 * i] = _mm256_unpacklo_ps(in[2 * i], in[2 * i + 1]);
    a[2 * i + 1] = _mm256_unpackhi_ps(in[2 * i], in[2 * i + 1]);
  }
  for (int i = 0; i < 2; i++) {
    b[4 * i] = _mm256_shuffle_ps(a[4 * i], a[4 * i + 2], 0x44);
    b[4 * i + 1] = _mm256_shuffle_ps(a[4 * i], a[4 * i + 2], 0xee);
    b[4 * i + 2] = _mm256_shuffle_ps(a[4 * i + 1], a[4 * i + 3], 0x44);
    b[4 * i + 3] = _mm256_shuffle_ps(a[4 * i + 1], a[4 * i + 3], 0xee);
  }
  for (int i = 0; i < 4; i++) {
    store8(out + i * COLUMNS, _mm256_permute2f128_ps(b[i], b[i + 4], 0x20));
    store8(out + (i + 4) * COLUMNS, _mm256_permute2f128_ps(b[i], b[i + 4], 0x31));
  }
#else
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) out[j * COLUMNS + i] = in[i][j];
#endif
}

struct Place {
  int64_t at, scale;  // of the numbers, of the scale
};

static inline Place place(const Attend& c, const int32_t* table, int64_t head, int64_t position) {
  int64_t slot = table[position / c.block_tokens] * c.block_tokens + position % c.block_tokens;
  return {(slot * c.kv_heads + head) * c.dim, slot * c.kv_heads + head};
}

// Positions [first, last) as panels of 16: [panels][D][16], what is lacking zero.
static void keys_of(const Attend& c, const int32_t* table, int64_t head, int64_t first, int64_t last, float* out) {
  for (int64_t from = first; from < last; from += COLUMNS, out += c.dim * COLUMNS)
    for (int64_t half = 0; half < COLUMNS; half += 8) {
      Place places[8];
      int64_t count = std::max<int64_t>(std::min<int64_t>(last - from - half, 8), 0);
      for (int64_t i = 0; i < count; i++) places[i] = place(c, table, head, from + half + i);
      for (int64_t d = 0; d < c.dim; d += 8) {
        f8 x[8] = {};
        for (int64_t i = 0; i < count; i++) {
          x[i] = eight_of(c.keys, places[i].at + d, c.kv_kind);
          if (c.key_scales) x[i] = x[i] * c.key_scales[places[i].scale];
        }
        transpose8(x, out + d * COLUMNS + half);
      }
    }
}

static void values_of(const Attend& c, const int32_t* table, int64_t head, int64_t first, int64_t last, float* out) {
  for (int64_t at = first; at < last; at++, out += c.dim) {
    Place here = place(c, table, head, at);
    for (int64_t d = 0; d < c.dim; d += 8) {
      f8 x = eight_of(c.values, here.at + d, c.kv_kind);
      if (c.value_scales) x = x * c.value_scales[here.scale];
      store8(out + d, x);
    }
  }
}

// What one chunk gives a row, or all chunks so far.
struct Part {
  float most, sum;
};

// p: [rows, CHUNK], scores in, weights out. Row r sees [low, high) of the chunk.
static Part weights_of(float* p, int64_t low, int64_t high, int64_t width) {
  const float none = -std::numeric_limits<float>::infinity();
  if (low >= high) {
    memset(p, 0, width * sizeof(float));
    return {none, 0};
  }
  for (int64_t i = 0; i < low; i++) p[i] = none;
  for (int64_t i = high; i < width; i++) p[i] = none;
  f8 most = set8(none);
  for (int64_t i = 0; i < width; i += 8) most = max8(most, load8(p + i));
  float top = most8(most);
  f8 sum = set8(0);
  for (int64_t i = 0; i < width; i += 8) {
    f8 x = exp8(load8(p + i) - top);  // what is not seen is at -inf, and becomes 0
    store8(p + i, x);
    sum = sum + x;
  }
  return {top, sum8(sum)};
}

// Queries [from, to) of a sequence, one KV head, one chunk. a: [rows, D], rows are (query, head of the group). c: [rows, D].
static void chunk(const Attend& at, const int64_t* span, const int32_t* table, int64_t head, int64_t from, int64_t to,
                  int64_t number, const float* a, float* c, Part* parts) {
  int64_t group = at.heads / at.kv_heads, rows = (to - from) * group, dim = at.dim;
  int64_t start = number * CHUNK, first = start, last = std::min(start + CHUNK, span[2] + to);
  if (at.window) first = std::max(first, (span[2] + from + 1 - at.window) / COLUMNS * COLUMNS);
  int64_t skipped = first - start, width = (last - first + COLUMNS - 1) / COLUMNS * COLUMNS;
  float* keys = scratch<2>(CHUNK * dim);
  float* values = scratch<3>(CHUNK * dim);
  float* p = scratch<4>(rows * CHUNK);
  keys_of(at, table, head, first, last, keys);
  values_of(at, table, head, first, last, values);
  memset(p, 0, rows * CHUNK * sizeof(float));
  for (int64_t i = 0; i < width; i += COLUMNS)
    tiles(a, dim, keys + i * dim, COLUMNS, dim, p + skipped + i, CHUNK, rows);
  for (int64_t r = 0; r < rows; r++) {
    int64_t position = span[2] + from + r / group;
    int64_t high = std::min(position + 1, last) - start;
    int64_t low = at.window ? std::max<int64_t>(position + 1 - at.window - start, 0) : 0;
    parts[r] = weights_of(p + r * CHUNK, low, high, skipped + width);
  }
  memset(c, 0, rows * dim * sizeof(float));
  for (int64_t d = 0; d < dim; d += COLUMNS)
    tiles(p + skipped, CHUNK, values + d, dim, last - first, c + d, dim, rows);
}

static void merge(Part& all, float* sum, const Part& part, const float* c, int64_t dim) {
  if (part.sum == 0) return;
  float most = std::max(all.most, part.most);
  float before = all.sum == 0 ? 0 : std::exp(all.most - most), now = std::exp(part.most - most);
  all = {most, fmaf(all.sum, before, part.sum * now)};
  for (int64_t d = 0; d < dim; d += 8) store8(sum + d, fma8(load8(sum + d), set8(before), load8(c + d) * now));
}

static void queries_of(const Attend& at, const int64_t* span, int64_t head, int64_t from, int64_t to, float* a) {
  int64_t group = at.heads / at.kv_heads;
  float factor = at.scale * at.key_factor;
  for (int64_t t = from; t < to; t++)
    for (int64_t g = 0; g < group; g++, a += at.dim)
      for (int64_t d = 0; d < at.dim; d += 8)
        store8(a + d, take8(at.q, (span[0] + t) * at.q_stride + (head * group + g) * at.dim + d, at.kind) * factor);
}

static void answer(const Attend& at, const int64_t* span, int64_t head, int64_t from, int64_t rows, const Part* parts,
                   const float* sums) {
  int64_t group = at.heads / at.kv_heads;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t d = 0; d < at.dim; d += 8) {
      int64_t to = ((span[0] + from + r / group) * at.heads + head * group + r % group) * at.dim + d;
      put8(at.out, to, at.kind, load8(sums + r * at.dim + d) * (at.value_factor / parts[r].sum));
    }
}

static int64_t first_chunk(const Attend& at, int64_t position) {
  return at.window ? std::max<int64_t>(position + 1 - at.window, 0) / CHUNK : 0;
}

// Work: some queries of one sequence and KV head, over all chunks (number < 0) or over one.
struct Unit {
  int64_t sequence, head, from, to, number, store;
};

static void whole(const Attend& at, const Unit& unit) {
  const int64_t* span = at.spans + 4 * unit.sequence;
  const int32_t* table = at.tables + at.table_stride * unit.sequence;
  int64_t rows = (unit.to - unit.from) * (at.heads / at.kv_heads), size = rows * at.dim;
  float *a = scratch<5>(size), *c = scratch<6>(size), *sums = scratch<7>(size);
  std::vector<Part> parts(rows), all(rows, Part{-std::numeric_limits<float>::infinity(), 0});
  queries_of(at, span, unit.head, unit.from, unit.to, a);
  memset(sums, 0, size * sizeof(float));
  int64_t last = (span[2] + unit.to - 1) / CHUNK;
  for (int64_t number = first_chunk(at, span[2] + unit.from); number <= last; number++) {
    chunk(at, span, table, unit.head, unit.from, unit.to, number, a, c, parts.data());
    for (int64_t r = 0; r < rows; r++) merge(all[r], sums + r * at.dim, parts[r], c + r * at.dim, at.dim);
  }
  answer(at, span, unit.head, unit.from, rows, all.data(), sums);
}

// A single query with a long history is shared out by chunks; the parts wait in `store`.
static void attend(const Attend& at, int64_t threads) {
  int64_t group = at.heads / at.kv_heads, step = std::max<int64_t>(QUERY_ROWS / group, 1), stored = 0;
  std::vector<Unit> units, split;
  for (int64_t s = 0; s < at.sequences; s++) {
    const int64_t* span = at.spans + 4 * s;
    int64_t count = span[1] - span[0], first = first_chunk(at, span[2]), last = span[2] / CHUNK;
    for (int64_t head = 0; head < at.kv_heads; head++) {
      if (count == 1 && last > first) {
        split.push_back({s, head, 0, 1, first, stored});
        for (int64_t number = first; number <= last; number++, stored++) units.push_back({s, head, 0, 1, number, stored});
      } else {
        for (int64_t from = 0; from < count; from += step)
          units.push_back({s, head, from, std::min(from + step, count), -1, 0});
      }
    }
  }
  float* sums = scratch<8>(stored * group * at.dim);
  std::vector<Part> parts(stored * group);
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(dynamic, 1)
    for (int64_t i = (int64_t)units.size() - 1; i >= 0; i--) {  // later queries have more to read: they go first
      const Unit& unit = units[i];
      if (unit.number < 0) {
        whole(at, unit);
        continue;
      }
      const int64_t* span = at.spans + 4 * unit.sequence;
      float* a = scratch<5>(group * at.dim);
      queries_of(at, span, unit.head, 0, 1, a);
      chunk(at, span, at.tables + at.table_stride * unit.sequence, unit.head, 0, 1, unit.number, a,
            sums + unit.store * group * at.dim, parts.data() + unit.store * group);
    }
#pragma omp for schedule(static)
    for (int64_t i = 0; i < (int64_t)split.size(); i++) {
      const Unit& unit = split[i];
      const int64_t* span = at.spans + 4 * unit.sequence;
      std::vector<Part> all(group, Part{-std::numeric_limits<float>::infinity(), 0});
      float* total = scratch<7>(group * at.dim);
      memset(total, 0, group * at.dim * sizeof(float));
      for (int64_t n = unit.store; n <= unit.store + span[2] / CHUNK - unit.number; n++)
        for (int64_t g = 0; g < group; g++)
          merge(all[g], total + g * at.dim, parts[n * group + g], sums + (n * group + g) * at.dim, at.dim);
      answer(at, span, unit.head, 0, group, all.data(), total);
    }
  }
}
