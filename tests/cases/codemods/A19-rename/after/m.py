def f():
    answer = 42
    text = "bar \
bar"
    return text, answer
