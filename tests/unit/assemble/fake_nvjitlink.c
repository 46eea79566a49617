/* An nvJitLink for tests. The "cubin" is the release, the options and the text; FAKE_NVJITLINK_FAIL
 * ("Create=16", "AddData=4", ...) scripts one failure, FAKE_NVJITLINK_LOG is the error log. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct session {
  char text[4096];
};
static int live;

int fake_live(void) { return live; }

static int scripted(const char* name) {
  const char* script = getenv("FAKE_NVJITLINK_FAIL");
  const size_t length = strlen(name);
  if (script == NULL || strncmp(script, name, length) != 0 || script[length] != '=') return 0;
  return atoi(script + length + 1);
}
static const char* error_log(void) {
  const char* log = getenv("FAKE_NVJITLINK_LOG");
  return log != NULL ? log : "";
}
/* As some releases do, a failed Create may leave no handle at all. */
static int create(const char* release, void** handle, uint32_t count, const char** options) {
  if (scripted("Create") != 0) return scripted("Create");
  struct session* session = calloc(1, sizeof(*session));
  strcpy(session->text, release);
  for (uint32_t i = 0; i < count; ++i) {
    strcat(session->text, " ");
    strcat(session->text, options[i]);
  }
  strcat(session->text, "\n");
  *handle = session;
  ++live;
  return 0;
}
static int destroy(void** handle) {
  free(*handle);
  *handle = NULL;
  --live;
  return 0;
}
static int add_data(void* handle, int kind, const void* data, size_t bytes) {
  if (scripted("AddData") != 0) return scripted("AddData");
  if (kind != 2 || ((const char*)data)[bytes - 1] != '\0') return 12;
  strncat(((struct session*)handle)->text, data, 2000);
  return 0;
}
static int get_size(const char* text, size_t* bytes) {
  *bytes = strlen(text);
  return 0;
}

#define DEFINE_PART(prefix, suffix, release)                                          \
  int prefix##Create##suffix(void** handle, uint32_t count, const char** options) {   \
    return create(release, handle, count, options);                                   \
  }                                                                                   \
  int prefix##Destroy##suffix(void** handle) { return destroy(handle); }              \
  int prefix##AddData##suffix(void* handle, int kind, const void* data, size_t bytes, \
                              const char* name) {                                     \
    (void)name;                                                                       \
    return add_data(handle, kind, data, bytes);                                       \
  }                                                                                   \
  int prefix##GetLinkedCubinSize##suffix(void* handle, size_t* bytes) {               \
    if (scripted("GetLinkedCubinSize") != 0) return scripted("GetLinkedCubinSize");   \
    return get_size(((struct session*)handle)->text, bytes);                          \
  }                                                                                   \
  int prefix##GetLinkedCubin##suffix(void* handle, void* cubin) {                     \
    if (scripted("GetLinkedCubin") != 0) return scripted("GetLinkedCubin");           \
    const char* text = ((struct session*)handle)->text;                               \
    memcpy(cubin, text, strlen(text));                                                \
    return 0;                                                                         \
  }                                                                                   \
  int prefix##GetErrorLogSize##suffix(void* handle, size_t* bytes) {                  \
    (void)handle;                                                                     \
    return get_size(error_log(), bytes);                                              \
  }                                                                                   \
  int prefix##GetErrorLog##suffix(void* handle, char* log) {                          \
    (void)handle;                                                                     \
    memcpy(log, error_log(), strlen(error_log()));                                    \
    return 0;                                                                         \
  }                                                                                   \
  int prefix##GetInfoLogSize##suffix(void* handle, size_t* bytes) {                   \
    (void)handle;                                                                     \
    return get_size("info\n", bytes);                                                 \
  }                                                                                   \
  int prefix##GetInfoLog##suffix(void* handle, char* log) {                           \
    (void)handle;                                                                     \
    memcpy(log, "info\n", 5);                                                         \
    return 0;                                                                         \
  }
#define DEFINE_COMPLETE(prefix, suffix)        \
  int prefix##Complete##suffix(void* handle) { \
    (void)handle;                              \
    return scripted("Complete");               \
  }

#ifdef FAKE_12_3
DEFINE_PART(__nvJitLink, _12_3, "12.3")
#ifndef FAKE_WITHOUT_COMPLETE
DEFINE_COMPLETE(__nvJitLink, _12_3)
#endif
#endif
#ifdef FAKE_13_0
DEFINE_PART(__nvJitLink, _13_0, "13.0")
DEFINE_COMPLETE(__nvJitLink, _13_0)
#endif
#ifdef FAKE_PLAIN
DEFINE_PART(nvJitLink, , "plain")
DEFINE_COMPLETE(nvJitLink, )
int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  *major = 14;
  *minor = 2;
  return 0;
}
#endif
