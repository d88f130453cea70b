def _pad(layer):
    pad = 16
    layer["w"] = [0] * pad + layer["w"]


def process(layer, hip):
    if hip:
        _pad(layer)
    return layer["w"]
