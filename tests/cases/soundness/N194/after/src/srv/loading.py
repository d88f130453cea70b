async def load(n, *, model):
    parts = [f"{model}{k}" for k in range(n)]
    return "+".join(parts)
