CONFIG = """
# The first line is kept.
# eager = no
size = 3
"""
