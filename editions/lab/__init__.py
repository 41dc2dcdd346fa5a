"""How JupyterLab is started and set up."""
