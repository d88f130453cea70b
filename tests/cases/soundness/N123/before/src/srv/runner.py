NAMES = [
    "flash",
    "torch",
    "triton",
]
