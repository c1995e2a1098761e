#include "learner/shell/training_thread.h"

#include <pthread.h>

namespace warpsmith {

TrainingThread::TrainingThread()
    : thread_([this](std::stop_token stop) {
        pthread_setname_np(pthread_self(), "trainer");
        while (auto work = work_.Pop())
          if (!stop.stop_requested()) (*work)();
      }) {}

TrainingThread::~TrainingThread() {
  thread_.request_stop();
  work_.Close();
}

void TrainingThread::Run(std::function<void()> work) { work_.Push(std::move(work)); }

}  // namespace warpsmith
