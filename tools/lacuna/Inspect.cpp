//===- Inspect.cpp - lacuna inspect: what an artifact holds ----------------===//
#include "lacuna/ArtifactFile.h"
#include "lib/Support/File.h"
#include "lib/Support/Text.h"
#include "runtime/Jit/Cubin.h"
#include "tools/lacuna/Command.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace lacuna::tool {

/// JSON has no other texts than UTF-8; a file may.
static std::string clean(const std::string &text) { return llvm::json::fixUTF8(text); }

/// "tensor<1x?x64xbf16>", "integer" or "float".
static std::string typeText(const ArgumentDeclaration &argument) {
  if (argument.kind == ArgumentDeclaration::Kind::Integer)
    return "integer";
  if (argument.kind == ArgumentDeclaration::Kind::Float)
    return "float";
  std::string text = "tensor<";
  for (int64_t extent : argument.shape)
    text += (extent < 0 ? "?" : std::to_string(extent)) + "x";
  return text + toString(argument.type) + ">";
}

/// What the machine code says about a kernel; nothing when there is none.
static std::optional<KernelReport> reportOf(const KernelCode &kernel) {
  if (kernel.cubin.empty())
    return std::nullopt;
  if (Result<std::vector<KernelReport>> reports = readCubin(kernel.cubin))
    for (const KernelReport &report : *reports)
      if (report.name == kernel.manifest.symbol)
        return report;
  return std::nullopt;
}

static std::string resultName(const Program &program, size_t index) {
  return program.resultNames.empty() ? std::to_string(index) : program.resultNames[index];
}

static llvm::json::Object toJson(const KernelCode &kernel) {
  const KernelManifest &manifest = kernel.manifest;
  llvm::json::Object object{{"name", clean(manifest.symbol)},
                            {"threads", manifest.threads},
                            {"shared_bytes", manifest.sharedBytes},
                            {"inputs", manifest.inputs},
                            {"outputs", static_cast<int64_t>(manifest.outputs.size())},
                            {"tensor_maps", static_cast<int64_t>(manifest.maps.size())},
                            {"requirements", static_cast<int64_t>(manifest.requirements.size())},
                            {"source_bytes", static_cast<int64_t>(kernel.source.size())},
                            {"cubin_bytes", static_cast<int64_t>(kernel.cubin.size())}};
  if (std::optional<KernelReport> report = reportOf(kernel))
    object["registers"] = report->registers;
  return object;
}

static std::string jsonOf(const Artifact &artifact, size_t bytes) {
  const Program &program = artifact.program;
  const ArtifactOrigin &origin = artifact.origin;
  llvm::json::Array arguments, results, kernels, launches;
  for (const ArgumentDeclaration &argument : program.arguments)
    arguments.push_back(
        llvm::json::Object{{"name", clean(argument.name)}, {"type", typeText(argument)}});
  for (size_t i = 0; i < program.results.size(); ++i)
    results.push_back(clean(resultName(program, i)));
  for (const KernelCode &kernel : program.kernels)
    kernels.push_back(toJson(kernel));
  for (const Launch &launch : program.launches)
    launches.push_back(clean(program.kernels[launch.kernel].manifest.symbol));
  llvm::json::Object root{{"function", clean(program.name)},
                          {"target", clean(program.architecture)},
                          {"format_version", artifactVersion},
                          {"bytes", static_cast<int64_t>(bytes)},
                          {"arguments", std::move(arguments)},
                          {"results", std::move(results)},
                          {"kernels", std::move(kernels)},
                          {"launches", std::move(launches)},
                          {"spec_sha256", clean(origin.specDigest)},
                          {"ir_sha256", clean(origin.irDigest)},
                          {"options", clean(origin.options)},
                          {"compiler", clean(origin.compiler)},
                          {"spec", clean(origin.spec)}};
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(root))).str();
}

static std::string kernelText(const KernelCode &kernel) {
  std::string code = "no machine code";
  if (!kernel.cubin.empty())
    code = groupedText(static_cast<int64_t>(kernel.cubin.size())) + " bytes of machine code";
  if (std::optional<KernelReport> report = reportOf(kernel))
    code += ", " + std::to_string(report->registers) + " registers";
  return llvm::formatv("{0}: {1} threads, {2} bytes of shared memory, {3} bytes of source, {4}",
                       kernel.manifest.symbol, kernel.manifest.threads,
                       groupedText(kernel.manifest.sharedBytes),
                       groupedText(static_cast<int64_t>(kernel.source.size())), code);
}

static std::string textOf(const Artifact &artifact, size_t bytes) {
  const Program &program = artifact.program;
  const ArtifactOrigin &origin = artifact.origin;
  std::string text;
  llvm::raw_string_ostream os(text);
  auto line = [&](llvm::StringRef name, const llvm::Twine &value) {
    std::string shown = value.str();
    os << llvm::left_justify(name, 12) << (shown.empty() ? "unknown" : shown) << '\n';
  };
  line("function", program.name);
  line("target", program.architecture);
  line("file", groupedText(static_cast<int64_t>(bytes)) + " bytes, format version " +
                   llvm::Twine(artifactVersion));
  for (const ArgumentDeclaration &argument : program.arguments)
    line("argument", argument.name + ": " + typeText(argument));
  for (size_t i = 0; i < program.results.size(); ++i)
    line("result", resultName(program, i));
  for (const KernelCode &kernel : program.kernels)
    line("kernel", kernelText(kernel));
  line("launches",
       llvm::join(llvm::map_range(program.launches,
                                  [&](const Launch &launch) {
                                    return program.kernels[launch.kernel].manifest.symbol;
                                  }),
                  ", "));
  line("spec", origin.specDigest);
  line("meaning", origin.irDigest);
  line("options", origin.options);
  line("compiler", origin.compiler);
  return text;
}

static int runInspect(const Arguments &arguments) {
  std::string path = arguments.positional(0).str();
  Result<std::string> bytes = readFile(path);
  if (!bytes)
    return fail(bytes.status().message());
  Result<Artifact> artifact = readArtifact(*bytes);
  if (!artifact)
    return fail(path + ": " + artifact.status().message());
  if (arguments.has("--spec"))
    return writeOutput("", artifact->origin.spec);
  return writeOutput("", arguments.has("--json") ? jsonOf(*artifact, bytes->size())
                                                 : textOf(*artifact, bytes->size()));
}

static const Option options[] = {
    {"--spec", "", "print the spec that the artifact was built from"},
    {"--json", "", "print JSON"},
};

const Command inspectCommand = {
    .name = "inspect",
    .summary = "show what an artifact holds, after checking every byte",
    .usage = "ARTIFACT [--spec] [--json]",
    .help =
        "An artifact is what 'lacuna compile --emit=artifact' writes. 'run', 'bench', 'explain'\n"
        "and 'plot' take one in place of a spec.\n\n"
        "  lacuna compile spec.mlir --emit=artifact -o spec.artifact\n"
        "  lacuna inspect spec.artifact\n",
    .options = options,
    .positionals = 1,
    .run = runInspect,
};

} // namespace lacuna::tool
