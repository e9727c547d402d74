"""The table of property tests: specs, and the sizes and values that each runs on.

Every group is one property of the issue's list. Sizes lie at the borders of tiles of 64, 80, 96, 128 and 192 tokens.
"""
import os
import re
import struct

import linear_cases
import select_cases
import speed_cases

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")


class Check:
    """A spec and lines for `--sets`; `files` makes .npy inputs by name. Without lines a spec is only compiled."""

    def __init__(self, group, name, spec, sets=("b=1",), flags=(), files=None, slow=False, sanitize=False):
        self.group, self.name, self.spec, self.sets, self.flags = group, name, spec, list(sets), list(flags)
        self.files, self.slow, self.sanitize = files, slow, sanitize

    @property
    def title(self):
        return f"{self.group}: {self.name}"


def spec(set, type="bf16", hq=4, hkv=2, d=64, dv=None, arguments="", clauses="", lse=True, axes=1):
    """One attend over the set that `set`, lines of ops, defines as %set."""
    dv = dv or d
    tensor = lambda heads, channels: f"tensor<?x{heads}x?x{channels}x{type}>"
    query, key, value, output = tensor(hq, d), tensor(hkv, d), tensor(hkv, dv), tensor(hq, dv)
    sums = f"tensor<?x{hq}x?xf32>"
    results, names = ([output, sums], "%o, %lse") if lse else ([output], "%o")
    results = ", ".join(results)
    ops = "".join(f"  {line.strip()}\n" for line in set.strip().split("\n"))
    set_type = f" : !sparsity.set<{axes}>" if axes > 1 else ""
    return (f"func.func @f(%q: {query}, %k: {key}, %v: {value}{arguments}) -> ({results}) {{\n{ops}"
            f"  {names} = attn.attend %q, %k, %v over %set{clauses}{set_type}\n"
            f"      : {query}, {key}, {value} -> {results}\n  return {names} : {results}\n}}\n")


WINDOW = "%set = sparsity.window left(%left) right(%right)"
WINDOW_ARGUMENTS = ", %left: index, %right: index"
LENGTHS = (0, 1, 2, 63, 64, 65, 79, 97, 127, 128, 129, 191, 193, 1000, 1025)
UNEQUAL = ((1, 1000), (1000, 1), (65, 129), (129, 65), (0, 64), (64, 0), (193, 1025), (1025, 63))


def lengths(extra=""):
    """Every length, and unequal ones; the batch goes from one to three."""
    lines = [f"b={1 + number % 3 * (length < 1000)},n={length}{extra}" for number, length in enumerate(LENGTHS)]
    return lines + [f"b=1,nq={queries},nk={keys}{extra}" for queries, keys in UNEQUAL]


def retyped(name, type, channels):
    """An example with other elements and another number of channels; tables and sums stay f32."""
    with open(os.path.join(EXAMPLES, name + ".mlir")) as file:
        text = re.sub(r"(tensor<\?x\d+x(?:\?|1)x)\d+xf32>", rf"\g<1>{channels}x{type}>", file.read())
        # Given shapes that end in the channels of the examples.
        return re.sub(r"(lacuna\.shape = \[\d+, \d+, \d+, )32\]", rf"\g<1>{channels}]", text)


LONGER = {"neighbourhood_2d": "height=9,width=70", "neighbourhood_3d": "frames=3", "radial_decay": "frames=11,width=50",
          "documents": "n=700,offsets=0:1:130:130:131:640", "cross_merge": "q=1x4x70x{d}", "text_and_video": "text=131,frames=2",
          "sliding_tile": "", "hierarchy_decode": "nk=1008", "prefix_lm": "n=650,prefix=333", "sliding_window_sinks": "n=1000,left=300",
          # Its table of colours has 256 entries.
          "where_custom": "n=200"}


def examples():
    names = sorted(file[:-5] for file in os.listdir(EXAMPLES) if file.endswith(".mlir"))
    for name in names:
        for type, channels in (("bf16", 32), ("f16", 64), ("bf16", 128)):
            more = LONGER.get(name, "n=650").format(d=channels)
            batch = "b=1," if name in ("cross_merge", "hierarchy_decode") else "b=2,"
            yield Check("examples", f"{name} {type} D{channels}", retyped(name, type, channels), ["b=1", (batch + more).rstrip(",")],
                        slow=channels == 32, sanitize=channels == 64)


def head_dims():
    pairs = [(d, d) for d in range(32, 257, 8)]
    pairs += [(32, 64), (64, 32), (64, 128), (128, 64), (192, 128), (72, 136), (40, 256), (256, 40), (96, 32), (104, 112)]
    for d, dv in pairs:
        type = "f16" if d // 8 % 2 else "bf16"
        yield Check("channels", f"D{d} Dv{dv} {type}", spec("%set = sparsity.causal", type, 2, 1, d, dv),
                    ["b=1,n=257", "b=2,nq=100,nk=333", "b=1,n=31"], slow=d % 64 != 0, sanitize=(d, dv) in ((72, 136), (64, 64), (256, 256)))


def head_ratios():
    for hq, hkv in ((3, 3), (3, 1), (14, 2), (28, 4), (8, 1), (64, 1)):
        for set, name in (("%set = sparsity.causal", "causal"), ("%set = sparsity.window left(100) right(30)", "window")):
            yield Check("head ratios", f"{hq}:{hkv} {name}", spec(set, "bf16", hq, hkv, 64 if name == "causal" else 128),
                        ["b=1,n=257", "b=2,nq=65,nk=300", "b=1,nq=3,nk=700"], slow=hq in (14, 8), sanitize=hq == 3 and name == "causal")


def sequence_lengths():
    sets = [("dense", "%set = sparsity.all", "", ""), ("causal", "%set = sparsity.causal", "", ""),
            ("window", WINDOW, WINDOW_ARGUMENTS, ",left=70,right=9"),
            ("suffix and rows", "%a = sparsity.suffix 70\n%b = sparsity.rows 65\n%set = sparsity.union %a, %b", "", "")]
    for d in (64, 128, 256):
        for name, set, arguments, extra in sets:
            yield Check("lengths", f"{name} D{d}", spec(set, "bf16" if d != 64 else "f16", 2, 1, d, arguments=arguments),
                        lengths(extra), slow=d == 256, sanitize=name in ("dense", "window"))
    yield Check("lengths", "run-time windows, empty rows among them",
                spec(WINDOW, arguments=WINDOW_ARGUMENTS),
                [f"b=1,n=300,left={left},right={right}"
                 for left, right in ((0, 0), (1, 0), (127, 0), (128, 0), (129, 129), (-1, 200), (-129, 400), (400, -300), (5, -6))],
                sanitize=True)
    yield Check("lengths", "nothing is live", spec("%set = sparsity.none"), ["b=2,n=130", "b=1,n=1"], sanitize=True)
    yield Check("lengths", "a prefix of run-time length", spec("%set = sparsity.prefix %p", arguments=", %p: index"),
                [f"b=1,n=200,p={p}" for p in (0, 1, 127, 128, 129, 200, 1000)])
    yield Check("lengths", "positions from the start", spec("%set = sparsity.window left(40) right(3) from_start"),
                ["b=1,nq=300,nk=129", "b=1,nq=100,nk=700"])


def documents():
    offsets = ["0:300", "0:0:300", "0:300:300", "0:1:2:3:300", "0:100:100:100:228:229:300", "0:127:128:129:257:300", "0:64:128",
               "0:0", "0:299"]
    arguments = ", %cu: tensor<?xi32>"
    for causal in ("", " causal"):
        for d in (64, 128):
            set = f"%set = sparsity.documents %cu, %cu{causal} : tensor<?xi32>, tensor<?xi32>"
            yield Check("documents", f"D{d}{causal}", spec(set, "bf16", d=d, arguments=arguments),
                        [f"b=1,n=300,cu={line}" for line in offsets] + ["b=2,n=1025,cu=0:3:700:1025"], sanitize=d == 64)
        set = f"%set = sparsity.documents %cu_q, %cu_k{causal} : tensor<?xi32>, tensor<?xi32>"
        yield Check("documents", "other keys than queries" + causal,
                    spec(set, "f16", arguments=", %cu_q: tensor<?xi32>, %cu_k: tensor<?xi32>"),
                    ["b=1,nq=130,nk=400,cu_q=0:1:129:130,cu_k=0:200:200:400", "b=1,nq=200,nk=50,cu_q=0:100:200,cu_k=0:0:50"])


def radii():
    rows = [(2, "[%n0, %n1]", "[3, 5]", ["n0=20,n1=30", "n0=7,n1=64", "n0=1,n1=1", "n0=33,n1=17"]),
            (3, "[%n0, %n1, %n2]", "[2, 3, 4]", ["n0=5,n1=9,n2=17", "n0=4,n1=8,n2=16", "n0=1,n1=3,n2=40", "n0=9,n1=6,n2=7"])]
    for axes, grid, radius, sets in rows:
        sizes = "".join(f", %n{axis}: index" for axis in range(axes))
        for border in ("clip", "shift"):
            for causal in ("", " causal [0]"):
                set = (f"%g = sparsity.grid {grid}\n"
                       f"%set = sparsity.radius {radius} border({border}){causal} in %g : !sparsity.domain<{axes}>")
                for d, type in ((64, "f16"), (128, "bf16")):
                    yield Check("radius", f"{axes} axes {border}{causal} D{d}", spec(set, type, d=d, arguments=sizes, axes=axes),
                                ["b=1," + line for line in sets], slow=d == 64, sanitize=d == 128 and not causal)
    three = "%g = sparsity.grid [%n0, %n1, %n2]\n"
    arguments = ", %n0: index, %n1: index, %n2: index, %r0: index, %r1: index, %r2: index"
    yield Check("radius", "run-time radii", spec(three + "%set = sparsity.radius [%r0, %r1, %r2] in %g : !sparsity.domain<3>",
                                                arguments=arguments, axes=3),
                [f"b=1,n0=6,n1=9,n2=18,{r}" for r in ("r0=0,r1=0,r2=0", "r0=2,r1=5,r2=8", "r0=9,r1=1,r2=0", "r0=9,r1=9,r2=20")])
    sizes = ", %n0: index, %n1: index, %n2: index"
    for name, op in (("dilation", "[1, 2, 2] dilation [1, 2, 3]"), ("units", "[1, 1, 1] unit [2, 4, 4]"), ("l1", "[6] norm(l1)"),
                     ("l2", "[5] norm(l2)"), ("per head", "[%r : tensor<?xi32>, 3, 3]")):
        extra = ", %r: tensor<?xi32>" if name == "per head" else ""
        yield Check("radius", name, spec(three + f"%set = sparsity.radius {op} in %g : !sparsity.domain<3>", "f16",
                                         arguments=sizes + extra, axes=3),
                    ["b=1,n0=6,n1=9,n2=18" + (",r=0:1:2:7" if extra else "")], slow=name in ("units", "l1"))


def lists():
    def case(name, ops, shape="?x4", group="", d=64, sets=(), blocks=(64, 64), type="bf16", axes=1, arguments="", **more):
        query, key = (str([extent] if isinstance(extent, int) else list(extent)) for extent in blocks)
        tensors = f"tensor<{shape}x?x?xi32>, tensor<{shape}x?xi32>"
        where, domain = (" in %g", f", !sparsity.domain<{axes}>") if axes > 1 else ("", "")
        text = ops.replace("LIST", f"sparsity.blocks %ids, %counts query {query} key {key}{group}{where} : {tensors}{domain}")
        ids, counts = tensors.split(", ")
        return Check("lists", f"{name} {blocks[0]}x{blocks[1]} D{d}",
                     spec(text, type, d=d, arguments=f", %ids: {ids}, %counts: {counts}{arguments}", axes=axes), sets, **more)

    share = ["b=2,n=300,ids=40%", "b=1,nq=130,nk=700,ids=30%,counts=ragged", "b=1,n=64,ids=100%", "b=1,n=1,ids=100%",
             "b=1,nq=0,nk=200,ids=50%", "b=1,nq=70,nk=0,ids=50%", "b=2,n=1025,ids=10%,counts=ragged"]
    past = "%list = LIST\n%past = sparsity.causal\n%set = sparsity.intersect %list, %past"
    near = ("%list = LIST\n%near = sparsity.window left(70) right(0)\n%sinks = sparsity.prefix 5\n"
            "%some = sparsity.union %list, %near, %sinks\n%past = sparsity.causal\n%set = sparsity.intersect %some, %past")
    for blocks, d in (((64, 64), 64), ((128, 128), 128), ((128, 32), 64), ((256, 16), 64), ((64, 256), 128), ((192, 96), 64),
                      ((128, 128), 256)):
        small = [line for line in share if "b=2" not in line] if d == 256 else share
        yield case("alone", "%set = LIST", d=d, blocks=blocks, sets=small, slow=blocks[1] == 96, sanitize=blocks == (64, 64))
        yield case("causal", past, d=d, blocks=blocks, sets=small, slow=blocks[1] in (96, 16))
        yield case("and a window, sinks, causal", near, d=d, blocks=blocks, sets=small, slow=d == 256, sanitize=blocks == (64, 64))
    yield case("one for all heads and entries", past, shape="1x1", sets=share)
    yield case("one per group", near, shape="?x2", group=" group 2", sets=share)
    # Several tiles for each entry, an odd number of them in the last one: docs/decisions/0012-assembler-fault.md.
    whole = ["b=1,n=575,ids=100%", "b=1,n=700,ids=60%,counts=ragged", "b=2,nq=100,nk=1000,ids=40%", "b=1,n=192,ids=100%"]
    band = "%list = LIST\n%near = sparsity.window left(9) right(2)\n%some = sparsity.union %list, %near\n"
    yield case("two tiles an entry, and a window, causal", band + "%past = sparsity.causal\n%set = sparsity.intersect %some, %past",
               shape="?x2", group=" group 2", d=56, blocks=(192, 128), type="f16", sets=whole)
    yield case("two tiles an entry, causal", past, d=256, blocks=(128, 192), sets=whole)
    yield case("one for all entries", "%set = LIST", shape="1x4", sets=share)
    # Ids behind the end and before the start, counts out of range, descending ids.
    yield case("odd ids", near, shape="1x1", sets=[
        "b=1,n=300,ids=4:3:2:1:0:5:-1:2:9:1000000:-2000000000:2147483647:-2147483648:0:1,counts=9:3:-1:0:2147483647",
        "b=2,n=128,ids=1:0:0:1,counts=1:2"], sanitize=True)
    yield case("and another list", """%list = LIST
        %other = sparsity.blocks %more, %lengths query [32] key [16] : tensor<1x1x?x?xi32>, tensor<1x1x?xi32>
        %set = sparsity.union %list, %other""", arguments=", %more: tensor<1x1x?x?xi32>, %lengths: tensor<1x1x?xi32>",
               sets=["b=1,n=200,ids=40%,more=20%,lengths=ragged", "b=2,nq=65,nk=130,ids=50%,more=30%"])
    yield case("taken away", "%list = LIST\n%past = sparsity.causal\n%set = sparsity.subtract %past, %list",
               sets=["b=1,n=300,ids=40%,counts=ragged"])
    heads = "%list = LIST\n%near = sparsity.window left(20) right(3)\n%set = sparsity.per_head [0, 1, 1, 0] [%list, %near]"
    yield case("for some heads", heads, sets=share)
    cubes = "%g = sparsity.grid [%n0, %n1, %n2]\n"
    sizes = ", %n0: index, %n1: index, %n2: index"
    lines = ["b=1,n0=5,n1=9,n2=17,ids=30%", "b=2,n0=8,n1=8,n2=16,ids=20%,counts=ragged", "b=1,n0=1,n1=3,n2=5,ids=50%"]
    yield case("of cubes", cubes + "%set = LIST", blocks=((4, 4, 8), (4, 4, 8)), axes=3, arguments=sizes, sets=lines, sanitize=True)
    yield case("of small cubes", cubes + "%set = LIST", blocks=((4, 4, 4), (4, 4, 4)), axes=3, arguments=sizes, sets=lines, d=128,
               sanitize=True)
    near = cubes + ("%list = LIST\n%near = sparsity.radius [1, 2, 3] in %g : !sparsity.domain<3>\n"
                    "%set = sparsity.union %list, %near : !sparsity.set<3>")
    yield case("of small cubes, and a radius", near, blocks=((4, 4, 4), (2, 4, 4)), axes=3, arguments=sizes, sets=lines)
    yield case("of cubes", cubes + "%set = LIST", blocks=((4, 8, 8), (2, 8, 8)), axes=3, arguments=sizes, sets=lines, d=128)


def tokens():
    """Lists of single keys and of blocks too small for the copy engine, and query tiles of several heads."""
    sets = ["b=2,n=300,ids=40%", "b=1,nq=130,nk=700,ids=30%,counts=ragged", "b=1,n=64,ids=100%", "b=1,n=1,ids=100%",
            "b=1,nq=0,nk=200,ids=50%", "b=1,nq=200,nk=70,ids=50%,counts=ragged", "b=1,nq=70,nk=0,ids=50%", "b=1,n=2100,ids=20%,counts=ragged"]
    past = "%list = LIST\n%past = sparsity.causal\n%set = sparsity.intersect %list, %past"
    near = ("%list = LIST\n%near = sparsity.window left(70) right(0)\n%sinks = sparsity.prefix 5\n"
            "%some = sparsity.union %list, %near, %sinks\n%past = sparsity.causal\n%set = sparsity.intersect %some, %past")
    diagonal = ("%list = LIST\n%own = sparsity.block_diagonal 32\n%some = sparsity.union %list, %own\n%past = sparsity.causal\n"
                "%set = sparsity.intersect %some, %past")
    holes = ("%list = LIST\n%past = sparsity.causal\n%some = sparsity.columns [3, 17, 40]\n%rest = sparsity.subtract %past, %some\n"
             "%set = sparsity.intersect %list, %rest")
    dots = "%list = LIST\n%past = sparsity.causal\n%dots = sparsity.stride 7\n%some = sparsity.union %list, %dots\n%set = sparsity.intersect %past, %some"

    def case(name, ops, query, key=1, group=4, hq=8, hkv=2, d=128, shape=None, lines=sets, arguments="", extra="", files=None, type="bf16",
             strided=False, sanitize=False, **more):
        tensors = f"tensor<{shape or f'?x{hq // group}'}x?x?xi32>, tensor<{shape or f'?x{hq // group}'}x?xi32>"
        ids, counts = tensors.split(", ")
        shared = f" group {group}" if group > 1 else ""
        text = ops.replace("LIST", f"sparsity.blocks %ids, %counts query [{query}] key [{key}]{shared} : {tensors}")
        return Check("tokens", f"{name} {query}x{key} group {group} D{d}",
                     spec(text, type, hq, hkv, d, arguments=f", %ids: {ids}, %counts: {counts}{arguments}", **more),
                     [line + extra for line in lines], ["--strided"] if strided else [], files, sanitize=sanitize)

    # Kascade's, and the same for other groups and channels.
    yield case("diagonal, causal", diagonal, 32, hq=16, hkv=4, sanitize=True)
    for query, group, d, dv in ((32, 4, 64, 64), (16, 8, 64, 64), (8, 16, 96, 96), (64, 2, 128, 128), (32, 2, 128, 64), (48, 4, 64, 64),
                                (32, 4, 256, 256), (32, 4, 72, 40)):
        yield case("causal", past, query, group=group, hq=max(8, group), hkv=max(8, group) // group, d=d, dv=dv, sanitize=d == 72)
    # Queries of one head that fill warpgroups.
    for query in (64, 128):
        yield case("near", near, query, group=1, hq=4, hkv=2, d=64, type="f16")
    for key in (2, 4, 8):
        yield case("near", near, 32, key, d=64, sanitize=key == 8)
        yield case("alone", "%set = LIST", 128, key, group=1, hq=2, hkv=1)
    yield case("alone", "%set = LIST", 32, strided=True, sanitize=True)
    yield case("holes", holes, 32)
    yield case("dots", dots, 32, d=64)
    yield case("one list for all heads", near, 32, group=1, shape="1x1", strided=True)
    yield case("softcap", past, 32, clauses=SOFTCAP)
    yield case("documents", "%list = LIST\n%own = sparsity.documents %cu, %cu causal : tensor<?xi32>, tensor<?xi32>\n"
               "%set = sparsity.intersect %list, %own", 32, arguments=", %cu: tensor<?xi32>", lines=["b=1,n=300,ids=40%"],
               extra=",cu=0:130:131:290")
    yield case("odd ids", near, 32, shape="1x1", group=1, lines=[
        "b=1,n=70,ids=4:3:2:1:0:5:-1:69:70:1000000:-2000000000:2147483647:-2147483648:0:1,counts=9:3:-1",
        "b=2,n=128,ids=1:0:0:1,counts=1:2:0:2147483647"], sanitize=True)
    for name, set in (("causal", past), ("alone", "%set = LIST")):
        yield case(f"NaN among other keys, {name}", set, 32, group=1, shape="1x1", d=64, lines=["b=1,n=300,ids=20%"],
                   files=poisoned({299: NAN, 200: INFINITY, 131: NAN, 7: NAN}))
    # Heads that share a tile of the copy engine.
    for key, d in ((64, 128), (16, 64)):
        yield case("near", near, 32, key, d=d)


SOFTCAP = """ score (%s, %b, %h, %i, %j) {
    %cap = arith.constant 20.0 : f32
    %ratio = arith.divf %s, %cap : f32
    %tanh = math.tanh %ratio : f32
    %capped = arith.mulf %tanh, %cap : f32
    attn.yield %capped : f32
  }"""


def hierarchies():
    """Nodes seen through columns, and merges of several attends in one kernel."""
    sizes = ["b=1,n=1000", "b=2,n=129", "b=1,n=128", "b=1,n=1", "b=1,n=0", "b=1,n=2100"]
    for name, set in (("fenwick whole", "fenwick base 128 levels 3 columns 128 from_start"),
                      ("fenwick", "fenwick base 64 levels 4 columns 16"),
                      ("fenwick fanout 4", "fenwick base 128 fanout 4 levels 2 columns 32 from_start"),
                      ("distance causal", "distance base 64 levels 3 columns 64 causal"),
                      ("distance", "distance base 32 levels 4 columns 8"),
                      ("one column", "fenwick base 64 levels 5 columns 1"),
                      ("fenwick near", "fenwick base 128 near(200) levels 3 columns 64 from_start"),
                      ("distance near", "distance base 64 near(100) levels 3 columns 32 causal")):
        for d in (64, 128):
            yield Check("hierarchies", f"{name} D{d}", spec(f"%set = sparsity.dyadic {set}", d=d),
                        sizes + ([] if "start" in set else ["b=1,nq=70,nk=900"]), sanitize=d == 64, slow=d == 64 and "near" not in name)


def slope(step):
    """Scores that fall (or rise) with the key's number, so that whole blocks are far apart."""
    return f""" score (%s, %b, %h, %i, %j) {{
    %step = arith.constant {step} : f32
    %number = arith.index_cast %j : index to i64
    %place = arith.sitofp %number : i64 to f32
    %bias = arith.mulf %place, %step : f32
    %y = arith.addf %s, %bias : f32
    attn.yield %y : f32
  }}"""


def skips():
    """Blocks left out by a look at their scores: every walk, key blocks that are tiles of any size, rows behind the last query."""
    limit = ", %t: tensor<?x4x?xf32>"
    sizes = ["b=2,n=300", "b=1,n=1", "b=1,n=0", "b=1,nq=70,nk=900", "b=1,nq=300,nk=65", "b=1,n=2100"]
    walks = [("dense", "%set = sparsity.all", ""), ("causal", "%set = sparsity.causal", ""),
             ("window and sinks", "%near = sparsity.window left(200) right(0)\n%sinks = sparsity.prefix 30\n"
              "%some = sparsity.union %near, %sinks\n%past = sparsity.causal\n%set = sparsity.intersect %some, %past", "")]
    rules = [("margin", "margin 4.0", "", slope(-0.02)), ("small margin", "margin 0.25", "", ""), ("rising", "margin 1.0", "", slope(0.01)),
             ("limits", "below %t : tensor<?x4x?xf32>", limit, slope(-0.03)),
             ("both", "below %t : tensor<?x4x?xf32> margin 2.0", limit, slope(-0.01))]
    for walk, set, arguments in walks:
        for name, rule, more, score in rules:
            for d, block, type in ((64, 128, "bf16"), (128, 128, "bf16"), (128, 64, "f16")):
                yield Check("skips", f"{walk}, {name} D{d} {block}", spec(set, type, d=d, arguments=arguments + more,
                                                                       clauses=f" skip query [64] key [{block}] {rule}{score}"),
                            sizes, sanitize=(d, block) == (64, 128) and name in ("margin", "both"), slow=name == "rising")
    for d, block in ((32, 128), (72, 96), (192, 64), (256, 64)):
        yield Check("skips", f"causal D{d} {block}", spec("%set = sparsity.causal", d=d, clauses=f" skip query [64] key [{block}] margin 3.0{slope(-0.02)}"),
                    sizes[:4], slow=d in (72, 192))
    yield Check("skips", "strided", spec("%set = sparsity.causal", arguments=limit, clauses=" skip query [64] key [64] below %t : tensor<?x4x?xf32> margin 0.5"),
                sizes, ["--strided"])
    lists = ", %ids: tensor<?x4x?x?xi32>, %counts: tensor<?x4x?xi32>"
    listed = "%set = sparsity.blocks %ids, %counts query [128] key [64] : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>"
    for name, rule, more in (("margin", "margin 1.0", ""), ("limits", "below %t : tensor<?x4x?xf32>", limit)):
        yield Check("skips", f"a list, {name}", spec(listed, arguments=lists + more, clauses=f" skip query [64] key [64] {rule}{slope(-0.02)}"),
                    ["b=1,n=700,ids=40%", "b=2,nq=130,nk=500,ids=50%,counts=ragged"], sanitize=name == "margin")
    for file in ("skip_softmax", "elastic_threshold"):
        with open(os.path.join(EXAMPLES, "systems", file + ".mlir")) as example:
            yield Check("skips", file, example.read(), ["b=1", "b=2,n=77", "b=1,nq=1,nk=900"])
    values = {row: NAN if row % 2 else INFINITY for row in range(200, 300)}
    yield Check("skips", "NaN behind a mask", spec("%set = sparsity.causal", hq=2, hkv=2, clauses=f" skip query [64] key [64] margin 1.0{slope(-0.02)}"),
                ["b=1,n=300"], files=poisoned(values))


def selects():
    return select_cases.cases(lambda name, spec, sets, flags=(): Check("selects", name, spec, sets, flags, sanitize="floor" not in name))


def linear():
    like_others = ("D136", "D192", "D128 Dv192", "D16 Dv256", "blocks of 33", "blocks of 192", "blocks of 200")

    def case(name, spec, sets, files=None, flags=()):
        return Check("linear", name, spec, sets, flags, files, slow="f16" in name or name.startswith(like_others),
                     sanitize=name in ("a list", "D72 Dv40", "strided"))
    return linear_cases.cases(case, poisoned)


def returned_twice():
    """Equal attends and values that are returned again: each result has memory of its own."""
    with open(os.path.join(EXAMPLES, "..", "test", "Emulator", "cases.test")) as file:
        text = file.read().split("#--- twice.mlir\n")[1].split("#---")[0]
    yield Check("returned twice", "outputs and sums", text, ["b=2,n=100", "b=1,n=1"])
    yield Check("returned twice", "strided", text, ["b=2,n=100"], ["--strided"])


def clauses():
    sinks = " sinks %sinks : tensor<?xf32>"
    yield Check("clauses", "a sink per head, empty rows among them",
                spec(WINDOW, arguments=WINDOW_ARGUMENTS + ", %sinks: tensor<?xf32>", clauses=sinks),
                [f"b=1,n=300,sinks=0.5:-1:0:9,left={left},right={right}" for left, right in ((100, 0), (-1, 0), (-100, 150))],
                sanitize=True)
    for scale in ("0.01", "1.0"):
        yield Check("clauses", "scale " + scale, spec("%set = sparsity.causal", "f16", clauses=f" scale {scale}"), ["b=1,n=300"])
    yield Check("clauses", "softcap over documents", spec("%set = sparsity.documents %cu, %cu causal : tensor<?xi32>, tensor<?xi32>",
                                                          arguments=", %cu: tensor<?xi32>", d=128, clauses=SOFTCAP),
                ["b=1,n=400,cu=0:130:130:399"])
    yield Check("clauses", "no log-sum-exp", spec("%set = sparsity.causal", lse=False, d=128), ["b=2,n=300", "b=1,n=0"])


def heads():
    per_head = """%past = sparsity.causal
        %near = sparsity.window left(%left : tensor<?xi32>) right(0)
        %dots = sparsity.stride 5
        %set = sparsity.per_head %class : tensor<?xi32> [%past, %near, %dots]"""
    yield Check("heads", "a set per head", spec(per_head, hq=6, hkv=2, arguments=", %class: tensor<?xi32>, %left: tensor<?xi32>"),
                ["b=2,n=300,class=0:1:2:1:0:2,left=0:200:5:1:7:9", "b=1,nq=70,nk=500,class=1:1:1:1:1:1,left=0:-1:128:127:129:499"],
                sanitize=True)
    # More programs than the second and third axis of a grid of blocks may have.
    yield Check("heads", "70000 heads", spec("%set = sparsity.causal", hq=70000, hkv=700, d=32), ["b=1,n=17"], ["--check-rows=2000"], slow=True)
    yield Check("heads", "33000 heads of three tiles", spec("%set = sparsity.causal", hq=33000, hkv=330, d=32), ["b=1,n=300"],
                ["--check-rows=2000"], slow=True)
    yield Check("heads", "70000 entries of a batch", spec("%set = sparsity.causal", hq=1, hkv=1, d=32), ["b=70000,n=19"],
                ["--check-rows=2000"], slow=True)


def strided():
    rows = [("causal", "%set = sparsity.causal", "", 1, ["b=2,n=300", "b=3,nq=65,nk=129", "b=1,n=1", "b=1,n=0"]),
            ("window", WINDOW, WINDOW_ARGUMENTS, 1, ["b=2,n=513,left=70,right=9"]),
            ("grid", "%g = sparsity.grid [%n0, %n1]\n%set = sparsity.radius [2, 7] in %g : !sparsity.domain<2>",
             ", %n0: index, %n1: index", 2, ["b=2,n0=21,n1=17"]),
            ("volume", "%g = sparsity.grid [%n0, %n1, %n2]\n%set = sparsity.radius [1, 2, 7] in %g : !sparsity.domain<3>",
             ", %n0: index, %n1: index, %n2: index", 3, ["b=2,n0=5,n1=7,n2=17"])]
    for name, set, arguments, axes, sets in rows:
        for d, type in ((64, "f16"), (128, "bf16"), (72, "bf16")):
            yield Check("strided", f"{name} D{d}", spec(set, type, 4, 2, d, arguments=arguments, axes=axes), sets, ["--strided"],
                        slow=d == 72, sanitize=d == 72)


def large():
    """Beyond 2^31 elements."""
    yield Check("large", "2.3e9 elements of queries", spec("%set = sparsity.window left(127) right(0)", hq=17, hkv=1, d=128, lse=False),
                ["b=1,n=1048576"], ["--check-rows=40", "--threads=8"], slow=True)
    yield Check("large", "2.3e9 elements of keys", spec("%set = sparsity.window left(1000) right(0)", hq=17, hkv=17, d=128),
                ["b=1,nq=300,nk=1048576"], ["--check-rows=40", "--threads=8"], slow=True)


def speeds():
    """What compare.py times: at a small size, and where constants differ, the kernel of the full size."""
    for case in speed_cases.CASES:
        small = case.small_parameters
        yield Check("speed", case.name, case.spec(small), [case.values(small)], ["--check-rows=1000"])
        if case.spec(small) != case.spec():
            yield Check("speed", case.name + ", full size", case.spec(), [])


def write_npy(path, shape, bits):
    header = f"{{'descr': '<u2', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(bits)}H", *bits))


NAN, INFINITY = 0x7FC0, 0x7F80


def poisoned(rows, heads=2, tokens=300, channels=64):
    """Makes `k.npy` and `v.npy`: ordinary bf16 numbers, but NaN or an infinity in some rows."""
    def write(folder):
        for name, seed in (("k", 1), ("v", 2)):
            state, bits = seed, []
            for _ in range(heads * tokens * channels):
                state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
                # Between 0.25 and 2, either sign.
                bits.append((state >> 63) << 15 | 0x3E80 + (state >> 40) % 0x180)
            for head in range(heads):
                for row, value in rows.items():
                    start = (head * tokens + row) * channels
                    bits[start:start + channels] = [value] * channels
            write_npy(os.path.join(folder, name + ".npy"), (1, heads, tokens, channels), bits)
    return write


def poison():
    """Keys and values that hold NaN reach only the rows that attend to them."""
    future = {299: NAN, 200: INFINITY, 131: NAN}
    everywhere = {row: NAN if row % 2 else INFINITY for row in range(0, 300, 3)}
    rows = [("causal", "%set = sparsity.causal", "", "", future),
            ("window", WINDOW, WINDOW_ARGUMENTS, ",left=20,right=5", future),
            ("padding after the documents", "%set = sparsity.documents %cu, %cu : tensor<?xi32>, tensor<?xi32>", ", %cu: tensor<?xi32>",
             ",cu=0:100:211", {row: NAN for row in range(211, 300)}),
            ("a stride that skips them", "%set = sparsity.columns [1, 4, 128, 130, 250]", "", "", everywhere),
            ("no key is live", "%set = sparsity.none", "", "", everywhere),
            ("sinks only", "%set = sparsity.prefix 4", "", "", {row: NAN for row in range(4, 300)})]
    for name, set, arguments, extra, values in rows:
        yield Check("poison", name, spec(set, hq=2, hkv=2, arguments=arguments), ["b=1,n=300" + extra], files=poisoned(values))


def from_folder(folder):
    """Random specs that lacuna-random-specs has written."""
    for file in sorted(os.listdir(folder)):
        if file.endswith(".mlir"):
            with open(os.path.join(folder, file)) as text, open(os.path.join(folder, file[:-5] + ".sets")) as sets:
                content = text.read()
                yield Check("random", file[:-5], content, sets.read().split())


GROUPS = (examples, head_dims, head_ratios, sequence_lengths, documents, radii, lists, tokens, hierarchies, skips, selects, linear, returned_twice,
          clauses, heads, strided, poison, large, speeds)


def table(random_folder=None):
    checks = [check for group in GROUPS for check in group()]
    return checks + (list(from_folder(random_folder)) if random_folder else [])
