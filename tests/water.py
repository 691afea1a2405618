#!/usr/bin/env python3
"""Random hydraulics: vessels from empty, level or filled, joined by up to three orifices in a row in any spelling, some with an ideal check valve, an ideal
valve that opens at a time, or the inertia of a pipe; pumps that run for a while; reservoirs. What bgc gives must be what SciPy gives of the same network,
with one orifice in place of each row (the squares of 1/A add) and check valves as conditions.

python3 tests/water.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds; a hundred take a minute a solver
"""
import random, sys

import numpy as np
from scipy.integrate import solve_ivp

from hydraulics import FLOW, PRESSURE, SPELLINGS, row_of, some_number, through
from logic import POINTS, PassedOver, main

MOST = 300       # pieces between events


class Way:
    """A row of orifices from a vessel (its number) or a reservoir (its pressure, a float) to a vessel or the ground (None)."""

    def __init__(self, from_, to, area, checked, opens, inertia):
        self.from_, self.to, self.area, self.checked, self.opens, self.inertia = from_, to, area, checked, opens, inertia


class Model:
    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.n = r.randint(1, 4)
        self.capacity = [self.number(0.5, 3)*1e-8 for _ in range(self.n)]
        kind, level = r.choice(["empty", "some", "level"]), self.number(0, 3)*1e5
        self.start = [0.0 if kind == "empty" else level if kind == "level" else r.choice([0.0, self.number(0, 4)*1e5]) for _ in range(self.n)]
        self.ways, self.pumps = [], []
        self.lines = ["model water {"] + [f"    0:t{i} -> C:c{i} = {c!r} [m^3/Pa] {{ q(0) = {c*p!r} [m^3]; }}"
                                          for i, (c, p) in enumerate(zip(self.capacity, self.start))]
        for i in range(self.n):
            for j in range(i + 1, self.n):
                if r.random() < 0.7:
                    self.some_way(*r.choice([(i, j), (j, i)]))
            if r.random() < 0.4:
                self.some_way(i, None)
            if r.random() < 0.3:
                self.some_way(self.number(0, 5)*1e5, i)
            if r.random() < 0.5:
                self.some_pump(i)
        self.stop = self.number(2, 5)
        self.lines += [f"    output y{i} [Pa] = t{i}.e;" for i in range(self.n)]
        self.text = "\n".join(self.lines + ["}", f"experiment run of water {{ stop = {self.stop} [s]; }}", ""])

    def number(self, a, b):
        return some_number(self.r, a, b)

    def some_way(self, from_, to):
        r, k, add = self.r, len(self.ways), self.lines.append
        areas = [self.number(0.5, 4)*1e-6 for _ in range(r.randint(1, 3))]
        checked, opens = r.random() < 0.4, self.number(0.2, 2) if r.random() < 0.2 else None
        inertia = self.number(0.5, 4)*1e7 if opens is None and r.random() < 0.2 else 0
        add(f"    Se:u{k} = {from_!r} [Pa] -> 1:l{k};" if isinstance(from_, float) else f"    t{from_} -> 1:l{k};")
        if to is not None:
            add(f"    l{k} -> t{to};")
        for q, area in enumerate(areas):
            add(f"    l{k} -> R:o{k}_{q} {{ {r.choice(SPELLINGS).format(A=area)} }}")
        if checked:
            add(f"    l{k} -> {r.choice(['Se', 'Sf'])}:v{k} such that min(v{k}.f/1 [m^3/s], -v{k}.e/1 [Pa]);")
        if opens is not None:
            add(f"    l{k} -> {r.choice(['Se', 'Sf'])}:w{k} such that if time > {opens} [s] then w{k}.e/1 [Pa] else w{k}.f/1 [m^3/s];")
        if inertia:
            add(f"    l{k} -> I:i{k} = {inertia!r} [Pa*s^2/m^3];")
        self.ways.append(Way(from_, to, row_of(areas), checked, opens, inertia))

    def some_pump(self, i):
        flow, on = self.number(0.1, 2)*1e-3, self.number(0, 1)
        off = on + self.number(0.01, 1.5)
        self.pumps.append((i, flow, on, off))
        self.lines.append(f"    Sf:pump{i} = if time > {on} [s] and time < {off} [s] then {flow!r} [m^3/s] else 0 [m^3/s] -> t{i};")


class Apart:
    """x: pressures of the vessels, then flows of the ways with inertia; shut: those of these whose check valve is shut."""

    def __init__(self, model):
        self.m, self.n = model, model.n
        self.slow = [w for w in model.ways if w.inertia]
        self.t, self.x = 0.0, np.array([p/PRESSURE for p in model.start] + [0.0]*len(self.slow))
        self.shut = {k for k, w in enumerate(self.slow) if w.checked and self.fall(w, self.x) <= 0}
        self.pieces = 0

    def fall(self, way, x):
        above = way.from_ if isinstance(way.from_, float) else x[way.from_]*PRESSURE
        return above - (0 if way.to is None else x[way.to]*PRESSURE)

    def flow(self, way, x, since):
        if way.inertia:
            return x[self.n + self.slow.index(way)]*FLOW
        fall = self.fall(way, x)
        if (way.opens is not None and since < way.opens - 1e-12) or (way.checked and fall < 0):
            return 0.0
        return through(way.area, fall)

    def rates(self, x, since):
        rate = np.zeros(len(x))
        for i, flow, on, off in self.m.pumps:
            rate[i] += flow if on - 1e-12 <= since < off - 1e-12 else 0
        for way in self.m.ways:
            flow = self.flow(way, x, since)
            if not isinstance(way.from_, float):
                rate[way.from_] -= flow
            if way.to is not None:
                rate[way.to] += flow
        for k, way in enumerate(self.slow):
            flow = x[self.n + k]*FLOW
            rate[self.n + k] = 0 if k in self.shut else (self.fall(way, x) - flow*abs(flow)/way.area**2)/way.inertia/FLOW
        rate[:self.n] /= np.array(self.m.capacity)*PRESSURE
        return rate

    def turn(self, k):
        """What is zero where the check valve of slow way k turns."""
        def opens(t, x):
            return self.fall(self.slow[k], x)/PRESSURE - 1e-12

        def shuts(t, x):
            return x[self.n + k] + 1e-12
        event = opens if k in self.shut else shuts
        event.terminal, event.direction = True, 1 if k in self.shut else -1
        return event

    def to(self, until):
        while until - self.t > 1e-13:
            checked, since = [k for k, w in enumerate(self.slow) if w.checked], self.t
            try:
                s = solve_ivp(lambda t, x: self.rates(x, since), (self.t, until), self.x, method="LSODA", rtol=1e-10, atol=1e-11,
                              events=[self.turn(k) for k in checked] or None)
            except ValueError:   # a valve turns within the rounding of a step's polynomial
                raise PassedOver from None
            self.pieces += 1
            if s.status < 0 or self.pieces > MOST:
                raise PassedOver
            self.t, self.x = s.t[-1], s.y[:, -1].copy()
            for k, times in zip(checked, s.t_events or []):
                if len(times):
                    self.shut ^= {k}
                    self.x[self.n + k] = 0
        self.t = until


def rows_of(model):
    apart, grid = Apart(model), [model.stop*k/(POINTS - 1) for k in range(POINTS)]
    breaks = {t for _, _, on, off in model.pumps for t in (on, off)} | {w.opens for w in model.ways if w.opens is not None}
    rows = []
    for t in sorted(set(grid) | {b for b in breaks if b < model.stop}):
        apart.to(t)
        if t in grid:
            rows.append([p*PRESSURE for p in apart.x[:model.n]])
    return rows


if __name__ == "__main__":
    sys.exit(main(Model, rows_of))
