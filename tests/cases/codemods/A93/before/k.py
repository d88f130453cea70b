def f():
    return 1
\
left = 2
