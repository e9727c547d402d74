"""Property tests of the select dialect: summaries, projections, scores and choices, each alone and in chains."""


def tensor(shape, type="bf16"):
    return f"tensor<{shape}x{type}>"


def function(arguments, results, lines, sizes=""):
    """A function of these arguments, `name: type`, and of results given as (name, type) pairs."""
    names, types = ", ".join(name for name, _ in results), ", ".join(type for _, type in results)
    body = "".join(f"  {line}\n" for line in lines)
    return f"func.func @f({', '.join(arguments)}) -> ({types}) {{\n{body}  return {names} : {types}\n}}\n"


LENGTHS = ["b=1,n=700", "b=2,n=129", "b=1,n=128", "b=1,n=1", "b=1,n=0"]


def summaries(check):
    """Every kind, on sequences and grids, with parts of the channels and other element types."""
    one = ("radius", "norm", "similarity", "count")
    for kind in ("mean", "sum", "min", "max", "variance", "first") + one:
        for type, out, channels, block in (("bf16", "bf16", 64, 64), ("f16", "f32", 128, 128), ("bf16", "f32", 40, 48)):
            width = 1 if kind in one else channels
            source, result = tensor(f"?x2x?x{channels}", type), tensor(f"?x2x?x{width}", out)
            yield check(f"{kind} {type} to {out} D{channels} by {block}",
                        function([f"%x: {source}"], [("%m", result)],
                                 [f"%m = select.summarize {kind} %x block [{block}] : {source} -> {result}"]), LENGTHS)
    source, result = tensor("?x2x?x64"), tensor("?x2x?x16", "f32")
    yield check("mean of channels", function([f"%x: {source}"], [("%m", result)], [
        f"%m = select.summarize mean %x block [32] channels [24, 40] : {source} -> {result}"]), LENGTHS)
    result = tensor("?x2x?x64")
    yield check("mean of cubes", function([f"%x: {source}", "%frames: index"], [("%m", result)], [
        "%video = sparsity.grid [%frames, 9, 6]",
        f"%m = select.summarize mean %x block [4, 4, 4] in %video : {source}, !sparsity.domain<3> -> {result}"]),
        ["b=1,frames=5,x=1x2x270x64", "b=2,frames=8,x=2x2x432x64"])
    result = tensor("?x2x?x1024")
    for reversed in ("", " reversed"):
        yield check(f"fold{reversed}", function([f"%x: {source}"], [("%m", result)], [
            f"%m = select.fold %x by 16{reversed} : {source} -> {result}"]), LENGTHS)


def project(channels, features, type="bf16", out=None, heads=4, matrices=2):
    """Features of tokens."""
    x, w = tensor(f"?x{heads}x?x{channels}", type), tensor(f"{matrices}x{channels}x{features}", type)
    f = tensor(f"?x{heads}x?x{features}", out or type)
    return function([f"%x: {x}", f"%w: {w}"], [("%f", f)], [f"%f = select.project %x, %w : {x}, {w} -> {f}"])


def projections(check):
    """Channels and features that fill chunks of products and that do not, matrices for all heads, for groups and for each."""
    for channels in (40, 64, 128, 256):
        for features in (16, 64, 128):
            yield check(f"project D{channels} E{features}", project(channels, features), LENGTHS)
    for matrices in (1, 4):
        yield check(f"project {matrices} matrices", project(128, 64, matrices=matrices), LENGTHS)
    yield check("project 12 heads", project(64, 64, heads=12, matrices=3), LENGTHS)
    yield check("project to f32", project(128, 64, out="f32"), LENGTHS)
    yield check("project f16", project(128, 128, type="f16"), LENGTHS)
    yield check("project f16 to bf16", project(72, 8, type="f16", out="bf16"), LENGTHS)
    yield check("project f32", project(128, 64, type="f32"), LENGTHS)
    yield check("project f32 to bf16", project(40, 136, type="f32", out="bf16"), LENGTHS)
    yield check("project long rows", project(1024, 200), LENGTHS[:2])
    yield check("project inside larger tensors", project(128, 64), LENGTHS[:3], flags=["--strided"])


def scores(check):
    """Kinds, reductions along rows, columns and heads, sets, functions, lse and weights."""
    sizes = ["b=1,nq=300,nk=200", "b=2,nq=129,nk=131", "b=1,nq=1,nk=1000", "b=1,nq=0,nk=5", "b=1,nq=5,nk=0"]

    def case(name, kind="dot", clauses="", before=(), type="bf16", channels=64, heads=4, arguments=(), group=1, sizes=sizes,
             width=None):
        query, key = tensor(f"?x{heads}x?x{channels}", type), tensor(f"?x2x?x{channels}", type)
        result = tensor(f"?x{heads // group}x?x?", "f32")
        companion = "" if kind == "dot" else f" with %c : {tensor(f'?x2x?x{width or channels}', type)}"
        more = [] if kind == "dot" else [f"%c: {tensor(f'?x2x?x{width or channels}', type)}"]
        lines = list(before) + [f"%s = select.score {kind} %q, %k{companion}{clauses} : {query}, {key} -> {result}"]
        if kind != "dot":
            sizes = [line + f",c={line.split('b=')[1].split(',')[0]}x2x{line.split('nk=')[1]}x{width or channels}" for line in sizes]
        return check(f"score {name}", function([f"%q: {query}", f"%k: {key}"] + more + list(arguments), [("%s", result)], lines), sizes)

    yield case("plain")
    yield case("f16", type="f16", channels=128)
    yield case("f32", type="f32", channels=40)
    yield case("D40", channels=40)
    yield case("long rows", channels=1024, sizes=sizes[:2])
    yield case("box", kind="box")
    yield case("ball", kind="ball", width=1)
    yield case("quadratic", kind="quadratic")
    past = ["%past = sparsity.causal"]
    for by in ("sum", "mean", "max", "log_sum_exp"):
        yield case(f"rows by {by}", clauses=f" over %past rows 128 by {by}", before=past)
        yield case(f"columns by {by}", clauses=f" over %past columns 64 by {by}", before=past)
    yield case("rows 48 columns 24", clauses=" rows 48 by sum columns 24 by max")
    yield case("rows 200 columns 150", clauses=" rows 200 by max columns 150 by sum", sizes=sizes[:3])
    yield case("groups", clauses=" over %past rows 64 by log_sum_exp group 2", before=past, group=2)
    yield case("groups of rows", clauses=" group 4", group=4)
    yield case("function", clauses=""" rows 64 by sum function (%x, %b, %h, %i, %j) {
      %zero = arith.constant 0.0 : f32
      %r = arith.maximumf %x, %zero : f32
      select.yield %r : f32
    }""")
    rows = tensor("?x4x?", "f32")
    with_rows = [f"{line},w={line.split('b=')[1].split(',')[0]}x4x{line.split('nq=')[1].split(',')[0]}" for line in sizes]
    yield case("mass", clauses=f" lse %w : {rows} rows 64 by sum columns 64 by sum", arguments=[f"%w: {rows}"], sizes=with_rows)
    yield case("weights", clauses=f" weights %w : {rows} group 4", arguments=[f"%w: {rows}"], sizes=with_rows, group=4)
    query, key = tensor("?x4x?x64"), tensor("?x2x?x64")
    yield check("log_sum_exp", function([f"%q: {query}", f"%k: {key}"], [("%l", rows)], past + [
        f"%l = select.log_sum_exp %q, %k over %past : {query}, {key} -> {rows}"]), sizes)


def choices(check):
    """Every rule and scope, on random scores."""
    source, ids, counts = tensor("?x2x?x?", "f32"), tensor("?x2x?x?", "i32"), tensor("?x2x?", "i32")
    sizes = ["s=1x2x5x300", "s=2x2x3x1", "s=1x2x2x2000", "s=1x2x4x0", "s=1x2x0x9"]

    def case(name, rule, clauses="", before=(), arguments=(), value="%s", sizes=sizes):
        lines = list(before) + [f"%ids, %counts = select.choose {rule} {value}{clauses} : {source} -> {ids}, {counts}"]
        return check(f"choose {name}", function([f"%s: {source}"] + list(arguments), [("%ids", ids), ("%counts", counts)], lines),
                     sizes)

    for name, rule in (("top_k", "top_k(7)"), ("share", "share(0.1)"), ("top_p", "top_p(0.9)"), ("above", "above(0.5)"),
                       ("near_max", "near_max(-1.5)"), ("deviation", "deviation(1.0)")):
        yield case(name, rule)
        yield case(f"{name} floor cap", rule, " floor 3 cap 20")
    for scope in ("head", "batch"):
        yield case(f"scope {scope}", "share(0.15)", f" scope {scope}")
        yield case(f"k in scope {scope}", "top_k(40)", f" scope {scope}")
    yield case("k at run time", "top_k(%k : index)", arguments=["%k: index"], sizes=[f"{line},k=9" for line in sizes])
    sets = ["%past = sparsity.causal", "%near = sparsity.window left(2) right(0)",
            f"%t = select.restrict %s within %past force %near : {source}"]
    yield case("restricted", "top_k(5)", before=sets, value="%t", sizes=["s=1x2x40x40", "s=1x2x7x300"])
    yield case("restricted top_p", "top_p(0.5)", before=sets, value="%t", sizes=["s=1x2x40x40", "s=1x2x7x300"])
    weights = source
    yield check("sample", function([f"%s: {source}", "%seed: index"], [("%ids", ids), ("%counts", counts), ("%w", weights)], [
        f"%ids, %counts, %w = select.sample(6) %s seed %seed : {source} -> {ids}, {counts}, {weights}"]),
        [f"{line},seed=5" for line in sizes])
    margin = tensor("?x2x?", "f32")
    yield check("margin and gate", function([f"%s: {source}"], [("%m", margin), ("%k", counts)], [
        f"%m = select.margin(8) %s : {source} -> {margin}",
        f"%k = select.gate(0.4) %m low 16 high 8 : {margin} -> {counts}"]), sizes)


def search(kept, base=64, block=64, fanout=2, causal=False, coarse="drop", heads=4, key_heads=2, channels=64, type="bf16", lists=False):
    """A search from coarse to fine that keeps so many nodes on each level, the finest first, and attention over what it finds; with
    `lists` the lists alone. `coarse` says whether dropped siblings are seen through their means."""
    q, k = tensor(f"?x{heads}x?x{channels}", type), tensor(f"?x{key_heads}x?x{channels}", type)
    scores, ids = tensor(f"?x{heads}x?x?", "f32"), tensor(f"?x{heads}x?x?", "i32")
    counts, rows = tensor(f"?x{heads}x?", "i32"), tensor(f"?x{heads}x?", "f32")
    length = tensor(f"?x{key_heads}x?x1", "f32")
    lines = ["%zero = arith.constant 0 : index", "%axis = arith.constant 2 : index",
             f"%qm = select.summarize mean %q block [{block}] : {q} -> {q}"]
    parts = []
    for level in reversed(range(len(kept))):
        size, top, n = base * fanout**level, level == len(kept) - 1, level
        lines.append(f"%k{n} = select.summarize mean %k block [{size}] : {k} -> {k}")
        sets = ""
        if causal:
            past = f"i * {block} + {block - 1} - j * {size} >= 0"
            lines += [f"%past{n} = sparsity.affine affine_set<(i, j) : ({past})> from_start",
                      f"%own{n} = sparsity.affine affine_set<(i, j) : ({past}, j * {size} + {size - 1} - i * {block} >= 0)> from_start"]
            sets = f"%past{n} force %own{n}"
        if top:
            lines.append(f"%all{n} = select.score dot %qm, %k{n} : {q}, {k} -> {scores}")
            s = f"%t{n}" if causal else f"%all{n}"
            if causal:
                lines.append(f"%t{n} = select.restrict %all{n} within {sets} : {scores}")
            lines.append(f"%ids{n}, %counts{n} = select.choose top_k({kept[n]}) {s} : {scores} -> {ids}, {counts}")
        else:
            s = f"%s{n}"
            lines += [f"%n{n} = tensor.dim %k{n}, %axis : {k}",
                      f"%below{n}, %many{n} = select.children %ids{n + 1}, %counts{n + 1} by {fanout} columns(%n{n}) : {ids}, {counts}"
                      f" -> {ids}, {counts}",
                      f"{s} = select.score_list dot %qm, %k{n} at %below{n}, %many{n}{' over ' + sets if causal else ''}"
                      f" : {q}, {k}, {ids}, {counts} -> {scores}",
                      f"%at{n}, %counts{n} = select.choose top_k({kept[n]}) {s} : {scores} -> {ids}, {counts}",
                      f"%ids{n} = select.pick %below{n}, %many{n} at %at{n} : {ids}, {counts}, {ids} -> {ids}"]
        if coarse == "keep":
            chosen, dropped = ("ids", "others") if top else ("at", "dropped")
            lines += [f"%left{n} = select.without {s}, %{chosen}{n}, %counts{n} : {scores}, {ids}, {counts}",
                      f"%others{n}, %rest{n} = select.choose share(1) %left{n} : {scores} -> {ids}, {counts}"]
            if not top:
                lines.append(f"%dropped{n} = select.pick %below{n}, %many{n} at %others{n} : {ids}, {counts}, {ids} -> {ids}")
            lines += [f"%v{n} = select.summarize mean %v block [{size}] : {k} -> {k}",
                      f"%keys{n} = select.summarize count %k block [{size}] : {k} -> {length}",
                      f"%seen{n} = sparsity.blocks %{dropped}{n}, %rest{n} query [{block}] key [1] : {ids}, {counts}",
                      f"%o{n}, %l{n} = attn.attend %q, %k{n}, %v{n} over %seen{n} score (%x, %b, %h, %i, %j) {{\n"
                      f"    %m = tensor.extract %keys{n}[%b, %zero, %j, %zero] : {length}\n    %log = math.log %m : f32\n"
                      f"    %y = arith.addf %x, %log : f32\n    attn.yield %y : f32\n  }} : {q}, {k}, {k} -> {q}, {rows}"]
            parts.append(f"(%o{n}, %l{n})")
    if lists:
        return function([f"%q: {q}", f"%k: {k}"], [("%ids0", ids), ("%counts0", counts)], lines)
    lines += [f"%listed = sparsity.blocks %ids0, %counts0 query [{block}] key [{base}] : {ids}, {counts}",
              f"%whole = sparsity.{'causal' if causal else 'all'} : !sparsity.set<1>".replace("causal : !sparsity.set<1>", "causal"),
              "%set = sparsity.intersect %listed, %whole",
              f"%exact, %lse = attn.attend %q, %k, %v over %set : {q}, {k}, {k} -> {q}, {rows}"]
    output = "%exact"
    if parts:
        lines.append(f"%output, %sum = attn.merge (%exact, %lse), {', '.join(parts)} : {q}, {rows}")
        output = "%output"
    return function([f"%q: {q}", f"%k: {k}", f"%v: {k}"], [(output, q)], lines)


def searches(check):
    """Choices among the children of what was chosen before."""
    sizes = ["b=1,n=2000", "b=2,n=129", "b=1,n=64", "b=1,n=1", "b=1,n=0"]
    for causal in (False, True):
        for type, channels in (("bf16", 64), ("f16", 128), ("bf16", 40)):
            name = f"search {'causal ' if causal else ''}{type} D{channels}"
            yield check(name, search([3, 2, 2], causal=causal, type=type, channels=channels), sizes)
    for causal in (False, True):
        for channels in (64, 128):
            yield check(f"search {'causal ' if causal else ''}with coarse columns D{channels}",
                        search([3, 2, 2], causal=causal, coarse="keep", channels=channels), sizes)
    yield check("search fanout 4", search([5, 3, 2], base=128, block=128, fanout=4, causal=True, channels=128), ["b=1,n=9000"])
    yield check("search of four levels", search([4, 4, 2, 1], fanout=3, channels=64), ["b=1,n=5000"])


def cases(check):
    """All of them; `check(name, spec, sets)` makes one."""
    yield from summaries(check)
    yield from projections(check)
    yield from scores(check)
    yield from choices(check)
    yield from searches(check)
