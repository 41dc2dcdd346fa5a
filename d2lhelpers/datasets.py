"""The images that the lessons train on, as NumPy arrays."""
import gzip
import os
import struct
import zlib
from pathlib import Path

import numpy as np

MIRRORS = [
    "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "https://storage.googleapis.com/tensorflow/tf-keras-datasets/",
]
MD5 = {  # as Fashion-MNIST's own page gives them
    "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
}
TIMEOUT = (5, 20)  # seconds to connect to a mirror, and to wait for the next piece of its answer
Arrays = tuple[np.ndarray, np.ndarray]  # images and labels


def load_arrays(dataset: str | None = None, resize: int | None = None) -> tuple[Arrays, Arrays]:
    """Load a data set of small grey images in ten classes: (train_images, train_labels), (test_images, test_labels).

    `dataset` "digits" has 1,437 and 360 images of 8 x 8 pixels, always split the same way; it needs no network.
    "fashion_mnist" has 60,000 and 10,000 images of 28 x 28 pixels, downloaded on first use (30 MB), verified and
    cached. The environment variable D2LHELPERS_DATASET sets the default, D2LHELPERS_DATA_DIR a folder other than the
    user's cache: files that lie there are used as they are. `resize` scales each side to that many pixels (bilinear).
    Images are float32 from 0 to 1, shaped (n, 1, height, width), labels int32 from 0 to 9, shaped (n,).
    ValueError for an unknown data set or a damaged file, ConnectionError or OSError if it cannot be loaded or stored.
    Lesson: 05-multi-gpu-from-scratch. Sources: the optical digits of the UCI repository, Alpaydin and Kaynak 1998,
    doi:10.24432/C50P49, CC BY 4.0, in digits.npz; Fashion-MNIST, Xiao, Rasul and Vollgraf 2017, arXiv:1708.07747.

    >>> (train_images, train_labels), (test_images, test_labels) = load_arrays("digits")
    >>> train_images.shape, train_images.dtype, test_labels.shape, test_labels.dtype
    ((1437, 1, 8, 8), dtype('float32'), (360,), dtype('int32'))
    """
    dataset = dataset or os.environ.get("D2LHELPERS_DATASET") or "digits"
    if dataset not in ("digits", "fashion_mnist"):
        raise ValueError(f"unknown data set {dataset!r}: choose 'digits' or 'fashion_mnist', in the argument dataset "
                         "or in the environment variable D2LHELPERS_DATASET")
    parts = _digits() if dataset == "digits" else (_fashion_mnist("train"), _fashion_mnist("t10k"))
    train, test = ((images if resize is None else _resized(images, resize), labels) for images, labels in parts)
    return train, test


def _digits():
    with np.load(Path(__file__).with_name("digits.npz")) as stored:
        images = stored["images"][:, None] / np.float32(16)  # 16 is the digits' white
        labels = stored["labels"].astype(np.int32)
    return (images[:-360], labels[:-360]), (images[-360:], labels[-360:])


def _fashion_mnist(part):
    images = _read_idx(_path(f"{part}-images-idx3-ubyte.gz"), (28, 28))
    labels = _read_idx(path := _path(f"{part}-labels-idx1-ubyte.gz"), ())
    if len(images) != len(labels) or labels.max() > 9:
        raise ValueError(f"{path} has no label from 0 to 9 for each image: replace it, or remove it for a new download")
    return np.divide(images[:, None], 255, dtype=np.float32), labels.astype(np.int32)


def _resized(images, size):
    from PIL import Image
    return np.stack([Image.fromarray(image).resize((size, size), Image.Resampling.BILINEAR)
                     for image in images[:, 0]])[:, None]


def _path(name):
    """Return the path of one of Fashion-MNIST's files, downloaded if need be."""
    import pooch
    from requests.exceptions import RequestException  # pooch downloads with requests
    own = os.environ.get("D2LHELPERS_DATA_DIR")
    folder = Path(own or pooch.os_cache("d2lhelpers")).expanduser()
    downloader, failures = pooch.HTTPDownloader(progressbar=True, timeout=TIMEOUT), []
    try:
        if own and (folder / name).exists():
            return folder / name
        for mirror in MIRRORS:
            try:
                return Path(pooch.retrieve(mirror + name, f"md5:{MD5[name]}", name, folder, downloader=downloader))
            except (RequestException, ValueError) as error:  # ValueError: the wrong MD5 sum
                failures.append(f"- {mirror}: {type(error).__name__}: {error}")
    except OSError as error:
        fault = error.__cause__ or error  # pooch wraps a PermissionError and drops its errno
        raise OSError(fault.errno, f"cannot keep {name} in {folder} ({fault}): name a folder with 30 MB of free space "
                      "that you can write to in the environment variable D2LHELPERS_DATA_DIR") from error
    raise ConnectionError("\n".join([
        f"{name} could not be downloaded:", *failures,
        "Use dataset='digits', which needs no network, or name a folder that holds Fashion-MNIST's four .gz files "
        "in the environment variable D2LHELPERS_DATA_DIR."]))


def _read_idx(path, shape):
    """Read a gzipped IDX file of bytes: 0, 0, 8, the number of dimensions; the size of each; the values."""
    try:
        with gzip.open(path) as file:
            data = file.read()
        kind, rows, *sizes = struct.unpack_from(f">{2 + len(shape)}I", data)
        if (kind, sizes, rows > 0) != (0x801 + len(shape), list(shape), True):
            raise ValueError("another kind of file")
        return np.frombuffer(data, np.uint8, offset=8 + 4 * len(shape)).reshape(rows, *shape)
    except (gzip.BadGzipFile, EOFError, zlib.error, struct.error, ValueError) as error:
        raise ValueError(f"{path} is damaged or the wrong file ({error}): replace it, or remove it") from error
