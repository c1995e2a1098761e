// A network that delays, loses, doubles and reorders messages and cuts hosts off, as options say.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>

#include "common/base/random.h"
#include "tests/simulation/clockwork.h"

namespace warpsmith::sim {

struct NetworkOptions {
  Duration delay_low = std::chrono::microseconds(200);
  Duration delay_high = std::chrono::milliseconds(20);
  double slow = 0.02;  // share of messages that take up to a second
  double loss = 0.02;
  double duplication = 0.02;
};

// One coordinator in the middle; hosts are named.
class Network {
 public:
  Network(Clockwork& clockwork, Random& random, NetworkOptions options)
      : clockwork_(clockwork), random_(random), options_(options) {}

  // To or from `host`; `deliver` runs when it arrives, if it does.
  void Carry(const std::string& host, const std::function<void()>& deliver) {
    if (cut_.contains(host)) return;
    if (random_.Chance(options_.loss)) return;
    const int copies = random_.Chance(options_.duplication) ? 2 : 1;
    for (int i = 0; i < copies; ++i) clockwork_.After(Delay(), deliver);
  }
  void Cut(const std::string& host) { cut_.insert(host); }
  void Mend(const std::string& host) { cut_.erase(host); }
  // Nothing is lost or slow any more.
  void Heal() {
    cut_.clear();
    options_.loss = options_.duplication = options_.slow = 0;
  }

 private:
  Duration Delay() {
    const Duration high =
        random_.Chance(options_.slow) ? Duration(std::chrono::seconds(1)) : options_.delay_high;
    const auto spread = static_cast<uint64_t>((high - options_.delay_low).count());
    return options_.delay_low + Duration(static_cast<int64_t>(random_.Below(spread)));
  }

  Clockwork& clockwork_;
  Random& random_;
  NetworkOptions options_;
  std::set<std::string> cut_;
};

}  // namespace warpsmith::sim
