// What /proc tells of processes, for tests that count what is left behind.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace warpsmith {

struct ProcessState {
  int pid = 0;
  char state = 'X';  // X: there is none; Z: ended, its parent has still to reap it
  int parent = 0;
  int group = 0;

  bool ended() const { return state == 'X' || state == 'Z'; }
};

inline ProcessState LookAt(int pid) {
  ProcessState state{.pid = pid};
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(stat)), {});
  size_t end = text.rfind(')');  // of the program's name, which may hold anything
  if (end == std::string::npos) return state;
  std::istringstream(text.substr(end + 2)) >> state.state >> state.parent >> state.group;
  return state;
}

inline std::vector<ProcessState> AllProcesses() {
  std::vector<ProcessState> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos) {
      all.push_back(LookAt(std::stoi(name)));
    }
  }
  return all;
}

}  // namespace warpsmith
