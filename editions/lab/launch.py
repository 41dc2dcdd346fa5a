"""Start JupyterLab for its reader alone: `make lab` runs `.venv/bin/python -I launch.py FOLDER IP ARGUMENTS...`.

Whatever the reader's settings, files and variables say, the server listens where IP says and asks for a new token.

- `-I` keeps the project's folder, `PYTHONPATH` and the reader's own packages out of the server: a file `secrets.py`
  there must not make the token. A kernel is started without `-I`, and sees all variables as they are.
- The token is made here and stays in this process: other users read command lines with `ps`.
- The server reads the settings that came with the packages in `.venv`, and none of the reader's: they are programs,
  and can open a server in more ways than one can close. JupyterLab still keeps the look that the reader has chosen.
"""
import secrets
import sys
from importlib.util import find_spec
from pathlib import Path

from jupyter_server.serverapp import ServerApp
from jupyterlab.labapp import LabApp

FOLDER, IP, *ARGUMENTS = sys.argv[1:]


class Server(ServerApp):
    """A Jupyter server that listens on IP, asks for a token of its own, and reads no settings but .venv's."""

    @property
    def config_file_paths(self):
        """Return the folders to read settings from."""
        return [str(Path(sys.prefix, "etc", "jupyter"))]

    def init_configurables(self):
        """Set what nothing else may set, after all settings were read and before anything listens."""
        super().init_configurables()
        self.ip = IP
        self.identity_provider.token = secrets.token_hex(24)
        self.identity_provider.token_generated = True  # so that the address it prints holds the token


if __name__ == "__main__":
    first = "00-start-here.ipynb" if find_spec("mxnet") else "pytorch/00-start-here.ipynb"
    LabApp.serverapp_class = Server
    LabApp.launch_instance([
        "--ServerApp.root_dir=.",
        "--ServerApp.allow_root=True",  # as in containers
        f"--LabApp.default_url=/lab/tree/{FOLDER}/{first}",  # also in the address that it prints where no browser opens
        f"--LabApp.app_settings_dir={Path(__file__).parent}",  # spares a student JupyterLab's questions about news
        *ARGUMENTS,
    ])
