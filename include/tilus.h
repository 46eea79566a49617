// tilus.h: tile-level GPU programs, compiled and run behind a C ABI. Version 0.1.0.
//
// This header is the manual of the library and its only interface: C99 and C++17, no dependency.
// Link with -ltilus. Read it from top to bottom; the first three sections are enough to compile
// and run a kernel.
//
//    1  Introduction           5  Context                 9  Devices and memory
//    2  Rules                  6  Programs               10  Executables, kernels
//    3  Version, text, bytes   7  Compilation            11  Launch
//    4  Errors                 8  Modules
//
// It includes tilus/layout.h, which goes on under the same rules:
//
//   12  Types   13  Layouts   14  Views, drawings, shared memory   15  Weights
//
// ==== 1  Introduction ===========================================================================
//
// A program describes what one thread block does with whole tiles of tensors; `tilus_compile`
// turns it into PTX for NVIDIA GPUs. Compiling needs no GPU, no driver and no CUDA toolkit. A
// compiled module loads on a GPU, or on the host device, which runs the program's meaning on the
// CPU through the same calls.
//
//     text or protobuf --compile--> module --load--> executable --kernel--> launch
//
// The smallest complete use:
//
// ```c
// #include <stdio.h>
// #include <tilus.h>
//
// static const char text[] =
//     "program add_one(n: i32, x: *f32, y: *f32) warps 4 {\n"
//     "  grid ceil_div(n, 128)\n"
//     "  b = block_indices\n"
//     "  gx = global_view x : f32[n]\n"
//     "  gy = global_view y : f32[n]\n"
//     "  a = load_global gx[b*128] : f32[128] spatial(128)\n"
//     "  c = add a, 1.0\n"
//     "  store_global c -> gy[b*128]\n"
//     "}\n";
//
// static int fail(tilus_error *error) {
//   fprintf(stderr, "%s\n", tilus_error_message(error));
//   tilus_error_destroy(error);
//   return 1;
// }
//
// int main(void) {
//   tilus_buffer prog_buf = {text, sizeof text - 1};
//   tilus_context *ctx = NULL;
//   tilus_module *module = NULL;
//   tilus_blob *ptx = NULL;
//   tilus_error *error = tilus_context_create(NULL, &ctx);
//   if (error == NULL) error = tilus_compile(ctx, prog_buf, &module);
//   if (error == NULL) {
//     error = tilus_module_image(module, TILUS_IMAGE_PTX, tilus_string_of(""), &ptx);
//   }
//   if (error == NULL) printf("%s", (const char *)tilus_blob_data(ptx));
//   tilus_blob_destroy(ptx);
//   tilus_module_destroy(module);
//   tilus_context_destroy(ctx);
//   return error == NULL ? 0 : fail(error);
// }
// ```
//
// To run it, load the module on a device and launch:
//
// ```c
// #include <stdio.h>
// #include <tilus.h>
//
// int main(void) {
//   static const char text[] =
//       "program twice(n: i32, x: *f32) warps 1 {\n"
//       "  grid ceil_div(n, 32)\n"
//       "  b = block_indices\n"
//       "  gx = global_view x : f32[n]\n"
//       "  a = load_global gx[b*32] : f32[32] spatial(32)\n"
//       "  c = mul a, 2.0\n"
//       "  store_global c -> gx[b*32]\n"
//       "}\n";
//   tilus_buffer program = {text, sizeof text - 1};
//   tilus_argument args[2] = {
//       {sizeof(tilus_argument), TILUS_ARGUMENT_INTEGER, 0, 100, 0.0, NULL, 0},
//       {sizeof(tilus_argument), TILUS_ARGUMENT_POINTER, TILUS_TYPE_F32, 0, 0.0, NULL, 400}};
//   float x[100] = {0};
//   tilus_context *ctx = NULL;
//   tilus_module *module = NULL;
//   tilus_device *device = NULL;
//   tilus_memory *memory = NULL;
//   tilus_executable *executable = NULL;
//   tilus_kernel *kernel = NULL;
//   x[99] = 21.0f;
//   tilus_error *e = tilus_context_create(NULL, &ctx);
//   if (!e) e = tilus_compile(ctx, program, &module);
//   if (!e) e = tilus_device_open(ctx, TILUS_DEVICE_HOST, 0, &device);
//   if (!e) e = tilus_module_load(module, device, &executable);
//   if (!e) e = tilus_executable_kernel(executable, tilus_string_of("twice"), &kernel);
//   if (!e) e = tilus_memory_create(device, sizeof x, &memory);
//   args[1].pointer = tilus_memory_address(memory);
//   if (!e) e = tilus_device_upload(device, args[1].pointer, x, sizeof x, NULL);
//   if (!e) e = tilus_kernel_launch(kernel, args, 2, NULL);
//   if (!e) e = tilus_device_download(device, x, args[1].pointer, sizeof x, NULL);
//   if (e) fprintf(stderr, "%s\n", tilus_error_message(e));
//   int status = e != NULL || x[99] != 42.0f;
//   tilus_error_destroy(e);
//   tilus_context_destroy(ctx); /* in any order */
//   tilus_memory_destroy(memory);
//   tilus_kernel_destroy(kernel);
//   tilus_executable_destroy(executable);
//   tilus_device_destroy(device);
//   tilus_module_destroy(module);
//   return status;
// }
// ```
//
// ==== 2  Rules ==================================================================================
//
// R1  Handles. Objects are opaque and reference-counted inside: a kernel keeps its executable, its
//     device and its context alive. Each handle that a function gives is destroyed once by its
//     tilus_<object>_destroy, which accepts NULL, never fails, never waits, may be called from any
//     thread, and in any order. There is no global initialisation or shutdown, and no thread is
//     started by loading the library.
// R2  Errors. A function that can fail returns tilus_error *: NULL is success, anything else is an
//     object that the caller reads and destroys. On failure no output is touched. There is no "last
//     error", no output on stderr; no exception, abort, exit or signal leaves the library.
// R3  Inputs. Bytes, text and arrays are copied or used up before a call returns. Text is UTF-8.
// R4  Outputs. What a function returns by value or pointer inside a handle is valid until that
//     handle is destroyed. Text given out is NUL-terminated as well as counted.
// R5  Threads. "any thread" below: may be called from many threads at once, on the same handles.
//     "one thread": nobody else uses the first handle during the call (only the setters of
//     option handles). After fork, a child may go on using handles, except those of CUDA devices.
// R6  Callbacks. They run on the thread that made the call, or on any thread where said so; their
//     arguments are valid during the call only. They must not throw, unwind or longjmp, and must
//     not destroy what the running call uses. One that returns tilus_code stops the operation by
//     any value but TILUS_OK, and the operation fails with that code; TILUS_HOST_EXCEPTION is
//     reserved for bindings, which then rethrow what they have kept. `user` is handed back as
//     given; when the library needs it no more it calls `release` (may be NULL) once, on any
//     thread. When the registering function fails, `user` stays with the caller and `release` is
//     not called.
// R7  Structures. Those with `struct_size` may grow at their end: set struct_size to sizeof before
//     every call, for outputs too. A size smaller than that of version 0.1 is refused. In an array
//     every element has the same struct_size. Enumerations are 32 bits wide, and may gain values.
//     Nothing published changes its size, order or value.
// R8  Untrusted programs are safe: whatever the bytes, the answer is a module or an error, in
//     bounded time and memory; the bounds are tilus_limit. A saved module is machine code: restore
//     only what you trust.
// R9  The same input gives the same PTX, whatever the thread count, machine or environment.
//
// The brackets that end each comment say: version of first appearance; who owns what is given out;
// the thread rule; what NULL does ("error": INVALID_ARGUMENT, T0005); and the codes that a call may
// fail with. Every function that can fail may also fail with INVALID_ARGUMENT for an argument that
// breaks its description, RESOURCE_EXHAUSTED (T0002) when memory runs out and INTERNAL (T0001) for
// a fault of the library; those are not repeated.
#ifndef TILUS_H_
#define TILUS_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TILUS_API __attribute__((visibility("default")))
#else
#define TILUS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ==== 3  Version, text, bytes ===================================================================

/// The version of this header: major << 16 | minor << 8 | patch. Under one major version nothing is
/// removed or changed: a program built against 0.x runs with any later 0.y.
#define TILUS_VERSION 0x000100

/// Bytes that the caller holds: inputs of calls. Frozen, never grows. {NULL, 0} is empty.
typedef struct tilus_buffer {
  const void *data;
  size_t size;
} tilus_buffer;

/// UTF-8 text and its length without the terminating NUL. Frozen. As input it need not be
/// terminated; as output it always is, and `data` is never NULL.
typedef struct tilus_string {
  const char *data;
  size_t size;
} tilus_string;

/// A list of integers inside a handle. Frozen.
typedef struct tilus_integers {
  const int64_t *data;
  size_t size;
} tilus_integers;

/// An element type of tensors as a number: section 12 says how it is made up.
typedef uint32_t tilus_type;

/// Bytes or text that the library made; whoever got it destroys it.
typedef struct tilus_blob tilus_blob;

/// The version of the library that is loaded, as TILUS_VERSION. This function is stable for ever.
/// [0.1 | - | any thread | - | never fails]
TILUS_API uint32_t tilus_version(void);

/// One line for bug reports: version, compiler, build options.
/// [0.1 | static storage | any thread | - | never fails]
TILUS_API tilus_string tilus_build_info(void);

/// The tilus_string of a NUL-terminated text; NULL gives the empty text.
/// [0.1 | points to `text` | any thread | NULL: empty | never fails]
TILUS_API tilus_string tilus_string_of(const char *text);

/// The bytes of a blob; a NUL byte follows them.
/// [0.1 | valid until the blob's destroy | any thread | NULL: "" | never fails]
TILUS_API const void *tilus_blob_data(const tilus_blob *blob);

/// The number of bytes, without the NUL. [0.1 | - | any thread | NULL: 0 | never fails]
TILUS_API size_t tilus_blob_size(const tilus_blob *blob);

/// [0.1 | frees the blob | any thread | NULL: nothing | never fails]
TILUS_API void tilus_blob_destroy(tilus_blob *blob);

// ==== 4  Errors =================================================================================
//
// An error has a code to branch on, a message to show, and diagnostics: all faults of a program,
// each with a stable id (T0230), the path of the instruction (matmul.body[3].for.body[1]), the
// place in the text, and a hint.
//
// ```c
// #include <stdio.h>
// #include <tilus.h>
//
// int main(void) {
//   tilus_layout *layout = NULL;
//   tilus_error *error = tilus_layout_parse(tilus_string_of("local(2).spatal(8)"), &layout);
//   if (tilus_error_code(error) != TILUS_INVALID_ARGUMENT) return 1;
//   for (size_t i = 0; i < tilus_error_diagnostic_count(error); ++i) {
//     tilus_diagnostic d = {0};
//     d.struct_size = sizeof d;
//     tilus_error_diagnostic(error, i, &d);
//     printf("%u:%u: %s: %s\n", d.line, d.column, d.id.data, d.message.data);
//     if (d.hint.size != 0) printf("  help: %s\n", d.hint.data);
//   }
//   tilus_error_destroy(error);
//   return 0;
// }
// ```

/// What kind of failure it is. Values are frozen.
typedef enum tilus_code {
  TILUS_OK = 0,
  TILUS_CANCELLED = 1,            ///< by a cancellation, or by a callback's answer
  TILUS_UNKNOWN = 2,              ///< of a foreign library, without more detail
  TILUS_INVALID_ARGUMENT = 3,     ///< the input is at fault: a program, text, value or NULL
  TILUS_DEADLINE_EXCEEDED = 4,
  TILUS_NOT_FOUND = 5,            ///< no kernel, target, device or file of that name
  TILUS_ALREADY_EXISTS = 6,
  TILUS_PERMISSION_DENIED = 7,    ///< a file or device may not be used
  TILUS_RESOURCE_EXHAUSTED = 8,   ///< a limit, registers, shared memory, or memory
  TILUS_FAILED_PRECONDITION = 9,  ///< not possible in this state or on this device
  TILUS_ABORTED = 10,
  TILUS_OUT_OF_RANGE = 11,        ///< an index or size outside what exists
  TILUS_UNIMPLEMENTED = 12,       ///< well-formed, but this version cannot do it
  TILUS_INTERNAL = 13,            ///< a fault of the library; please report it
  TILUS_UNAVAILABLE = 14,         ///< driver, device or assembler is not there
  TILUS_DATA_LOSS = 15,           ///< a blob or saved module is corrupt or truncated
  TILUS_UNAUTHENTICATED = 16,
  TILUS_INCOMPATIBLE = 17,        ///< made for a newer version, another target or another schema
  TILUS_HOST_EXCEPTION = 18,      ///< reserved for callbacks: the host language raised
  TILUS_CODE_FORCE32 = 0x7fffffff
} tilus_code;

typedef enum tilus_severity {
  TILUS_SEVERITY_ERROR = 0,
  TILUS_SEVERITY_WARNING = 1,
  TILUS_SEVERITY_NOTE = 2,
  TILUS_SEVERITY_FORCE32 = 0x7fffffff
} tilus_severity;

/// One finding. Texts are empty, numbers 0, where not known.
typedef struct tilus_diagnostic {
  size_t struct_size;
  tilus_severity severity;
  uint32_t line;         ///< counts from 1
  uint32_t column;       ///< counts from 1, in bytes
  uint32_t length;       ///< bytes of the text at fault
  tilus_string id;       ///< "T0230": stable, never reused
  tilus_string path;     ///< "matmul.body[3].for.body[1]"
  tilus_string message;  ///< one sentence
  tilus_string hint;     ///< what to do
  tilus_string excerpt;  ///< the line or instruction
  tilus_string source;   ///< name of the file or text, as the caller gave it
} tilus_diagnostic;

typedef struct tilus_error tilus_error;

/// [0.1 | - | any thread | NULL: TILUS_OK | never fails]
TILUS_API tilus_code tilus_error_code(const tilus_error *error);

/// One sentence: that of the first diagnostic.
/// [0.1 | valid until the error's destroy | any thread | NULL: "" | never fails]
TILUS_API const char *tilus_error_message(const tilus_error *error);

/// All diagnostics as text for a terminal: place, id, message, excerpt with caret, path, help.
/// [0.1 | valid until the error's destroy | any thread | NULL: "" | never fails]
TILUS_API tilus_string tilus_error_report(const tilus_error *error);

/// At least 1 for an error; at most 100. [0.1 | - | any thread | NULL: 0 | never fails]
TILUS_API size_t tilus_error_diagnostic_count(const tilus_error *error);

/// Fills *out with diagnostic `index`; leaves it alone when there is none.
/// [0.1 | texts valid until the error's destroy | any thread | NULL: nothing | never fails]
TILUS_API void tilus_error_diagnostic(const tilus_error *error, size_t index,
                                      tilus_diagnostic *out);

/// [0.1 | frees the error | any thread | NULL: nothing | never fails]
TILUS_API void tilus_error_destroy(tilus_error *error);

/// "INVALID_ARGUMENT"; "UNKNOWN" for a value without name.
/// [0.1 | static storage | any thread | - | never fails]
TILUS_API tilus_string tilus_code_name(tilus_code code);

// ==== 5  Context ================================================================================
//
// A context holds limits, callbacks and caches. One serves a whole process: any number of threads
// compile with it at once. Options are copied; the handle may be destroyed after the create.

typedef struct tilus_context tilus_context;
typedef struct tilus_context_options tilus_context_options;

/// Bounds on what a program may ask for.
typedef enum tilus_limit {
  TILUS_LIMIT_BYTES = 0,       ///< of text or protobuf: 16 MiB
  TILUS_LIMIT_DEPTH = 1,       ///< of nested statements, and of expressions: 64
  TILUS_LIMIT_NODES = 2,       ///< statements, operands, expression nodes, tensors: 1,000,000
  TILUS_LIMIT_RANK = 3,        ///< of a tensor: 8
  TILUS_LIMIT_ELEMENTS = 4,    ///< of a tensor: 2^31 - 1
  TILUS_LIMIT_UNROLL = 5,      ///< product over nested loops: 4,096
  TILUS_LIMIT_CODE_BYTES = 6,  ///< of PTX: 16 MiB
  TILUS_LIMIT_FORCE32 = 0x7fffffff
} tilus_limit;

typedef void (*tilus_release_fn)(void *user);

/// Gets warnings and notes (never errors: those are returned). Any thread; R6.
typedef void (*tilus_log_fn)(void *user, const tilus_diagnostic *entry);

/// Gets the text that a kernel's `print` makes on the host device or simulator, in block order.
typedef tilus_code (*tilus_print_fn)(void *user, tilus_string text);

/// Called between and within the stages of a compile: `done` of `total` (0 = not known) steps.
typedef tilus_code (*tilus_progress_fn)(void *user, tilus_string stage, uint64_t done,
                                        uint64_t total);

/// Options with the defaults. [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_context_options_create(tilus_context_options **out);

/// [0.1 | frees the options | any thread | NULL: nothing | never fails]
TILUS_API void tilus_context_options_destroy(tilus_context_options *options);

/// `value` is at least 1 and at most 2^31 - 1, but for DEPTH 1,000, and for ELEMENTS 2^40.
/// [0.1 | - | one thread | NULL: error | OUT_OF_RANGE]
TILUS_API tilus_error *tilus_context_options_set_limit(tilus_context_options *options,
                                                       tilus_limit limit, uint64_t value);

/// [0.1 | see R6 | one thread | NULL options: error; NULL log: none | -]
TILUS_API tilus_error *tilus_context_options_set_log(tilus_context_options *options,
                                                     tilus_log_fn log, void *user,
                                                     tilus_release_fn release);

/// Without one, what kernels print on the host device is dropped.
/// [0.1 | see R6 | one thread | NULL options: error; NULL print: none | -]
TILUS_API tilus_error *tilus_context_options_set_print(tilus_context_options *options,
                                                       tilus_print_fn print, void *user,
                                                       tilus_release_fn release);

/// [0.1 | see R6 | one thread | NULL options: error; NULL progress: none | -]
TILUS_API tilus_error *tilus_context_options_set_progress(tilus_context_options *options,
                                                          tilus_progress_fn progress, void *user,
                                                          tilus_release_fn release);

/// Bytes of compiled modules kept in memory (default 64 MiB, 0 = none), least recently used first
/// out. Under the same options an input is found again by its bytes, a tilus_program by its content.
/// [0.1 | - | one thread | NULL: error | -]
TILUS_API tilus_error *tilus_context_options_set_memory_cache(tilus_context_options *options,
                                                              uint64_t bytes);

/// Keeps cubins on disk (the PTX is quicker made than read), in `folder`, or where that is empty in
/// $TILUS_CACHE_DIR, else $XDG_CACHE_HOME/tilus, else ~/.cache/tilus. Off by default. The folder
/// may be shared by many processes; an entry that is damaged counts as absent, and a folder that
/// cannot be written is logged once.
/// [0.1 | - | one thread | NULL: error | -]
TILUS_API tilus_error *tilus_context_options_set_disk_cache(tilus_context_options *options,
                                                            tilus_string folder);

/// [0.1 | caller owns *out | any thread | NULL options: the defaults; NULL out: error | -]
TILUS_API tilus_error *tilus_context_create(const tilus_context_options *options,
                                            tilus_context **out);

/// [0.1 | drops the caller's reference | any thread | NULL: nothing | never fails]
TILUS_API void tilus_context_destroy(tilus_context *context);

/// A limit of the context; of the defaults where `context` is NULL; 0 for a limit without name.
/// [0.1 | - | any thread | NULL: the default | never fails]
TILUS_API uint64_t tilus_context_limit(const tilus_context *context, tilus_limit limit);

/// Name and version of the assembler that makes cubins ("nvJitLink 13.0"), looked for at first use;
/// empty where there is none: then the driver assembles when a module is loaded.
/// [0.1 | valid until the context's destroy | any thread | NULL: "" | never fails]
TILUS_API tilus_string tilus_context_assembler(const tilus_context *context);

/// The targets that this version compiles for: "sm_80", "sm_86", ...
/// [0.1 | - | any thread | - | never fails]
TILUS_API size_t tilus_target_count(void);

/// [0.1 | static storage | any thread | no such index: "" | never fails]
TILUS_API tilus_string tilus_target_name(size_t index);

/// A flag that stops work from another thread. It stays set; one may serve many calls.
typedef struct tilus_cancellation tilus_cancellation;

/// [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_cancellation_create(tilus_cancellation **out);

/// Work that was given the flag ends soon with TILUS_CANCELLED. Does not wait. Async-signal-safe.
/// [0.1 | - | any thread | NULL: nothing | never fails]
TILUS_API void tilus_cancellation_cancel(tilus_cancellation *cancellation);

/// 1 after a cancel, else 0. [0.1 | - | any thread | NULL: 0 | never fails]
TILUS_API int32_t tilus_cancellation_requested(const tilus_cancellation *cancellation);

/// [0.1 | drops the caller's reference | any thread | NULL: nothing | never fails]
TILUS_API void tilus_cancellation_destroy(tilus_cancellation *cancellation);

// ==== 6  Programs ===============================================================================
//
// A file, as text or as protobuf (proto/tilus/v1), holds one or more programs; each is one kernel.
// A program handle holds what one file holds. Both forms are images of one thing: text -> protobuf
// -> text is the identity, but for comments and blank lines.

typedef struct tilus_program tilus_program;

/// Reads text. `source_name` (may be empty) is what diagnostics call it. Syntax and names are
/// checked here, the rest by tilus_program_verify.
/// [0.1 | caller owns *out | any thread | NULL: error | RESOURCE_EXHAUSTED: a limit]
TILUS_API tilus_error *tilus_program_parse(tilus_context *context, tilus_string text,
                                           tilus_string source_name, tilus_program **out);

/// Reads protobuf: a message tilus.v1.Module. A newer version, an unknown field or an unknown
/// instruction is INCOMPATIBLE, never ignored.
/// [0.1 | caller owns *out | any thread | NULL: error | RESOURCE_EXHAUSTED: a limit; INCOMPATIBLE]
TILUS_API tilus_error *tilus_program_decode(tilus_context *context, tilus_buffer bytes,
                                            tilus_program **out);

/// Reads either, told by content, as tilus_compile does.
/// [0.1 | caller owns *out | any thread | NULL: error | as parse and decode]
TILUS_API tilus_error *tilus_program_read(tilus_context *context, tilus_buffer bytes,
                                          tilus_string source_name, tilus_program **out);

/// Checks every rule of the language and reports every fault, not the first alone.
/// [0.1 | - | any thread | NULL: error | RESOURCE_EXHAUSTED: a limit, registers]
TILUS_API tilus_error *tilus_program_verify(const tilus_program *program);

/// The text form, formatted: parsing it again and printing gives the same bytes.
/// [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_program_print(const tilus_program *program, tilus_blob **out);

/// The protobuf form. Its bytes are the same for the same program in one version of the library.
/// [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_program_encode(const tilus_program *program, tilus_blob **out);

/// The protobuf form in protobuf's JSON spelling, for other tools to read.
/// [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_program_json(const tilus_program *program, tilus_blob **out);

/// [0.1 | - | any thread | NULL: 0 | never fails]
TILUS_API size_t tilus_program_kernel_count(const tilus_program *program);

/// [0.1 | valid until the program's destroy | any thread | NULL, no such index: "" | never fails]
TILUS_API tilus_string tilus_program_kernel_name(const tilus_program *program, size_t index);

/// [0.1 | drops the caller's reference | any thread | NULL: nothing | never fails]
TILUS_API void tilus_program_destroy(tilus_program *program);

// ==== 7  Compilation ============================================================================

typedef struct tilus_module tilus_module;
typedef struct tilus_compile_options tilus_compile_options;

/// Gets the program, or the thread-level code, as text after a pass has run on a kernel.
typedef tilus_code (*tilus_dump_fn)(void *user, tilus_string kernel, tilus_string pass,
                                    tilus_string text);

/// When cubins are made.
typedef enum tilus_assembly {
  TILUS_ASSEMBLY_LAZY = 0,  ///< when an image or a load asks for one
  TILUS_ASSEMBLY_NOW = 1,   ///< within the compile, which fails where there is no assembler
  TILUS_ASSEMBLY_FORCE32 = 0x7fffffff
} tilus_assembly;

/// Compiles a program, text or protobuf told by content, to PTX for the lowest target that it
/// allows (sm_80 at least). The result does not depend on the machine it is compiled on.
/// [0.1 | caller owns *out | any thread | NULL: error | RESOURCE_EXHAUSTED: a limit, registers,
///  shared memory; INCOMPATIBLE; UNIMPLEMENTED: not for this target; CANCELLED]
TILUS_API tilus_error *tilus_compile(tilus_context *context, tilus_buffer program,
                                     tilus_module **out);

/// The same under options.
/// [0.1 | caller owns *out | any thread | NULL options: as tilus_compile; others: error |
///  as tilus_compile; FAILED_PRECONDITION: no assembler]
TILUS_API tilus_error *tilus_compile_with(tilus_context *context, tilus_buffer program,
                                          const tilus_compile_options *options,
                                          tilus_module **out);

/// The same for a program that has been read. Verifies it first.
/// [0.1 | caller owns *out | any thread | NULL options: as tilus_compile; others: error |
///  as tilus_compile_with]
TILUS_API tilus_error *tilus_program_compile(const tilus_program *program,
                                             const tilus_compile_options *options,
                                             tilus_module **out);

/// Options with the defaults. [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_compile_options_create(tilus_compile_options **out);

/// [0.1 | frees the options | any thread | NULL: nothing | never fails]
TILUS_API void tilus_compile_options_destroy(tilus_compile_options *options);

/// Compiles for `target` ("sm_90a"), and for each other one added.
/// [0.1 | - | one thread | NULL: error | NOT_FOUND: no such target]
TILUS_API tilus_error *tilus_compile_options_add_target(tilus_compile_options *options,
                                                        tilus_string target);

/// What diagnostics call the input of tilus_compile_with. [0.1 | - | one thread | NULL: error | -]
TILUS_API tilus_error *tilus_compile_options_set_source_name(tilus_compile_options *options,
                                                             tilus_string name);

/// A flag that stops the compile; the options keep it alive.
/// [0.1 | - | one thread | NULL options: error; NULL cancellation: none | -]
TILUS_API tilus_error *tilus_compile_options_set_cancellation(tilus_compile_options *options,
                                                              tilus_cancellation *cancellation);

/// Lets `dump` see what `pass` (a name of tilus_pass_name, or "all") leaves. Turns the caches off.
/// [0.1 | see R6 | one thread | NULL options: error; NULL dump: none | NOT_FOUND: no such pass]
TILUS_API tilus_error *tilus_compile_options_set_dump(tilus_compile_options *options,
                                                      tilus_string pass, tilus_dump_fn dump,
                                                      void *user, tilus_release_fn release);

/// Allows a * b + c to become one fused operation, as the attribute `contract` of a program does.
/// [0.1 | - | one thread | NULL: error | -]
TILUS_API tilus_error *tilus_compile_options_allow_contraction(tilus_compile_options *options);

/// [0.1 | - | one thread | NULL: error | -]
TILUS_API tilus_error *tilus_compile_options_set_assembly(tilus_compile_options *options,
                                                          tilus_assembly assembly);

/// The passes of a compile, in order. [0.1 | - | any thread | - | never fails]
TILUS_API size_t tilus_pass_count(void);

/// [0.1 | static storage | any thread | no such index: "" | never fails]
TILUS_API tilus_string tilus_pass_name(size_t index);

// ==== 8  Modules ================================================================================
//
// A module holds the kernels of one file, compiled for one target or several. It belongs to no
// device. Saved, it is one self-contained file: programs, PTX and the cubins made so far. The file
// begins with the eight bytes TILUSMOD, which no program begins with.

typedef enum tilus_image {
  TILUS_IMAGE_PTX = 0,           ///< text, of a target
  TILUS_IMAGE_CUBIN = 1,         ///< ELF, of a target; assembled when first asked for
  TILUS_IMAGE_THREAD_LEVEL = 2,  ///< the thread-level code as text, of a target
  TILUS_IMAGE_TEXT = 3,          ///< the programs as text
  TILUS_IMAGE_PROTOBUF = 4,      ///< the programs as protobuf
  TILUS_IMAGE_JSON = 5,          ///< the programs as JSON
  TILUS_IMAGE_FORCE32 = 0x7fffffff
} tilus_image;

/// A stage of the compile that made a module.
typedef struct tilus_stage {
  size_t struct_size;
  tilus_string name;    ///< "decode", "verify", "passes", "lower", "ptx", "cubin"
  double microseconds;  ///< summed over kernels and targets
} tilus_stage;

/// One form of the module. `target` may be empty where the module has one target, and is not
/// looked at for the last three kinds.
/// [0.1 | caller owns *out | any thread | NULL: error | NOT_FOUND: no such target;
///  FAILED_PRECONDITION: no assembler]
TILUS_API tilus_error *tilus_module_image(const tilus_module *module, tilus_image image,
                                          tilus_string target, tilus_blob **out);

/// The module as bytes that tilus_module_restore reads.
/// [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_module_save(const tilus_module *module, tilus_blob **out);

/// A module from its saved bytes. They are checked against damage, not against malice: R8.
/// [0.1 | caller owns *out | any thread | NULL: error | DATA_LOSS: corrupt, truncated or no
///  module; INCOMPATIBLE: saved by a version that this one cannot read]
TILUS_API tilus_error *tilus_module_restore(tilus_context *context, tilus_buffer bytes,
                                            tilus_module **out);

/// [0.1 | - | any thread | NULL: 0 | never fails]
TILUS_API size_t tilus_module_kernel_count(const tilus_module *module);

/// [0.1 | valid until the module's destroy | any thread | NULL, no such index: "" | never fails]
TILUS_API tilus_string tilus_module_kernel_name(const tilus_module *module, size_t index);

/// [0.1 | - | any thread | NULL: 0 | never fails]
TILUS_API size_t tilus_module_target_count(const tilus_module *module);

/// [0.1 | valid until the module's destroy | any thread | NULL, no such index: "" | never fails]
TILUS_API tilus_string tilus_module_target_name(const tilus_module *module, size_t index);

/// The number of stages that were timed. Restoring a module is a compile too: the program is the
/// truth, and a saved cubin is used where the PTX is still the same.
/// [0.1 | - | any thread | NULL: 0 | never fails]
TILUS_API size_t tilus_module_stage_count(const tilus_module *module);

/// Fills *out with stage `index`; leaves it alone when there is none.
/// [0.1 | name in static storage | any thread | NULL: nothing | never fails]
TILUS_API void tilus_module_stage(const tilus_module *module, size_t index, tilus_stage *out);

/// [0.1 | drops the caller's reference | any thread | NULL: nothing | never fails]
TILUS_API void tilus_module_destroy(tilus_module *module);

// ==== 9  Devices and memory =====================================================================
//
// Kernels take plain addresses, so memory of other libraries (arrays, tensors) is used where it is.
// The functions here serve those that have no other library for it. Where a `void *stream` is
// asked for, it is a CUstream of the caller, that of tilus_stream_native, or NULL for the default
// stream; on the host device and the simulator, where every call ends before it returns, NULL.

typedef enum tilus_device_kind {
  TILUS_DEVICE_HOST = 0,      ///< the meaning of programs, on the CPU
  TILUS_DEVICE_SIMULATE = 1,  ///< the generated thread-level code on the CPU, with checks; slow
  TILUS_DEVICE_CUDA = 2,      ///< an NVIDIA GPU
  TILUS_DEVICE_FORCE32 = 0x7fffffff
} tilus_device_kind;

typedef struct tilus_device tilus_device;
typedef struct tilus_memory tilus_memory;
typedef struct tilus_stream tilus_stream;

/// What a device is. Numbers are 0 where they make no sense.
typedef struct tilus_device_info {
  size_t struct_size;
  tilus_device_kind kind;
  uint32_t ordinal;
  tilus_string name;       ///< "NVIDIA H200", "host"
  tilus_string target;     ///< the best target that it runs: "sm_90a"
  uint64_t memory_bytes;
  uint64_t l2_bytes;
  uint32_t multiprocessors;
  uint32_t shared_bytes;   ///< that a thread block may have, opted in
  uint32_t driver_version; ///< of CUDA, 13000 for 13.0
  uint32_t clock_khz;
} tilus_device_info;

/// How many devices there are: 1 for host and simulator, 0 where no CUDA driver is found.
/// [0.1 | - | any thread | - | never fails]
TILUS_API uint32_t tilus_device_count(tilus_device_kind kind);

/// A device by number; a CUDA device through its primary context.
/// [0.1 | caller owns *out | any thread | NULL: error | UNAVAILABLE: no driver or it fails;
///  NOT_FOUND: no device of that number]
TILUS_API tilus_error *tilus_device_open(tilus_context *context, tilus_device_kind kind,
                                         uint32_t ordinal, tilus_device **out);

/// The CUDA device of a CUcontext of the caller, who keeps it alive longer than the device.
/// [0.1 | caller owns *out | any thread | NULL: error | UNAVAILABLE]
TILUS_API tilus_error *tilus_device_wrap(tilus_context *context, void *cuda_context,
                                         tilus_device **out);

/// Fills *out. [0.1 | texts valid until the device's destroy | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_device_describe(const tilus_device *device, tilus_device_info *out);

/// Copies `size` bytes of the host's memory to the device's. With `stream` NULL they have arrived
/// at return; with a stream the copy is queued, and `from` must stay until it has run. In this and
/// the next two functions the destination comes first, as in memcpy.
/// [0.1 | - | any thread | NULL address with size > 0: error | ABORTED, UNKNOWN: the device's]
TILUS_API tilus_error *tilus_device_upload(const tilus_device *device, void *to, const void *from,
                                           size_t size, void *stream);

/// Copies `size` bytes of the device's memory to the host's, likewise.
/// [0.1 | - | any thread | NULL address with size > 0: error | ABORTED, UNKNOWN: the device's]
TILUS_API tilus_error *tilus_device_download(const tilus_device *device, void *to,
                                             const void *from, size_t size, void *stream);

/// Copies `size` bytes within the device's memory, likewise.
/// [0.1 | - | any thread | NULL address with size > 0: error | ABORTED, UNKNOWN: the device's]
TILUS_API tilus_error *tilus_device_copy(const tilus_device *device, void *to, const void *from,
                                         size_t size, void *stream);

/// Sets `size` bytes to `value`.
/// [0.1 | - | any thread | NULL address with size > 0: error | ABORTED, UNKNOWN: the device's]
TILUS_API tilus_error *tilus_device_fill(const tilus_device *device, void *to, uint8_t value,
                                         size_t size, void *stream);

/// Waits for all work of the device; a fault of an earlier kernel is returned here.
/// [0.1 | - | any thread | NULL: error | ABORTED, UNKNOWN: the device's]
TILUS_API tilus_error *tilus_device_synchronize(const tilus_device *device);

/// [0.1 | drops the caller's reference | any thread | NULL: nothing | never fails]
TILUS_API void tilus_device_destroy(tilus_device *device);

/// `size` bytes of the device's memory, aligned to 256, not initialised. Arrays of types under 8
/// bits that a kernel writes need whole multiples of 4 bytes (tilus_type_storage says how many).
/// [0.1 | caller owns *out | any thread | NULL: error | RESOURCE_EXHAUSTED: the device is full]
TILUS_API tilus_error *tilus_memory_create(tilus_device *device, size_t size, tilus_memory **out);

/// Its address: of the device, or of the host for host and simulator.
/// [0.1 | valid until the memory's destroy | any thread | NULL: NULL | never fails]
TILUS_API void *tilus_memory_address(const tilus_memory *memory);

/// [0.1 | - | any thread | NULL: 0 | never fails]
TILUS_API size_t tilus_memory_size(const tilus_memory *memory);

/// The bytes go back to the device at its next allocation or synchronize, or with its last handle,
/// after the work that was queued by then.
/// [0.1 | frees the memory | any thread | NULL: nothing | never fails]
TILUS_API void tilus_memory_destroy(tilus_memory *memory);

/// A new stream, that does not wait for the default stream.
/// [0.1 | caller owns *out | any thread | NULL: error | ABORTED, UNKNOWN: the device's]
TILUS_API tilus_error *tilus_stream_create(tilus_device *device, tilus_stream **out);

/// Its CUstream; NULL for host and simulator.
/// [0.1 | valid until the stream's destroy | any thread | NULL: NULL | never fails]
TILUS_API void *tilus_stream_native(const tilus_stream *stream);

/// Waits for the work of the stream.
/// [0.1 | - | any thread | NULL: error | ABORTED, UNKNOWN: the device's]
TILUS_API tilus_error *tilus_stream_synchronize(const tilus_stream *stream);

/// [0.1 | frees the stream; queued work still runs | any thread | NULL: nothing | never fails]
TILUS_API void tilus_stream_destroy(tilus_stream *stream);

// ==== 10  Executables, kernels ==================================================================

typedef struct tilus_executable tilus_executable;
typedef struct tilus_kernel tilus_kernel;

typedef enum tilus_parameter_kind {
  TILUS_PARAMETER_SCALAR = 0,
  TILUS_PARAMETER_POINTER = 1,
  TILUS_PARAMETER_FORCE32 = 0x7fffffff
} tilus_parameter_kind;

/// A parameter of a kernel, with what its caller promises.
typedef struct tilus_parameter {
  size_t struct_size;
  tilus_string name;
  tilus_parameter_kind kind;
  tilus_type type;    ///< of the scalar, or of what the pointer points to
  uint64_t alignment; ///< of a pointer, in bytes: 16 unless the program says align(n)
  uint64_t divisor;   ///< of an integer: the program says div(n), else 1
} tilus_parameter;

/// What a launch with certain arguments takes.
typedef struct tilus_launch_shape {
  size_t struct_size;
  int64_t grid[3];           ///< thread blocks in x, y, z; nothing is launched where one is 0
  uint32_t threads;          ///< of a block
  uint32_t shared_bytes;     ///< of a block
  uint64_t workspace_bytes;  ///< global memory that the launch needs besides its arguments
  uint64_t clean_bytes;      ///< of these, from the front: zero before the first launch
} tilus_launch_shape;

/// Makes a module ready on a device.
/// [0.1 | caller owns *out | any thread | NULL: error | INCOMPATIBLE: the module has no target
///  that the device runs; UNAVAILABLE; FAILED_PRECONDITION: the driver is too old]
TILUS_API tilus_error *tilus_module_load(const tilus_module *module, tilus_device *device,
                                         tilus_executable **out);

/// A kernel by name; the only kernel where `name` is empty.
/// [0.1 | caller owns *out | any thread | NULL: error | NOT_FOUND: no such kernel, or several]
TILUS_API tilus_error *tilus_executable_kernel(const tilus_executable *executable,
                                               tilus_string name, tilus_kernel **out);

/// [0.1 | drops the caller's reference | any thread | NULL: nothing | never fails]
TILUS_API void tilus_executable_destroy(tilus_executable *executable);

/// [0.1 | valid until the kernel's destroy | any thread | NULL: "" | never fails]
TILUS_API tilus_string tilus_kernel_name(const tilus_kernel *kernel);

/// [0.1 | - | any thread | NULL: 0 | never fails]
TILUS_API size_t tilus_kernel_parameter_count(const tilus_kernel *kernel);

/// Fills *out with parameter `index`; leaves it alone when there is none.
/// [0.1 | name valid until the kernel's destroy | any thread | NULL: nothing | never fails]
TILUS_API void tilus_kernel_parameter(const tilus_kernel *kernel, size_t index,
                                      tilus_parameter *out);

/// [0.1 | drops the caller's reference | any thread | NULL: nothing | never fails]
TILUS_API void tilus_kernel_destroy(tilus_kernel *kernel);

// ==== 11  Launch ================================================================================

typedef enum tilus_argument_kind {
  TILUS_ARGUMENT_INTEGER = 0,  ///< `integer`, for integer and bool parameters; must fit the type
  TILUS_ARGUMENT_NUMBER = 1,   ///< `number`, for float parameters; rounded to the type
  TILUS_ARGUMENT_POINTER = 2,  ///< `pointer`, for pointer parameters
  TILUS_ARGUMENT_FORCE32 = 0x7fffffff
} tilus_argument_kind;

/// An argument, in the order of the parameters. Fields of the other kinds are not looked at.
typedef struct tilus_argument {
  size_t struct_size;
  tilus_argument_kind kind;
  tilus_type type;  ///< of what `pointer` points to; 0 = not checked
  int64_t integer;  ///< a u64 is passed as its bits
  double number;
  void *pointer;    ///< an address of the kernel's device; NULL only where the grid is empty
  uint64_t size;    ///< bytes from `pointer` that may be accessed; 0 = not checked
} tilus_argument;

typedef struct tilus_launch_options {
  size_t struct_size;
  void *stream;             ///< see section 9
  void *workspace;          ///< memory for the workspace, aligned to 256, its clean part zero
                            ///< (kernels leave it so); or NULL: the kernel has one per stream
  uint64_t workspace_size;  ///< at least that of tilus_launch_shape
  const tilus_cancellation *cancellation;  ///< stops host device and simulator; or NULL
} tilus_launch_options;

/// What a launch with these arguments takes; checks them as the launch does.
/// [0.1 | - | any thread | NULL: error | OUT_OF_RANGE: the grid]
TILUS_API tilus_error *tilus_kernel_shape(const tilus_kernel *kernel, const tilus_argument *args,
                                          size_t count, tilus_launch_shape *out);

/// Launches the kernel. On a GPU the call returns when the work is queued, and a fault of the
/// kernel appears at a later synchronize; elsewhere it has ended. Arguments are checked: number,
/// kind, type, range, promised alignment and divisibility, and sizes where given.
/// [0.1 | - | any thread | NULL: error | OUT_OF_RANGE: the grid or a size;
///  FAILED_PRECONDITION: an assertion of the program, or a finding of the simulator;
///  HOST_EXCEPTION or another code of the print callback; ABORTED, UNKNOWN: the device's]
TILUS_API tilus_error *tilus_kernel_launch(const tilus_kernel *kernel, const tilus_argument *args,
                                           size_t count, void *stream);

/// The same under options.
/// [0.1 | - | any thread | NULL options: the defaults; others: error |
///  as tilus_kernel_launch; CANCELLED]
TILUS_API tilus_error *tilus_kernel_launch_with(const tilus_kernel *kernel,
                                                const tilus_argument *args, size_t count,
                                                const tilus_launch_options *options);

#ifdef __cplusplus
}  // extern "C"
#endif

#include <tilus/layout.h>

#endif  // TILUS_H_
