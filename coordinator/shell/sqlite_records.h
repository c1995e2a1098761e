// Records into tables, and tables into the snapshot of a restart. The caller holds the transaction.
#pragma once

#include <vector>

#include "coordinator/core/record.h"
#include "coordinator/shell/sqlite.h"

namespace warpsmith {

Status WriteRecords(Database& database, const std::vector<Record>& records);

// Everything but the epoch and the cluster's name.
Result<Snapshot> ReadSnapshot(Database& database);

}  // namespace warpsmith
