from m import port
for text in ("80", "x", None):
    try:
        print(port(text))
    except Exception as e:
        print(type(e).__name__, type(e.__cause__).__name__)
