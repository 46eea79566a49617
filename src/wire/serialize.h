// Messages to bytes and back, with the settings that all of this folder shares.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace google::protobuf {
class MessageLite;
}

namespace tilus::wire {

// Parses bytes that Scan() has passed.
absl::Status ParseMessage(absl::string_view bytes, google::protobuf::MessageLite* message);
// Deterministic bytes.
std::string SerializeMessage(const google::protobuf::MessageLite& message);

}  // namespace tilus::wire
