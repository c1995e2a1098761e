#include "common/base/result.h"

namespace warpsmith {

const char* ToString(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput: return "invalid_input";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kMissing: return "missing";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kExhausted: return "exhausted";
    case ErrorCode::kCorrupt: return "corrupt";
    case ErrorCode::kTimeout: return "timeout";
    case ErrorCode::kInternal: return "internal";
  }
  return "unknown";
}

int ExitStatus(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kNotFound: return 2;
    case ErrorCode::kMissing: return 3;
    case ErrorCode::kUnavailable:
    case ErrorCode::kTimeout: return 4;
    case ErrorCode::kExhausted: return 5;
    case ErrorCode::kCorrupt: return 6;
    case ErrorCode::kInternal: return 70;
  }
  return 70;
}

}  // namespace warpsmith
