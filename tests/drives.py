#!/usr/bin/env python3
"""Random drives: a motor behind a chopper or a leg of two switches, told by a clock, by hysteresis or by a sampled controller; a gear, a shaft with
backlash, dry friction, a clutch or a freewheel, loads that change by time and speed. What bgc gives must be what a program apart gives: it tries all
combinations of sticking, slipping and conducting where something is at rest, and goes between the changes by Runge and Kutta's method in small steps.

python3 tests/drives.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds; a hundred take two minutes a solver
"""
import math, random, sys

import numpy as np

from apart import PassedOver, first, least, main, modes, rows_of, step

STEP = 5e-5      # s, at most
MARGIN = 1e-10   # of force or speed: what is less beyond its limit is rounding
AT_REST = 1e-9   # of speed or current
AHEAD = 1e-5     # s, to choose among combinations that hold at one instant
INSTANT = 1e-13  # s
MOST = 400       # changes


class Model:
    """Speeds z (a current, then shafts) with inertias; twists x; limits (direction, least, greatest; functions of t and side): a force between them
    holds direction.z at rest. torques: f(t, z, x, side) for each entry of z. borders: f(t, z, x, held), whose sign is side[k]."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.inertia, self.start, self.names = [], [], []
        self.limits, self.torques, self.twists, self.borders, self.acts = [], [], [], [], {}
        self.chops, self.step, self.periods = None, STEP, []
        self.held, self.sample, self.offset, self.control = [], None, 0, None
        self.lines = ["model drive {"]
        self.stop = self.number(0.3, 0.8)
        self.shafts()
        self.motor()
        self.lines += [f"    output y{i} [{unit}] = {name}.f;" for i, (name, unit) in enumerate(self.names)]
        self.text = "\n".join(self.lines + ["}", f"experiment run of drive {{ stop = {self.stop} [s]; }}", ""])

    def number(self, a, b):
        return float(f"{self.r.uniform(a, b):.3g}")

    def maybe(self, p=0.5):
        return self.r.random() < p

    def add(self, name, unit, inertia, start):
        self.inertia.append(inertia)
        self.start.append(start)
        self.names.append((name, unit))
        self.torques.append([])
        return len(self.inertia) - 1

    def border(self, f):
        self.borders.append(f)
        return len(self.borders) - 1

    def along(self, i, j=None, ratio=1):
        return (i, j, ratio)

    def shaft(self, name, start, inertia=None):
        inertia = inertia or self.number(0.01, 0.1)
        k = self.add(name, "rad/s", inertia, start)
        self.lines.append(f"    1:{name} -> I:j_{name} = {inertia} [kg*m^2] {{ f(0) = {start} [rad/s]; }}")
        if self.maybe():
            b = self.number(0.005, 0.05)
            self.torques[k].append(lambda t, z, x, s: -b*z[k])
            self.lines.append(f"    {name} -> R:b_{name} = {b} [N*m*s/rad];")
        return k

    def friction(self, k, name):
        f = self.number(0.05, 0.6)
        self.limits.append((self.along(k), lambda t, side: -f, lambda t, side: f))
        self.lines.append(f"    {name} -> R:f_{name} {{ e = {f} [N*m]*sign(f); }}")

    def load(self, k, name):
        kind = self.r.random()
        if kind < 0.3:
            at, by = self.number(0.05, 0.25), self.number(-1, 1)
            s = self.border(lambda t, z, x, held: t - at)
            self.torques[k].append(lambda t, z, x, side: by if side[s] else 0)
            self.lines.append(f"    Se:l_{name} = if time > {at} [s] then {by} [N*m] else 0 [N*m];\n    l_{name} -> {name};")
        elif kind < 0.55:
            c = self.number(1e-4, 1e-3)
            self.torques[k].append(lambda t, z, x, side: -c*z[k]*abs(z[k]))
            self.lines.append(f"    {name} -> R:l_{name} {{ e = {c} [N*m*s^2/rad^2]*f*abs(f); }}")
        elif kind < 0.8:
            a, rate = self.number(0.1, 1), self.number(5, 40)
            self.torques[k].append(lambda t, z, x, side: a*math.sin(rate*t))
            self.lines.append(f"    Se:l_{name} = {a} [N*m]*sin({rate} [1/s]*time);\n    l_{name} -> {name};")

    def shafts(self):
        start = self.r.choice([0, 0, self.number(-10, 10)])
        one = self.shaft("w1", start)
        self.rotor = one
        if self.maybe(0.4):
            self.friction(one, "w1")
        if self.maybe(0.75):
            two = self.elastic(one)
            if self.maybe():
                self.friction(two, "w2")
            self.load(two, "w2")
            if self.maybe():
                self.coupled(two)
        else:
            self.load(one, "w1")

    def elastic(self, one):
        """A shaft with a gear, elastic, with or without backlash."""
        n = self.r.choice([1, 1, self.number(0.2, 3)])
        two = self.shaft("w2", self.r.choice([0, 0, self.start[one]/n]))
        k, d, gap = self.number(20, 200), self.r.choice([0, self.number(0.01, 0.1)]), self.r.choice([0, 0, self.number(0.002, 0.03)])
        x = len(self.twists)
        self.twists.append((one, two, n))
        gear = "" if n == 1 else f"TF:gear = {1/n!r} -> "
        self.lines += ["    w1 -> 0:out;", f"    out -> {gear}w2;", "    out -> 1:twist;"]
        law = f"e = {k} [N*m/rad]*q;"
        if gap:
            above, below = self.border(lambda t, z, xs, h: xs[x] - gap), self.border(lambda t, z, xs, h: xs[x] + gap)
            spell = self.r.randrange(3)
            law = [f"e = if q > {gap} [rad] then {k} [N*m/rad]*(q - {gap} [rad]) else if q < -{gap} [rad] then {k} [N*m/rad]*(q + {gap} [rad]) else 0 [N*m];",
                   f"e = {k} [N*m/rad]*(max(q - {gap} [rad], 0 [rad]) + min(q + {gap} [rad], 0 [rad]));",
                   f"e = if abs(q) <= {gap} [rad] then 0 [N*m] else {k} [N*m/rad]*(q - {gap} [rad]*sign(q));"][spell]
        self.lines.append(f"    twist -> C:spring {{ {law} }}")
        if d:
            self.lines.append(f"    twist -> R:damp = {d} [N*m*s/rad];")

        def torque(z, xs, side):
            q = xs[x]
            if gap:
                q = q - gap if side[above] else 0 if side[below] else q + gap
            return k*q + d*(z[one] - n*z[two])
        self.torques[one].append(lambda t, z, xs, side: -torque(z, xs, side))
        self.torques[two].append(lambda t, z, xs, side: n*torque(z, xs, side))
        return two

    def coupled(self, two):
        """Through a clutch, whose capacity rises from an instant on, or a freewheel: a third shaft."""
        three = self.shaft("w3", 0)
        if self.maybe(0.3):
            self.load(three, "w3")
        if self.maybe():
            at, rise, f = self.number(0.02, 0.2), self.number(0.02, 0.2), self.number(0.3, 3)
            begins, ends = self.border(lambda t, z, x, h: t - at), self.border(lambda t, z, x, h: t - at - rise)
            capacity = lambda t: 0 if t < at else f if t > at + rise else f*(t - at)/rise
            self.limits.append((self.along(two, three), lambda t, side: -capacity(t), lambda t, side: capacity(t)))
            self.lines += [f"    signal capacity [N*m] = {f} [N*m]*min(max((time - {at} [s])/{rise} [s], 0), 1);",
                           "    w2 -> 0:c -> w3;", "    c -> R:clutch { e = capacity*sign(f); }"]
        elif self.start[two] <= 0 and self.maybe(0.8):
            self.limits.append((self.along(three, two), lambda t, side: -math.inf, lambda t, side: 0))
            kind = self.r.choice(["Se", "Sf"])      # power goes from w2 to w3; w3 may run ahead
            self.lines += ["    w3 -> 0:c -> w2;", f"    c -> {kind}:wheel such that min(wheel.f/1 [rad/s], -wheel.e/1 [N*m]);"]

    def motor(self):
        k, ohm = self.number(0.05, 0.4), self.number(0.3, 3)
        supply, coil = self.number(10, 60), self.r.choice([0, 1, 1, 1])
        kind = self.r.choice(["source", "chopper", "leg", "leg"])
        coil = 1 if kind == "chopper" else coil
        w = self.rotor
        self.lines += [f"    1:arm -> R:ohm = {ohm} [ohm];", f"    arm -> GY:emf = {k} [V*s/rad] -> w1;"]
        gate = self.gate(coil)
        if kind == "source":
            self.lines.append(f"    MSe:supply = {supply} [V]*gate -> arm;")
        else:
            a, b = self.r.choice(["Se", "Sf"]), self.r.choice(["Se", "Sf"])
            self.lines += [f"    Se:supply = {supply} [V] -> 0:rail -> 1:upper -> 0:node -> arm;",
                           f"    upper -> {a}:s such that if gate > 0.5 then s.e else s.f;"]
            if kind == "leg":
                self.lines.append(f"    node -> {b}:l such that if gate < 0.5 then l.e else l.f;")
            else:
                self.lines.append(f"    node -> {b}:d such that min(-d.f/1 [A], d.e/1 [V]);")
        if coil:
            henry = self.number(0.002, 0.02)
            start = self.r.choice([0, 0, self.number(0, 5)])
            self.step = min(self.step, 0.05*henry/ohm)
            i = self.add("arm", "A", henry, start)
            self.lines.append(f"    arm -> I:coil = {henry} [H] {{ f(0) = {start} [A]; }}")
            self.torques[i].append(lambda t, z, x, side: supply*self.level(t, side) - ohm*z[i] - k*z[w])
            self.torques[w].append(lambda t, z, x, side: k*z[i])
            if kind == "chopper":
                self.chops = len(self.limits)
                self.limits.append((self.along(i), lambda t, side: -math.inf, lambda t, side: 0))
        else:
            self.torques[w].append(lambda t, z, x, side: k*(supply*self.level(t, side) - k*z[w])/ohm)

    def gate(self, coil):
        """The signal gate, 0 or 1, and self.level(t, side)."""
        kind = self.r.random()
        w = self.rotor
        if kind < 0.3:
            mean, swing, rate = self.number(0.3, 0.7), self.number(0, 0.25), self.number(5, 30)
            self.pwm(lambda t, held: mean + swing*math.sin(rate*t), f"{mean} + {swing}*sin({rate} [1/s]*time)")
        elif kind < 0.65:
            aim, gain, reset = self.number(5, 40), self.number(0.005, 0.05), self.r.choice([0, self.number(0.1, 1)])
            self.sample, self.offset = self.number(0.01, 0.05), self.r.choice([0, 0, self.number(0.001, 0.009)])
            self.held = [0.3, 0.0]
            self.lines += ["    signal duty = 0.3;", "    signal sum = 0;", f"    every {self.sample} [s]{f' offset {self.offset} [s]' if self.offset else ''} {{",
                           f"        sum = sum + {reset*self.sample!r}*({aim} [rad/s] - w1.f)/1 [rad/s];",
                           f"        duty = min(max({gain}*({aim} [rad/s] - w1.f)/1 [rad/s] + {gain}*sum, 0.05), 0.95);", "    }"]

            def control(z, held):
                total = held[1] + reset*self.sample*(aim - z[w])
                return [min(max(gain*(aim - z[w]) + gain*held[1], 0.05), 0.95), total]
            self.control = control
            self.pwm(lambda t, held: held[0], "duty")
        else:
            low, high = (self.number(0, 2), self.number(2.5, 6)) if coil and self.maybe(0.6) else (self.number(1, 8), self.number(9, 25))
            of_current = coil and low <= 2 and high <= 6
            name, unit, entry = ("arm", "A", len(self.inertia)) if of_current else ("w1", "rad/s", w)
            down, up = (self.border(lambda t, z, x, h: low - z[entry]), self.border(lambda t, z, x, h: z[entry] - high))
            on = self.border(None)      # a flip-flop
            self.acts = {down: (on, True), up: (on, False)}
            self.flip = on
            self.lines += ["    signal on = integral(0 [1/s], 1);", f"    when {name}.f < {low} [{unit}] {{ reinit on = 1; }}",
                           f"    when {name}.f > {high} [{unit}] {{ reinit on = 0; }}", "    signal gate = on;"]
            self.level = lambda t, side: 1 if side[on] else 0

    def pwm(self, duty, text):
        period = self.number(0.004, 0.02)
        self.periods.append(period)
        k = self.border(lambda t, z, x, held: (t/period - math.floor(t/period + 1e-9)) - duty(t, held))
        self.lines += [f"    signal saw = time/{period} [s] - floor(time/{period} [s]);", f"    signal gate = if saw < {text} then 1 else 0;"]
        self.level = lambda t, side: 0 if side[k] else 1


class Apart:
    def __init__(self, model):
        self.m, n = model, len(model.inertia)
        self.inverse = 1/np.array(model.inertia)
        self.limit = self.directions()
        self.twist = np.zeros((len(model.twists), n))
        for row, (i, j, ratio) in zip(self.twist, model.twists):
            row[i] += 1
            row[j] -= ratio
        self.t, self.z, self.x = 0.0, np.array(model.start, dtype=float), np.zeros(len(model.twists))
        self.held, self.changes, self.ended = list(model.held), 0, -1
        times = {k*period for period in model.periods for k in range(int(model.stop/period) + 2)}
        self.samples = []
        if model.sample:
            self.samples = [model.offset + k*model.sample for k in range(int(model.stop/model.sample) + 2)]
        self.ends = sorted(e for e in times | set(self.samples) if e <= model.stop)
        if any(0 < b - a < 1e-7 for a, b in zip(self.ends, self.ends[1:])):
            raise PassedOver
        self.side = [True]*len(model.borders)
        self.act_on_time()

    def directions(self):
        rows = np.zeros((len(self.m.limits), len(self.m.inertia)))
        for row, ((i, j, ratio), _, _) in zip(rows, self.m.limits):
            row[i] += 1
            if j is not None:
                row[j] -= ratio
        return rows

    def act_on_time(self):
        """Samples at this instant; then all borders anew."""
        if any(abs(s - self.t) < 1e-11 for s in self.samples):
            self.held = self.m.control(self.z, self.held)
        self.take_sides(self.t == 0)
        self.mode = self.settled()

    def take_sides(self, first=False):
        before = list(self.side)
        for k, f in enumerate(self.m.borders):
            if f:
                value = f(self.t, self.z, self.x, self.held)
                if abs(value) < 1e-9 and not first:
                    continue
                self.side[k] = value > 0
        for k, (flip, to) in self.m.acts.items():
            if self.side[k] and not before[k] and not first:
                self.side[flip] = to

    def accelerations(self, t, z, x, mode):
        f = np.array([sum(q(t, z, x, self.side) for q in torques) for torques in self.m.torques], dtype=float)
        held = np.zeros(len(mode))
        for j, side in enumerate(mode):
            if side:
                held[j] = self.m.limits[j][2 if side > 0 else 1](t, self.side)
        f = f - self.limit.T @ held
        stuck = [j for j, side in enumerate(mode) if side == 0]
        if stuck:
            a = self.limit[stuck]
            matrix = a @ (self.inverse[:, None]*a.T)
            held[stuck] = np.linalg.solve(matrix, a @ (self.inverse*f))
            f = f - a.T @ held[stuck]
        return self.inverse*f, held

    def inside(self, j, t, force):
        """How far a holding force is inside of its limits."""
        return min(force - self.m.limits[j][1](t, self.side), self.m.limits[j][2](t, self.side) - force)

    def possible(self, mode):
        if self.m.chops is not None and mode[self.m.chops] == 0 and self.m.level(self.t, self.side):
            return False      # the motor would drive the source
        return all(side == 0 or math.isfinite(self.m.limits[j][2 if side > 0 else 1](self.t, self.side)) for j, side in enumerate(mode))

    def holds(self, mode, at_rest):
        a, held = self.accelerations(self.t, self.z, self.x, mode)
        away = self.limit @ a
        return all(self.inside(j, self.t, held[j]) >= -1e-9 if mode[j] == 0 else away[j]*mode[j] > -1e-9 for j in at_rest)

    def faults_ahead(self, mode, at_rest):
        t, h = self.t + AHEAD, AHEAD
        a = self.accelerations(self.t, self.z, self.x, mode)[0]
        z, x = self.z + h*a, self.x + h*(self.twist @ (self.z + h/2*a))
        held, slips = self.accelerations(t, z, x, mode)[1], self.limit @ z
        return sum(self.inside(j, t, held[j]) < 0 if mode[j] == 0 else slips[j]*mode[j] <= 0 for j in at_rest)

    def settled(self):
        slips = self.limit @ self.z
        at_rest = [j for j in range(len(slips)) if abs(slips[j]) < AT_REST]
        found = (mode for mode in modes(slips, at_rest) if self.possible(mode) and self.holds(mode, at_rest))
        return least(found, lambda mode: self.faults_ahead(mode, at_rest))

    def after(self, h):
        def rates(t, z, x):
            return self.accelerations(t, z, x, self.mode)[0], self.twist @ z
        return step(rates, self.t, (self.z, self.x), h)

    def margins(self, h):
        """Below zero: this limit, or this border, is passed."""
        z, x = self.after(h)
        t, slips = self.t + h, self.limit @ z
        held = self.accelerations(t, z, x, self.mode)[1]
        of = [self.inside(j, t, held[j]) if side == 0 else slips[j]*side for j, side in enumerate(self.mode)]
        ahead = min(t, self.until - 1e-12) if self.until in self.ends else t
        for k, f in enumerate(self.m.borders):
            value = f(ahead, z, x, self.held)*(1 if self.side[k] else -1) if f else 1
            of.append(value)
        return np.array(of)

    def passes(self, h):
        """What is to be added up over a step that is taken."""

    def change(self, h):
        high = first(lambda part: (self.margins(part) < -MARGIN).any(), h, INSTANT)
        margins, n = self.margins(high), len(self.mode)
        self.passes(high)
        at_rest = [j for j, side in enumerate(self.mode) if side == 0 or margins[j] <= AT_REST]
        self.z, self.x = self.after(high)
        self.t += high
        if at_rest:
            a = self.limit[at_rest]
            by = np.linalg.lstsq(a @ (self.inverse[:, None]*a.T), a @ self.z, rcond=None)[0]
            self.z = self.z - self.inverse*(a.T @ by)     # exactly at rest
        for k in range(len(self.m.borders)):
            if margins[n + k] < -MARGIN/2:
                self.side[k] = not self.side[k]
                if k in self.m.acts and self.side[k]:
                    self.side[self.m.acts[k][0]] = self.m.acts[k][1]
        self.changes += 1
        if self.changes > MOST:
            raise PassedOver
        self.mode = self.settled()

    def to(self, stop):
        while stop - self.t > 1e-12:
            self.until = min([e for e in self.ends if e > self.t + 1e-12] + [stop])
            h = min(self.m.step, self.until - self.t)
            if (self.margins(h) < -MARGIN).any():
                self.change(h)
            else:
                self.passes(h)
                self.z, self.x = self.after(h)
                self.t += h
            for e in self.ends:
                if abs(e - self.t) < 1e-12 and e != self.ended:
                    self.t = self.ended = e
                    self.act_on_time()


if __name__ == "__main__":
    sys.exit(main(Model, lambda model: rows_of(Apart(model), model.stop, lambda apart: apart.z)))
