// The command line of a program that a supervisor starts: `--name value` pairs and `--switch`es.
// Read strictly, for a program that takes rubbish for 0 works on the wrong device or descriptor.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/unique_fd.h"
#include "common/model/dtype.h"

namespace warpsmith {

class ChildFlags {
 public:
  // kInvalidInput: a word that is none of these, one that comes twice, a value that is not there.
  static Result<ChildFlags> Read(int argc, const char* const* argv,
                                 std::initializer_list<std::string_view> with_value,
                                 std::initializer_list<std::string_view> switches = {});

  bool Has(std::string_view name) const { return values_.contains(name); }
  // kInvalidInput, all three: the flag is missing, or its value is not of that kind.
  Result<std::string> Text(std::string_view name) const;
  Result<int> Whole(std::string_view name) const;  // from 0 on
  Result<DeviceKind> Device(std::string_view name) const;
  // An open descriptor, taken over.
  Result<UniqueFd> Descriptor(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace warpsmith
