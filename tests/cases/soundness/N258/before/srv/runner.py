SIZES = [1, 2]
# The sizes are in pages.
