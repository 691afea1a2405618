"""How the time of `bgc check` grows with a model of one shape: long chains, stars, wide definitions, many of a kind.

    python3 tests/bench/shapes.py build/bgc [--size 5000] [SHAPE...]

Each shape is checked at a size and at four times it; a ratio far above 4 is a stage that is not linear. Times are of
the processor, less that of an empty model; a ratio of times below a tenth of a second says nothing.
"""
import argparse
import os
import resource
import subprocess
import tempfile

SOURCE = "1:v; Se:s = 1 -> v; v -> I:m = 1;"


def lines(n, text):
    return "\n".join(text.replace("{i}", str(i)).replace("{i1}", str(i + 1)) for i in range(n))


def model(*parts, before="", after=""):
    return before + "\nmodel m {\n" + "\n".join(parts) + "\n}\n" + after


def chain(link, store=""):
    return lambda n: model("1:v0; Se:s = 1 -> v0;", lines(n, link + store), f"v{n} -> I:last = 1;")


def many(text):
    return lambda n: model(SOURCE, lines(n, text))


def wide(head, entry, between, tail, before=""):
    return lambda n: model(SOURCE, lines(n, before),
                           head + between.join(entry.replace("{i}", str(i)) for i in range(n)) + tail)


def experiments(text):
    return lambda n: model("parameter k = 1;", SOURCE, after="experiment e0 of m { stop = 1; }\n" + lines(n, text))


CELL = "model cell { parameter a = 1; port 1:p; p -> I:m = a; p -> R:r { e = a*f; } }\n"
SHAPES = {
    "transformers": chain("1:v{i1}; v{i} -> TF:t{i} = 2 -> v{i1};"),
    "transformers with masses": chain("1:v{i1}; v{i} -> TF:t{i} = 1.01 -> v{i1};", "v{i} -> I:m{i} = 1;"),
    "modulated transformers": chain("1:v{i1}; v{i} -> MTF:t{i} = 2 + last.p -> v{i1};"),
    "gyrators": chain("1:v{i1}; v{i} -> GY:t{i} = 2 -> v{i1};"),
    "gyrators with masses": chain("1:v{i1}; v{i} -> GY:t{i} = 2 -> v{i1};", "v{i} -> I:m{i} = 1;"),
    "junctions": chain("1:v{i1}; v{i} -> v{i1};"),
    "masses and springs": chain("0:e{i}; 1:v{i1}; v{i} -> e{i} -> v{i1};", "v{i} -> I:m{i} = 1; e{i} -> C:c{i} = 1;"),
    "resistors": chain("0:e{i}; 1:v{i1}; v{i} -> e{i} -> v{i1};", "v{i} -> R:r{i} = 1; e{i} -> R:g{i} = 1;"),
    "diodes": chain("0:e{i}; 1:v{i1}; v{i} -> e{i} -> v{i1};",
                    "v{i} -> R:d{i} { f = if e > 0 then e else 0; } v{i} -> I:m{i} = 1; e{i} -> C:c{i} = 1;"),
    "star of masses": many("v -> I:m{i} = 1;"),
    "star of springs": many("v -> C:c{i} = 1;"),
    "star of laws": many("v -> R:r{i} { e = {i1}*f + f^3; }"),
    "star of levers": many("v -> TF:t{i} = 2 -> 1:w{i}; w{i} -> C:c{i} = 1;"),
    "instances": lambda n: model("0:z; z -> C:c = 1;", lines(n, "cell:x{i}(a = {i1}); z -> x{i}.p;"), before=CELL),
    "array of instances": lambda n: model(f"0:z; z -> C:c = 1; cell:x[{n}]; for i in 1..{n} {{ z -> x[i].p; }}",
                                          before=CELL),
    "models": lambda n: model("0:z; z -> C:c = 1;", lines(n, "cell{i}:x{i}; z -> x{i}.p;"),
                              before=lines(n, CELL.replace("cell", "cell{i}"))),
    "parameters": many("parameter k{i} = {i}; v -> R:r{i} = 1 + k{i};"),
    "parameters of parameters": lambda n: model("parameter k0 = 1;", lines(n, "parameter k{i1} = k{i} + 1;"), SOURCE,
                                                f"v -> C:c = k{n};"),
    "signals of signals": lambda n: model(SOURCE, "signal k0 = v.f;", lines(n, "signal k{i1} = k{i}*1.5 + 1;")),
    "outputs": many("output y{i} = v.f*{i};"),
    "inputs": many("input u{i} = {i}; Se:s{i} = u{i} -> v;"),
    "arguments": lambda n: model(
        "0:z; z -> C:c = 1;", "cell:x(" + ", ".join(f"a{i} = 2" for i in range(n)) + "); z -> x.p;",
        before="model cell {" + lines(n, "parameter a{i} = 1;") + " port 1:p; p -> I:m = a0; }\n"),
    "numbers of max": wide("signal y = max(", "v.f + {i}", ", ", ");"),
    "numbers of sum": wide("signal y = sum(", "{i}*v.f", ", ", ");"),
    "functions": lambda n: model(SOURCE, lines(n, "output y{i} = g{i}(v.f);"),
                                 before=lines(n, "function g{i}(x) = x^2 + {i};")),
    "conditions": many("signal y{i} = if v.f < {i} then v.f else {i};"),
    "when": many("when v.f > {i1} { m.p = {i}; }"),
    "when of many": wide("when v.f > 1 {", "m{i}.p = 0;", " ", "}",
                         before="1:v{i}; Se:s{i} = 1 -> v{i}; v{i} -> I:m{i} = 1;"),
    "every": many("every {i1} { m.p = {i}; }"),
    "assertions": many('assert v.f < {i} "no";'),
    "delays": lambda n: model(SOURCE, "signal y0 = v.f;", lines(n, "signal y{i1} = delay(y{i}, 0.1);")),
    "experiments": experiments("experiment e{i1} of m { stop = {i1}; let k = {i1}; record v.f; }"),
    "experiments of experiments": experiments("experiment e{i1} from e{i} { let k = {i1}; }"),
    "experiment of many lets": lambda n: model(
        lines(n, "parameter k{i} = 1;"), SOURCE,
        after="experiment e of m { stop = 1; " + lines(n, "let k{i} = 2;") + " }\n"
              "experiment d from e { " + lines(n, "let k{i} = 3;") + " }\n"),
    "domains": lambda n: model(lines(n, "1:v{i} in d{i}; v{i} -> R:r{i} = 1; Se:s{i} = 1 -> v{i};"),
                               before=lines(n, "domain d{i} { effort T{i} [K]; flow S{i} [W/K]; }")),
    "field of many ports": lambda n: model(
        f"1:v[{n}]; Se:s[{n}] = 1; for i in 1..{n} {{ s[i] -> v[i]; v[i] -> F.x[i]; }} R:F {{ port x[{n}];",
        lines(n, "x[{i1}].e = x[{i1}].f;"), "}"),
    "parts taken out": wide("without ", "r{i}", ", ", ";", before="v -> R:r{i} = 1;"),
    "unknown names": many("output y{i} = v.f*qq{i};"),
}


def seconds(bgc, text, folder):
    path = os.path.join(folder, "model.bg")
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = subprocess.run([bgc, "check", path], capture_output=True, timeout=600, check=False).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, status


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("bgc")
    arguments.add_argument("--size", type=int, default=5000)
    arguments.add_argument("shape", nargs="*", help="; ".join(SHAPES))
    given = arguments.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as folder:
        start = min(seconds(given.bgc, model(SOURCE), folder)[0] for _ in range(3))
        print(f"{'shape':28} {given.size:>9} {4 * given.size:>9}     ratio")
        for name in given.shape or SHAPES:
            one, _ = seconds(given.bgc, SHAPES[name](given.size), folder)
            four, status = seconds(given.bgc, SHAPES[name](4 * given.size), folder)
            ratio = (four - start) / max(one - start, 1e-3)
            ended = "" if status in (0, 1) else f" status {status}"
            print(f"{name:28} {one:7.3f} s {four:7.3f} s {ratio:9.2f}{ended}", flush=True)


main()
