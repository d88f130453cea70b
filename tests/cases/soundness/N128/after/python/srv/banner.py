BANNER = """
server
"""
