from m import copy
for errors in ({}, {"b": "full"}):
    log = []
    try:
        print(copy(["a", "b"], errors, log), log)
    except TypeError:
        print("TypeError", log)
