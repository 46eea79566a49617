// Whole files, in and out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "result.h"

namespace quickstart {

// An error names the file and says what the system said.
Result<std::vector<uint8_t>> ReadFile(const std::string& path);

// Makes the folder where it is missing. The file appears whole or not at all.
Status WriteFile(const std::string& path, std::span<const uint8_t> bytes);

}  // namespace quickstart
