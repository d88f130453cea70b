import sys
sys.path.insert(0, "tests")
import check_limits
check_limits.check_clip()
print("passed")
