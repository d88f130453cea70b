from m import size
for kind in ("small", "large", "huge"):
    try:
        print(size(kind))
    except ValueError as e:
        print("ValueError", e)
