// What the thread sanitizer must not judge: the distribution's libzmq is built without it, so that
// it sees libzmq's lock-free queues and not what orders them. Compiled into tests that use ZeroMQ.
extern "C" const char* __tsan_default_suppressions();

extern "C" const char* __tsan_default_suppressions() {
  return "race:libzmq.so\ncalled_from_lib:libzmq.so\n";
}
