#!/usr/bin/env python3
"""Random logic: signals that read clocks, shifted clocks, states and one another, in rates and as the gate of two ideal switches on a stiff source.
What bgc gives must be what a program apart gives, which evaluates the signals in their order after each switching and goes between switchings by
Runge and Kutta's method in small steps.

python3 tests/logic.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds; a hundred take a minute and a half a solver

Models whose logic leads back to a border that it has just left (they slide, or switch without end) are passed over.
"""
import math, random, sys

from apart import POINTS, PassedOver, first, main, rows_of, step

INSTANT = 1e-9    # s; what is closer is one instant
STEP = 0.005      # s
AHEAD = 1e-6      # s, looked ahead for a border to which the solution goes back
MOST = 300        # switchings
SUPPLY, LOAD, COIL = 10, 0.5, 1   # V, ohm, H of the switched leg

COMPARISONS = {"==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, ">": lambda a, b: a > b,
               "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b}


class Choice:
    """A condition of the text, and its value over the borders (passed or not) and the signals."""

    def __init__(self, text, value):
        self.text, self.value = text, value


class Model:
    """States x0 ... and the current of a coil behind two switches; borders are where a state or a clock passes a number."""

    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.n = r.randint(1, 3)
        self.start = [self.number(-1, 1) for _ in range(self.n)] + [0.0]
        self.clocks, self.borders, self.signals, self.rates = [], [], [], []
        self.stop = self.number(2.5, 5)
        lines = ["model logic {", "    signal now = time/1 [s];"] + self.some_clocks()
        logic = [self.some_signal(k) for k in range(r.randint(2, 6))]
        if r.random() < 0.4:
            r.shuffle(logic)      # a signal may stand before those that it reads
        lines += logic
        for i in range(self.n):
            lines.append(f"    signal x{i} = integral(({self.some_rate(i)})/1 [s], {self.start[i]});")
        lines += self.leg()
        lines += [f"    output y{i} = x{i};" for i in range(self.n)] + [f"    output y{self.n} [A] = coil.f;"]
        self.text = "\n".join(lines + ["}", f"experiment run of logic {{ stop = {self.stop} [s]; }}", ""])

    def number(self, a, b):
        return round(self.r.uniform(a, b), 3)

    def some_clocks(self):
        """Sawtooths from 0 to 1: by their period and shift, in periods."""
        r, lines = self.r, []
        for k in range(r.randint(1, 2)):
            period = self.number(0.4, 1.3)
            self.clocks.append((period, 0))
            lines.append(f"    signal c{k} = now/{period} - floor(now/{period});")
        for k in range(len(self.clocks), len(self.clocks) + r.randint(0, 2)):
            of = r.randrange(k)
            period, by = self.clocks[of]
            shift = r.choice([0.25, 0.5, 0.125, self.number(0.05, 0.9)])
            self.clocks.append((period, by + shift))
            lines.append(f"    signal c{k} = c{of} - {shift} - floor(c{of} - {shift});")
        return lines

    def some_border(self):
        r, k = self.r, len(self.borders)
        if r.random() < 0.5:
            i, at = r.randrange(self.n + 1), self.number(-0.6, 0.6)
            self.borders.append(("state", i, at))
            name = f"x{i}" if i < self.n else "coil.f/1 [A]"
        else:
            i, at = r.randrange(len(self.clocks)), r.choice([0.5, self.number(0.1, 0.9)])
            self.borders.append(("clock", i, at))
            name = f"c{i}"
        if r.random() < 0.5:
            return Choice(f"{name} > {at}", lambda passed, s: passed[k])
        return Choice(f"{name} < {at}", lambda passed, s: not passed[k])

    def some_choice(self, signals):
        r, kind = self.r, self.r.random()
        if signals == 0 or kind < 0.35:
            return self.some_border()
        if kind < 0.85:
            k, word, number = r.randrange(signals), r.choice(list(COMPARISONS)), r.choice([0, 1, 1, 2, 0.5])
            return Choice(f"s{k} {word} {number}", lambda passed, s: COMPARISONS[word](s[k], number))
        a, b = self.some_choice(signals), self.some_choice(signals)
        if r.random() < 0.5:
            return Choice(f"({a.text}) and ({b.text})", lambda passed, s: a.value(passed, s) and b.value(passed, s))
        return Choice(f"({a.text}) or ({b.text})", lambda passed, s: a.value(passed, s) or b.value(passed, s))

    def some_signal(self, k):
        r, kind = self.r, self.r.random()
        a, b = (r.randrange(k), r.randrange(k)) if k else (0, 0)
        if k and kind < 0.2:
            self.signals.append(lambda passed, s: 1 - s[a])
            return f"    signal s{k} = 1 - s{a};"
        if k and kind < 0.35:
            self.signals.append(lambda passed, s: s[a] + s[b])
            return f"    signal s{k} = s{a} + s{b};"
        if k and kind < 0.45:
            self.signals.append(lambda passed, s: s[a] - 2*math.floor(s[a]/2))
            return f"    signal s{k} = s{a} - 2*floor(s{a}/2);"
        choice, (yes, no) = self.some_choice(k), r.choice([(1, 0), (0, 1), (2, 0), (1, 2), (0, 2)])
        self.signals.append(lambda passed, s: yes if choice.value(passed, s) else no)
        return f"    signal s{k} = if {choice.text} then {yes} else {no};"

    def some_rate(self, i):
        r, decay = self.r, self.number(0.2, 1.2)
        terms, text = [lambda x, passed, s: -decay*x[i]], f"-{decay}*x{i}"
        for j in set(range(self.n)) - {i}:
            by = self.number(-1.5, 1.5)
            terms.append(lambda x, passed, s, by=by, j=j: by*x[j])
            text += f" + ({by})*x{j}"
        for _ in range(r.randint(1, 2)):
            if r.random() < 0.3:
                k, by = r.randrange(len(self.signals)), self.number(-1, 1)
                terms.append(lambda x, passed, s, k=k, by=by: by*s[k])
                text += f" + ({by})*s{k}"
            else:
                choice, yes, no = self.some_choice(len(self.signals)), self.number(-1, 1), self.number(-1, 1)
                terms.append(lambda x, passed, s, choice=choice, yes=yes, no=no: yes if choice.value(passed, s) else no)
                text += f" + (if {choice.text} then {yes} else {no})"
        self.rates.append(terms)
        return text

    def leg(self):
        """One of two switches is closed: source and coil, or coil and ground."""
        gate, k = self.some_choice(len(self.signals)), len(self.signals)
        high, low = self.r.choice([(f"s{k} > 0", f"s{k + 1} > 0"), (f"s{k} == 1", f"s{k} == 0"), (f"s{k} > 0.5", f"s{k} < 0.5"),
                                   (f"s{k} >= 1", f"not (s{k} >= 1)")])
        one, other = self.r.choice(["Se", "Sf"]), self.r.choice(["Se", "Sf"])
        self.rates.append([lambda x, passed, s: (SUPPLY*bool(gate.value(passed, s)) - LOAD*x[self.n])/COIL])
        return [f"    signal s{k} = if {gate.text} then 1 else 0;", f"    signal s{k + 1} = 1 - s{k};",
                f"    Se:supply = {SUPPLY} [V] -> 0:bus -> 1:upper -> 0:middle -> 1:lower;",
                f"    upper -> {one}:closer such that if {high} then closer.e else closer.f;",
                f"    lower -> {other}:opener such that if {low} then opener.e else opener.f;",
                f"    middle -> 1:coil -> R:load = {LOAD} [ohm];", f"    coil -> I:winding = {COIL} [H];"]


class Apart:
    """The run of a model by the other program."""

    def __init__(self, model):
        self.m, self.t, self.x, self.switchings = model, 0.0, list(model.start), 0
        self.ends = sorted({(k + shift)*period for period, shift in model.clocks
                            for k in range(-3, int(model.stop/period) + 2) if INSTANT < (k + shift)*period < model.stop})
        self.turns()
        self.passed = [self.beyond(k, INSTANT*2, self.x) > 0 for k in range(len(model.borders))]
        if any(kind == "state" and abs(self.x[i] - at) < AHEAD for kind, i, at in model.borders):
            raise PassedOver
        self.settle()

    def turns(self):
        self.turn = [math.floor(self.t/period - shift + 1e-7) for period, shift in self.m.clocks]

    def beyond(self, k, t, x):
        kind, i, at = self.m.borders[k]
        if kind == "state":
            return x[i] - at
        period, shift = self.m.clocks[i]
        return t/period - shift - self.turn[i] - at

    def settle(self):
        self.s = []
        for signal in self.m.signals:
            self.s.append(signal(self.passed, self.s))

    def rate(self, x):
        return [sum(term(x, self.passed, self.s) for term in terms) for terms in self.m.rates]

    def after(self, h):
        return step(lambda t, *x: self.rate(x), self.t, self.x, h)

    def has_turned(self, k, h):
        return (self.beyond(k, self.t + h, self.after(h)) > 0) != self.passed[k]

    def to(self, until):
        while until - self.t > INSTANT:
            ends = [e for e in self.ends if e > self.t + INSTANT]
            h = min([until - self.t, STEP] + [ends[0] - self.t] if ends else [until - self.t, STEP])
            turned = {k: first(lambda part, k=k: self.has_turned(k, part), h, 1e-13) for k in range(len(self.passed)) if self.has_turned(k, h)}
            h = min(turned.values(), default=h)
            self.x, self.t = self.after(h), self.t + h
            for e in self.ends:
                if abs(e - self.t) < 10*INSTANT:
                    self.t = e
            self.switch([k for k in turned if turned[k] <= h + INSTANT])

    def switch(self, turned):
        self.switchings += len(turned)
        if self.switchings > MOST:
            raise PassedOver
        self.turns()
        for k, (kind, _, _) in enumerate(self.m.borders):
            if kind == "clock":
                self.passed[k] = self.beyond(k, self.t + 10*INSTANT, self.x) > 0
            elif k in turned:
                self.passed[k] = not self.passed[k]
        self.settle()
        if any(self.m.borders[k][0] == "state" and self.has_turned(k, AHEAD) for k in turned):
            raise PassedOver


if __name__ == "__main__":
    sys.exit(main(Model, lambda model: rows_of(Apart(model), model.stop, lambda apart: apart.x)))
