#include "layout_vectors.h"

#include <gtest/gtest.h>

#include <fstream>

namespace tilus::testing {

nlohmann::json Vectors(const std::string& name) {
  const std::string path = std::string(TILUS_SOURCE_DIR) + "/tests/data/layouts/" + name + ".json";
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << "cannot read " << path;
  return file.good() ? nlohmann::json::parse(file) : nlohmann::json();
}

}  // namespace tilus::testing
