#!/usr/bin/env python3
"""Random presses: a cylinder with four orifices of a valve moves a mass with dry friction between rigid end stops; oil comes from an accumulator with a gas
law, which a pump fills by hysteresis of its pressure, through a pipe with inertia and a check valve or an orifice; the valve follows a clock or a sampled
controller of the position. What bgc gives must be what SciPy gives of the same equations, with the mass at rest, slipping, or at a stop as cases.

python3 tests/presses.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds; a hundred take three minutes a solver
"""
import random, sys

import numpy as np
from scipy.integrate import solve_ivp

from hydraulics import AREA, FLOW, GAS, VARIABLE, some_number, through
from logic import POINTS, PassedOver, main

BAR, OIL, WAY = 1e5, 1e-6, 1e-2   # units of SciPy's variables: Pa, m^3, m
MOST = 2000                       # pieces between events


class Press:
    """x: pressures of head and ring (bar), speed (m/s), way (cm), oil in the accumulator (cm^3), flow of the pipe (l/s)."""

    def __init__(self, seed):
        r = self.r = random.Random(seed)
        n = self.number
        self.stop = n(0.2, 0.8)
        self.oil, self.front, self.back = [n(1, 20)*1e-13, n(1, 20)*1e-13], n(10, 20)*1e-4, n(4, 10)*1e-4
        self.mass, self.damping, self.friction = n(5, 50), n(1, 5)*1e3, r.choice([0.0, n(0.2, 3)*1e3])
        self.start, self.length = n(0, 0.05), n(0.06, 0.3)
        self.load, self.push = n(-5, 5)*1e3, n(0, 0.8)*self.stop
        self.area, self.leak = [n(1, 4)*1e-8 for _ in range(4)], r.choice([0.0, 0.02, 0.1])
        self.charge, self.volume, self.first = n(20, 60)*BAR, n(0.2, 2)*1e-3, n(0.1, 0.6)
        self.low = n(60, 120)*BAR
        self.high, self.pump = self.low + n(5, 40)*BAR, n(0.05, 0.5)*1e-3
        self.inertia, self.pipe = r.choice([0.0, n(0.5, 5)*1e6]), n(2, 8)*1e-7
        self.checked, self.line = r.random() < 0.5, n(1, 20)*1e-13
        self.kind = r.choice(["clock", "sampled"])
        self.every, self.aim = n(0.01, 0.05), self.start + n(-0.03, 0.06)
        self.at = sorted(n(0, self.stop) for _ in range(3))
        self.write()

    def number(self, a, b):
        return some_number(self.r, a, b)

    def write(self):
        r, lines = self.r, ["model press {"]
        add = lines.append
        q0 = self.first*self.volume
        add(f"    0:acc -> C:gas {{ e = {self.charge!r} [Pa]*(({self.volume!r} [m^3]/({self.volume!r} [m^3] - q))^{GAS}); q(0) = {q0!r} [m^3]; }}")
        self.on = int(self.charge*(1 - self.first)**-GAS < self.low)
        add(f"    signal on = integral(0 [1/s], {self.on});")
        add(f"    when acc.e < {self.low!r} [Pa] {{ reinit on = 1; }}")
        add(f"    when acc.e > {self.high!r} [Pa] {{ reinit on = 0; }}")
        add(f"    Sf:pump = on*{self.pump!r} [m^3/s] -> acc;")
        add(f"    0:line -> C:hose = {self.line!r} [m^3/Pa] {{ q(0) = 0 [m^3]; }}")
        add("    acc -> 1:pipe -> line;")
        add(f"    pipe -> R:throat {{ {r.choice(VARIABLE).format(A=f'({self.pipe!r} {AREA})')} }}")
        if self.inertia:
            add(f"    pipe -> I:oil = {self.inertia!r} [Pa*s^2/m^3];")
        if self.checked:
            add(f"    pipe -> {r.choice(['Se', 'Sf'])}:check such that min(check.f/1 [m^3/s], -check.e/1 [Pa]);")
        add(f"    signal y [m] = integral(rod.f, {self.start!r} [m]);")
        if self.kind == "clock":
            a, b, c = self.at
            add(f"    signal u = if time > {c} [s] then 1 else if time > {b} [s] then -1 else if time > {a} [s] then 1 else 0;")
        else:
            add("    signal u = 0;")
            add(f"    every {self.every} [s] {{ u = if y < {self.aim!r} [m] then 1 else -1; }}")
        for name, ends, k, sign in (("ph", ("line", "head"), 0, ">"), ("ht", ("head", None), 1, "<"), ("pr", ("line", "ring"), 2, "<"), ("rt", ("ring", None), 3, ">")):
            area = f"((if u {sign} 0 then 1 else {self.leak!r})*{self.area[k]!r} {AREA})"
            add(f"    {ends[0]} -> 1:{name};")
            if ends[1]:
                add(f"    {name} -> {ends[1]};")
            add(f"    {name} -> MR:o_{name} {{ {r.choice(VARIABLE).format(A=area)} }}" if self.leak else
                f"    {name} -> MR:o_{name} {{ f = {area}*spow(e, 0.5); }}")
        for node, oil in zip(("head", "ring"), self.oil):
            add(f"    0:{node} -> C:c_{node} = {oil!r} [m^3/Pa] {{ q(0) = 0 [m^3]; }}")
        add(f"    head -> TF:piston = 1/({self.front!r} [m^2]) -> 1:rod;")
        add(f"    rod -> TF:backside = {self.back!r} [m^2] -> ring;")
        add(f"    rod -> I:m = {self.mass!r} [kg];")
        add(f"    rod -> R:seal {{ e = {self.damping!r} [N*s/m]*f" + (f" + {self.friction!r} [N]*sign(f); }}" if self.friction else "; }"))
        add(f"    rod -> Se:load = if time > {self.push} [s] then {self.load!r} [N] else 0 [N];")
        add(f"    {r.choice(['Se', 'Sf'])}:near such that min(y/1 [m], near.e/1 [N]) -> rod;")
        add(f"    {r.choice(['Se', 'Sf'])}:far such that min(({self.length!r} [m] - y)/1 [m], -far.e/1 [N]) -> rod;")
        for k, text in enumerate(("[bar] = head.e", "[bar] = ring.e", "[m/s] = rod.f", "[cm] = y", "[bar] = acc.e", "[bar] = line.e")):
            add(f"    output y{k} {text};")
        self.text = "\n".join(lines + ["}", f"experiment run of press {{ stop = {self.stop} [s]; }}", ""])


class Apart:
    """side: to which the mass slips, 0 at rest; flows: the pipe with inertia is open."""

    def __init__(self, m):
        self.m, self.t, self.side, self.on, self.u, self.pieces = m, 0.0, 0, m.on, 0, 0
        self.x = np.array([0.0, 0.0, 0.0, m.start/WAY, m.first*m.volume/OIL, 0.0, 0.0])
        self.flows = not m.checked

    def gas(self, x):
        return self.m.charge*(1 - x[4]*OIL/self.m.volume)**-GAS

    def force(self, x, since):
        m = self.m
        return (x[0]*m.front - x[1]*m.back)*BAR - (m.load if since >= m.push - 1e-12 else 0)

    def rates(self, x, since):
        m, rate = self.m, np.zeros(7)
        head, ring, v, way, _, line, pipe = x
        fall = self.gas(x) - line*BAR
        flow = pipe*FLOW if m.inertia else 0 if m.checked and fall < 0 else through(m.pipe, fall)
        if m.inertia and self.flows:
            rate[6] = (fall - flow*abs(flow)/m.pipe**2)/m.inertia/FLOW
        a = [(1 if open_ else m.leak)*area for area, open_ in zip(m.area, (self.u > 0, self.u < 0, self.u < 0, self.u > 0))]
        ph, ht, pr, rt = through(a[0], (line - head)*BAR), through(a[1], head*BAR), through(a[2], (line - ring)*BAR), through(a[3], ring*BAR)
        v = v if self.side else 0
        rate[0] = (ph - ht - v*m.front)/m.oil[0]/BAR
        rate[1] = (pr - rt + v*m.back)/m.oil[1]/BAR
        rate[2] = (self.force(x, since) - m.damping*v - self.side*m.friction)/m.mass if self.side else 0
        rate[3] = v/WAY
        rate[4] = (self.on*m.pump - flow)/OIL
        rate[5] = (flow - ph - pr)/m.line/BAR
        return rate

    def settle(self, since):
        """The side to which the mass at rest goes now."""
        m, x = self.m, self.x
        push = self.force(x, since)
        if abs(push) == m.friction and abs(push) > 0:
            raise PassedOver
        self.side = 0 if abs(push) <= m.friction else 1 if push > 0 else -1
        if (self.side < 0 and x[3] <= 1e-11) or (self.side > 0 and x[3] >= m.length/WAY - 1e-11):
            self.side = 0

    def borders(self, since):
        """(function, direction, name)"""
        m = self.m
        if self.side:
            yield (lambda t, x: x[2]*self.side + 1e-12), -1, "rest"
            yield (lambda t, x: (x[3] if self.side < 0 else m.length/WAY - x[3])), -1, "stop"
        else:
            if self.x[3] > 1e-11:
                yield (lambda t, x: -self.force(x, since) - m.friction - 1e-9), 1, "rest"
            if self.x[3] < m.length/WAY - 1e-11:
                yield (lambda t, x: self.force(x, since) - m.friction - 1e-9), 1, "rest"
        yield (lambda t, x: (self.gas(x) - (m.high if self.on else m.low))/BAR), 1 if self.on else -1, "pump"
        if m.inertia and m.checked:
            if self.flows:
                yield (lambda t, x: x[6] + 1e-12), -1, "pipe"
            else:
                yield (lambda t, x: self.gas(x)/BAR - x[5] - 1e-12), 1, "pipe"

    def act(self, name, since):
        m = self.m
        if name == "pump":
            self.on = 1 - self.on
        elif name == "pipe":
            self.flows = not self.flows
            self.x[6] = 0
        else:
            if name == "stop":
                self.x[3] = 0 if self.side < 0 else m.length/WAY
            self.x[2] = 0
            self.settle(since)

    def to(self, until):
        m = self.m
        if not self.side:
            self.settle(self.t)
        if m.inertia and m.checked and not self.flows and self.gas(self.x)/BAR > self.x[5]:
            self.flows = True
        while until - self.t > 1e-13:
            since, all_ = self.t, list(self.borders(self.t))
            events = [f for f, _, _ in all_]
            for f, direction, _ in all_:
                f.terminal, f.direction = True, direction
            s = solve_ivp(lambda t, x: self.rates(x, since), (self.t, until), self.x, method="LSODA", rtol=1e-10, atol=1e-11, events=events)
            self.pieces += 1
            if s.status < 0 or self.pieces > MOST or not np.all(np.isfinite(s.y[:, -1])):
                raise PassedOver
            self.t, self.x = s.t[-1], s.y[:, -1].copy()
            for (_, _, name), times in zip(all_, s.t_events):
                if len(times):
                    self.act(name, since)
        self.t = until


def rows_of(m):
    apart, grid = Apart(m), [m.stop*k/(POINTS - 1) for k in range(POINTS)]
    samples = [k*m.every for k in range(int(m.stop/m.every) + 1)] if m.kind == "sampled" else m.at
    rows, levels = [], {m.at[0]: 1, m.at[1]: -1, m.at[2]: 1}
    for t in sorted(set(grid) | {t for t in samples if t < m.stop} | ({m.push} if m.push < m.stop else set())):
        apart.to(t)
        if t in samples:
            apart.u = levels[t] if m.kind == "clock" else 1 if apart.x[3]*WAY < m.aim else -1
        if t in grid:
            head, ring, v, way, _, line, _ = apart.x
            rows.append([head, ring, v if apart.side else 0.0, way, apart.gas(apart.x)/BAR, line])
    return rows


if __name__ == "__main__":
    sys.exit(main(Press, rows_of))
