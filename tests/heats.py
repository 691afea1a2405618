#!/usr/bin/env python3
"""Random thermal plants: bodies whose capacity may vary or that melt, walls, natural convection by powers of differences, radiation, air by the hour, heaters
by time, pulses that move along a row, PWM, thermostats (two thresholds, one that slides, sampled), pumps that start and stop; with heat flow as flow, and
as true bonds with flow of entropy. What bgc gives at default tolerances must be what SciPy gives of the same balances.

python3 tests/heats.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds
"""
import math, sys

from hybrid import Course, Machine, main

SIGMA = 5.670374419e-8


class Body:
    """Node k: its state x[k] is the heat stored (J) in a pseudo graph, the temperature (K) in a true one."""

    def __init__(self, k, name, temperature):
        self.k, self.name, self.temperature = k, name, temperature


class Model(Machine):
    def __init__(self, seed):
        super().__init__(seed, "heats")
        r = self.r
        self.T = self.decade(5, 2e4)
        self.true = r.random() < 0.3
        self.zero = 293.15 if self.true or r.random() < 0.7 else 0.0   # temperature of the surroundings
        if not self.true:
            self.imports.append("domain heat { effort temperature [K]; flow heat_flow [W]; power = flow; }")
        self.flow = self.decade(1, 5000)        # W, as they are here
        self.rise = self.decade(5, 200)         # K
        self.bodies = [self.body(i) for i in range(r.randint(1, 6))]
        self.air = self.some_air()
        for i, b in enumerate(self.bodies):
            self.loss(i, b)
            for j in range(i):
                if j == i - 1 or self.maybe(0.2):
                    self.way(j, i)
        for i in sorted(set(r.randrange(len(self.bodies)) for _ in range(r.randint(1, 3)))):
            self.heater(i)
        if len(self.bodies) > 2 and self.maybe(0.4):
            self.moving()
        if len(self.bodies) > 1 and self.maybe(0.5):
            self.pump()
        for b in self.bodies:
            self.output(f"[K] = {b.name}.e", lambda t, x, m, b=b: b.temperature(x))
        self.method = r.choice(["LSODA", "LSODA", "Radau"]) if len(self.bodies) < 3 else "LSODA"
        self.finish(self.T)

    def adds(self, b, flow):
        """flow(t, x, m) in W into a body."""
        if self.true:
            self.terms[b.k].append(lambda t, x, m: flow(t, x, m)/self.capacity[b.k])
        else:
            self.terms[b.k].append(flow)

    def body(self, i):
        r, name = self.r, f"T{i}"
        c = self.flow/self.rise*self.T*self.decade(0.01, 3)
        c = float(f"{c:.4g}")
        start = self.zero + r.choice([0.0, 0.0, self.number(-0.3, 1)*self.rise])
        if self.true:
            self.capacity = getattr(self, "capacity", {})
            k = self.state(start, start, c)
            self.capacity[k] = c
            self.say(f"0:{name} -> C:c{i} {{ e = {start!r} [K]*exp(q/{c!r} [J/K]); }}")
            return Body(k, name, lambda x: x[k])
        self.say(f"0:{name} in heat;")
        kind = r.random()
        if kind < 0.5:
            k = self.state(c*start, c*max(start, self.rise*0.1), c)
            self.say(f"{name} -> C:c{i} = {c!r} [J/K] {{ e(0) = {start!r} [K]; }}")
            return Body(k, name, lambda x: x[k]/c)
        if kind < 0.65:      # capacity c*(1 + a*(T - zero)): heat above zero c*(s + a s^2/2)
            a = self.number(0.1, 1)/self.rise
            heat = lambda s: c*(s + a*s*s/2)
            k = self.state(heat(start - self.zero), c*self.rise)
            temperature = lambda x: self.zero + (math.sqrt(1 + 2*a*x[k]/c) - 1)/a
            self.say(f"{name} -> C:c{i} {{ e = {self.zero!r} [K] + (sqrt(1 + {2*a!r}*q/{c!r} [J]) - 1)*{1/a!r} [K]; q(0) = {self.start[k]!r} [J]; }}")
            return Body(k, name, temperature)
        return self.melts(i, name, c, start)

    def melts(self, i, name, c, start):
        """Heat above that of the melting solid; the temperature is flat while it melts."""
        r = self.r
        melting, latent, liquid = self.zero + self.number(0.1, 0.8)*self.rise, self.number(0.2, 3)*c*self.rise, c*self.number(0.5, 2)
        latent, liquid = float(f"{latent:.5g}"), float(f"{liquid:.5g}")
        at = c*(start - melting) if start < melting else latent + liquid*(start - melting)
        k = self.state(at, c*self.rise)
        solid, over = self.border(lambda t, x, m: x[k]), self.border(lambda t, x, m: x[k] - latent)
        temperature = lambda x: melting + min(x[k], 0.0)/c + max(x[k] - latent, 0.0)/liquid
        law = r.choice([f"if q < 0 then {melting!r} [K] + q/{c!r} [J/K] else if q > {latent!r} [J] then {melting!r} [K] + (q - {latent!r} [J])/{liquid!r} [J/K] else {melting!r} [K]",
                        f"{melting!r} [K] + min(q, 0 [J])/{c!r} [J/K] + max(q - {latent!r} [J], 0 [J])/{liquid!r} [J/K]"])
        self.say(f"{name} -> C:c{i} {{ e = {law}; q(0) = {at!r} [J]; }}")
        if abs(at) < 1e-9 or abs(at - latent) < 1e-9:
            self.start[k] = at
        self.output(f"[J] = c{i}.q", lambda t, x, m: x[k])
        return Body(k, name, temperature)

    def some_air(self):
        """Text and value of the temperature around."""
        if self.zero and self.maybe():
            course = Course(self, self.number(-0.3, 0.3)*self.rise, self.T, ["sine", "step", "table", "bump"], "K")
            self.say(f"signal air [K] = {self.zero!r} [K] + {course.text};")
            return "air", lambda t, m: self.zero + course.value(t, m)
        return f"{self.zero!r} [K]", lambda t, m: self.zero

    def between(self, name, a, b, law):
        """A way for heat, from a to b (None: the air): law(D) gives text in [W] over temperatures' difference; flow(Ta, Tb, m)."""
        text, flow = law
        one = a.temperature
        other = (lambda x, t, m: b.temperature(x)) if b else (lambda x, t, m: self.air[1](t, m))
        b_name = b.name if b else f"s_{name}"
        if not b:
            self.say(f"MSe:air_{name} = {self.air[0]};", f"0:s_{name}{'' if self.true else ' in heat'};", f"air_{name} -> s_{name};")
        if self.true:
            self.say(f"R:{name} {{ port hot -> cold; hot.f = {text('hot.e', 'cold.e')}/hot.e; cold.f = {text('hot.e', 'cold.e')}/cold.e; }}",
                     f"{a.name} -> {name}.hot;", f"{name}.cold -> {b_name};")
        else:
            self.say(f"R:{name} {{ port hot -> cold; hot.f = {text('hot.e', 'cold.e')}; cold.f = hot.f; }}", f"{a.name} -> {name}.hot;",
                     f"{name}.cold -> {b_name};")
        self.adds(a, lambda t, x, m: -flow(one(x), other(x, t, m), m))
        if b:
            self.adds(b, lambda t, x, m: flow(one(x), other(x, t, m), m))
        if self.maybe(0.3):
            self.output(f"[{'W/K' if self.true else 'W'}] = {name}.hot.f",
                        lambda t, x, m: flow(one(x), other(x, t, m), m)/(one(x) if self.true else 1.0), jumps=True)

    def some_law(self):
        r = self.r
        g = float(f"{self.flow/self.rise*self.decade(0.1, 5):.4g}")
        kind = r.choice(["wall", "wall", "natural", "natural", "root", "rays", "film", "valve"])
        if kind == "rays" and not self.zero:
            kind = "wall"
        if kind == "wall":
            return lambda a, b: f"{g!r} [W/K]*({a} - {b})", lambda a, b, m: g*(a - b)
        if kind in ("natural", "root"):
            n = r.choice([1.25, 4/3, 1.2]) if kind == "natural" else r.choice([0.5, 0.75, 0.8])
            h = float(f"{g*self.rise**(1 - n):.4g}")
            s = r.randrange(2)
            text = [lambda a, b: f"{h!r} [W]*spow(({a} - {b})/1 [K], {n!r})", lambda a, b: f"{h!r} [W]*sign({a} - {b})*(abs({a} - {b})/1 [K])^{n!r}"][s]
            return text, lambda a, b, m: math.copysign(h*abs(a - b)**n, a - b)
        if kind == "rays":
            area = float(f"{g/(4*SIGMA*300**3):.4g}")
            return (lambda a, b: f"{SIGMA*area!r} [W/K^4]*({a}^4 - {b}^4)"), lambda a, b, m: SIGMA*area*(a**4 - b**4)
        if kind == "film":
            d = self.rise*self.number(0.05, 1)
            return (lambda a, b: f"{g!r} [W/K]*({a} - {b})*(1 + (({a} - {b})/{d!r} [K])^2)^0.125"), lambda a, b, m: g*(a - b)*(1 + ((a - b)/d)**2)**0.125
        d = self.rise*self.number(0.05, 0.5)      # only above a difference, and one way
        return (lambda a, b: f"{g!r} [W/K]*max({a} - {b} - {d!r} [K], 0 [K])"), lambda a, b, m: g*max(a - b - d, 0.0)

    def loss(self, i, b):
        if i == len(self.bodies) - 1 or self.maybe(0.5):
            self.between(f"loss{i}", b, None, self.some_law())

    def way(self, i, j):
        if not self.true and self.maybe(0.4):
            self.simple(i, j)
        else:
            self.between(f"way{i}_{j}", self.bodies[i], self.bodies[j], self.some_law())

    def simple(self, i, j):
        """The same with a resistor on a 1-junction."""
        a, b = self.bodies[i], self.bodies[j]
        g = float(f"{self.flow/self.rise*self.decade(0.1, 5):.4g}")
        n = self.r.choice([1, 1, 1.25, 0.75])
        h = float(f"{g*self.rise**(1 - n):.4g}")
        self.say(f"{a.name} -> 1:p{i}_{j} -> {b.name};")
        if n == 1:
            self.say(f"p{i}_{j} -> R:r{i}_{j} = {1/h!r} [K/W];")
            flow = lambda t, x, m: (a.temperature(x) - b.temperature(x))*h
        else:
            law = self.r.choice([f"f = {h!r} [W]*spow(e/1 [K], {n});", f"e = 1 [K]*spow(f/{h!r} [W], {1/n!r});"])
            self.say(f"p{i}_{j} -> R:r{i}_{j} {{ {law} }}")

            def flow(t, x, m):
                d = a.temperature(x) - b.temperature(x)
                return math.copysign(h*abs(d)**n, d)
        self.adds(a, lambda t, x, m: -flow(t, x, m))
        self.adds(b, flow)
        self.output(f"[W] = p{i}_{j}.f", flow, jumps=True)

    # ---- heaters ----

    def heats(self, i, text, flow):
        b = self.bodies[i]
        self.say(f"signal heat{i} [W] = {text};")
        if self.true:
            self.say(f"MSf:h{i} = heat{i}/{b.name}.e;", f"h{i} -> {b.name};")
        else:
            self.say(f"MSf:h{i} = heat{i};", f"h{i} -> {b.name};")
        self.adds(b, flow)

    def heater(self, i):
        getattr(self, self.r.choice(["by_time", "by_time", "pwm", "thresholds", "sampled", "controlled", "slides", "wire"]))(i)

    def by_time(self, i):
        course = Course(self, self.number(0.1, 1)*self.flow, self.T, unit="W")
        self.heats(i, course.text, lambda t, x, m: course.value(t, m))

    def pwm(self, i):
        period, duty, power = self.T/self.number(8, 60), self.number(0.1, 0.9), self.number(0.3, 2)*self.flow
        period = float(f"{period:.4g}")
        k = 0
        while k*period < self.T:
            self.instants += [t for t in (k*period, (k + duty)*period) if 0 < t < self.T]
            k += 1
        on = lambda m: m.middle/period - math.floor(m.middle/period) < duty
        self.heats(i, f"if time/{period} [s] - floor(time/{period} [s]) < {duty} then {power!r} [W] else 0 [W]", lambda t, x, m: power if on(m) else 0.0)

    def band(self, i):
        start = self.bodies[i].temperature(self.start)
        at = self.zero + self.rise*self.number(0.05, 0.4)
        width = self.rise*self.number(0.01, 0.1)
        return start, float(f"{at:.6g}"), float(f"{at + width:.6g}")

    def thresholds(self, i):
        b, power = self.bodies[i], self.number(0.5, 3)*self.flow
        start, low, high = self.band(i)
        flag = self.border(None)
        self.turned[flag, "start"] = first = start < high
        temperature = b.temperature

        def to(value):
            def act(x, m):
                m.side[flag] = value
            return act
        self.border(lambda t, x, m: temperature(x) - low, below=to(True))
        self.border(lambda t, x, m: temperature(x) - high, above=to(False))
        self.say(f"signal on{i} = {int(first)};", f"when {b.name}.e < {low!r} [K] {{ on{i} = 1; }}", f"when {b.name}.e > {high!r} [K] {{ on{i} = 0; }}")
        self.heats(i, f"if on{i} > 0.5 then {power!r} [W] else 0 [W]", lambda t, x, m: power if m.side[flag] else 0.0)

    def sampled(self, i):
        b, power, n = self.bodies[i], self.number(0.5, 3)*self.flow, len(self.held)
        _, low, high = self.band(i)
        every = float(f"{self.T/self.number(20, 100):.4g}")
        self.held.append(0.0)
        self.say(f"signal on{i} = 0;", f"every {every} [s] {{ on{i} = if {b.name}.e < {low!r} [K] then 1 else if {b.name}.e > {high!r} [K] then 0 else on{i}; }}")

        def act(t, x, m):
            T = b.temperature(x)
            m.held[n] = 1.0 if T < low else 0.0 if T > high else m.held[n]
        self.samples.append((every, 0.0, act))
        self.heats(i, f"{power!r} [W]*on{i}", lambda t, x, m: power*m.held[n])

    def controlled(self, i):
        b, power, n = self.bodies[i], self.number(0.5, 3)*self.flow, len(self.held)
        _, aim, _ = self.band(i)
        every, p, reset = float(f"{self.T/self.number(20, 100):.4g}"), self.number(0.1, 2)/self.rise, self.number(0.02, 0.3)/self.rise
        self.held += [0.0, 0.0]
        self.say(f"signal u{i} = 0;", f"signal sum{i} = 0;", f"every {every} [s] {{", f"    sum{i} = min(max(sum{i} + {reset!r}*({aim!r} [K] - {b.name}.e)/1 [K], 0), 1);",
                 f"    u{i} = min(max({p!r}*({aim!r} [K] - {b.name}.e)/1 [K] + sum{i}, 0), 1);", "}")

        def act(t, x, m):
            error = aim - b.temperature(x)
            m.held[n], m.held[n + 1] = min(max(p*error + m.held[n + 1], 0.0), 1.0), min(max(m.held[n + 1] + reset*error, 0.0), 1.0)
        self.samples.append((every, 0.0, act))
        self.heats(i, f"{power!r} [W]*u{i}", lambda t, x, m: power*m.held[n])

    def slides(self, i):
        """A thermostat without hysteresis: a friction whose slip is temperature above what is wanted, of a body of constant capacity."""
        b, power = self.bodies[i], self.number(0.5, 3)*self.flow
        _, aim, _ = self.band(i)
        if self.true or f"C:c{i} = " not in "\n".join(self.lines):
            return self.by_time(i)
        c = self.inertia[b.k]
        base = self.state(1.0, 1.0, math.inf)     # 1 all the time, so that the slip is linear
        self.friction({b.k: 1/c, base: -aim}, lambda t, x, m: (-power*c*c, 0.0), 1.0)      # a force of -power*c*c heats by power
        self.heats(i, f"if {b.name}.e < {aim!r} [K] then {power!r} [W] else 0 [W]", lambda t, x, m: 0.0)

    def wire(self, i):
        """A resistor heated by a source; with the temperature its resistance rises."""
        b = self.bodies[i]
        volts, ohm, a = self.number(5, 50), 1.0, self.r.choice([0.0, self.number(0.001, 0.005)])
        power = self.number(0.2, 1)*self.flow
        ohm = float(f"{volts**2/power:.4g}")
        course = Course(self, volts, self.T, unit="V")
        resist = f"{ohm!r} [ohm]*(1 + {a}*({b.name}.e - {self.zero!r} [K])/1 [K])" if a else f"{ohm!r} [ohm]"
        self.say(f"MSe:u{i} = {course.text};")
        value = lambda t, x, m: course.value(t, m)**2/(ohm*(1 + a*(b.temperature(x) - self.zero)))
        if self.true:
            self.say(f"R:wire{i} {{ port current -> heat; current.e = {resist}*current.f; heat.f = {resist}*current.f^2/heat.e; }}",
                     f"u{i} -> wire{i}.current;", f"wire{i}.heat -> {b.name};")
        else:
            self.say(f"u{i} -> MR:wire{i} {{ e = {resist}*f; }}", f"MSf:joule{i} = wire{i}.e*wire{i}.f -> {b.name};")
        self.adds(b, value)

    def moving(self):
        """A spot of heat that moves along the row."""
        n, T, power = len(self.bodies), self.T, self.number(0.5, 3)*self.flow
        fast, wide, begin = self.number(0.5, 3)*n/T, self.number(0.1, 0.6), self.number(-3, 0)
        for i, b in enumerate(self.bodies):
            at = (i - begin)/fast
            self.instants += [t for t in (at - 6*wide/fast, at, at + 6*wide/fast) if 0 < t < T]
            self.say(f"MSf:spot{i} = {power!r} [W]*exp(-(({begin} + {fast!r} [1/s]*time - {i})/{wide})^2){f'/{b.name}.e' if self.true else ''};", f"spot{i} -> {b.name};")
            self.adds(b, lambda t, x, m, i=i: power*math.exp(-((begin + fast*t - i)/wide)**2))

    def pump(self):
        """Water that goes round two bodies while a pump runs: by thresholds, or by time."""
        i = self.r.randrange(len(self.bodies) - 1)
        j = self.r.randrange(i + 1, len(self.bodies))
        a, b = self.bodies[i], self.bodies[j]
        g = float(f"{self.flow/self.rise*self.decade(1, 20):.4g}")
        if self.maybe(0.6):
            start, low, high = self.band(i)
            flag = self.border(None)
            self.turned[flag, "start"] = first = start > high

            def to(value):
                def act(x, m):
                    m.side[flag] = value
                return act
            self.border(lambda t, x, m: a.temperature(x) - low, below=to(False))
            self.border(lambda t, x, m: a.temperature(x) - high, above=to(True))
            self.say(f"signal runs = integral(0 [1/s], {int(first)});", f"when {a.name}.e < {low!r} [K] {{ runs = 0; }}", f"when {a.name}.e > {high!r} [K] {{ runs = 1; }}")
            runs = lambda t, m: 1.0 if m.side[flag] else 0.0
        else:
            course = Course(self, 1.0, self.T, ["step", "pulse", "ramp", "bump"])
            self.say(f"signal runs = max({course.text}, 0);")
            runs = lambda t, m: max(course.value(t, m), 0.0)
        text = f"{g!r} [W/K]*runs*(a.e - b.e)"
        law = f"a.f = {text}/a.e; b.f = {text}/b.e;" if self.true else f"a.f = {text}; b.f = a.f;"
        self.say(f"R:water {{ port a -> b; {law} }}", f"{a.name} -> water.a;", f"water.b -> {b.name};")
        flow = lambda t, x, m: g*runs(t, m)*(a.temperature(x) - b.temperature(x))
        self.adds(a, lambda t, x, m: -flow(t, x, m))
        self.adds(b, flow)


if __name__ == "__main__":
    sys.exit(main(Model, "random thermal plants of tests/heats.py"))
