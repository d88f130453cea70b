from m import run
for work in (lambda: 1, lambda: 1 // 0):
    state = {}
    try:
        print(run(state, work), state)
    except ZeroDivisionError:
        print("ZeroDivisionError", state)
