// What clients and the publisher read from the tables.
#pragma once

#include <vector>

#include "coordinator/shell/job_store.h"
#include "coordinator/shell/sqlite.h"

namespace warpsmith {

Result<ClientReply> AnswerQuery(Database& database, const QueryStore& query);
Result<std::vector<StreamEntry>> ReadStream(Database& database, RunId run, uint64_t from,
                                            size_t limit);

}  // namespace warpsmith
