import m
try:
    from boxes import first
except ImportError:
    first = vars(m.Box)["first"]
box = m.Box([3])
if isinstance(first, staticmethod) or "first" not in vars(m.Box):
    print(first(m.T(), items=box.items))
else:
    print(box.first(m.T()))
