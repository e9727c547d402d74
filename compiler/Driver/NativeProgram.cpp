//===- NativeProgram.cpp - CPU programs behind the public interface --------===//
#include "compiler/Driver/NativeProgram.h"

#include "lacuna/Compiler.h"
#include "lib/Artifact/ByteCoder.h"
#include "lib/Artifact/ProgramCoder.h"

namespace lacuna {

namespace {
class CpuCode final : public NativeCode {
public:
  explicit CpuCode(std::unique_ptr<CpuProgram> program) : program(std::move(program)) {}
  Status run(std::span<const Argument> arguments, std::span<const Tensor> results,
             Executor &executor) const override {
    return program->run(arguments, results, executor);
  }
  std::string write() const { return program->write(); }

private:
  std::unique_ptr<CpuProgram> program;
};
} // namespace

std::shared_ptr<const NativeCode> makeNative(std::unique_ptr<CpuProgram> program) {
  return std::make_shared<CpuCode>(std::move(program));
}

Result<std::string> writeNative(const Artifact &artifact) {
  const auto *code = dynamic_cast<const CpuCode *>(artifact.program.native.get());
  if (!code)
    return Status::error(StatusCode::InvalidArgument,
                         "expected a program that was compiled for this CPU");
  ByteWriter writer;
  writer.text(code->write());
  writer.text(writeProgram(artifact.program));
  writer.text(writeOrigin(artifact.origin));
  return std::move(writer.bytes);
}

Result<Artifact> readNative(std::string_view bytes) {
  ByteReader reader(bytes);
  std::string code, program, origin;
  for (std::string *part : {&code, &program, &origin})
    reader.text(*part);
  if (Status status = reader.finish(); !status)
    return status;
  Result<std::unique_ptr<CpuProgram>> native = CpuProgram::read(code);
  if (!native)
    return native.status();
  Result<Program> described = readProgram(program);
  if (!described)
    return described.status();
  Result<ArtifactOrigin> from = readOrigin(origin);
  if (!from)
    return from.status();
  described->native = makeNative(std::move(*native));
  return Artifact{std::move(*described), std::move(*from)};
}

} // namespace lacuna
