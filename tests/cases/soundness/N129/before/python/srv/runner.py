def run(eager):
    out = []
    if eager:
        out.append("eager")
    out.append("run")
    return out
