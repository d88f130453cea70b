CONFIG = """
eager = yes

size = 3
"""
