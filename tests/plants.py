#!/usr/bin/env python3
"""Random plants, as users build them: long rows of vessels; tanks that overflow, accumulators with a gas law, pumps with leakage and hoses, relief valves
with a spool; cylinders with a piston between two chambers and the four orifices of a valve. What bgc gives must be what SciPy gives of the same
equations, with one orifice in place of each row and check valves as conditions.

python3 tests/plants.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds; a hundred take two minutes a solver
"""
import random, sys

import numpy as np
from scipy.integrate import solve_ivp

from hydraulics import AREA, GAS, PRESSURE, SPELLINGS, VARIABLE, row_of, some_number, through
from logic import POINTS, PassedOver, main


class Plant:
    """States are in units of their own, scale; a flow adds to the rates."""

    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.lines, self.outputs, self.scale, self.start, self.pressure, self.adds, self.breaks = [], [], [], [], {}, [], set()
        self.seen = []    # what the outputs show, of the states
        self.names = 0
        {"row": self.row, "plant": self.plant, "cylinder": self.cylinder}[r.choice(["row", "plant", "plant", "cylinder"])]()
        self.text = "\n".join(["model plant {"] + ["    " + line for line in self.lines] +
                              [f"    output y{k} {text};" for k, text in enumerate(self.outputs)] +
                              ["}", f"experiment run of plant {{ stop = {self.stop} [s]; }}", ""])

    def number(self, a, b):
        return some_number(self.r, a, b)

    def name(self, kind):
        self.names += 1
        return f"{kind}{self.names}"

    def some_time(self):
        t = self.number(0, 0.8*self.stop)
        self.breaks.add(t)
        return t

    def state(self, scale, start):
        self.scale.append(scale)
        self.start.append(start/scale)
        return len(self.scale) - 1

    def shows(self, text, value):
        self.outputs.append(text)
        self.seen.append(value)

    # ---- vessels ----

    def vessel(self, kind, capacity, level, shown=True):
        """Its junction; level: its pressure at the start."""
        node, add = self.name("t"), self.lines.append
        if kind == "gas":
            charge, volume = self.number(0.5, 2)*1e5, capacity*2e5
            q0 = float(f"{volume*(1 - (1 + level/charge)**(-1/GAS)):.6g}")
            add(f"0:{node} -> C:c_{node} {{ e = {charge!r} [Pa]*(({volume!r} [m^3]/({volume!r} [m^3] - q))^{GAS} - 1); q(0) = {q0!r} [m^3]; }}")
            i, law = self.state(volume, q0), lambda x: charge*((1 - x)**-GAS - 1)
        else:
            q0 = capacity*level
            add(f"0:{node} -> C:c_{node} = {capacity!r} [m^3/Pa] {{ q(0) = {q0!r} [m^3]; }}")
            i, law = self.state(capacity*PRESSURE, q0), lambda x: x*PRESSURE
        self.pressure[node] = (i, law)
        if kind == "open":
            self.overflow(node)
        if shown:
            self.shows(f"[Pa] = {node}.e", lambda x: law(x[i]))
        return node

    def at(self, node, x):
        if isinstance(node, float):
            return node
        i, law = self.pressure[node]
        return law(x[i])

    def into(self, node, rate, flow):
        if node in self.pressure:
            i = self.pressure[node][0]
            rate[i] += flow/self.scale[i]

    def overflow(self, node):
        height, form = self.number(0.2, 2)*1e5, self.r.choice(["linear", "weir", "root"])
        c = self.number(0.5, 3)*{"linear": 1e-8, "weir": 1e-10, "root": 3e-6}[form]
        over = f"(e - {height!r} [Pa])"
        law = {"linear": f"{c!r} [m^3/s/Pa]*{over}", "weir": f"{c!r} [m^3/s/Pa^1.5]*{over}^1.5", "root": f"{c!r} {AREA}*sqrt{over}"}[form]
        self.lines.append(f"{node} -> R:over_{node} {{ f = if e > {height!r} [Pa] then {law} else 0 [m^3/s]; }}")

        def add(x, since, rate):
            y = max(self.at(node, x) - height, 0)
            self.into(node, rate, -{"linear": c*y, "weir": c*y**1.5, "root": through(c, y)}[form])
        self.adds.append(add)

    # ---- what joins them ----

    def way(self, from_, to, areas, checked=False, opens=None):
        r, line, add = self.r, self.name("l"), self.lines.append
        if isinstance(from_, float):
            add(f"Se:u_{line} = {from_!r} [Pa] -> 1:{line};")
        else:
            add(f"{from_} -> 1:{line};")
        if to is not None:
            add(f"{line} -> {to};")
        for q, area in enumerate(areas):
            add(f"{line} -> R:{line}_{q} {{ {r.choice(SPELLINGS).format(A=area)} }}")
        if checked:
            add(f"{line} -> {r.choice(['Se', 'Sf'])}:v_{line} such that min(v_{line}.f/1 [m^3/s], -v_{line}.e/1 [Pa]);")
        if opens is not None:
            add(f"{line} -> {r.choice(['Se', 'Sf'])}:w_{line} such that if time > {opens} [s] then w_{line}.e/1 [Pa] else w_{line}.f/1 [m^3/s];")
        area = row_of(areas)

        def flows(x, since, rate):
            fall = self.at(from_, x) - (0 if to is None else self.at(to, x))
            if (opens is not None and since < opens - 1e-12) or (checked and fall < 0):
                return
            flow = through(area, fall)
            self.into(from_, rate, -flow)
            self.into(to, rate, flow)
        self.adds.append(flows)

    def gated(self, from_, to, on, off, at):
        """An orifice of a valve: its area is on from a time, off before it."""
        line, (before, after) = self.name("l"), (off, on)
        area = f"(if time > {at} [s] then {after!r} {AREA} else {before!r} {AREA})"
        self.lines.append(f"Se:u_{line} = {from_!r} [Pa] -> 1:{line};" if isinstance(from_, float) else f"{from_} -> 1:{line};")
        if to is not None:
            self.lines.append(f"{line} -> {to};")
        law = self.r.choice(VARIABLE).format(A=area)
        self.lines.append(f"{line} -> R:o_{line} {{ {law} }}")

        def flows(x, since, rate):
            fall = self.at(from_, x) - (0 if to is None else self.at(to, x))
            flow = through(after if since >= at - 1e-12 else before, fall)
            self.into(from_, rate, -flow)
            self.into(to, rate, flow)
        self.adds.append(flows)

    def pump(self, to, flow, hose=False, leak=False):
        on = self.some_time()
        off = on + self.number(0.1, 0.5)*self.stop
        self.breaks.add(off)
        source, add = self.name("pump"), self.lines.append
        given = f"if time > {on} [s] and time < {off} [s] then {flow!r} [m^3/s] else 0 [m^3/s]"

        def pumps(since):
            return flow if on - 1e-12 <= since < off - 1e-12 else 0.0
        if hose:
            k = self.number(0.5, 3)*1e11
            add(f"Sf:{source} = {given} -> 1:h_{source} -> {to};")
            add(f"h_{source} -> R:hose_{source} {{ e = {k!r} [Pa*s^2/m^6]*f*abs(f); }}")
        else:
            add(f"Sf:{source} = {given} -> {to};")
        if leak:
            resistance = self.number(0.5, 5)*1e8
            add(f"{to} -> R:leak_{source} = {resistance!r} [Pa*s/m^3];")
            self.adds.append(lambda x, since, rate: self.into(to, rate, -self.at(to, x)/resistance))
        self.adds.append(lambda x, since, rate: self.into(to, rate, pumps(since)))

    def relief(self, node):
        """A spool that the pressure lifts against a spring; what it opens flows off."""
        area, opens = self.number(0.5, 2)*1e-4, self.number(0.5, 3)*1e5
        mass, stiff, damp, width = self.number(0.01, 0.05), self.number(1, 4)*1e4, self.number(10, 40), self.number(0.5, 3)*1e-3
        preload = area*opens
        x0 = -preload/stiff if self.r.random() < 0.5 else 0.0
        s, add = self.name("spool"), self.lines.append
        add(f"{node} -> TF:face_{s} = 1/({area!r} [m^2]) -> 1:{s};")
        add(f"{s} -> I:mass_{s} = {mass!r} [kg];")
        add(f"{s} -> C:spring_{s} = {1/stiff!r} [m/N] {{ q(0) = {x0!r} [m]; }}")
        add(f"{s} -> R:damper_{s} = {damp!r} [N*s/m];")
        add(f"{s} -> Se:preload_{s} = {preload!r} [N];")
        add(f"{node} -> MR:throat_{s} {{ f = {width!r} [m^2/s/Pa^0.5]*max(spring_{s}.q, 0 [m])*spow(e, 0.5); }}")
        i, j = self.state(1e-3, x0), self.state(1e-2, 0.0)
        self.shows(f"[mm] = spring_{s}.q", lambda x: x[i])

        def moves(x, since, rate):
            p, lift, v = self.at(node, x), x[i]*1e-3, x[j]*1e-2
            rate[i] += v/1e-3
            rate[j] += (p*area - preload - stiff*lift - damp*v)/mass/1e-2
            self.into(node, rate, -v*area - through(width*max(lift, 0), p))
        self.adds.append(moves)

    # ---- the three kinds ----

    def row(self):
        r, n = self.r, self.r.randint(10, 50)
        self.stop = self.number(2, 20)
        kind, level = r.choice(["empty", "level", "some", "falling"]), self.number(0.5, 3)*1e5
        levels = {"empty": lambda k: 0.0, "level": lambda k: level, "some": lambda k: r.choice([0.0, self.number(0, 3)*1e5]),
                  "falling": lambda k: level*(1 - k/n)}[kind]
        shown = {0, n - 1} | {r.randrange(n) for _ in range(4)}
        nodes = [self.vessel("closed", self.number(0.5, 3)*1e-8, levels(k), k in shown) for k in range(n)]
        for a, b in zip(nodes, nodes[1:]):
            self.way(*r.choice([(a, b), (a, b), (b, a)]), [self.number(1, 4)*1e-6 for _ in range(r.choice([1, 1, 2]))], r.random() < 0.05)
        if r.random() < 0.6:
            self.way(self.number(1, 4)*1e5, nodes[0], [self.number(1, 4)*1e-6], opens=self.some_time() if r.random() < 0.3 else None)
        if r.random() < 0.6:
            self.way(nodes[-1], None, [self.number(1, 4)*1e-6])
        for _ in range(r.choice([0, 1, 1, 2])):
            self.pump(r.choice(nodes), self.number(0.1, 2)*1e-3)

    def plant(self):
        r, n = self.r, self.r.randint(1, 3)
        self.stop = self.number(1, 5)
        empty = r.random() < 0.5
        nodes = [self.vessel(r.choice(["open", "gas", "gas", "closed"]), self.number(0.5, 3)*1e-8, 0.0 if empty else self.number(0, 2)*1e5)
                 for _ in range(n)]
        for i in range(n):
            for j in range(i + 1, n):
                if r.random() < 0.8:
                    self.way(nodes[i], nodes[j], [self.number(0.5, 4)*1e-6 for _ in range(r.randint(1, 2))], r.random() < 0.3)
            if r.random() < 0.5:
                self.way(nodes[i], None, [self.number(0.5, 4)*1e-6])
            if r.random() < 0.3:
                self.way(self.number(0, 5)*1e5, nodes[i], [self.number(0.5, 4)*1e-6], r.random() < 0.3)
            if r.random() < 0.7:
                self.pump(nodes[i], self.number(0.1, 2)*1e-3, r.random() < 0.4, r.random() < 0.5)
        if r.random() < 0.6:
            self.relief(r.choice(nodes))

    def cylinder(self):
        r, add = self.r, self.lines.append
        self.stop = self.number(0.2, 1)
        level = r.choice([0.0, 0.0, self.number(1, 30)*1e5])
        head, ring = (self.vessel("closed", self.number(1, 20)*1e-13, level) for _ in range(2))
        supply = self.number(50, 200)*1e5
        if r.random() < 0.3:      # from an accumulator in place of a stiff supply
            node = self.vessel("closed", self.number(1, 10)*1e-11, supply)
            self.way(supply, node, [self.number(1, 4)*1e-8], r.random() < 0.5)
            supply = node
        at, wide = self.some_time(), [self.number(1, 4)*1e-8 for _ in range(4)]
        shut = [r.choice([0.05, 0.2])*w for w in wide]
        self.gated(supply, head, wide[0], shut[0], at)
        self.gated(supply, ring, shut[1], wide[1], at)
        self.gated(head, None, shut[2], wide[2], at)
        self.gated(ring, None, wide[3], shut[3], at)
        front, back = self.number(10, 20)*1e-4, self.number(4, 10)*1e-4
        mass, rubs, load, push = self.number(5, 50), self.number(1, 5)*1e3, self.number(-5, 5)*1e3, self.some_time()
        add(f"{head} -> TF:piston = 1/({front!r} [m^2]) -> 1:rod;")
        add(f"rod -> TF:back = {back!r} [m^2] -> {ring};")
        add(f"rod -> I:mass = {mass!r} [kg];")
        add(f"rod -> R:seal = {rubs!r} [N*s/m];")
        add(f"rod -> Se:load = if time > {push} [s] then {load!r} [N] else 0 [N];")
        i, j = self.state(0.1, 0.0), self.state(1e-2, 0.0)
        self.shows("[mm/s] = rod.f", lambda x: x[i]*100)
        self.shows("[mm] = integral(rod.f)", lambda x: x[j]*10)

        def moves(x, since, rate):
            v = x[i]*0.1
            force = load if since >= push - 1e-12 else 0
            rate[i] += (self.at(head, x)*front - self.at(ring, x)*back - rubs*v - force)/mass/0.1
            rate[j] += v/1e-2
            self.into(head, rate, -v*front)
            self.into(ring, rate, v*back)
        self.adds.append(moves)


def rows_of(model):
    grid = [model.stop*k/(POINTS - 1) for k in range(POINTS)]
    t, x, rows = 0.0, np.array(model.start), []

    def rates(since):
        def f(t, x):
            rate = np.zeros(len(x))
            for add in model.adds:
                add(x, since, rate)
            return rate
        return f
    for end in sorted(set(grid) | {b for b in model.breaks if b < model.stop}):
        if end > t:
            s = solve_ivp(rates(t), (t, end), x, method="LSODA", rtol=1e-10, atol=1e-11)
            if s.status < 0 or not np.all(np.isfinite(s.y[:, -1])):
                raise PassedOver
            t, x = end, s.y[:, -1]
        if end in grid:
            rows.append([value(x) for value in model.seen])
    return rows


if __name__ == "__main__":
    sys.exit(main(Plant, rows_of))
