"""Cases of linear attention: states of blocks, sums of them, reads over sets, gates."""

LENGTHS = ["b=1,n=700", "b=2,n=129", "b=1,n=128", "b=1,n=1", "b=1,n=0", "b=2,nq=300,nk=70", "b=1,nq=1,nk=1000", "b=1,nq=65,nk=0",
           "b=1,nq=0,nk=65"]
PREFIX = "%set = sparsity.affine affine_set<(i, c) : (i floordiv BLOCK - c == 0)> from_start"
PAST = "%set = sparsity.affine affine_set<(i, c) : (i - c * BLOCK - BLOCK >= 0)> from_start"
DIGIT = "%set = sparsity.affine affine_set<(i, c) : (i floordiv BLOCK - c - 1 == 0, c mod 2 == 0)> from_start"


def linear(feature="softmax", type="bf16", heads=4, state_heads=2, d=64, dv=64, block=64, tile=None, set=PREFIX, of="prefix", clause="",
           arguments=""):
    """States, their sums before each block and by two, a read of one of these, and a sum of the read with a gate."""
    q, k, v = (f"tensor<?x{h}x?x{c}x{type}>" for h, c in ((heads, d), (state_heads, d), (state_heads, dv)))
    o, lse = f"tensor<?x{heads}x?x{dv}x{type}>", f"tensor<?x{heads}x?xf32>"
    h, z = f"tensor<?x{state_heads}x?x{d}x{dv}xf32>", f"tensor<?x{state_heads}x?x{d}xf32>"
    read = {"state": "%h, %z", "prefix": "%p, %pz", "fold": "%f, %fz"}[of]
    set = set.replace("BLOCK", str(block))
    return f"""func.func @f(%q: {q}, %k: {k}, %v: {v}, %g: {lse}, %w: tensor<{heads}xf32>{arguments})
    -> ({o}, {lse}, {o}, {o}, {h}, {z}, {h}, {z}) {{
  %h, %z = attn.linear_state {feature} %k, %v block [{block}] : {k}, {v} -> {h}, {z}
  %p, %pz = attn.linear_prefix %h, %z : {h}, {z} -> {h}, {z}
  %f, %fz = attn.linear_fold %h, %z by 2 : {h}, {z} -> {h}, {z}
  {set}
  %o, %l = attn.linear_read {feature} %q, {read} over %set query [{tile or block}]{clause} : {q}, {h}, {z} -> {o}, {lse}
  %gated = attn.gated_merge (%o, %g), (%o, %l) : {o}, {lse}
  %mixed = attn.gated_merge (%gated, %w), (%o, %w) : {o}, tensor<{heads}xf32>
  return %o, %l, %gated, %mixed, %p, %pz, %f, %fz : {o}, {lse}, {o}, {o}, {h}, {z}, {h}, {z}
}}
"""


def cases(check, poisoned):
    """All of them; `check(name, spec, sets, files=None, flags=())` makes one, `poisoned` writes keys and values with NaN."""
    for feature in ("softmax", "relu", "elu", "exp", "identity"):
        for type in ("bf16", "f16"):
            yield check(f"{feature} {type}", linear(feature, type), LENGTHS)
    for d, dv in ((8, 8), (16, 256), (32, 32), (40, 72), (72, 40), (128, 128), (128, 192), (136, 200), (192, 128), (256, 64), (256, 256)):
        yield check(f"D{d} Dv{dv}", linear("elu", d=d, dv=dv), LENGTHS[:6])
        yield check(f"softmax D{d} Dv{dv} f16", linear("softmax", "f16", d=d, dv=dv), LENGTHS[:6])
    for block, tile in ((1, 1), (16, 16), (33, 33), (128, 128), (512, 512), (512, 128), (192, 192), (200, 100), (64, 1000)):
        # A state for each key: as much memory as the keys' squares.
        lengths = LENGTHS if block > 1 else ["b=1,n=70", "b=2,n=33", "b=1,n=1", "b=1,n=0", "b=1,nq=65,nk=0"]
        yield check(f"blocks of {block}, tiles of {tile}", linear(block=block, tile=tile, d=128, dv=128), lengths)
    for name, set, of in (("past", PAST, "state"), ("a digit", DIGIT, "state"), ("a digit of sums", DIGIT, "fold"),
                          ("all", "%set = sparsity.all", "state"), ("none", "%set = sparsity.none", "prefix")):
        yield check(f"{name}", linear(set=set, of=of), LENGTHS)
        yield check(f"{name} undivided", linear("relu", set=set, of=of, clause=" undivided"), LENGTHS)
    listed = "%set = sparsity.blocks %ids, %counts query [64] key [1] : tensor<?x4x?x?xi32>, tensor<?x4x?xi32>"
    yield check("a list", linear(set=listed, of="state", arguments=", %ids: tensor<?x4x?x?xi32>, %counts: tensor<?x4x?xi32>"),
                ["b=1,n=130,ids=" + ":".join(str(entry * 7 % 3) for entry in range(24)) + ",counts=2:1:0:2:2:2:1:1:1:2:0:2",
                 "b=1,n=64,ids=0:0:0:0,counts=1:1:0:1", "b=2,n=700,ids=5%",
                 # Negative, behind the last state, and named twice.
                 "b=1,n=130,ids=" + ":".join(["-1", "7", "1", "1"] * 12) + ",counts=" + ":".join("4" for _ in range(12))])
    for heads, state_heads in ((3, 3), (8, 1), (14, 2)):
        yield check(f"heads {heads}:{state_heads}", linear(heads=heads, state_heads=state_heads), LENGTHS[:3])
    yield check("many blocks", linear(block=16, tile=16, heads=1, state_heads=1, set=PAST, of="state"), ["b=1,n=9000"])
    yield check("strided", linear(d=128, dv=128), ["b=2,n=300", "b=1,n=65"], flags=["--strided"])
    yield check("strided f16", linear("relu", "f16", d=40, dv=72), ["b=2,n=300"], flags=["--strided"])
    # A state with NaN reaches the rows that read it: those of blocks behind it, and no sum before.
    rows = {299: 0x7FC0, 200: 0x7F80, 131: 0x7FC0}
    for set, of in ((PREFIX, "prefix"), (DIGIT, "state")):
        yield check(f"NaN in some blocks, {of}", linear("elu", heads=2, state_heads=2, set=set, of=of), ["b=1,n=300"], files=poisoned(rows))
