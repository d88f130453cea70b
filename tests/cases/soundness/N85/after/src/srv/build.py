def build(model, depth=1):
    return f"{model}:{depth}"
