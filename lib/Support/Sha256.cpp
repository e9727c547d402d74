//===- Sha256.cpp - digests of bytes ---------------------------------------===//
#include "lib/Support/Sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace lacuna {

/// Fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
static constexpr uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::string Digest::hex() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// The value of a lower-case digit, or -1.
static int digitValue(char digit) {
  if (digit >= '0' && digit <= '9')
    return digit - '0';
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

std::optional<Digest> Digest::parse(std::string_view hex) {
  Digest digest;
  if (hex.size() != 2 * digest.bytes.size())
    return std::nullopt;
  for (size_t i = 0; i < digest.bytes.size(); ++i) {
    int high = digitValue(hex[2 * i]), low = digitValue(hex[2 * i + 1]);
    if (high < 0 || low < 0)
      return std::nullopt;
    digest.bytes[i] = static_cast<uint8_t>(16 * high + low);
  }
  return digest;
}

static uint32_t readBigEndian(const uint8_t *bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

//===----------------------------------------------------------------------===//
// The processor's instructions
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)
static bool hasInstructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  bool sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
  return sha && __get_cpuid(1, &a, &b, &c, &d) && (c >> 19 & 1); // SSE4.1
}

/// Four rounds an iteration. The instructions want the state as (a, b, e, f) and (c, d, g, h).
__attribute__((target("sha,sse4.1"))) static void
compressByInstructions(uint32_t *state, const uint8_t *blocks, size_t count) {
  auto load = [](const void *from) __attribute__((target("sse4.1"))) {
    return _mm_loadu_si128(static_cast<const __m128i *>(from));
  };
  const __m128i bigEndian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  __m128i cdab = _mm_shuffle_epi32(load(state), 0xb1);
  __m128i efgh = _mm_shuffle_epi32(load(state + 4), 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  for (; count > 0; --count, blocks += 64) {
    __m128i abefBefore = abef, cdghBefore = cdgh, w[4];
    for (size_t t = 0; t < 16; ++t) {
      __m128i &next = w[t & 3];
      if (t < 4) {
        next = _mm_shuffle_epi8(load(blocks + 16 * t), bigEndian);
      } else {
        __m128i last = w[(t + 3) & 3], sevenBefore = _mm_alignr_epi8(last, w[(t + 2) & 3], 4);
        next = _mm_add_epi32(_mm_sha256msg1_epu32(next, w[(t + 1) & 3]), sevenBefore);
        next = _mm_sha256msg2_epu32(next, last);
      }
      __m128i added = _mm_add_epi32(next, load(constants + 4 * t));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(added, 0x0e));
    }
    abef = _mm_add_epi32(abef, abefBefore);
    cdgh = _mm_add_epi32(cdgh, cdghBefore);
  }
  __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i *>(state), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i *>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#else
static bool hasInstructions() { return false; }
static void compressByInstructions(uint32_t *, const uint8_t *, size_t) {}
#endif

//===----------------------------------------------------------------------===//
// Sha256
//===----------------------------------------------------------------------===//

Sha256::Sha256(bool portable) {
  // Asking takes microseconds on a virtual machine.
  static const bool has = hasInstructions();
  usesInstructions = has && !portable;
}

void Sha256::compress(const uint8_t *blocks, size_t count) {
  if (usesInstructions)
    return compressByInstructions(state.data(), blocks, count);
  for (; count > 0; --count, blocks += 64) {
    uint32_t w[64];
    for (size_t t = 0; t < 16; ++t)
      w[t] = readBigEndian(blocks + 4 * t);
    for (size_t t = 16; t < 64; ++t) {
      uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
      uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
      w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (size_t t = 0; t < 64; ++t) {
      uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + constants[t] + w[t];
      uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const uint32_t add[8] = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; ++i)
      state[i] += add[i];
  }
}

Sha256 &Sha256::update(std::string_view bytes) {
  if (bytes.empty())
    return *this;
  size_t held = length % 64;
  length += bytes.size();
  if (held > 0) {
    size_t taken = std::min(bytes.size(), 64 - held);
    std::memcpy(pending.data() + held, bytes.data(), taken);
    bytes.remove_prefix(taken);
    if (held + taken < 64)
      return *this;
    compress(pending.data(), 1);
  }
  compress(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size() / 64);
  bytes.remove_prefix(bytes.size() / 64 * 64);
  if (!bytes.empty())
    std::memcpy(pending.data(), bytes.data(), bytes.size());
  return *this;
}

Digest Sha256::finish() {
  uint64_t bits = length * 8;
  // A one, zeros up to 8 bytes before the end of a block, and the length in bits.
  std::string tail(1 + (119 - length % 64) % 64, '\0');
  tail[0] = '\x80';
  for (int shift = 56; shift >= 0; shift -= 8)
    tail += static_cast<char>(bits >> shift & 255);
  update(tail);
  Digest digest;
  for (size_t i = 0; i < 32; ++i)
    digest.bytes[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Digest sha256(std::string_view bytes) { return Sha256().update(bytes).finish(); }

FieldDigest &FieldDigest::field(std::string_view name, std::string_view value) {
  std::string header = std::to_string(name.size()) + ' ' + std::to_string(value.size()) + ' ';
  hash.update(header).update(name).update(value);
  return *this;
}

FieldDigest &FieldDigest::field(std::string_view name, int64_t value) {
  return field(name, std::to_string(value));
}

} // namespace lacuna
