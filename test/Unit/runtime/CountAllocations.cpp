//===- CountAllocations.cpp - how often a thread asks for memory -----------===//
#include "test/Unit/runtime/CountAllocations.h"

#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LACUNA_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LACUNA_SANITIZED 1
#endif
#endif

#ifdef LACUNA_SANITIZED

std::optional<int64_t> lacuna::countAllocations() { return std::nullopt; }

#else

static thread_local int64_t allocations = 0;

std::optional<int64_t> lacuna::countAllocations() { return allocations; }

static void *allocate(size_t bytes, size_t alignment) {
  ++allocations;
  // Memory that does not exist ends a test like everything else that goes wrong.
  void *memory =
      alignment > alignof(std::max_align_t)
          ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
          : std::malloc(bytes ? bytes : 1);
  if (!memory)
    std::abort();
  return memory;
}

// The array and nothrow forms of the standard library call these.
void *operator new(size_t bytes) { return allocate(bytes, 1); }
void *operator new(size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<size_t>(alignment));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept { std::free(memory); }

#endif
