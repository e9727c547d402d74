//===- RelaunchTest.cpp - other sizes and values need no other program -----===//
#include "test/Unit/compiler/Pipelines/LaunchFixture.h"

#include <gmock/gmock.h>

using namespace lacuna;
using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::StartsWith;

namespace {
class RelaunchTest : public LaunchFixture {
protected:
  /// What the driver is asked when the program runs with these values into results that are there.
  std::vector<std::string> callsOf(const std::string &values) {
    bind(values);
    std::vector<OwnedTensor> memory;
    std::vector<Tensor> results(program->program().results.size());
    Status status = program->run(nullptr, bound.arguments, results);
    EXPECT_TRUE(status) << status.message();
    for (Tensor &result : results) {
      program->allocator().release(result.data, nullptr);
      result.data = memory.emplace_back(result.type, result.shape).view().data;
    }
    state->calls.clear();
    status = program->run(nullptr, bound.arguments, results);
    EXPECT_TRUE(status) << status.message();
    return state->calls;
  }
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
