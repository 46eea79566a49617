// Compares the versions that the package files state with the library's own.
#include <tilus.h>

#include <cstdio>
#include <string>

int main(int argc, char **argv) {
  const std::uint32_t version = tilus_version();
  const std::string text = std::to_string(version >> 16) + "." +
                           std::to_string(version >> 8 & 255) + "." + std::to_string(version & 255);
  if (argc == 2 && text == argv[1] && text == PACKAGE_VERSION) return 0;
  std::printf("library %s, CMake %s, pkg-config %s\n", text.c_str(), PACKAGE_VERSION,
              argc == 2 ? argv[1] : "?");
  return 1;
}
