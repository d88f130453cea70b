import sys
sys.path.insert(0, "tests")
import fake_session
fake_session.main()
