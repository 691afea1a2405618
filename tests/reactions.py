#!/usr/bin/env python3
"""Random reaction networks and populations: mass action with orders that need not be whole, Michaelis, Hill and inhibition laws, logistic and predator's laws,
washout; rates from 1e-6 to 1e6; from nothing of a species, to nothing; doses by a clock, feeds by time, harvests by thresholds; as signals or as pseudo bonds.
What bgc gives at default tolerances must be what SciPy gives.

python3 tests/reactions.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds
"""
import math, sys

from hybrid import Course, Machine, main


class Model(Machine):
    def __init__(self, seed):
        super().__init__(seed, "reactions")
        r = self.r
        self.T = self.decade(1, 1e4)
        self.bonds = r.random() < 0.5
        self.n = r.randint(1, 6)
        self.amount = [self.decade(1e-3, 1e3) if r.random() < 0.3 else 1.0 for _ in range(self.n)]
        wide = r.random() < 0.4
        self.rate = (lambda: self.decade(1e-6, 1e6)/self.T) if wide else (lambda: self.decade(0.3, 60)/self.T)      # 1/s
        if self.bonds:
            self.imports.append("domain amount { effort concentration; flow conversion; power = flow; }")
        for i in range(self.n):
            start = r.choice([0.0, 0.0, self.amount[i], self.amount[i]*self.number(0.01, 2)])
            k = self.state(start, 1e-3*self.amount[i])
            if self.bonds:
                self.say(f"0:s{i} in amount;", f"s{i} -> C:c{i} = 1 {{ q(0) = {start!r}; }}")
            self.output(f"= s{i}.e" if self.bonds else f"= x{i}", lambda t, x, m, k=k: x[k])
        self.flows = [[] for _ in range(self.n)]
        for j in range(r.randint(1, 2*self.n)):
            self.reaction(j)
        if r.random() < 0.6:
            self.feed()
        if r.random() < 0.35:
            self.dose()
        if r.random() < 0.35:
            self.harvest()
        if not self.bonds:
            for i in range(self.n):
                self.say(f"signal x{i} = integral({' + '.join(self.flows[i]) or '0*time'}, {self.start[i]!r});")
        self.method = "Radau"
        self.finish(self.T)

    def of(self, i):
        return f"s{i}.e" if self.bonds else f"x{i}"

    def changes(self, i, text, value):
        """text, value: of what species i gains."""
        self.terms[i].append(value)
        self.flows[i].append(text)
        if self.bonds:
            k = len(self.flows[i])
            self.say(f"MSf:g{i}_{k} = {text};", f"g{i}_{k} -> s{i};")

    def order(self, i):
        """A power of a concentration; text and value."""
        n = self.r.choice([1, 1, 1, 1, 2, 2, 3, 0.5, 1.5, 2/3])
        s, x = self.amount[i], self.of(i)
        if n == 1:
            return f"({x}/{s!r})", lambda v: v[i]/s
        if n in (2, 3):
            return f"({x}/{s!r})^{n}", lambda v: (v[i]/s)**n
        return f"spow({x}/{s!r}, {n!r})", lambda v: math.copysign(abs(v[i]/s)**n, v[i])

    def reaction(self, j):
        r, n = self.r, self.n
        i, to = r.randrange(n), r.randrange(n)
        k, s = float(f"{self.rate():.4g}"), self.amount[i]
        kind = r.choice(["mass", "mass", "mass", "both", "michaelis", "hill", "inhibited", "logistic", "eats", "decay"])
        if kind == "mass":
            a, va = self.order(i)
            text, value = f"{k*s!r}*{a}", lambda v: k*s*va(v)
            if r.random() < 0.4:
                other = r.randrange(n)
                b, vb = self.order(other)
                first, old = text, value
                text, value = f"{first}*{b}", lambda v: old(v)*vb(v)
        elif kind == "both":
            back, st = float(f"{self.rate():.4g}"), self.amount[to]
            text = f"({k!r}*{self.of(i)} - {back*s/st!r}*{self.of(to)})"
            value = lambda v: k*v[i] - back*s/st*v[to]
        elif kind == "michaelis":
            half = self.number(0.01, 2)*s
            text, value = f"{k*s!r}*{self.of(i)}/({half!r} + {self.of(i)})", lambda v: k*s*v[i]/(half + v[i])
        elif kind == "hill":
            other, h, half = r.randrange(n), r.choice([2, 4, 1.5, 2.7]), self.number(0.1, 1)
            so = self.amount[other]
            p = f"spow({self.of(other)}/{half*so!r}, {h})"
            text = f"{k!r}*{self.of(i)}*{p}/(1 + {p})"

            def value(v):
                q = math.copysign(abs(v[other]/(half*so))**h, v[other])
                return k*v[i]*q/(1 + q)
        elif kind == "inhibited":
            other, half = r.randrange(n), self.number(0.1, 1)
            so = self.amount[other]
            text, value = f"{k!r}*{self.of(i)}/(1 + ({self.of(other)}/{half*so!r})^2)", lambda v: k*v[i]/(1 + (v[other]/(half*so))**2)
        elif kind == "logistic":
            most = self.number(0.5, 3)*s
            return self.changes(i, f"{k!r}*{self.of(i)}*(1 - {self.of(i)}/{most!r})", lambda t, v, m: k*v[i]*(1 - v[i]/most))
        elif kind == "eats":
            st, c = self.amount[to], self.number(0.1, 0.9)
            text, value = f"{k!r}*{self.of(i)}*{self.of(to)}/({s!r} + {self.of(i)})", lambda v: k*v[i]*v[to]/(s + v[i])
            self.changes(i, f"-{text}*{s/st!r}", lambda t, v, m: -value(v)*(s/st))
            if to != i:
                self.changes(to, f"{c*1.0!r}*{text}", lambda t, v, m: c*value(v))
            return
        else:
            return self.changes(i, f"-{k!r}*{self.of(i)}", lambda t, v, m: -k*v[i])
        self.changes(i, f"-{text}", lambda t, v, m: -value(v))
        if to != i:
            y = self.amount[to]/s*r.choice([1, 1, 2, 0.5])
            self.changes(to, f"{y!r}*{text}", lambda t, v, m: y*value(v))

    def feed(self):
        i = self.r.randrange(self.n)
        course = Course(self, self.amount[i]*self.number(0.5, 20)/self.T, self.T, ["constant", "step", "pulse", "ramp", "bump", "gauss"])
        self.say(f"signal feed = {course.text};")
        self.changes(i, "feed", lambda t, v, m: course.value(t, m))

    def dose(self):
        i, every, offset = self.r.randrange(self.n), float(f"{self.T/self.number(3, 12):.4g}"), float(f"{self.T*self.number(0, 0.1):.3g}")
        by = self.amount[i]*self.number(0.05, 1)
        target = f"c{i}.q" if self.bonds else f"x{i}"
        self.say(f"every {every} [s] offset {offset} [s] {{ {target} = {target} + {by!r}; }}")

        def act(t, x, m):
            x[i] += by
        self.samples.append((every, offset, act))

    def harvest(self):
        """When there is so much of a species, a part of it goes."""
        i = self.r.randrange(self.n)
        at, part = self.amount[i]*self.number(0.3, 1.5), self.number(0.2, 0.8)
        target = f"c{i}.q" if self.bonds else f"x{i}"

        def act(x, m):
            x[i] *= part
            m.side[k] = False
        k = self.border(lambda t, x, m: x[i] - at, above=act)
        self.say(f"when {target} > {at!r} {{ {target} = {part}*{target}; }}")


if __name__ == "__main__":
    sys.exit(main(Model, "random reaction networks of tests/reactions.py"))
