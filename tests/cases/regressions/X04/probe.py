import pk
print(pk.once(lambda: 1))
try:
    print(pk.retry(lambda: 1, 2))
except AttributeError:
    print("AttributeError")
