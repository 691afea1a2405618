#!/usr/bin/env python3
"""Random networks of resistors with curved laws and ideal diodes, which sources drive: the voltages are those of least content, sum of the integrals of
f de less the sources' power (Millar 1951), which is convex. What bgc prints must have no more content than the minimum that a damped Newton method finds,
with a diode as a resistor of 1e-10 ohm one way. A node without current through a flat law has no voltage that could be compared otherwise.

python3 tests/curved_switched.py BGC FIRST LAST [KIND]     seeds; a hundred take some minutes
KIND  plain     roots, squares, cubes, hyperbolic sines, valves by `if`, ideal diodes in both spellings (as it is without one)
      wide      also exponential diodes, laws in three pieces, powers, transformers and gyrators before all of them
      stores    wide, and capacitors at nodes, switches that time opens and closes: against an implicit Runge-Kutta method,
                ideal diodes as resistors of 1e-6 ohm, nodes without a capacitor with one of 1 nF
"""
import math, os, random, subprocess, sys, tempfile

import numpy as np

POINTS = 7
MORE = 1e-8      # content that may be too much, by 1 + the least
OFF = 2e-4       # of a voltage with stores, by 1 + its size
SECONDS = 60     # of a run
ON = 1e10        # S, of a diode in the reference
SOFT_ON = 1e6    # the same beside stores
PARASITE = 1e-9  # F
CONTACT = 0.02   # ohm, of a switch, so that no charge has to jump
FOLDED = 60      # exponents beyond are continued by a straight line
LAWS = {
    "linear": "R:r%d = %r;",
    "root": "R:r%d { f = %r*spow(e, 0.5); }",
    "square": "R:r%d { e = %r*f*abs(f); }",
    "cube": "R:r%d { f = %r*e^3; }",
    "sinh": "R:r%d { f = %r*sinh(e); }",
    "valve": "R:r%d { f = if e > 0 then %r*e else 0; }",
}
WIDE = {
    "power": "R:r{k} {{ f = {c!r}*spow(e, {p!r}); }}",
    "inverse power": "R:r{k} {{ e = {c!r}*spow(f, {p!r}); }}",
    "exponential": "R:r{k} {{ f = {i!r}*(exp(e/{v!r}) - 1); }}",
    "pieces": "R:r{k} {{ f = if e > {up!r} then {over!r}*(e - {up!r}) + {c!r}*{up!r} "
              "else if e < {down!r} then {under!r}*(e - {down!r}) + {c!r}*{down!r} else {c!r}*e; }}",
    "effort diode": "Se:d{k} such that min(d{k}.f, -d{k}.e);",
    "flow diode": "Sf:d{k} such that min(d{k}.f, -d{k}.e);",
    "effort switch": "Se:s{k} such that if sin({w!r}*time + {phase!r}) > 0 then s{k}.e else s{k}.f;",
    "flow switch": "Sf:s{k} such that if sin({w!r}*time + {phase!r}) > 0 then s{k}.e else s{k}.f;",
}


class Branch:
    """A law between nodes a and b: what flows leaves a, and `ratio` of it comes to b (a transformer stands before b); gyrator: r of one before the law."""

    def __init__(self, kind, a, b, c, ratio=1.0, gyrator=0.0, **more):
        self.kind, self.a, self.b, self.c, self.ratio, self.gyrator, self.more = kind, a, b, c, ratio, gyrator, more
        if gyrator:
            # e = r*L(r*f): powers stay powers, a diode turns round
            p = {"linear": 1.0, "root": 0.5, "square": 0.5, "cube": 3.0, "power": more.get("p"), "inverse power": 1 / more.get("p", 1)}.get(kind)
            scale = {"linear": 1 / c, "square": c**-0.5, "inverse power": c ** -(1 / more.get("p", 1))}.get(kind, c)
            if p:
                self.kind, self.more = "power", {"p": 1 / p}
                self.c = (1 / (gyrator * scale)) ** (1 / p) / gyrator
        self.written = (kind, c, more)

    def law(self, k):
        kind, c, more = self.written
        return LAWS[kind] % (k, c) if kind in LAWS else WIDE[kind].format(k=k, c=c, **more)

    def at(self, time, on, e):
        """Content, flow and slope at effort e."""
        kind, c, more = self.kind, self.c, self.more
        size = max(abs(e), 1e-14)
        bounded = max(-50.0, min(50.0, e))
        if kind == "linear":
            return e * e / 2 / c, e / c, 1 / c
        if kind == "root":
            return c * abs(e) ** 1.5 / 1.5, math.copysign(c * math.sqrt(abs(e)), e), c / 2 / math.sqrt(size)
        if kind == "square":
            return abs(e) ** 1.5 / 1.5 / math.sqrt(c), math.copysign(math.sqrt(abs(e) / c), e), 0.5 / math.sqrt(c * size)
        if kind == "cube":
            return c * e**4 / 4, c * e**3, 3 * c * e * e + 1e-14
        if kind == "sinh":
            return c * (math.cosh(bounded) - 1) + (1e9 if bounded != e else 0), c * math.sinh(bounded), c * math.cosh(bounded)
        if kind in ("power", "inverse power"):
            p, c = (more["p"], c) if kind == "power" else (1 / more["p"], c ** -(1 / more["p"]))
            return c * abs(e) ** (p + 1) / (p + 1), math.copysign(c * abs(e) ** p, e), c * p * size ** (p - 1) + 1e-14
        if kind == "exponential":
            v, i, x = more["v"], more["i"], e / more["v"]
            top = math.exp(min(x, FOLDED))
            over = max(x - FOLDED, 0.0)
            return i * v * (top * (1 + over + over * over / 2) - 1 - x), i * (top * (1 + over) - 1), i / v * top
        if kind == "pieces":
            if e > more["up"]:
                u, g = more["up"], more["over"]
            elif e < more["down"]:
                u, g = more["down"], more["under"]
            else:
                return c * e * e / 2, c * e, c
            return c * u * u / 2 + c * u * (e - u) + g * (e - u) ** 2 / 2, g * (e - u) + c * u, g
        if "switch" in kind:
            g = 1 / CONTACT if math.sin(more["w"] * time + more["phase"]) > 0 else 0.0
        else:
            g = (c if kind == "valve" else on) if (e < 0) == bool("diode" in kind and self.gyrator) and e != 0 else 0.0
        return g * e * e / 2, g * e, g


def network(seed):
    """Nodes, branches and sources (node, amplitude, frequency, phase); every node has a way to ground through resistors."""
    r = random.Random(seed)
    n = r.randint(2, 6)
    curved = ["linear", "linear", "root", "square", "cube", "sinh"]
    branches = [Branch(r.choice(curved), i, r.randint(0, i - 1), 10 ** r.uniform(-1, 1)) for i in range(1, n + 1)]
    for kinds, least in ((curved, 0), (["effort diode", "flow diode", "valve"], 1)):
        for _ in range(r.randint(least, n)):
            a, b = r.sample(range(n + 1), 2)
            branches.append(Branch(r.choice(kinds), a, b, 10 ** r.uniform(-1, 1)))
    sources = [(i, r.uniform(-3, 3), r.uniform(0.5, 3), r.uniform(0, 6)) for i in range(1, n + 1) if r.random() < 0.7]
    return n, branches, sources or [(1, 2.0, 1.0, 0.0)], {}


def wide(seed, stores):
    """The same of more kinds; with stores capacitors by node, too."""
    r = random.Random(seed)
    n = r.randint(2, 5)
    ways = ["linear", "linear", "root", "square", "cube", "sinh", "power", "inverse power"]
    curved = ways + ["exponential", "pieces"]
    ideal = ["effort diode", "flow diode", "effort diode", "flow diode", "valve", "exponential"]

    def one(kinds, a, b):
        kind = r.choice(kinds)
        more, plain = {}, kind in ("linear", "root", "square", "cube", "power", "inverse power", "effort diode", "flow diode")
        if "power" in kind:
            more = {"p": round(r.uniform(0.5 if stores else 0.3, 1.0), 2)}
        if kind == "exponential":
            more = {"i": 10 ** r.uniform(-9, -4), "v": r.uniform(0.03, 0.2)}
        if kind == "pieces":
            more = {"up": round(r.uniform(0, 1), 2), "down": -round(r.uniform(0.1, 1), 2), "over": 10 ** r.uniform(-1, 1.5), "under": 10 ** r.uniform(-1, 1.5)}
        if "switch" in kind:
            more = {"w": r.uniform(1, 4), "phase": r.uniform(0, 6)}
        ratio = round(10 ** r.uniform(-0.5, 0.5), 2) if r.random() < 0.15 else 1.0
        gyrator = round(10 ** r.uniform(-0.5, 0.5), 2) if plain and r.random() < 0.15 else 0.0
        return Branch(kind, a, b, 10 ** r.uniform(-1, 1), ratio, gyrator, **more)

    branches = [one(ways, i, r.randint(0, i - 1)) for i in range(1, n + 1)]
    for kinds, least in ((curved, 0), (ideal + (["effort switch", "flow switch"] * 2 if stores else []), 1)):
        for _ in range(r.randint(least, n)):
            branches.append(one(kinds, *r.sample(range(n + 1), 2)))
    sources = [(i, r.uniform(-3, 3), r.uniform(0.5, 3), r.uniform(0, 6)) for i in range(1, n + 1) if r.random() < 0.7]
    held = {i: 10 ** r.uniform(-1.5, 0) for i in range(1, n + 1) if stores and r.random() < 0.6}
    return n, branches, sources or [(1, 2.0, 1.0, 0.0)], held


def text(n, branches, sources, held):
    lines = ["model network {", "    Se:ground = 0 -> 0:n0;"] + ["    0:n%d;" % i for i in range(1, n + 1)]
    for k, b in enumerate(branches):
        before = "TF:t%d = %r -> " % (k, b.ratio) if b.ratio != 1 else ""
        after = " l%d -> R:q%d = %r;" % (k, k, CONTACT) if "switch" in b.kind else ""
        lines.append("    n%d -> 1:l%d -> %sn%d; l%d -> %s%s%s" % (b.a, k, before, b.b, k, "GY:g%d = %r -> " % (k, b.gyrator) if b.gyrator else "", b.law(k), after))
    for k, (node, amplitude, w, phase) in enumerate(sources):
        lines.append("    MSf:j%d = %r*sin(%r*time + %r) -> n%d;" % (k, amplitude, w, phase, node))
    lines += ["    n%d -> C:c%d = %r;" % (i, i, c) for i, c in held.items()]
    lines += ["    output v%d = n%d.e;" % (i, i) for i in range(1, n + 1)]
    return "\n".join(lines) + "\n}\nexperiment go of network { stop = 3; }\n"


def driven(n, sources, time):
    j = np.zeros(n + 1)
    for node, amplitude, w, phase in sources:
        j[node] += amplitude * math.sin(w * time + phase)
    return j


def content(branches, j, on, v):
    return sum(b.at(0, on, v[b.a] - b.ratio * v[b.b])[0] for b in branches) - j @ v


def slopes(n, branches, j, time, on, v):
    """Of the content: its gradient and its second derivatives."""
    slope, curve = -j, np.zeros((n + 1, n + 1))
    for b in branches:
        _, f, g = b.at(time, on, v[b.a] - b.ratio * v[b.b])
        slope[b.a] += f
        slope[b.b] -= b.ratio * f
        curve[np.ix_((b.a, b.b), (b.a, b.b))] += g * np.array([[1, -b.ratio], [-b.ratio, b.ratio**2]])
    return slope[1:], curve[1:, 1:]


def least(n, branches, j):
    """Voltages of least content; diodes are made harder step by step."""
    v = np.array([0.0] + [0.3 + 0.1 * i for i in range(n)])
    for on in (1e2, 1e4, 1e6, 1e8, ON):
        best = content(branches, j, on, v)
        for _ in range(300):
            slope, curve = slopes(n, branches, j, 0, on, v)
            step = np.concatenate(([0.0], -np.linalg.solve(curve + 1e-13 * np.eye(n) * np.trace(curve) / n, slope)))
            part = 1.0
            while part > 1e-12 and content(branches, j, on, v + part * step) >= best:
                part /= 2
            if part <= 1e-12:
                break
            v = v + part * step
            best = content(branches, j, on, v)
    return v


def trajectory(n, branches, sources, held, times):
    """Voltages at times, by a stiff method, from one of them or switching by time to the next."""
    from scipy.integrate import solve_ivp

    c = np.array([held.get(i, PARASITE) for i in range(1, n + 1)])
    turns = {0.0, *times}
    for b in branches:
        if "switch" in b.kind:
            w, phase = b.more["w"], b.more["phase"]
            turns |= {(k * math.pi - phase) / w for k in range(8) if 0 < (k * math.pi - phase) / w < times[-1]}
    turns = sorted(turns)
    v, found = np.zeros(n), {}
    for t0, t1 in zip(turns, turns[1:]):
        middle = (t0 + t1) / 2

        def rates(t, v):
            return -slopes(n, branches, driven(n, sources, t), middle, SOFT_ON, np.concatenate(([0.0], v)))[0] / c

        def by_v(t, v):
            return -slopes(n, branches, driven(n, sources, t), middle, SOFT_ON, np.concatenate(([0.0], v)))[1] / c[:, None]

        r = solve_ivp(rates, (t0, t1), v, "Radau", jac=by_v, rtol=1e-7, atol=1e-9)
        if r.status:
            return None
        found[t1] = v = r.y[:, -1]
    return found


def fault(bgc, file, seed, kind):
    n, branches, sources, held = network(seed) if kind == "plain" else wide(seed, kind == "stores")
    with open(file, "w") as f:
        f.write(text(n, branches, sources, held))
    try:
        p = subprocess.run([bgc, "run", file, "--points", str(POINTS)], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "no end within %d s" % SECONDS
    if p.returncode:
        return next((line for line in p.stderr.splitlines() if "error" in line), "status %d" % p.returncode)
    rows = [list(map(float, line.split(","))) for line in p.stdout.splitlines()[1:]]
    if kind == "stores":
        found = trajectory(n, branches, sources, held, [row[0] for row in rows])
        if found is None:
            return "the reference does not end"
        for time, *printed in rows[1:]:
            off = np.abs(found[time] - printed)
            # beside a switching by time, and where a flat law leaves a node's voltage open, numbers differ
            if np.any(off > OFF * (1 + np.abs(found[time]))):
                return "off by %g at %g s" % (off.max(), time)
        return None
    for time, *printed in rows:
        j = driven(n, sources, time)
        v = least(n, branches, j)
        smallest = content(branches, j, ON, v)
        more = content(branches, j, ON, np.array([0.0] + printed)) - smallest
        # where its diodes carry much, an ideal network has more content than the reference by about what is in them
        soft = sum(b.at(0, ON, v[b.a] - b.ratio * v[b.b])[0] for b in branches if "diode" in b.kind)
        if more > MORE * (1 + abs(smallest)) + 2 * soft:
            return "content is %g too much at %g s" % (more, time)
    return None


def main():
    bgc, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    kind = sys.argv[4] if len(sys.argv) > 4 else "plain"
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last + 1):
            said = fault(bgc, os.path.join(folder, "network.bg"), seed, kind)
            if said:
                print("seed %d: %s" % (seed, said), flush=True)
                bad += 1
    print("%d networks, %d failures" % (last - first + 1, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
