// Vectors of eight floats, the number formats that tensors come in, and scratch memory. GCC's vector types do the work on
// any machine; AVX2 is named only where they have no word for an operation.
#pragma once
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include <immintrin.h>
#define ENGINE_AVX2 1
#endif

typedef float f8 __attribute__((vector_size(32), may_alias));
typedef int32_t i8x __attribute__((vector_size(32), may_alias));
typedef uint32_t u8x __attribute__((vector_size(32), may_alias));
typedef uint16_t h8x __attribute__((vector_size(16), may_alias));
typedef int8_t b8x __attribute__((vector_size(8), may_alias));

enum Kind : int64_t { F32 = 0, BF16 = 1, INT8 = 2, INT4 = 3, E5M2 = 4, E4M3 = 5, F16 = 6 };

static inline f8 set8(float x) { return f8{x, x, x, x, x, x, x, x}; }

// Every sum of products goes through here, so that the same sum has the same bits wherever it is computed.
static inline f8 fma8(f8 a, f8 b, f8 c) {
#ifdef ENGINE_AVX2
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}

static inline f8 load8(const float* p) {
  f8 x;
  memcpy(&x, p, 32);
  return x;
}

static inline void store8(float* p, f8 x) { memcpy(p, &x, 32); }

static inline f8 widen8(const uint16_t* p) {  // bf16 is the upper half of a float
  h8x x;
  memcpy(&x, p, 16);
  return (f8)(__builtin_convertvector(x, u8x) << 16);
}

static inline float widen(uint16_t x) {
  uint32_t bits = (uint32_t)x << 16;
  float out;
  memcpy(&out, &bits, 4);
  return out;
}

static inline u8x rounded8(f8 x) {  // to the nearest bf16, ties to even; what is no number stays none
  u8x bits = (u8x)x;
  u8x out = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  i8x is_nan = x != x;
  return (u8x)((i8x)(out & (u8x)~is_nan) | (i8x)(((bits >> 16) | 0x40) & (u8x)is_nan));
}

static inline void narrow8(uint16_t* p, f8 x) {
  h8x out = __builtin_convertvector(rounded8(x), h8x);
  memcpy(p, &out, 16);
}

static inline uint16_t narrow(float x) { return (uint16_t)rounded8(set8(x))[0]; }

static inline float half(uint16_t x) {
  uint32_t sign = (uint32_t)(x & 0x8000) << 16, rest = x & 0x7fff;
  float out;
  if (rest >= 0x7c00) {
    rest = 0x7f800000 | ((rest & 0x3ff) << 13);
  } else {
    rest = rest << 13;  // as a float that is 2^112 too small
    memcpy(&out, &rest, 4);
    out *= 0x1p112f;
    memcpy(&rest, &out, 4);
  }
  rest |= sign;
  memcpy(&out, &rest, 4);
  return out;
}

static inline f8 half8(const uint16_t* p) {
#ifdef ENGINE_AVX2
  return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p));
#else
  f8 out;
  for (int i = 0; i < 8; i++) out[i] = half(p[i]);
  return out;
#endif
}

static inline f8 max8(f8 a, f8 b) {
#ifdef ENGINE_AVX2
  return _mm256_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}

static inline float sum8(f8 x) { return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])); }

static inline float most8(f8 x) {
  return std::max(std::max(std::max(x[0], x[4]), std::max(x[2], x[6])),
                  std::max(std::max(x[1], x[5]), std::max(x[3], x[7])));
}

// e^x to 2 units in the last place; 0 below -87, infinite above 88.
static inline f8 exp8(f8 x) {
  f8 low = set8(-87.0f), high = set8(88.0f);
  i8x is_low = x < low, is_high = x > high;
  x = max8(x, low);
  x = -max8(-x, -high);
  f8 n = x * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
  i8x whole = (i8x)n - 0x4b400000;
  n = n - 12582912.0f;
  f8 r = fma8(n, set8(-0.693359375f), x);
  r = fma8(n, set8(2.12194440e-4f), r);
  f8 y = set8(1.9875691500e-4f);
  y = fma8(y, r, set8(1.3981999507e-3f));
  y = fma8(y, r, set8(8.3334519073e-3f));
  y = fma8(y, r, set8(4.1665795894e-2f));
  y = fma8(y, r, set8(1.6666665459e-1f));
  y = fma8(y, r, set8(5.0000001201e-1f));
  y = fma8(y, r * r, r) + 1.0f;
  f8 scaled = y * (f8)((whole + 127) << 23);
  return (f8)(((i8x)scaled & ~(is_low | is_high)) | (is_high & 0x7f800000));
}

// Numbers of an activation tensor, whichever of the two formats it has.
static inline f8 take8(const void* p, int64_t at, int64_t kind) {
  return kind == BF16 ? widen8((const uint16_t*)p + at) : load8((const float*)p + at);
}

static inline void put8(void* p, int64_t at, int64_t kind, f8 x) {
  if (kind == BF16)
    narrow8((uint16_t*)p + at, x);
  else
    store8((float*)p + at, x);
}

static inline f8 through8(f8 x, int64_t kind) { return kind == BF16 ? (f8)(rounded8(x) << 16) : x; }

static inline int64_t bytes_of(int64_t kind) { return kind == F32 ? 4 : kind == BF16 ? 2 : 1; }

// Memory that a thread keeps between calls; one buffer a use.
template <int USE>
static float* scratch(int64_t count) {
  static thread_local std::vector<float> kept;
  if ((int64_t)kept.size() < count + 16) kept.resize(count + 16);
  return (float*)(((uintptr_t)kept.data() + 63) & ~(uintptr_t)63);
}
