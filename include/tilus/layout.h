// tilus/layout.h: element types and the algebra of layouts; sections 12 to 15 of the manual, under
// the rules of tilus.h (section 2), which includes this file. Nothing here needs a context.
#ifndef TILUS_LAYOUT_H_
#define TILUS_LAYOUT_H_

#include <tilus.h>

#ifdef __cplusplus
extern "C" {
#endif

// ==== 12  Types =================================================================================
//
// An element type is a number: class << 24 | bits << 16 | exponent bits << 8 | mantissa bits, the
// last two for floats only. All that exist: u1 to u15 and i1 to i15, and those of 16, 32, 64 bits;
// bool; f16, bf16, tf32, f32, f64; f8e8m0 (no sign); and fXeYmZ with 3 <= X <= 8, Y >= 1.
//
// The code of an element is its bits as an unsigned number. In memory, elements under 8 bits are
// dense: element k has bits [k*b, (k+1)*b) from the base address, least significant first.
//
// ```c
// #include <stdint.h>
// #include <tilus.h>
//
// int main(void) {
//   tilus_type type = 0;
//   const float values[3] = {1.0f, -3.0f, 100.0f};
//   uint64_t codes[3] = {0, 0, 0};
//   tilus_error *e = tilus_type_parse(tilus_string_of("f6e3m2"), &type);
//   if (!e) e = tilus_type_encode(type, values, 3, codes);
//   int good = !e && codes[0] == 0x0c && codes[1] == 0x32 && codes[2] == 0x1f; /* saturates */
//   tilus_error_destroy(e);
//   return good ? 0 : 1;
// }
// ```

typedef enum tilus_type_class {
  TILUS_CLASS_UNSIGNED = 1,
  TILUS_CLASS_SIGNED = 2,
  TILUS_CLASS_FLOAT = 3,
  TILUS_CLASS_BOOL = 4,
  TILUS_CLASS_FORCE32 = 0x7fffffff
} tilus_type_class;

/// Names for some of the values of tilus_type.
typedef enum tilus_named_type {
  TILUS_TYPE_NONE = 0,
  TILUS_TYPE_U4 = 0x01040000,
  TILUS_TYPE_U8 = 0x01080000,
  TILUS_TYPE_U16 = 0x01100000,
  TILUS_TYPE_U32 = 0x01200000,
  TILUS_TYPE_U64 = 0x01400000,
  TILUS_TYPE_I4 = 0x02040000,
  TILUS_TYPE_I8 = 0x02080000,
  TILUS_TYPE_I16 = 0x02100000,
  TILUS_TYPE_I32 = 0x02200000,
  TILUS_TYPE_I64 = 0x02400000,
  TILUS_TYPE_F4E2M1 = 0x03040201,
  TILUS_TYPE_F6E3M2 = 0x03060302,
  TILUS_TYPE_F8E4M3 = 0x03080403,
  TILUS_TYPE_F8E5M2 = 0x03080502,
  TILUS_TYPE_F8E8M0 = 0x03080800,
  TILUS_TYPE_F16 = 0x0310050a,
  TILUS_TYPE_BF16 = 0x03100807,
  TILUS_TYPE_TF32 = 0x0320080a,
  TILUS_TYPE_F32 = 0x03200817,
  TILUS_TYPE_F64 = 0x03400b34,
  TILUS_TYPE_BOOL = 0x04080000,
  TILUS_TYPE_FORCE32 = 0x7fffffff
} tilus_named_type;

/// The type of a name, as programs spell it: "i6". [0.1 | - | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_type_parse(tilus_string name, tilus_type *out);

/// Its name; empty where the number is no type.
/// [0.1 | static storage | any thread | - | never fails]
TILUS_API tilus_string tilus_type_name(tilus_type type);

/// The width of an element in memory and registers; 0 where the number is no type.
/// [0.1 | - | any thread | - | never fails]
TILUS_API uint32_t tilus_type_bits(tilus_type type);

/// Bytes to allocate for `count` elements: the dense bytes, and for types that are not whole bytes
/// a multiple of 4. [0.1 | - | any thread | NULL: error | OUT_OF_RANGE: more than 2^63 - 1]
TILUS_API tilus_error *tilus_type_storage(tilus_type type, uint64_t count, uint64_t *out);

/// The code of each value by the language's rules: round to nearest even (integers toward zero);
/// types of at most 8 bits and integers saturate, wider floats overflow to infinity.
/// [0.1 | - | any thread | NULL with count > 0: error | -]
TILUS_API tilus_error *tilus_type_encode(tilus_type type, const float *values, size_t count,
                                         uint64_t *codes);

/// The value of each code, rounded to float where it has more digits (i32, f64). Bits of a code
/// above the width are not looked at. [0.1 | - | any thread | NULL with count > 0: error | -]
TILUS_API tilus_error *tilus_type_decode(tilus_type type, const uint64_t *codes, size_t count,
                                         float *values);

/// Converts each code of one type to the code of another, as `cast` does.
/// [0.1 | - | any thread | NULL with count > 0: error | -]
TILUS_API tilus_error *tilus_type_convert(tilus_type from, tilus_type to, const uint64_t *codes,
                                          size_t count, uint64_t *results);

/// Codes to dense memory. Each code is an unsigned integer of `code_bytes` (1, 2, 4 or 8) bytes,
/// below 2^bits. `out_size` is at least ceil(count * bits / 8); bits after the last are 0.
/// [0.1 | - | any thread | NULL with count > 0: error | OUT_OF_RANGE: a code or a size]
TILUS_API tilus_error *tilus_type_pack(tilus_type type, const void *codes, uint32_t code_bytes,
                                       size_t count, void *out, size_t out_size);

/// Dense memory to codes of `code_bytes` bytes.
/// [0.1 | - | any thread | NULL with count > 0: error | OUT_OF_RANGE: a size]
TILUS_API tilus_error *tilus_type_unpack(tilus_type type, tilus_buffer bytes, size_t count,
                                         void *codes, uint32_t code_bytes);

// ==== 13  Layouts ===============================================================================
//
// A register layout says which element of a tile each thread holds, and in which order: a function
// f(thread, local) -> index. It is written as a product, local(2,1).spatial(8,4).local(1,2), or as
// a tuple, {shape=[16,8], modes=[2,8,4,2], spatial=[1,2], local=[0,3]}. The product h = f . g is
//
//     h(t, i) = f(t / Tg, i / Ng) * shape(g) + g(t mod Tg, i mod Ng)
//
// over Tg threads and Ng elements a thread of g. Layouts are values: nothing changes one, and every
// operation makes a new handle. What is at fault is INVALID_ARGUMENT, with one of these ids: T0220
// syntax, T0221 an extent below 1, T0222 over 2^31 - 1 elements or threads, T0223 over 8 dimensions
// or not the number asked for, T0224 a tuple that does not fit together, T0225 an operand that does
// not fit the layout, T0226 not divisible, T0227 the result is no register layout.
//
// ```c
// #include <tilus.h>
//
// int main(void) {
//   tilus_layout *h = NULL, *g = NULL, *f = NULL;
//   int64_t index[2];
//   tilus_error *e =
//       tilus_layout_parse(tilus_string_of("local(2,1).spatial(8,4).local(1,2)"), &h);
//   if (!e) e = tilus_layout_parse(tilus_string_of("spatial(8,4).local(1,2)"), &g);
//   if (!e) e = tilus_layout_divide(h, g, &f); /* h = f . g, so f is local(2,1) */
//   if (!e) e = tilus_layout_map(h, 5, 3, index); /* what thread 5 holds fourth */
//   int good = !e && tilus_layout_locals(f) == 2 && index[0] == 9 && index[1] == 3;
//   tilus_error_destroy(e);
//   tilus_layout_destroy(h);
//   tilus_layout_destroy(g);
//   tilus_layout_destroy(f);
//   return good ? 0 : 1;
// }
// ```

typedef struct tilus_layout tilus_layout;

typedef enum tilus_layout_form {
  TILUS_LAYOUT_PRODUCT = 0,  ///< a product of primitives; the tuple where there is none
  TILUS_LAYOUT_TUPLE = 1,
  TILUS_LAYOUT_FORM_FORCE32 = 0x7fffffff
} tilus_layout_form;

/// Reads either text form.
/// [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_layout_parse(tilus_string text, tilus_layout **out);

/// From its parts. `modes` are the factors of the extents of `shape`, dimension by dimension, most
/// significant first; `spatial` and `local` list numbers of modes, each mode once; an entry -k,
/// k > 1, of `spatial` is replication over k threads.
/// [0.1 | caller owns *out | any thread | NULL with count > 0: error | -]
TILUS_API tilus_error *tilus_layout_create(const int64_t *shape, size_t rank,
                                           const int64_t *modes, size_t mode_count,
                                           const int64_t *spatial, size_t spatial_count,
                                           const int64_t *local, size_t local_count,
                                           tilus_layout **out);

/// Reads a message tilus.v1.LayoutFile.
/// [0.1 | caller owns *out | any thread | NULL: error | INCOMPATIBLE]
TILUS_API tilus_error *tilus_layout_decode(tilus_buffer bytes, tilus_layout **out);

/// Writes a message tilus.v1.LayoutFile.
/// [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_layout_encode(const tilus_layout *layout, tilus_blob **out);

/// Writes text that tilus_layout_parse reads.
/// [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_layout_text(const tilus_layout *layout, tilus_layout_form form,
                                         tilus_blob **out);

/// [0.1 | frees the layout | any thread | NULL: nothing | never fails]
TILUS_API void tilus_layout_destroy(tilus_layout *layout);

/// The extents of the tile; as many as its rank.
/// [0.1 | valid until the layout's destroy | any thread | NULL: empty | never fails]
TILUS_API tilus_integers tilus_layout_shape(const tilus_layout *layout);

/// [0.1 | valid until the layout's destroy | any thread | NULL: empty | never fails]
TILUS_API tilus_integers tilus_layout_modes(const tilus_layout *layout);

/// [0.1 | valid until the layout's destroy | any thread | NULL: empty | never fails]
TILUS_API tilus_integers tilus_layout_spatial_modes(const tilus_layout *layout);

/// [0.1 | valid until the layout's destroy | any thread | NULL: empty | never fails]
TILUS_API tilus_integers tilus_layout_local_modes(const tilus_layout *layout);

/// T, the number of threads. [0.1 | - | any thread | NULL: 0 | never fails]
TILUS_API int64_t tilus_layout_threads(const tilus_layout *layout);

/// N, the number of elements that each thread holds. [0.1 | - | any thread | NULL: 0 | never fails]
TILUS_API int64_t tilus_layout_locals(const tilus_layout *layout);

/// f(thread, local): writes as many integers as the rank.
/// [0.1 | - | any thread | NULL: error | OUT_OF_RANGE: thread or local]
TILUS_API tilus_error *tilus_layout_map(const tilus_layout *layout, int64_t thread, int64_t local,
                                        int64_t *index);

/// All of f: out[(t * N + i) * rank + d]; `capacity` is at least T * N * rank integers.
/// [0.1 | - | any thread | NULL: error | OUT_OF_RANGE: capacity]
TILUS_API tilus_error *tilus_layout_table(const tilus_layout *layout, int64_t *out,
                                          size_t capacity);

/// Who holds the element at `index` (as many integers as the rank): writes up to `capacity` threads
/// in ascending order and their local numbers, and to *count how many there are. With capacity 0
/// the arrays may be NULL. [0.1 | - | any thread | NULL: error | OUT_OF_RANGE: index]
TILUS_API tilus_error *tilus_layout_owners(const tilus_layout *layout, const int64_t *index,
                                           int64_t *threads, int64_t *locals, size_t capacity,
                                           size_t *count);

/// Which bit of which element is bit `bit` of a thread's registers, for elements of `type`.
/// [0.1 | - | any thread | NULL: error | OUT_OF_RANGE: thread or bit]
TILUS_API tilus_error *tilus_layout_locate(const tilus_layout *layout, tilus_type type,
                                           int64_t thread, int64_t bit, int64_t *index,
                                           int64_t *element_bit);

/// 1 where both are the same function, however written; else 0.
/// [0.1 | - | any thread | NULL equals NULL alone | never fails]
TILUS_API int32_t tilus_layout_equal(const tilus_layout *a, const tilus_layout *b);

// Operations. Where one is not possible the error says why, with the layouts.

/// h = f . g. Missing leading dimensions count as 1.
/// [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_layout_compose(const tilus_layout *f, const tilus_layout *g,
                                            tilus_layout **out);

/// The f of h = f . g.
/// [0.1 | caller owns *out | any thread | NULL: error | T0226: there is none]
TILUS_API tilus_error *tilus_layout_divide(const tilus_layout *h, const tilus_layout *g,
                                           tilus_layout **out);

/// The g of h = f . g.
/// [0.1 | caller owns *out | any thread | NULL: error | T0226: there is none]
TILUS_API tilus_error *tilus_layout_left_divide(const tilus_layout *h, const tilus_layout *f,
                                                tilus_layout **out);

/// (f, g) over the dimensions of f and then of g, f outer.
/// [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_layout_concat(const tilus_layout *f, const tilus_layout *g,
                                           tilus_layout **out);

/// The same function in the least number of modes: equal layouts give equal parts.
/// [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_layout_canonical(const tilus_layout *layout, tilus_layout **out);

/// Dimensions `dims` become 1: threads along them hold copies, locals along them are dropped.
/// [0.1 | caller owns *out | any thread | NULL with count > 0: error | T0225]
TILUS_API tilus_error *tilus_layout_reduce(const tilus_layout *layout, const int64_t *dims,
                                           size_t count, tilus_layout **out);

/// Dimension d of the result is dimension dims[d]; `count` is the rank.
/// [0.1 | caller owns *out | any thread | NULL: error | OUT_OF_RANGE]
TILUS_API tilus_error *tilus_layout_permute(const tilus_layout *layout, const int64_t *dims,
                                            size_t count, tilus_layout **out);

/// Removes dimensions of extent 1.
/// [0.1 | caller owns *out | any thread | NULL with count > 0: error | T0225]
TILUS_API tilus_error *tilus_layout_squeeze(const tilus_layout *layout, const int64_t *dims,
                                            size_t count, tilus_layout **out);

/// Inserts dimensions of extent 1; `dims` are positions in the result.
/// [0.1 | caller owns *out | any thread | NULL with count > 0: error | T0225]
TILUS_API tilus_error *tilus_layout_unsqueeze(const tilus_layout *layout, const int64_t *dims,
                                              size_t count, tilus_layout **out);

/// Another shape with the same row-major order of elements.
/// [0.1 | caller owns *out | any thread | NULL: error | T0227]
TILUS_API tilus_error *tilus_layout_reshape(const tilus_layout *layout, const int64_t *shape,
                                            size_t rank, tilus_layout **out);

/// One dimension, in row-major order. [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_layout_flatten(const tilus_layout *layout, tilus_layout **out);

/// local(counts) . f [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_layout_tile(const tilus_layout *layout, const int64_t *counts,
                                         size_t rank, tilus_layout **out);

/// f . local(counts) [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_layout_repeat(const tilus_layout *layout, const int64_t *counts,
                                           size_t rank, tilus_layout **out);

/// The elements from `offset` on, `shape` many; each thread must keep equally many.
/// [0.1 | caller owns *out | any thread | NULL: error | T0225, T0227]
TILUS_API tilus_error *tilus_layout_slice(const tilus_layout *layout, const int64_t *offset,
                                          const int64_t *shape, size_t rank, tilus_layout **out);

/// Dimension `dim` of extent 1 becomes `extent`, by repetition in each thread.
/// [0.1 | caller owns *out | any thread | NULL: error | T0225, T0227]
TILUS_API tilus_error *tilus_layout_broadcast(const tilus_layout *layout, int64_t dim,
                                              int64_t extent, tilus_layout **out);

/// A good layout of a tile over `threads` threads: neighbours hold neighbouring elements.
/// [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_layout_auto(const int64_t *shape, size_t rank, int64_t threads,
                                         tilus_layout **out);

/// The replication that fills up to `threads` threads, outermost.
/// [0.1 | caller owns *out | any thread | NULL: error | T0225: not a multiple]
TILUS_API tilus_error *tilus_layout_complement(const tilus_layout *layout, int64_t threads,
                                               tilus_layout **out);

// ==== 14  Views, drawings, shared memory ========================================================

typedef enum tilus_verdict {
  TILUS_VIEW_FREE = 0,     ///< no instruction: the registers are the same
  TILUS_VIEW_COSTS = 1,    ///< legal, at some instructions
  TILUS_VIEW_ILLEGAL = 2,
  TILUS_VIEW_FORCE32 = 0x7fffffff
} tilus_verdict;

/// The answer to: may a tensor (type, layout) be viewed as another?
typedef struct tilus_view tilus_view;

/// Asks for the view of bits [offset, offset + N2 * b2) of each thread's N1 * b1; with offset -1,
/// of all its bits, which then must be equally many. An illegal view is an answer, not an error.
/// [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_view_check(tilus_type source_type, const tilus_layout *source,
                                        tilus_type target_type, const tilus_layout *target,
                                        int64_t offset, tilus_view **out);

/// [0.1 | - | any thread | NULL: ILLEGAL | never fails]
TILUS_API tilus_verdict tilus_view_verdict(const tilus_view *view);

/// Instructions of each thread; -1 where illegal. [0.1 | - | any thread | NULL: -1 | never fails]
TILUS_API int64_t tilus_view_instructions(const tilus_view *view);

/// Why, with both layouts.
/// [0.1 | valid until the view's destroy | any thread | NULL: "" | never fails]
TILUS_API tilus_string tilus_view_reason(const tilus_view *view);

/// [0.1 | frees the view | any thread | NULL: nothing | never fails]
TILUS_API void tilus_view_destroy(tilus_view *view);

typedef enum tilus_drawing {
  TILUS_DRAWING_TEXT = 0,
  TILUS_DRAWING_ANSI = 1,  ///< text with colours for a terminal
  TILUS_DRAWING_SVG = 2,
  TILUS_DRAWING_FORCE32 = 0x7fffffff
} tilus_drawing;

/// Draws who holds what; with a type other than TILUS_TYPE_NONE, also the bits of a thread.
/// [0.1 | caller owns *out | any thread | NULL: error | T0245: too large to draw]
TILUS_API tilus_error *tilus_layout_draw(const tilus_layout *layout, tilus_type type,
                                         tilus_drawing drawing, tilus_blob **out);

/// Where the elements of a shared-memory tensor lie, in elements.
typedef struct tilus_shared_layout tilus_shared_layout;

/// The cost of one access by a warp or more, summed over its instructions.
typedef struct tilus_conflicts {
  size_t struct_size;
  int64_t vector_bytes;  ///< of one thread's access
  int64_t instructions;  ///< a warp's, over the whole tile
  int64_t wavefronts;    ///< passes that shared memory needs
  int64_t ideal;         ///< passes without any conflict
} tilus_conflicts;

/// From strides in elements, row-major where `strides` is NULL, and an XOR swizzle: an element
/// offset x becomes x ^ ((x >> swizzle_shift) & ((2^swizzle_bits - 1) << swizzle_base)), where
/// 0 <= bits <= shift; no swizzle where swizzle_bits is 0.
/// [0.1 | caller owns *out | any thread | NULL strides: row-major; others: error | T0235, T0236]
TILUS_API tilus_error *tilus_shared_layout_create(const int64_t *shape, const int64_t *strides,
                                                  size_t rank, int64_t swizzle_base,
                                                  int64_t swizzle_bits, int64_t swizzle_shift,
                                                  tilus_shared_layout **out);

/// Row-major with the swizzle that the compiler chooses by itself for elements of `type`.
/// [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_shared_layout_auto(const int64_t *shape, size_t rank, tilus_type type,
                                                tilus_shared_layout **out);

/// [0.1 | caller owns *out | any thread | NULL: error | -]
TILUS_API tilus_error *tilus_shared_layout_text(const tilus_shared_layout *layout,
                                                tilus_blob **out);

/// The offset of an element (as many integers as the rank), in elements.
/// [0.1 | - | any thread | NULL: error | OUT_OF_RANGE: index]
TILUS_API tilus_error *tilus_shared_layout_offset(const tilus_shared_layout *layout,
                                                  const int64_t *index, int64_t *offset);

/// What it costs to read or write the tile with this register layout, by the widest accesses that
/// both layouts allow. [0.1 | - | any thread | NULL: error | T0225: other shapes, or too large]
TILUS_API tilus_error *tilus_shared_layout_conflicts(const tilus_shared_layout *layout,
                                                     const tilus_layout *registers,
                                                     tilus_type type, tilus_conflicts *out);

/// [0.1 | frees the layout | any thread | NULL: nothing | never fails]
TILUS_API void tilus_shared_layout_destroy(tilus_shared_layout *layout);

// ==== 15  Weights ===============================================================================
//
// The weight transform: a matrix of codes is cut into tiles of a register layout, and the bytes
// that each thread's registers hold are laid out so that u8 loads bring them in without any work:
// byte j of thread t of a tile sits at (j / n1) * T * n1 + t * n1 + j mod n1, with
// n1 = gcd(bytes of a thread, 16). Where a thread's share is not whole bytes the tile is repeated 2, 4 or 8 times
// along k. Ragged edges are filled with code 0. Tiles follow each other in row-major order.

/// How a matrix is packed.
typedef struct tilus_weight_plan {
  size_t struct_size;
  int64_t repeat;        ///< of the layout along k
  int64_t tile[2];       ///< shape of a tile, the repetition included
  int64_t tiles[2];      ///< how many there are
  int64_t thread_bytes;  ///< of a thread's share
  int64_t tile_bytes;
  int64_t bytes;         ///< of the whole result
} tilus_weight_plan;

/// The plan for a matrix of rows x columns codes. `k_dim` (0 or 1) is the dimension that is summed.
/// [0.1 | - | any thread | NULL: error | T0240: rank not 2, or threads hold copies]
TILUS_API tilus_error *tilus_weight_describe(tilus_type type, const tilus_layout *layout,
                                             int64_t rows, int64_t columns, int64_t k_dim,
                                             tilus_weight_plan *out);

/// Codes, row-major, each an unsigned integer of `code_bytes` (1 or 2) bytes and below 2^bits, to
/// `out`, at least plan.bytes long.
/// [0.1 | - | any thread | NULL: error | as describe; OUT_OF_RANGE: a code or a size]
TILUS_API tilus_error *tilus_weight_pack(tilus_type type, const tilus_layout *layout, int64_t rows,
                                         int64_t columns, int64_t k_dim, const void *codes,
                                         uint32_t code_bytes, void *out, size_t out_size);

/// The way back: `bytes` are plan.bytes long, `codes` has room for rows * columns.
/// [0.1 | - | any thread | NULL: error | as describe; OUT_OF_RANGE: a size]
TILUS_API tilus_error *tilus_weight_unpack(tilus_type type, const tilus_layout *layout,
                                           int64_t rows, int64_t columns, int64_t k_dim,
                                           tilus_buffer bytes, void *codes, uint32_t code_bytes);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TILUS_LAYOUT_H_
