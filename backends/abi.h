/* The C interface between attest and a kernel plug-in. C11 and C++20.
 *
 * A plug-in is a shared library that exports one function, attest_backend_entry(), which returns a table of
 * functions. attest loads it in a worker process, opens it once, and then for each case asks `supports`,
 * makes a plan, launches it once or more, reads the results, and frees the plan.
 *
 *   plan    sees every tensor's address, shape and strides, and upper bounds of all lengths. What it computes
 *           or reads here is what a captured graph would freeze.
 *   launch  puts the kernel on the stream. It reads lengths, page tables, scales and data only there.
 *
 * No exception, no allocation and no ownership crosses this interface. Tensors belong to attest; they, the problem and
 * the slots that plan() is given outlive the plan. Messages go into the caller's buffer. A library is never unloaded.
 * Functions marked (optional) may be NULL. Everything here is append-only within one ATTEST_ABI_VERSION; struct_size
 * says what the other side knows.
 */
#ifndef ATTEST_BACKENDS_ABI_H
#define ATTEST_BACKENDS_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTEST_ABI_VERSION 1 /* a plug-in built for another version is refused */
#define ATTEST_MAX_DIMS 6

typedef enum attest_status {
  ATTEST_OK = 0,
  ATTEST_UNSUPPORTED = 1, /* the plug-in declines this problem; the message says why */
  ATTEST_REJECTED = 2,    /* the kernel itself refused it; message holds the kernel's own error type and text */
  ATTEST_ERROR = 3,       /* it failed */
  ATTEST_MISSING = 4      /* the environment lacks something; the message names the command that brings it */
} attest_status;

/* The values of attest::DType, harness/core/dtype.h. Of block formats (Q8_0, Q4_0) shape[last] counts elements; the
 * bytes are the format's own. */
typedef enum attest_dtype {
  ATTEST_F64 = 0,
  ATTEST_F32 = 1,
  ATTEST_F16 = 2,
  ATTEST_BF16 = 3,
  ATTEST_FP8_E4M3FN = 4,
  ATTEST_FP8_E5M2 = 5,
  ATTEST_FP8_E4M3FNUZ = 6,
  ATTEST_FP8_E5M2FNUZ = 7,
  ATTEST_Q8_0 = 8,
  ATTEST_Q4_0 = 9,
  ATTEST_I32 = 10,
  ATTEST_I64 = 11,
  ATTEST_U8 = 12
} attest_dtype;

typedef enum attest_op {
  ATTEST_OP_WRITE = 0,        /* k_new, v_new -> cache at slot_mapping */
  ATTEST_OP_ATTEND = 1,       /* q, cache -> out, lse */
  ATTEST_OP_WRITE_ATTEND = 2, /* both in one call */
  ATTEST_OP_ROPE = 3          /* q, k_new, positions -> q_out, k_out */
} attest_op;

typedef enum attest_phase {
  ATTEST_DECODE = 0,
  ATTEST_PREFILL = 1,
  ATTEST_MIXED = 2,
  ATTEST_WRITE = 3,
  ATTEST_ROPE = 4
} attest_phase;

/* Shapes: T tokens of all sequences, B sequences, Hq and Hkv heads, D and Dv head dims. */
typedef enum attest_slot {
  ATTEST_Q = 0,     /* [T, Hq, D] */
  ATTEST_Q_ROPE,    /* [T, Hq, Drope] */
  ATTEST_K_NEW,     /* [T, Hkv, D] */
  ATTEST_K_ROPE,    /* [T, Hkv, Drope] */
  ATTEST_V_NEW,     /* [T, Hkv, Dv] */
  ATTEST_POSITIONS, /* i64 [T] */
  ATTEST_OFFSETS,   /* i64 [T] */
  ATTEST_COS_SIN,   /* f32 [positions, rotary_dim]: cosines, then sines */
  ATTEST_K_CACHE,   /* the shape of the contract's layout */
  ATTEST_V_CACHE,
  ATTEST_OUT,          /* [T, Hq, Dv] */
  ATTEST_LSE,          /* f32 [Hq, T], natural log */
  ATTEST_PAGE_TABLE,   /* i32 [B, pages a sequence] */
  ATTEST_SLOT_MAPPING, /* i64 [T]: page * page_size + slot, negative: not written */
  ATTEST_LEN_KV,       /* i32 [B] */
  ATTEST_CU_LEN_Q,     /* i32 [B + 1] */
  ATTEST_Q_SCALE,      /* f32 [1], [Hkv] or [B, Hkv]; value = stored * scale */
  ATTEST_K_SCALE,
  ATTEST_V_SCALE,
  ATTEST_SINKS,     /* [Hq] */
  ATTEST_ALIBI,     /* f32 [Hq] */
  ATTEST_WORKSPACE, /* u8 [workspace_bytes] */
  ATTEST_Q_OUT,     /* [T, Hq, D] */
  ATTEST_K_OUT,     /* [T, Hkv, D] */
  ATTEST_NUM_SLOTS
} attest_slot;

typedef struct attest_tensor { /* as in DLPack: strides in elements, data on the device of the plug-in */
  void* data;
  int32_t dtype; /* attest_dtype */
  int32_t ndim;
  int64_t shape[ATTEST_MAX_DIMS];
  int64_t strides[ATTEST_MAX_DIMS];
} attest_tensor;

typedef struct attest_slots {
  const attest_tensor* at[ATTEST_NUM_SLOTS]; /* NULL: absent */
} attest_slots;

typedef struct attest_message {
  char type[64];   /* the error's type, e.g. "ValueError"; may be empty */
  char text[2048]; /* zero-terminated */
} attest_message;

typedef struct attest_option { /* from the contract's `options` */
  const char* key;
  const char* value;
} attest_option;

typedef struct attest_problem {
  uint32_t struct_size;
  int32_t op;                                                /* attest_op */
  int32_t phase;                                             /* attest_phase */
  int32_t q_dtype, k_dtype, v_dtype, cache_dtype, out_dtype; /* attest_dtype; k, v: of new keys and values */
  const char* cache_name; /* as a server spells it: "auto", "bf16", "fp8_e4m3", ... */
  int32_t heads_q, heads_kv, dim, dim_v, page_size;
  int32_t num_seqs, total_q, max_len_q, max_len_kv; /* upper bounds over every launch of the plan */
  int32_t num_pages, pages_per_seq;
  int32_t causal;                    /* row i of the sequence sees no key past i */
  int32_t window_left, window_right; /* -1: unbounded */
  int32_t chunk;                     /* 0: none */
  int32_t splits;                    /* 0: the kernel's choice */
  double softmax_scale, softcap;     /* softcap 0: none */
  int32_t rotary_dim, rotary_interleaved;
  const char* fault; /* "" or a fault to commit on purpose; a shipped kernel ignores it */
} attest_problem;

typedef struct attest_description { /* strings live until close */
  const char* version;
  const char* about; /* one sentence */
} attest_description;

typedef struct attest_result {                     /* strings and tensors live until the next launch or free_plan */
  const char* ran;                                 /* the kernel that really ran */
  const attest_tensor* produced[ATTEST_NUM_SLOTS]; /* shape and dtype of what the kernel returned in memory of its
                                                      own, before it was copied to the slot; NULL: it wrote there */
} attest_result;

typedef struct attest_plan attest_plan;
typedef struct attest_stream attest_stream;

/* Runs when the stream gets to it; args is the stream's own copy. */
typedef attest_status (*attest_launch_fn)(const void* args, attest_message* message);

struct attest_stream {
  uint32_t struct_size;
  void* native; /* cudaStream_t on a CUDA device, NULL on the cpu device */
  attest_status (*enqueue)(attest_stream* stream, attest_launch_fn fn, const void* args, size_t size,
                           attest_message* message);
};

typedef struct attest_backend {
  uint32_t abi_version; /* ATTEST_ABI_VERSION */
  uint32_t struct_size; /* sizeof(attest_backend) */
  attest_status (*open)(const attest_option* options, size_t count, void** context /* out */, attest_message* message);
  void (*close)(void* context);
  attest_status (*describe)(void* context, attest_description* description /* out */);
  attest_status (*supports)(void* context, const attest_problem* problem, attest_message* message);
  attest_status (*plan)(void* context, const attest_problem* problem, const attest_slots* slots,
                        attest_plan** plan /* out */, attest_message* message);
  attest_status (*launch)(attest_plan* plan, attest_stream* stream, attest_message* message);
  attest_status (*result)(attest_plan* plan, attest_result* result /* out */);
  void (*free_plan)(attest_plan* plan);
  size_t (*workspace_bytes)(void* context, const attest_problem* problem); /* (optional) */
  /* (optional) Element offset of (page, slot, head, dim) in the tensor of `cache` (ATTEST_K_CACHE or ATTEST_V_CACHE),
     for layouts that strides cannot say. */
  int64_t (*cache_index)(void* context, const attest_problem* problem, int32_t cache, int64_t page, int64_t slot,
                         int64_t head, int64_t dim);
  /* (optional) Exact values of `count` elements of a block format. */
  attest_status (*decode_row)(void* context, int32_t dtype, const void* bytes, int64_t count, float* values /* out */);
} attest_backend;

/* The one exported symbol. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const attest_backend*
attest_backend_entry(void);

#ifdef __cplusplus
}
#endif

#endif
