"""What `d2lhelpers.datasets` guarantees; every download goes to a server on 127.0.0.1 that these tests start."""

import gzip
import hashlib
import http.server
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d2lhelpers import datasets
from d2lhelpers.datasets import load_arrays

SAMPLE = Path(__file__).parents[2] / "shared" / "data" / "fashion-mnist-sample"
TRAIN_IMAGES = "train-images-idx3-ubyte.gz"
TEST_LABELS = "t10k-labels-idx1-ubyte.gz"


def idx(array, header=None):
    """Gzipped IDX of an array of unsigned bytes, on wish with another header."""
    if header is None:
        header = struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return gzip.compress(header + array.tobytes(), mtime=0)


def make_files():
    """The four files with 20 and 10 small random images."""
    rng = np.random.default_rng(0)
    files = {}
    for part, rows in ("train", 20), ("t10k", 10):
        files[f"{part}-images-idx3-ubyte.gz"] = idx(85 * rng.integers(0, 4, (rows, 28, 28), np.uint8))
        files[f"{part}-labels-idx1-ubyte.gz"] = idx(np.arange(rows, dtype=np.uint8) % 10)
    return files


FILES = make_files()


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves FILES under /good/, and under the other kinds' names in the way each one says."""

    def do_GET(self):
        """Answer in the way of the kind that the path names."""
        server = self.server
        server.requests.append(self.path)
        _, kind, name = self.path.split("/")
        if kind == "flaky":  # drops every file once
            kind = "good" if server.requests.count(self.path) > 1 else "dropped"
        body = FILES[name]
        length = len(body)
        if kind == "silent":
            server.over.wait(10)
        elif kind == "missing":
            return self.send_error(404)
        elif kind == "truncated":  # looks like a whole file that is shorter
            body = body[:-9]
            length = len(body)
        elif kind == "stalled":  # the connection stays open, and nothing more comes
            self.send_response(200)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(body[: length // 2])
            server.half.set()
            return server.over.wait(30)
        elif kind == "dropped":  # the connection ends half-way
            body = body[: length // 2]
        elif kind == "wrong":
            body = body[:-1] + bytes([body[-1] ^ 1])
        else:
            assert kind == "good"
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Keep quiet."""


@pytest.fixture
def server():
    """A mirror for every kind of behaviour at server.url(kind); server.requests are the paths that were asked for."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # a port on which nobody listens
        ports = {"refused": deaf.getsockname()[1]}
        server.url = lambda kind: f"http://127.0.0.1:{ports.get(kind, server.server_port)}/{kind}/"
        server.requests = []
        server.over, server.half = threading.Event(), threading.Event()
        server.handle_error = lambda *args: None  # a client that has gone away
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.over.set()
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def waits(monkeypatch, tmp_path):
    """Keep every test off the network, the user's settings and cache; return the waits that were skipped."""
    waits = []
    monkeypatch.delenv("D2LHELPERS_DATASET", raising=False)
    monkeypatch.delenv("D2LHELPERS_DATA_DIR", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(datasets, "MIRRORS", ())
    monkeypatch.setattr(datasets, "MD5", {name: hashlib.md5(body).hexdigest() for name, body in FILES.items()})
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / "cache" / project)
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=waits.append))
    return waits


@pytest.fixture
def cache(tmp_path):
    """The default cache."""
    return tmp_path / "cache" / "d2lhelpers"


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A user's own folder with the four files, whose sums are not the published ones."""
    folder = tmp_path / "own"
    folder.mkdir()
    for name, body in FILES.items():
        (folder / name).write_bytes(body)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("D2LHELPERS_DATA_DIR", "~/own")
    monkeypatch.setattr(datasets, "MD5", dict.fromkeys(FILES, "0" * 32))
    return folder


def use(monkeypatch, server, *kinds):
    """Make the server's mirrors of these kinds the only ones."""
    monkeypatch.setattr(datasets, "MIRRORS", tuple(server.url(kind) for kind in kinds))


def contents(folder):
    """Every file in a folder, hidden and temporary ones too, with what it holds."""
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def assert_loaded(loaded):
    """Compare what was loaded to what FILES hold."""
    for (images, labels), part, rows in zip(loaded, ("train", "t10k"), (20, 10), strict=True):
        pixels = gzip.decompress(FILES[f"{part}-images-idx3-ubyte.gz"])[16:]
        expected = np.frombuffer(pixels, np.uint8).reshape(rows, 1, 28, 28)
        assert images.dtype == np.float32
        assert labels.dtype == np.int32
        np.testing.assert_allclose(images, expected / 255, rtol=1e-6)
        np.testing.assert_array_equal(labels, np.arange(rows) % 10)


# The digits, the arguments and the variables


def test_digits_shapes_and_ranges():
    """The digits are float32 images from 0 to 1 with one channel, and int32 labels."""
    for (images, labels), rows in zip(load_arrays(), (1437, 360), strict=True):
        assert images.shape == (rows, 1, 8, 8)
        assert labels.shape == (rows,)
        assert images.dtype == np.float32
        assert labels.dtype == np.int32
        assert (images.min(), images.max()) == (0, 1)


def test_digits_split_is_fixed():
    """The split of the digits is the same one on every call and every machine."""
    first, second = load_arrays("digits"), load_arrays("digits")
    for (images, labels), (images_again, labels_again) in zip(first, second, strict=True):
        np.testing.assert_array_equal(images, images_again)
        np.testing.assert_array_equal(labels, labels_again)
    assert first[0][1][:10].tolist() == [3, 9, 1, 3, 1, 9, 4, 4, 2, 8]
    assert first[1][1][:10].tolist() == [7, 6, 3, 7, 7, 3, 2, 8, 9, 3]


def test_digits_split_is_stratified_and_whole():
    """Both parts hold all ten classes in the same shares, and together every one of scikit-learn's digits once."""
    from sklearn.datasets import load_digits

    (train_images, train_labels), (test_images, test_labels) = load_arrays("digits")
    counts = np.bincount(train_labels), np.bincount(test_labels)
    assert [len(count) for count in counts] == [10, 10]
    np.testing.assert_allclose(counts[1], (counts[0] + counts[1]) * 360 / 1797, atol=1)
    rows = np.concatenate([train_images, test_images]).reshape(1797, 64) * 16
    labelled = np.column_stack([rows, np.concatenate([train_labels, test_labels])])
    expected = np.column_stack(load_digits(return_X_y=True))
    np.testing.assert_array_equal(*(array[np.lexsort(array.T)] for array in (labelled, expected)))


def test_resize_is_bilinear():
    """A resized image is the bilinear interpolation between the centres of the pixels, still from 0 to 1."""
    (_, _), (images, labels) = load_arrays("digits")
    (_, _), (large, large_labels) = load_arrays("digits", resize=16)
    centres = (np.arange(16) + 0.5) / 2 - 0.5
    weights = np.array([np.interp(centres, np.arange(8), unit) for unit in np.eye(8)])
    assert large.shape == (360, 1, 16, 16)
    assert large.dtype == np.float32
    assert large.min() >= 0
    assert large.max() <= 1
    np.testing.assert_allclose(large[:, 0], weights.T @ images[:, 0] @ weights, atol=1e-6)
    np.testing.assert_array_equal(labels, large_labels)


@pytest.mark.parametrize("resize", [0, -1, 2.5, "28", True, (8, 8)])
def test_wrong_resize(resize):
    """A resize that is not a whole number of at least one pixel is refused by name."""
    with pytest.raises(ValueError, match="resize") as caught:
        load_arrays(resize=resize)
    assert repr(resize) in str(caught.value)


@pytest.mark.parametrize("resize", [10**5, 10**12])
def test_resize_beyond_the_memory(resize):
    """Images that would not fit into the memory are refused before any is made, with what they need."""
    with pytest.raises(MemoryError, match=rf"resize={resize}: 1797 images of that size take [0-9,.]+ GB"):
        load_arrays("digits", resize=resize)


def test_unknown_dataset(monkeypatch):
    """An unknown data set is named together with those there are, and the variable is not blamed for an argument."""
    monkeypatch.setenv("D2LHELPERS_DATASET", "digits")
    with pytest.raises(ValueError, match=r"'cifar'.*digits, fashion_mnist") as caught:
        load_arrays("cifar")
    assert "D2LHELPERS_DATASET" not in str(caught.value)


def test_unknown_dataset_from_the_variable(monkeypatch):
    """An unknown data set that came from the variable names the variable."""
    monkeypatch.setenv("D2LHELPERS_DATASET", "cifar")
    with pytest.raises(ValueError, match=r"D2LHELPERS_DATASET.*'cifar'.*digits, fashion_mnist"):
        load_arrays()


def test_dataset_variable_is_the_default(monkeypatch, own):
    """The variable names the data set where no argument does; an argument wins, an empty variable is none."""
    monkeypatch.setenv("D2LHELPERS_DATASET", "fashion_mnist")
    assert_loaded(load_arrays())
    assert len(load_arrays("digits")[0][0]) == 1437
    monkeypatch.setenv("D2LHELPERS_DATASET", "")
    assert len(load_arrays()[0][0]) == 1437


def test_import_is_light():
    """Importing the module loads no framework, and nothing that takes long."""
    heavy = {"mxnet", "torch", "matplotlib", "sklearn", "pooch", "requests", "PIL"}
    code = f"import sys, d2lhelpers.datasets; print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []


# Downloads


def test_download_into_the_cache(monkeypatch, server, cache):
    """The four files come whole into the default cache, under their own names, and are asked for only once."""
    use(monkeypatch, server, "good")
    assert_loaded(load_arrays("fashion_mnist"))
    assert contents(cache) == FILES
    assert_loaded(load_arrays("fashion_mnist"))
    assert sorted(server.requests) == sorted(f"/good/{name}" for name in FILES)


def test_download_shows_progress(monkeypatch, server, capfd):
    """A download draws a progress bar, on stderr alone."""
    use(monkeypatch, server, "good")
    load_arrays("fashion_mnist")
    captured = capfd.readouterr()
    assert "100%" in captured.err
    assert captured.out == ""


FAILURES = {
    "truncated": "MD5",
    "wrong": "MD5",
    "dropped": "IncompleteRead|MD5",
    "missing": "404",
    "refused": "refused",
    "silent": "timed out",
}


@pytest.mark.parametrize("place", ["the default cache", "the user's folder"])
@pytest.mark.parametrize("kind", FAILURES)
def test_failed_download(monkeypatch, server, cache, tmp_path, kind, place):
    """A failed download says which file, which mirror, why and what to do, and leaves nothing at all behind."""
    use(monkeypatch, server, kind)
    if kind == "silent":
        monkeypatch.setattr(datasets, "TIMEOUT", 0.2)
    if place == "the user's folder":
        cache = tmp_path / "own"
        monkeypatch.setenv("D2LHELPERS_DATA_DIR", str(cache))
    with pytest.raises(ConnectionError, match=FAILURES[kind]) as caught:
        load_arrays("fashion_mnist")
    for part in TRAIN_IMAGES, server.url(kind), "D2LHELPERS_DATA_DIR", "dataset='digits'":
        assert part in str(caught.value)
    assert "Max retries" not in str(caught.value)  # the reason itself, not what wraps it
    assert contents(cache) == {}


def test_two_bad_mirrors(monkeypatch, server, cache, waits):
    """Mirrors are tried in turn, each again after a short wait, and the error says what every one did."""
    use(monkeypatch, server, "wrong", "missing")
    with pytest.raises(ConnectionError) as caught:
        load_arrays("fashion_mnist")
    first, *mirrors, remedy = str(caught.value).splitlines()
    assert TRAIN_IMAGES in first
    for mirror, kind, reason in zip(mirrors, ("wrong", "missing"), ("MD5", "404"), strict=True):
        assert mirror.startswith(server.url(kind))
        assert reason in mirror
    assert "D2LHELPERS_DATA_DIR" in remedy
    assert server.requests == [f"/{kind}/{TRAIN_IMAGES}" for kind in ("wrong", "wrong", "missing", "missing")]
    assert 0 < sum(waits) <= 5
    assert contents(cache) == {}


@pytest.mark.parametrize("kind", [kind for kind in FAILURES if kind != "silent"])
def test_second_mirror_helps(monkeypatch, server, cache, kind):
    """A broken first mirror does no harm where the second one is good."""
    use(monkeypatch, server, kind, "good")
    assert_loaded(load_arrays("fashion_mnist"))
    assert contents(cache) == FILES


def test_dropped_connection_is_tried_again(monkeypatch, server, cache):
    """A connection that drops half-way is tried again on the same mirror."""
    use(monkeypatch, server, "flaky")
    assert_loaded(load_arrays("fashion_mnist"))
    assert contents(cache) == FILES
    assert sorted(server.requests) == sorted(f"/flaky/{name}" for name in FILES for _ in range(2))


def test_later_file_fails(monkeypatch, server, cache):
    """When a later file fails, the whole ones before it stay, and nothing else."""
    use(monkeypatch, server, "good")
    monkeypatch.setitem(datasets.MD5, TEST_LABELS, "0" * 32)
    with pytest.raises(ConnectionError, match=TEST_LABELS):
        load_arrays("fashion_mnist")
    assert contents(cache) == {name: body for name, body in FILES.items() if name != TEST_LABELS}


@pytest.mark.parametrize("kind", ["good", "wrong"])
def test_damaged_file_in_the_cache(monkeypatch, server, cache, kind):
    """A file in the default cache with a wrong sum is replaced, or removed where it cannot be, never used."""
    use(monkeypatch, server, kind)
    cache.mkdir(parents=True)
    (cache / TRAIN_IMAGES).write_bytes(idx(np.zeros((20, 28, 28), np.uint8)))  # its form is right
    if kind == "good":
        assert_loaded(load_arrays("fashion_mnist"))
        assert contents(cache) == FILES
    else:
        with pytest.raises(ConnectionError):
            load_arrays("fashion_mnist")
        assert contents(cache) == {}


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_download_cut_off_on_this_side(monkeypatch, server, cache, error):
    """An interrupt and a full disk leave nothing behind; the error for the disk names folder and variable."""

    def write_a_little(self, url, output_file, pooch):
        Path(output_file).write_bytes(b"a little")
        raise error

    use(monkeypatch, server, "good")
    monkeypatch.setattr("pooch.HTTPDownloader.__call__", write_a_little)
    with pytest.raises(type(error)) as caught:
        load_arrays("fashion_mnist")
    if isinstance(error, OSError):
        for part in TRAIN_IMAGES, str(cache), "No space left", "D2LHELPERS_DATA_DIR":
            assert part in str(caught.value)
    assert contents(cache) == {}


@pytest.mark.parametrize("place", ["the default cache", "the user's folder"])
def test_folder_below_a_file(monkeypatch, server, tmp_path, place):
    """A folder that cannot be made is an OSError, not the network's, that names folder and variable."""
    use(monkeypatch, server, "good")
    below = tmp_path / "cache"  # the default cache lies below it
    below.write_text("not a folder")
    if place == "the user's folder":
        monkeypatch.setenv("D2LHELPERS_DATA_DIR", str(below / "d2lhelpers"))
    with pytest.raises(OSError, match="D2LHELPERS_DATA_DIR") as caught:
        load_arrays("fashion_mnist")
    assert str(below / "d2lhelpers") in str(caught.value)
    assert not isinstance(caught.value, ConnectionError)
    assert below.read_text() == "not a folder"
    assert server.requests == []


def test_folder_without_permission(monkeypatch, server, cache):
    """A cache folder that may not be written is a PermissionError that names folder and variable."""

    def refuse(path, *args, **kwargs):
        raise PermissionError(13, "Permission denied", str(path))

    use(monkeypatch, server, "good")
    monkeypatch.setattr("os.makedirs", refuse)
    with pytest.raises(PermissionError, match="D2LHELPERS_DATA_DIR") as caught:
        load_arrays("fashion_mnist")
    assert str(cache) in str(caught.value)


def process(server, kind, cache, limit=""):
    """Start a process that loads into `cache` once it is told to, and return it when it waits for that."""
    program = f"""
import resource, sys
import pooch, requests
from d2lhelpers import datasets
pooch.os_cache = lambda project: {str(cache)!r}
datasets.MIRRORS, datasets.MD5 = ({server.url(kind)!r},), {datasets.MD5!r}
print("ready", flush=True)
sys.stdin.readline()
{limit}
images = datasets.load_arrays("fashion_mnist")[0][0]
print(images.shape)
"""
    child = subprocess.Popen([sys.executable, "-c", program], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout.readline() == "ready\n"
    return child


def test_a_killed_download_leaves_no_trace(monkeypatch, server, cache):
    """What a process that was killed half-way through a download has left is removed by the next, which is whole."""
    with process(server, "stalled", cache) as child:
        child.stdin.write("go\n")
        child.stdin.flush()
        assert server.half.wait(30)
        deadline = time.monotonic() + 30
        while not any(path.is_file() and path.stat().st_size for path in cache.rglob("*")):
            assert time.monotonic() < deadline
        child.kill()
    assert child.returncode == -signal.SIGKILL
    assert list(cache.iterdir()) != []
    assert not (cache / TRAIN_IMAGES).exists()
    use(monkeypatch, server, "good")
    assert_loaded(load_arrays("fashion_mnist"))
    assert contents(cache) == FILES


@pytest.mark.parametrize("damaged", [False, True])
def test_processes_fill_one_cache_together(server, cache, damaged):
    """Three processes that need the same files at once all get them, each is downloaded once, nothing else stays."""
    if damaged:
        cache.mkdir(parents=True)
        for name in FILES:
            (cache / name).write_bytes(FILES[name][:-1])
    children = [process(server, "good", cache) for _ in range(3)]
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    for child in children:
        printed, errors = child.communicate(timeout=60)
        assert (child.returncode, printed) == (0, "(20, 1, 28, 28)\n"), errors
    assert sorted(server.requests) == sorted(f"/good/{name}" for name in FILES)
    assert contents(cache) == FILES


def test_a_full_disk(monkeypatch, server, cache):
    """No room for a file is an OSError that names it, the folder and what to do, and leaves nothing half-written."""
    child = process(server, "good", cache, "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))")
    _, errors = child.communicate("go\n", timeout=60)
    words = re.search(rf"^OSError: cannot keep {TRAIN_IMAGES} in {cache} \((.*)", errors, re.MULTILINE)[1]
    assert "File too large" in words
    assert "D2LHELPERS_DATA_DIR" in words
    assert contents(cache) == {}
    use(monkeypatch, server, "good")
    assert_loaded(load_arrays("fashion_mnist"))
    assert contents(cache) == FILES


# The user's own folder


def test_own_files_are_used_as_they_are(own):
    """Files that lie in the user's folder are used whatever their sums, without the network, and left untouched."""
    assert_loaded(load_arrays("fashion_mnist"))
    assert contents(own) == FILES


def test_missing_files_come_into_the_own_folder(monkeypatch, server, tmp_path):
    """The user's folder, made where there is none, gets the files that it lacks and no others."""
    use(monkeypatch, server, "good")
    folder = tmp_path / "own" / "images"
    monkeypatch.setenv("D2LHELPERS_DATA_DIR", str(folder))
    assert_loaded(load_arrays("fashion_mnist"))
    (folder / TEST_LABELS).unlink()
    server.requests.clear()
    assert_loaded(load_arrays("fashion_mnist"))
    assert server.requests == [f"/good/{TEST_LABELS}"]
    assert contents(folder) == FILES


GOOD = FILES[TRAIN_IMAGES]
PIXELS = np.zeros((20, 28, 28), np.uint8)
DAMAGES = {
    "not gzip": (b"<html>404</html>", "gzip"),
    "empty": (b"", "not an IDX file"),
    "cut short": (GOOD[:-20], "ended before"),
    "wrong checksum": (GOOD[:-8] + bytes(4) + GOOD[-4:], "CRC"),
    "broken inside": (GOOD[:40] + bytes(40) + GOOD[80:], "CRC|decompressing|ended before"),
    "junk behind": (GOOD + b"junk", "gzip"),
    "short header": (gzip.compress(bytes([0, 0, 8, 3, 0, 0])), "not an IDX file"),
    "wrong magic": (idx(PIXELS, struct.pack(">4B3I", 0, 1, 8, 3, 20, 28, 28)), "not an IDX file"),
    "wrong type": (idx(PIXELS, struct.pack(">4B3I", 0, 0, 13, 3, 20, 28, 28)), "not an IDX file"),
    "labels instead": (idx(PIXELS.ravel()), "not an IDX file"),
    "no images": (idx(PIXELS[:0]), "declares 0"),
    "fewer values": (idx(PIXELS[:19], struct.pack(">4B3I", 0, 0, 8, 3, 20, 28, 28)), "15680 values, holds 14896"),
    "more values": (idx(PIXELS, struct.pack(">4B3I", 0, 0, 8, 3, 19, 28, 28)), "declares 14896 values, holds more"),
    "other pixels": (idx(PIXELS.reshape(20, 14, 56)), "declares 20 x 14 x 56 values, not 1 to 60000 x 28 x 28"),
    "too many rows": (idx(PIXELS, struct.pack(">4B3I", 0, 0, 8, 3, 60_001, 28, 28)), "declares 60001 x"),
    "second part": (GOOD + gzip.compress(b"more"), "holds more"),
    "absurd sizes": (idx(PIXELS, struct.pack(">4B3I", 0, 0, 8, 3, *[2**32 - 1] * 3)), "declares"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_own_file(own, damage):
    """A file in the user's folder that is wrong in form is named with what is wrong, and left untouched."""
    body, message = DAMAGES[damage]
    (own / TRAIN_IMAGES).write_bytes(body)
    with pytest.raises(ValueError, match=message) as caught:
        load_arrays("fashion_mnist")
    assert str(own / TRAIN_IMAGES) in str(caught.value)
    assert contents(own) == {**FILES, TRAIN_IMAGES: body}


def test_labels_that_do_not_match(own):
    """A number of labels other than of images is an error that names both files and both numbers."""
    (own / TEST_LABELS).write_bytes(idx(np.zeros(9, np.uint8)))
    with pytest.raises(ValueError, match=rf"{TEST_LABELS} holds 9 labels.*t10k-images.* holds 10 images"):
        load_arrays("fashion_mnist")


def test_labels_beyond_nine(own):
    """A label that no class has is an error that names the file and the label."""
    (own / TEST_LABELS).write_bytes(idx(np.arange(10, dtype=np.uint8) + 1))
    with pytest.raises(ValueError, match=rf"{TEST_LABELS} holds the label 10, but there are 0 to 9"):
        load_arrays("fashion_mnist")


def test_own_file_that_cannot_be_read(own):
    """A folder in a file's place is an OSError that names it and what to do."""
    (own / TRAIN_IMAGES).unlink()
    (own / TRAIN_IMAGES).mkdir()
    with pytest.raises(IsADirectoryError, match=rf"cannot read {own / TRAIN_IMAGES}.*remove it"):
        load_arrays("fashion_mnist")


@pytest.mark.parametrize(("shape", "message"), [((1, 28, 28), "holds more"), ((2**31, 1, 1), "declares")])
def test_memory_stays_small(tmp_path, shape, message):
    """Neither a file that unpacks to far more than it declares nor one that declares far too much takes memory."""
    path = tmp_path / TRAIN_IMAGES
    path.write_bytes(gzip.compress(struct.pack(">4B3I", 0, 0, 8, 3, *shape) + bytes(32 << 20), compresslevel=1))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            datasets._read_idx(path, datasets.PIXELS)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says, and limits, how much memory a process takes")
def test_a_bomb_takes_little_memory(tmp_path):
    """A file of 300 kB that unpacks to 4 GB is refused by a process that may take no more than 200 MB beyond itself."""
    path = tmp_path / TRAIN_IMAGES
    head = gzip.compress(struct.pack(">4B3I", 0, 0, 8, 3, 60_000, 28, 28))
    path.write_bytes(head + gzip.compress(bytes(1 << 26), compresslevel=6) * 64)
    program = rf"""
import re, resource
from d2lhelpers import datasets
size = int(re.search(r"VmSize:\s+(\d+)", open("/proc/self/status").read())[1]) << 10
resource.setrlimit(resource.RLIMIT_AS, (size + 200_000_000,) * 2)
datasets._read_idx({str(path)!r}, datasets.PIXELS)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stderr.splitlines()[-1].startswith(f"ValueError: {path}: declares 47040000 values, holds more.")


def mutated(random, body):
    """Return `body` with one change of any kind."""
    start, end = sorted(random.randrange(len(body) + 1) for _ in range(2))
    junk = random.randbytes(random.randrange(1, 30))
    return random.choice([
        lambda: body[:end],
        lambda: body[start:],
        lambda: body + junk,
        lambda: junk + body,
        lambda: body[:start] + junk + body[start + len(junk):],
        lambda: body[:start] + junk + body[start:],
        lambda: body[:start] + body[end:],
        lambda: body[:end] + body[start:],
        lambda: body[:start] + bytes(end - start) + body[end:],
        lambda: (int.from_bytes(body, "big") ^ 1 << random.randrange(8 * len(body))).to_bytes(len(body), "big"),
        lambda: random.randbytes(end),
        lambda: body * 2,
        lambda: body[:3] + bytes([random.randrange(256)]) + body[4:],
        lambda: body[:4] + struct.pack(">I", random.choice([0, 1, 3, 28, 2**31, 2**32 - 1])) + body[8:],
    ])()


@pytest.mark.parametrize("what", ["images", "labels"])
def test_thousands_of_damaged_files(tmp_path, what):
    """Of 3000 files damaged outside or inside of gzip each is read as what it declares, or a ValueError names it."""
    random = Random(0)
    values = np.arange(2 * 28 * 28).astype(np.uint8).reshape(2, 28, 28) if what == "images" else np.arange(10) % 10
    pixels = datasets.PIXELS if what == "images" else ()
    whole = idx(values.astype(np.uint8))
    inside = gzip.decompress(whole)
    path = tmp_path / "damaged.gz"
    read, refused = 0, 0
    for _ in range(3000):
        if random.random() < 0.5:
            body, holds = mutated(random, whole), inside
        else:
            holds = mutated(random, inside)
            body = gzip.compress(holds, compresslevel=1)
        path.write_bytes(body)
        error = None
        try:
            array = datasets._read_idx(path, pixels)
        except ValueError as caught:
            error = str(caught)
        if error:
            assert error.startswith(f"{path}: ")
            refused += 1
        else:
            sizes = array.shape
            assert sizes[1:] == pixels
            assert struct.pack(f">4B{len(sizes)}I", 0, 0, 8, len(sizes), *sizes) + array.tobytes() == holds
            read += 1
    assert refused > 2000
    assert read > 50


@settings(max_examples=300)
@given(data=st.data())
def test_any_damage_is_noticed(tmp_path_factory, data):
    """A file cut or changed anywhere is read as it was, where only gzip's own fields changed, or a ValueError."""
    body = bytearray(GOOD[: data.draw(st.integers(0, len(GOOD)))])
    if body:
        body[data.draw(st.integers(0, len(body) - 1))] ^= data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.gz"
    path.write_bytes(body)
    try:
        read = datasets._read_idx(path, datasets.PIXELS).tobytes()
    except ValueError:
        read = None
    assert read in (None, gzip.decompress(GOOD)[16:])


@pytest.mark.skipif(not SAMPLE.is_dir(), reason="the sample of Fashion-MNIST does not lie beside this repository")
def test_real_files(monkeypatch):
    """Real files of Fashion-MNIST load: 28 x 28 pixels from black to white, ten classes, the data set's mean."""
    monkeypatch.setenv("D2LHELPERS_DATA_DIR", str(SAMPLE))
    for (images, labels), rows in zip(load_arrays("fashion_mnist"), (4000, 443), strict=True):
        assert images.shape == (rows, 1, 28, 28)
        assert (images.min(), images.max()) == (0, 1)
        assert 0.27 < images.mean() < 0.30
        assert set(labels) == set(range(10))
