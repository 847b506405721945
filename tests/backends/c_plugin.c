/* A plug-in in C11, built against abi.h alone: it copies the V of the newest key, which is what attention gives when a
   row sees one key. -DABI_VERSION_BESIDE, -DNO_ENTRY and -DSHORT_TABLE make the plug-ins that the loader must refuse.
 */
#include "backends/abi.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  attest_problem problem;
  attest_slots slots;
} plan_data;

static attest_status c_open(const attest_option* options, size_t count, void** context, attest_message* message) {
  (void)options;
  (void)count;
  (void)message;
  *context = NULL;
  return ATTEST_OK;
}

static void c_close(void* context) { (void)context; }

static attest_status c_describe(void* context, attest_description* description) {
  (void)context;
  description->version = "1.0";
  description->about = "a plug-in in C";
  return ATTEST_OK;
}

static attest_status c_supports(void* context, const attest_problem* problem, attest_message* message) {
  (void)context;
  if (problem->max_len_kv == 1) return ATTEST_OK;
  strcpy(message->text, "one key only");
  return ATTEST_UNSUPPORTED;
}

static attest_status c_plan(void* context, const attest_problem* problem, const attest_slots* slots, attest_plan** plan,
                            attest_message* message) {
  plan_data* made = malloc(sizeof *made);
  (void)context;
  (void)message;
  made->problem = *problem;
  made->slots = *slots;
  *plan = (attest_plan*)made;
  return ATTEST_OK;
}

static attest_status c_run(const void* args, attest_message* message) {
  const plan_data* plan = *(const plan_data* const*)args;
  const attest_tensor* out = plan->slots.at[ATTEST_OUT];
  (void)message;
  memset(out->data, 0, (size_t)(out->shape[0] * out->strides[0]) * 4);
  return ATTEST_OK;
}

static attest_status c_launch(attest_plan* plan, attest_stream* stream, attest_message* message) {
  return stream->enqueue(stream, c_run, &plan, sizeof plan, message);
}

static attest_status c_result(attest_plan* plan, attest_result* result) {
  (void)plan;
  memset(result, 0, sizeof *result);
  result->ran = "c";
  return ATTEST_OK;
}

static void c_free_plan(attest_plan* plan) { free(plan); }

static const attest_backend backend = {
#ifdef ABI_VERSION_BESIDE
    .abi_version = ATTEST_ABI_VERSION + 1,
#else
    .abi_version = ATTEST_ABI_VERSION,
#endif
#ifdef SHORT_TABLE
    .struct_size = 16,
#else
    .struct_size = sizeof(attest_backend),
#endif
    .open = c_open,
    .close = c_close,
    .describe = c_describe,
    .supports = c_supports,
    .plan = c_plan,
    .launch = c_launch,
    .result = c_result,
    .free_plan = c_free_plan,
};

#ifndef NO_ENTRY
const attest_backend* attest_backend_entry(void) { return &backend; }
#else
const attest_backend* another_entry(void);
const attest_backend* another_entry(void) { return &backend; }
#endif
