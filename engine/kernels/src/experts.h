// The feed-forwards of experts: rows are put together by expert, and each group goes through its two products. The
// matrices of all experts stand one below the other as one weight, whole panels each. No row's bits depend on the others.
#pragma once
#include "layer.h"

struct ExpertBlock {
  int64_t expert, first, rows;  // of the rows in the order of the experts
};

// slots: which expert each of a token's places asks for, [tokens, top]; below 0: none of these. Fills order: the places
// by expert, in the order of the tokens inside one.
static std::vector<ExpertBlock> by_expert(const int64_t* slots, int64_t places, int64_t experts,
                                          std::vector<int64_t>& order) {
  std::vector<int64_t> first(experts + 1, 0);
  for (int64_t i = 0; i < places; i++)
    if (slots[i] >= 0) first[slots[i] + 1]++;
  std::vector<ExpertBlock> blocks;
  for (int64_t e = 0; e < experts; e++) {
    int64_t count = first[e + 1];
    first[e + 1] += first[e];
    for (int64_t at = 0; at < count; at += ROWS_BLOCK)
      blocks.push_back({e, first[e] + at, std::min(ROWS_BLOCK, count - at)});
  }
  order.resize(first[experts]);
  for (int64_t i = 0; i < places; i++)
    if (slots[i] >= 0) order[first[slots[i]]++] = i;
  return blocks;
}

struct ExpertWork {
  const Weight *gate_up, *down;
  std::vector<ExpertBlock> blocks;
  std::vector<int64_t> order;
  int64_t experts, gate, out_kind;
  float *rows, *inner;  // [places, inputs], [places, width], in the order of the experts
  void* out;
  std::atomic<int64_t> next[2];
};

template <class From>
static void gate_blocks(ExpertWork& work, int64_t threads) {
  const Weight& w = *work.gate_up;
  int64_t panels = w.outputs / work.experts / COLUMNS, units = panels / 2, width = units * COLUMNS;
  int64_t all = units * work.blocks.size(), run = threads == 1 ? all : std::max<int64_t>(all / (threads * 8), 1);
  alignas(64) float c[2 * ROWS_BLOCK * COLUMNS];
  for (int64_t at; (at = work.next[0].fetch_add(run)) < all;)
    for (int64_t task = at; task < std::min(at + run, all); task++) {
      const ExpertBlock& block = work.blocks[task / units];
      int64_t unit = task % units, pair[2] = {block.expert * panels + unit, block.expert * panels + units + unit};
      panels_of<From>(w, pair, 2, work.rows + block.first * w.inputs, block.rows, c);
      const float* up = c + block.rows * COLUMNS;
      for (int64_t m = 0; m < block.rows; m++)
        for (int64_t i = 0; i < COLUMNS; i += 8)
          store8(work.inner + (block.first + m) * width + unit * COLUMNS + i,
                 gated8(load8(c + m * COLUMNS + i), load8(up + m * COLUMNS + i), work.gate));
    }
}

template <class From>
static void down_blocks(ExpertWork& work, int64_t threads) {
  const Weight& w = *work.down;
  int64_t width = w.outputs / work.experts, panels = width / COLUMNS, units = (panels + 1) / 2;
  int64_t all = units * work.blocks.size(), run = threads == 1 ? all : std::max<int64_t>(all / (threads * 8), 1);
  alignas(64) float c[2 * ROWS_BLOCK * COLUMNS];
  for (int64_t at; (at = work.next[1].fetch_add(run)) < all;)
    for (int64_t task = at; task < std::min(at + run, all); task++) {
      const ExpertBlock& block = work.blocks[task / units];
      int64_t unit = task % units, first = 2 * unit, count = std::min<int64_t>(2, panels - first);
      int64_t pair[2] = {block.expert * panels + first, block.expert * panels + first + 1};
      panels_of<From>(w, pair, count, work.inner + block.first * w.inputs, block.rows, c);
      for (int64_t p = 0; p < count; p++)
        for (int64_t m = 0; m < block.rows; m++)
          for (int64_t i = 0; i < COLUMNS; i += 8)
            put8(work.out, work.order[block.first + m] * width + (first + p) * COLUMNS + i, work.out_kind,
                 load8(c + (p * block.rows + m) * COLUMNS + i));
    }
}

template <class... Args>
static void gate_of(const Weight& w, Args&... args) {
  switch (w.kind) {
    case F32: return gate_blocks<FromF32>(args...);
    case BF16: return gate_blocks<FromBf16>(args...);
    case INT8: return gate_blocks<FromInt8>(args...);
    case INT4: return gate_blocks<FromInt4>(args...);
  }
}

template <class... Args>
static void down_of(const Weight& w, Args&... args) {
  switch (w.kind) {
    case F32: return down_blocks<FromF32>(args...);
    case BF16: return down_blocks<FromBf16>(args...);
    case INT8: return down_blocks<FromInt8>(args...);
    case INT4: return down_blocks<FromInt4>(args...);
  }
}

// x: [tokens, inputs]. out: [tokens, top, inputs]; zeros where a place asks for none of these experts.
static void experts(ExpertWork& work, const void* x, int64_t kind, const int64_t* slots, int64_t tokens, int64_t top,
                    int64_t threads) {
  work.blocks = by_expert(slots, tokens * top, work.experts, work.order);
  int64_t inputs = work.gate_up->inputs, count = work.order.size(), size = bytes_of(work.out_kind) * inputs;
  work.rows = scratch<10>(count * inputs);
  work.inner = scratch<11>(count * work.down->inputs);
#pragma omp parallel num_threads(threads)
  {
#pragma omp for
    for (int64_t i = 0; i < count; i++) {
      int64_t from = work.order[i] / top * inputs;
      for (int64_t j = 0; j < inputs; j += 8) store8(work.rows + i * inputs + j, take8(x, from + j, kind));
    }
    gate_of(*work.gate_up, work, threads);
#pragma omp barrier
    down_of(*work.down, work, threads);
#pragma omp for
    for (int64_t i = 0; i < tokens * top; i++)
      if (slots[i] < 0) memset((char*)work.out + i * size, 0, size);
  }
}

// out: [tokens, width], the places of a token times their weights, added in their order.
static void weighed(const void* x, const float* weights, void* out, int64_t tokens, int64_t top, int64_t width,
                    int64_t kind, int64_t threads) {
#pragma omp parallel for num_threads(threads) if (tokens * top * width > 16384)
  for (int64_t t = 0; t < tokens; t++)
    for (int64_t i = 0; i < width; i += 8) {
      f8 sum = set8(0);
      for (int64_t k = 0; k < top; k++)
        sum = fma8(take8(x, (t * top + k) * width + i, kind), set8(weights[t * top + k]), sum);
      put8(out, t * width + i, kind, sum);
    }
}
