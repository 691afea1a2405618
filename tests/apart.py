"""What random tests share that compare bgc with a program apart: runs of a seed's model and of that program, row by row; a step, the first instant of
a change, and the choice among what sticks and what slips. As in logic.py:

    main(Model, lambda model: rows_of(Apart(model), model.stop, lambda apart: apart.x))
"""
import csv, io, itertools, os, subprocess, sys, tempfile

POINTS = 13
OFF = 1e-5        # of a value, by its column's greatest or 1
SECONDS = 60      # of a run


class PassedOver(Exception):
    """The program apart does not say what must come out."""


# ---- the program apart ----

def rows_of(apart, stop, columns):
    """What the program apart gives at the points of the run, with its columns."""
    rows = []
    for k in range(POINTS):
        apart.to(stop*k/(POINTS - 1))
        rows.append(list(columns(apart)))
    return rows


def step(rates, t, at, h):
    """The quantities at t + h by Runge and Kutta's method; rates(t, *at) has as many entries."""
    def moved(by, rate):
        return [q + by*r for q, r in zip(at, rate)]
    a = rates(t, *at)
    b = rates(t + h/2, *moved(h/2, a))
    c = rates(t + h/2, *moved(h/2, b))
    d = rates(t + h, *moved(h, c))
    return [q + h/6*(p + 2*u + 2*v + w) for q, p, u, v, w in zip(at, a, b, c, d)]


def first(passed, h, instant):
    """The first time up to h at which something is passed, which it is at h, to an instant."""
    low = 0.0
    while h - low > instant:
        middle = (low + h)/2
        low, h = (low, middle) if passed(middle) else (middle, h)
    return h


def modes(slips, at_rest):
    """To which side each slips, or 0: all combinations of those at rest."""
    for sides in itertools.product((0, 1, -1), repeat=len(at_rest)):
        mode = [int(s > 0) - int(s < 0) for s in slips]
        for j, side in zip(at_rest, sides):
            mode[j] = side
        yield mode


def least(found, faults):
    """That with the fewest faults soon after."""
    found = list(found)
    if not found:
        raise PassedOver
    return min(found, key=faults)


# ---- bgc ----

def run(bgc, path, solver, *options):
    """The rows of the table, and why there are none."""
    try:
        r = subprocess.run([bgc, "run", path, "--solver", solver, *options], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None, f"takes longer than {SECONDS} s"
    if r.returncode:
        return None, (r.stderr.strip().splitlines() or [f"fails ({r.returncode}) and does not say why"])[0]
    return [[float(v) for v in row] for row in list(csv.reader(io.StringIO(r.stdout)))[1:]], ""


def fault(rows, bgc, path, solver):
    """What differs, or None. What the program apart does not tell is None in its rows."""
    seen, error = run(bgc, path, solver, "--rtol", "1e-8", "--points", str(POINTS))
    if seen is None:
        return error
    if len(seen) != len(rows):
        return f"ends at {seen[-1][0]:g} s, with {len(seen)} rows, not {len(rows)}"
    for column in range(len(rows[0])):
        size = max([1] + [abs(row[column]) for row in rows if row[column] is not None])
        for t_and_values, row in zip(seen, rows):
            if row[column] is not None and not abs(t_and_values[column + 1] - row[column]) <= OFF*size:
                return f"y{column} at {t_and_values[0]:g} s is {t_and_values[column + 1]!r}, not {row[column]!r}"
    return None


def main(make, rows_of, fault=fault):
    """Runs models of the seeds in the arguments; make(seed).text is one, rows_of(model) what must come out, fault(rows, bgc, path, solver) what differs."""
    bgc, begin, last = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    solvers = sys.argv[4].split(",") if len(sys.argv) > 4 else ["auto"]
    tried = over = failed = 0
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "model.bg")
        for seed in range(begin, last + 1):
            try:
                model = make(seed)
                rows = rows_of(model)
            except PassedOver:
                over += 1
                continue
            for name, text in [("model.bg", model.text)] + list(getattr(model, "files", {}).items()):
                with open(os.path.join(work, name), "w") as f:
                    f.write(text)
            for solver in solvers:
                why = fault(rows, bgc, path, solver)
                tried += 1
                if why:
                    failed += 1
                    print(f"seed {seed}, {solver}: {why}\n{model.text}", flush=True)
    print(f"{tried} runs, {over} passed over, {failed} wrong")
    return failed > 0 or tried == 0
