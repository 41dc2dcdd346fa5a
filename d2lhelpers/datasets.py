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
    """Load small grey images in ten classes; return (train_images, train_labels), (test_images, test_labels).

    `dataset` is "digits" or "fashion_mnist". The digits are 1,437 and 360 images of 8 x 8 pixels, always split in the
    same way; they need no network. Fashion-MNIST has 60,000 and 10,000 images of 28 x 28 pixels: it is downloaded on
    first use (30 MB), verified and cached. The environment variable D2LHELPERS_DATASET sets the default.
    D2LHELPERS_DATA_DIR names a folder to use instead of the user's cache; files that it already has are not verified.
    `resize` scales each side to that many pixels (bilinear). Images are float32 from 0 to 1, shaped
    (n, 1, height, width); labels are int32 from 0 to 9, shaped (n,). Lesson: 05-multi-gpu-from-scratch.
    Sources: the optical digits of the UCI repository, Alpaydin and Kaynak 1998, doi:10.24432/C50P49, CC BY 4.0, in
    digits.npz; Fashion-MNIST, Xiao, Rasul and Vollgraf 2017, arXiv:1708.07747.

    Raises:
        ValueError: The data set is unknown, or a file is damaged.
        ConnectionError: No mirror delivered the data set. The message says what each of them did.
        OSError: The files cannot be stored.

    >>> (train_images, train_labels), (test_images, test_labels) = load_arrays("digits")
    >>> train_images.shape, train_images.dtype, test_labels.shape, test_labels.dtype
    ((1437, 1, 8, 8), dtype('float32'), (360,), dtype('int32'))
    """
    dataset = dataset or os.environ.get("D2LHELPERS_DATASET") or "digits"
    if dataset not in ("digits", "fashion_mnist"):
        raise ValueError(f"unknown data set {dataset!r}: choose 'digits' or 'fashion_mnist', with the argument dataset "
                         "or the environment variable D2LHELPERS_DATASET")
    if dataset == "digits":
        train, test = _digits()
    else:
        train, test = _fashion_mnist("train"), _fashion_mnist("t10k")
    if resize is not None:
        train, test = _resized(train, resize), _resized(test, resize)
    return train, test


def _digits():
    with np.load(Path(__file__).with_name("digits.npz")) as stored:
        images = stored["images"][:, None] / np.float32(16)  # in the file white is 16
        labels = stored["labels"].astype(np.int32)
    return (images[:-360], labels[:-360]), (images[-360:], labels[-360:])


def _fashion_mnist(part):
    images = _read_idx(_path(f"{part}-images-idx3-ubyte.gz"), (28, 28))
    path = _path(f"{part}-labels-idx1-ubyte.gz")
    labels = _read_idx(path, ())
    if len(images) != len(labels) or labels.max() > 9:
        raise ValueError(f"{path} does not hold one label from 0 to 9 per image: replace it, or remove it to have "
                         "it downloaded again")
    return np.divide(images[:, None], 255, dtype=np.float32), labels.astype(np.int32)


def _resized(arrays, size):
    from PIL import Image
    images, labels = arrays
    resized = [Image.fromarray(image).resize((size, size), Image.Resampling.BILINEAR) for image in images[:, 0]]
    return np.stack(resized)[:, None], labels


def _path(name):
    """Return the path of one of Fashion-MNIST's files; download it if it is not there yet."""
    import pooch
    from requests.exceptions import RequestException  # pooch downloads with requests
    chosen = os.environ.get("D2LHELPERS_DATA_DIR")
    folder = Path(chosen or pooch.os_cache("d2lhelpers")).expanduser()
    downloader = pooch.HTTPDownloader(progressbar=True, timeout=TIMEOUT)
    failures = []
    try:
        if chosen and (folder / name).exists():
            return folder / name
        for mirror in MIRRORS:
            try:
                return Path(pooch.retrieve(mirror + name, f"md5:{MD5[name]}", name, folder, downloader=downloader))
            except (RequestException, ValueError) as error:  # ValueError: the wrong MD5 sum
                failures.append(f"- {mirror}: {type(error).__name__}: {error}")
    except OSError as error:
        fault = error.__cause__ or error  # pooch wraps a PermissionError and drops its errno
        raise OSError(fault.errno, f"cannot store {name} in {folder} ({fault}): set the environment variable "
                      "D2LHELPERS_DATA_DIR to a folder that you can write to, with 30 MB of free space") from error
    raise ConnectionError("\n".join([
        f"{name} could not be downloaded:", *failures,
        "Use dataset='digits', which needs no network, or set the environment variable D2LHELPERS_DATA_DIR to a folder "
        "that holds Fashion-MNIST's four .gz files."]))


def _read_idx(path, shape):
    """Read a gzipped IDX file of bytes: 0, 0, 8 and the number of dimensions; the size of each; the values.

    `shape` is that of one image or label.
    """
    dimensions = 1 + len(shape)
    try:
        with gzip.open(path) as file:
            data = file.read()
        kind, rows, *sizes = struct.unpack_from(f">{1 + dimensions}I", data)
        if kind != 0x800 + dimensions or sizes != list(shape) or rows == 0:
            raise ValueError("its header is not the expected one")
        return np.frombuffer(data, np.uint8, offset=4 + 4 * dimensions).reshape(rows, *shape)
    except (gzip.BadGzipFile, EOFError, zlib.error, struct.error, ValueError) as error:
        raise ValueError(f"{path} is damaged or the wrong file ({error}): replace it, or remove it") from error
