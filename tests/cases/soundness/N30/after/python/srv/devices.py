def device(per_node=8, *, rank, size):
    local = rank % per_node
    return f"cuda:{local}/{size}"
