from srv.box import Box

box = Box()
box.width = 8
print(box.width)
