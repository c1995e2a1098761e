#include "policy/grammar/row_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "policy/grammar/cuda_text.h"
#include "policy/grammar/elementwise_text.h"

namespace warpsmith {
namespace {

ExprPtr Number(double number) {
  return std::make_shared<Expr>(Expr{.kind = ExprKind::kNumber, .number = number});
}
ExprPtr Name(const std::string& name) {
  return std::make_shared<Expr>(Expr{.kind = ExprKind::kName, .name = name});
}
ExprPtr Call(const std::string& name, std::vector<ExprPtr> args) {
  return std::make_shared<Expr>(
      Expr{.kind = ExprKind::kCall, .name = name, .args = std::move(args)});
}

tl::unexpected<Error> Unfit(std::string why) {
  return Fail(ErrorCode::kInvalidInput, std::move(why));
}

// Rewrites a reference from the leaves up, collecting reductions.
class Lowering {
 public:
  Lowering(const Task& task, PassMode mode) : task_(task), mode_(mode) {}

  Result<RowProgram> Run() {
    if (task_.outputs.size() != 1 || task_.inputs.empty()) return Unfit("it has not one output");
    ASSIGN_OR_RETURN(const ReferenceTree reference, ParseReference(task_.reference));
    if (reference.results.size() != 1) return Unfit("the reference returns a tuple");
    RETURN_IF_ERROR(ReadInputs());
    ASSIGN_OR_RETURN(const Value result, Lower(*reference.results[0]));
    if (program_.reductions.empty()) return Unfit("nothing is reduced along its rows");
    program_.result = result.expr;
    program_.per_row = result.shape == Shape::kRow || result.shape == Shape::kSqueezed;
    RETURN_IF_ERROR(CheckOutput(result.shape));
    RETURN_IF_ERROR(
        CheckElementwise(*program_.result, [&](const std::string& name) { return IsKnown(name); }));
    std::stable_sort(program_.reductions.begin(), program_.reductions.end(),
                     [](const auto& a, const auto& b) { return a.level < b.level; });
    for (const RowReduction& reduction : program_.reductions)
      program_.passes = std::max(program_.passes, reduction.level + 1);
    return std::move(program_);
  }

 private:
  // What a value is one of: all rows (uniform), a row (kept as a last dimension of 1, or squeezed
  // away), a column, or an element.
  enum class Shape { kUniform, kRow, kSqueezed, kColumn, kElement };
  struct Value {
    ExprPtr expr;
    Shape shape = Shape::kUniform;
  };

  Status ReadInputs() {
    const auto largest = std::max_element(
        task_.inputs.begin(), task_.inputs.end(),
        [](const auto& a, const auto& b) { return a.shape.size() < b.shape.size(); });
    shape_ = largest->shape;
    if (shape_.size() < 2) return Unfit("no input has rows");
    for (const InputSpec& input : task_.inputs) {
      if (!IsOneOfFloats(input.dtype)) return Unfit(fmt::format("{} is not floating", input.name));
      if (input.shape == shape_)
        program_.whole.push_back(&input);
      else if (input.shape.size() == 1 && input.shape[0] == shape_.back())
        program_.columns.push_back(&input);
      else
        return Unfit(fmt::format("the shape of {} is neither a row's nor whole", input.name));
    }
    for (const ScalarSpec& scalar : task_.scalars) program_.scalars.push_back(&scalar);
    return {};
  }

  Status CheckOutput(Shape shape) const {
    const OutputSpec& output = task_.outputs[0];
    if (!IsOneOfFloats(output.dtype)) return Unfit("the output is not floating");
    std::vector<std::string> expected = shape_;
    if (shape == Shape::kRow) expected.back() = "1";
    if (shape == Shape::kSqueezed) expected.pop_back();
    if (shape == Shape::kUniform || shape == Shape::kColumn || output.shape != expected)
      return Unfit("the output's shape is not that of the expression");
    return {};
  }

  bool IsKnown(const std::string& name) const {
    const auto named = [&](const auto* spec) { return spec->name == name; };
    return std::any_of(program_.whole.begin(), program_.whole.end(), named) ||
           std::any_of(program_.columns.begin(), program_.columns.end(), named) ||
           std::any_of(program_.scalars.begin(), program_.scalars.end(), named) ||
           Find(name) != nullptr;
  }
  const RowReduction* Find(const std::string& name) const {
    for (const RowReduction& reduction : program_.reductions)
      if (reduction.name == name) return &reduction;
    return nullptr;
  }

  size_t LevelOf(const Expr& expr) const {
    size_t level = 0;
    if (expr.kind == ExprKind::kName)
      if (const RowReduction* reduction = Find(expr.name)) level = reduction->level + 1;
    for (const ExprPtr& arg : expr.args) level = std::max(level, LevelOf(*arg));
    for (const auto& [key, arg] : expr.keywords) level = std::max(level, LevelOf(*arg));
    return level;
  }

  Result<Value> Lower(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kNumber: return Value{Number(expr.number)};
      case ExprKind::kName: return LowerName(expr.name);
      case ExprKind::kCall: break;
      default: return Unfit(fmt::format("`{}` is no number", ToString(expr)));
    }
    const std::string& name = expr.name;
    if (name == "sum") return LowerReduction(expr, RowReduce::kSum);
    if (name == "mean") return LowerReduction(expr, RowReduce::kMean);
    if (name == "amax") return LowerReduction(expr, RowReduce::kMax);
    if (name == "amin") return LowerReduction(expr, RowReduce::kMin);
    if (name == "softmax" || name == "log_softmax" || name == "logsumexp")
      return LowerSoftmax(expr);
    if (name == "rms_norm") return LowerRmsNorm(expr);
    if (name == "layer_norm") return LowerLayerNorm(expr);
    if (name == "normalize") return LowerNormalize(expr);
    return LowerElementwise(expr);
  }

  Result<Value> LowerName(const std::string& name) const {
    for (const InputSpec* input : program_.whole)
      if (input->name == name) return Value{Name(name), Shape::kElement};
    for (const InputSpec* input : program_.columns)
      if (input->name == name) return Value{Name(name), Shape::kColumn};
    for (const ScalarSpec* scalar : program_.scalars)
      if (scalar->name == name) return Value{Name(name)};
    return Unfit(fmt::format("`{}` is neither input nor scalar", name));
  }

  // Broadcasting as torch does it: an element wins over row and column; a squeezed row would be
  // broadcast along the wrong dimension.
  Result<Value> LowerElementwise(const Expr& expr) {
    Expr lowered{.kind = ExprKind::kCall, .name = expr.name};
    Shape shape = Shape::kUniform;
    const auto join = [&](Shape other) {
      if (shape == other || other == Shape::kUniform) return true;
      if (shape == Shape::kSqueezed || other == Shape::kSqueezed) {
        if (shape != Shape::kUniform) return false;
        shape = other;
        return true;
      }
      shape = shape == Shape::kUniform ? other : Shape::kElement;
      return true;
    };
    const std::string misfit =
        fmt::format("`{}` broadcasts in a way the family does not know", expr.name);
    for (const ExprPtr& arg : expr.args) {
      if (arg->kind == ExprKind::kString) {
        lowered.args.push_back(arg);
        continue;
      }
      ASSIGN_OR_RETURN(const Value value, Lower(*arg));
      if (!join(value.shape)) return Unfit(misfit);
      lowered.args.push_back(value.expr);
    }
    for (const auto& [key, arg] : expr.keywords) {
      if (arg->kind == ExprKind::kString) {
        lowered.keywords.emplace_back(key, arg);
        continue;
      }
      ASSIGN_OR_RETURN(const Value value, Lower(*arg));
      if (!join(value.shape)) return Unfit(misfit);
      lowered.keywords.emplace_back(key, value.expr);
    }
    return Value{std::make_shared<Expr>(std::move(lowered)), shape};
  }

  bool IsLastDim(const ExprPtr& dim) const {
    if (!dim) return false;
    if (dim->kind == ExprKind::kList) return dim->args.size() == 1 && IsLastDim(dim->args[0]);
    return dim->kind == ExprKind::kNumber &&
           (dim->number == -1 || dim->number == static_cast<double>(shape_.size()) - 1);
  }
  bool IsRowShape(const ExprPtr& list) const {
    if (!list || list->kind != ExprKind::kList || list->args.size() != 1) return false;
    const Expr& size = *list->args[0];
    return size.kind == ExprKind::kName
               ? size.name == shape_.back()
               : size.kind == ExprKind::kNumber && fmt::format("{}", size.number) == shape_.back();
  }

  // The argument of a reduction, which must be one an element.
  Result<ExprPtr> Element(const ExprPtr& arg) {
    if (!arg) return Unfit("a reduction without its argument");
    ASSIGN_OR_RETURN(const Value value, Lower(*arg));
    if (value.shape != Shape::kElement) return Unfit("what is reduced is not one value an element");
    return value.expr;
  }

  // The name of the reduction, one that is there already where it is the same.
  std::string Add(RowReduce reduce, ExprPtr of, const std::string& name, size_t level,
                  const std::string& max = "") {
    for (const RowReduction& known : program_.reductions)
      if (known.reduce == reduce && known.max == max && SameExpr(*known.of, *of)) return known.name;
    std::string unique = name;
    for (int n = 2; IsKnown(unique); ++n) unique = fmt::format("{}_{}", name, n);
    program_.reductions.push_back({reduce, std::move(of), unique, level, max});
    return unique;
  }
  ExprPtr Reduce(RowReduce reduce, const ExprPtr& of, const std::string& name) {
    return Name(Add(reduce, of, name, LevelOf(*of)));
  }

  Result<Value> LowerReduction(const Expr& call, RowReduce reduce) {
    if (!IsLastDim(Argument(call, 1, "dim"))) return Unfit("it reduces another dimension");
    const ExprPtr keepdim = Argument(call, 2, "keepdim");
    const bool keep = keepdim && keepdim->kind == ExprKind::kConstant && keepdim->name == "True";
    ASSIGN_OR_RETURN(const ExprPtr of, Element(Argument(call, 0, "input")));
    const char* name = reduce == RowReduce::kSum    ? "row_sum"
                       : reduce == RowReduce::kMean ? "row_mean"
                       : reduce == RowReduce::kMax  ? "row_max"
                                                    : "row_min";
    return Value{Reduce(reduce, of, name), keep ? Shape::kRow : Shape::kSqueezed};
  }

  Result<Value> LowerSoftmax(const Expr& call) {
    if (!IsLastDim(Argument(call, 1, "dim"))) return Unfit("it reduces another dimension");
    ASSIGN_OR_RETURN(const ExprPtr of, Element(Argument(call, 0, "input")));
    const ExprPtr max = Reduce(RowReduce::kMax, of, "row_max");
    const ExprPtr shifted = Call("sub", {of, max});
    const ExprPtr exponential = Call("exp", {shifted});
    const ExprPtr sum = mode_ == PassMode::kOne
                            ? Name(Add(RowReduce::kSumExp, of, "row_sum", LevelOf(*of), max->name))
                            : Reduce(RowReduce::kSum, exponential, "row_sum");
    if (call.name == "softmax") return Value{Call("div", {exponential, sum}), Shape::kElement};
    if (call.name == "log_softmax")
      return Value{Call("sub", {shifted, Call("log", {sum})}), Shape::kElement};
    const ExprPtr keepdim = Argument(call, 2, "keepdim");
    const bool keep = keepdim && keepdim->kind == ExprKind::kConstant && keepdim->name == "True";
    return Value{Call("add", {max, Call("log", {sum})}), keep ? Shape::kRow : Shape::kSqueezed};
  }

  // weight and bias: nothing where they are not given or None.
  Result<std::optional<ExprPtr>> PerColumn(const ExprPtr& arg) {
    if (!arg || (arg->kind == ExprKind::kConstant && arg->name == "None")) return std::nullopt;
    ASSIGN_OR_RETURN(const Value value, Lower(*arg));
    if (value.shape != Shape::kColumn) return Unfit("a weight is not one value a column");
    return std::optional(value.expr);
  }
  Result<ExprPtr> Uniform(const ExprPtr& arg) {
    ASSIGN_OR_RETURN(const Value value, Lower(*arg));
    if (value.shape != Shape::kUniform) return Unfit("eps is no number");
    return value.expr;
  }

  Result<Value> LowerRmsNorm(const Expr& call) {
    if (!IsRowShape(Argument(call, 1, "normalized_shape"))) return Unfit("it normalises no rows");
    ASSIGN_OR_RETURN(const ExprPtr of, Element(Argument(call, 0, "input")));
    ASSIGN_OR_RETURN(const auto weight, PerColumn(Argument(call, 2, "weight")));
    const ExprPtr eps_argument = Argument(call, 3, "eps");
    if (!eps_argument) return Unfit("rms_norm needs its eps");
    ASSIGN_OR_RETURN(const ExprPtr eps, Uniform(eps_argument));
    const ExprPtr mean = Reduce(RowReduce::kMean, Call("mul", {of, of}), "mean_square");
    ExprPtr result = Call("mul", {of, Call("rsqrt", {Call("add", {mean, eps})})});
    if (weight) result = Call("mul", {result, *weight});
    return Value{result, Shape::kElement};
  }

  Result<Value> LowerLayerNorm(const Expr& call) {
    if (!IsRowShape(Argument(call, 1, "normalized_shape"))) return Unfit("it normalises no rows");
    ASSIGN_OR_RETURN(const ExprPtr of, Element(Argument(call, 0, "input")));
    ASSIGN_OR_RETURN(const auto weight, PerColumn(Argument(call, 2, "weight")));
    ASSIGN_OR_RETURN(const auto bias, PerColumn(Argument(call, 3, "bias")));
    const ExprPtr eps_argument = Argument(call, 4, "eps");
    ExprPtr eps = Number(1e-5);
    if (eps_argument) {
      ASSIGN_OR_RETURN(eps, Uniform(eps_argument));
    }
    const ExprPtr mean = Reduce(RowReduce::kMean, of, "row_mean");
    const ExprPtr centred = Call("sub", {of, mean});
    ExprPtr variance;
    if (mode_ == PassMode::kOne) {
      const ExprPtr square = Reduce(RowReduce::kMean, Call("mul", {of, of}), "mean_square");
      // Rounding can take the difference below zero.
      variance = Call("maximum", {Call("sub", {square, Call("mul", {mean, mean})}), Number(0)});
    } else {
      variance = Reduce(RowReduce::kMean, Call("mul", {centred, centred}), "row_variance");
    }
    ExprPtr result = Call("mul", {centred, Call("rsqrt", {Call("add", {variance, eps})})});
    if (weight) result = Call("mul", {result, *weight});
    if (bias) result = Call("add", {result, *bias});
    return Value{result, Shape::kElement};
  }

  // torch.nn.functional.normalize: x / max(|x|, eps), the Euclidean norm.
  Result<Value> LowerNormalize(const Expr& call) {
    const ExprPtr p = Argument(call, 1, "p");
    if (p && (p->kind != ExprKind::kNumber || p->number != 2))
      return Unfit("the norm is not the 2-norm");
    if (!IsLastDim(Argument(call, 2, "dim"))) return Unfit("it reduces another dimension");
    ASSIGN_OR_RETURN(const ExprPtr of, Element(Argument(call, 0, "input")));
    const ExprPtr eps_argument = Argument(call, 3, "eps");
    ExprPtr eps = Number(1e-12);
    if (eps_argument) {
      ASSIGN_OR_RETURN(eps, Uniform(eps_argument));
    }
    const ExprPtr sum = Reduce(RowReduce::kSum, Call("mul", {of, of}), "sum_square");
    return Value{Call("div", {of, Call("maximum", {Call("sqrt", {sum}), eps})}), Shape::kElement};
  }

  const Task& task_;
  const PassMode mode_;
  std::vector<std::string> shape_;  // of the whole inputs
  RowProgram program_;
};

}  // namespace

Result<RowProgram> ReadRowProgram(const Task& task, PassMode mode) {
  return Lowering(task, mode).Run();
}

}  // namespace warpsmith
