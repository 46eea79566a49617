#include "wire/serialize.h"

#include "base/diagnostic.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/message_lite.h"

namespace tilus::wire {
namespace {
// The scan has bounded the nesting already; protobuf's own limit counts every message.
constexpr int kRecursionLimit = 1 << 20;
}  // namespace

absl::Status ParseMessage(absl::string_view bytes, google::protobuf::MessageLite* message) {
  google::protobuf::io::CodedInputStream input(reinterpret_cast<const uint8_t*>(bytes.data()),
                                               static_cast<int>(bytes.size()));
  input.SetRecursionLimit(kRecursionLimit);
  if (!message->ParseFromCodedStream(&input) || !input.ConsumedEntireMessage()) {
    return MakeError(DiagId::kWireMalformed, "the bytes are not a well-formed message",
                     "the bytes are truncated or not a serialized tilus program");
  }
  return absl::OkStatus();
}

std::string SerializeMessage(const google::protobuf::MessageLite& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream output(&stream);
    output.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&output);
  }
  return bytes;
}

}  // namespace tilus::wire
