// Streams, events and captured graphs: ordering, timing and replay.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "driver/context.h"

namespace tilus::driver {

// A stream that does not wait for the legacy default stream.
absl::StatusOr<Stream> StreamCreate(const Context& context);
absl::Status StreamDestroy(const Context& context, Stream stream);
// Waits for all work on `stream` and reports its faults (kIllegalAddress, kMisalignedAddress,
// kKernelFault); after one the context is lost and every later call fails too.
absl::Status StreamSynchronize(const Context& context, Stream stream);

// The same for all work on every stream of the context.
absl::Status ContextSynchronize(const Context& context);

absl::StatusOr<Event> EventCreate(const Context& context);
absl::Status EventDestroy(const Context& context, Event event);
absl::Status EventRecord(const Context& context, Event event, Stream stream);
absl::Status EventSynchronize(const Context& context, Event event);
// Milliseconds on the device between two recorded events; waits for `stop`.
absl::StatusOr<float> ElapsedMs(const Context& context, Event start, Event stop);

// Between begin and end, work enqueued on `stream` (not the default stream) is recorded rather than
// run. Nothing that waits may be called for that stream meanwhile.
absl::Status StreamBeginCapture(const Context& context, Stream stream);
absl::StatusOr<Graph> StreamEndCapture(const Context& context, Stream stream);
absl::StatusOr<GraphExec> GraphInstantiate(const Context& context, Graph graph);
absl::Status GraphLaunch(const Context& context, GraphExec exec, Stream stream);
absl::Status GraphDestroy(const Context& context, Graph graph);
absl::Status GraphExecDestroy(const Context& context, GraphExec exec);

}  // namespace tilus::driver
