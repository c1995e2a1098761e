#include "policy/grammar/families.h"

#include <array>

#include "policy/grammar/elementwise_family.h"
#include "policy/grammar/row_family.h"
#include "policy/grammar/transpose_family.h"

namespace warpsmith {

std::span<const Family* const> Families() {
  static const TransposeFamily transpose;
  static const RowFamily row;
  static const ElementwiseFamily elementwise;
  static const std::array<const Family*, 3> families = {&transpose, &row, &elementwise};
  return families;
}

}  // namespace warpsmith
