#include "common/net/zmq_transport.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "common/base/random.h"

namespace warpsmith {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr Duration kPatience = seconds(30);

// Says `bytes` until somebody is connected to hear it.
bool SayUntilHeard(Transport& transport, const Envelope& envelope) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (transport.Send(envelope)) return true;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return false;
}

std::unique_ptr<RouterTransport> Coordinator(const std::string& endpoint = "tcp://127.0.0.1:*") {
  auto router = RouterTransport::Bind(endpoint);
  EXPECT_TRUE(router) << router.error().message;
  return router ? std::move(*router) : nullptr;
}

std::unique_ptr<DealerTransport> Worker(const Transport& coordinator, const std::string& id) {
  auto dealer =
      DealerTransport::Connect(dynamic_cast<const RouterTransport&>(coordinator).endpoint(), id);
  EXPECT_TRUE(dealer) << dealer.error().message;
  return dealer ? std::move(*dealer) : nullptr;
}

// One message each way. What strangers say may come in between: nothing that decodes.
void ExpectConversation(RouterTransport& coordinator, DealerTransport& worker,
                        const std::string& id, const std::string& bytes = "hello") {
  ASSERT_TRUE(SayUntilHeard(worker, {"", bytes}));
  std::optional<Envelope> heard;
  do ASSERT_TRUE(heard = coordinator.Receive(kPatience));
  while (heard->peer != id);
  EXPECT_EQ(heard->bytes, bytes);
  ASSERT_TRUE(coordinator.Send({id, "re: " + bytes}));
  auto answer = worker.Receive(kPatience);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->peer, "");
  EXPECT_EQ(answer->bytes, "re: " + bytes);
}

// A TCP client that speaks no ZeroMQ.
class Stranger {
 public:
  explicit Stranger(const std::string& endpoint) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port =
        htons(static_cast<uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~Stranger() { ::close(fd_); }
  void Say(const std::string& bytes) {
    // The other side may close in the middle.
    [[maybe_unused]] ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

 private:
  int fd_;
};

TEST(ZmqTransport, AnAddressInUseIsExhaustedAndNamed) {
  auto first = Coordinator();
  auto second = RouterTransport::Bind(first->endpoint());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(second.error().message, HasSubstr(first->endpoint()));
  EXPECT_THAT(second.error().message, HasSubstr("choose another address"));
}

TEST(ZmqTransport, APathThatSomebodyListensAtIsNotTaken) {
  const std::string path = "/tmp/zmq-transport-test-" + std::to_string(::getpid());
  auto first = Coordinator("ipc://" + path);
  EXPECT_EQ(RouterTransport::Bind("ipc://" + path).error().code, ErrorCode::kExhausted);
  auto worker = Worker(*first, "w1");
  ExpectConversation(*first, *worker, "w1");
  worker.reset();
  first.reset();
  // What a killed coordinator leaves behind is no obstacle.
  ASSERT_EQ(::access(path.c_str(), F_OK), 0);
  EXPECT_TRUE(RouterTransport::Bind("ipc://" + path));
  ::unlink(path.c_str());
}

TEST(ZmqTransport, WhatIsNoAddressIsRefused) {
  for (const std::string& endpoint :
       {std::string(), std::string("localhost:7070"), std::string("tcp://"),
        std::string("tcp://192.0.2.1:7070"), std::string("carrier://pigeon"),
        "ipc:///tmp/" + std::string(200, 'x')}) {
    auto router = RouterTransport::Bind(endpoint);
    ASSERT_FALSE(router) << endpoint;
    EXPECT_EQ(router.error().code, ErrorCode::kInvalidInput) << router.error().message;
  }
  EXPECT_EQ(DealerTransport::Connect("nonsense", "w").error().code, ErrorCode::kInvalidInput);
}

TEST(ZmqTransport, SendingToNobodyIsUnavailableAtOnce) {
  auto coordinator = Coordinator();
  EXPECT_EQ(coordinator->Send({"w9", "x"}).error().code, ErrorCode::kUnavailable);
  auto lonely = DealerTransport::Connect("tcp://127.0.0.1:1", "w1");
  EXPECT_EQ((*lonely)->Send({"", "x"}).error().code, ErrorCode::kUnavailable);
}

TEST(ZmqTransport, AWorkerThatWentAwayIsUnavailable) {
  auto coordinator = Coordinator();
  auto worker = Worker(*coordinator, "w1");
  ExpectConversation(*coordinator, *worker, "w1");
  worker.reset();
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  Status sent;
  while ((sent = coordinator->Send({"w1", "x"})) && std::chrono::steady_clock::now() < deadline)
    coordinator->Receive(milliseconds(2));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::kUnavailable);
}

TEST(ZmqTransport, StrangersDisturbNobody) {
  auto coordinator = Coordinator();
  auto worker = Worker(*coordinator, "w1");
  ExpectConversation(*coordinator, *worker, "w1");

  Random random(1);
  std::string noise(1 << 20, '\0');
  for (char& c : noise) c = static_cast<char>(random.Bits());
  Stranger browser(coordinator->endpoint()), noisy(coordinator->endpoint()),
      half(coordinator->endpoint()), silent(coordinator->endpoint());
  browser.Say("GET / HTTP/1.1\r\nHost: warpsmith\r\n\r\n");
  noisy.Say(noise);
  half.Say(std::string("\xff\0\0\0\0\0\0\0\x01\x7f\x03\0NU", 14));
  {
    Stranger hasty(coordinator->endpoint());
    hasty.Say(std::string("\xff\0\0\0\0", 5));
  }
  // A ZeroMQ 3 greeting and then a frame of 2^62 bytes.
  Stranger greedy(coordinator->endpoint());
  std::string greeting = std::string("\xff\0\0\0\0\0\0\0\x01\x7f\x03\0NULL", 16);
  greeting.resize(64);
  greedy.Say(greeting + std::string("\x02\x40\0\0\0\0\0\0\0", 9));

  for (int i = 0; i < 20; ++i)
    ExpectConversation(*coordinator, *worker, "w1", "jobs go on " + std::to_string(i));
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  auto lost = [&] {
    return coordinator->counters().failed_handshakes + coordinator->counters().disconnections;
  };
  while (lost() < 2 && std::chrono::steady_clock::now() < deadline)
    coordinator->Receive(milliseconds(5));
  EXPECT_GE(lost(), 2u) << "closed connections are counted";
}

TEST(ZmqTransport, AMessageOverTheLimitIsNotSent) {
  auto coordinator = Coordinator();
  auto worker = Worker(*coordinator, "w1");
  ExpectConversation(*coordinator, *worker, "w1");
  const std::string huge(static_cast<size_t>(kMaxMessageBytes) + 1, 'x');
  EXPECT_EQ(worker->Send({"", huge}).error().code, ErrorCode::kInvalidInput);
  ExpectConversation(*coordinator, *worker, "w1", std::string("a\0b", 3));
}

TEST(ZmqTransport, APeerThatReadsNothingIsRefusedMoreInsteadOfFillingMemory) {
  auto coordinator = Coordinator();
  auto worker = Worker(*coordinator, "w1");
  ExpectConversation(*coordinator, *worker, "w1");
  const std::string bytes(16 << 10, 'x');
  int sent = 0;
  Status status;
  while (sent < 100'000 && (status = coordinator->Send({"w1", bytes}))) ++sent;
  ASSERT_FALSE(status) << sent;
  EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
}

TEST(ZmqTransport, WakeEndsAReceiveThatWaitsOrTheNextOne) {
  auto coordinator = Coordinator();
  coordinator->Wake();
  EXPECT_FALSE(coordinator->Receive(kPatience));
  std::jthread other([&] {
    std::this_thread::sleep_for(milliseconds(10));
    coordinator->Wake();
  });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(coordinator->Receive(kPatience));
  EXPECT_LT(std::chrono::steady_clock::now() - start, kPatience);
}

TEST(ZmqTransport, AReceiveOfNothingEnds) { EXPECT_FALSE(Coordinator()->Receive(milliseconds(3))); }

TEST(ZmqTransport, AWorkerFindsACoordinatorThatStartsLaterAndOneThatStartsAgain) {
  auto coordinator = Coordinator();
  const std::string endpoint = coordinator->endpoint();
  coordinator.reset();
  auto worker = *DealerTransport::Connect(endpoint, "w1");
  EXPECT_FALSE(worker->Send({"", "too early"}));
  for (int life = 0; life < 2; ++life) {
    coordinator = Coordinator(endpoint);
    ASSERT_TRUE(coordinator);
    ExpectConversation(*coordinator, *worker, "w1");
    coordinator.reset();
    while (worker->Send({"", "anyone?"})) std::this_thread::sleep_for(milliseconds(2));
  }
}

TEST(ZmqTransport, ManyWorkersAreToldApart) {
  auto coordinator = Coordinator();
  std::vector<std::unique_ptr<DealerTransport>> workers;
  for (int i = 0; i < 20; ++i) workers.push_back(Worker(*coordinator, "w" + std::to_string(i)));
  for (int i = 0; i < 20; ++i)
    ExpectConversation(*coordinator, *workers[static_cast<size_t>(i)], "w" + std::to_string(i));
}

TEST(ZmqTransport, RoutingIdsAreDifferentAndFit) {
  const std::string one = MakeRoutingId("worker");
  EXPECT_NE(one, MakeRoutingId("worker"));
  EXPECT_LE(one.size(), 255u);
  EXPECT_TRUE(one.starts_with("worker-"));
}

}  // namespace
}  // namespace warpsmith
