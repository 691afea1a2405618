#!/usr/bin/env python3
"""Random dry friction: masses with springs, dampers, levers and drives that rub on the ground, on belts and on one another, from rest or moving. What
bgc gives must be what a program apart gives: it tries all combinations of sticking and slipping where something is at rest, and goes between the changes
by Runge and Kutta's method in small steps.

python3 tests/friction.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds; a hundred take three quarters of a minute a solver
"""
import random, sys

import numpy as np

from apart import PassedOver, first, least, main, modes, rows_of, step

STEP = 2e-3      # s
MARGIN = 1e-10   # of force or speed: what is less beyond its limit is rounding
AT_REST = 1e-9   # m/s
AHEAD = 1e-5     # s, to choose among combinations that hold at one instant
INSTANT = 1e-13  # s
MOST = 300       # changes


class Model:
    """Masses mass[i] with speeds v; springs (direction, stiffness, damping) and rubs (direction, force, damping, belt) on speeds direction.v."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.n = self.r.randint(1, 4)
        self.mass, self.start, self.lines = [], [], ["model slide {"]
        self.springs, self.rubs, self.drives = [], [], []
        for i in range(self.n):
            self.some_mass(i)
        for i in range(self.n):
            for j in range(i + 1, self.n):
                if self.r.random() < (0.7 if j == i + 1 else 0.2):
                    self.some_joint(i, j)
        for i in range(self.n):
            self.some_ground(i)
            self.some_drive(i)
        self.stop = self.number(2, 6)
        self.lines += [f"    output y{i} [m/s] = v{i}.f;" for i in range(self.n)]
        self.text = "\n".join(self.lines + ["}", f"experiment run of slide {{ stop = {self.stop} [s]; }}", ""])

    def number(self, a, b):
        return float(f"{self.r.uniform(a, b):.3g}")

    def along(self, i, j=None, ratio=1):
        direction = np.zeros(self.n)
        direction[i] = 1
        if j is not None:
            direction[j] = -ratio
        return direction

    def rub(self, direction, force, damping, belt):
        """False: with the others it would determine only a sum."""
        all_of_them = [r[0] for r in self.rubs] + [direction]
        if np.linalg.matrix_rank(np.array(all_of_them)) < len(all_of_them):
            return False
        self.rubs.append((direction, force, damping, belt))
        return True

    def some_mass(self, i):
        mass, speed = self.number(0.5, 3), self.r.choice([0, 0, self.number(-2, 2)])
        self.mass.append(mass)
        self.start.append(speed)
        self.lines.append(f"    1:v{i} -> I:m{i} = {mass} [kg] {{ p(0) = {speed*mass!r} [N*s]; }}")
        if self.r.random() < 0.6:
            stiffness, damping = self.number(5, 100), self.r.choice([0, self.number(0, 2)])
            self.springs.append((self.along(i), stiffness, damping))
            self.lines.append(f"    v{i} -> C:g{i} = {1/stiffness!r} [m/N];")
            if damping:
                self.lines.append(f"    v{i} -> R:d{i} = {damping} [N*s/m];")

    def some_joint(self, i, j):
        stiffness, ratio = self.number(5, 100), self.r.choice([1, 1, 1, self.number(0.5, 2)])
        direction, kind = self.along(i, j, ratio), self.r.random()
        self.springs.append((direction, stiffness, 0))
        lever = "" if ratio == 1 else f"TF:t{i}{j} = {1/ratio!r} -> "
        self.lines += [f"    v{i} -> 0:z{i}{j};", f"    z{i}{j} -> {lever}v{j};", f"    z{i}{j} -> 1:w{i}{j} -> C:k{i}{j} = {1/stiffness!r} [m/N];"]
        if kind < 0.35:
            force = self.number(0.2, 4)
            if self.rub(direction, force, 0, None):
                self.lines.append(f"    w{i}{j} -> R:h{i}{j} {{ e = {force} [N]*sign(f); }}")
        elif kind < 0.6:
            damping = self.number(0.1, 2)
            self.springs.append((direction, 0, damping))
            self.lines.append(f"    w{i}{j} -> R:h{i}{j} = {damping} [N*s/m];")

    def some_ground(self, i):
        kind, force = self.r.random(), self.number(0.2, 5)
        if kind < 0.45:
            damping = self.r.choice([0, self.number(0.05, 1)])
            law = self.r.choice([f"{force} [N]*sign(f) + {damping} [N*s/m]*f",
                                 f"{damping} [N*s/m]*f + (if f > 0 then {force} [N] else -{force} [N])"])
            if self.rub(self.along(i), force, damping, None):
                self.lines.append(f"    v{i} -> R:f{i} {{ e = {law}; }}")
        elif kind < 0.7:
            swing, rate, mean = self.r.choice([0, self.number(0.1, 2)]), self.number(0.5, 5), self.r.choice([0, self.number(-1, 1)])
            if self.rub(self.along(i), force, 0, (swing, rate, mean)):
                self.lines += [f"    Sf:belt{i} = {mean} [m/s] + {swing} [m/s]*sin({rate} [1/s]*time) -> 0:b{i} -> v{i};",
                               f"    b{i} -> R:f{i} {{ e = {force} [N]*sign(f); }}"]

    def some_drive(self, i):
        if self.r.random() < 0.6:
            swing, rate, mean = self.number(0.5, 10), self.number(0.5, 8), self.r.choice([0, self.number(-3, 3)])
            self.drives.append((i, swing, rate, mean))
            self.lines.append(f"    Se:u{i} = {mean} [N] + {swing} [N]*sin({rate} [1/s]*time) -> v{i};")


class Apart:
    """The run of a model by the other program: speeds v, elongations x; mode[j] is the side to which rub j slips, 0 while it sticks."""

    def __init__(self, model):
        def directions(of):
            return np.array([q[0] for q in of]).reshape(len(of), model.n)
        self.model, self.inverse = model, 1/np.array(model.mass)
        self.rub, self.spring = directions(model.rubs), directions(model.springs)
        self.force, self.damping = (np.array([r[k] for r in model.rubs]) for k in (1, 2))
        self.stiffness, self.dashpot = (np.array([s[k] for s in model.springs]) for k in (1, 2))
        self.t, self.v, self.x, self.changes = 0.0, np.array(model.start, dtype=float), np.zeros(len(model.springs)), 0
        self.mode = self.settled()

    def belts(self, t):
        """Their speeds and accelerations."""
        of = [r[3] or (0, 1, 0) for r in self.model.rubs]
        return (np.array([mean + swing*np.sin(rate*t) for swing, rate, mean in of]), np.array([swing*rate*np.cos(rate*t) for swing, rate, _ in of]))

    def slips(self, t, v):
        return self.rub @ v - self.belts(t)[0]

    def accelerations(self, t, v, x, mode):
        """Also the forces of what sticks."""
        f, held = -self.spring.T @ (self.stiffness*x + self.dashpot*(self.spring @ v)), np.zeros(len(mode))
        for i, swing, rate, mean in self.model.drives:
            f[i] += mean + swing*np.sin(rate*t)
        f = f - self.rub.T @ (self.damping*self.slips(t, v) + self.force*np.array(mode))
        stuck = [j for j, side in enumerate(mode) if side == 0]
        if stuck:
            a = self.rub[stuck]
            held[stuck] = np.linalg.solve(a @ (self.inverse[:, None]*a.T), a @ (self.inverse*f) - self.belts(t)[1][stuck])
            f = f - a.T @ held[stuck]
        return self.inverse*f, held

    def holds(self, t, v, x, mode, at_rest):
        a, held = self.accelerations(t, v, x, mode)
        away = self.rub @ a - self.belts(t)[1]
        return all(abs(held[j]) <= self.force[j] + 1e-9 if mode[j] == 0 else away[j]*mode[j] > -1e-9 for j in at_rest)

    def faults_ahead(self, mode, at_rest):
        t, h = self.t + AHEAD, AHEAD
        a = self.accelerations(self.t, self.v, self.x, mode)[0]
        v, x = self.v + h*a, self.x + h*(self.spring @ (self.v + h/2*a))
        held, slips = self.accelerations(t, v, x, mode)[1], self.slips(t, v)
        return sum(abs(held[j]) > self.force[j] if mode[j] == 0 else slips[j]*mode[j] <= 0 for j in at_rest)

    def settled(self):
        slips = self.slips(self.t, self.v)
        at_rest = [j for j in range(len(slips)) if abs(slips[j]) < AT_REST]
        found = (mode for mode in modes(slips, at_rest) if self.holds(self.t, self.v, self.x, mode, at_rest))
        return least(found, lambda mode: self.faults_ahead(mode, at_rest))

    def after(self, h):
        def rates(t, v, x):
            return self.accelerations(t, v, x, self.mode)[0], self.spring @ v
        return step(rates, self.t, (self.v, self.x), h)

    def margins(self, h):
        v, x = self.after(h)
        slips, held = self.slips(self.t + h, v), self.accelerations(self.t + h, v, x, self.mode)[1]
        return np.array([self.force[j] - abs(held[j]) if side == 0 else slips[j]*side for j, side in enumerate(self.mode)])

    def change(self, h):
        """At the first margin that is passed within h."""
        high = first(lambda part: (self.margins(part) < -MARGIN).any(), h, INSTANT)
        margins = self.margins(high)
        at_rest = [j for j, side in enumerate(self.mode) if side == 0 or margins[j] <= AT_REST]
        self.v, self.x = self.after(high)
        self.t += high
        a = self.rub[at_rest]
        by = np.linalg.solve(a @ (self.inverse[:, None]*a.T), a @ self.v - self.belts(self.t)[0][at_rest])
        self.v = self.v - self.inverse*(a.T @ by)     # exactly at rest
        self.changes += 1
        if self.changes > MOST:
            raise PassedOver
        self.mode = self.settled()

    def to(self, until):
        while until - self.t > 1e-12:
            h = min(STEP, until - self.t)
            if (self.margins(h) < -MARGIN).any():
                self.change(h)
            else:
                self.v, self.x = self.after(h)
                self.t += h


if __name__ == "__main__":
    sys.exit(main(Model, lambda model: rows_of(Apart(model), model.stop, lambda apart: apart.v)))
