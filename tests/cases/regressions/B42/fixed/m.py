def _up(node):
    node = node["up"]
    return None if node is None or node["up"] is None else node


def lock(node, ref):
    while node:
        ref[node["n"]] = ref.get(node["n"], 0) + 1
        node = _up(node)
