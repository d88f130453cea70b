def build(model, draft):
    return f"{model}:{draft}"
