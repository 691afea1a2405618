#!/usr/bin/env python3
"""Random linear systems driven by random samplers and counters: what `every`, `previous`, `when` and held values give must be what a program apart
gives, which goes from one instant to the next by the exponential of the matrix and applies the blocks as grammar/LANGUAGE.md says.

python3 tests/sampled.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds; a hundred take half a minute a solver
"""
import csv, io, math, os, random, subprocess, sys, tempfile

POINTS = 38
OFF = 1e-5        # of a value, by its column's greatest or 1
INSTANT = 1e-9    # s; what is closer is one instant
LOOK = 0.002      # s, between two looks at a condition
SECONDS = 60      # of a run


class Expression:
    """A text, and its value over the values `now` and those at the block's last sample."""

    def __init__(self, text, value):
        self.text, self.value = text, value


def some_expression(r, names, nx, previous=True, depth=0):
    def part():
        return some_expression(r, names, nx, previous, depth + 1)

    kind, number = r.random(), round(r.uniform(-1, 1), 2)
    if depth > 2 or kind < 0.35:
        name = r.choice(names)
        return Expression(name, lambda now, last: now[name])
    if kind < 0.45:
        return Expression(f"({number})", lambda now, last: number)
    if kind < 0.8:
        a, b, c = part(), part(), part()
        if kind < 0.6:
            return Expression(f"({a.text} + {number}*{b.text})", lambda now, last: a.value(now, last) + number*b.value(now, last))
        if kind < 0.7:
            word, of = r.choice([("min", min), ("max", max)])
            return Expression(f"{word}({a.text}, {b.text})", lambda now, last: of(a.value(now, last), b.value(now, last)))
        return Expression(f"(if {a.text} > 0.1 then {b.text} else 0.5*{c.text})",
                          lambda now, last: b.value(now, last) if a.value(now, last) > 0.1 else 0.5*c.value(now, last))
    if kind < 0.9 and previous:
        name = f"x{r.randrange(nx)}"
        return Expression(f"previous({name})", lambda now, last: last[name])
    a = part()
    return Expression(f"sin({a.text})", lambda now, last: math.sin(a.value(now, last)))


def scaled(by, e):
    return Expression(f"{by}*{e.text}", lambda now, last: by*e.value(now, last))


class System:
    """x' = A x + B u + c sin(w t); u, and the count k, are held."""

    def __init__(self, seed):
        r = random.Random(seed)
        self.nx, self.nu = r.randint(1, 3), r.randint(1, 3)
        xs, us = [f"x{i}" for i in range(self.nx)], [f"u{i}" for i in range(self.nu)]
        self.a = [[r.uniform(-1, 1) - (2.5 if i == j else 0) for j in range(self.nx)] for i in range(self.nx)]
        self.b = [[r.uniform(-1, 1) for _ in us] for _ in xs]
        self.c = [r.uniform(-1, 1) for _ in xs]
        self.w, self.stop = r.uniform(1, 6), r.choice([2, 3, 4])
        self.names = xs + us + ["k"]
        self.start = {n: round(r.uniform(-1, 1), 2) for n in xs + us}
        self.start["k"] = 0
        self.every, self.when = [], []
        for _ in range(r.randint(1, 2)):
            period, offset = r.choice([0.05, 0.1, 0.13, 0.25, 0.3]), r.choice([0, 0, 0.02, 0.1])
            sets = [(u, scaled(r.choice([0.5, 0.3, 0.8]), some_expression(r, xs + us, self.nx))) for u in r.sample(us, r.randint(1, self.nu))]
            if r.random() < 0.25:
                sets.append((r.choice(xs), scaled(0.5, some_expression(r, xs + us, self.nx))))
            self.every.append((period, offset, sets))
        for _ in range(r.randint(0, 2)):
            x, limit, side = r.choice(xs), round(r.uniform(-0.5, 0.5), 2), r.choice([1, -1])
            sets = [("k", Expression("k + 1", lambda now, last: now["k"] + 1))]
            if r.random() < 0.6:
                sets.insert(0, (x, scaled(round(r.uniform(-0.6, 0.6), 2), Expression(x, lambda now, last, x=x: now[x]))))
            if r.random() < 0.5:
                sets.append((r.choice(us), scaled(0.5, some_expression(r, xs + us, self.nx, False))))
            self.when.append((x, limit, side, sets))
        self.matrix = self.augmented()

    def augmented(self):
        """Of x, u, sin(w t), cos(w t)"""
        n = self.nx + self.nu + 2
        m = [[0.0]*n for _ in range(n)]
        for i in range(self.nx):
            m[i] = self.a[i] + self.b[i] + [self.c[i], 0.0]
        m[n - 2][n - 1], m[n - 1][n - 2] = self.w, -self.w
        return m

    def text(self):
        lines = ["model m {"]
        for i in range(self.nx):
            terms = [f"{self.a[i][j]!r}*x{j}" for j in range(self.nx)] + [f"{self.b[i][j]!r}*u{j}" for j in range(self.nu)]
            lines.append(f"    signal x{i} = integral({' + '.join(terms)} + {self.c[i]!r}*sin({self.w!r}*time), {self.start[f'x{i}']});")
        lines += [f"    signal u{i} = {self.start[f'u{i}']};" for i in range(self.nu)] + ["    signal k = 0;"]
        for period, offset, sets in self.every:
            lines.append(f"    every {period}{f' offset {offset}' if offset else ''} {{ {' '.join(f'{n} = {e.text};' for n, e in sets)} }}")
        for x, limit, side, sets in self.when:
            lines.append(f"    when {x} {'>' if side > 0 else '<'} {limit} {{ {' '.join(f'{n} = {e.text};' for n, e in sets)} }}")
        lines += [f"    output of_{n} = {n};" for n in self.names]
        return "\n".join(lines + ["}", f"experiment e of m {{ stop = {self.stop}; rtol = 1e-8; }}", ""])

    def flow(self, now, t, dt):
        """The values dt after t: the exponential by its series, over parts in which it converges at once."""
        z = [now[n] for n in self.names[:-1]] + [math.sin(self.w*t), math.cos(self.w*t)]
        parts = max(1, math.ceil(dt/0.1))
        for _ in range(parts):
            term = z
            for k in range(1, 25):
                term = [dt/parts/k*sum(a*b for a, b in zip(row, term)) for row in self.matrix]
                z = [a + b for a, b in zip(z, term)]
        return {**now, **dict(zip(self.names[:self.nx], z))}

    def beyond(self, now):
        return [side*(now[x] - limit) > 0 for x, limit, side, _ in self.when]

    def turned(self, now, before):
        """Each `when` whose condition has turned true acts, until none has."""
        while True:
            acted = False
            for q, (_, _, _, sets) in enumerate(self.when):
                true = self.beyond(now)[q]
                if true and not before[q]:
                    now = {**now, **{n: e.value(now, None) for n, e in sets}}
                    acted = True
                before[q] = true
            if not acted:
                return now

    def crossing(self, now, t, end, true):
        """The first condition that turns true on the way to end: when, which, and the values there; None: none does. Keeps what is true."""
        looks = max(1, math.ceil((end - t)/LOOK))
        for i in range(looks):
            a, b = t + (end - t)*i/looks, t + (end - t)*(i + 1)/looks
            there = self.flow(now, a, b - a)
            after = self.beyond(there)
            found = []
            for q, (x, limit, side, _) in enumerate(self.when):
                if after[q] and not true[q]:
                    low, high = a, b
                    while high - low > 1e-15*self.stop and low < (low + high)/2 < high:
                        middle = (low + high)/2
                        low, high = (low, middle) if side*(self.flow(now, a, middle - a)[x] - limit) > 0 else (middle, high)
                    found.append((high, q))
            if found:
                at, q = min(found)
                return at, q, self.flow(now, a, at - a)
            now, true[:] = there, after
        return None

    def values(self, times):
        now, t, rows = dict(self.start), 0.0, []
        done, last, true = [0]*len(self.every), [None]*len(self.every), self.beyond(self.start)
        while len(rows) < len(times):
            due = [offset + period*done[b] for b, (period, offset, _) in enumerate(self.every)]
            before = self.beyond(now)
            for b, (_, _, sets) in enumerate(self.every):
                if abs(due[b] - t) < INSTANT:
                    was = now
                    now = {**now, **{n: e.value(was, last[b] or was) for n, e in sets}}
                    last[b], done[b] = was, done[b] + 1
            now = self.turned(now, before)
            true = self.beyond(now)
            end = min([offset + period*done[b] for b, (period, offset, _) in enumerate(self.every)] + [self.stop + 1])
            while t < end - INSTANT and len(rows) < len(times):
                hit = self.crossing(now, t, end, true)
                to = hit[0] if hit else end
                while len(rows) < len(times) and times[len(rows)] < to - INSTANT:
                    rows.append(self.flow(now, t, times[len(rows)] - t))
                if not hit:
                    now, t = self.flow(now, t, end - t), end
                    break
                t, q, now = hit
                now[self.when[q][0]] = self.when[q][1]
                before = self.beyond(now)
                before[q] = True
                now = {**now, **{n: e.value(now, None) for n, e in self.when[q][3]}}
                resting = now[self.when[q][0]] == self.when[q][1]
                now = self.turned(now, before)
                true = self.beyond(now)
                true[q] = true[q] or resting
        return rows


def compare(bgc, seed, solver, path):
    s = System(seed)
    with open(path, "w") as f:
        f.write(s.text())
    got = subprocess.run([bgc, "run", path, "--points", str(POINTS), "--solver", solver], capture_output=True, text=True, timeout=SECONDS)
    if got.returncode:
        return f"status {got.returncode}: {got.stderr.splitlines()[0]}"
    rows = list(csv.DictReader(io.StringIO(got.stdout)))
    time = next(n for n in rows[0] if n.startswith("time"))
    want = s.values([float(row[time]) for row in rows])
    for n in s.names:
        size = max(1, max(abs(w[n]) for w in want))
        for row, w in zip(rows, want):
            if not abs(float(row[f"of_{n}"]) - w[n]) <= OFF*size:
                return f"{n} at {row[time]} s is {row[f'of_{n}']}, not {w[n]!r}"
    return None


def main():
    bgc, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    failures = 0
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last + 1):
            for solver in (sys.argv[4] if len(sys.argv) > 4 else "auto").split(","):
                why = compare(bgc, seed, solver, os.path.join(folder, "m.bg"))
                if why:
                    print(f"seed {seed}, {solver}: {why}")
                    failures += 1
    print(f"{last - first + 1} systems, {failures} failures")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
