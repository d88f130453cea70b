from m import take
xs = list(range(12))
print(take(xs), take(xs, 3), take(xs, 0))
