#!/usr/bin/env python3
"""Random dry friction whose force changes: Stribeck's, with a normal force by a spring or by time, told by a relay with hysteresis (a brake that lets go
of a wheel); masses with springs, dampers and drives. What bgc gives must be what a program apart gives, as of drives.py.

python3 tests/rubs.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds; a hundred take a minute a solver
"""
import math, random, sys

import numpy as np

import drives
from apart import main, rows_of

STEP = 2e-4    # s


class Model:
    """As of drives.py; a limit is (direction, force(t, z, x, slip, side))."""

    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.inertia, self.start, self.torques = [], [], []
        self.limits, self.twists, self.borders, self.acts, self.periods = [], [], [], {}, []
        self.held, self.sample, self.offset, self.control, self.chops, self.step = [], None, 0, None, None, STEP
        self.lines, self.stop = ["model rubs {"], self.number(1, 4)
        self.n = r.randint(1, 3)
        for i in range(self.n):
            self.some_mass(i)
        for i in range(self.n - 1):
            self.some_joint(i)
        for i in range(self.n):
            if r.random() < 0.75:
                self.some_friction(f"f{i}", f"v{i}", (i, None, 1))
        self.lines += [f"    output y{i} [m/s] = v{i}.f;" for i in range(self.n)]
        self.text = "\n".join(self.lines + ["}", f"experiment run of rubs {{ stop = {self.stop} [s]; }}", ""])

    def number(self, a, b):
        return float(f"{self.r.uniform(a, b):.3g}")

    def border(self, f):
        self.borders.append(f)
        return len(self.borders) - 1

    def spring(self, i, j, k):
        x = len(self.twists)
        self.twists.append((i, j, 1) if j is not None else (i, i, 0))
        self.torques[i].append(lambda t, z, xs, side: -k*xs[x])
        if j is not None:
            self.torques[j].append(lambda t, z, xs, side: k*xs[x])
        return x

    def some_mass(self, i):
        r = self.r
        mass, start = self.number(0.5, 3), r.choice([0, 0, self.number(-2, 2)])
        self.inertia.append(mass)
        self.start.append(start)
        self.torques.append([])
        self.lines.append(f"    1:v{i} -> I:m{i} = {mass} [kg] {{ f(0) = {start} [m/s]; }}")
        self.springs = getattr(self, "springs", [])
        if r.random() < 0.6:
            k = self.number(5, 100)
            self.springs.append((f"g{i}", self.spring(i, None, k), k))
            self.lines.append(f"    v{i} -> C:g{i} = {1/k!r} [m/N];")
        if r.random() < 0.3:
            b = self.number(0.05, 1)
            self.torques[i].append(lambda t, z, x, side: -b*z[i])
            self.lines.append(f"    v{i} -> R:d{i} = {b} [N*s/m];")
        if r.random() < 0.7:
            mean, swing, rate = r.choice([0, self.number(-3, 3)]), self.number(0.5, 10), self.number(0.5, 8)
            self.torques[i].append(lambda t, z, x, side: mean + swing*math.sin(rate*t))
            self.lines += [f"    Se:u{i} = {mean} [N] + {swing} [N]*sin({rate} [1/s]*time);", f"    u{i} -> v{i};"]

    def some_joint(self, i):
        k = self.number(5, 100)
        self.springs.append((f"k{i}", self.spring(i, i + 1, k), k))
        self.lines += [f"    v{i} -> 0:z{i} -> v{i + 1};", f"    z{i} -> 1:w{i} -> C:k{i} = {1/k!r} [m/N];"]
        if self.r.random() < 0.4:
            self.some_friction(f"h{i}", f"w{i}", (i, i + 1, 1))

    def some_friction(self, name, place, direction):
        r, kind = self.r, self.r.random()
        force, low = self.number(0.5, 4), self.number(0.2, 0.9)
        if kind < 0.4:
            speed, power = self.number(0.05, 0.5), r.choice([1, 2])
            self.limits.append((direction, lambda t, z, x, slip, side: force*(low + (1 - low)*math.exp(-(abs(slip)/speed)**power))))
            over = f"abs(f)/{speed} [m/s]" if power == 1 else f"(f/{speed} [m/s])^2"
            law = f"{force} [N]*({low} + {1 - low!r}*exp(-{over}))*sign(f)"
        elif kind < 0.6 and self.springs:
            spring, x, k = r.choice(self.springs)
            mu = self.number(0.1, 0.8)
            self.limits.append((direction, lambda t, z, xs, slip, side: low + mu*abs(k*xs[x])))
            law = f"({low} [N] + {mu}*abs({spring}.e))*sign(f)"
        elif kind < 0.8:
            rate = self.number(1, 9)
            self.limits.append((direction, lambda t, z, x, slip, side: force*(1 + low*math.sin(rate*t))))
            law = f"{force} [N]*(1 + {low}*sin({rate} [1/s]*time))*sign(f)"
        else:
            i = r.randrange(self.n)
            less, more = self.number(-1, 0), self.number(0.1, 1)
            down, up = self.border(lambda t, z, x, h: less - z[i]), self.border(lambda t, z, x, h: z[i] - more)
            on = self.border(None)
            self.acts.update({down: (on, False), up: (on, True)})
            self.limits.append((direction, lambda t, z, x, slip, side: force if side[on] else force*(1 - low)))
            self.lines += [f"    signal b_{name} = integral(0 [1/s], 1);", f"    when v{i}.f < {less} [m/s] {{ reinit b_{name} = 0; }}",
                           f"    when v{i}.f > {more} [m/s] {{ reinit b_{name} = 1; }}"]
            law = f"(if b_{name} > 0.5 then {force} [N] else {force*(1 - low)!r} [N])*sign(f)"
        self.lines.append(f"    {place} -> R:{name} {{ e = {law}; }}")


class Apart(drives.Apart):
    def accelerations(self, t, z, x, mode):
        f = np.array([sum(q(t, z, x, self.side) for q in torques) for torques in self.m.torques], dtype=float)
        held, slips = np.zeros(len(mode)), self.limit @ z
        self.most = [force(t, z, x, slips[j] if mode[j] else 0, self.side) for j, (_, force) in enumerate(self.m.limits)]
        for j, side in enumerate(mode):
            held[j] = side*self.most[j]
        f = f - self.limit.T @ held
        stuck = [j for j, side in enumerate(mode) if side == 0]
        if stuck:
            a = self.limit[stuck]
            held[stuck] = np.linalg.solve(a @ (self.inverse[:, None]*a.T), a @ (self.inverse*f))
            f = f - a.T @ held[stuck]
        return self.inverse*f, held

    def directions(self):
        rows = np.zeros((len(self.m.limits), len(self.m.inertia)))
        for row, ((i, j, _), _) in zip(rows, self.m.limits):
            row[i] += 1
            if j is not None:
                row[j] -= 1
        if len(rows) and np.linalg.matrix_rank(rows) < len(rows):
            raise drives.PassedOver
        return rows

    def inside(self, j, t, force):
        """By the last accelerations."""
        return self.most[j] - abs(force)

    def possible(self, mode):
        return True


if __name__ == "__main__":
    sys.exit(main(Model, lambda model: rows_of(Apart(model), model.stop, lambda apart: apart.z)))
