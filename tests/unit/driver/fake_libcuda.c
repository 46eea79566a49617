/* A libcuda for tests: device memory is host memory, kernels do nothing, and the environment makes
 * any call fail.
 *
 *   FAKE_CUDA_FAIL="cuMemAlloc_v2=2,cuLaunchKernel=701"   the result of each named call
 *   FAKE_CUDA_DEVICES="3"                                 the number of devices, default 2
 *
 * The fake_* functions tell the test what happened. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kStackDepth = 16, kContexts = 8, kSuccess = 0, kInvalidValue = 1, kInvalidContext = 201 };

static int primary_retained[kContexts];
static char contexts[2 * kContexts]; /* handles: &contexts[device] is the primary context of it */
static _Thread_local void* stack[kStackDepth];
static _Thread_local int depth;
static int pushes, live_allocations, live_modules, live_objects, capturing;
static unsigned last_launch[8]; /* grid, block, shared bytes, first argument as u32 */
static void* last_stream;
static long launches;

static int scripted(const char* name) {
  const char* script = getenv("FAKE_CUDA_FAIL");
  const size_t length = strlen(name);
  while (script != NULL && *script != '\0') {
    if (strncmp(script, name, length) == 0 && script[length] == '=')
      return atoi(script + length + 1);
    script = strchr(script, ',');
    if (script != NULL) ++script;
  }
  return kSuccess;
}
#define SCRIPTED()                       \
  do {                                   \
    const int code = scripted(__func__); \
    if (code != kSuccess) return code;   \
  } while (0)
/* What needs a current context fails without one, as in CUDA. */
#define SCRIPTED_IN_CONTEXT()               \
  do {                                      \
    SCRIPTED();                             \
    if (depth == 0) return kInvalidContext; \
  } while (0)

static int device_count(void) {
  const char* text = getenv("FAKE_CUDA_DEVICES");
  return text != NULL ? atoi(text) : 2;
}

int fake_pushes(void) { return __atomic_load_n(&pushes, __ATOMIC_SEQ_CST); }
int fake_depth(void) { return depth; }
int fake_retained(int device) {
  return __atomic_load_n(&primary_retained[device], __ATOMIC_SEQ_CST);
}
int fake_live_allocations(void) { return live_allocations; }
int fake_live_modules(void) { return live_modules; }
int fake_live_objects(void) { return live_objects; }
long fake_launches(void) { return launches; }
unsigned fake_last_launch(int i) { return last_launch[i]; }
void* fake_last_stream(void) { return last_stream; }
void* fake_context(int i) { return &contexts[i]; }

int cuInit(unsigned flags) {
  SCRIPTED();
  return flags == 0 ? kSuccess : kInvalidValue;
}
int cuDriverGetVersion(int* version) {
  SCRIPTED();
  *version = 12040;
  return kSuccess;
}
int cuGetErrorName(int code, const char** name) {
  SCRIPTED();
  switch (code) {
    case 2:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      return kSuccess;
    case 700:
      *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
      return kSuccess;
    case 716:
      *name = "CUDA_ERROR_MISALIGNED_ADDRESS";
      return kSuccess;
    case 999:
      *name = "CUDA_ERROR_UNKNOWN";
      return kSuccess;
    default:
      return kInvalidValue;
  }
}
int cuGetErrorString(int code, const char** text) {
  SCRIPTED();
  if (code == 716) {
    *text = "misaligned address";
    return kSuccess;
  }
  return kInvalidValue;
}

int cuDeviceGetCount(int* count) {
  SCRIPTED();
  *count = device_count();
  return kSuccess;
}
int cuDeviceGet(int* device, int ordinal) {
  SCRIPTED();
  *device = ordinal;
  return kSuccess;
}
int cuDeviceGetName(char* name, int capacity, int device) {
  SCRIPTED();
  snprintf(name, (size_t)capacity, "Fake GPU %d", device);
  return kSuccess;
}
/* The value tells the attribute and the device, so that a test sees a mistaken row. */
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  SCRIPTED();
  *value = 1000 * attribute + device;
  return kSuccess;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  SCRIPTED();
  *bytes = (size_t)1 << (36 + device);
  return kSuccess;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  SCRIPTED();
  __atomic_fetch_add(&primary_retained[device], 1, __ATOMIC_SEQ_CST);
  *context = &contexts[device];
  return kSuccess;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  __atomic_fetch_sub(&primary_retained[device], 1, __ATOMIC_SEQ_CST);
  return kSuccess;
}
int cuCtxGetCurrent(void** context) {
  SCRIPTED();
  *context = depth > 0 ? stack[depth - 1] : NULL;
  return kSuccess;
}
int cuCtxPushCurrent_v2(void* context) {
  SCRIPTED();
  if ((char*)context < contexts || (char*)context >= contexts + sizeof(contexts)) {
    return kInvalidContext;
  }
  stack[depth++] = context;
  __atomic_fetch_add(&pushes, 1, __ATOMIC_SEQ_CST);
  return kSuccess;
}
int cuCtxPopCurrent_v2(void** context) {
  if (depth == 0) return kInvalidContext;
  *context = stack[--depth];
  return kSuccess;
}
int cuCtxGetDevice(int* device) {
  SCRIPTED_IN_CONTEXT();
  *device = (int)((char*)stack[depth - 1] - contexts) % kContexts;
  return kSuccess;
}

/* PTX with the word "bad" is refused with a log; options are in the order that the library uses. */
int cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options,
                       void** values) {
  SCRIPTED_IN_CONTEXT();
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == 3) strcpy(values[i], "ptxas info : fine\n");
    if (options[i] == 5 && strstr(image, "bad") != NULL) {
      strcpy(values[i], "ptxas error : line 3, no such thing\n");
    }
  }
  if (count > 0 && strstr(image, "bad") != NULL) return 218;
  *module = malloc(1);
  ++live_modules;
  return kSuccess;
}
int cuModuleUnload(void* module) {
  if (depth == 0) return kInvalidContext;
  free(module);
  --live_modules;
  return kSuccess;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  SCRIPTED_IN_CONTEXT();
  (void)module;
  if (strcmp(name, "kernel") != 0) return 500;
  *function = (void*)"function";
  return kSuccess;
}
int cuFuncGetAttribute(int* value, int attribute, void* function) {
  SCRIPTED_IN_CONTEXT();
  (void)function;
  *value = 100 + attribute;
  return kSuccess;
}
int cuFuncSetAttribute(void* function, int attribute, int value) {
  SCRIPTED_IN_CONTEXT();
  (void)function;
  return attribute == 8 && value <= 232448 ? kSuccess : kInvalidValue;
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void* stream, void** arguments, void** extra) {
  SCRIPTED_IN_CONTEXT();
  (void)function;
  if (extra != NULL || bx > 1024) return kInvalidValue;
  const unsigned launch[7] = {gx, gy, gz, bx, by, bz, shared};
  memcpy(last_launch, launch, sizeof(launch));
  if (arguments != NULL) memcpy(&last_launch[7], arguments[0], sizeof(unsigned));
  last_stream = stream;
  ++launches;
  return kSuccess;
}

int cuMemGetInfo_v2(size_t* available, size_t* total) {
  SCRIPTED_IN_CONTEXT();
  *available = 1000;
  *total = 2000;
  return kSuccess;
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  SCRIPTED_IN_CONTEXT();
  if (bytes == 0) return kInvalidValue;
  *address = (uint64_t)(uintptr_t)malloc(bytes);
  ++live_allocations;
  return kSuccess;
}
int cuMemFree_v2(uint64_t address) {
  SCRIPTED_IN_CONTEXT();
  free((void*)(uintptr_t)address);
  --live_allocations;
  return kSuccess;
}
int cuMemcpyHtoDAsync_v2(uint64_t target, const void* source, size_t bytes, void* stream) {
  SCRIPTED_IN_CONTEXT();
  memcpy((void*)(uintptr_t)target, source, bytes);
  last_stream = stream;
  return kSuccess;
}
int cuMemcpyDtoHAsync_v2(void* target, uint64_t source, size_t bytes, void* stream) {
  SCRIPTED_IN_CONTEXT();
  memcpy(target, (const void*)(uintptr_t)source, bytes);
  last_stream = stream;
  return kSuccess;
}
int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes, void* stream) {
  SCRIPTED_IN_CONTEXT();
  memcpy((void*)(uintptr_t)target, (const void*)(uintptr_t)source, bytes);
  last_stream = stream;
  return kSuccess;
}
int cuMemsetD8Async(uint64_t target, unsigned char value, size_t bytes, void* stream) {
  SCRIPTED_IN_CONTEXT();
  memset((void*)(uintptr_t)target, value, bytes);
  last_stream = stream;
  return kSuccess;
}

static int make(void** object) {
  *object = malloc(1);
  ++live_objects;
  return kSuccess;
}
static int unmake(void* object) {
  free(object);
  --live_objects;
  return kSuccess;
}
int cuStreamCreate(void** stream, unsigned flags) {
  SCRIPTED_IN_CONTEXT();
  return flags == 1 ? make(stream) : kInvalidValue;
}
int cuStreamDestroy_v2(void* stream) {
  SCRIPTED_IN_CONTEXT();
  return unmake(stream);
}
int cuStreamSynchronize(void* stream) {
  SCRIPTED_IN_CONTEXT();
  last_stream = stream;
  return kSuccess;
}
int cuCtxSynchronize(void) {
  SCRIPTED_IN_CONTEXT();
  return kSuccess;
}
int cuEventCreate(void** event, unsigned flags) {
  SCRIPTED_IN_CONTEXT();
  return flags == 0 ? make(event) : kInvalidValue;
}
int cuEventDestroy_v2(void* event) {
  SCRIPTED_IN_CONTEXT();
  return unmake(event);
}
int cuEventRecord(void* event, void* stream) {
  SCRIPTED_IN_CONTEXT();
  last_stream = stream;
  return event != NULL ? kSuccess : kInvalidValue;
}
int cuEventSynchronize(void* event) {
  SCRIPTED_IN_CONTEXT();
  return event != NULL ? kSuccess : kInvalidValue;
}
int cuEventElapsedTime(float* milliseconds, void* start, void* stop) {
  SCRIPTED_IN_CONTEXT();
  *milliseconds = start != stop ? 1.5f : 0.0f;
  return kSuccess;
}

#ifndef FAKE_WITHOUT_GRAPHS
int cuStreamBeginCapture_v2(void* stream, int mode) {
  SCRIPTED_IN_CONTEXT();
  if (stream == NULL || mode != 1) return kInvalidValue;
  capturing = 1;
  return kSuccess;
}
int cuStreamEndCapture(void* stream, void** graph) {
  SCRIPTED_IN_CONTEXT();
  if (stream == NULL || !capturing) return kInvalidValue;
  capturing = 0;
  return make(graph);
}
int cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags) {
  SCRIPTED_IN_CONTEXT();
  return graph != NULL && flags == 0 ? make(exec) : kInvalidValue;
}
int cuGraphLaunch(void* exec, void* stream) {
  SCRIPTED_IN_CONTEXT();
  last_stream = stream;
  ++launches;
  return exec != NULL ? kSuccess : kInvalidValue;
}
int cuGraphDestroy(void* graph) {
  SCRIPTED_IN_CONTEXT();
  return unmake(graph);
}
int cuGraphExecDestroy(void* exec) {
  SCRIPTED_IN_CONTEXT();
  return unmake(exec);
}
#endif
