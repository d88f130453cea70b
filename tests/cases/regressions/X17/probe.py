from pick import best
print(best()([1, 2]))
