def _wants_gpu_map(backend):
    return backend != "cutlass"


def init(backend, m):
    if _wants_gpu_map(backend):
        m["map"] = ("gpu", m["map"])
    return m["map"]
