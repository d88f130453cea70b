SIZES = [1, 2]
# The sizes are in pages.SIZES.append(3)
