// Compiler children: hostile text goes in, checked evidence comes out. Each child has a deadline a
// request, is replaced when it is killed or has served its uses, and belongs to one thread.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/runtime/bounded_queue.h"
#include "common/runtime/files.h"
#include "common/runtime/subprocess.h"
#include "worker/shell/compile_cache.h"
#include "worker/shell/process_evaluator.h"

namespace warpsmith {

struct CompileOrder {
  std::string text;
  DeviceKind device_kind = DeviceKind::kHost;
  std::string architecture;
  std::string versions;  // of toolkit and driver: part of the cache's key
  bool fresh = false;    // never from the cache: a confirmation
};

struct CompileDone {
  SharedCompileResult result;
  double ms = 0;  // 0: it was in the cache
};

class CompilerPool {
 public:
  struct Options {
    int compilers = 1;
    std::filesystem::path program;
    std::filesystem::path log_directory;
    std::filesystem::path scratch_directory;
    std::vector<int> cores;  // empty: inherited
    EvaluationLimits limits;
  };

  static Result<std::unique_ptr<CompilerPool>> Start(Options options);
  // Ends the children; what waits is done with Infrastructure(worker_lost).
  ~CompilerPool();

  // `done` is called once, on a compiler's thread. Thread-safe; blocks only when tens of thousands
  // wait.
  void Submit(CompileOrder order, std::function<void(CompileDone)> done);

  std::vector<int> ChildPids() const;

 private:
  struct Item {
    CompileOrder order;
    std::function<void(CompileDone)> done;
  };
  class Compiler;

  explicit CompilerPool(Options options);
  CompileDone Serve(Compiler& compiler, const CompileOrder& order);
  SharedCompileResult Compile(Compiler& compiler, const CompileOrder& order);

  Options options_;
  TempDirectory own_scratch_;
  CompileCache cache_;
  BoundedQueue<Item> queue_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> answered_ = false;  // a child of this pool has given a valid answer
  std::vector<std::unique_ptr<Compiler>> compilers_;
  std::vector<std::jthread> threads_;
};

}  // namespace warpsmith
