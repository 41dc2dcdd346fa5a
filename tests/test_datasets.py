import gzip
import hashlib
import struct
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from unittest.mock import Mock

import numpy as np
import pooch
import pytest
import requests

from d2lhelpers import datasets

IMAGES = np.random.RandomState(0).randint(0, 256, (20, 28, 28)).astype("uint8")
LABELS = np.arange(20, dtype="uint8") % 10


def idx(array):
    """Return an array of bytes as a gzipped IDX file."""
    header = struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return gzip.compress(header + array.tobytes(), mtime=0)


FILES = {}
for part, rows in (("train", 20), ("t10k", 10)):
    FILES[f"{part}-images-idx3-ubyte.gz"] = idx(IMAGES[:rows])
    FILES[f"{part}-labels-idx1-ubyte.gz"] = idx(LABELS[:rows])
MD5 = {name: hashlib.md5(body).hexdigest() for name, body in FILES.items()}
FIRST, SECOND, *_ = FILES


class Mirror(BaseHTTPRequestHandler):
    """Serves FILES below /good/, and fails below any other folder in the way that the folder's name says."""

    def do_GET(self):
        self.server.asked.append(self.path)
        _, kind, name = self.path.split("/")
        self.send_response(404 if kind == "missing" else 200)
        self.end_headers()
        bad_bodies = {"wrong": b"wrong", "stalled": FILES[name][:99]}
        self.wfile.write(bad_bodies.get(kind, FILES[name]))
        if kind == "stalled":
            self.server.over.wait(60)


@pytest.fixture
def server(monkeypatch, tmp_path):
    """Run a server whose folder "good" is the only mirror, and keep the cache below `tmp_path`."""
    for name, value in ("HOME", tmp_path), ("XDG_CACHE_HOME", tmp_path), ("no_proxy", "*"), ("D2LHELPERS_DATA_DIR", ""):
        monkeypatch.setenv(name, str(value))
    monkeypatch.setattr(datasets, "MD5", MD5)
    with ThreadingHTTPServer(("127.0.0.1", 0), Mirror) as server:
        server.asked = []
        server.over = Event()
        server.urls = lambda *kinds: [f"http://127.0.0.1:{server.server_port}/{kind}/" for kind in kinds]
        monkeypatch.setattr(datasets, "MIRRORS", server.urls("good"))
        Thread(target=server.serve_forever, args=(0.01,)).start()
        yield server
        server.over.set()
        server.shutdown()


def assert_loads():
    """Load Fashion-MNIST and compare it with FILES."""
    for (images, labels), rows in zip(datasets.load_arrays("fashion_mnist"), (20, 10), strict=True):
        assert (images.dtype, labels.dtype) == ("float32", "int32")
        np.testing.assert_allclose(images, IMAGES[:rows, None] / 255, rtol=1e-6)
        np.testing.assert_array_equal(labels, LABELS[:rows])


def test_digits(server):
    """The digits are the default, need no network, and are always split the same way, with all classes in each part."""
    for (images, labels), rows, first in zip(datasets.load_arrays(), (1437, 360), ([3, 9, 1], [7, 6, 3]), strict=True):
        assert (images.shape, images.dtype, labels.dtype) == ((rows, 1, 8, 8), "float32", "int32")
        assert labels.shape == (rows,)
        assert (images.min(), images.max(), labels[:3].tolist()) == (0, 1, first)
        np.testing.assert_allclose(np.bincount(labels) / rows, 0.1, atol=0.005)
    assert server.asked == []


def test_resize_is_bilinear():
    """A resized image interpolates linearly between the centers of the pixels."""
    _, (images, _) = datasets.load_arrays("digits")
    _, (large, _) = datasets.load_arrays("digits", 16)
    weights = np.array([np.interp((np.arange(16) + 0.5) / 2 - 0.5, np.arange(8), unit) for unit in np.eye(8)])
    np.testing.assert_allclose(large[:, 0], weights.T @ images[:, 0] @ weights, atol=1e-6)


def test_an_unknown_data_set_is_named():
    """An unknown data set raises an error that names it and the data sets to choose from."""
    with pytest.raises(ValueError, match="unknown data set 'mnist': choose 'digits'"):
        datasets.load_arrays("mnist")


def test_each_file_is_downloaded_once(server):
    """Each file is downloaded once, and again only if the copy in the cache is damaged."""
    assert_loads()
    (pooch.os_cache("d2lhelpers") / FIRST).write_bytes(idx(IMAGES // 2))
    assert_loads()
    assert sorted(server.asked) == sorted(f"/good/{name}" for name in [*FILES, FIRST])


def test_mirrors_that_fail(server, monkeypatch):
    """Mirrors are tried in turn; if all fail, the error says how each one failed, and no file is left behind."""
    usual = datasets.TIMEOUT
    monkeypatch.setattr(datasets, "TIMEOUT", 4)
    monkeypatch.setattr(datasets, "MIRRORS", server.urls("missing", "wrong", "stalled"))
    reports = "missing/: .*404.*wrong/: .*MD5.*stalled/: .*timed out"
    with pytest.raises(ConnectionError, match=f"(?s){FIRST}.*{reports}.*D2LHELPERS_DATA_DIR"):
        datasets.load_arrays("fashion_mnist")
    assert list(pooch.os_cache("d2lhelpers").iterdir()) == []
    monkeypatch.setattr(datasets, "TIMEOUT", usual)
    monkeypatch.setattr(datasets, "MIRRORS", server.urls("missing", "wrong", "good"))
    assert_loads()


@pytest.mark.parametrize(("where", "error"), [("os.makedirs", PermissionError(13, "denied")),
                                              ("requests.get", requests.Timeout())])
def test_errors_are_explained(server, monkeypatch, where, error):
    """The error names a folder that cannot be written, or a mirror whose own error is empty, and keeps the errno."""
    monkeypatch.setattr(where, Mock(side_effect=error))
    with pytest.raises(OSError, match=r"cannot store .* D2LHELPERS_DATA_DIR|/good/: Timeout") as caught:
        datasets.load_arrays("fashion_mnist")
    assert caught.value.errno == error.errno


def test_own_files(server, monkeypatch, tmp_path):
    """A file in the reader's folder is used whatever its checksum, a missing one downloaded, a damaged one named."""
    monkeypatch.setenv("D2LHELPERS_DATASET", "fashion_mnist")
    monkeypatch.setenv("D2LHELPERS_DATA_DIR", "~")
    (tmp_path / FIRST).write_bytes(idx(IMAGES // 2))
    assert datasets.load_arrays()[0][0].max() < 0.5
    (tmp_path / FIRST).write_bytes(idx(IMAGES[:1]))
    (tmp_path / SECOND).write_bytes(idx(LABELS[:1]))
    assert len(datasets.load_arrays()[0][0]) == 1
    (tmp_path / SECOND).unlink()
    damaged = {FIRST: [b"<html>", FILES[FIRST][:-20], FILES[SECOND], idx(IMAGES.reshape(20, 14, 56)), idx(IMAGES[:0])],
               SECOND: [idx(LABELS[1:]), idx(LABELS + 1)]}
    for name, bodies in damaged.items():
        for body in bodies:
            (tmp_path / name).write_bytes(body)
            with pytest.raises(ValueError, match=f"{tmp_path / name} .*: replace"):
                datasets.load_arrays()
        (tmp_path / name).unlink()
