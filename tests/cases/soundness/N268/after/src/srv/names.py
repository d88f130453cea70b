def label(n):
    text = f"pool {n} pages"
    return text
