"""The images that the lessons train on: the digits that need no network, and Fashion-MNIST.

Everything here is NumPy; `d2lhelpers.mxnet` and `d2lhelpers.torch` wrap it in their frameworks' data loaders.
"""

import gzip
import math
import os
import shutil
import struct
import tempfile
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from .tracks import whole

__all__ = ["load_arrays"]

MIRRORS = (
    "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "https://storage.googleapis.com/tensorflow/tf-keras-datasets/",
)
MD5 = {  # as Fashion-MNIST's own page gives them
    "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
}
RETRIES = 1  # a mirror, one second later; then comes the next mirror
TIMEOUT = (5, 20)  # seconds to connect, and to wait for the next piece of an answer
ROWS, PIXELS = 60_000, (28, 28)  # of the largest file, the training images


def load_arrays(dataset=None, resize=None):
    """Load a data set of small grey images in ten classes as NumPy arrays.

    Parameters
    ----------
    dataset : {"digits", "fashion_mnist"}, optional
        "digits" are 1,797 images of 8 x 8 pixels, split once and for all into 1,437 and 360; they need no network.
        "fashion_mnist" are 60,000 and 10,000 images of 28 x 28 pixels, downloaded on first use (30 MB).
        By default what the variable D2LHELPERS_DATASET names, else "digits".
    resize : int, optional
        Height and width in pixels to which every image is scaled (bilinear).

    Returns
    -------
    (train_images, train_labels), (test_images, test_labels)
        Images: float32 from 0 to 1, shape (n, 1, height, width). Labels: int32 from 0 to 9, shape (n,).

    Raises
    ------
    ValueError
        For an unknown data set, a wrong `resize`, or a file that is not what its name says.
    MemoryError
        If the resized images would not fit into this machine's free memory; it says how much they need.
    ConnectionError
        If no mirror gave a whole file; it says what each one did. Nothing partial is left behind.
    OSError
        If the files cannot be kept, such as PermissionError for a cache folder that cannot be written, or read.

    Notes
    -----
    Fashion-MNIST is kept in the user's cache, where only files with the published MD5 sums are used. The variable
    D2LHELPERS_DATA_DIR names another folder; files that lie there already are checked for their form alone. Several
    processes may share a folder: one downloads while the others wait. What one that was killed has left behind is
    removed by the next.

    Introduced in lesson 05, `notebooks/05-multi-gpu-from-scratch.ipynb`. Sources: the optical digits of the UCI
    repository, through scikit-learn; Fashion-MNIST, Xiao, Rasul and Vollgraf 2017, arXiv:1708.07747.

    Examples
    --------
    >>> (train_images, train_labels), (test_images, test_labels) = load_arrays("digits")
    >>> train_images.shape, train_labels.shape
    ((1437, 1, 8, 8), (1437,))
    >>> test_images.shape, test_images.dtype, test_labels.dtype
    ((360, 1, 8, 8), dtype('float32'), dtype('int32'))

    """
    if resize is not None and not whole(resize, 1):
        raise ValueError(f"resize must be a whole number of pixels, 1 or more, or None; got {resize!r}")
    loaders = {"digits": _digits, "fashion_mnist": _fashion_mnist}
    source = "dataset"
    if dataset is None:
        source = "the variable D2LHELPERS_DATASET"
        dataset = os.environ.get("D2LHELPERS_DATASET") or "digits"
    if not isinstance(dataset, str) or dataset not in loaders:
        raise ValueError(f"{source} names {dataset!r}, which is unknown; there are: {', '.join(loaders)}")
    (train_images, train_labels), (test_images, test_labels) = loaders[dataset]()
    if resize is not None:
        _check_memory(len(train_labels) + len(test_labels), int(resize))
        train_images, test_images = _resized(train_images, resize), _resized(test_images, resize)
    return (train_images, train_labels), (test_images, test_labels)


def _check_memory(rows, size):
    """Raise MemoryError if so many images of `size` x `size` pixels do not fit: Linux would end the process instead."""
    import psutil

    needed, free = 4 * rows * size**2, psutil.virtual_memory().available
    if needed > free:
        raise MemoryError(f"resize={size}: {rows} images of that size take {needed / 1e9:,.1f} GB of memory, but "
                          f"{free / 1e9:,.1f} GB are free; take a smaller size")


def _digits():
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    images = (digits.images[:, None] / 16).astype(np.float32)  # 16 is the digits' white
    labels = digits.target.astype(np.int32)
    train_images, test_images, train_labels, test_labels = train_test_split(
        images, labels, test_size=360, stratify=labels, random_state=0
    )
    return (train_images, train_labels), (test_images, test_labels)


def _fashion_mnist():
    parts = []
    for part in ("train", "t10k"):
        images_path, labels_path = _find(f"{part}-images-idx3-ubyte.gz"), _find(f"{part}-labels-idx1-ubyte.gz")
        images, labels = _read_idx(images_path, PIXELS), _read_idx(labels_path)
        if len(images) != len(labels):
            raise ValueError(
                f"{labels_path} holds {len(labels)} labels, but {images_path} holds {len(images)} images. "
                "Replace them, or remove them to have them downloaded."
            )
        if labels.max() > 9:
            raise ValueError(
                f"{labels_path} holds the label {labels.max()}, but there are 0 to 9. "
                "Replace it, or remove it to have it downloaded."
            )
        parts.append((np.divide(images[:, None], 255, dtype=np.float32), labels.astype(np.int32)))
    return tuple(parts)


def _resized(images, size):
    from PIL import Image

    result = np.empty((len(images), 1, size, size), np.float32)
    for target, image in zip(result[:, 0], images[:, 0], strict=True):
        target[:] = Image.fromarray(image).resize((size, size), Image.Resampling.BILINEAR)
    return result


def _find(name):
    """Path of a file of Fashion-MNIST: as it lies in the user's own folder, else downloaded."""
    import pooch

    own = os.environ.get("D2LHELPERS_DATA_DIR")
    folder = Path(own or pooch.os_cache("d2lhelpers")).expanduser()
    return folder / name if own and (folder / name).exists() else _download(name, folder)


@contextmanager
def _alone_in(folder):
    """Wait until no other process downloads into `folder`, and remove what one that was killed has left there.

    A folder that cannot be locked, as on some network drives, is used all the same, and nothing is removed.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
            for left in folder.glob(".d2lhelpers-*"):
                shutil.rmtree(left, ignore_errors=True)
        yield
    finally:
        os.close(handle)


def _download(name, folder):
    """Path of a file with the published sum in `folder`, from the first mirror that gives it."""
    import pooch
    from requests.exceptions import RequestException  # pooch's own, and the type of its network errors

    path = folder / name
    downloader = pooch.HTTPDownloader(progressbar=True, timeout=TIMEOUT)
    failures = []
    try:
        os.makedirs(folder, exist_ok=True)
        if path.exists() and pooch.file_hash(path, alg="md5") == MD5[name]:
            return path
        with _alone_in(folder), tempfile.TemporaryDirectory(prefix=".d2lhelpers-", dir=folder) as own:
            if path.exists() and pooch.file_hash(path, alg="md5") == MD5[name]:
                return path  # another process was quicker
            path.unlink(missing_ok=True)
            for mirror in MIRRORS:
                cache = pooch.create(own, mirror, registry={name: f"md5:{MD5[name]}"}, retry_if_failed=RETRIES)
                try:
                    os.replace(cache.fetch(name, downloader=downloader), path)
                    return path
                except (ValueError, RequestException) as error:  # ValueError: the sum is wrong
                    reason = getattr(error.args[0], "reason", error)  # as "connection refused", without its wrapping
                    failures.append(f"{mirror}: {reason}")
    except OSError as error:
        raise type(error)(
            f"cannot keep {name} in {folder} ({error}). "
            "Set D2LHELPERS_DATA_DIR to a folder that can be written and has 30 MB of room."
        ) from error
    remedy = (
        "Set D2LHELPERS_DATA_DIR to a folder that holds Fashion-MNIST's four .gz files, "
        "or use dataset='digits', which needs no network."
    )
    raise ConnectionError("\n".join([f"{name} could not be downloaded.", *failures, remedy]))


def _read_idx(path, pixels=()):
    """Read a gzipped IDX file: 0, 0, 8 for unsigned bytes, the number of dimensions; the sizes; the values."""
    dimensions = 1 + len(pixels)
    try:
        with gzip.open(path) as file:
            header = file.read(4 + 4 * dimensions)
            if len(header) < 4 + 4 * dimensions or header[:4] != bytes([0, 0, 8, dimensions]):
                raise ValueError(f"not an IDX file of unsigned bytes in {dimensions} dimension(s)")
            rows, *shape = struct.unpack(f">{dimensions}I", header[4:])
            if not 1 <= rows <= ROWS or tuple(shape) != pixels:
                per_row = "".join(f" x {size}" for size in pixels)
                raise ValueError(f"declares {' x '.join(map(str, [rows, *shape]))} values, not 1 to {ROWS}{per_row}")
            size = math.prod([rows, *shape])
            values = file.read(size + 1)  # one more than declared, to notice a longer file without unpacking it
            if len(values) != size:
                raise ValueError(f"declares {size} values, holds {'more' if len(values) > size else len(values)}")
    except (ValueError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path}: {error}. Replace it, or remove it to have it downloaded.") from error
    except OSError as error:
        raise type(error)(f"cannot read {path} ({error}). Replace it, or remove it to have it downloaded.") from error
    return np.frombuffer(values, np.uint8).reshape(rows, *shape)
