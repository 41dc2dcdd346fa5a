"""The engine and the data as the lessons take them, in every process that runs tests and in the kernels it starts."""
import os

from d2lhelpers import configure_engine

os.environ.pop("D2LHELPERS_DATASET", None)

configure_engine(devices=2)
