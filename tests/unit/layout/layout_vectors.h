// The acceptance vectors, made by an independent model.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tilus::testing {

// tests/data/layouts/<name>.json; fails the test and gives null when it cannot be read.
nlohmann::json Vectors(const std::string& name);

}  // namespace tilus::testing
