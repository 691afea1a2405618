#!/usr/bin/env python3
"""A pump, a law of flow, a check valve, a vessel and its outlet: every law with every course of the pump, every outlet, both spellings of the valve, three
starts and the three ways to integrate. What the pump and the vessel leave for the law and the valve decides the flow, p' = inner(max(0, pump - p)) - out(p -
p_r), of which the right side falls with p: an implicit Runge-Kutta method whose stages are solved by bracketing follows it through every root and corner.

python3 tests/check_valve_table.py BGC [EVERY]     every so many of the 1890 runs (1: all, some minutes)
"""
import math, os, subprocess, sys, tempfile

POINTS, STOP, OFF = 7, 3.0, 1e-5
SECONDS = 60  # of a run
power = lambda p: lambda x: math.copysign(abs(x) ** p, x)
INNER = {  # the law, and its flow at an effort
    "e = 2*f*abs(f);": lambda e: power(0.5)(e / 2),
    "f = sqrt(0.5)*spow(e, 0.5);": lambda e: power(0.5)(e / 2),
    "f = sqrt(0.5)*sign(e)*sqrt(abs(e));": lambda e: power(0.5)(e / 2),
    "e = if f > 0 then 2*f^2 else -2*f^2;": lambda e: power(0.5)(e / 2),
    "f = if e > 0 then sqrt(e/2) else -sqrt(-e/2);": lambda e: power(0.5)(e / 2),
    "e = 2*f^3;": lambda e: power(1 / 3)(e / 2),
    "e = 2*spow(f, 1.5);": lambda e: power(1 / 1.5)(e / 2),
}
PUMP = {
    "6*max(0, 1 - time)^2": lambda t: 6 * max(0, 1 - t) ** 2,
    "3 + 2*sin(5*time)": lambda t: 3 + 2 * math.sin(5 * t),
    "time": lambda t: t,
    "3*sin(4*time)": lambda t: 3 * math.sin(4 * t),
    "4*sin(3*time)^2": lambda t: 4 * math.sin(3 * t) ** 2,
}
OUT = {
    "f = 0.1*spow(e, 0.5);": lambda e: 0.1 * power(0.5)(e),
    "f = 0.1*e;": lambda e: 0.1 * e,
    "e = 100*f*abs(f);": lambda e: 0.1 * power(0.5)(e),
}
CHECK = ["Se:check such that min(check.f, -check.e);", "Sf:check such that min(check.f, -check.e);"]
START = [(3, 3), (0, 0), (5, 0)]  # of the vessel; behind its outlet
SOLVER = ["auto", "bdf", "explicit"]

TEXT = """model line {
    MSe:pump = %s -> 1:suction;
    suction -> R:inner { %s }
    suction -> %s
    suction -> 0:cell;
    cell -> C:comp = 1 { e(0) = %s; }
    cell -> 1:out -> R:valve { %s }
    out -> Se:reservoir = %s;
    output p = cell.e;
}
experiment trip of line { stop = 3; rtol = 1e-8; }
"""


def falling(g, y):
    """The zero of g(y), g rising with y by 1 at least."""
    v = g(y)
    low, high = (y, y - v) if v < 0 else (y - v, y)
    vlow, vhigh = g(low), g(high)
    for i in range(100):
        if vlow == 0 or vhigh == 0 or high - low <= 1e-16 * abs(low + high):
            break
        middle = (low + high) / 2 if i % 3 == 2 else low - vlow * (high - low) / (vhigh - vlow)
        if not low < middle < high:
            middle = (low + high) / 2
        v = g(middle)
        if v < 0:
            low, vlow = middle, v
        else:
            high, vhigh = middle, v
    return low if -vlow < vhigh else high


A = 0.4358665215084590  # Alexander (1977): order 3, three stages of one kind, stable for whatever is stiff
STAGES = [(A, [A]), ((1 + A) / 2, [(1 - A) / 2, A]), (1.0, [-(6 * A * A - 16 * A + 1) / 4, (6 * A * A - 20 * A + 5) / 4, A])]


def step(f, t, y, h):
    k = []
    for c, row in STAGES:
        known = y + h * sum(a * b for a, b in zip(row, k))
        y_stage = falling(lambda v: v - known - h * A * f(t + c * h, v), known if not k else y_stage)
        k.append((y_stage - known) / (h * A))
    return y_stage


def follow(f, y):
    """p at the points of time."""
    values, t, h = [y], 0.0, 1e-6
    for point in range(1, POINTS):
        end = STOP * point / (POINTS - 1)
        while t < end:
            h = min(h, 0.02)
            taken = min(h, end - t)
            whole = step(f, t, y, taken)
            half = step(f, t + taken / 2, step(f, t, y, taken / 2), taken / 2)
            error = abs(half - whole) / 7 / 1e-9
            if error <= 1 or taken < 1e-11:
                y, t = half + (half - whole) / 7, end if taken == end - t else t + taken
                h = taken * min(4, 0.9 / max(error, 1e-4) ** 0.25) if taken == h or error > 0.5 else h
            else:
                h = taken * max(0.2, 0.9 / error**0.25)
        values.append(y)
    return values


def main():
    bgc, every = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    models = [(i, p, o, s, c) for i in INNER for p in PUMP for o in OUT for s in START for c in CHECK]
    runs = [(m, solver) for m in models for solver in SOLVER][::every]
    known, bad = {}, 0
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "line.bg")
        for (inner, pump, out, (first, behind), check), solver in runs:
            key = (INNER[inner](1.0), pump, OUT[out](2.0), first, behind)
            if key not in known:
                law, head, hole = INNER[inner], PUMP[pump], OUT[out]
                known[key] = follow(lambda t, p: law(max(0.0, head(t) - p)) - hole(p - behind), float(first))
            with open(name, "w") as file:
                file.write(TEXT % (pump, inner, check, first, out, behind))
            try:
                r = subprocess.run([bgc, "run", "-q", name, "--points", str(POINTS), "--solver", solver], capture_output=True, text=True, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                r = None
            rows = [[float(v) for v in line.split(",")] for line in r.stdout.splitlines()[1:]] if r and r.returncode == 0 else []
            off = max((abs(row[1] - p) for row, p in zip(rows, known[key])), default=math.inf) if len(rows) == POINTS else math.inf
            if not off <= OFF:
                bad += 1
                print(f"{solver}, {inner} pump {pump}, {out} from {first}, {check}: ", end="")
                print(f"off by {off:g}" if rows else "no end" if not r else r.stderr.splitlines()[0] if r.stderr else r.returncode, flush=True)
    print(f"{len(runs)} runs, {bad} not as they should be")
    return 1 if bad or not runs else 0


sys.exit(main())
