from srv.runner import place
print(place(7))
