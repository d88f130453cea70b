from m import render
print(list(render([])), list(render(["a", "b"])))
