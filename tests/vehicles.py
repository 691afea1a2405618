#!/usr/bin/env python3
"""Random vehicles: an engine by a map, clutch, gears that change, an elastic shaft, a differential, tyres with slip, brakes, anti-lock control, grades,
wind; suspensions with stops, dry friction and anti-roll bars over roads. What bgc gives at default tolerances must be what SciPy gives of the same physics.

python3 tests/vehicles.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds
"""
import math, sys

from hybrid import Course, Machine, main

G = 9.81


class Model(Machine):
    def __init__(self, seed):
        super().__init__(seed, "vehicle")
        self.powers, self.energies, self.load = [], [], None
        r = self.r
        kind = r.choice(["along", "along", "up", "both"])
        self.T = self.number(2, 12) if kind == "along" else self.number(0.5, 4)
        if kind != "along":
            self.vertical()
        if kind != "up":
            self.along()
        work = self.state(0.0, 1e4)
        self.terms[work].append(lambda t, x, m: sum(p(t, x, m) for p in self.powers))
        self.supplied = lambda x: x[work]
        self.stored = lambda x: sum(e(x) for e in self.energies)
        self.finish(self.T)

    def inert(self, k):
        self.energies.append(lambda x: self.inertia[k]*x[k]**2/2)

    # ---- vertical ----

    def vertical(self):
        self.corners = 2 if self.maybe(0.4) else 1
        ms = self.number(200, 600)*self.corners
        self.say(f"1:body -> I:sprung = {ms} [kg];", f"Se:weight = {-ms*G!r} [N] -> body;")
        zs = self.zs = self.state(0.0, 1.0, ms)
        self.inert(zs)
        self.terms[zs].append(lambda t, x, m: -G)
        self.powers.append(lambda t, x, m: -ms*G*x[zs])
        self.output("[m/s] = body.f", lambda t, x, m: x[zs])
        arms, roll = [0.0], None
        if self.corners == 2:
            inertia, arm = self.number(100, 600), self.number(0.5, 0.9)
            roll = self.state(self.r.choice([0.0, self.number(-0.5, 0.5)]), 1.0, inertia)
            self.inert(roll)
            arms = [arm, -arm]
            self.say(f"1:roll -> I:turning = {inertia} [kg.m^2] {{ f(0) = {self.start[roll]} [rad/s]; }}")
            self.output("[rad/s] = roll.f", lambda t, x, m: x[roll])
            if self.maybe():
                push = Course(self, self.number(100, 3000), self.T, unit="N.m")
                self.say(f"Se:side = {push.text};", "side -> roll;")
                self.terms[roll].append(lambda t, x, m: push.value(t, m)/inertia)
                self.powers.append(lambda t, x, m: push.value(t, m)*x[roll])
        legs = [self.leg(i, ms/self.corners, roll, arm) for i, arm in enumerate(arms)]
        if self.corners == 2 and self.maybe(0.7):
            self.anti_roll(legs, roll, arms)

    def leg(self, i, share, roll, arm):
        """Wheel, tyre and suspension of a corner."""
        r, zs = self.r, self.zs
        mu, k, kt = self.number(20, 60), self.number(1e4, 4e4), self.number(1e5, 3e5)
        zu = self.state(0.0, 1.0, mu)
        self.inert(zu)
        self.say(f"1:wheel{i} -> I:unsprung{i} = {mu} [kg];", f"Se:pull{i} = {-mu*G!r} [N] -> wheel{i};")
        self.terms[zu].append(lambda t, x, m: -G)
        self.powers.append(lambda t, x, m: -mu*G*x[zu])
        q, tyre = self.state(share*G/k, 0.1), self.state((share + mu)*G/kt, 0.05)
        self.say(f"wheel{i} -> 0:strut{i};", f"strut{i} -> body;")
        if roll is not None:
            self.say(f"strut{i} -> TF:arm{i} {{ out.e = {arm!r} [m]*in.e; }} -> roll;")
        self.say(f"strut{i} -> 1:travel{i};")
        gap, ks = self.number(0.02, 0.08), self.number(5e4, 8e5)
        over, under, power = share*G/k + gap, share*G/k - gap, r.choice([1, 1, 2])
        ks = ks if power == 1 else ks*20
        unit = "N/m" if power == 1 else "N/m^2"
        p = "" if power == 1 else "^2"
        law = f"{k} [N/m]*q + " + r.choice([
            f"(if q > {over!r} [m] then {ks} [{unit}]*(q - {over!r} [m]){p} else if q < {under!r} [m] then -{ks} [{unit}]*({under!r} [m] - q){p} else 0 [N])",
            f"{ks} [{unit}]*(max(q - {over!r} [m], 0){p} - max({under!r} [m] - q, 0){p})"])
        self.say(f"travel{i} -> C:spring{i} {{ e = {law}; q(0) = {self.start[q]!r} [m]; }}")

        def spring(x):
            beyond, below = max(x[q] - over, 0.0), max(under - x[q], 0.0)
            return k*x[q] + ks*(beyond**power - below**power)
        self.energies.append(lambda x: k*x[q]**2/2 + ks/(power + 1)*(max(x[q] - over, 0.0)**(power + 1) + max(under - x[q], 0.0)**(power + 1)))
        damper = self.damper(i, zs)
        arm_ = arm if roll is not None else 0.0

        def rate(x):
            return x[zu] - x[zs] - (arm_*x[roll] if roll is not None else 0.0)

        def force(t, x, m):
            return spring(x) + damper(rate(x), x, m)
        self.terms[q].append(lambda t, x, m: rate(x))
        self.terms[zs].append(lambda t, x, m: force(t, x, m)/self.inertia[zs])
        self.terms[zu].append(lambda t, x, m: -force(t, x, m)/mu)
        if roll is not None:
            self.terms[roll].append(lambda t, x, m: arm_*force(t, x, m)/self.inertia[roll])
        if self.maybe(0.3):
            f = self.number(20, 300)
            row = {zu: 1.0, zs: -1.0}
            if roll is not None:
                row[roll] = -arm_
            self.friction(row, lambda t, x, m: (-f, f), 1.0)
            self.say(f"travel{i} -> R:rub{i} {{ e = {f} [N]*sign(f); }}")
        road, dt, lifts = self.road(), self.r.choice([0.0, self.number(50, 500)]), self.maybe(0.6)
        self.say(f"Sf:ground{i} = {road.speed} -> 0:patch{i} -> wheel{i};", f"patch{i} -> 1:press{i};")
        law = f"max({kt} [N/m]*q, 0 [N])" if lifts else f"{kt} [N/m]*q"
        self.say(f"press{i} -> C:carcass{i} {{ e = {law}; q(0) = {self.start[tyre]!r} [m]; }}")
        if dt:
            self.say(f"press{i} -> R:rubber{i} = {dt} [N.s/m];")

        def press(x):
            return max(kt*x[tyre], 0.0) if lifts else kt*x[tyre]

        def under_wheel(t, x, m):
            return press(x) + dt*(road.rate(t, m) - x[zu])
        self.energies.append(lambda x: kt*(max(x[tyre], 0.0) if lifts else x[tyre])**2/2)
        self.terms[tyre].append(lambda t, x, m: road.rate(t, m) - x[zu])
        self.terms[zu].append(lambda t, x, m: under_wheel(t, x, m)/mu)
        self.powers.append(lambda t, x, m: under_wheel(t, x, m)*road.rate(t, m))
        self.output(f"[m] = spring{i}.q", lambda t, x, m: x[q])
        self.output(f"[N] = carcass{i}.e", lambda t, x, m: press(x))
        self.output(f"[m/s] = wheel{i}.f", lambda t, x, m: x[zu])
        if i == 0:
            self.load = ("max(carcass0.e, 0 [N])", lambda x: max(press(x), 0.0))
        return q, rate, zu

    def damper(self, i, zs):
        kind, a, b = self.r.choice(["linear", "asymmetric", "asymmetric", "bent", "sky", "power"]), self.number(500, 2500), self.number(500, 4000)
        if kind == "linear":
            self.say(f"travel{i} -> R:damper{i} = {a} [N.s/m];")
            return lambda f, x, m: a*f
        if kind == "asymmetric":
            self.say(f"travel{i} -> R:damper{i} {{ e = (if f > 0 then {a} [N.s/m] else {b} [N.s/m])*f; }}")
            return lambda f, x, m: (a if f > 0 else b)*f
        if kind == "bent":
            at = self.number(0.05, 0.4)
            self.say(f"travel{i} -> R:damper{i} {{ e = {b} [N.s/m]*max(min(f, {at} [m/s]), -{at} [m/s]) + {a/5!r} [N.s/m]*f; }}")
            return lambda f, x, m: b*max(min(f, at), -at) + a/5*f
        if kind == "power":
            n = self.number(0.5, 0.9)
            self.say(f"travel{i} -> R:damper{i} {{ e = {a} [N]*spow(f/1 [m/s], {n}); }}")
            return lambda f, x, m: math.copysign(a*abs(f)**n, f)
        high, low = max(a, b), min(a, b)/5
        on = self.border(lambda t, x, m: x[zs] - 1e-3)
        self.say(f"travel{i} -> MR:damper{i} {{ e = (if body.f > 0.001 [m/s] then {high} [N.s/m] else {low!r} [N.s/m])*f; }}")
        return lambda f, x, m: (high if m.side[on] else low)*f

    def road(self):
        kind = self.r.choice(["bump", "sine", "chirp", "ramp", "table", "gauss"])
        course = Course(self, self.number(0.01, 0.12)*(0.2 if kind in ("sine", "chirp") else 1), self.T, [kind], "m")
        course.speed = f"der({course.text})"
        return course

    def anti_roll(self, legs, roll, arms):
        k, (left, rate_l, zl), (right, rate_r, zr) = self.number(5e3, 5e4), *legs
        bar = self.state(0.0, 0.1)
        self.say("travel0 -> 0:bar -> travel1;", f"bar -> C:rod = 1/({k} [N/m]);")
        self.terms[bar].append(lambda t, x, m: rate_l(x) - rate_r(x))
        self.energies.append(lambda x: k*x[bar]**2/2)
        for of, factor in ((zl, -1), (zr, 1), (roll, arms[0] - arms[1])):
            self.terms[of].append(lambda t, x, m, of=of, factor=factor: factor*k*x[bar]/self.inertia[of])
        self.output("[m] = rod.q", lambda t, x, m: x[bar])

    # ---- along ----

    def along(self):
        r = self.r
        self.mass = self.number(800, 2500)
        self.wheels = r.choice([0, 1, 1, 2, 2])
        start = r.choice([0.0, 0.0, self.number(1, 30), self.number(-3, 3)])
        self.v = v = self.state(start, 10.0, self.mass)
        self.inert(v)
        self.say(f"1:v -> I:car = {self.mass} [kg] {{ f(0) = {start} [m/s]; }}")
        self.output("[m/s] = v.f", lambda t, x, m: x[v])
        self.way = s = self.state(0.0, 10.0)
        self.terms[s].append(lambda t, x, m: x[v])
        self.say("signal way [m] = integral(v.f);")
        self.output("[m] = way", lambda t, x, m: x[s])
        self.resist()
        if self.wheels == 0:
            self.push()
            if self.maybe(0.7):
                self.brake_on("v", v, 1.0)
            return
        self.radius = self.number(0.25, 0.4)
        self.axles = [self.wheel(i, start) for i in range(self.wheels)]
        getattr(self, r.choice(["engine", "engine", "engine", "torque", "coast"]))()

    def resist(self):
        v, s, m_ = self.v, self.way, self.mass
        if self.maybe(0.7):
            c, wind = self.number(0.2, 1.5), Course(self, self.number(-15, 15), self.T, unit="m/s") if self.maybe() else None
            text = "f" if wind is None else "(f + wind)"
            if wind:
                self.say(f"signal wind [m/s] = {wind.text};")
            over = (lambda t, x, m: x[v]) if wind is None else (lambda t, x, m: x[v] + wind.value(t, m))
            self.say(f"v -> {'R' if wind is None else 'MR'}:air {{ e = {c} [N.s^2/m^2]*{text}*abs({text}); }}")
            self.terms[v].append(lambda t, x, m: -c*over(t, x, m)*abs(over(t, x, m))/m_)
        kind = self.r.random()
        if kind < 0.4:
            f = self.number(0.005, 0.03)*m_*G
            self.say(f"v -> R:rolling {{ e = {f!r} [N]*sign(f); }}")
            self.friction({v: 1.0}, lambda t, x, m: (-f, f), 1.0)
        elif kind < 0.6:
            f, v0 = self.number(0.005, 0.03)*m_*G, self.number(0.02, 0.5)
            self.say(f"v -> R:rolling {{ e = {f!r} [N]*tanh(f/{v0} [m/s]); }}")
            self.terms[v].append(lambda t, x, m: -f*math.tanh(x[v]/v0)/m_)
        kind = self.r.random()
        if kind < 0.3:
            g = self.number(-0.12, 0.12)
            pull = f"{-m_*G*g!r} [N]", lambda t, x, m: -m_*G*g
        elif kind < 0.5:
            g, long = self.number(-0.12, 0.12), self.number(3, 30)
            pull = f"{-m_*G!r} [N]*sin(atan({g}*sin(way/{long} [m])))", lambda t, x, m: -m_*G*math.sin(math.atan(g*math.sin(x[s]/long)))
        elif kind < 0.65:
            course = Course(self, self.number(-0.1, 0.1), self.T)
            pull = f"{-m_*G!r} [N]*{course.text}", lambda t, x, m: -m_*G*course.value(t, m)
        else:
            return
        self.say(f"MSe:grade = {pull[0]};", "grade -> v;")
        self.terms[v].append(lambda t, x, m: pull[1](t, x, m)/m_)
        self.powers.append(lambda t, x, m: pull[1](t, x, m)*x[v])

    def push(self):
        v, course = self.v, Course(self, self.number(-5000, 5000), self.T, unit="N")
        self.say(f"MSe:push = {course.text};", "push -> v;")
        self.terms[v].append(lambda t, x, m: course.value(t, m)/self.mass)
        self.powers.append(lambda t, x, m: course.value(t, m)*x[v])

    def brake_on(self, place, k, radius, name="brake"):
        """Dry friction whose capacity follows time."""
        course = Course(self, self.number(0.1, 0.9)*self.mass*G*radius, self.T, ["ramp", "ramp", "pulse", "bump", "step", "table"],
                        "N" if radius == 1.0 else "N.m")
        sign = "max({}, 0)" if "table" in course.text or "-" in course.text else "{}"
        capacity = (lambda t, m: max(course.value(t, m), 0.0)) if sign != "{}" else course.value
        self.say(f"signal c_{name} = {sign.format(course.text)};", f"{place} -> MR:{name} {{ e = c_{name}*sign(f); }}")
        self.friction({k: 1.0}, lambda t, x, m: (-capacity(t, m), capacity(t, m)), 1.0/radius)

    def wheel(self, i, start):
        r, R, v = self.r, self.radius, self.v
        J = self.number(0.5, 2)
        w = self.state(start/R, 10.0, J)
        self.inert(w)
        self.say(f"1:axle{i} -> I:rim{i} = {J} [kg.m^2] {{ f(0) = {start/R!r} [rad/s]; }}", f"axle{i} -> TF:round{i} = {R} [m] -> 0:road{i} -> v;",
                 f"road{i} -> 1:sliding{i};")
        load, mu = self.mass*G/self.wheels*0.5, self.number(0.2, 1.1)
        if self.load and i == 0 and self.maybe(0.7):
            N, value = self.load[0], lambda t, x, m: self.load[1](x)
        else:
            N, value = f"{load!r} [N]", lambda t, x, m: load
        slip = lambda x: R*x[w] - x[v]
        kind = r.choice(["line", "curve", "curve", "relax", "rub"])
        if kind == "rub":
            self.say(f"sliding{i} -> MR:tyre{i} {{ e = {mu}*{N}*sign(f); }}")
            self.friction({w: R, v: -1.0}, lambda t, x, m: (-mu*value(t, x, m), mu*value(t, x, m)), 1.0)
        else:
            force = getattr(self, "tyre_" + kind)(i, mu, N, value, slip)
            self.terms[w].append(lambda t, x, m: -R*force(t, x, m)/J)
            self.terms[v].append(lambda t, x, m: force(t, x, m)/self.mass)
            self.output(f"[N] = tyre{i}.e", force, jumps=True)
        self.output(f"[rad/s] = axle{i}.f", lambda t, x, m: x[w])
        if self.maybe(0.6):
            if i == 0 and kind != "rub" and start > 5 and self.maybe(0.7):
                self.anti_lock(i, w, slip)
            else:
                self.brake_on(f"axle{i}", w, R, f"brake{i}")
        return w

    def tyre_line(self, i, mu, N, value, slip):
        c, v0, v = self.number(2e4, 8e4), self.number(0.1, 1), self.v
        self.say(f"sliding{i} -> MR:tyre{i} {{ e = max(-{mu}*{N}, min({mu}*{N}, {c} [N]*f/max(abs(v.f), {v0} [m/s]))); }}")
        return lambda t, x, m: max(-mu*value(t, x, m), min(mu*value(t, x, m), c*slip(x)/max(abs(x[v]), v0)))

    def tyre_curve(self, i, mu, N, value, slip):
        B, C, E, v0, v = self.number(5, 12), self.number(1.2, 1.9), self.number(-1, 0.9), self.number(0.1, 1), self.v
        low = self.r.choice([f"max(abs(v.f), {v0} [m/s])", f"(abs(v.f) + {v0} [m/s])", f"sqrt(v.f^2 + ({v0} [m/s])^2)"])
        speed = {"m": lambda x: max(abs(x[v]), v0), "(": lambda x: abs(x[v]) + v0, "s": lambda x: math.sqrt(x[v]**2 + v0**2)}[low[0]]
        self.say(f"signal k{i} = sliding{i}.f/{low};", f"sliding{i} -> MR:tyre{i} {{ e = {mu}*{N}*sin({C}*atan({B}*k{i} - {E}*({B}*k{i} - atan({B}*k{i})))); }}")

        def force(t, x, m):
            k = B*slip(x)/speed(x)
            return mu*value(t, x, m)*math.sin(C*math.atan(k - E*(k - math.atan(k))))
        return force

    def tyre_relax(self, i, mu, N, value, slip):
        B, C, long, d, v = self.number(5, 12), self.number(1.2, 1.9), self.number(0.1, 0.6), self.number(50, 500), self.v
        k = self.state(0.0, 0.1)
        self.say(f"signal k{i} = integral((sliding{i}.f - abs(v.f)*k{i})/{long} [m]);",
                 f"sliding{i} -> MR:tyre{i} {{ e = {mu}*{N}*sin({C}*atan({B}*k{i})) + {d} [N.s/m]*f; }}")
        self.terms[k].append(lambda t, x, m: (slip(x) - abs(x[v])*x[k])/long)
        return lambda t, x, m: mu*value(t, x, m)*math.sin(C*math.atan(B*x[k])) + d*slip(x)

    def anti_lock(self, i, w, slip):
        """Pressure that rises and falls by thresholds of the slip, located or sampled; below a speed the brake stays on."""
        v, R = self.v, self.radius
        most, up, down, low, slow = self.number(0.5, 1.5)*self.mass*G*R, self.number(0.05, 0.3), self.number(0.02, 0.1), self.number(0.03, 0.1), self.number(0.5, 3)
        high, at = low + self.number(0.05, 0.2), self.part_of_run(0.02, 0.3)
        p = self.state(0.0, 1000.0)
        self.instants.append(at)
        ratio = lambda x: -slip(x)/max(x[v], slow)
        text = f"(-sliding{i}.f)/max(v.f, {slow} [m/s])"
        if self.maybe():
            n = len(self.held)
            self.held.append(1.0)
            every = self.number(0.002, 0.02)
            self.say("signal valve = 1;", f"every {every} [s] {{ valve = if {text} > {high!r} then 0 else if {text} < {low!r} then 1 else valve; }}")

            def act(t, x, m):
                m.held[n] = 0.0 if ratio(x) > high else 1.0 if ratio(x) < low else m.held[n]
            self.samples.append((every, 0.0, act))
            on = lambda m: m.held[n] > 0.5
        else:
            flag = self.border(None)

            def to(value):
                def act(x, m):
                    m.side[flag] = value
                return act
            self.border(lambda t, x, m: ratio(x) - high, above=to(False))
            self.border(lambda t, x, m: ratio(x) - low, below=to(True))
            self.say("signal valve = 1;", f"when {text} > {high!r} {{ valve = 0; }}", f"when {text} < {low!r} {{ valve = 1; }}")
            on = lambda m: m.side[flag]
        self.say(f"signal press [N.m] = integral((if valve > 0.5 then (if time > {at} [s] then ({most!r} [N.m] - press)/{up} [s] else 0 [N.m/s]) else -press/{down} [s]));",
                 f"axle{i} -> MR:brake{i} {{ e = press*sign(f); }}")
        self.terms[p].append(lambda t, x, m: ((most - x[p])/up if m.middle > at else 0.0) if on(m) else -x[p]/down)
        self.friction({w: 1.0}, lambda t, x, m: (-max(x[p], 0.0), max(x[p], 0.0)), 10.0)
        self.output("[N.m] = press", lambda t, x, m: x[p])

    def part_of_run(self, a, b):
        return self.number(a*self.T, b*self.T)

    def coast(self):
        pass

    def torque(self):
        course = Course(self, self.number(-1500, 1500), self.T, unit="N.m")
        w = self.axles[0]
        self.say(f"MSe:drive = {course.text};", "drive -> axle0;")
        self.terms[w].append(lambda t, x, m: course.value(t, m)/self.inertia[w])
        self.powers.append(lambda t, x, m: course.value(t, m)*x[w])

    def engine(self):
        r, v, R = self.r, self.v, self.radius
        J, Jg, k, d, final = self.number(0.1, 0.3), self.number(0.02, 0.1), self.number(2e3, 2e4), self.number(10, 100), self.number(3, 5)
        ratios = sorted((self.number(0.7, 4) for _ in range(3)), reverse=True)
        n = len(self.held)
        self.held.append(0)
        start = self.start[v]
        speed = start/R*final*ratios[0]
        if speed > 600:
            self.held[n] = 2
            speed = start/R*final*ratios[2]
        idle = self.number(80, 200) if self.maybe(0.7) else max(speed, 60.0)
        self.say(f"signal gear = {self.held[n] + 1};", f"signal ratio = if gear < 1.5 then {ratios[0]} else if gear < 2.5 then {ratios[1]} else {ratios[2]};")
        ratio = lambda m: ratios[int(m.held[n])]
        e, g, q = self.state(idle, 100.0, J), self.state(speed, 100.0, Jg), self.state(0.0, 0.1)
        for k_ in (e, g):
            self.inert(k_)
        self.energies.append(lambda x: k*x[q]**2/2)
        self.say(f"1:engine -> I:crank = {J} [kg.m^2] {{ f(0) = {idle!r} [rad/s]; }}", f"1:shaft_in -> I:box = {Jg} [kg.m^2] {{ f(0) = {speed!r} [rad/s]; }}",
                 f"shaft_in -> MTF:change = 1/ratio -> 0:shaft -> {'TF:final = ' + repr((2 if self.wheels == 2 else 1)/final) + ' -> ' + ('0:split' if self.wheels == 2 else 'axle0')};",
                 "shaft -> 1:twist;", f"twist -> C:elastic = 1/({k} [N.m/rad]);", f"twist -> R:loss = {d} [N.m.s/rad];")
        axles, W = self.axles, self.wheels
        if W == 2:
            self.say("split -> axle0;", "split -> axle1;")
            if self.maybe(0.4):
                lock = self.number(20, 300)
                self.say("axle0 -> 0:lsd -> axle1;", f"lsd -> R:lock {{ e = {lock} [N.m]*sign(f); }}")
                self.friction({axles[0]: 1.0, axles[1]: -1.0}, lambda t, x, m: (-lock, lock), 10.0)
        rate = lambda x, m: x[g]/ratio(m) - final*sum(x[w] for w in axles)/W
        torque = lambda x, m: k*x[q] + d*rate(x, m)
        self.terms[q].append(lambda t, x, m: rate(x, m))
        self.terms[g].append(lambda t, x, m: -torque(x, m)/ratio(m)/Jg)
        for w in axles:
            self.terms[w].append(lambda t, x, m, w=w: torque(x, m)*final/W/self.inertia[w])
        self.output("[rad/s] = engine.f", lambda t, x, m: x[e])
        self.output("[rad/s] = shaft_in.f", lambda t, x, m: x[g])
        self.output("[rad] = elastic.q", lambda t, x, m: x[q])
        self.clutch(e, g, n)
        self.map(e)

    def clutch(self, e, g, n):
        most, tau = self.number(200, 800), self.number(0.05, 0.4)
        c = self.state(self.r.choice([0.0, 0.0, 1.0]), 1.0)
        self.say(f"signal closed = integral((1 - closed)/{tau} [s], {self.start[c]});", "engine -> 0:plates -> shaft_in;",
                 f"plates -> MR:clutch {{ e = {most} [N.m]*closed*sign(f); }}")
        self.terms[c].append(lambda t, x, m: (1 - x[c])/tau)
        self.friction({e: 1.0, g: -1.0}, lambda t, x, m: (-most*x[c], most*x[c]), 100.0)
        high = self.number(250, 550)
        low = self.number(50, 120)

        def change(by, first, last):
            def act(x, m):
                if first <= m.held[n] <= last:
                    m.held[n] += by
                    x[c] = 0.0
            return act
        self.border(lambda t, x, m: x[e] - high, above=change(1, 0, 1))
        self.border(lambda t, x, m: x[e] - low, below=change(-1, 1, 2))
        self.say(f"when engine.f > {high} [rad/s] and gear < 2.5 {{ gear = gear + 1; closed = 0; }}",
                 f"when engine.f < {low} [rad/s] and gear > 1.5 {{ gear = gear - 1; closed = 0; }}")

    def map(self, e):
        """Torque by speed and throttle; the throttle by time, or by a sampled controller of the speed."""
        v, J = self.v, self.inertia[e]
        speeds, throttles = [60.0, self.number(120, 250), self.number(300, 450), 650.0], [0.0, self.number(0.3, 0.7), 1.0]
        rows = [[self.number(-5, 10), self.number(20, 90), self.number(90, 200)] for _ in range(3)] + [[-60.0, -50.0, -30.0]]
        if self.maybe():
            every, aim, p, i = self.number(0.02, 0.2), self.number(5, 30), self.number(0.05, 0.5), self.number(0.005, 0.1)
            n = len(self.held)
            self.held += [0.2, 0.2]
            self.say("signal throttle = 0.2;", "signal integral_part = 0.2;", f"every {every} [s] {{",
                     f"    integral_part = min(max(integral_part + {i*every!r}*({aim} [m/s] - v.f)/1 [m/s], 0), 1);",
                     f"    throttle = min(max({p}*({aim} [m/s] - v.f)/1 [m/s] + integral_part, 0), 1);", "}")

            def act(t, x, m):
                error = aim - x[v]
                m.held[n], m.held[n + 1] = min(max(p*error + m.held[n + 1], 0.0), 1.0), min(max(m.held[n + 1] + i*every*error, 0.0), 1.0)
            self.samples.append((every, 0.0, act))
            throttle = lambda t, m: m.held[n]
        else:
            course = Course(self, self.number(0.1, 0.9), self.T, ["constant", "step", "ramp", "pulse", "bump", "table"])
            self.say(f"signal throttle = min(max({course.text}, 0), 1);")
            throttle = lambda t, m: min(max(course.value(t, m), 0.0), 1.0)
        matrix = "; ".join(", ".join(map(repr, row)) for row in rows)
        self.say(f"signal M [N.m] = table2d({speeds} [rad/s], {throttles}, [{matrix}] [N.m], engine.f, throttle);", "MSe:gas = M -> engine;")
        drag = self.number(0.01, 0.08)
        self.say(f"engine -> R:drag = {drag} [N.m.s];")

        def torque(t, x, m):
            def along(values, at):
                at = min(max(at, values[0]), values[-1])
                j = max(k for k in range(len(values) - 1) if values[k] <= at)
                return j, (at - values[j])/(values[j + 1] - values[j])
            (a, p), (b, q) = along(speeds, x[e]), along(throttles, throttle(t, m))
            return sum(rows[a + i][b + j]*(p if i else 1 - p)*(q if j else 1 - q) for i in (0, 1) for j in (0, 1))
        self.terms[e].append(lambda t, x, m: (torque(t, x, m) - drag*x[e])/J)
        self.powers.append(lambda t, x, m: torque(t, x, m)*x[e])


if __name__ == "__main__":
    sys.exit(main(Model, "random vehicles of tests/vehicles.py"))
