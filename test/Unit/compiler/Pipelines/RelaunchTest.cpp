//===- RelaunchTest.cpp - other sizes and values need no other program -----===//
#include "compiler/Driver/InitDialects.h"
#include "compiler/Driver/ParseSpec.h"
#include "compiler/Driver/SpecInterface.h"
#include "compiler/Emit/CudaPrinter.h"
#include "compiler/Pipelines/Pipelines.h"
#include "runtime/Launch/LoadedProgram.h"
#include "test/Unit/runtime/FakeDriverTest.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"

#include <gmock/gmock.h>

using namespace lacuna;
using namespace mlir;
using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::StartsWith;

namespace {
/// Specs compiled down to CUDA C++ and launched on the fake driver, whose device memory is the
/// host's.
class RelaunchTest : public FakeDriverTest {
protected:
  /// Compiles the spec and loads it. There is no NVRTC: compiling a kernel later would fail.
  void load(const std::string &text) {
    context.appendDialectRegistry(lacunaDialects());
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text), llvm::SMLoc());
    spec = parseSpec(sources, &context);
    ASSERT_TRUE(spec);
    OwningOpRef<ModuleOp> module = spec->clone();
    SpecToHopperOptions options;
    options.target = "sm_90a";
    PassManager passes(&context);
    buildSpecToHopper(passes, options);
    ASSERT_TRUE(succeeded(passes.run(*module)));
    FailureOr<Program> printed = printProgram(*module->getOps<func::FuncOp>().begin());
    ASSERT_TRUE(succeeded(printed));
    ASSERT_EQ(printed->kernels.size(), 1u);
    printed->kernels[0].cubin = "machine code";
    state->mapCount = printed->kernels[0].manifest.maps.size();
    state->fieldCount = printed->kernels[0].manifest.fields.size();
    auto device = openDevice();
    ASSERT_TRUE(device) << device.status().message();
    auto loaded = LoadedProgram::load(*device, std::move(*printed), {});
    ASSERT_TRUE(loaded) << loaded.status().message();
    program = std::move(*loaded);
  }

  /// What the driver is asked when the program runs with these values into results that are there.
  std::vector<std::string> callsOf(const std::string &values) {
    BindOptions options;
    EXPECT_TRUE(parseAssignments(values, options.given));
    auto bound = bindSpec(*spec->getOps<func::FuncOp>().begin(), options);
    if (failed(bound))
      return {"these values do not fit the spec"};
    std::vector<OwnedTensor> memory;
    std::vector<Tensor> results(program->program().results.size());
    Status status = program->run(nullptr, bound->arguments, results);
    EXPECT_TRUE(status) << status.message();
    for (Tensor &result : results) {
      program->allocator().release(result.data, nullptr);
      result.data = memory.emplace_back(result.type, result.shape).view().data;
    }
    state->calls.clear();
    status = program->run(nullptr, bound->arguments, results);
    EXPECT_TRUE(status) << status.message();
    return state->calls;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> spec;
  std::unique_ptr<LoadedProgram> program;
};
} // namespace

/// One attend over `set`, which may use the arguments behind the tensors.
static std::string specOf(const std::string &arguments, const std::string &set,
                          const std::string &setType = "") {
  const std::string tensor = "tensor<?x4x?x64xbf16>";
  return "func.func @f(%q: " + tensor + ", %k: " + tensor + ", %v: " + tensor + arguments +
         ") -> " + tensor + " {\n" + set + "  %o = attn.attend %q, %k, %v over %set" + setType +
         " : " + tensor + ", " + tensor + ", " + tensor + " -> " + tensor +
         "\n  return %o : " + tensor + "\n}\n";
}

/// A kernel that takes work from a counter has it zeroed; there is nothing else to do.
static auto onlyLaunches() {
  return AllOf(Each(AnyOf(StartsWith("launch "), StartsWith("words "))),
               Contains("launch f_attend_0").Times(1));
}

TEST_F(RelaunchTest, lengthsBatchAndWindows) {
  load(specOf(", %left: index, %right: index",
              "  %set = sparsity.window left(%left) right(%right)\n"));
  for (const char *values : {"b=1,n=128,left=5,right=0", "b=3,n=1000,left=5,right=0",
                             "b=1,nq=7,nk=3000,left=4095,right=9", "b=2,n=65,left=0,right=64",
                             "b=1,n=128,left=5,right=0"})
    EXPECT_THAT(callsOf(values), onlyLaunches()) << values;
}

TEST_F(RelaunchTest, radiiAndExtents) {
  load(specOf(", %t: index, %y: index, %x: index, %r: index, %s: index",
              "  %g = sparsity.grid [%t, %y, %x]\n"
              "  %set = sparsity.radius [%r, %s, 8] in %g : !sparsity.domain<3>\n",
              " : !sparsity.set<3>"));
  for (const char *values :
       {"b=1,t=4,y=8,x=16,r=2,s=5", "b=2,t=5,y=9,x=17,r=0,s=7", "b=1,t=1,y=1,x=1,r=1,s=1"})
    EXPECT_THAT(callsOf(values), onlyLaunches()) << values;
}

TEST_F(RelaunchTest, documents) {
  load(specOf(", %cu: tensor<?xi32>",
              "  %set = sparsity.documents %cu, %cu causal : tensor<?xi32>, tensor<?xi32>\n"));
  for (const char *values : {"b=1,n=300,cu=0:100:300", "b=1,n=700,cu=0:1:1:200:640"})
    EXPECT_THAT(callsOf(values), onlyLaunches()) << values;
}
