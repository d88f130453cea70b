CONFIG = """
# The first line is kept.
# eager = yes
size = 3
"""
