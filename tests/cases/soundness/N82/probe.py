import sys
sys.path.insert(0, "tests")
import patched
patched.main()
