#!/usr/bin/env python3
"""Random events on smooth plants (masses, circuits, heat): `when` of every form, several at one instant, samplers with held values and `previous`,
delays, pulses, chirps, tables, relays, counters, state machines with timers, ladders of thresholds, `stop when`, `max_step`; some made to coincide.
What bgc gives must be what a program apart gives, which does at each instant what grammar/LANGUAGE.md says, and goes between instants by Runge and
Kutta's method in small steps.

python3 tests/events.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds; a hundred take two minutes a solver

Models in which two instants come closer than the program tells apart, or which slide on a border, are passed over.
"""
import csv, io, math, os, random, subprocess, sys

from apart import POINTS, PassedOver, main

STEP = 0.002        # s
INSTANT = 1e-9      # s; what is closer is one instant
APART = 1e-6        # s; what is closer than this, but not one instant, is passed over
AHEAD = 1e-6        # s, looked ahead for the side of a border
ROUNDING = 1e-12    # of a condition
TOUCH = 3e-6        # of a condition: a peak that ends so near to a border is passed over
MOST = 400          # instants with events
ENDLESS = 1e-5      # of a run: events of one `when` that follow each other so soon come ever closer
NEAR_PEAK = 2e-5    # of a quantity: thresholds that its peaks pass, or do not reach, by so little
PLACES = (0, 1/3, 2/3, 1)   # of a step, at which delayed quantities are kept


class E:
    """An expression: in the language of models, and in Python over t, x (states), h (held values), d (delayed values), m (conditions)."""

    def __init__(self, bg, py=None):
        self.bg, self.py = bg, py or bg

    def __add__(self, b):
        return E(f"({self.bg} + {b.bg})", f"({self.py} + {b.py})")

    def __mul__(self, b):
        return E(f"{self.bg}*{b.bg}", f"{self.py}*{b.py}")


def number(v):
    return E(f"({v!r})")


TIME = E("time", "t")


class Model:
    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.stop = r.choice([2, 3, 4])
        self.lines, self.names, self.start, self.rates, self.held, self.held_start = [], [], [], [], [], []
        self.conditions = []    # (expression, which values are above it)
        self.delays = []        # (expression, by, before)
        self.instants = set()   # at which something that time alone determines changes
        self.files = {}
        self.blocks = []        # ("when", condition, sets) or ("every", period, offset, sets), in the order of the text
        self.smooth = []        # states with a rate that moves them (no ramps)
        self.signals = []       # that conditions switch: number, condition, both values
        self.ends = None        # of `stop when`: a condition
        self.some_held()
        for _ in range(r.randint(1, 2)):
            self.some_plant()
        if r.random() < 0.4:
            self.stop += 0.03      # rows beside the instants that coincide
            for _ in range(r.randint(1, 2)):
                self.ramp()
        for _ in range(r.randint(1, 4)):
            self.some_block()
        r.shuffle(self.blocks)
        if r.random() < 0.3:
            self.ladder()
        if r.random() < 0.15:
            self.ends = self.some_condition()
        if r.random() < 0.3:
            self.near_peaks()
        self.finish()

    # ---- parts ----

    def n(self, a, b):
        return round(self.r.uniform(a, b), 3)

    def x(self, i):
        return E(self.names[i], f"x[{i}]")

    def h(self, i):
        return E(f"h{i}", f"h[{i}]")

    def state(self, name, start, smooth=True):
        self.names.append(name)
        self.start.append(start)
        self.rates.append(None)
        if smooth:
            self.smooth.append(len(self.names) - 1)
        return len(self.names) - 1

    def some_held(self):
        for i in range(self.r.randint(2, 4)):
            self.held.append(f"h{i}")
            self.held_start.append(self.r.choice([0, 0, 1, self.n(-1, 1)]))

    def condition(self, left, op, right):
        """A comparison whose border is left = right."""
        k = len(self.conditions)
        self.conditions.append((f"{left.py} - ({right.py})", op))
        return E(f"{left.bg} {op} {right.bg}", f"m[{k}]")

    def border(self):
        return number(self.n(-0.8, 0.8))

    def some_comparison(self):
        r, kind = self.r, self.r.random()
        op = r.choice(["<", ">", "<", ">", "<=", ">="])
        if kind < 0.5:
            left = self.x(r.choice(self.smooth))
            if kind < 0.15:
                left = E(f"abs({left.bg})", f"abs({left.py})")
                return self.condition(left, op, number(self.n(0.1, 0.8)))
            if kind < 0.25 and len(self.smooth) > 1:
                return self.condition(left, op, self.x(r.choice([i for i in self.smooth if self.names[i] != left.bg])))
            return self.condition(left, op, self.border())
        if kind < 0.62:
            at = r.choice([self.n(0.1, self.stop), r.randint(1, 4*int(self.stop) - 1)/4])
            self.instants.add(at)
            return self.condition(TIME, op, number(at))
        if kind < 0.75:
            i = r.randrange(len(self.held))
            of = self.h(i) if r.random() < 0.7 else E(f"floor({self.h(i).bg}/2)", f"floor({self.h(i).py}/2)")
            return self.condition(of, r.choice([op, op, "==", "!="]), number(r.choice([0, 1, 2, 0.5, self.n(-1, 1)])))
        if kind < 0.85:  # a timer, or a held threshold
            i = r.randrange(len(self.held))
            if r.random() < 0.5:
                return self.condition(self.x(r.choice(self.smooth)), op, self.h(i))
            return self.condition(TIME, op, self.h(i) + number(self.n(0.2, 0.7)))
        if kind < 0.9:
            return self.condition(self.some_delay(), op, self.border())
        if kind < 0.97:
            return self.condition(self.some_signal(), op, number(r.choice([0, 1, 0.5])))
        w = self.n(2, 9)
        return self.condition(E(f"sin({w}*time)", f"sin({w}*t)"), op, self.border())

    def some_signal(self):
        """One that a condition switches, and that other conditions and values read."""
        if not self.signals or len(self.signals) < 3 and self.r.random() < 0.6:
            choice, (a, b) = self.some_condition(), self.r.choice([(1, 0), (0, 1), (2, 1), (-1, 1)])
            k = len(self.signals)
            self.signals.append((k, choice, a, b))
            self.lines.append(f"    signal g{k} = if {choice.bg} then {a} else {b};")
        k, choice, a, b = self.r.choice(self.signals)
        return E(f"g{k}", f"({a} if {choice.py} else {b})")

    def some_condition(self):
        a, kind = self.some_comparison(), self.r.random()
        if kind < 0.6:
            return a
        if kind < 0.7:
            return E(f"not ({a.bg})", f"(not {a.py})")
        b = self.some_comparison()
        word = "and" if kind < 0.9 else "or"
        return E(f"({a.bg}) {word} ({b.bg})", f"({a.py} {word} {b.py})")

    def some_delay(self):
        r = self.r
        by = r.choice([0.25, 0.5, self.n(0.05, 0.9)])
        kind = r.random()
        of = self.x(r.choice(self.smooth)) if kind < 0.6 else self.h(r.randrange(len(self.held)))
        if kind > 0.85:
            of = of + number(self.n(-1, 1))*self.x(r.choice(self.smooth))
        before = self.n(-1, 1) if r.random() < 0.4 else None
        k = len(self.delays)
        self.delays.append((of.py, by, before))
        return E(f"delay({of.bg}, {by}{'' if before is None else f', {before}'})", f"d[{k}]")

    def some_input(self, mine):
        """What drives a plant whose states are `mine`."""
        r, kind, a = self.r, self.r.random(), number(self.n(-2, 2))
        others = [i for i in self.smooth if i not in mine]
        if kind < 0.2:
            w, p = self.n(0.5, 7), self.n(0, 6)
            return a*E(f"sin({w}*time + {p})", f"sin({w}*t + {p})")
        if kind < 0.3:
            c = self.n(0.5, 3)
            return a*E(f"sin({c}*time*time)", f"sin({c}*t*t)")
        if kind < 0.42:
            at = r.choice([self.n(0.1, self.stop - 0.2), r.randint(1, 4*int(self.stop) - 1)/4])
            long = r.choice([0.25, 0.001, 0.01, self.n(0.05, 0.4)])
            by = number(self.n(1, 3) if long > 0.02 else 2/long)
            self.instants |= {at, at + long}
            return E(f"(if time >= {at} and time < {at + long!r} then {by.bg} else 0)", f"({by.py} if {at} <= t + tiny < {at + long!r} else 0)")
        if kind < 0.52:
            period, part = r.choice([0.25, 0.5, self.n(0.2, 0.9)]), r.choice([0.5, 0.25, self.n(0.1, 0.9)])
            for k in range(int((self.stop + 1)/period) + 2):
                self.instants |= {k*period, (k + part)*period}
            return a*E(f"(if mod(time, {period})/{period} < {part} then 1 else 0)", f"(1 if (t + tiny)/{period} % 1 < {part} else 0)")
        if kind < 0.62:
            name, t = f"t{len(self.files)}.csv", 0
            points = []
            while t < self.stop + 0.5:
                points.append((round(t, 4), self.n(-1, 1)))
                t += r.choice([0.25, 0.5, self.n(0.02, 0.6)])
            self.files[name] = "t,v\n" + "".join(f"{p},{v}\n" for p, v in points)
            self.instants |= {p for p, _ in points}
            return a*E(f"table(\"{name}\", 2, time)", f"line({points!r}, t)")
        if kind < 0.75:
            return a*self.h(r.randrange(len(self.held)))
        if kind < 0.87 and others:
            c = self.condition(self.x(r.choice(others)), r.choice("<>"), self.border())
            u, v = self.n(-1, 1), self.n(-1, 1)
            return E(f"(if {c.bg} then {u} else {v})", f"({u} if {c.py} else {v})")
        return a*self.some_delay()

    def some_inputs(self, mine):
        u = self.some_input(mine)
        return u + self.some_input(mine) if self.r.random() < 0.5 else u

    def some_plant(self):
        r, k, kind = self.r, len(self.lines), self.r.random()
        c, m, d = self.n(0.05, 0.5), self.n(0.3, 1.5), self.n(0.02, 1)
        if kind < 0.5:     # a mass
            q, p = self.state(f"s{k}.q", self.n(-0.5, 0.5)), self.state(f"m{k}.p", self.n(-0.5, 0.5))
            cubic = self.n(0.5, 4) if r.random() < 0.3 else 0
            u = self.some_inputs((q, p))
            self.lines.append(f"    1:v{k} -> I:m{k} = {m} {{ p(0) = {self.start[p]}; }} v{k} -> R:r{k} = {d}; MSe:f{k} = {u.bg} -> v{k};\n"
                              f"    v{k} -> C:s{k} {{ e = q/{c} + {cubic}*q^3; q(0) = {self.start[q]}; }}")
            self.rates[q] = f"x[{p}]/{m}"
            self.rates[p] = f"{u.py} - x[{q}]/{c} - {cubic}*x[{q}]**3 - {d}*x[{p}]/{m}"
        elif kind < 0.75:  # a coil, a capacitor, a load
            q, p = self.state(f"c{k}.q", self.n(-0.5, 0.5)), self.state(f"l{k}.p", self.n(-0.5, 0.5))
            load = self.n(0.5, 5)
            u = self.some_inputs((q, p))
            self.lines.append(f"    MSe:u{k} = {u.bg} -> 1:i{k} -> I:l{k} = {m} {{ p(0) = {self.start[p]}; }} i{k} -> R:w{k} = {d};\n"
                              f"    i{k} -> 0:n{k} -> C:c{k} = {c} {{ q(0) = {self.start[q]}; }} n{k} -> R:o{k} = {load};")
            self.rates[q] = f"x[{p}]/{m} - x[{q}]/{c*load!r}"
            self.rates[p] = f"{u.py} - {d}*x[{p}]/{m} - x[{q}]/{c}"
        else:              # two cells of heat, or of anything that leaks
            a, b = self.state(f"a{k}.q", self.n(-0.5, 0.5)), self.state(f"b{k}.q", self.n(-0.5, 0.5))
            between, out = self.n(0.3, 2), self.n(0.3, 2)
            u = self.some_inputs((a, b))
            self.lines.append(f"    MSf:j{k} = {u.bg} -> 0:na{k} -> C:a{k} = {c} {{ q(0) = {self.start[a]}; }} na{k} -> 1:g{k} -> 0:nb{k}; "
                              f"g{k} -> R:rg{k} = {between};\n    nb{k} -> C:b{k} = {m} {{ q(0) = {self.start[b]}; }} nb{k} -> R:ro{k} = {out};")
            flow = f"(x[{a}]/{c} - x[{b}]/{m})/{between}"
            self.rates[a] = f"{u.py} - {flow}"
            self.rates[b] = f"{flow} - x[{b}]/{m}/{out}"

    def ramp(self):
        """A state that goes in step with time, so that its events coincide with samples and clocks."""
        rate, start = self.r.choice([1, 0.5, -1, 2]), self.r.choice([0, 0.5, -1])
        i = self.state(f"y{len(self.names)}", start, False)
        self.rates[i] = f"{rate}"
        self.lines.append(f"    signal {self.names[i]} = integral({rate} + 0*time, {start});")
        for _ in range(self.r.randint(1, 2)):
            at = self.r.randint(1, 4*int(self.stop) - 1)/4
            c = self.condition(self.x(i), self.r.choice(["<", ">", "<=", ">="]), number(start + rate*at))
            sets = self.some_sets()
            if self.r.random() < 0.3:
                sets.append((E(self.names[i], f"x[{i}]"), number(start)))
            self.blocks.append(("when", c, sets))
            self.instants.add(at)

    def some_value(self, sampled):
        """Of what a block sets."""
        r, kind = self.r, self.r.random()
        names = [self.h(i) for i in range(len(self.held))] + [self.x(i) for i in self.smooth]   # no ramps: they are zero by rounding
        a = r.choice(names)
        if kind < 0.15:
            return number(r.choice([0, 1, self.n(-1, 1)]))
        if kind < 0.4:
            return number(self.n(-0.8, 0.8))*a + number(self.n(-0.5, 0.5))*r.choice(names)
        if kind < 0.5:
            return E(f"max(-1, min(1, {a.bg}))", f"max(-1, min(1, {a.py}))")
        if kind < 0.6 and sampled:
            b = r.choice(names)
            return number(0.5)*E(f"previous({a.bg})", a.py.replace("x[", "lx[")) + number(0.3)*b
        if kind < 0.66 and sampled:
            seed, word = r.randint(1, 4), r.choice(["noise", "uniform"])
            return number(0.3)*E(f"{word}({seed})", f"draw('{word}', {seed}, k)")
        if kind < 0.75:
            return number(0.5)*self.some_delay()
        if kind < 0.85:
            at = self.n(-0.5, 0.5)
            b, c = r.choice(names), r.choice(names)
            return E(f"(if {a.bg} > {at} then 0.4*{b.bg} else -0.3*{c.bg})", f"(0.4*{b.py} if {a.py} > {at} else -0.3*{c.py})")
        if kind < 0.88:
            return E("time", "t")
        if kind < 0.93:
            word = r.choice(["abs", "sign"])
            b = self.h(r.randrange(len(self.held)))
            return number(0.4)*E(f"{word}({b.bg} + 0.013)", f"{word}({b.py} + 0.013)")
        if kind < 0.97:
            return number(0.7)*self.some_signal()
        return E(f"mod({a.bg} + 1, 3)", f"(({a.py} + 1) % 3)")

    def some_sets(self, sampled=False):
        r = self.r
        sets = []
        for i in r.sample(range(len(self.held)), r.randint(1, 2)):
            kind = r.random()
            value = self.h(i) + number(1) if kind < 0.5 and not sampled else self.some_value(sampled)
            sets.append((self.h(i), value))
        if r.random() < 0.35:
            i = r.choice(self.smooth)
            sets.append((self.x(i), number(self.n(-0.9, 0.9))*self.x(i) if r.random() < 0.6 else number(0.5)*self.some_value(sampled)))
        return sets

    def some_block(self):
        r, kind = self.r, self.r.random()
        if kind < 0.35:
            period = r.choice([0.25, 0.5, 0.1, 0.05, self.n(0.03, 0.6)])
            offset = r.choice([0, 0, 0.25, self.n(0.01, 0.5)])
            self.blocks.append(("every", period, offset, self.some_sets(True)))
        elif kind < 0.5:   # the same condition twice, in other words
            i, at = r.choice(self.smooth), self.border()
            for op in r.choice([(">", ">"), (">", ">="), (">", "<"), ("<", "<=")]):
                self.blocks.append(("when", self.condition(self.x(i), op, at), self.some_sets()))
        elif kind < 0.6:   # hysteresis
            i, at, k = r.choice(self.smooth), self.n(-0.3, 0.3), r.randrange(len(self.held))
            self.blocks.append(("when", self.condition(self.x(i), ">", number(at + 0.1)), [(self.h(k), number(-1))]))
            self.blocks.append(("when", self.condition(self.x(i), "<", number(at - 0.1)), [(self.h(k), number(1))]))
        else:
            self.blocks.append(("when", self.some_condition(), self.some_sets()))

    def ladder(self):
        i, n = self.r.choice(self.smooth), self.r.randint(10, 40)
        first, by, op = self.n(-1, -0.3), self.n(0.03, 0.1), self.r.choice("<>")
        self.held.append(f"h{len(self.held)}")
        self.held_start.append(0)
        k = len(self.held) - 1
        for j in range(n):
            c = self.condition(self.x(i), op, number(first + by*j))
            self.blocks.append(("when", c, [(self.h(k), self.h(k) + number(1))]))

    # ---- the text, and the functions of the program apart ----

    def near_peaks(self):
        """Counts that change nothing else: of thresholds that a peak of the run passes, or does not reach, by little."""
        try:
            peaks = Apart(self).peaks()
        except PassedOver:
            return
        self.held.append(f"h{len(self.held)}")
        self.held_start.append(0)
        k = len(self.held) - 1
        for i, peak, up in self.r.sample(peaks, min(len(peaks), self.r.randint(1, 6))):
            at = peak + self.r.choice([-1, -1, 1])*NEAR_PEAK*max(1, abs(peak))*self.r.choice([1, 1, 3])*(1 if up else -1)
            self.blocks.append(("when", self.condition(self.x(i), ">" if up else "<", number(at)), [(self.h(k), self.h(k) + number(1))]))

    def finish(self):
        text = ["model events {"] + [f"    signal {n} = {s};" for n, s in zip(self.held, self.held_start)] + self.lines
        for block in self.blocks:
            sets = " ".join(f"{to.bg} = {value.bg};" for to, value in block[-1])
            if block[0] == "when":
                text.append(f"    when {block[1].bg} {{ {sets} }}")
            else:
                text.append(f"    every {block[1]}{f' offset {block[2]}' if block[2] else ''} {{ {sets} }}")
        self.outputs = [self.x(i) for i in range(len(self.names))] + [self.h(i) for i in range(len(self.held))]
        text += [f"    output o{i} = {e.bg};" for i, e in enumerate(self.outputs)]
        items = [f"stop = {self.stop};"] + ([f"stop when {self.ends.bg};"] if self.ends else [])
        if self.r.random() < 0.2:
            items.append(f"max_step = {self.n(0.01, 0.2)};")
        self.text = "\n".join(text + ["}", f"experiment run of events {{ {' '.join(items)} }}", ""])

    def function(self, of, args="t, x, h, d, m"):
        scope = {"sin": math.sin, "floor": math.floor, "sign": lambda v: (v > 0) - (v < 0), "line": line, "tiny": INSTANT, "draw": drawn}
        exec(f"def f({args}):\n    return [{', '.join(of)}]", scope)
        return scope["f"]


def line(points, t):
    for (a, v), (b, w) in zip(points, points[1:]):
        if t <= b:
            return v + (w - v)*(t - a)/(b - a)
    return points[-1][1]


DRAWN = {}


def drawn(word, seed, k):
    """The number of the k-th sample: bgc's own, from a model without anything else, since a number depends on seed and count only."""
    if (word, seed) not in DRAWN:
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"draw{os.getpid()}.bg")
        with open(path, "w") as f:
            f.write(f"model m {{ signal a = 0; every 1 {{ a = {word}({seed}); }} output o = a; signal y = integral(1); output z = y; }}\n"
                    "experiment e of m { stop = 150; }\n")
        r = subprocess.run([os.path.abspath(sys.argv[1]), "run", path, "--points", "151"], capture_output=True, text=True)
        os.remove(path)
        DRAWN[word, seed] = [float(row[1]) for row in list(csv.reader(io.StringIO(r.stdout)))[1:]]
    return DRAWN[word, seed][k]


OPS = {"<": lambda g: g < 0, ">": lambda g: g > 0, "<=": lambda g: g <= 0, ">=": lambda g: g >= 0, "==": lambda g: g == 0,
       "!=": lambda g: g != 0}


class Apart:
    """The run of a model by the other program."""

    def __init__(self, model):
        m = self.m = model
        self.t, self.x, self.h = 0.0, list(model.start), list(model.held_start)
        self.rate_of = m.function(m.rates)
        self.g_of = m.function([g for g, _ in m.conditions])
        self.delayed = m.function([of for of, _, _ in m.delays])
        self.whens = m.function([b[1].py if b[0] == "when" else "False" for b in m.blocks] + ([m.ends.py] if m.ends else []))
        self.values = [m.function([v.py for _, v in b[-1]], "t, x, h, d, m, lx, k") for b in m.blocks]
        self.taken = [0]*len(m.blocks)
        self.fired = [-1.0]*len(m.blocks)
        self.last = [None]*len(m.blocks)
        self.breaks = sorted(b for b in m.instants if INSTANT < b < m.stop + 1)
        self.pieces = []       # of the past: from, to, delayed quantities at PLACES
        self.mode = [False]*len(m.conditions)
        self.events, self.ended = 0, None
        self.before = None
        before = [b for _, _, b in m.delays]
        for _ in range(3):     # what is delayed may be delayed again
            self.before = before
            now = self.delayed(0.0, self.x, self.h, self.d_at(0.0, True), self.mode)
            before = [now[i] if b is None else b for i, (_, _, b) in enumerate(m.delays)] if self.before else before
        self.begin()

    # ---- between instants ----

    def d_at(self, t, right=None):
        """Delayed values; right: those just behind a jump, at an instant."""
        of = []
        for i, (_, by, _) in enumerate(self.m.delays):
            s = t - by + (INSTANT if right else -INSTANT if right is False else 0)
            of.append(self.past(i, s) if s > 0 else (self.before or [0]*len(self.m.delays))[i] or 0.0)
        return of

    def past(self, i, s):
        low, high = 0, len(self.pieces) - 1
        while low < high:
            middle = (low + high)//2
            low, high = (low, middle) if s <= self.pieces[middle][1] else (middle + 1, high)
        a, b, values = self.pieces[low]
        u, v = (s - a)/(b - a), [w[i] for w in values]
        return sum(v[j]*math.prod((u - PLACES[q])/(PLACES[j] - PLACES[q]) for q in range(4) if q != j) for j in range(4))

    def inside(self, t):
        """Delayed values within a step, between its ends, which instants may be."""
        low, high = self.t + 2*INSTANT, self.until - 2*INSTANT
        return self.d_at(min(max(t, low), high)) if high > low else self.d_at((self.t + self.until)/2)

    def rate(self, t, x):
        inner = min(max(t, self.t + 2*INSTANT), max(self.until - 2*INSTANT, self.t))
        return self.rate_of(inner, x, self.h, self.inside(t) if self.m.delays else (), self.mode)

    def after(self, dt):
        t, x = self.t, self.x
        if dt == 0:
            return list(x)

        def moved(by, rate):
            return [p + by*q for p, q in zip(x, rate)]
        a = self.rate(t, x)
        b = self.rate(t + dt/2, moved(dt/2, a))
        c = self.rate(t + dt/2, moved(dt/2, b))
        e = self.rate(t + dt, moved(dt, c))
        return [v + dt/6*(p + 2*q + 2*u + w) for v, p, q, u, w in zip(x, a, b, c, e)]

    def g(self, dt):
        t, x = self.t + dt, self.after(dt)
        return self.g_of(t, x, self.h, self.inside(t) if self.m.delays else (), self.mode)

    def margins(self, dt):
        return [v*s for v, s in zip(self.g(dt), self.side)]

    def set_sides(self):
        self.side = [0 if op in ("==", "!=") else 1 if OPS[op](1) == mode else -1 for (_, op), mode in zip(self.m.conditions, self.mode)]

    def step(self, limit):
        """One step, up to the first condition that turns or to limit; the conditions that turned."""
        h = min(STEP, limit - self.t)
        if limit - self.t - h < 2*INSTANT:
            h = limit - self.t
        self.until = self.t + h if self.t + h < limit - INSTANT else limit
        a, b, c = self.margins(0), self.margins(h/2), self.margins(h)
        first, turned = h, []
        for k in range(len(a)):
            if c[k] < -ROUNDING or b[k] < -ROUNDING:
                high = h if b[k] >= -ROUNDING else h/2
                turned.append((self.crossing(k, 0.0 if high < h else h/2, high), k))
            elif a[k] > 0 and a[k] - 2*b[k] + c[k] > ROUNDING:
                fall, bend = 3*a[k] - 4*b[k] + c[k], a[k] - 2*b[k] + c[k]
                bottom = h/4*fall/bend
                if 0 < bottom < h and a[k] - fall*fall/8/bend < TOUCH:
                    low = self.margins(bottom)[k]
                    if abs(low) < TOUCH:
                        raise PassedOver
                    if low < 0:
                        turned.append((self.crossing(k, 0.0, bottom), k))
        if turned:
            first = min(turned)[0]
            if any(INSTANT < at - first < APART for at, _ in turned) or INSTANT < limit - (self.t + first) < APART:
                raise PassedOver
        end = limit if limit - (self.t + first) <= INSTANT else self.t + first
        x = self.after(end - self.t)
        if self.m.delays:
            values = []
            for place in PLACES:
                t = self.t + place*(end - self.t)
                values.append(self.delayed(t, self.after(place*(end - self.t)), self.h, self.inside(t), self.mode))
            self.pieces.append((self.t, end, values))
        self.t, self.x = end, x
        return [k for at, k in turned if at <= first + INSTANT]

    def crossing(self, k, low, high):
        while high - low > 1e-14:
            middle = (low + high)/2
            low, high = (low, middle) if self.margins(middle)[k] < 0 else (middle, high)
        return high

    # ---- at an instant ----

    def begin(self):
        """What is true at the start has not turned true, unless time alone makes it so at that instant."""
        m = self.m
        for _ in range(5):     # as some read others
            exactly = self.g_of(0.0, self.x, self.h, self.before or (), self.mode)
            just_before = self.g_of(-INSTANT, self.x, self.h, self.before or (), self.mode)
            self.mode = [OPS[op](b if b != e else e) for (_, op), e, b in zip(m.conditions, exactly, just_before)]
        self.was = self.whens(0.0, self.x, self.h, self.before or (), self.mode)
        self.instant()

    def right(self, jumped):
        """Sets each condition as it is just after now."""
        self.until = self.t + 1
        for _ in range(12):
            d = self.d_at(self.t, True) if self.m.delays else ()
            now = self.g_of(self.t, self.x, self.h, d, self.mode)
            x = self.x
            rates = self.rate_of(self.t + 2*INSTANT, x, self.h, d, self.mode)
            ahead = self.g_of(self.t + AHEAD, [p + AHEAD*q for p, q in zip(x, rates)], self.h, self.d_at(self.t + AHEAD) if self.m.delays else (),
                              self.mode)
            mode = []
            for k, (_, op) in enumerate(self.m.conditions):
                if abs(now[k]) > 1e-9:
                    mode.append(OPS[op](now[k]))
                elif abs(ahead[k] - now[k]) > 1e-11:
                    mode.append(OPS[op](ahead[k] - now[k]))
                elif abs(now[k]) > 0 and not jumped:
                    mode.append(self.mode[k])
                elif now[k] != 0:
                    raise PassedOver
                else:
                    mode.append(OPS[op](0))
            if mode == self.mode:
                return
            self.mode = mode
        raise PassedOver

    def follow(self, moved):
        """Sets the conditions that the blocks before have moved as they are now, not as they will be just after."""
        d = self.d_at(self.t, True) if self.m.delays else ()
        for _ in range(5 if moved else 0):
            now = self.g_of(self.t, self.x, self.h, d, self.mode)
            for k, (_, op) in enumerate(self.m.conditions):
                if abs(now[k] - self.seen[k]) > 1e-9:
                    self.mode[k] = OPS[op](now[k] if abs(now[k]) > 1e-12 else 0)
        self.seen = self.g_of(self.t, self.x, self.h, d, self.mode)

    def instant(self):
        """Samples that are due and conditions that have turned true act in the order of the text, those that this turns true after them."""
        m, due = self.m, []
        for b, block in enumerate(m.blocks):
            if block[0] == "every" and abs(block[2] + self.taken[b]*block[1] - self.t) < INSTANT:
                due.append(b)
        jumped = False
        for _ in range(30):
            self.right(jumped)
            d = self.d_at(self.t, True) if m.delays else ()
            now = self.whens(self.t, self.x, self.h, d, self.mode)
            acting = [b for b in range(len(m.blocks)) if b in due or (now[b] and not self.was[b])]
            if m.ends and now[-1] and not self.was[-1]:
                self.ended = self.t
            self.was = now
            if not acting:
                break
            self.events += len([b for b in acting if b not in due])
            if self.events > MOST:
                raise PassedOver
            for b in acting:
                every = m.blocks[b][0] == "every"
                self.follow(b != acting[0])
                if not every and INSTANT < self.t - self.fired[b] < ENDLESS*m.stop:
                    raise PassedOver
                self.fired[b] = self.t
                d = self.d_at(self.t, True) if m.delays else ()
                before = self.x
                values = self.values[b](self.t, self.x, self.h, d, self.mode, self.last[b] or before, self.taken[b])
                if any(abs(v) > 1e4 for v in values):
                    raise PassedOver
                x, h = list(self.x), list(self.h)
                for (to, _), v in zip(m.blocks[b][-1], values):
                    which, i = to.py.rstrip("]").split("[")
                    (x if which == "x" else h)[int(i)] = v
                if every:
                    self.taken[b] += 1
                    self.last[b] = before
                self.x, self.h = x, h
            jumped, due = True, []
        else:
            raise PassedOver
        self.set_sides()
        if m.delays:    # what jumps now, or has a corner, comes back
            self.mark(self.t, 4)

    def mark(self, t, levels):
        new = {t}
        for _ in range(levels):
            new = {s + by for s in new for _, by, _ in self.m.delays if s + by < self.m.stop}
            for s in new:
                if not any(abs(s - b) < INSTANT for b in self.breaks):
                    if any(abs(s - b) < APART for b in self.breaks):
                        raise PassedOver
                    self.breaks.append(s)
        self.breaks.sort()
        if len(self.breaks) > 4000:
            raise PassedOver

    def next_break(self):
        of = [b for b in self.breaks if b > self.t + INSTANT][:1] + [self.m.stop + 1]
        of += [b[2] + self.taken[i]*b[1] for i, b in enumerate(self.m.blocks) if b[0] == "every"]
        return min(of)

    def to(self, until):
        while until - self.t > INSTANT and self.ended is None:
            known = self.next_break()
            limit = min(known, until)
            if INSTANT < known - limit < APART:
                raise PassedOver
            turned = self.step(limit)
            if turned or self.t >= known - INSTANT:
                self.instant()

    def columns(self):
        return self.x + self.h

    def peaks(self):
        """Of smooth quantities: which, the value, a greatest or a least one."""
        found, last = [], []
        while self.t < self.m.stop - INSTANT and self.ended is None:
            self.to(min(self.t + 0.5*STEP, self.m.stop))
            last = (last + [(self.events, list(self.x))])[-3:]
            if len(last) < 3 or last[0][0] != last[2][0]:
                continue
            for i in self.m.smooth:
                a, b, c = (x[i] for _, x in last)
                if (b - a)*(b - c) > 0:
                    found.append((i, b - (c - a)**2/(8*(a - 2*b + c)), b > a))
        return found


def rows_of(model):
    apart, rows = Apart(model), []
    for k in range(POINTS):
        apart.to(model.stop*k/(POINTS - 1))
        rows.append(list(apart.columns()))
        if apart.ended is not None:
            break
    return rows


if __name__ == "__main__":
    sys.exit(main(Model, rows_of))
