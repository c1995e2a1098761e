#include "learner/shell/publisher.h"

#include <gtest/gtest.h>

#include "common/net/zmq_transport.h"
#include "common/runtime/files.h"
#include "common/runtime/sha256.h"
#include "common/wire/codec.h"

namespace warpsmith {
namespace {

class PublisherTest : public testing::Test {
 protected:
  PublisherTest() {
    for (size_t i = 0; i < 2'500'000; ++i) weights_ += static_cast<char>(i * 31 >> 3);
    EXPECT_TRUE(WriteFileAtomically(Path(), weights_));
    table_.Put(RunId(1), {2, 3}, Path());
  }
  std::filesystem::path Path() { return folder_.path() / "2.3.safetensors"; }
  WeightsReply Answer(ChunkRequest request) { return AnswerChunkRequest(table_, request); }

  TempDirectory folder_ = *TempDirectory::Make("publisher-test");
  WeightsTable table_;
  std::string weights_;
};

TEST_F(PublisherTest, WhatIsNotKeptIsGone) {
  const auto is_gone = [&](RunId run, PolicyVersion version) {
    return std::holds_alternative<ChunkGone>(Answer({run, version, 0, 100}));
  };
  EXPECT_TRUE(is_gone(RunId(2), {2, 3}));
  EXPECT_TRUE(is_gone(RunId(1), {2, 4}));
  EXPECT_FALSE(is_gone(RunId(1), {2, 3}));
  std::filesystem::remove(Path());
  EXPECT_TRUE(is_gone(RunId(1), {2, 3}));
}

TEST_F(PublisherTest, AnOffsetBeyondTheEndIsAnEmptyChunkAndAHugeOneHarmless) {
  EXPECT_TRUE(std::get<Chunk>(Answer({RunId(1), {2, 3}, weights_.size(), 100})).bytes.empty());
  const auto huge = Answer({RunId(1), {2, 3}, ~uint64_t{0}, ~uint32_t{0}});
  EXPECT_TRUE(std::holds_alternative<ChunkGone>(huge));
}

TEST_F(PublisherTest, WorkersPullWholeWeightsInChunksThatCheck) {
  auto router = RouterTransport::Bind("tcp://127.0.0.1:*");
  ASSERT_TRUE(router) << router.error().message;
  const std::string endpoint = (*router)->endpoint();
  Publisher publisher(std::move(*router), table_);
  auto worker = *DealerTransport::Connect(endpoint, "w1");

  std::string pulled;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (pulled.size() < weights_.size() && std::chrono::steady_clock::now() < deadline) {
    const ChunkRequest request{RunId(1), {2, 3}, pulled.size(), kChunkBytes};
    (void)worker->Send({"", Encode(WeightsRequest(request))});
    const auto envelope = worker->Receive(std::chrono::milliseconds(200));
    if (!envelope) continue;  // not connected yet
    const auto reply = Decode<WeightsReply>(envelope->bytes);
    ASSERT_TRUE(reply) << reply.error().message;
    const auto& chunk = std::get<Chunk>(*reply);
    ASSERT_EQ(chunk.sha256, Sha256Hex(chunk.bytes));
    if (chunk.offset == pulled.size()) pulled += chunk.bytes;
  }
  EXPECT_EQ(pulled, weights_);
}

TEST_F(PublisherTest, RubbishDisturbsNobody) {
  auto router = RouterTransport::Bind("tcp://127.0.0.1:*");
  const std::string endpoint = (*router)->endpoint();
  Publisher publisher(std::move(*router), table_);
  auto worker = *DealerTransport::Connect(endpoint, "w1");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!worker->Send({"", "rubbish"}) && std::chrono::steady_clock::now() < deadline) {
  }
  ASSERT_TRUE(worker->Send({"", Encode(WeightsRequest(ChunkRequest{RunId(9), {}, 0, 1}))}));
  const auto envelope = worker->Receive(std::chrono::seconds(60));
  ASSERT_TRUE(envelope);
  EXPECT_TRUE(std::holds_alternative<ChunkGone>(*Decode<WeightsReply>(envelope->bytes)));
}

}  // namespace
}  // namespace warpsmith
