FILTER = ["srt/**", "kernels/**"]
FILES = ["kernels/a.py"]
