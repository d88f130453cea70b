from srv.order import sorted_out

print(sorted_out([1, 2, 3, 4], {1: [3], 2: [5, 4]}))
