"""The fixtures of tests/cli."""
import importlib.util
import pathlib

_spec = importlib.util.spec_from_file_location("cli_conftest", pathlib.Path(__file__).parent.parent / "cli" / "conftest.py")
_cli = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_cli)
globals().update({name: value for name, value in vars(_cli).items() if not name.startswith("_")})
