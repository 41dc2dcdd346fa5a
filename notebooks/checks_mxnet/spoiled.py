"""An array that shows who waits for it: its values cannot be computed."""
import contextlib

from mxnet import np, npx


def spoiled(shape=()):
    """Return an array whose values cannot be computed: whoever waits for them gets a ValueError."""
    return np.random.normal(0, -1, size=shape)


def raises(work):
    """Return whether `work()` itself raised the error of a spoiled array; afterwards none of it is left."""
    try:
        work()
        raised = False
    except ValueError:
        raised = True
    with contextlib.suppress(ValueError):  # what nobody waited for
        npx.waitall()
    return raised
