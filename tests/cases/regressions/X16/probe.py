from plugins import load
for job in ("check", "sort"):
    try:
        print(load(job)([2, 1]))
    except AttributeError:
        print("AttributeError")
