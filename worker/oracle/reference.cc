#include "worker/oracle/reference.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/profiling_graph_executor_impl.h>
#include <torch/jit.h>

#include <algorithm>
#include <array>
#include <regex>
#include <utility>

#undef CHECK  // libtorch's logging has one of its own
#include "common/base/check.h"
#include "common/model/device_kind.h"
#include "common/suite/task_shapes.h"
#include "worker/oracle/torch_values.h"

namespace warpsmith {
namespace {

constexpr std::array<std::pair<Dtype, at::ScalarType>, 10> kScalarTypes{{
    {Dtype::kFloat64, at::kDouble},
    {Dtype::kFloat32, at::kFloat},
    {Dtype::kFloat16, at::kHalf},
    {Dtype::kBFloat16, at::kBFloat16},
    {Dtype::kInt64, at::kLong},
    {Dtype::kInt32, at::kInt},
    {Dtype::kInt16, at::kShort},
    {Dtype::kInt8, at::kChar},
    {Dtype::kUint8, at::kByte},
    {Dtype::kBool, at::kBool},
}};

at::Device DeviceOf(DeviceKind kind, int index) {
  return TraitsOf(kind).memory == BufferMemory::kDevice
             ? at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(index))
             : at::Device(at::kCPU);
}

// A scalar as the task's kernels get it: rounded to its own type.
double Rounded(double value, Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat32: return static_cast<double>(static_cast<float>(value));
    case Dtype::kFloat16:
      return static_cast<double>(static_cast<at::Half>(static_cast<float>(value)));
    case Dtype::kBFloat16:
      return static_cast<double>(static_cast<at::BFloat16>(static_cast<float>(value)));
    default: return value;
  }
}

struct Script {
  std::shared_ptr<torch::jit::CompilationUnit> unit;
  torch::jit::Function* function = nullptr;
};

Result<Script> CompileScript(const Task& task, const std::string& text, const char* field) {
  const std::string place = "task " + task.id.value() + ", " + field;
  Script script;
  try {
    script.unit = torch::jit::compile(NumberDtypes(text));
    script.function = script.unit->find_function(c10::QualifiedName("reference"));
  } catch (const std::exception& exception) {
    return Wrap({ErrorCode::kInvalidInput, FromException(exception).message}, place);
  }
  if (script.function == nullptr)
    return Fail(ErrorCode::kInvalidInput, place + ": defines no function `reference`");
  return script;
}

class StrictPrecision {
 public:
  StrictPrecision() : allowed_(at::globalContext().allowTF32CuDNN()) {
    at::globalContext().setAllowTF32CuDNN(false);
  }
  ~StrictPrecision() { at::globalContext().setAllowTF32CuDNN(allowed_); }

 private:
  bool allowed_;
};

Result<std::vector<at::Tensor>> TensorsOf(const c10::IValue& result) {
  std::vector<at::Tensor> tensors;
  if (result.isTensor()) {
    tensors.push_back(result.toTensor());
  } else if (result.isTuple()) {
    for (const auto& element : result.toTupleRef().elements()) {
      if (!element.isTensor())
        return Fail(ErrorCode::kInvalidInput, "the reference returns something else than tensors");
      tensors.push_back(element.toTensor());
    }
  } else {
    return Fail(ErrorCode::kInvalidInput, "the reference returns something else than tensors");
  }
  return tensors;
}

std::string ShapeText(at::IntArrayRef shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

at::Tensor FiniteOf(const at::Tensor& tensor) {
  const at::Tensor all = tensor.reshape({-1}).to(at::kDouble);
  const at::Tensor finite = all.isfinite();
  return finite.all().item<bool>() ? all : all.masked_select(finite);
}

// Values beyond the type's range become the infinity that rounding to it gives.
at::Tensor Saturated(const at::Tensor& exact, at::ScalarType type) {
  if (!exact.is_floating_point() || !at::isFloatingType(type) || type == at::kDouble) return exact;
  if (exact.numel() == 0) return exact;
  // One pass finds that nothing is near the type's end, as nearly always; a NaN anywhere is
  // neither.
  const auto [least, most] = at::aminmax(exact);
  const double largest = type == at::kHalf ? 65504.0 : 3.38e38;
  if (least.item<double>() >= -largest && most.item<double>() <= largest) return exact;
  const at::Tensor rounded = exact.to(type).to(at::kDouble);
  const at::Tensor beyond = rounded.isinf();
  return beyond.any().item<bool>() ? at::where(beyond, rounded, exact) : exact;
}

}  // namespace

// ---- values

at::ScalarType ScalarTypeOf(Dtype dtype) {
  for (const auto& [name, type] : kScalarTypes)
    if (name == dtype) return type;
  CHECK(false, "every dtype has a scalar type");
}

Error FromException(const std::exception& exception) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&exception);
  std::string text = torch_error ? torch_error->what_without_backtrace() : exception.what();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const size_t begin = text.find_first_not_of(" \n");
  if (begin != std::string::npos) text = text.substr(begin);
  const bool memory = dynamic_cast<const c10::OutOfMemoryError*>(&exception) != nullptr ||
                      dynamic_cast<const std::bad_alloc*>(&exception) != nullptr ||
                      text.find("can't allocate memory") != std::string::npos;
  return {memory ? ErrorCode::kExhausted : ErrorCode::kInvalidInput, std::move(text)};
}

size_t Values::size() const { return impl_ ? impl_->tensors.size() : 0; }

Values ViewOf(std::span<const TensorView> tensors, DeviceKind kind, int device_index) {
  c10::InferenceMode inference;
  const at::Device device = DeviceOf(kind, device_index);
  std::vector<at::Tensor> views;
  for (const TensorView& tensor : tensors) {
    const auto options = at::TensorOptions().dtype(ScalarTypeOf(tensor.dtype)).device(device);
    int64_t elements = 1;
    for (int64_t size : tensor.shape) elements *= size;
    views.push_back(elements == 0 ? at::empty(tensor.shape, options)
                                  : at::for_blob(tensor.data, tensor.shape)
                                        .options(options)
                                        .target_device(device)
                                        .make_tensor());
  }
  return MakeValues(std::move(views));
}

Values CloneOf(const Values& values, size_t index) {
  c10::InferenceMode inference;
  return MakeValues({TensorOf(values, index).clone()});
}

Values FilledLike(const Values& values, size_t index, double value) {
  c10::InferenceMode inference;
  return MakeValues({at::full_like(TensorOf(values, index), value)});
}

Values ReshapedLike(const Values& source, size_t source_index, const Values& like, size_t index) {
  c10::InferenceMode inference;
  const at::Tensor& from = TensorOf(source, source_index);
  const at::Tensor& to = TensorOf(like, index);
  if (from.numel() != to.numel()) return {};
  return MakeValues({from.reshape(to.sizes()).to(to.scalar_type())});
}

double RmsOf(const Values& values, size_t index) {
  c10::InferenceMode inference;
  const at::Tensor finite = FiniteOf(TensorOf(values, index));
  return finite.numel() == 0 ? 0 : finite.square().mean().sqrt().item<double>();
}

Summary SummaryOf(const Values& values, size_t index) {
  c10::InferenceMode inference;
  const at::Tensor all = FiniteOf(TensorOf(values, index));
  if (all.numel() == 0) return {};
  return {.mean = all.mean().item<double>(),
          .least = all.min().item<double>(),
          .most = all.max().item<double>()};
}

// ---- reference

void ConfigureTorch(int threads) {
  at::set_num_threads(threads);
  static bool once = [] {
    at::set_num_interop_threads(1);  // may be set but once
    // The baseline is eager PyTorch: each operation as it is written.
    torch::jit::getProfilingMode() = false;
    torch::jit::getExecutorMode() = false;
    torch::jit::setGraphExecutorOptimize(false);
    return true;
  }();
  (void)once;
}

std::string NumberDtypes(const std::string& text) {
  static const std::array<std::pair<std::regex, int>, 10> names{{
      {std::regex(R"(\btorch\.(float64|double)\b(?!\s*[.(]))"), static_cast<int>(at::kDouble)},
      {std::regex(R"(\btorch\.(float32|float)\b(?!\s*[.(]))"), static_cast<int>(at::kFloat)},
      {std::regex(R"(\btorch\.(float16|half)\b(?!\s*[.(]))"), static_cast<int>(at::kHalf)},
      {std::regex(R"(\btorch\.bfloat16\b(?!\s*[.(]))"), static_cast<int>(at::kBFloat16)},
      {std::regex(R"(\btorch\.(int64|long)\b(?!\s*[.(]))"), static_cast<int>(at::kLong)},
      {std::regex(R"(\btorch\.(int32|int)\b(?!\s*[.(]))"), static_cast<int>(at::kInt)},
      {std::regex(R"(\btorch\.(int16|short)\b(?!\s*[.(]))"), static_cast<int>(at::kShort)},
      {std::regex(R"(\btorch\.int8\b(?!\s*[.(]))"), static_cast<int>(at::kChar)},
      {std::regex(R"(\btorch\.uint8\b(?!\s*[.(]))"), static_cast<int>(at::kByte)},
      {std::regex(R"(\btorch\.bool\b(?!\s*[.(]))"), static_cast<int>(at::kBool)},
  }};
  std::string numbered = text;
  for (const auto& [name, number] : names)
    numbered = std::regex_replace(numbered, name, std::to_string(number));
  return numbered;
}

struct BoundReference::Impl {
  std::shared_ptr<torch::jit::CompilationUnit> unit;  // owns the function
  torch::jit::Function* function = nullptr;
  std::vector<c10::IValue> arguments;
  std::string task;
};

Result<Values> BoundReference::Run() const {
  c10::InferenceMode inference;
  try {
    torch::jit::Stack stack = impl_->arguments;
    impl_->function->run(stack);
    auto tensors = TensorsOf(stack.back());
    if (!tensors) return Wrap(tensors.error(), "task " + impl_->task);
    return MakeValues(std::move(*tensors));
  } catch (const std::exception& exception) {
    return Wrap(FromException(exception), "task " + impl_->task + ": the reference failed");
  }
}

struct Reference::Impl {
  Task task;
  DeviceKind kind = DeviceKind::kHost;
  int device_index = 0;
  Script script;
  Script script64;

  Result<c10::IValue> NumberFor(const c10::Argument& parameter, const Dims& dims) const {
    double real = 0;
    int64_t whole = 0;
    bool floating = false;
    if (const auto dim = dims.find(parameter.name()); dim != dims.end()) {
      whole = dim->second;
    } else {
      const ScalarSpec* scalar = nullptr;
      for (const ScalarSpec& candidate : task.scalars)
        if (candidate.name == parameter.name()) scalar = &candidate;
      if (scalar == nullptr)
        return Fail(ErrorCode::kInvalidInput,
                    "task " + task.id.value() + ": the reference's parameter `" + parameter.name() +
                        "` is no input, scalar or dim of the task");
      floating = IsFloating(scalar->dtype);
      if (floating) {
        ASSIGN_OR_RETURN(real, ScalarValue(*scalar, dims));
        real = Rounded(real, scalar->dtype);
      } else {
        ASSIGN_OR_RETURN(whole, IntegerScalarValue(*scalar, dims));
      }
    }
    const auto type = parameter.type()->kind();
    if (type == c10::TypeKind::FloatType)
      return c10::IValue(floating ? real : static_cast<double>(whole));
    if (type == c10::TypeKind::BoolType && !floating) return c10::IValue(whole != 0);
    if (type == c10::TypeKind::IntType && !floating) return c10::IValue(whole);
    if (type == c10::TypeKind::NumberType) return floating ? c10::IValue(real) : c10::IValue(whole);
    return Fail(ErrorCode::kInvalidInput,
                "task " + task.id.value() + ": the reference takes `" + parameter.name() + "` as " +
                    parameter.type()->annotation_str() + "; write `" + parameter.name() +
                    (floating ? ": float`" : ": int`"));
  }

  Result<std::vector<c10::IValue>> Arguments(const Script& with, const Dims& dims,
                                             std::span<const TensorView> inputs,
                                             bool in_fp64) const {
    CHECK(inputs.size() == task.inputs.size(), "one view an input");
    const Values views = ViewOf(inputs, kind, device_index);
    std::vector<c10::IValue> arguments;
    for (const c10::Argument& parameter : with.function->getSchema().arguments()) {
      bool found = false;
      for (size_t i = 0; i < task.inputs.size() && !found; ++i) {
        if (task.inputs[i].name != parameter.name()) continue;
        const at::Tensor& tensor = TensorOf(views, i);
        arguments.emplace_back(in_fp64 && tensor.is_floating_point() ? tensor.to(at::kDouble)
                                                                     : tensor);
        found = true;
      }
      if (found) continue;
      ASSIGN_OR_RETURN(c10::IValue number, NumberFor(parameter, dims));
      arguments.push_back(std::move(number));
    }
    return arguments;
  }

  static bool LiesIn(const at::Tensor& tensor, const TensorView& input, const BufferSpec& buffer) {
    const auto* begin = static_cast<const char*>(input.data);
    const auto* data = static_cast<const char*>(tensor.const_data_ptr());
    return begin <= data && data < begin + BytesOf(buffer);
  }

  // A single row or column is laid out alike either way, so that .contiguous() and the like return
  // their input: the copy that any larger case makes is made here.
  static void OwnVectors(std::vector<at::Tensor>& tensors, std::span<const TensorView> inputs,
                         std::span<const BufferSpec> buffers) {
    for (at::Tensor& tensor : tensors) {
      const auto sizes = tensor.sizes();
      const bool vector = std::ranges::count_if(sizes, [](int64_t n) { return n > 1; }) <= 1;
      if (!vector || tensor.numel() == 0) continue;
      for (size_t in = 0; in < inputs.size(); ++in)
        if (LiesIn(tensor, inputs[in], buffers[in])) tensor = tensor.clone();
    }
  }

  Status CheckOutputs(const Values& values, std::span<const BufferSpec> buffers,
                      std::span<const TensorView> inputs, bool in_fp64) const {
    const std::string place = "task " + task.id.value();
    if (values.size() != task.outputs.size())
      return Fail(ErrorCode::kInvalidInput,
                  place + ": the reference returns " + std::to_string(values.size()) +
                      " tensors, the task has " + std::to_string(task.outputs.size()) + " outputs");
    for (size_t i = 0; i < values.size(); ++i) {
      const at::Tensor& tensor = TensorOf(values, i);
      const BufferSpec& output = buffers[task.inputs.size() + i];
      const std::string name = place + ": output `" + output.name + "`: the reference ";
      if (tensor.sizes() != at::IntArrayRef(output.shape))
        return Fail(ErrorCode::kInvalidInput, name + "returns shape " + ShapeText(tensor.sizes()) +
                                                  ", the task says " + ShapeText(output.shape));
      if (in_fp64) continue;
      if (tensor.scalar_type() != ScalarTypeOf(output.dtype))
        return Fail(ErrorCode::kInvalidInput, name + "returns " +
                                                  at::toString(tensor.scalar_type()) +
                                                  ", the task says " + ToString(output.dtype));
      if (!tensor.is_contiguous())
        return Fail(ErrorCode::kInvalidInput, name + "returns a strided view; add .contiguous()");
      for (size_t in = 0; in < inputs.size() && tensor.numel() > 0; ++in) {
        if (LiesIn(tensor, inputs[in], buffers[in]))
          return Fail(
              ErrorCode::kInvalidInput,
              name + "returns a part of its input; a baseline must do the work: add .clone()");
      }
    }
    return {};
  }

  Result<Values> Call(const Script& with, const Dims& dims, std::span<const TensorView> inputs,
                      std::span<const BufferSpec> buffers, bool in_fp64) const {
    c10::InferenceMode inference;
    try {
      ASSIGN_OR_RETURN(torch::jit::Stack stack, Arguments(with, dims, inputs, in_fp64));
      with.function->run(stack);
      ASSIGN_OR_RETURN(std::vector<at::Tensor> tensors, TensorsOf(stack.back()));
      OwnVectors(tensors, inputs, buffers);
      Values values = MakeValues(std::move(tensors));
      RETURN_IF_ERROR(CheckOutputs(values, buffers, inputs, in_fp64));
      return values;
    } catch (const std::exception& exception) {
      return Wrap(FromException(exception), "task " + task.id.value() + ": the reference failed");
    }
  }
};

Result<Reference> Reference::Compile(const Task& task, DeviceKind kind, int device_index) {
  auto impl = std::make_shared<Impl>();
  impl->task = task;
  impl->kind = kind;
  impl->device_index = device_index;
  ASSIGN_OR_RETURN(impl->script, CompileScript(task, task.reference, "reference"));
  impl->script64 = impl->script;
  if (!task.reference64.empty()) {
    ASSIGN_OR_RETURN(impl->script64, CompileScript(task, task.reference64, "reference64"));
  }
  Reference reference;
  reference.impl_ = std::move(impl);
  return reference;
}

Result<BoundReference> Reference::Bind(const Dims& dims, std::span<const TensorView> inputs) const {
  c10::InferenceMode inference;
  auto bound = std::make_shared<BoundReference::Impl>();
  bound->unit = impl_->script.unit;
  bound->function = impl_->script.function;
  bound->task = impl_->task.id.value();
  ASSIGN_OR_RETURN(bound->arguments, impl_->Arguments(impl_->script, dims, inputs, false));
  BoundReference reference;
  reference.impl_ = std::move(bound);
  return reference;
}

Result<Values> Reference::Run(const Dims& dims, std::span<const TensorView> inputs,
                              std::span<const BufferSpec> buffers) const {
  return impl_->Call(impl_->script, dims, inputs, buffers, false);
}

Result<Values> Reference::RunStrict(const Dims& dims, std::span<const TensorView> inputs,
                                    std::span<const BufferSpec> buffers) const {
  const StrictPrecision strict;
  return impl_->Call(impl_->script, dims, inputs, buffers, false);
}

Result<Values> Reference::RunExact(const Dims& dims, std::span<const TensorView> inputs,
                                   std::span<const BufferSpec> buffers) const {
  ASSIGN_OR_RETURN(const Values values, impl_->Call(impl_->script64, dims, inputs, buffers, true));
  c10::InferenceMode inference;
  std::vector<at::Tensor> tensors;
  for (size_t i = 0; i < values.size(); ++i)
    tensors.push_back(
        Saturated(TensorOf(values, i), ScalarTypeOf(impl_->task.outputs[i].dtype)).contiguous());
  return MakeValues(std::move(tensors));
}

}  // namespace warpsmith
