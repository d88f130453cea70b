from srv.names import label
print(label(3))
