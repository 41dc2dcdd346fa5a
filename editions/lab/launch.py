"""Start JupyterLab for its reader alone: `make lab` runs `python -I -m editions lab FOLDER --ip ADDRESS`.

Whatever the reader's settings, files and variables are, the server listens on that address and asks for a new token.

- `-I` keeps the current folder, `PYTHONPATH` and the reader's own packages out of the server, and Python looks into the
  project's folder last: otherwise a file `secrets.py` could make the token. Kernels are started without `-I`, and see
  all variables as they are.
- The token is made here and stays in this process, because other users can read command lines with `ps`.
- The server reads only the settings that came with the packages in `.venv`. The reader's settings are programs, which
  could open the server to others in many ways. JupyterLab still keeps the look that the reader has chosen.
"""
import os
import secrets
import sys
from importlib.util import find_spec
from pathlib import Path

from jupyter_server.serverapp import ServerApp
from jupyterlab.labapp import LabApp


class Server(ServerApp):
    """A Jupyter server that listens on `address`, asks for a new token, and reads only the settings in .venv."""

    address = "127.0.0.1"

    @property
    def config_file_paths(self):
        """Return the folders to read settings from."""
        return [str(Path(sys.prefix, "etc", "jupyter"))]

    def init_configurables(self):
        """Set address and token after all settings have been read, and before the server listens."""
        super().init_configurables()
        self.ip = self.address
        self.identity_provider.token = secrets.token_hex(24)
        self.identity_provider.token_generated = True  # so that the address that it prints contains the token


def launch(folder, address, language, arguments):
    """Start the server in the current folder, and show the first lesson in `folder`."""
    first = "00-start-here.ipynb" if find_spec("mxnet") else "pytorch/00-start-here.ipynb"
    Server.address = address
    LabApp.serverapp_class = Server
    LabApp.launch_instance([
        "--ServerApp.root_dir=.",
        "--ServerApp.allow_root=True",  # in many containers the user is root
        f"--LabApp.default_url=/lab/tree/{os.path.relpath(folder)}/{first}",  # also in the address that it prints
        # The settings turn off the question about news of JupyterLab, and say which language it speaks, if not English.
        f"--LabApp.app_settings_dir={Path(__file__).parent / language}",
        *arguments,
    ])
