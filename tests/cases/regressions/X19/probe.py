import subprocess, sys
for first in ("shapes", "canvas"):
    code = f"import {first}; from shapes import Shape; print(Shape().draw())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    print(first, done.returncode, done.stdout.strip())
