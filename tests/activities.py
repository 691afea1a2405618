#!/usr/bin/env python3
"""Random converters (of converters.py): activities, root mean squares and Karhunen-Loeve shares of the powers, and the energy balance with what jumps take,
against a program apart that adds up the powers at Gauss points of its own steps.

python3 tests/activities.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds; a hundred take a minute and a half a solver
"""
import json, subprocess, sys

import numpy as np

import converters
from apart import PassedOver, main

OFF = 2e-5        # of a value, by the greatest of the metric
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(6)


class Apart(converters.Apart):
    def __init__(self, model):
        self.names = list(model.powers)
        n = len(self.names)
        self.activity, self.work, self.products, self.lost = np.zeros(n), np.zeros(n), np.zeros((n, n)), 0.0
        super().__init__(model)

    def power(self, h):
        z, x = self.after(h)
        a = self.accelerations(self.t + h, z, x, self.mode)[0]
        return np.array([self.m.powers[name](self.t + h, z, a) for name in self.names])

    def passes(self, h):
        """Powers that change their sign are added up by pieces, as their magnitude has a corner there."""
        first, last = self.power(0), self.power(h)
        turns = sorted({0, h} | {h*a/(a - b) for a, b in zip(first, last) if a*b < 0})
        for begin, end in zip(turns, turns[1:]):
            for point, weight in zip(POINTS, WEIGHTS):
                p, w = self.power(begin + (end - begin)*(1 + point)/2), weight*(end - begin)/2
                self.activity += w*np.abs(p)
                self.work += w*p
                self.products += w*np.outer(p, p)

    def strike(self):
        before = self.energy()
        super().strike()
        self.lost += before - self.energy()

    def energy(self):
        return float(np.array(self.m.inertia) @ self.z**2)/2

    def metrics(self):
        lengths, axes = np.linalg.eigh(self.products)
        shares = np.abs(axes) @ lengths
        return {"activity": self.activity, "rms": np.sqrt(np.diag(self.products)/self.m.stop), "kl": shares/sum(shares)}

    def balance(self):
        """Supplied, stored, dissipated and taken by jumps."""
        of = {kind: sum(w for name, w in zip(self.names, self.work) if name[0] in kind) for kind in ("s", "r")}
        start = float(np.array(self.m.inertia) @ np.array(self.m.start)**2)/2
        return {"supplied": of["s"], "stored": self.energy() - start, "dissipated": of["r"], "jumps": self.lost}


def result_of(command):
    r = subprocess.run(command + ["--json"], capture_output=True, text=True, timeout=60)
    return json.loads(r.stdout) if r.returncode == 0 else r.stderr.strip().splitlines()[0]


def fault(apart, bgc, path, solver):
    for metric, expected in apart.metrics().items():
        seen = result_of([bgc, "rank", path, "-m", metric, "--solver", solver])
        if isinstance(seen, str):
            return f"{metric}: {seen}"
        values, size = {e["name"]: e["value"] for e in seen["elements"]}, max(expected)
        for name, value in zip(apart.names, expected):
            if not abs(values[name] - value) <= OFF*size:
                return f"{metric} of {name} is {values[name]!r}, not {value!r}"
    seen = result_of([bgc, "run", path, "--solver", solver, "--points", "2"])
    if isinstance(seen, str):
        return seen
    expected = apart.balance()
    size = max(apart.activity)
    for what, value in expected.items():
        if not abs(seen["energy"][what] - value) <= OFF*size:
            return f"{what} is {seen['energy'][what]!r}, not {value!r}"
    return None


def gone_through(model):
    apart = Apart(model)
    apart.to(model.stop)
    if max(apart.activity) < 1e-6:
        raise PassedOver
    return apart


if __name__ == "__main__":
    sys.exit(main(converters.Model, gone_through, fault))
