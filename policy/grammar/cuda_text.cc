#include "policy/grammar/cuda_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <set>
#include <sstream>

#include "common/base/check.h"
#include "common/suite/expression.h"

namespace warpsmith {
namespace {

// Words that generated text uses itself, or that CUDA C++ reserves. Those that IsReserved knows by
// their form are left out.
constexpr const char kReservedNames[] = R"(
Index Op T added alignas alignof and and_eq apply asm at auto bitand bitor blockDim blockIdx
body bool break case catch ceil_div ceilf char char16_t char32_t char8_t clamp class co_await
co_return co_yield cols column compl concept const const_cast consteval constexpr constinit
continue cosf decltype default delete do double dynamic_cast elements else enum erff expf
explicit expm1f export extern fabsf false fast_exp fast_tanh first_column first_row float floorf
for friend from_float gelu gelu_tanh goto gridDim half i if inline inside int item k lane
largest leaky_relu load_cs load_nc load_part load_vec log1pf logf long max maximum min minimum
mutable namespace new noexcept not not_eq nullptr op operator or or_eq out_row part partial powf
private protected public reduce_row register reinterpret_cast relu requires rescaled result
return row row_cols row_stage rows rsqrtf short sigmoid signed silu sinf sizeof softplus sqrtf
square stage_elements staged static static_assert static_cast store_cs store_part store_vec
stride struct switch tanhf template this threadIdx thread_local throw tile tiles_across
tiles_down to_float true try typedef typeid typename union unsigned using value vec virtual void
volatile warp warpSize warp_reduce wchar_t while write xor xor_eq
)";

const std::set<std::string>& ReservedNames() {
  static const std::set<std::string> names = [] {
    std::istringstream words(kReservedNames);
    return std::set<std::string>(std::istream_iterator<std::string>(words), {});
  }();
  return names;
}

bool IsReserved(const std::string& name) {
  const bool constant =
      name.size() > 1 && name[0] == 'k' && std::isupper(static_cast<unsigned char>(name[1]));
  return constant || name.starts_with("__") || name.starts_with("warpsmith_") ||
         ReservedNames().contains(name);
}

bool IsPlainWord(const std::string& expression) {
  return std::all_of(expression.begin(), expression.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

std::string Expand(std::string_view text, const std::map<std::string, std::string>& values) {
  const auto value_of = [&](std::string_view key) -> const std::string& {
    const auto found = values.find(std::string(key));
    CHECK(found != values.end(), "every @key@ of a text has a value");
    return found->second;
  };
  std::string result;
  while (!text.empty()) {
    const size_t newline = std::min(text.find('\n'), text.size() - 1);
    std::string_view line = text.substr(0, newline + 1);
    text.remove_prefix(newline + 1);

    const size_t indent = line.find_first_not_of(' ');
    const size_t last = line.find_last_not_of(" \n");
    if (indent != std::string_view::npos && last > indent && line[indent] == '@' &&
        line.find('@', indent + 1) == last) {
      std::string_view value = value_of(line.substr(indent + 1, last - indent - 1));
      while (!value.empty()) {
        const size_t end = std::min(value.find('\n'), value.size());
        // Preprocessor lines stand at the margin.
        if (end > 0 && value[0] != '#') result.append(indent, ' ');
        result += fmt::format("{}\n", value.substr(0, end));
        value.remove_prefix(std::min(end + 1, value.size()));
      }
      continue;
    }
    for (;;) {
      const size_t open = line.find('@');
      if (open == std::string_view::npos) break;
      const size_t close = line.find('@', open + 1);
      CHECK(close != std::string_view::npos, "a @key@ is closed on its line");
      result += line.substr(0, open);
      result += value_of(line.substr(open + 1, close - open - 1));
      line.remove_prefix(close + 1);
    }
    result += line;
  }
  return result;
}

const char* CudaType(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat64: return "double";
    case Dtype::kFloat32: return "float";
    case Dtype::kFloat16: return "__half";
    case Dtype::kBFloat16: return "__nv_bfloat16";
    case Dtype::kInt64: return "long long";
    case Dtype::kInt32: return "int";
    case Dtype::kInt16: return "short";
    case Dtype::kInt8: return "signed char";
    case Dtype::kUint8: return "unsigned char";
    case Dtype::kBool: return "bool";
  }
  CHECK(false, "every dtype has a CUDA type");
}

std::string FloatLiteral(double value) {
  CHECK(std::isfinite(value), "a literal of a reference is finite");
  std::string text = fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

std::string SafeName(const std::string& name) { return IsReserved(name) ? name + "_in" : name; }

std::string KernelName(const Task& task) {
  const std::string& id = task.id.value();
  std::string name = id.substr(id.rfind('/') + 1);
  for (char& c : name)
    if (!IsPlainWord(std::string(1, c))) c = '_';
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') || name[0] == '_') name = "task" + name;
  return name + "_kernel";
}

std::string ParameterList(const std::string& kernel, const std::vector<std::string>& parameters) {
  const size_t indent = 4 + kernel.size() + 1;
  std::string list;
  size_t column = indent;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const size_t width = parameters[i].size() + 2;  // and a comma, or ") {"
    if (i > 0 && column + width + 1 > 100) {
      list += ",\n" + std::string(indent, ' ');
      column = indent;
    } else if (i > 0) {
      list += ", ";
    }
    list += parameters[i];
    column += width;
  }
  return list;
}

std::string Product(const std::vector<std::string>& shape, size_t begin, size_t end) {
  std::string product;
  for (size_t i = begin; i < end; ++i) {
    const std::string factor = IsPlainWord(shape[i]) ? shape[i] : "(" + shape[i] + ")";
    product += (product.empty() ? "" : " * ") + factor;
  }
  return product.empty() ? "1" : product;
}

std::optional<int64_t> LargestOver(const Task& task, DeviceKind device,
                                   const std::string& expression) {
  std::optional<int64_t> largest;
  for (const Case& one : CasesOf(task, device)) {
    const auto value = EvaluateExpression(expression, one.dims);
    if (!value) return std::nullopt;
    largest = std::max(largest.value_or(*value), *value);
  }
  return largest;
}

bool IsOneOfFloats(Dtype dtype) {
  return dtype == Dtype::kFloat32 || dtype == Dtype::kFloat16 || dtype == Dtype::kBFloat16;
}

}  // namespace warpsmith
