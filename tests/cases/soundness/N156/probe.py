from srv.runner import extend
given = [1]
extend(given, [2])
print(given)
