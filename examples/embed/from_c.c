//===- from_c.c - Lacuna from C --------------------------------------------===//
//
//   from_c SPEC.mlir
//
// Compiles examples/causal.mlir for the CPU, asks it what it takes, and runs it on 100 tokens.
//
//===----------------------------------------------------------------------===//
#include <lacuna/lacuna.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(lacuna_error *error) {
  fprintf(stderr, "%s\n", lacuna_error_message(error));
  lacuna_error_release(error);
  return 1;
}

static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *text = malloc(1 << 16);
  *size = file && text ? fread(text, 1, 1 << 16, file) : 0;
  if (file)
    fclose(file);
  return text;
}

static DLTensor make_tensor(float *data, int64_t *shape) {
  DLTensor tensor;
  memset(&tensor, 0, sizeof(tensor));
  tensor.data = data;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = 4;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape; // Without strides a tensor is contiguous.
  return tensor;
}

int main(int argc, char **argv) {
  enum { n = 100 };
  static float q[4 * n * 32], kv[2 * n * 32], o[4 * n * 32];
  int64_t query_shape[4] = {1, 4, n, 32}, key_shape[4] = {1, 2, n, 32};
  DLTensor query = make_tensor(q, query_shape), key = make_tensor(kv, key_shape);
  DLTensor output = make_tensor(o, query_shape), *results[1] = {&output};
  lacuna_argument arguments[3] = {
      {LACUNA_TENSOR, 0, {&query}}, {LACUNA_TENSOR, 0, {&key}}, {LACUNA_TENSOR, 0, {&key}}};
  lacuna_context *context = NULL;
  lacuna_program *program = NULL;
  lacuna_device *device = NULL;
  lacuna_executable *executable = NULL;
  lacuna_error *error = NULL;
  lacuna_compile_options options = LACUNA_COMPILE_OPTIONS_INIT;
  lacuna_value_info info;
  DLDevice cpu = {kDLCPU, 0};
  size_t size = 0, i;
  char *text;

  if (argc != 2)
    return 2;
  text = read_file(argv[1], &size);
  for (i = 0; i < 2 * n * 32; i += 32)
    kv[i] = 1;
  options.target = kDLCPU; // kDLCUDA compiles for sm_90a, without a GPU too.
  if (lacuna_context_create(NULL, &context, &error) ||
      lacuna_compile(context, text, size, &options, &program, &error) ||
      lacuna_device_open(context, cpu, &device, &error) ||
      lacuna_load(device, program, &executable, &error))
    return fail(error);
  for (i = 0; i < lacuna_program_argument_count(program); ++i) {
    info.struct_size = sizeof(info);
    if (lacuna_program_argument(program, i, &info, &error))
      return fail(error);
    printf("argument %s with %d axes\n", info.name, (int)info.rank);
  }
  if (lacuna_run(executable, NULL, arguments, 3, results, 1, &error))
    return fail(error);
  printf("o[0, 0, %d, 0] = %.3f\n", n - 1, o[(n - 1) * 32]);

  lacuna_executable_release(executable);
  lacuna_device_release(device);
  lacuna_program_release(program);
  lacuna_context_release(context);
  free(text);
  return 0;
}
