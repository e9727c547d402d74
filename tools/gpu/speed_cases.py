"""The cases whose speed counts: a spec for Lacuna and the same mask for FlexAttention.

A mask is a function of query and key position. Its arithmetic is that of torch tensors and of Python's integers alike, so
that it can be compared with a spec where there is no GPU.
"""
import random

HEAD = """func.func @f(%q: tensor<?x{h}x?x{d}xbf16>, %k: tensor<?x{hk}x?x{d}xbf16>,
                 %v: tensor<?x{hk}x?x{d}xbf16>{arguments}) -> tensor<?x{h}x?x{d}xbf16> {{
{set}
  %o = attn.attend %q, %k, %v over %set{type}
      : tensor<?x{h}x?x{d}xbf16>, tensor<?x{hk}x?x{d}xbf16>, tensor<?x{hk}x?x{d}xbf16>
      -> tensor<?x{h}x?x{d}xbf16>
  return %o : tensor<?x{h}x?x{d}xbf16>
}}
"""


class Case:
    """`set` names the ops; in it, {grid} stands for the extents. `mask(parameters, table)` makes a mask_mod, where `table`
    puts a list of integers where the mask can index it. `small` changes parameters for checks of every row."""

    def __init__(self, name, set, mask=None, b=1, h=16, hk=None, n=32768, d=128, peer="flex", small=None, floor="",
                 beside=None, scalars=(), lists="", **parameters):
        self.name, self.set, self.mask, self.peer, self.floor = name, set, mask, peer, floor
        self.b, self.h, self.hk, self.n, self.d = b, h, hk or h, n, d
        self.beside, self.scalars, self.lists, self.parameters = beside, scalars, lists, parameters
        self.small_parameters = {"n": 700, "b": 2, **parameters, **(small or {})}
        # Below FlexAttention's block, as well as above it, for where whole blocks are live.
        self.blocks = [(128, 128), (128, 64)] if peer == "flex" else []
        if "grid" in parameters:
            self.blocks.append((64, 64))

    def spec(self, parameters=None):
        parameters = parameters or self.parameters
        grid = parameters.get("grid", ())
        arguments = "".join(f", %{name}: {'tensor<?xi32>' if isinstance(parameters[name], list) else 'index'}"
                            for name in self.scalars)
        if self.lists:
            arguments += f", %ids: tensor<{self.lists}x?x?xi32>, %counts: tensor<{self.lists}x?xi32>"
        return HEAD.format(h=self.h, hk=self.hk, d=self.d, arguments=arguments,
                           set=self.set.format(grid=", ".join(map(str, grid)), axes=len(grid), lists=self.lists,
                                               block=parameters.get("block"), levels=parameters.get("levels"), width=parameters.get("width")),
                           type=f" : !sparsity.set<{len(grid)}>" if grid else "")

    def values(self, parameters=None):
        """What `--set` gets."""
        parameters = parameters or {"n": self.n, "b": self.b, **self.parameters}
        text = lambda value: ":".join(map(str, value)) if isinstance(value, list) else str(value)
        values = [f"{name}={text(parameters[name])}" for name in ("b", "n", *self.scalars)]
        return ",".join(values + [f"ids={parameters['share']}%"] if self.lists else values)


def mixed_lengths(total, low, high, seed):
    """Offsets of documents of random length."""
    draw, offsets = random.Random(seed), [0]
    while total - offsets[-1] > high:
        offsets.append(offsets[-1] + draw.randint(low, min(high, total - offsets[-1] - low)))
    return offsets + [total]


def causal(parameters, table):
    return lambda b, h, i, j: j <= i


def window(parameters, table):
    left = parameters["left"]
    return lambda b, h, i, j: (j <= i) & (i - j <= left)


def window_sinks(parameters, table):
    left = parameters["left"]
    return lambda b, h, i, j: (j <= i) & ((i - j <= left) | (j < 4))


def prefix_lm(parameters, table):
    prefix = parameters["prefix"]
    return lambda b, h, i, j: (j <= i) | (j < prefix)


def document_numbers(offsets, table):
    return table([number for number in range(len(offsets) - 1) for _ in range(offsets[number], offsets[number + 1])])


def documents(parameters, table):
    number = document_numbers(parameters["offsets"], table)
    return lambda b, h, i, j: number[i] == number[j]


def documents_causal(parameters, table):
    number = document_numbers(parameters["offsets"], table)
    return lambda b, h, i, j: (number[i] == number[j]) & (j <= i)


def dilated_blocks(parameters, table):
    return lambda b, h, i, j: (j <= i) & ((i // 128 - j // 128) % 4 == 0)


def radius_3d(parameters, table):
    _, height, width = parameters["grid"]
    frame = height * width

    def mask(b, h, i, j):
        t = abs(i // frame - j // frame) <= 2
        y = abs(i // width % height - j // width % height) <= 5
        return t & y & (abs(i % width - j % width) <= 8)
    return mask


def radius_2d(parameters, table):
    _, width = parameters["grid"]
    return lambda b, h, i, j: (abs(i // width - j // width) <= 6) & (abs(i % width - j % width) <= 6)


def radial_decay(parameters, table):
    _, frame = parameters["grid"]
    width, levels = parameters["width"], parameters["levels"]

    def mask(b, h, i, j):
        frames, space = abs(i // frame - j // frame), abs(i % frame - j % frame)
        live = (frames < 2) & (space <= width)
        for level in range(1, levels):
            live = live | ((frames < 2 ** (level + 1)) & (space <= width // 2 ** level))
        return live
    return mask


def block_lists(parameters, table):
    """As many blocks a row as the lists of the spec have; other ones, since only their number counts."""
    rows, keys = parameters["block"]
    n, heads = parameters["n"], parameters["heads"]
    blocks = -(-n // keys)
    kept, draw = max(1, round(parameters["share"] / 100 * blocks)), random.Random(1)
    live = []
    for _ in range(heads * -(-n // rows)):
        line = [0] * blocks
        for block in draw.sample(range(blocks), kept):
            line[block] = 1
        live.extend(line)
    live, lines = table(live), -(-n // rows)
    return lambda b, h, i, j: live[(h * lines + i // rows) * blocks + j // keys] == 1


ALL, CAUSAL = "  %set = sparsity.all", "  %set = sparsity.causal"
WINDOW = "  %set = sparsity.window left(%left) right(0)"
SINKS = """  %near = sparsity.window left(%left) right(0)
  %sink = sparsity.prefix 4
  %some = sparsity.union %near, %sink
  %past = sparsity.causal
  %set = sparsity.intersect %some, %past"""
PREFIX = """  %context = sparsity.prefix %prefix
  %past = sparsity.causal
  %set = sparsity.union %context, %past"""
DOCUMENTS = "  %set = sparsity.documents %offsets, %offsets : tensor<?xi32>, tensor<?xi32>"
DOCUMENTS_CAUSAL = "  %set = sparsity.documents %offsets, %offsets causal : tensor<?xi32>, tensor<?xi32>"
DILATED = """  %blocks = sparsity.affine affine_set<(i, j) : ((i floordiv 128 - j floordiv 128) mod 4 == 0)>
  %past = sparsity.causal
  %set = sparsity.intersect %blocks, %past"""
RADIUS_3D = """  %g = sparsity.grid [{grid}]
  %set = sparsity.radius [2, 5, 8] in %g : !sparsity.domain<{axes}>"""
RADIUS_2D = """  %g = sparsity.grid [{grid}]
  %set = sparsity.radius [6, 6] in %g : !sparsity.domain<{axes}>"""

RADIAL = """  %g = sparsity.grid [{grid}]
  %set = sparsity.bands {width} levels {levels} in %g : !sparsity.domain<{axes}>"""

LISTS = """  %set = sparsity.blocks %ids, %counts query [{block[0]}] key [{block[1]}]
      : tensor<{lists}x?x?xi32>, tensor<{lists}x?xi32>"""


def lists_case(share, rows, keys, floor):
    small = {"n": 1024, "b": 1, "share": 40}
    return Case(f"lists {rows}x{keys} {share}% 32K", LISTS, block_lists, lists="?x16", heads=16, block=(rows, keys), share=share,
                small=small, floor=floor)


OFFSETS = mixed_lengths(32768, 500, 6000, 3)
SMALL_OFFSETS = {"n": 700, "offsets": [0, 1, 1, 130, 258, 259, 600, 700]}

CASES = [
    Case("dense D128 8K", ALL, b=2, n=8192, peer="cudnn", floor="1.00x"),
    Case("causal D128 8K", CAUSAL, b=2, n=8192, peer="cudnn-causal", floor="1.00x"),
    Case("causal D128 32K", CAUSAL, peer="cudnn-causal", floor="1.00x"),
    Case("dense D64 8K", ALL, b=2, n=8192, d=64, peer="cudnn", floor="1.00x"),
    Case("causal D64 8K", CAUSAL, b=2, n=8192, d=64, peer="cudnn-causal", floor="1.00x"),
    Case("dense D256 8K", ALL, b=2, n=8192, d=256, peer="cudnn", floor="0.95x"),
    Case("causal D256 8K", CAUSAL, b=2, n=8192, d=256, peer="cudnn-causal", floor="0.95x"),
    Case("window 1024 32K", WINDOW, window, scalars=("left",), left=1023, small={"left": 99}, floor="480 TF"),
    Case("window 4096 32K", WINDOW, window, scalars=("left",), left=4095, small={"left": 300}, floor="560 TF"),
    Case("window 1024 + 4 sinks 32K", SINKS, window_sinks, scalars=("left",), left=1023, small={"left": 99}, floor="1.40x"),
    Case("prefix-LM 8K of 32K", PREFIX, prefix_lm, scalars=("prefix",), prefix=8192, small={"prefix": 200}, floor="1.40x"),
    Case("documents 32K", DOCUMENTS, documents, scalars=("offsets",), offsets=OFFSETS, small=SMALL_OFFSETS, floor="1.40x"),
    Case("documents causal 32K", DOCUMENTS_CAUSAL, documents_causal, scalars=("offsets",), offsets=OFFSETS,
         small=SMALL_OFFSETS, floor="1.40x"),
    Case("dilated blocks causal 32K", DILATED, dilated_blocks, small={"n": 1500, "b": 1}, floor="1.40x"),
    Case("3-D radius (2,5,8) 16x32x64", RADIUS_3D, radius_3d, grid=[16, 32, 64], small={"grid": [5, 13, 19], "n": 1235, "b": 1},
         floor="3.30x"),
    Case("2-D radius (6,6) 128x128", RADIUS_2D, radius_2d, n=16384, grid=[128, 128], small={"grid": [33, 37], "n": 1221, "b": 1},
         floor="3.30x"),
    Case("radial decay 32x1560", RADIAL, radial_decay, n=49920, grid=[32, 1560], width=1560, levels=5,
         small={"grid": [7, 150], "n": 1050, "b": 1, "width": 140}, floor="1.40x"),
    lists_case(5, 128, 128, "540 TF"),
    lists_case(10, 128, 128, "580 TF"),
    lists_case(25, 128, 128, "600 TF"),
    lists_case(10, 128, 64, "560 TF"),
    lists_case(10, 64, 64, "380 TF"),
    lists_case(10, 128, 32, "500 TF"),
    lists_case(10, 128, 16, "450 TF"),
    Case("equal heads 32:32 causal 32K", CAUSAL, h=32, peer="cudnn-causal"),
    Case("GQA 32:8 causal 32K", CAUSAL, h=32, hk=8, peer="cudnn-causal", beside="equal heads 32:32 causal 32K"),
    Case("equal heads 28:28 causal 32K", CAUSAL, h=28, peer="cudnn-causal"),
    Case("GQA 28:4 causal 32K", CAUSAL, h=28, hk=4, peer="cudnn-causal", beside="equal heads 28:28 causal 32K"),
]


def chosen(words):
    """The cases whose name has one of `words`; all of them without words. What a case is held against comes along."""
    named = [case for case in CASES if not words or any(word in case.name for word in words)]
    beside = {case.beside for case in named}
    return [case for case in CASES if case in named or case.name in beside]
