// The types of a kernel's parameters as a table that the compiler reads back from the binary: the
// driver tells offsets and sizes only. Codes are ParameterType of common/model/plan.h (a
// static_assert in nvrtc_compiler.cc holds the two together). Comes before the candidate's text, so
// that no macro of the author's reaches it.
namespace warpsmith_table {

struct warpsmith_parameters {
  unsigned char count_plus_one;
  unsigned char codes[65];
};

template <class T> struct Code { static constexpr unsigned char value = 14; };
template <class T> struct Code<const T> : Code<T> {};
template <class T> struct Code<volatile T> : Code<T> {};
template <class T> struct Code<T*> { static constexpr unsigned char value = 0; };
#define WARPSMITH_CODE(T, code) \
  template <> struct Code<T> { static constexpr unsigned char value = code; }
WARPSMITH_CODE(char, 1);
WARPSMITH_CODE(signed char, 1);
WARPSMITH_CODE(unsigned char, 2);
WARPSMITH_CODE(short, 3);
WARPSMITH_CODE(unsigned short, 4);
WARPSMITH_CODE(int, 5);
WARPSMITH_CODE(unsigned int, 6);
WARPSMITH_CODE(long, 7);
WARPSMITH_CODE(long long, 7);
WARPSMITH_CODE(unsigned long, 8);
WARPSMITH_CODE(unsigned long long, 8);
WARPSMITH_CODE(float, 9);
WARPSMITH_CODE(double, 10);
WARPSMITH_CODE(__half, 11);
WARPSMITH_CODE(__nv_bfloat16, 12);
WARPSMITH_CODE(bool, 13);
#undef WARPSMITH_CODE

template <class... Parameters>
__device__ constexpr warpsmith_parameters warpsmith_make(void (*)(Parameters...)) {
  static_assert(sizeof...(Parameters) <= 64, "a kernel has at most 64 parameters");
  return warpsmith_parameters{sizeof...(Parameters) + 1, {Code<Parameters>::value...}};
}

}  // namespace warpsmith_table
