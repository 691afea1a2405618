#!/usr/bin/env python3
"""Random smooth models of several domains with badly scaled numbers: masses of a milligram beside kilotons, pressures of 1e7 Pa beside flows of
1e-7 m^3/s, picoamperes, heat, short pulses, chirps, tables, delays, samples; with units and without. What bgc gives at the default tolerance must be
what SciPy gives at tight ones, from corner to corner of the inputs.

python3 tests/smooth.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds; a hundred take half a minute a solver
"""
import math, os, random, sys, warnings

import numpy as np
from scipy.integrate import solve_ivp

from apart import PassedOver, main, run

POINTS = 101
OFF = 1e-4        # of a column's range,
OFF_VALUE = 1e-5  # or of its greatest value: a small rise above a temperature in kelvin
TIGHT, ROUGH = 1e-12, 1e-6   # relative tolerances of the other program; ROUGH finds the sizes of states
FAINT = 1e-280    # smaller numbers have no accuracy


def digits(x, n=5):
    return float(f"{x:.{n}g}")


class Input:
    """A function of time: its text, its value on the smooth piece around a time, and the ends of these pieces."""

    def __init__(self, r, a, T):
        self.breaks, self.rows = [], None
        self.text, self.at = getattr(self, r.choice(["sine", "two", "chirp", "gauss", "step", "pulse", "ramp", "decay", "table"]))(r, a, T)

    def sine(self, r, a, T):
        w = digits(2*math.pi/T*10**r.uniform(-0.5, 1.5))
        return f"{a!r}*sin({w!r}*(time/1 [s]))", lambda t: lambda u: a*math.sin(w*u)

    def two(self, r, a, T):
        w, v = (digits(2*math.pi/T*10**r.uniform(-0.5, 1.5)) for _ in range(2))
        return (f"{a!r}*(cos({w!r}*(time/1 [s])) + 0.1*sin({v!r}*(time/1 [s])))",
                lambda t: lambda u: a*(math.cos(w*u) + 0.1*math.sin(v*u)))

    def chirp(self, r, a, T):
        w, c = digits(2*math.pi/T*r.uniform(0, 3)), digits(2*math.pi/T**2*r.uniform(2, 30))
        return f"{a!r}*sin(({w!r} + {c!r}*(time/1 [s]))*(time/1 [s]))", lambda t: lambda u: a*math.sin((w + c*u)*u)

    def gauss(self, r, a, T):
        at, w = digits(T*r.uniform(0.05, 0.8)), digits(T*10**r.uniform(-4, -1))
        self.breaks = [at + k*w for k in (-12, -5, -2.5, 0, 2.5, 5, 12)]
        return (f"{a!r}*exp(-((time/1 [s] - {at!r})/{w!r})^2)", lambda t: lambda u: a*math.exp(-min(((u - at)/w)**2, 700)))

    def step(self, r, a, T):
        at = digits(T*r.uniform(0.01, 0.5))
        self.breaks = [at]
        return f"(if time < {at!r} then 0 else {a!r})", lambda t: lambda u: a if t >= at else 0.0

    def pulse(self, r, a, T):
        at = digits(T*r.uniform(0.01, 0.8))
        end = digits(at + T*10**r.uniform(-4, -1), 9)
        self.breaks = [at, end]
        return f"(if time > {at!r} and time < {end!r} then {a!r} else 0)", lambda t: lambda u: a if at < t < end else 0.0

    def ramp(self, r, a, T):
        at = digits(T*r.uniform(0.05, 0.8))
        self.breaks = [at]
        return f"(if time < {at!r} then {a/at!r}*(time/1 [s]) else {a!r})", lambda t: lambda u: a/at*u if t < at else a

    def decay(self, r, a, T):
        w = digits(10**r.uniform(-0.5, 1.3)/T)
        return f"{a!r}*exp(-{w!r}*(time/1 [s]))", lambda t: lambda u: a*math.exp(-w*u)

    def table(self, r, a, T):
        x = [0.0] + sorted(digits(T*r.uniform(0.01, 1)) for _ in range(r.randint(3, 8))) + [2*T]
        self.rows = [(u, digits(a*r.uniform(-1, 1))) for u in x]
        y = [v for _, v in self.rows]
        self.breaks = x[1:-1]
        return "", lambda t: lambda u: float(np.interp(u, x, y))


class Model:
    """States with their rates as functions of the time, the states and the inputs on their present pieces."""

    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.units = r.random() < 0.6
        self.T = digits(10**r.uniform(-3, 4), 4)
        self.lines, self.names, self.unit, self.start, self.rates = [], [], [], [], []
        self.inputs, self.files, self.delays, self.samples = [], {}, [], []
        for at in range(r.choice([1, 1, 2, 2, 3])):
            getattr(self, r.choice(["mechanics", "mechanics", "electric", "hydraulic", "heat", "signals", "motor"]))(at)
        domain = ["domain heat { effort temperature [K]; flow heat_flow [W]; power = flow; }"] if any("in heat" in a for a in self.lines) else []
        self.text = "\n".join(domain + ["model smooth {"] + ["    " + a for a in self.lines] +
                              [f"    output y{i} = {name};" for i, name in enumerate(self.names)] +
                              ["}", f"experiment run of smooth {{ stop = {self.T!r} [s]; }}", ""])

    def u(self, unit):
        return f" [{unit}]" if self.units and unit else ""

    def state(self, name, unit="", start=0.0):
        for to, what in ((self.names, name), (self.unit, unit), (self.start, start), (self.rates, None)):
            to.append(what)
        return len(self.names) - 1

    def w(self, low, high):
        """A frequency, so many in the run."""
        return 10**self.r.uniform(math.log10(low), math.log10(high))/self.T

    def drive(self, amplitude, unit):
        """An input, or what a state of the parts before gives: text, and value."""
        whole = self.rates.index(None) if None in self.rates else len(self.rates)
        if whole and self.r.random() < 0.4:
            i = self.r.randrange(whole)
            kept = self.start, self.rates
            self.start, self.rates = self.start[:whole], self.rates[:whole]
            size = abs(self.solve(np.linspace(0, self.T, 40), ROUGH)[:, i]).max()
            self.start, self.rates = kept
            if size > 0:
                gain = digits(amplitude/size*10**self.r.uniform(-1, 0.3), 4)
                pure = f"{self.names[i]}/1{self.u(self.unit[i])}"
                return f"{gain!r}{self.u(unit)}*({pure})", lambda t, x, v: gain*x[i]
        q, k = Input(self.r, digits(amplitude, 4), self.T), len(self.inputs)
        self.inputs.append(q)
        if q.rows:
            self.files[f"t{k}.csv"] = "x,y\n" + "".join(f"{a!r},{b!r}\n" for a, b in q.rows)
            q.text = f'table("t{k}.csv", 2, time/1 [s])'
        return q.text + ("*1" + self.u(unit) if self.units and unit else ""), lambda t, x, v: v[k](t)

    # ---- parts ----

    def mechanics(self, at):
        """A chain of masses, from a wall or free, on springs that may harden."""
        r, u, n = self.r, self.u, self.r.randint(1, 4)
        m = [digits(10**r.uniform(-6, 6)) for _ in range(n)]
        joints = ([(-1, 0)] if r.random() < 0.7 else []) + [(j, j + 1) for j in range(n - 1)] + ([(n - 1, -1)] if r.random() < 0.3 else [])
        p = [self.state(f"m{at}_{i}.p", "N.s") for i in range(n)]
        self.lines += [f"1:v{at}_{i} -> I:m{at}_{i} = {m[i]!r}{u('kg')};" for i in range(n)]
        F, made = 10**r.uniform(-6, 6), []
        for k, (a, b) in enumerate(joints):
            light = min(m[j] for j in (a, b) if j >= 0)
            w = self.w(3, 150)
            c, d = digits(light*w*w), digits(2*10**r.uniform(-2.5, 0.3)*light*w) if r.random() > 0.15 else 0.0
            where = f"v{at}_{max(a, b)}"
            if a >= 0 and b >= 0:
                where = f"r{at}_{k}"
                self.lines.append(f"v{at}_{a} -> 0:z{at}_{k} -> v{at}_{b}; z{at}_{k} -> 1:{where};")
            bend = digits(F/c*10**r.uniform(0, 1.5)) if r.random() < 0.3 else math.inf
            law = f"q*(1 + (q/{bend!r}{u('m')})^2)" if bend < math.inf else "q"
            self.lines.append(f"{where} -> C:c{at}_{k} {{ e = {c!r}{u('N/m')}*{law}; }}")
            self.lines += [f"{where} -> R:d{at}_{k} = {d!r}{u('N.s/m')};"] if d else []
            made.append((a, b, c, d, bend, self.state(f"c{at}_{k}.q", "m")))
        pushed, (text, value) = r.randrange(n), self.drive(F, "N")
        self.lines.append(f"MSe:F{at} = {text} -> v{at}_{pushed};")

        def speed(x, a, b):
            if min(a, b) < 0:
                return x[p[max(a, b)]]/m[max(a, b)]
            return x[p[a]]/m[a] - x[p[b]]/m[b]

        def force(x, joint):
            a, b, c, d, bend, q = joint
            return c*x[q]*(1 + (x[q]/bend)**2) + d*speed(x, a, b)

        for a, b, _, _, _, q in made:
            self.rates[q] = lambda t, x, v, a=a, b=b: speed(x, a, b)
        for j in range(n):
            mine = [(joint, -1 if joint[1] == j and joint[0] >= 0 else 1) for joint in made if j in joint[:2]]
            self.rates[p[j]] = (lambda t, x, v, mine=mine, driven=j == pushed:
                                (value(t, x, v) if driven else 0) - sum(sign*force(x, joint) for joint, sign in mine))
        if r.random() < 0.4:
            j = r.randrange(n)
            self.lines.append(f"signal x{at}{u('m')} = integral(v{at}_{j}.f);")
            self.rates[self.state(f"x{at}", "m")] = lambda t, x, v: x[p[j]]/m[j]

    def electric(self, at):
        """A ladder of resistors, coils and capacitors, with leaks that may saturate."""
        r, u, n = self.r, self.u, self.r.randint(1, 3)
        Z, V, cells = 10**r.uniform(-2, 9), 10**r.uniform(-12, 3), []
        text, value = self.drive(V, "V")
        self.lines.append(f"MSe:U{at} = {text} -> 1:i{at}_0;")
        for k in range(n):
            R, C = digits(Z*10**r.uniform(-1, 1)), digits(1/(Z*self.w(1, 60)))
            L = digits(Z/self.w(3, 100)) if r.random() < 0.5 else 0
            leak = digits(Z*10**r.uniform(-1, 3)) if r.random() < 0.5 or k == n - 1 else math.inf
            bend = digits(V*10**r.uniform(-0.5, 0.5)) if r.random() < 0.3 else 0
            self.lines.append(f"i{at}_{k} -> R:R{at}_{k} = {R!r}{u('ohm')};")
            self.lines += [f"i{at}_{k} -> I:L{at}_{k} = {L!r}{u('H')};"] if L else []
            self.lines.append(f"i{at}_{k} -> 0:n{at}_{k}; n{at}_{k} -> C:C{at}_{k} = {C!r}{u('F')};")
            if leak < math.inf:
                law = f"{{ f = {bend/leak!r}{u('A')}*tanh(e/{bend!r}{u('V')}); }}" if bend else f"= {leak!r}{u('ohm')};"
                self.lines.append(f"n{at}_{k} -> R:G{at}_{k} {law}")
            self.lines += [f"n{at}_{k} -> 1:i{at}_{k + 1};"] if k + 1 < n else []
            cells.append((R, L, C, leak, bend, self.state(f"L{at}_{k}.p", "V.s") if L else None, self.state(f"C{at}_{k}.q", "C")))

        def source(k, t, x, v):
            return value(t, x, v) if k == 0 else x[cells[k - 1][6]]/cells[k - 1][2]

        def current(k, t, x, v):
            if k == n:
                return 0
            R, L, C, _, _, p, q = cells[k]
            return x[p]/L if L else (source(k, t, x, v) - x[q]/C)/R

        def charging(k, t, x, v):
            _, _, C, leak, bend, _, q = cells[k]
            e = x[q]/C
            return current(k, t, x, v) - current(k + 1, t, x, v) - (bend*math.tanh(e/bend) if bend else e)/leak

        for k, (R, L, C, _, _, p, q) in enumerate(cells):
            if L:
                self.rates[p] = lambda t, x, v, k=k, R=R, L=L, C=C, p=p, q=q: source(k, t, x, v) - R*x[p]/L - x[q]/C
            self.rates[q] = lambda t, x, v, k=k: charging(k, t, x, v)

    def hydraulic(self, at):
        """A pump, a chamber with a leak, a pipe that may be turbulent, a cylinder with a mass."""
        r, u = self.r, self.u
        Q, P = 10**r.uniform(-7, -3), 10**r.uniform(4, 7.5)
        C1, C2 = (digits(Q*self.T/P*10**r.uniform(-2, 0)) for _ in range(2))
        R, square, leak = digits(P/Q*10**r.uniform(-1, 1)), digits(P/Q**2*10**r.uniform(-1, 1)), digits(P/Q*10**r.uniform(-0.5, 1))
        square = square if r.random() < 0.5 else 0.0
        A = digits(10**r.uniform(-5, -2))
        m = digits(A*A/C2/self.w(3, 60)**2)
        d = digits(10**r.uniform(-1, 0.3)*m*self.w(3, 60))
        text, value = self.drive(Q, "m^3/s")
        self.lines += [f"MSf:Q{at} = {text} -> 0:ch{at};", f"ch{at} -> C:oil{at} = {C1!r}{u('m^3/Pa')};",
                       f"ch{at} -> R:leak{at} = {leak!r}{u('Pa.s/m^3')};", f"ch{at} -> 1:line{at} -> 0:cyl{at};",
                       f"line{at} -> R:pipe{at} {{ e = {R!r}{u('Pa.s/m^3')}*f" + (f" + {square!r}{u('Pa.s^2/m^6')}*f*abs(f); }}" if square else "; }"),
                       f"cyl{at} -> C:gas{at} = {C2!r}{u('m^3/Pa')};",
                       f"cyl{at} -> TF:piston{at} {{ out.e = {A!r}{u('m^2')}*in.e; }} -> 1:rod{at};",
                       f"rod{at} -> I:load{at} = {m!r}{u('kg')};", f"rod{at} -> R:rub{at} = {d!r}{u('N.s/m')};"]
        a, b, c = self.state(f"oil{at}.q", "m^3"), self.state(f"gas{at}.q", "m^3"), self.state(f"load{at}.p", "N.s")

        def flow(x):
            e = x[a]/C1 - x[b]/C2
            return 2*e/(R + math.sqrt(R*R + 4*square*abs(e)))
        self.rates[a] = lambda t, x, v: value(t, x, v) - flow(x) - x[a]/C1/leak
        self.rates[b] = lambda t, x, v: flow(x) - A*x[c]/m
        self.rates[c] = lambda t, x, v: A*x[b]/C2 - d*x[c]/m

    def heat(self, at):
        """A wall of layers, from zero or from the surroundings in kelvin."""
        r, u, n = self.r, self.u, self.r.randint(1, 4)
        W, D, ambient = 10**r.uniform(-3, 4), 10**r.uniform(-1, 2), r.choice([0.0, 0.0, 293.15])
        text, value = self.drive(W, "W")
        C = [digits(W/D*self.T*10**r.uniform(-2, 0.5)) for _ in range(n)]
        R = [digits(D/W*10**r.uniform(-1, 1)) for _ in range(n)]
        self.lines += [f"0:T{at}_{k} in heat;" for k in range(n)] + [f"MSf:W{at} = {text} -> T{at}_0;"]
        q = [self.state(f"K{at}_{k}.q", "J", C[k]*ambient) for k in range(n)]
        for k in range(n):
            to = f"T{at}_{k + 1}" if k + 1 < n else f"Se:air{at} = {ambient!r}{u('K')}"
            self.lines += [f"T{at}_{k} -> C:K{at}_{k} = {C[k]!r}{u('J/K')} {{ e(0) = {ambient!r}{u('K')}; }}",
                           f"T{at}_{k} -> 1:w{at}_{k}; w{at}_{k} -> R:wall{at}_{k} = {R[k]!r}{u('K/W')};", f"w{at}_{k} -> {to};"]

        def outflow(x, k):
            return (x[q[k]]/C[k] - (x[q[k + 1]]/C[k + 1] if k + 1 < n else ambient))/R[k]
        for k in range(n):
            self.rates[q[k]] = lambda t, x, v, k=k: (value(t, x, v) if k == 0 else outflow(x, k - 1)) - outflow(x, k)

    def motor(self, at):
        """A motor that turns a load over a shaft."""
        r, u = self.r, self.u
        V, R = 10**r.uniform(-3, 3), digits(10**r.uniform(-2, 3))
        L, k = digits(R/self.w(20, 300)), digits(10**r.uniform(-4, 1))
        J, d = digits(k*k/R/self.w(2, 30)), digits(k*k/R*10**r.uniform(-2, 0))
        c, J2 = digits(J*self.w(3, 100)**2), digits(J*10**r.uniform(-5, 5))
        ds = digits(2*10**r.uniform(-2.5, 0)*math.sqrt(c*min(J, J2)))
        text, value = self.drive(V, "V")
        self.lines += [f"MSe:V{at} = {text} -> 1:arm{at};", f"arm{at} -> R:Ra{at} = {R!r}{u('ohm')};", f"arm{at} -> I:La{at} = {L!r}{u('H')};",
                       f"arm{at} -> GY:gy{at} = {k!r}{u('N.m/A')} -> 1:sh{at};", f"sh{at} -> I:J{at} = {J!r}{u('kg.m^2')};",
                       f"sh{at} -> R:b{at} = {d!r}{u('N.m.s')};", f"sh{at} -> 0:tw{at} -> 1:ld{at}; tw{at} -> 1:rl{at};",
                       f"rl{at} -> C:sp{at} {{ e = {c!r}{u('N.m/rad')}*q; }}", f"rl{at} -> R:sd{at} = {ds!r}{u('N.m.s')};",
                       f"ld{at} -> I:J2{at} = {J2!r}{u('kg.m^2')};"]
        a, b = self.state(f"La{at}.p", "V.s"), self.state(f"J{at}.p", "N.m.s")
        q, e = self.state(f"sp{at}.q"), self.state(f"J2{at}.p", "N.m.s")

        def torque(x):
            return c*x[q] + ds*(x[b]/J - x[e]/J2)
        self.rates[a] = lambda t, x, v: value(t, x, v) - R*x[a]/L - k*x[b]/J
        self.rates[b] = lambda t, x, v: k*x[a]/L - d*x[b]/J - torque(x)
        self.rates[q] = lambda t, x, v: x[b]/J - x[e]/J2
        self.rates[e] = lambda t, x, v: torque(x)

    def signals(self, at):
        """Lags, integrals, oscillators, squares, delays and samples, one behind the other."""
        r, a = self.r, 10**self.r.uniform(-9, 6)
        text, last = self.drive(a, "")
        self.lines.append(f"signal u{at} = {text};")
        name, held = f"u{at}", False
        for k in range(r.randint(1, 4)):
            y = f"y{at}_{k}_"
            kind = r.choice(["lag", "lag", "integral", "oscillator", "square", "delay", "sample"])
            if (kind == "delay" and self.samples) or (kind == "sample" and (self.delays or held)):
                kind = "lag"
            if kind == "square":
                self.lines.append(f"signal {y} = {name}*{name}/{digits(a)!r};")
                last = lambda t, x, v, last=last, b=digits(a): last(t, x, v)**2/b
            elif kind == "delay":
                D = digits(self.T*10**r.uniform(-1.5, -0.3))
                self.lines.append(f"signal {y} = delay({name}, {D!r} [s]);")
                self.delays.append(D)
                last = lambda t, x, v, last=last, D=D: self.past(last, t - D)
            elif kind == "sample":
                P, g, n = digits(self.T*10**r.uniform(-2, -0.7)), digits(r.uniform(-0.6, 0.6)), len(self.samples)
                self.lines.append(f"signal {y} = 0; every {P!r} [s] {{ {y} = {g!r}*{y} + previous({name}); }}")
                self.samples.append((P, g, last))
                last = lambda t, x, v, n=n: self.held[n]
            else:
                last = getattr(self, kind)(y, name, last)
            held = kind == "sample" or (held and kind == "square")
            name = y

    def lag(self, y, name, last):
        w = digits(self.w(1, 200))
        self.lines.append(f"signal {y} = integral({w!r}*({name} - {y})/1 [s]);")
        i = self.state(y)
        self.rates[i] = lambda t, x, v: w*(last(t, x, v) - x[i])
        return lambda t, x, v: x[i]

    def integral(self, y, name, last):
        w = digits(10**self.r.uniform(-3, 3)/self.T)
        self.lines.append(f"signal {y} = integral({w!r}*{name}/1 [s]);")
        i = self.state(y)
        self.rates[i] = lambda t, x, v: w*last(t, x, v)
        return lambda t, x, v: x[i]

    def oscillator(self, y, name, last):
        w, z = digits(self.w(3, 100)), digits(10**self.r.uniform(-2, 0))
        self.lines.append(f"signal {y} = integral({w!r}*{y}v/1 [s]); signal {y}v = integral({w!r}*({name} - {y} - {2*z!r}*{y}v)/1 [s]);")
        i, j = self.state(y), self.state(y + "v")
        self.rates[i] = lambda t, x, v: w*x[j]
        self.rates[j] = lambda t, x, v: w*(last(t, x, v) - x[i] - 2*z*x[j])
        return lambda t, x, v: x[i]

    # ---- the other program ----

    def past(self, value, t):
        for begin, dense, inputs in reversed(self.done):
            if t >= begin - 1e-14*self.T and t > 0:
                return value(t, dense(t), inputs)
        return value(0.0, np.array(self.start), self.inputs_at(0.0))

    def inputs_at(self, t):
        return [q.at(t) for q in self.inputs]

    def instants(self):
        T = self.T
        edges = {0.0, T} | {b for q in self.inputs for b in q.breaks if 0 < b < T}
        edges |= {k*P for P, _, _ in self.samples for k in range(int(T/P) + 1) if k*P < T}
        for _ in range(4 if self.delays else 0):     # corners behind delays, of which the later ones are weak
            edges |= {e + D for e in edges for D in self.delays if e + D < T}
        edges |= {k*min(self.delays) for k in range(int(T/min(self.delays)) + 1)} if self.delays else set()
        edges = sorted(edges)
        return [e for i, e in enumerate(edges) if i == 0 or e - edges[i - 1] > 1e-12*T]

    def sample(self, t, x, inputs):
        """Blocks that sample at one instant, in their order; before: what the last sample of each read."""
        for n, (P, g, last) in enumerate(self.samples):
            if abs(t - self.counts[n]*P) < 1e-11*self.T:
                now = last(t, x, inputs)
                self.held[n] = g*self.held[n] + (now if self.counts[n] == 0 else self.before[n])
                self.before[n], self.counts[n] = now, self.counts[n] + 1

    def solve(self, times, rtol, sizes=None):
        n, x, self.done = len(self.samples), np.array(self.start, dtype=float), []
        self.held, self.before, self.counts = [0.0]*n, [0.0]*n, [0]*n
        atol = 1e-24 if sizes is None else np.maximum(1e-3*rtol*sizes, 1e-60)
        out, edges = np.tile(x, (len(times), 1)), self.instants()
        for a, b in zip(edges, edges[1:]):
            inputs = self.inputs_at((a + b)/2)
            self.sample(a, x, self.inputs_at(max(a - 1e-13*self.T, 0)))
            inside = [k for k, t in enumerate(times) if a < t <= b]
            at = sorted({times[k] for k in inside} | {b})
            s = solve_ivp(lambda t, x: [rate(t, x, inputs) for rate in self.rates], (a, b), x, method="DOP853" if self.delays else "LSODA", rtol=rtol,
                          atol=atol, t_eval=at, dense_output=bool(self.delays))
            if not s.success:
                raise ArithmeticError(s.message)
            for k in inside:
                out[k] = s.y[:, at.index(times[k])]
            x = s.y[:, -1]
            self.done.append((a, s.sol, inputs))
        return out

    def rows(self):
        times = np.linspace(0, self.T, POINTS)
        return self.solve(times, TIGHT, abs(self.solve(times, ROUGH)).max(axis=0))


def quietly(compute):
    """LSODA of SciPy writes what it has to say to the standard output; models that it cannot solve are passed over."""
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compute()
    except ArithmeticError:
        raise PassedOver
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def rows_of(model):
    if not model.names:
        raise PassedOver
    return model.names, quietly(model.rows)


def fault(expected, bgc, path, solver):
    """What differs, or None."""
    seen, error = run(bgc, path, solver, "--points", str(POINTS))
    if seen is None:
        return error
    (names, rows), seen = expected, np.array(seen)
    for i, name in enumerate(names):
        off, extent = abs(seen[:, i + 1] - rows[:, i]), np.ptp(rows[:, i])
        if off.max() > max(OFF*extent, OFF_VALUE*abs(rows[:, i]).max(), FAINT):
            return f"{name} at {seen[off.argmax(), 0]:g} s is off by {off.max()/extent if extent > 0 else math.inf:.1e} of its range"
    return None


if __name__ == "__main__":
    sys.exit(main(lambda seed: quietly(lambda: Model(seed)), rows_of, fault))
