from srv import m

print((getattr(m, "matcher" + "_order", None) or getattr(m, "pattern" + "_order"))())
