#pragma once

#include <vector>

#include "harness.hpp"

// The rows, one function for each *_bench.cpp. What is long lived in them (ttl, patience, claim window) outlives any run,
// so that nothing ends by time; every row checks afterwards that nothing did.

namespace airlock::bench {

void add_memory_rows(std::vector<Row>& rows);
void add_rates_rows(std::vector<Row>& rows);
void add_line_rows(std::vector<Row>& rows);
void add_holders_rows(std::vector<Row>& rows);
void add_gates_rows(std::vector<Row>& rows);
void add_reads_rows(std::vector<Row>& rows);
void add_waiting_rows(std::vector<Row>& rows);
void add_keeper_rows(std::vector<Row>& rows);
void add_shm_rows(std::vector<Row>& rows);
void add_redis_rows(std::vector<Row>& rows);
void add_growth_rows(std::vector<Row>& rows);
void add_command_rows(std::vector<Row>& rows);

}  // namespace airlock::bench
