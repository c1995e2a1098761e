// What /proc tells of processes, for tests that count what is left behind; and a process that will
// not end for its parent.
#pragma once

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace warpsmith {

struct ProcessState {
  int pid = 0;
  std::string name;
  char state = 'X';  // X: there is none; Z: ended, its parent has still to reap it
  int parent = 0;
  int group = 0;
  int session = 0;

  bool ended() const { return state == 'X' || state == 'Z'; }
};

inline ProcessState LookAt(int pid) {
  ProcessState state{.pid = pid};
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text, '\0');  // also where the process goes meanwhile: then there is none
  size_t end = text.rfind(')');    // of the program's name, which may hold anything
  if (end == std::string::npos) return state;
  state.name = text.substr(text.find('(') + 1, end - text.find('(') - 1);
  std::istringstream(text.substr(end + 2)) >> state.state >> state.parent >> state.group >>
      state.session;
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

// Whether `done` comes true within what a busy machine may take.
template <typename Condition>
bool Soon(const Condition& done) {
  for (int i = 0; i < 2000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

inline bool GoneSoon(int pid) {
  return Soon([&] { return LookAt(pid).ended(); });
}

// Whatever a process leaves behind stays in its session.
inline bool SessionEndsSoon(int session) {
  return Soon([&] {
    for (const ProcessState& process : AllProcesses()) {
      if (process.session == session && !process.ended()) return false;
    }
    return true;
  });
}

// Traces a process: a tracer gets its end first, and keeps it from its parent until it goes itself.
// As near as a test comes to a process that SIGKILL does not end.
class Unkillable {
 public:
  explicit Unkillable(int pid) {
    int ends[2];
    if (pipe(ends) != 0) return;
    tracer_ = fork();
    if (tracer_ == 0) {
      for (int fd = 3; fd < 1024; ++fd) {
        if (fd != ends[1]) close(fd);
      }
      const char traces = ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0;
      [[maybe_unused]] ssize_t n = write(ends[1], &traces, 1);
      for (;;) pause();
    }
    char traces = 0;
    holds_ = read(ends[0], &traces, 1) == 1 && traces != 0;
    close(ends[0]);
    close(ends[1]);
  }
  Unkillable(const Unkillable&) = delete;
  Unkillable& operator=(const Unkillable&) = delete;
  ~Unkillable() { LetGo(); }

  // False: nobody may trace here.
  bool holds() const { return holds_; }
  void LetGo() {
    if (tracer_ <= 0) return;
    kill(tracer_, SIGKILL);
    waitpid(tracer_, nullptr, 0);
    tracer_ = -1;
  }

 private:
  pid_t tracer_ = -1;
  bool holds_ = false;
};

}  // namespace warpsmith
