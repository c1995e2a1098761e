// Operating errors: things that go wrong in the world (a file, a peer, a user's input), returned by
// value. Outcomes of candidates are data (common/model/outcome.h); bugs are CHECKs (check.h).
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace warpsmith {

// A code exists only because a caller acts on it; the message is for people and says what to do.
enum class ErrorCode {
  kInvalidInput,  // the user's text or request is wrong: show the message, do not retry
  kNotFound,      // the named thing does not exist
  kMissing,       // this machine lacks something (GPU, driver, toolkit, program)
  kUnavailable,   // a peer or server is away: retry with back-off
  kExhausted,     // disk, memory, port or another resource is used up: stop admitting, retry later
  kCorrupt,       // bytes that fail their check: drop them, never use them
  kTimeout,       // a deadline passed
  kInternal,      // a library or the system failed in a way that nobody handles specially
};

const char* ToString(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;

  bool operator==(const Error&) const = default;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> Fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

// "error while X" -> "X: error", keeping the code.
inline tl::unexpected<Error> Wrap(const Error& error, const std::string& context) {
  return tl::unexpected<Error>(Error{error.code, context + ": " + error.message});
}

// The exit status of a program that ends with this error; `warpsmith --help` documents the table.
int ExitStatus(ErrorCode code);

}  // namespace warpsmith

#define WARPSMITH_CONCAT_INNER(a, b) a##b
#define WARPSMITH_CONCAT(a, b) WARPSMITH_CONCAT_INNER(a, b)

// ASSIGN_OR_RETURN(auto value, Compute()): binds the value or returns the error to the caller.
#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_IMPL(WARPSMITH_CONCAT(result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_IMPL(result, declaration, expression)            \
  auto result = (expression);                                             \
  if (!result) return tl::unexpected<::warpsmith::Error>(result.error()); \
  declaration = std::move(*result)

#define RETURN_IF_ERROR(expression)                               \
  do {                                                            \
    if (auto status_ = (expression); !status_)                    \
      return tl::unexpected<::warpsmith::Error>(status_.error()); \
  } while (false)
