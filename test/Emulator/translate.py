"""Turns one emitted kernel into C++ for a host.

    translate.py SOURCE.cu DEVICE_LIBRARY > KERNEL.cpp

The device library's arithmetic stays as it is; its instructions, copies and the pipeline come from Device.h and
Pipeline.h. `emulate_<kernel>(blocks, parameters)` runs a launch; `emulate_<kernel>_sizes` has the bytes of each parameter, then 0.
"""
import pathlib
import re
import sys

KERNEL = re.compile(r'extern "C" __global__ void __launch_bounds__\((\d+)[^)]*\)\n(\w+)\((.*?)\) \{', re.S)
SCAN = """template <class Index, class Test, class Visit>
inline void scan(Index lower, Index upper, Index step, Test &&test, Visit &&visit) {
  for (Index i = lower; i < upper; i += step)
    if (test(i))
      visit(i);
}
"""
LISTED = """template <class Index, class Load, class Visit>
inline void forListed(Index lower, Index upper, Index step, Load &&load, Visit &&visit) {
  for (Index i = lower; i < upper; i += step)
    visit(i, load(i));
}
"""
LANES = """template <class Index, class Load, class Visit>
inline void forLanes(Index lower, Index upper, Index step, Load &&load, Visit &&visit) {
  for (Index i = lower; i < upper; i += step)
    visit(i, load(i), true);
}
"""
VISIT = """template <class Visit>
inline void visitLanes(Visit &&visit, int kind, bool isHere, int a0, int a1 = 0, int a2 = 0) {
  if (isHere)
    visit(kind, a0, a1, a2);
}
"""
ONES = """inline u32 ones(u32 first, u32 count) {
  u64 end = u64(1) << min(u64(first) + count, u64(32)), begin = u64(1) << min(first, u32(32));
  return static_cast<u32>(end - begin);
}
"""


# Calls of kernels whose threads meet, and the parts of the device library that they need behind the scalars.
CHOICES = ["Teams", "Choices", "KeptRows", "Draws"]
LISTS = ["Rows", "SelectLists", "SelectRefine"]
REFINED = ["Rows", "SelectLists", "Teams", "Choices", "KeptRows", "RefinedRows"]
FIBERS = {"linearState<": ["Rows", "LinearStates"], "prefixRows<": ["Rows", "LinearStates"], "sumRows(": ["Rows", "LinearStates"],
          "weighRows<": ["Rows", "LinearStates", "LinearReads"], "summarize<": ["Rows", "Teams", "Summaries"],
          "foldRow<": ["Rows", "Teams", "Summaries"], "plainScores(": ["Rows", "Scores", "PlainScores"], "scoreBlocks<": ["Rows", "Scores"],
          "projectRows<": ["Rows", "LinearStates", "Projections"], "scoreList<": LISTS, "listOfMask<": LISTS, "maskOfList(": LISTS,
          "csrOfList<": LISTS, "listOfCsr<": LISTS, "childrenOf<": LISTS, "pickEntries(": LISTS, "withoutListed(": LISTS,
          "refineRow<": REFINED, "choose<Rule": CHOICES, "sample(choice": CHOICES, "storeMargin(": CHOICES, "countChosen<Rule": CHOICES}


def dynamic_shared(text):
    """Dynamic shared memory is one buffer of the host."""
    return re.sub(r"extern __shared__ (?:__align__\(\d+\) )?([\w ]+?) (\w+)\[\];",
                  r"\1 *\2 = reinterpret_cast<\1 *>(fibers::sharedMemory);", text)


def replace(text, pattern, by):
    """One function for another; a library that has it no longer must be looked at."""
    result, count = re.subn(pattern, lambda _: by, text, flags=re.S)
    if count != 1:
        sys.exit(f"translate.py: expected '{pattern}' once in the device library, found it {count} times")
    return result


def library(folder, name):
    """A part of the device library without machine instructions."""
    text = (pathlib.Path(folder) / f"{name}.cuh").read_text()
    text = re.sub(r'asm\("cvt.f32.f16 .*?: "h"\((.*?)\)\);\n', r"value = halfToFloat(\1);\n", text)
    if name == "Scalars":
        text = replace(text, r"template <class Index, class Test, class Visit>\n.*?\n\}\n", SCAN)
        text = replace(text, r"template <class Index, class Load, class Visit>\n[^\n]* forListed\(.*?\n\}\n", LISTED)
        text = replace(text, r"template <class Index, class Load, class Visit>\n[^\n]* forLanes\(.*?\n\}\n", LANES)
        text = replace(text, r"template <class Visit>\n[^\n]* visitLanes\(.*?\n\}\n", VISIT)
    if name == "Masks":
        text = replace(text, r"__device__ __forceinline__ u32 ones\(u32 first, u32 count\) \{.*?\n\}\n", ONES)
    if name == "Recompute":
        text = text[:text.index("/// A warp's sum")]
    if name == "Skips":
        text = text[:text.index("template <class C> struct SkippingConsumer")]
    return text


def run_attention(call, threads, has_order):
    """One thread that looks for long items, one for the producer, then each consumer thread twice."""
    order = f"threadIdx.x = 32;\n    {call}\n    " if has_order else ""
    consumers = f"for (threadIdx.x = 128; threadIdx.x < {threads}; ++threadIdx.x)\n      {call}"
    return f"""    items.clear();
    phase = Phase::Produce;
    {order}threadIdx.x = 0;
    {call}
    phase = Phase::Score;
    {consumers}
    sumRows<Config>();
    phase = Phase::Store;
    {consumers}
    compareRecomputed<Config>();
"""


def main():
    source, folder = pathlib.Path(sys.argv[1]).read_text(), sys.argv[2]
    is_attention = "struct Config {" in source
    body = source[source.index("struct Config {" if is_attention else "struct Arguments {"):]
    fibers = next((parts for call, parts in FIBERS.items() if call in body), None) if not is_attention else None
    threads, name, parameters = KERNEL.search(body).groups()
    maps = parameters.count("TensorMap ")
    arguments = [f"*static_cast<TensorMap *>(parameters[{i}])" for i in range(maps)]
    arguments.append(f"*static_cast<Arguments *>(parameters[{maps}])")
    call = f"{name}({', '.join(arguments)});"
    # Shared memory is not used, and its size is checked where kernels are compiled for a GPU.
    body = body.replace("extern __shared__ __align__(1024) unsigned char memory[];", "unsigned char *memory = nullptr;")
    body = re.sub(r"static_assert\(Shared<Config>.*?\);\n", "", body, flags=re.S)
    if fibers:
        parts = ["Scalars"] + fibers
        body = dynamic_shared(body)
        run = f"    fibers::run({threads}, [&] {{ {call} }});\n"
    elif is_attention:
        parts, run = ["Scalars", "Masks", "Recompute", "Skips"], run_attention(call, threads, "LongItems<" in body)
    elif "__syncthreads_or" in body:
        # The threads of a block share the pairs of a tile; one thread takes them all.
        body = body.replace(f"pair += {threads}", "pair += 1")
        parts, run = ["Scalars"], f"    threadIdx.x = 0;\n    {call}\n"
    else:
        parts = ["Scalars", "Rows"]
        run = f"    for (threadIdx.x = 0; threadIdx.x < {threads}; ++threadIdx.x)\n      {call}\n"
    header = "Fibers.h" if fibers else "Pipeline.h" if is_attention else "Device.h"
    print(f'#include "test/Emulator/{header}"')
    text = "\n".join(library(folder, part) for part in parts)
    print(dynamic_shared(text) if fibers else text)
    print(body)
    sizes = ", ".join(["sizeof(TensorMap)"] * maps + ["sizeof(Arguments)", "0"])
    print(f'extern "C" const unsigned long emulate_{name}_sizes[] = {{{sizes}}};')
    print(f"""extern "C" void emulate_{name}(unsigned blocks, void **parameters) {{
  gridDim.x = blocks;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {{
{run}  }}
}}""")


main()
