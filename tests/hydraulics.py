"""What the families of random hydraulics share: units, laws of orifices and their spellings."""
SMOOTH = 1e-3    # Pa: an orifice is smooth below this
PRESSURE = 1e5   # Pa, and
FLOW = 1e-3      # m^3/s: units of SciPy's variables
AREA = "[m^3/s/Pa^0.5]"
GAS = 1.4        # exponent of the accumulators
SPELLINGS = [f"f = {{A!r}} {AREA}*spow(e, 0.5);", f"e = f*abs(f)/({{A!r}} {AREA})^2;", f"f = {{A!r}} {AREA}*sign(e)*sqrt(abs(e));",
             f"f = if e >= 0 [Pa] then {{A!r}} {AREA}*sqrt(e) else -{{A!r}} {AREA}*sqrt(-e);",
             f"e = if f >= 0 then f^2/({{A!r}} {AREA})^2 else -f^2/({{A!r}} {AREA})^2;"]
VARIABLE = ["f = {A}*spow(e, 0.5);", "e = f*abs(f)/{A}^2;", "f = {A}*sign(e)*sqrt(abs(e));"]   # of an area that modes tell


def through(area, fall):
    return area*fall/(fall*fall + SMOOTH*SMOOTH)**0.25


def row_of(areas):
    """The area of one orifice in place of a row."""
    return 1/sum(1/a**2 for a in areas)**0.5


def some_number(r, a, b):
    return float(f"{r.uniform(a, b):.3g}")
