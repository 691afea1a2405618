#!/usr/bin/env python3
"""Random end stops: masses with springs, dampers, levers and drives between rigid walls and against one another, as ideal switches on their positions, in
both spellings. What bgc gives must be what a program apart gives: where a gap closes, it tries all sets of contacts for impulses that only push and leave no
speed inwards (no rebound), then all sets of contacts that rest; and goes between the changes by Runge and Kutta's method in small steps.

python3 tests/stops.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds; a hundred take a minute and a half a solver
"""
import itertools, sys

import numpy as np

import friction
from apart import PassedOver, first, least, main, rows_of, step

STEP = 2e-3      # s
MARGIN = 1e-10   # N: a contact that pulls by less rests
GAP = 1e-13      # m: what is less beyond a stop is rounding
CLOSED = 1e-9    # m, and m/s: a gap that is closed, a speed that is none
AHEAD = 1e-4     # s, to choose among sets of contacts that hold at one instant
INSTANT = 1e-14  # s
MOST = 200       # changes


class Model(friction.Model):
    """stops: (direction, gap): direction.y + gap >= 0 for the ways y of the masses."""

    def __init__(self, seed):
        self.stops = []
        super().__init__(seed)

    def rub(self, *_):
        return False

    def some_mass(self, i):
        super().some_mass(i)
        self.lines.append(f"    signal x{i} [m] = integral(v{i}.f, 0 [m]);")

    def some_stop(self, name, gap, force, junction, direction, width):
        self.stops.append((direction, width))
        self.lines.append(f"    {self.r.choice(['Se', 'Sf'])}:{name} such that min(({gap})/1 [m], {force}{name}.e/1 [N]) -> {junction};")

    def some_joint(self, i, j):
        before = len(self.lines)
        super().some_joint(i, j)
        lever = any("TF:" in line for line in self.lines[before:])
        if not lever and self.r.random() < 0.5:
            width = self.number(0.005, 0.1)
            self.some_stop(f"c{i}{j}", f"x{i} - x{j} + {width} [m]", "", f"w{i}{j}", self.along(i, j), width)

    def some_ground(self, i):
        room = self.number(0.005, 0.2) if self.start[i] else self.r.choice([0, self.number(0.005, 0.2)])
        if self.r.random() < 0.5:
            self.some_stop(f"p{i}", f"x{i} + {room} [m]", "", f"v{i}", self.along(i), room)
        if self.r.random() < 0.5:
            width = self.number(0.005, 0.2)
            self.some_stop(f"n{i}", f"{width} [m] - x{i}", "-", f"v{i}", -self.along(i), width)


class Apart:
    """The run of a model by the other program: speeds v, elongations x of springs, ways y."""

    def __init__(self, model):
        def directions(of):
            return np.array([q[0] for q in of]).reshape(len(of), model.n)
        self.model, self.inverse = model, 1/np.array(model.mass)
        self.spring, self.stop = directions(model.springs), directions(model.stops)
        self.stiffness, self.dashpot = (np.array([s[k] for s in model.springs]) for k in (1, 2))
        self.width = np.array([s[1] for s in model.stops])
        self.t, self.changes = 0.0, 0
        self.v, self.x, self.y = np.array(model.start, dtype=float), np.zeros(len(model.springs)), np.zeros(model.n)
        self.closed = []
        self.meet()

    def solve(self, contacts, b):
        """Impulses or forces of these contacts that give speeds or accelerations b to their gaps."""
        a = self.stop[contacts]
        matrix = a @ (self.inverse[:, None]*a.T)
        if contacts and np.linalg.matrix_rank(matrix, tol=1e-9) < len(contacts):
            raise PassedOver
        return np.linalg.solve(matrix, b) if contacts else np.zeros(0)

    def accelerations(self, t, v, x, closed):
        """Also the forces of the contacts."""
        f, pushed = -self.spring.T @ (self.stiffness*x + self.dashpot*(self.spring @ v)), np.zeros(len(self.width))
        for i, swing, rate, mean in self.model.drives:
            f[i] += mean + swing*np.sin(rate*t)
        pushed[closed] = self.solve(closed, -self.stop[closed] @ (self.inverse*f))
        return self.inverse*(f + self.stop.T @ pushed), pushed

    def sets(self, of):
        return ([k for k, taken in zip(of, choice) if taken] for choice in itertools.product((False, True), repeat=len(of)))

    def strike(self, at):
        for contacts in self.sets(at):
            impulse = self.solve(contacts, -self.stop[contacts] @ self.v)
            v = self.v + self.inverse*(self.stop[contacts].T @ impulse)
            if (impulse >= -1e-12).all() and (self.stop[at] @ v >= -1e-12).all():
                return v
        raise PassedOver

    def faults_ahead(self, closed, resting):
        v = self.v + AHEAD*self.accelerations(self.t, self.v, self.x, closed)[0]
        x = self.x + AHEAD*(self.spring @ (self.v + v)/2)
        a, pushed = self.accelerations(self.t + AHEAD, v, x, closed)
        return sum(pushed[k] < 0 if k in closed else self.stop[k] @ a < 0 for k in resting)

    def meet(self):
        gaps = self.stop @ self.y + self.width
        at = [k for k in range(len(gaps)) if abs(gaps[k]) < CLOSED]
        if (self.stop[at] @ self.v < -CLOSED).any():
            self.v = self.strike(at)
        resting = [k for k in at if abs(self.stop[k] @ self.v) < CLOSED]

        def holds(closed):
            a, pushed = self.accelerations(self.t, self.v, self.x, closed)
            return all(pushed[k] >= -CLOSED if k in closed else self.stop[k] @ a >= -CLOSED for k in resting)
        self.closed = least(filter(holds, self.sets(resting)), lambda closed: self.faults_ahead(closed, resting))

    def after(self, h):
        def rates(t, v, x, y):
            return self.accelerations(t, v, x, self.closed)[0], self.spring @ v, v
        return step(rates, self.t, (self.v, self.x, self.y), h)

    def turned(self, h):
        v, x, y = self.after(h)
        pushed, gaps = self.accelerations(self.t + h, v, x, self.closed)[1], self.stop @ y + self.width
        return any(pushed[k] < -MARGIN if k in self.closed else gaps[k] < -GAP for k in range(len(gaps)))

    def change(self, h):
        high = first(self.turned, h, INSTANT)
        self.v, self.x, self.y = self.after(high)
        self.t += high
        self.v = self.v - self.inverse*(self.stop[self.closed].T @ self.solve(self.closed, self.stop[self.closed] @ self.v))
        self.changes += 1
        if self.changes > MOST:
            raise PassedOver
        self.meet()

    def to(self, until):
        while until - self.t > 1e-12:
            h = min(STEP, until - self.t)
            if self.turned(h):
                self.change(h)
            else:
                self.v, self.x, self.y = self.after(h)
                self.t += h


if __name__ == "__main__":
    sys.exit(main(Model, lambda model: rows_of(Apart(model), model.stop, lambda apart: apart.v)))
