/* A C99 program against the shared library: sizes of structs, a CPU program with several lengths
   and windows, given and allocated results, and refusals. */
#include <lacuna/lacuna.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Structs that callers lay out: a change of size or offset breaks programs that are linked. */
typedef char assert_argument[sizeof(lacuna_argument) == 16 ? 1 : -1];
typedef char assert_value[offsetof(lacuna_argument, value) == 8 ? 1 : -1];
typedef char assert_context[sizeof(lacuna_context_options) == 48 ? 1 : -1];
typedef char assert_allocator[sizeof(lacuna_allocator) == 32 ? 1 : -1];
typedef char assert_call[sizeof(lacuna_call) == 48 ? 1 : -1];
typedef char assert_compile[sizeof(lacuna_compile_options) == 72 ? 1 : -1];
typedef char assert_flags[offsetof(lacuna_compile_options, flags) == 64 ? 1 : -1];
typedef char assert_info[sizeof(lacuna_value_info) == 32 ? 1 : -1];
typedef char assert_dtype[offsetof(lacuna_value_info, dtype) == 28 ? 1 : -1];

static const char spec[] =
    "func.func @window(%q: tensor<?x2x?x16xf32>, %k: tensor<?x1x?x16xf32>, %v: "
    "tensor<?x1x?x16xf32>,\n"
    "                  %left: index) -> (tensor<?x2x?x16xf32>, tensor<?x2x?xf32>) {\n"
    "  %near = sparsity.window left(%left) right(0)\n"
    "  %o, %lse = attn.attend %q, %k, %v over %near : tensor<?x2x?x16xf32>, tensor<?x1x?x16xf32>,\n"
    "      tensor<?x1x?x16xf32> -> tensor<?x2x?x16xf32>, tensor<?x2x?xf32>\n"
    "  return %o, %lse : tensor<?x2x?x16xf32>, tensor<?x2x?xf32>\n"
    "}\n";

static void check(lacuna_status status, lacuna_error *error, const char *call) {
  if (status == LACUNA_OK)
    return;
  printf("%s: status %d: %s\n", call, (int)status, lacuna_error_message(error));
  exit(1);
}

static void expect_refusal(lacuna_status status, lacuna_error *error, lacuna_status wanted) {
  if (status != wanted || !error || lacuna_error_status(error) != status) {
    printf("expected status %d, got %d\n", (int)wanted, (int)status);
    exit(1);
  }
  printf("refused: %s\n", lacuna_error_message(error));
  lacuna_error_release(error);
}

/* The call first, then its error. */
#define CHECK(call)                                                                                \
  do {                                                                                             \
    lacuna_status status = call;                                                                   \
    check(status, error, #call);                                                                   \
  } while (0)
#define REFUSED(call, wanted)                                                                      \
  do {                                                                                             \
    lacuna_status status = call;                                                                   \
    expect_refusal(status, error, wanted);                                                         \
  } while (0)

static DLTensor make_tensor(float *data, int ndim, int64_t *shape) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof(tensor));
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = ndim;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  return tensor;
}

/* The natural logarithm of the sum of exponentials of the scores of query `row`. */
static double exact_lse(const float *q, const float *k, int64_t n, int64_t head, int64_t row,
                        int64_t left) {
  double sum = 0;
  int64_t first = row > left ? row - left : 0, key;
  int channel;
  for (key = first; key <= row; ++key) {
    double score = 0;
    for (channel = 0; channel < 16; ++channel)
      score += (double)q[(head * n + row) * 16 + channel] * (double)k[key * 16 + channel];
    sum += exp(score / 4);
  }
  return log(sum);
}

static void run_window(const lacuna_executable *executable, int64_t n, int64_t left) {
  int64_t query_shape[4], key_shape[4], lse_shape[3], i, head, row;
  float *q = malloc((size_t)n * 32 * sizeof(float)), *k = malloc((size_t)n * 16 * sizeof(float));
  float *o = malloc((size_t)n * 32 * sizeof(float)), *lse = malloc((size_t)n * 2 * sizeof(float));
  DLTensor query, key, output, sums, *results[2];
  DLManagedTensor *allocated[2];
  lacuna_argument arguments[4];
  lacuna_error *error = NULL;
  double worst = 0;
  query_shape[0] = key_shape[0] = lse_shape[0] = 1;
  query_shape[1] = lse_shape[1] = 2;
  key_shape[1] = 1;
  query_shape[2] = key_shape[2] = lse_shape[2] = n;
  query_shape[3] = key_shape[3] = 16;
  for (i = 0; i < n * 32; ++i)
    q[i] = (float)((i * 37) % 101) / 50 - 1;
  for (i = 0; i < n * 16; ++i)
    k[i] = (float)((i * 53) % 97) / 48 - 1;
  query = make_tensor(q, 4, query_shape);
  key = make_tensor(k, 4, key_shape);
  output = make_tensor(o, 4, query_shape);
  sums = make_tensor(lse, 3, lse_shape);
  memset(arguments, 0, sizeof(arguments));
  arguments[0].value.tensor = &query;
  arguments[1].value.tensor = arguments[2].value.tensor = &key;
  arguments[3].kind = LACUNA_INTEGER;
  arguments[3].value.integer = left;
  results[0] = &output;
  results[1] = &sums;
  CHECK(lacuna_run(executable, NULL, arguments, 4, results, 2, &error));
  CHECK(lacuna_run_allocating(executable, NULL, arguments, 4, allocated, 2, &error));
  for (head = 0; head < 2; ++head)
    for (row = 0; row < n; ++row)
      worst = fmax(worst, fabs(lse[head * n + row] - exact_lse(q, k, n, head, row, left)));
  if (memcmp(allocated[0]->dl_tensor.data, o, (size_t)n * 32 * sizeof(float)) != 0 ||
      allocated[1]->dl_tensor.shape[2] != n || worst > 1e-5) {
    printf("n=%d left=%d: expected other results, error %g\n", (int)n, (int)left, worst);
    exit(1);
  }
  allocated[0]->deleter(allocated[0]);
  allocated[1]->deleter(allocated[1]);
  printf("n=%d left=%d ok\n", (int)n, (int)left);

  key.dtype.bits = 16;
  REFUSED(lacuna_run(executable, NULL, arguments, 4, results, 2, &error), LACUNA_INVALID_ARGUMENT);
  key.dtype.bits = 32;
  key.device.device_type = kDLCUDA;
  REFUSED(lacuna_run(executable, NULL, arguments, 4, results, 2, &error), LACUNA_INVALID_ARGUMENT);
  free(q);
  free(k);
  free(o);
  free(lse);
}

int main(void) {
  lacuna_context *context = NULL;
  lacuna_context_options settings = LACUNA_CONTEXT_OPTIONS_INIT;
  lacuna_compile_options options = LACUNA_COMPILE_OPTIONS_INIT;
  lacuna_program *program = NULL;
  lacuna_device *device = NULL;
  lacuna_executable *executable = NULL;
  lacuna_error *error = NULL;
  lacuna_value_info info;
  DLDevice cpu;
  size_t i, axis;

  printf("version %s\n", lacuna_version_text());
  settings.threads = 2;
  settings.cache_folder = "";
  CHECK(lacuna_context_create(&settings, &context, &error));
  options.target = kDLCPU;
  if (!lacuna_has_compiler()) {
    REFUSED(lacuna_compile(context, spec, strlen(spec), &options, &program, &error),
            LACUNA_UNSUPPORTED);
    lacuna_context_release(context);
    return 0;
  }
  REFUSED(lacuna_compile(context, spec, 200, &options, &program, &error), LACUNA_INVALID_ARGUMENT);
  CHECK(lacuna_compile(context, spec, strlen(spec), &options, &program, &error));
  for (i = 0; i < lacuna_program_argument_count(program); ++i) {
    info.struct_size = sizeof(info);
    CHECK(lacuna_program_argument(program, i, &info, &error));
    printf("argument %s kind %d rank %d\n", info.name, (int)info.kind, (int)info.rank);
  }
  for (i = 0; i < lacuna_program_result_count(program); ++i) {
    info.struct_size = sizeof(info);
    CHECK(lacuna_program_result(program, i, &info, &error));
    printf("result %s bits %d:", info.name, info.dtype.bits);
    for (axis = 0; axis < (size_t)info.rank; ++axis)
      printf(" %s", lacuna_program_result_extent(program, i, axis));
    printf("\n");
  }
  REFUSED(lacuna_program_save(program, "never-written", &error), LACUNA_UNSUPPORTED);
  REFUSED(lacuna_program_save_compiled(program, "never-written", &error), LACUNA_UNSUPPORTED);
  cpu.device_type = kDLCPU;
  cpu.device_id = 0;
  CHECK(lacuna_device_open(context, cpu, &device, &error));
  CHECK(lacuna_load(device, program, &executable, &error));
  /* In any order: an executable keeps what it needs. */
  lacuna_program_release(program);
  lacuna_device_release(device);
  run_window(executable, 1, 0);
  run_window(executable, 33, 4);
  run_window(executable, 200, 1000);
  lacuna_executable_release(executable);
  for (i = 0; i < lacuna_counter_count(); ++i)
    printf("counter %s %d\n", lacuna_counter_name(i), (int)lacuna_counter_value(context, i));
  lacuna_context_release(context);
  return 0;
}
