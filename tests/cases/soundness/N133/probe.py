from srv.runner import label
print(label(3))
