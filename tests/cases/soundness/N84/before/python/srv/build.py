def build(model, depth):
    return f"{model}:{depth}"
