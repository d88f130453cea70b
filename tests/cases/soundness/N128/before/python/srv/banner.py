BANNER = """
server  
"""
