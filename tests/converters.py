#!/usr/bin/env python3
"""Random converters: coils and capacitors, coupled directly or by ideal transformers, with sources and loads, ideal diodes and switches on sums of their
currents or voltages in both spellings, told by clocks, by time or by hysteresis. What bgc gives must be what a program apart gives: where a switch joins
what differs, it tries all sets of diodes for impulses that only push (charge and flux are conserved); then it goes on as drives.py does.

python3 tests/converters.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds; a hundred take a minute a solver
"""
import itertools, math, random, sys

import numpy as np

import drives
from apart import PassedOver, main, rows_of

STEP = 1e-3    # s
MET = 1e-9     # A, V: a condition that is met


class Model:
    """As of drives.py; z are currents of coils and voltages of capacitors."""

    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.inertia, self.start, self.coil, self.torques = [], [], [], []
        self.limits, self.twists, self.borders, self.acts, self.periods = [], [], [], {}, []
        self.held, self.sample, self.offset, self.control, self.chops, self.step = [], None, 0, None, None, STEP
        self.powers = {}      # of elements, by t, the states, their rates
        self.lines, self.stop = ["model converter {"], self.number(0.4, 1.2)
        self.gates = 0
        for i in range(r.randint(1, 4)):
            self.some_store(i)
        for i, j in itertools.combinations(range(len(self.coil)), 2):
            if self.coil[i] != self.coil[j] and r.random() < 0.6:
                self.couple(*((i, j) if self.coil[i] else (j, i)))
        for q in range(r.randint(1, 3)):
            self.some_limit(q)
        self.lines += [f"    output y{i} [{'A' if coil else 'V'}] = {self.junction(i)}.{'f' if coil else 'e'};" for i, coil in enumerate(self.coil)]
        self.start_consistently()
        self.text = "\n".join(self.lines + ["}", f"experiment run of converter {{ stop = {self.stop} [s]; }}", ""])

    def start_consistently(self):
        for (of, weights), _, _ in self.limits:
            if sum(a*self.start[i] for i, a in zip(of, weights)) != 0:
                for i in of:
                    self.start[i] = 0
        for i, start in enumerate(self.start):
            self.lines = [line.replace(f"@{i}@", repr(start)) for line in self.lines]

    def number(self, a, b):
        return float(f"{self.r.uniform(a, b):.3g}")

    def junction(self, i):
        return f"c{i}" if self.coil[i] else f"k{i}"

    def some_store(self, i):
        r = self.r
        coil = r.random() < 0.5
        self.coil.append(coil)
        size, loss, start = self.number(0.1, 1), self.number(0.2, 3), r.choice([0, 0, 0, self.number(0, 3)])
        self.inertia.append(size)
        self.start.append(start)
        self.torques.append([])
        name = self.junction(i)
        if coil:
            self.lines.append(f"    1:{name} -> I:l{i} = {size} [H] {{ f(0) = @{i}@ [A]; }}")
        else:
            self.lines.append(f"    0:{name} -> C:v{i} = {size} [F] {{ e(0) = @{i}@ [V]; }}")
        self.powers[f"{'l' if coil else 'v'}{i}"] = lambda t, z, a: size*a[i]*z[i]
        if r.random() < 0.7:
            self.torques[i].append(lambda t, z, x, side: -loss*z[i])
            self.powers[f"r{i}"] = lambda t, z, a: loss*z[i]**2
            self.lines.append(f"    {name} -> R:r{i} = {loss} [ohm];" if coil else f"    {name} -> R:r{i} = {1/loss!r} [ohm];")
        if r.random() < 0.7:
            mean, swing, rate = self.number(-3, 5), r.choice([0, self.number(1, 6)]), self.number(3, 20)
            self.torques[i].append(lambda t, z, x, side: mean + swing*math.sin(rate*t))
            self.powers[f"s{i}"] = lambda t, z, a: (mean + swing*math.sin(rate*t))*z[i]
            self.lines.append(f"    S{'e' if coil else 'f'}:s{i} = {mean} [{'V' if coil else 'A'}] + {swing} [{'V' if coil else 'A'}]*sin({rate} [1/s]*time);")
            self.lines.append(f"    s{i} -> {name};")

    def couple(self, c, k):
        n = self.r.choice([1, 1, self.number(0.4, 2.5)])
        self.torques[c].append(lambda t, z, x, side: -n*z[k])
        self.torques[k].append(lambda t, z, x, side: n*z[c])
        self.lines.append(f"    c{c} -> {'' if n == 1 else f'TF:u{c}{k} = {n!r} -> '}k{k};")

    def some_gate(self):
        r, g = self.r, self.gates
        self.gates += 1
        kind = r.random()
        if kind < 0.55:
            period, duty = self.number(0.03, 0.25), self.number(0.15, 0.85)
            self.periods.append(period)
            k = self.border(lambda t, z, x, h: (t/period - math.floor(t/period + 1e-9)) - duty)
            self.lines += [f"    signal saw{g} = time/{period} [s] - floor(time/{period} [s]);", f"    signal g{g} = if saw{g} < {duty} then 1 else 0;"]
            return g, lambda side: not side[k]
        if kind < 0.75:
            at = self.number(0.05, 0.4)
            k = self.border(lambda t, z, x, h: t - at)
            self.lines.append(f"    signal g{g} = if time < {at} [s] then 1 else 0;")
            return g, lambda side: not side[k]
        i = r.randrange(len(self.coil))
        low, high, unit = self.number(-0.5, 0.5), self.number(0.8, 3), "A" if self.coil[i] else "V"
        down, up = self.border(lambda t, z, x, h: low - z[i]), self.border(lambda t, z, x, h: z[i] - high)
        on = self.border(None)
        self.acts.update({down: (on, True), up: (on, False)})
        read = f"{self.junction(i)}.{'f' if self.coil[i] else 'e'}"
        self.lines += [f"    signal g{g} = integral(0 [1/s], 1);", f"    when {read} < {low} [{unit}] {{ reinit g{g} = 1; }}",
                       f"    when {read} > {high} [{unit}] {{ reinit g{g} = 0; }}"]
        return g, lambda side: side[on]

    def border(self, f):
        self.borders.append(f)
        return len(self.borders) - 1

    def some_limit(self, q):
        """A diode or a switch on a sum of currents (at a node) or of voltages (around a loop)."""
        r = self.r
        coil = r.choice(self.coil)
        of = [i for i, c in enumerate(self.coil) if c == coil]
        switch = r.random() < 0.5 and len(of) > 1
        r.shuffle(of)
        of = of[:2 if switch else r.randint(1, min(2, len(of)))]
        weights = [r.choice([1, 1, -1, self.number(0.4, 2.5)]) for _ in of]
        place = f"{'n' if coil else 'm'}{q}"
        self.lines.append(f"    {'0' if coil else '1'}:{place};")
        for i, a in zip(of, weights):
            ratio = (abs(a) if a > 0 else 1/abs(a)) if coil else (1/abs(a) if a > 0 else abs(a))
            gear = "" if ratio == 1 else f"TF:t{q}{i} = {ratio!r} -> "
            self.lines.append(f"    {self.junction(i)} -> {gear}{place};" if a > 0 else f"    {place} -> {gear}{self.junction(i)};")
        held, free, held_unit, free_unit = ("f", "e", "A", "V") if coil else ("e", "f", "V", "A")
        name, kind = f"d{q}", r.choice(["Se", "Sf"])
        if switch:
            g, on = self.some_gate()
            self.lines.append(f"    {place} -> {kind}:{name} such that if g{g} > 0.5 then {name}.{free} else {name}.{held};")
            self.limits.append(((of, weights), lambda t, side: 0 if on(side) else -math.inf, lambda t, side: 0 if on(side) else math.inf))
        else:
            self.lines.append(f"    {place} -> {kind}:{name} such that min({name}.{held}/1 [{held_unit}], -{name}.{free}/1 [{free_unit}]);")
            self.limits.append(((of, weights), lambda t, side: -math.inf, lambda t, side: 0))


class Apart(drives.Apart):
    def directions(self):
        rows = np.zeros((len(self.m.limits), len(self.m.inertia)))
        for row, ((of, weights), _, _) in zip(rows, self.m.limits):
            row[of] = weights
        return rows

    def strike(self):
        """Impulses where what a closing switch joins differs."""
        bounds = [(low(self.t, self.side), high(self.t, self.side)) for _, low, high in self.m.limits]
        both = [j for j, (low, high) in enumerate(bounds) if low == -math.inf and high == math.inf]
        one = [j for j, (low, high) in enumerate(bounds) if low == -math.inf and high == 0]
        off = self.limit @ self.z
        if all(abs(off[j]) < MET for j in both) and all(off[j] > -MET for j in one):
            return
        for taken in (c for n in range(len(one) + 1) for c in itertools.combinations(one, n)):
            rows = self.limit[both + list(taken)]
            if np.linalg.matrix_rank(rows, tol=1e-9) < len(rows):
                continue
            impulse = np.linalg.solve(rows @ (self.inverse[:, None]*rows.T), -rows @ self.z)
            z = self.z + self.inverse*(rows.T @ impulse)
            if (impulse[len(both):] >= -1e-12).all() and (self.limit[one] @ z >= -MET).all():
                self.refuse(rows, z)
                self.z = np.where(np.abs(z) < 1e-14, 0, z)
                return
        raise PassedOver

    def refuse(self, rows, z):
        """A store alone must not jump."""
        span = np.linalg.pinv(rows) @ rows
        for i in range(len(z)):
            if abs(span[i, i] - 1) < 1e-9 and abs(z[i] - self.z[i]) > MET:
                raise PassedOver

    def possible(self, mode):
        stuck = self.limit[[j for j, side in enumerate(mode) if side == 0]]
        return super().possible(mode) and (len(stuck) == 0 or np.linalg.matrix_rank(stuck, tol=1e-9) == len(stuck))

    def settled(self):
        both = [j for j, (_, low, high) in enumerate(self.m.limits) if low(self.t, self.side) == -math.inf]
        if np.linalg.matrix_rank(self.limit[both], tol=1e-9) < len(both):
            raise PassedOver      # only sums would be determined
        self.strike()
        return super().settled()


if __name__ == "__main__":
    sys.exit(main(Model, lambda model: rows_of(Apart(model), model.stop, lambda apart: apart.z)))
