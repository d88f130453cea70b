\
left = 2
