#!/usr/bin/env python3
"""Random networks of resistors with curved laws (roots, squares, cubes, hyperbolic sines) and ideal diodes, which sources drive: the voltages are those of
least content, sum of the integrals of f de less the sources' power (Millar 1951), which is convex. What bgc prints must have no more content than the minimum
that a damped Newton method finds, with a diode as a resistor of 1e-10 ohm one way. A node without current through a flat law has no voltage that could be
compared otherwise.

python3 tests/curved_switched.py BGC FIRST LAST     seeds; a hundred take some minutes
"""
import math, os, random, subprocess, sys, tempfile

import numpy as np

POINTS = 7
MORE = 1e-8      # content that may be too much, by 1 + the least
SECONDS = 60     # of a run
ON = 1e10        # S, of a diode in the reference
LAWS = {
    "linear": "R:r%d = %r;",
    "root": "R:r%d { f = %r*spow(e, 0.5); }",
    "square": "R:r%d { e = %r*f*abs(f); }",
    "cube": "R:r%d { f = %r*e^3; }",
    "sinh": "R:r%d { f = %r*sinh(e); }",
    "valve": "R:r%d { f = if e > 0 then %r*e else 0; }",
}


def network(seed):
    """Nodes, branches (kind, from, to, coefficient) and sources (node, amplitude, frequency, phase); every node has a way to ground through resistors."""
    r = random.Random(seed)
    n = r.randint(2, 6)
    curved = ["linear", "linear", "root", "square", "cube", "sinh"]
    branches = [(r.choice(curved), i, r.randint(0, i - 1), 10 ** r.uniform(-1, 1)) for i in range(1, n + 1)]
    for kinds, least in ((curved, 0), (["effort diode", "flow diode", "valve"], 1)):
        for _ in range(r.randint(least, n)):
            a, b = r.sample(range(n + 1), 2)
            branches.append((r.choice(kinds), a, b, 10 ** r.uniform(-1, 1)))
    sources = [(i, r.uniform(-3, 3), r.uniform(0.5, 3), r.uniform(0, 6)) for i in range(1, n + 1) if r.random() < 0.7]
    return n, branches, sources or [(1, 2.0, 1.0, 0.0)]


def text(n, branches, sources):
    lines = ["model network {", "    Se:ground = 0 -> 0:n0;"] + ["    0:n%d;" % i for i in range(1, n + 1)]
    for k, (kind, a, b, c) in enumerate(branches):
        if kind in LAWS:
            element = LAWS[kind] % (k, c)
        else:
            element = "S%s:d%d such that min(d%d.f, -d%d.e);" % (kind[0], k, k, k)
        lines.append("    n%d -> 1:l%d -> n%d; l%d -> %s" % (a, k, b, k, element))
    for k, (node, amplitude, w, phase) in enumerate(sources):
        lines.append("    MSf:j%d = %r*sin(%r*time + %r) -> n%d;" % (k, amplitude, w, phase, node))
    lines += ["    output v%d = n%d.e;" % (i, i) for i in range(1, n + 1)]
    return "\n".join(lines) + "\n}\nexperiment go of network { stop = 3; }\n"


def branch(kind, c, on, e):
    """Content, flow and slope at e."""
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
    g = (c if kind == "valve" else on) if e > 0 else 0.0
    return g * e * e / 2, g * e, g


def content(branches, j, on, v):
    return sum(branch(kind, c, on, v[a] - v[b])[0] for kind, a, b, c in branches) - j @ v


def least(n, branches, j):
    """Voltages of least content; diodes are made harder step by step."""
    v = np.array([0.0] + [0.3 + 0.1 * i for i in range(n)])
    for on in (1e2, 1e4, 1e6, 1e8, ON):
        best = content(branches, j, on, v)
        for _ in range(300):
            slope, curve = -j, np.zeros((n + 1, n + 1))
            for kind, a, b, c in branches:
                _, f, g = branch(kind, c, on, v[a] - v[b])
                slope = slope + f * (np.eye(n + 1)[a] - np.eye(n + 1)[b])
                curve[np.ix_((a, b), (a, b))] += g * np.array([[1, -1], [-1, 1]])
            curve = curve[1:, 1:]
            step = np.concatenate(([0.0], -np.linalg.solve(curve + 1e-13 * np.eye(n) * np.trace(curve) / n, slope[1:])))
            part = 1.0
            while part > 1e-12 and content(branches, j, on, v + part * step) >= best:
                part /= 2
            if part <= 1e-12:
                break
            v = v + part * step
            best = content(branches, j, on, v)
    return v


def fault(bgc, file, seed):
    n, branches, sources = network(seed)
    with open(file, "w") as f:
        f.write(text(n, branches, sources))
    try:
        p = subprocess.run([bgc, "run", file, "--points", str(POINTS)], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "no end within %d s" % SECONDS
    if p.returncode:
        return next((line for line in p.stderr.splitlines() if "error" in line), "status %d" % p.returncode)
    for line in p.stdout.splitlines()[1:]:
        time, *printed = map(float, line.split(","))
        j = np.zeros(n + 1)
        for node, amplitude, w, phase in sources:
            j[node] += amplitude * math.sin(w * time + phase)
        smallest = content(branches, j, ON, least(n, branches, j))
        more = content(branches, j, ON, np.array([0.0] + printed)) - smallest
        if more > MORE * (1 + abs(smallest)):
            return "content is %g too much at %g s" % (more, time)
    return None


def main():
    bgc, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last + 1):
            said = fault(bgc, os.path.join(folder, "network.bg"), seed)
            if said:
                print("seed %d: %s" % (seed, said))
                bad += 1
    print("%d networks, %d failures" % (last - first + 1, bad))
    return 1 if bad else 0


sys.exit(main())
