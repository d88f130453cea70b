from srv.request import label
print(label(3))
