// Host device: how the runtime enters a candidate. The compiler includes this after the candidate's
// text and then writes WARPSMITH_KERNELS with the kernels that the plan names.
#pragma once

#undef __asm__

extern "C" {
void warpsmith_set_launch(const unsigned int* grid, const unsigned int* block) {
  gridDim = dim3(grid[0], grid[1], grid[2]);
  blockDim = dim3(block[0], block[1], block[2]);
}
void warpsmith_set_block(unsigned int x, unsigned int y, unsigned int z) {
  blockIdx = uint3{x, y, z};
}
void warpsmith_set_thread(unsigned int x, unsigned int y, unsigned int z) {
  threadIdx = uint3{x, y, z};
}
// Block and thread that run now, for the report of a fault.
void warpsmith_where(unsigned int* where) {
  where[0] = blockIdx.x;
  where[1] = blockIdx.y;
  where[2] = blockIdx.z;
  where[3] = threadIdx.x;
  where[4] = threadIdx.y;
  where[5] = threadIdx.z;
}
}

// In step with ParameterType (common/model/plan.h).
template <typename T>
struct warpsmith_parameter {
  static constexpr unsigned char code = 14;
};
template <typename T>
struct warpsmith_parameter<T*> {
  static constexpr unsigned char code = 0;
};
#define WARPSMITH_PARAMETER(type, number)         \
  template <>                                     \
  struct warpsmith_parameter<type> {              \
    static constexpr unsigned char code = number; \
  };
WARPSMITH_PARAMETER(char, 1)
WARPSMITH_PARAMETER(signed char, 1)
WARPSMITH_PARAMETER(unsigned char, 2) WARPSMITH_PARAMETER(short, 3)
    WARPSMITH_PARAMETER(unsigned short, 4) WARPSMITH_PARAMETER(int, 5)
        WARPSMITH_PARAMETER(unsigned int, 6) WARPSMITH_PARAMETER(long, 7)
            WARPSMITH_PARAMETER(long long, 7) WARPSMITH_PARAMETER(unsigned long, 8)
                WARPSMITH_PARAMETER(unsigned long long, 8) WARPSMITH_PARAMETER(float, 9)
                    WARPSMITH_PARAMETER(double, 10) WARPSMITH_PARAMETER(__half, 11)
                        WARPSMITH_PARAMETER(__nv_bfloat16, 12) WARPSMITH_PARAMETER(bool, 13)

    // A kernel's parameters as the compiler reads them from the object: their number, then a code
    // each.
    struct warpsmith_parameters {
  unsigned char count;
  unsigned char codes[64];
};

struct warpsmith_kernel {
  void (*thread)(void* const* arguments);               // one thread, indices set
  void (*loop)(void* const* arguments, bool reversed);  // all threads of a block, one after another
};

template <auto Kernel>
struct warpsmith_entry;
template <typename... P, void (*Kernel)(P...)>
struct warpsmith_entry<Kernel> {
  static_assert(sizeof...(P) <= 64, "a kernel has at most 64 parameters");
  template <size_t... I>
  struct places {};
  template <size_t N, size_t... I>
  struct count : count<N - 1, N - 1, I...> {};
  template <size_t... I>
  struct count<0, I...> {
    using type = places<I...>;
  };

  template <size_t... I>
  __forceinline__ static void call(void* const* arguments, places<I...>) {
    Kernel(*static_cast<std::remove_cv_t<P>*>(arguments[I])...);
  }
  static void thread(void* const* arguments) {
    call(arguments, typename count<sizeof...(P)>::type());
  }
  static void loop_with(bool reversed, P... values) {
    const dim3 block = blockDim;
    for (unsigned int k = 0; k < block.z; ++k)
      for (unsigned int j = 0; j < block.y; ++j)
        for (unsigned int i = 0; i < block.x; ++i) {
          threadIdx =
              reversed ? uint3{block.x - 1 - i, block.y - 1 - j, block.z - 1 - k} : uint3{i, j, k};
          // Keeps the store in place, so that a fault's report names the right thread.
          __asm__ volatile("" ::: "memory");
          Kernel(values...);
        }
  }
  template <size_t... I>
  static void unpack_and_loop(void* const* arguments, bool reversed, places<I...>) {
    loop_with(reversed, *static_cast<std::remove_cv_t<P>*>(arguments[I])...);
  }
  static void loop(void* const* arguments, bool reversed) {
    unpack_and_loop(arguments, reversed, typename count<sizeof...(P)>::type());
  }
  static constexpr warpsmith_parameters parameters{sizeof...(P), {warpsmith_parameter<P>::code...}};
};
template <typename... P, void (*Kernel)(P...) noexcept>
struct warpsmith_entry<Kernel> : warpsmith_entry<static_cast<void (*)(P...)>(Kernel)> {};

// warpsmith_kernels is the runtime's, warpsmith_signatures the compiler's.
#define WARPSMITH_KERNEL(...) \
  { warpsmith_entry<(__VA_ARGS__)>::thread, warpsmith_entry<(__VA_ARGS__)>::loop }
#define WARPSMITH_SIGNATURE(...) warpsmith_entry<(__VA_ARGS__)>::parameters
