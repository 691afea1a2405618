#!/usr/bin/env python3
"""Random pneumatics of stdlib/gas: gases joined by nozzles in one direction or both, whose throats may open at a time or with the travel of a piston; walls
that pass heat; pistons with mass, springs and dampers between gases or against the atmosphere. What bgc gives must be what SciPy gives of mass, energy
and volume of each gas.

python3 tests/gases.py BGC FIRST LAST [SOLVER,SOLVER...]     seeds
"""
import random, sys

import numpy as np
from scipy.integrate import solve_ivp

from apart import POINTS, PassedOver, main

C_V, GAMMA, R_GAS = 718.0, 1.4, 0.4*718.0
SMOOTH = 1e-10    # of a pressure: nozzles are smooth below this difference


class Model:
    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.n = r.randint(2, 4)
        level = self.number(1, 4)
        self.volume = [self.number(0.3, 3) if r.random() < 0.85 else self.number(100, 1000) for _ in range(self.n)]      # l
        self.pressure = [level if r.random() < 0.3 else self.number(1, 8) for _ in range(self.n)]                        # bar
        self.heat = [300.0 if r.random() < 0.6 else self.number(280, 500) for _ in range(self.n)]                        # K
        self.nozzles, self.walls, self.pistons = [], [], []
        self.lines = ["import gas;", "import thermal;", "model pneumatics {"]
        for i in range(self.n):
            self.lines.append(f"    Gas:g{i}(V_0 = {self.volume[i]} [l], P_0 = {self.pressure[i]} [bar], T_0 = {self.heat[i]} [K]);")
        for i in range(self.n):
            for j in range(i + 1, self.n):
                if r.random() < 0.6:
                    self.some_way(i, j)
                if r.random() < 0.25:
                    self.some_wall(i, j)
        free = list(range(self.n))
        r.shuffle(free)
        while free and r.random() < 0.5:
            self.some_piston(free.pop(), free.pop() if free and r.random() < 0.5 else None)
        self.stop = self.number(0.02, 0.5) if self.pistons else self.number(0.2, 20)
        for i in range(self.n):
            self.lines += [f"    output y{2*i} [bar] = g{i}.P;", f"    output y{2*i + 1} [K] = g{i}.T;"]
        self.lines += [f"    output y{2*self.n + k} [m] = travel{k};" for k in range(len(self.pistons))]
        self.text = "\n".join(self.lines + ["}", f"experiment run of pneumatics {{ stop = {self.stop} [s]; }}", ""])

    def number(self, a, b):
        return float(f"{self.r.uniform(a, b):.3g}")

    def some_way(self, i, j):
        r, area = self.r, self.number(0.5, 10)
        opens, both = self.number(0.01, 0.3) if r.random() < 0.3 else None, r.random() < 0.7
        text = f"{area} [mm^2]" if opens is None else f"if time < {opens} [s] then 0 [mm^2] else {area} [mm^2]"
        for a, b in [(i, j), (j, i)] if both else [r.choice([(i, j), (j, i)])]:
            k = len(self.nozzles)
            self.nozzles.append((a, b, area*1e-6, opens))
            self.lines += [f"    Nozzle:z{k}(area = {text}, P_up = g{a}.P, P_down = g{b}.P, s_up = g{a}.s);", f"    g{a}.mass -> z{k}.up_mass;",
                           f"    g{a}.entropy -> z{k}.up_entropy;", f"    z{k}.down_mass -> g{b}.mass;", f"    z{k}.down_entropy -> g{b}.entropy;"]

    def some_wall(self, i, j):
        k, g = len(self.walls), self.number(0.1, 5)
        self.walls.append((i, j, g))
        self.lines += [f"    Conductor:w{k}(G = {g} [W/K]);", f"    g{i}.entropy -> w{k}.a;", f"    w{k}.b -> g{j}.entropy;"]

    def some_piston(self, i, j):
        """Pushed out by gas i; on its other side gas j, or the atmosphere."""
        r, k = self.r, len(self.pistons)
        mass, area, spring, damper = self.number(0.5, 5), self.number(5, 50), r.choice([0, self.number(1, 50)]), self.number(10, 500)
        self.pistons.append((i, j, mass, area*1e-4, spring*1e3, damper))
        self.lines += [f"    1:p{k} -> I:m{k} = {mass} [kg];", f"    p{k} -> R:d{k} = {damper} [N.s/m];", f"    signal travel{k} = integral(p{k}.f);",
                       f"    g{i}.volume -> TF:face{k} = 1/({area} [cm^2]) -> p{k};"]
        if spring:
            self.lines.append(f"    p{k} -> C:s{k} = 1/({spring} [kN/m]);")
        if j is None:
            self.lines.append(f"    p{k} -> Se:air{k} = {area} [cm^2]*1 [bar];")
        else:
            self.lines.append(f"    p{k} -> TF:back{k} = {area} [cm^2] -> g{j}.volume;")


def throughput(ratio):
    """Of an isentropic nozzle, by the pressure below over the one above."""
    ratio = max(ratio, (2/(GAMMA + 1))**(GAMMA/(GAMMA - 1)))
    if ratio >= 1:
        return 0.0
    square = 2*GAMMA/(GAMMA - 1)*(ratio**(2/GAMMA) - ratio**((GAMMA + 1)/GAMMA))
    return square/(square*square + SMOOTH*SMOOTH)**0.25


class Apart:
    """x: mass and energy of each gas by those at the start, then travel (m) and speed (m/s) of each piston."""

    def __init__(self, model):
        self.m, n = model, model.n
        self.mass = np.array([p*1e5*v*1e-3/(R_GAS*t) for p, v, t in zip(model.pressure, model.volume, model.heat)])
        self.energy = self.mass*C_V*np.array(model.heat)
        self.t, self.x = 0.0, np.concatenate([np.ones(2*n), np.zeros(2*len(model.pistons))])

    def gases(self, x):
        n, volume = self.m.n, np.array(self.m.volume)*1e-3
        for k, (i, j, _, area, _, _) in enumerate(self.m.pistons):
            volume[i] += area*x[2*n + 2*k]
            if j is not None:
                volume[j] -= area*x[2*n + 2*k]
        mass, energy = self.mass*x[:n], self.energy*x[n:2*n]
        heat = energy/(mass*C_V)
        return mass*R_GAS*heat/volume, heat, volume

    def rates(self, x, since):
        n = self.m.n
        if (x[:2*n] <= 0).any():
            raise PassedOver
        pressure, heat, volume = self.gases(x)
        if (volume <= 0.02e-3).any():
            raise PassedOver
        mass, energy, rest = np.zeros(n), np.zeros(n), []
        for a, b, area, opens in self.m.nozzles:
            if opens is not None and since < opens - 1e-12:
                continue
            flow = area*pressure[a]/np.sqrt(R_GAS*heat[a])*throughput(pressure[b]/pressure[a])
            for of, sign in ((a, -1), (b, 1)):
                mass[of] += sign*flow
                energy[of] += sign*flow*GAMMA*C_V*heat[a]
        for i, j, g in self.m.walls:
            energy[i] -= g*(heat[i] - heat[j])
            energy[j] += g*(heat[i] - heat[j])
        for k, (i, j, m, area, spring, damper) in enumerate(self.m.pistons):
            q, v = x[2*n + 2*k:2*n + 2*k + 2]
            behind = 1e5 if j is None else pressure[j]
            energy[i] -= pressure[i]*area*v
            if j is not None:
                energy[j] += pressure[j]*area*v
            rest += [v, ((pressure[i] - behind)*area - spring*q - damper*v)/m]
        return np.concatenate([mass/self.mass, energy/self.energy, rest])

    def to(self, until):
        if until - self.t > 1e-13:
            since = self.t
            s = solve_ivp(lambda t, x: self.rates(x, since), (self.t, until), self.x, method="LSODA", rtol=1e-11, atol=1e-13)
            if s.status < 0:
                raise PassedOver
            self.x = s.y[:, -1].copy()
        self.t = until


def rows_of(model):
    apart, grid = Apart(model), [model.stop*k/(POINTS - 1) for k in range(POINTS)]
    breaks = {opens for _, _, _, opens in model.nozzles if opens is not None and opens < model.stop}
    rows = []
    for t in sorted(set(grid) | breaks):
        apart.to(t)
        if t in grid:
            pressure, heat, _ = apart.gases(apart.x)
            rows.append([v for p, h in zip(pressure, heat) for v in (p/1e5, h)] + list(apart.x[2*model.n::2]))
    return rows


if __name__ == "__main__":
    sys.exit(main(Model, rows_of))
