"""Programs apart of machines that switch, by SciPy: smooth between changes; borders that are passed, dry friction and relays that stick or slide, samples,
instants known before. A family of random tests gives a Machine its text and its equations.
"""
import json, math, os, random, re, subprocess, sys, warnings

import numpy as np
from scipy.integrate import LSODA, Radau

import apart
from apart import PassedOver, first, least, modes, step

POINTS = 61
OFF = 1e-5          # of a column's range,
OFF_VALUE = 1e-5    # or of its greatest value,
OFF_FLOW = 1e-3     # of its range where it is a flow by a small difference
TIGHT = 1e-11
AT_REST = 1e-9      # of a slip, by its size
AHEAD = 1e-7        # of the run: looked ahead for a border to which the solution goes back, or among combinations of what sticks
NEAR = 1e-6         # of the run, from a change: there jumping columns are not compared
UNSTABLE = 100      # times what a hundred times the tolerance does to the program apart: bgc's may be off by that
LOOKS = 2           # of borders, in a step
MOST = 3000         # changes
MOST_STEPS = 40000


class Machine:
    """States with inertia (what a force is divided by), start and size; rates are sums of terms f(t, x, m), where m is the run: m.side of borders, m.held of
    samples, m.middle a time in the smooth piece of inputs. A friction acts along a row over the states, with limits (t, x, m) of its force."""

    def __init__(self, seed, name):
        self.r = random.Random(seed)
        self.inertia, self.start, self.size, self.terms, self.source = [], [], [], [], []
        self.frictions, self.borders, self.turned, self.samples, self.instants, self.held = [], [], {}, [], [], []
        self.outputs, self.files, self.name, self.lines, self.imports = [], {}, name, [], []
        self.stored, self.rest_size = None, []
        self.tight, self.longest, self.method = TIGHT, 1/200, "LSODA"

    def number(self, a, b, digits=3):
        return float(f"{self.r.uniform(a, b):.{digits}g}")

    def decade(self, a, b, digits=3):
        return float(f"{10**self.r.uniform(math.log10(a), math.log10(b)):.{digits}g}")

    def maybe(self, p=0.5):
        return self.r.random() < p

    def say(self, *lines):
        self.lines += [f"    {line}" for line in lines]

    def state(self, start=0.0, size=1.0, inertia=1.0):
        for to, what in ((self.start, start), (self.size, size), (self.inertia, inertia), (self.terms, [])):
            to.append(what)
        return len(self.start) - 1

    def border(self, f, above=None, below=None):
        """f(t, x, m), whose sign is m.side[k]; above, below: (x, m) when it turns. A border without f is a flag."""
        self.borders.append(f)
        k = len(self.borders) - 1
        if above:
            self.turned[k, True] = above
        if below:
            self.turned[k, False] = below
        return k

    def output(self, text, value, jumps=False):
        """jumps: a flow, or an effort, by a law; not what is stored"""
        self.say(f"output y{len(self.outputs)} {text};")
        self.outputs.append((value, jumps))

    def friction(self, row, limits, size):
        """row: {state: factor} or a function of m that gives one; limits(t, x, m): least and greatest force; size: of the slip"""
        self.frictions.append((row if callable(row) else lambda m: row, limits))
        self.rest_size.append(size)
        return len(self.frictions) - 1

    def finish(self, stop, more=""):
        self.stop = stop
        self.text = "\n".join(self.imports + [f"model {self.name} {{"] + self.lines + ["}", f"experiment run of {self.name} {{ stop = {stop!r} [s];{more} }}", ""])


class Run:
    def __init__(self, machine):
        self.a, self.t, self.x = machine, 0.0, np.array(machine.start, dtype=float)
        self.inertia, self.held = np.array(machine.inertia, dtype=float), list(machine.held)
        self.changes, self.steps = [], 0
        self.side = [True]*len(machine.borders)
        times = set(machine.instants)
        for period, offset, _ in machine.samples:
            times |= {offset + k*period for k in range(int(machine.stop/period) + 2)}
        self.times = sorted(t for t in times if 0 < t < machine.stop)
        if any(b - a < 1e-9*machine.stop for a, b in zip(self.times, self.times[1:])):
            close = [b for a, b in zip(self.times, self.times[1:]) if 0 < b - a < 1e-9*machine.stop]
            if any(b - min(self.times, key=lambda c: (c == b, abs(c - b))) > 1e-12*machine.stop for b in close):
                raise PassedOver
            self.times = [t for t in self.times if t not in close]
        self.middle = (self.times + [machine.stop])[0]/2
        self.sample()
        for k, f in enumerate(machine.borders):
            if f:
                self.side[k] = f(0.0, self.x, self) > 0
                if f(0.0, self.x, self) == 0:
                    raise PassedOver
            else:
                self.side[k] = machine.turned.get((k, "start"), True)
        self.mode = self.settled()

    def sample(self):
        for period, offset, act in self.a.samples:
            n = round((self.t - offset)/period)
            if n >= 0 and abs(offset + n*period - self.t) < 1e-11*self.a.stop:
                act(self.t, self.x, self)

    def rows(self):
        rows = np.zeros((len(self.a.frictions), len(self.x)))
        for row, (of, _) in zip(rows, self.a.frictions):
            for i, factor in of(self).items():
                row[i] = factor
        return rows

    def rates(self, t, x, mode):
        """Rates, and what holds."""
        rate = np.array([sum(f(t, x, self) for f in terms) for terms in self.a.terms], dtype=float)
        if not len(mode):
            return rate, []
        rows, held = self.rows(), np.zeros(len(mode))
        for j, (_, limits) in enumerate(self.a.frictions):
            if mode[j]:
                held[j] = limits(t, x, self)[1 if mode[j] > 0 else 0]
        rate = rate - rows.T @ held/self.inertia
        stuck = [j for j, side in enumerate(mode) if side == 0]
        if stuck:
            s = rows[stuck]
            held[stuck] = np.linalg.solve((s/self.inertia) @ s.T, s @ rate)
            rate = rate - s.T @ held[stuck]/self.inertia
        return rate, held

    def inside(self, j, t, x, force):
        low, high = self.a.frictions[j][1](t, x, self)
        return min(force - low, high - force)/max(abs(low), abs(high), 1e-12)

    def settled(self):
        if not self.a.frictions:
            return []
        slips = self.rows() @ self.x
        at_rest = [j for j in range(len(slips)) if abs(slips[j]) < AT_REST*self.a.rest_size[j]]
        return least((mode for mode in modes(slips, at_rest) if self.holds(mode, at_rest)), lambda mode: self.faults(mode, at_rest))

    def holds(self, mode, at_rest):
        try:
            rate, held = self.rates(self.t, self.x, mode)
        except np.linalg.LinAlgError:
            return False
        away = self.rows() @ rate
        return all(self.inside(j, self.t, self.x, held[j]) >= -1e-9 if mode[j] == 0 else away[j]*mode[j] > -1e-9*self.a.rest_size[j] for j in at_rest)

    def faults(self, mode, at_rest):
        h = AHEAD*self.a.stop
        x = self.ahead(h, mode)
        slips, held = self.rows() @ x, self.rates(self.t + h, x, mode)[1]
        return sum(self.inside(j, self.t + h, x, held[j]) < 0 if mode[j] == 0 else slips[j]*mode[j] <= 0 for j in at_rest)

    def ahead(self, h, mode):
        return np.array(step(lambda t, *x: self.rates(t, np.array(x), mode)[0], self.t, self.x, h))

    def watched(self):
        """(function that falls through zero, what then)"""
        for k, f in enumerate(self.a.borders):
            if f:
                yield (lambda t, x, f=f, sign=1 if self.side[k] else -1: sign*f(t, x, self)), ("border", k)
        for j, side in enumerate(self.mode):
            if side == 0:
                yield (lambda t, x, j=j: self.inside(j, t, x, self.rates(t, x, self.mode)[1][j]) + 1e-11), ("stick", j)
            else:
                row = self.rows()[j]
                yield (lambda t, x, row=row, j=j, side=side: side*(row @ x)/self.a.rest_size[j] + 1e-11), ("slip", j)

    def go(self, until, grid):
        """Without a change; to a change if there is one before."""
        found, a, kind = list(self.watched()), self.a, LSODA if self.a.method == "LSODA" else Radau
        solver = kind(lambda t, x: self.rates(t, x, self.mode)[0], self.t, self.x, until, rtol=a.tight, atol=1e-3*a.tight*np.array(a.size),
                      max_step=a.longest*a.stop)
        before = [f(self.t, self.x) for f, _ in found]
        while solver.status == "running":
            solver.step()
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise PassedOver
            if solver.status == "failed" or not np.isfinite(solver.y).all():
                raise PassedOver
            dense, low = solver.dense_output(), self.t
            for t in np.linspace(low, solver.t, LOOKS + 1)[1:]:
                now = [f(t, dense(t)) for f, _ in found]
                crossed = [k for k in range(len(found)) if now[k] < 0 <= before[k]]
                if crossed:
                    return self.at_change(found, crossed, dense, low, t, grid)
                low, before = t, now
            self.see(grid, dense, solver.t)
            self.t, self.x = solver.t, solver.y.copy()
        return []

    def at_change(self, found, crossed, dense, low, high, grid):
        """What changes first, by the polynomial of a step."""
        def time(k):
            return low + first(lambda h: found[k][0](low + h, dense(low + h)) < 0, high - low, 4e-16*high)
        times = {k: time(k) for k in crossed}
        at = min(times.values())
        self.see(grid, dense, at)
        self.t, self.x = at, dense(at).copy()
        self.changes.append(at)
        if len(self.changes) > MOST:
            raise PassedOver
        return [found[k][1] for k, t in times.items() if t <= at*(1 + 1e-15)]

    def see(self, grid, dense, until):
        for t in grid:
            if self.t < t <= until:
                self.rows_seen.append((t, list(self.shown(t, dense(t)))))

    def shown(self, t, x):
        rate, held = self.rates(t, x, self.mode)
        self.rate, self.force = rate, held
        return [value(t, x, self) for value, _ in self.a.outputs]

    def turn(self, turned):
        for kind, k in turned:
            if kind == "border":
                self.side[k] = not self.side[k]
                act = self.a.turned.get((k, self.side[k]))
                if act:
                    act(self.x, self)
            elif kind == "slip":
                self.to_rest(k)
        for k, f in enumerate(self.a.borders):      # what the acts have turned
            if f and ("border", k) not in turned and (f(self.t, self.x, self) > 0) != self.side[k] and abs(f(self.t, self.x, self)) > 1e-9:
                raise PassedOver
        self.mode = self.settled()
        h = AHEAD*self.a.stop
        x = self.ahead(h, self.mode)
        for kind, k in turned:
            if kind == "border" and self.a.borders[k] and (self.a.borders[k](self.t + h, x, self) > 0) != self.side[k]:
                raise PassedOver

    def to_rest(self, j):
        row = self.rows()[j]
        self.x = self.x - row/self.inertia*(row @ self.x)/(row @ (row/self.inertia))

    def whole(self):
        grid = [self.a.stop*k/(POINTS - 1) for k in range(POINTS)]
        self.rows_seen = [(0.0, self.shown(0.0, self.x))]
        ends = self.times + [self.a.stop]
        for k, end in enumerate(ends):
            self.middle = (self.t + end)/2
            self.retake()
            while end - self.t > 1e-13*self.a.stop:
                turned = self.go(end, grid)
                if turned:
                    self.turn(turned)
            self.t = end
            if end < self.a.stop:
                self.middle = (end + ends[k + 1])/2
                self.sample()
                self.changes.append(end)
        if len(self.rows_seen) != POINTS:
            raise PassedOver
        return self.rows_seen

    def retake(self):
        """Borders and sticking after an instant at which inputs or held values may have jumped."""
        for k, f in enumerate(self.a.borders):
            if f and self.t > 0 and (f(self.t, self.x, self) > 0) != self.side[k] and abs(f(self.t, self.x, self)) > 1e-9:
                self.turn([("border", k)])
        self.mode = self.settled()


def rows_of(machine):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            try:
                run = Run(machine)
                return run, run.whole()
            finally:
                os.dup2(kept, 1)
                os.close(kept)
                os.close(nowhere)
        except (ArithmeticError, RuntimeWarning):
            raise PassedOver


def at_looser(machine):
    """What the program apart gives with a hundred times its tolerance: where errors grow, bgc's do too."""
    machine.tight *= 100
    try:
        return np.array([row for _, row in rows_of(machine)[1]])
    except PassedOver:
        return None
    finally:
        machine.tight /= 100


def fault(expected, bgc, path, solver):
    """What differs, or None."""
    run, rows = expected
    seen, error = apart.run(bgc, path, solver, "--points", str(POINTS))
    if seen is None:
        return error
    if len(seen) != len(rows):
        return f"ends at {seen[-1][0]:g} s, with {len(seen)} rows, not {len(rows)}"
    seen, values = np.array(seen), np.array([row for _, row in rows])
    near = np.array([any(abs(t - c) < NEAR*run.a.stop for c in run.changes) for t, _ in rows])
    faults, loose = [], None
    for i, (_, jumps) in enumerate(run.a.outputs):
        off = abs(seen[:, i + 1] - values[:, i])
        off[~np.isfinite(off)] = math.inf
        off[near] = 0
        extent = np.ptp(values[:, i])
        if off.max() <= max((OFF_FLOW if jumps else OFF)*extent, OFF_VALUE*abs(values[:, i]).max(), AT_REST):
            continue
        if loose is None:
            loose = at_looser(run.a)
        if loose is not None and not (off <= UNSTABLE*abs(loose[:, i] - values[:, i]).max()).all():
            faults.append(f"y{i} at {seen[off.argmax(), 0]:g} s is {seen[off.argmax(), i + 1]!r}, not {values[off.argmax(), i]!r} "
                          f"(off by {off.max()/extent if extent else math.inf:.1e} of its range)")
    return "\n    ".join(faults + audit(run, bgc, path, solver)) or None


def audit(run, bgc, path, solver):
    """The energies that the program apart tells."""
    if not run.a.stored:
        return []
    told = subprocess.run([bgc, "run", path, "--solver", solver, "--json", "--points", "2"], capture_output=True, text=True)
    energy = json.loads(told.stdout)["energy"]
    size, faults = max(energy["size"], 1e-9), []
    for name, value in (("supplied", run.a.supplied(run.x)), ("stored", run.a.stored(run.x) - run.a.stored(np.array(run.a.start)))):
        if abs(energy[name] - value) > 3e-5*size:
            faults.append(f"{name} is {energy[name]!r} J, not {value!r} of {size!r}")
    if abs(energy["residual"]) > 1e-4*size:
        faults.append(f"residual {energy['residual']!r} of {size!r} J")
    return faults


class Course:
    """A function of time between -size and size, or 0 and size: its text and value(t, m); its corners are instants of the machine."""

    def __init__(self, machine, size, stop, kinds=None, unit=""):
        self.a, self.size, self.stop, self.unit = machine, size, stop, unit
        self.text = getattr(self, machine.r.choice(kinds or ["constant", "step", "ramp", "pulse", "bump", "sine", "chirp", "table", "gauss"]))()

    def corner(self, *times):
        self.a.instants += times

    def part(self, a, b):
        return self.a.number(a*self.stop, b*self.stop)

    def of(self, value):
        return f"{value!r} [{self.unit}]" if self.unit else repr(value)

    def constant(self):
        self.value, self.rate = (lambda t, m: self.size), (lambda t, m: 0.0)
        return self.of(self.size)

    def step(self):
        at, before = self.part(0.05, 0.6), self.size*self.a.r.choice([0, 0, -1, 0.3])
        self.corner(at)
        self.value = lambda t, m: self.size if m.middle > at else before
        return f"(if time < {at} [s] then {self.of(before)} else {self.of(self.size)})"

    def pulse(self):
        at, long = self.part(0.05, 0.6), self.part(0.001, 0.3)
        self.corner(at, at + long)
        self.value = lambda t, m: self.size if at < m.middle < at + long else 0.0
        return f"(if time >= {at} [s] and time < {at + long!r} [s] then {self.of(self.size)} else {self.of(0)})"

    def ramp(self):
        at, long = self.part(0.02, 0.5), self.part(0.01, 0.4)
        self.corner(at, at + long)
        self.value = lambda t, m: 0.0 if m.middle < at else self.size if m.middle > at + long else self.size*(t - at)/long
        self.rate = lambda t, m: self.size/long if at < m.middle < at + long else 0.0
        return f"{self.of(self.size)}*min(max((time - {at} [s])/{long} [s], 0), 1)"

    def bump(self):
        at, long = self.part(0.05, 0.6), self.part(0.002, 0.3)
        self.corner(at, at + long)
        self.value = lambda t, m: self.size*(1 - math.cos(2*math.pi*(t - at)/long))/2 if at < m.middle < at + long else 0.0
        self.rate = lambda t, m: self.size*math.pi/long*math.sin(2*math.pi*(t - at)/long) if at < m.middle < at + long else 0.0
        return (f"(if time > {at} [s] and time < {at + long!r} [s] then {self.of(self.size)}*(1 - cos(2*pi*(time - {at} [s])/{long} [s]))/2 "
                f"else {self.of(0)})")

    def sine(self):
        rate, shift = self.a.number(3, 60)/self.stop, self.a.number(0, 3)
        self.value = lambda t, m: self.size*math.sin(rate*t + shift)
        self.rate = lambda t, m: self.size*rate*math.cos(rate*t + shift)
        return f"{self.of(self.size)}*sin({rate!r} [1/s]*time + {shift})"

    def chirp(self):
        w, c = self.a.number(0, 10)/self.stop, self.a.number(5, 100)/self.stop**2
        self.value = lambda t, m: self.size*math.sin((w + c*t)*t)
        self.rate = lambda t, m: self.size*(w + 2*c*t)*math.cos((w + c*t)*t)
        return f"{self.of(self.size)}*sin(({w!r} [1/s] + {c!r} [1/s^2]*time)*time)"

    def gauss(self):
        at, wide = self.part(0.1, 0.8), self.part(0.002, 0.1)
        self.corner(*(t for t in (at - 6*wide, at, at + 6*wide) if 0 < t < self.stop))
        self.value = lambda t, m: self.size*math.exp(-((t - at)/wide)**2)
        self.rate = lambda t, m: -2*(t - at)/wide**2*self.value(t, m)
        return f"{self.of(self.size)}*exp(-((time - {at} [s])/{wide} [s])^2)"

    def table(self):
        x = [0.0] + sorted({self.part(0.01, 0.95) for _ in range(self.a.r.randint(2, 8))}) + [2*self.stop]
        y = [self.a.number(-1, 1)*self.size for _ in x]
        self.corner(*x[1:-1])
        name = f"t{len(self.a.files)}.csv"
        self.a.files[name] = "time [s],value" + (f" [{self.unit}]" if self.unit else "") + "\n" + "".join(f"{a!r},{b!r}\n" for a, b in zip(x, y))

        def piece(m):
            return next(k for k in range(len(x) - 1) if m.middle < x[k + 1])

        def value(t, m):
            k = piece(m)
            return y[k] + (y[k + 1] - y[k])*(t - x[k])/(x[k + 1] - x[k])

        def rate(t, m):
            k = piece(m)
            return (y[k + 1] - y[k])/(x[k + 1] - x[k])
        self.value, self.rate = value, rate
        return f'table("{name}", 2, time)'


# ---- cases of tests/run ----

ROWS = (15, 30, 45, 60)


def case(make, seeds, what, limit=5):
    """Models of these seeds as one case, which needs neither SciPy nor this program."""
    checks, models = [], []
    for seed in seeds:
        machine = make(seed)
        rows, units = rows_of(machine)[1], [re.search(r"(\[.*?\])?;?$", line.split("=")[0].strip())[0].strip("[]") for line in machine.lines if line.strip().startswith("output")]
        values, run = np.array([row for _, row in rows]), f"run{seed}"
        checks += [f"// run      bgc run %s -e {run} --points {POINTS}", f"// limit    {limit}", "// compare  " + "; ".join(
            f"y{i} rel 0 abs {max((OFF_FLOW if jumps else OFF)*np.ptp(values[:, i]), OFF_VALUE*abs(values[:, i]).max(), AT_REST):.2g} {units[i]}".rstrip()
            for i, (_, jumps) in enumerate(machine.outputs))]
        checks += ["// expect   " + f"{rows[k][0]:.12g} " + " ".join(f"{v:.10g}" for v in rows[k][1]) for k in ROWS]
        models.append(machine.text.replace(f"model {machine.name} {{", f"model {machine.name}{seed} {{").replace(
            f"experiment run of {machine.name} {{", f"experiment {run} of {machine.name}{seed} {{"))
    imports = [line for line in dict.fromkeys(line for text in models for line in text.split("\n")) if line.startswith(("domain", "import"))]
    models = ["\n".join(line for line in text.split("\n") if line not in imports) for text in models]
    print("\n".join([f"// what     {what}", "// source   SciPy, on the same physics", *checks, *imports, *models]), end="")


def main(make, what):
    """Runs seeds as apart.main; `--case SEED...` writes them as a case."""
    if sys.argv[1:2] == ["--case"]:
        return case(make, [int(seed) for seed in sys.argv[2:]], what)
    return apart.main(make, rows_of, fault)
