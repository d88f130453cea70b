NAMES = [
    "flash",
    "torch"
    "triton",
]
