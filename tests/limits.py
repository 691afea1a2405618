#!/usr/bin/env python3
"""Random nets of laws that approach a limit, driven by a coil beyond it: exponential junctions, tanh, logistic and softplus laws, cubes, cubes in pieces with a
flat, beside linear resistors; in rows and side by side, in one another, and in bridges; turned round; or all of it with effort and flow exchanged,
a vessel in place of the coil. What bgc gives must be what SciPy gives where each law has a leak of no account beside it, so that no law has a limit.

python3 tests/limits.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds; a hundred take a minute a solver
"""
import random, sys

import numpy as np
from scipy.integrate import solve_ivp

from apart import POINTS, PassedOver, main

LEAK = 1e-7      # S
NEAR = 2e-4      # s: within this of a point
LINE = 40        # exponents above go on as lines
MOST = 200       # iterations, which end with a step of this size
SETTLED = 1e-8
LEAST = 1e-4     # A: beside a law of less the leak is of account for the voltage
STEADY = 1e-3    # of the greatest: where the voltage moves more it is not told


def soft(x):
    return np.logaddexp(0, x)


def soft_slope(x):
    return 0.5*(1 + np.tanh(x/2))


def flat(x):
    return max(x - 1, 0)**3 + min(x + 1, 0)**3


def flat_slope(x):
    return 3*max(x - 1, 0)**2 + 3*min(x + 1, 0)**2


def exponential(x):
    """Of x that no run reaches, a line: what SciPy tries in between is finite."""
    return np.expm1(min(x, LINE)) + np.exp(LINE)*max(x - LINE, 0)


# text of f/A over x = e/V, its value and its slope
LAWS = {"junction": ("exp({x}) - 1", exponential, lambda x: np.exp(min(x, LINE))),
        "tanh": ("tanh({x})", np.tanh, lambda x: 1 - np.tanh(x)**2),
        "logistic": ("2/(1 + exp(-({x}))) - 1", lambda x: np.tanh(x/2), lambda x: 0.5*(1 - np.tanh(x/2)**2)),
        "softplus": ("ln(1 + exp({x})) - ln(2)", lambda x: soft(x) - np.log(2), soft_slope),
        "cube": ("({x})^3", lambda x: x**3, lambda x: 3*x*x),
        "flat": ("if {x} > 1 then ({x} - 1)^3 else if {x} < -1 then ({x} + 1)^3 else 0", flat, flat_slope),
        "linear": ("{x}", lambda x: x, lambda x: 1.0)}


class Law:
    """f = A*shape(e/V); turned: -A*shape(-e/V)"""

    def __init__(self, kind, A, V, turned):
        self.kind, self.A, self.V, self.way = kind, A, V, -1 if turned else 1

    def flow(self, e):
        return self.way*self.A*LAWS[self.kind][1](self.way*e/self.V) + LEAK*e

    def slope(self, e):
        return self.A/self.V*LAWS[self.kind][2](self.way*e/self.V) + LEAK

    def text(self, effort, flow, volt, ampere):
        x = f"{effort}/{self.V!r} [{volt}]"
        of = LAWS[self.kind][0].format(x=x if self.way > 0 else "-" + x)
        return f"{flow} = {'' if self.way > 0 else '-'}{self.A!r} [{ampere}]*({of});"


class Model:
    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.laws, self.nodes, self.lines = [], 2, []   # laws: (from, to, law); node 0: the coil's return, 1: its end
        self.dual = r.random() < 0.3
        self.volt, self.ampere = ("A", "V") if self.dual else ("V", "A")
        self.kinds = r.choice([["junction"], ["tanh"], ["logistic"], ["softplus"], ["junction", "linear"], ["junction", "tanh"], ["cube", "flat"],
                               ["tanh", "logistic", "linear"], list(LAWS)])
        self.coil, self.drive, self.stop = self.number(0.05, 0.3), self.number(2, 8), self.number(0.5, 1.2)
        source, store = ("MSf", "C") if self.dual else ("MSe", "I")
        self.add(f"{source}:drive = {self.drive!r} [{self.volt}]*sin(10 [rad/s]*time) -> {self.junction(1)}:loop;")
        self.add(f"loop -> {store}:coil = {self.coil!r} [{'F' if self.dual else 'H'}];")
        shape = r.random()
        if shape < 0.25:
            self.bridge()
        elif shape < 0.35:
            self.row("loop", 0, 1, 10, [self.law()])
        else:
            self.some("loop", 0, 1, r.randint(1, 2))
        self.text = "\n".join([f"model limits {{"] + self.lines +
                              [f"    output y0 [{self.ampere}] = loop.{'e' if self.dual else 'f'};",
                               f"    output y1 [{self.volt}] = drive.{'f' if self.dual else 'e'} - coil.{'f' if self.dual else 'e'};", "}",
                               f"experiment run of limits {{ stop = {self.stop!r} [s]; }}", ""])

    def number(self, a, b):
        return float(f"{self.r.uniform(a, b):.3g}")

    def add(self, line):
        self.lines.append("    " + line)

    def junction(self, row):
        return "1" if row != self.dual else "0"

    def law(self):
        r, kind = self.r, self.r.choice(self.kinds)
        if kind in ("junction", "softplus"):
            return Law(kind, float(f"{10**r.uniform(-9, -1):.2g}"), r.choice([0.025, 0.05, 0.2]), r.random() < 0.5)
        if kind in ("cube", "flat", "linear"):
            return Law(kind, self.number(0.2, 3), 1.0, r.random() < 0.5)
        return Law(kind, self.number(0.2, 3), r.choice([0.01, 0.03, 0.1, 1.0]), r.random() < 0.5)

    def place(self, at, a, b, law):
        """law between nodes a and b, at a junction."""
        effort, flow = "fe" if self.dual else "ef"
        self.add(f"{at} -> R:r{len(self.laws)} {{ {law.text(effort, flow, self.volt, self.ampere)} }}")
        self.laws.append((b, a, law))

    def node(self):
        self.nodes += 1
        return self.nodes - 1

    def row(self, at, a, b, n, laws):
        ends = [a] + [self.node() for _ in range(n - 1)] + [b]
        for k in range(n):
            self.place(at, ends[k], ends[k + 1], laws[k % len(laws)])

    def some(self, at, a, b, depth):
        """A row at the 1-junction `at`: laws, or what is side by side."""
        n = self.r.randint(1, 3)
        ends = [a] + [self.node() for _ in range(n - 1)] + [b]
        for k in range(n):
            if depth and self.r.random() < 0.5:
                name = f"p{len(self.lines)}"
                self.add(f"{at} -> {self.junction(0)}:{name};")
                self.beside(name, ends[k], ends[k + 1], depth - 1)
            else:
                self.place(at, ends[k], ends[k + 1], self.law())

    def beside(self, at, a, b, depth):
        for _ in range(self.r.randint(2, 3)):
            if depth and self.r.random() < 0.5:
                name = f"s{len(self.lines)}"
                self.add(f"{at} -> {self.junction(1)}:{name};")
                self.some(name, a, b, depth - 1)
            else:
                self.place(at, a, b, self.law())

    def bridge(self):
        """Four laws around a load, of which the coil feeds two corners."""
        left, right = self.node(), self.node()
        common, law = self.r.random() < 0.5, self.law()
        nodes = {1: "top", 0: None, left: "left", right: "right"}
        for k in (1, left, right):
            self.add(f"{self.junction(0)}:{nodes[k]};")
        self.add("loop -> top;")
        load = Law("linear", self.number(0.2, 3), 1.0, False)
        for k, (from_, to) in enumerate([(1, left), (1, right), (left, 0), (right, 0), (left, right)]):
            self.add(f"{nodes[from_]} -> {self.junction(1)}:b{k};")
            if nodes[to]:
                self.add(f"b{k} -> {nodes[to]};")
            own = load if k == 4 else self.law() if not common else Law(law.kind, law.A, law.V, k in (1, 2))
            self.place(f"b{k}", to, from_, own)


class Apart:
    """L di/dt = U - u, where u is what the laws take up at the flow i: their voltages are where the flows add up, at the minimum of a convex function."""

    def __init__(self, model):
        self.m = model
        self.of = np.zeros((len(model.laws), model.nodes))   # efforts of the laws by voltages
        for k, (from_, to, _) in enumerate(model.laws):
            self.of[k, from_] += 1
            self.of[k, to] -= 1
        self.of = self.of[:, 1:]
        self.feed = np.eye(model.nodes - 1)[0]
        self.x = np.zeros(model.nodes - 1)

    def excess(self, x, i):
        flows = self.of.T @ np.array([law.flow(e) for (_, _, law), e in zip(self.m.laws, self.of @ x)])
        flows[0] -= i
        return flows

    def voltage(self, i):
        """u at i, by Newton's method, each step to the minimum along it."""
        x, r = self.x, self.excess(self.x, i)
        for _ in range(MOST):
            slopes = np.array([law.slope(e) for (_, _, law), e in zip(self.m.laws, self.of @ x)])
            step = -np.linalg.solve(self.of.T @ (slopes[:, None]*self.of), r)
            if abs(step).max() < SETTLED*(1 + abs(x).max()):
                self.x = x + step
                return self.x[0]
            low, high, share, fall = 0.0, 1.0, 1.0, abs(step @ r)
            while abs(left := step @ (after := self.excess(x + share*step, i))) > 0.1*fall and high - low > 1e-14:
                low, high = (share, high) if left < 0 else (low, share)
                share = (low + high)/2
            x, r = x + share*step, after
        raise PassedOver

    def drive(self, t):
        return self.m.drive*np.sin(10*t)

    def rate(self, t, y):
        return [(self.drive(t) - self.voltage(y[0]))/self.m.coil]

    def voltage_at(self, t, i):
        """At a limit, where i says nothing of it, all of the drive."""
        u = self.voltage(i)
        slopes = np.array([law.slope(e) for (_, _, law), e in zip(self.m.laws, self.of @ self.x)])
        slope = 1/np.linalg.solve(self.of.T @ (slopes[:, None]*self.of), self.feed)[0]
        return float(self.drive(t) if slope < 10*LEAK else u)


def rows_of(model):
    apart, grid = Apart(model), [min(model.stop, model.stop*k/(POINTS - 1)) for k in range(POINTS)]
    at = sorted({t for g in grid for t in (g - NEAR, g, g + NEAR) if 0 <= t <= model.stop})
    s = solve_ivp(apart.rate, (0, model.stop), [0.0], method="Radau", t_eval=at, rtol=1e-10, atol=1e-11)
    if s.status:
        raise PassedOver
    voltage = {t: apart.voltage_at(t, i) for t, i in zip(s.t, s.y[0])}
    greatest, rows = max(1, *map(abs, voltage.values())), []
    for g, i in ((t, i) for t, i in zip(s.t, s.y[0]) if t in grid):
        moves = max(abs(voltage[t] - voltage[g]) for t in (g - NEAR, g + NEAR) if t in voltage)
        told = moves < STEADY*greatest and min(law.A for _, _, law in model.laws) > LEAST
        rows.append([float(i), voltage[g] if told else None])
    return rows


if __name__ == "__main__":
    sys.exit(main(Model, rows_of))
