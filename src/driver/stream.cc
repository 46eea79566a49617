#include "driver/stream.h"

#include "base/status_macros.h"

namespace tilus::driver {
namespace {

constexpr unsigned kNonBlocking = 1;    // CU_STREAM_NON_BLOCKING
constexpr int kCaptureThreadLocal = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

}  // namespace

absl::StatusOr<Stream> StreamCreate(const Context& context) {
  Stream stream = nullptr;
  TILUS_RETURN_IF_ERROR(TILUS_CUDA_CALL_IN(context, cuStreamCreate, &stream, kNonBlocking));
  return stream;
}

absl::Status StreamDestroy(const Context& context, Stream stream) {
  return TILUS_CUDA_CALL_IN(context, cuStreamDestroy_v2, stream);
}

absl::Status StreamSynchronize(const Context& context, Stream stream) {
  return TILUS_CUDA_CALL_IN(context, cuStreamSynchronize, stream);
}

absl::Status ContextSynchronize(const Context& context) {
  return CallCudaIn(context, &CudaApi::cuCtxSynchronize, "cuCtxSynchronize");
}

absl::StatusOr<Event> EventCreate(const Context& context) {
  Event event = nullptr;
  TILUS_RETURN_IF_ERROR(TILUS_CUDA_CALL_IN(context, cuEventCreate, &event, 0u));
  return event;
}

absl::Status EventDestroy(const Context& context, Event event) {
  return TILUS_CUDA_CALL_IN(context, cuEventDestroy_v2, event);
}

absl::Status EventRecord(const Context& context, Event event, Stream stream) {
  return TILUS_CUDA_CALL_IN(context, cuEventRecord, event, stream);
}

absl::Status EventSynchronize(const Context& context, Event event) {
  return TILUS_CUDA_CALL_IN(context, cuEventSynchronize, event);
}

absl::StatusOr<float> ElapsedMs(const Context& context, Event start, Event stop) {
  ScopedCurrent current(context);
  TILUS_RETURN_IF_ERROR(current.status());
  TILUS_RETURN_IF_ERROR(TILUS_CUDA_CALL(current.api(), cuEventSynchronize, stop));
  float milliseconds = 0;
  TILUS_RETURN_IF_ERROR(
      TILUS_CUDA_CALL(current.api(), cuEventElapsedTime, &milliseconds, start, stop));
  return milliseconds;
}

absl::Status StreamBeginCapture(const Context& context, Stream stream) {
  return TILUS_CUDA_CALL_IN(context, cuStreamBeginCapture_v2, stream, kCaptureThreadLocal);
}

absl::StatusOr<Graph> StreamEndCapture(const Context& context, Stream stream) {
  Graph graph = nullptr;
  TILUS_RETURN_IF_ERROR(TILUS_CUDA_CALL_IN(context, cuStreamEndCapture, stream, &graph));
  return graph;
}

absl::StatusOr<GraphExec> GraphInstantiate(const Context& context, Graph graph) {
  GraphExec exec = nullptr;
  TILUS_RETURN_IF_ERROR(
      TILUS_CUDA_CALL_IN(context, cuGraphInstantiateWithFlags, &exec, graph, 0ull));
  return exec;
}

absl::Status GraphLaunch(const Context& context, GraphExec exec, Stream stream) {
  return TILUS_CUDA_CALL_IN(context, cuGraphLaunch, exec, stream);
}

absl::Status GraphDestroy(const Context& context, Graph graph) {
  return TILUS_CUDA_CALL_IN(context, cuGraphDestroy, graph);
}

absl::Status GraphExecDestroy(const Context& context, GraphExec exec) {
  return TILUS_CUDA_CALL_IN(context, cuGraphExecDestroy, exec);
}

}  // namespace tilus::driver
