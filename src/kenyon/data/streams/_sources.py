"""The table of published data sets: their files, checksums, addresses and how to read them.

Adding one is adding a row; `docs/datasets.md` shows how.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from kenyon.data.streams import _fsdd, _hapt, _names
from kenyon.data.streams._cifar import read_cifar_split
from kenyon.data.streams._dataset import Split
from kenyon.data.streams._gas import BATCHES, FEATURES, read_gas_months, read_gas_split
from kenyon.data.streams._idx import read_idx_fifths, read_idx_split
from kenyon.data.streams._tiny_imagenet import SHAPE, read_tiny_imagenet, read_tiny_imagenet_test

SplitReader = Callable[[Sequence[Path], Path | None], Split]


@dataclass(frozen=True)
class Remote:
    """A file to download: its name, its published MD5 sum and the folders (URLs) that serve it, best first."""

    name: str
    md5: str
    bases: tuple[str, ...]


@dataclass(frozen=True)
class FileLayout:
    """One way in which a data set is published.

    Attributes:
        version: its name, where there are several ("binary", "python").
        folders: where under the data directory the files may lie; downloads go to the first.
        train, test: the files of each split, in order; `x.gz` may also lie there unpacked as `x`.
        read: opens one split from its files and the cache folder.
        remotes: what to download: the files themselves, or archives (`.zip`, `.tar.gz`) that hold them. None: it is not
            downloaded.
        md5: published sums of the files in `train` and `test`, where there are any.
        read_test: opens the test split, where both splits are in the same files.
    """

    version: str
    folders: tuple[str, ...]
    train: tuple[str, ...]
    test: tuple[str, ...]
    read: SplitReader
    remotes: tuple[Remote, ...]
    md5: dict[str, str] = field(default_factory=dict)
    read_test: SplitReader | None = None


NONE_STATED = "none stated"
"""What stands for a licence where the publisher names none."""


@dataclass(frozen=True)
class PublishedSet:
    """A published data set: what it must contain, and the layouts it comes in, best first.

    `page` is where it is published, and `licence` what its publisher says about its use; docs/datasets.md says where.
    """

    name: str
    shape: tuple[int, ...]
    class_names: tuple[str, ...]
    n_train: int
    n_test: int
    layouts: tuple[FileLayout, ...]
    reference: str
    page: str
    licence: str = NONE_STATED
    value_range: tuple[float, float] = (0.0, 255.0)
    domain_names: tuple[str, ...] = ()


def _idx_names(prefix: str, test: str) -> tuple[tuple[str, str], tuple[str, str]]:
    train_files, test_files = (
        (f"{prefix}{split}-images-idx3-ubyte.gz", f"{prefix}{split}-labels-idx1-ubyte.gz") for split in ("train", test)
    )
    return train_files, test_files


def _mnist_like(
    name: str,
    folders: tuple[str, ...],
    names: tuple[str, ...],
    bases: tuple[str, ...],
    sums: str,
    reference: str,
    page: str,
    licence: str = NONE_STATED,
) -> PublishedSet:
    train, test = _idx_names("", "t10k")
    md5 = dict(zip((*train, *test), sums.split(), strict=True))
    remotes = tuple(Remote(file, md5[file], bases) for file in (*train, *test))
    layout = FileLayout("idx", folders, train, test, partial(read_idx_split, shape=(28, 28), most=60_000), remotes, md5)
    return PublishedSet(name, (28, 28), names, 60_000, 10_000, (layout,), reference, page, licence)


_EMNIST_PAGE = "https://www.nist.gov/itl/products-and-services/emnist-dataset"
_EMNIST_ZIP = Remote("gzip.zip", "58c8d27c78d21e728a6bc7b3cc06412e", ("https://biometrics.nist.gov/cs_links/EMNIST/",))


def _emnist(split: str, names: tuple[str, ...], n_train: int, n_test: int) -> PublishedSet:
    train, test = _idx_names(f"emnist-{split}-", "test")
    # published images are transposed, and the letters are numbered from 1
    read = partial(read_idx_split, shape=(28, 28), first_label=int(split == "letters"), transposed=True, most=n_train)
    layout = FileLayout("idx", ("emnist", "emnist/gzip", "EMNIST/raw", "gzip"), train, test, read, (_EMNIST_ZIP,))
    reference = "Cohen et al., EMNIST: extending MNIST to handwritten letters, 2017"
    return PublishedSet(f"emnist-{split}", (28, 28), names, n_train, n_test, (layout,), reference, _EMNIST_PAGE)


def _emnist_sample() -> PublishedSet:
    """Digits of EMNIST's test splits: real images, but not the published training split."""
    train, test = _idx_names("", "t10k")
    read = partial(read_idx_split, shape=(28, 28), transposed=True, most=30_000)
    layout = FileLayout("idx", ("emnist-digits-30k",), train, test, read, ())
    reference = "Cohen et al., EMNIST: extending MNIST to handwritten letters, 2017"
    return PublishedSet(
        "emnist-digits-30k", (28, 28), _names.DIGITS, 30_000, 10_000, (layout,), reference, _EMNIST_PAGE
    )


def _notmnist() -> PublishedSet:
    _, files = _idx_names("", "t10k")
    train, test = (partial(read_idx_fifths, shape=(28, 28), test=test, most=10_000) for test in (False, True))
    layout = FileLayout("idx", ("notmnist-10k",), files, files, train, (), read_test=test)
    return PublishedSet(
        "notmnist",
        (28, 28),
        _names.UPPER[:10],
        8_000,
        2_000,
        (layout,),
        "Bulatov, notMNIST dataset, 2011",
        "http://yaroslavvb.blogspot.com/2011/09/notmnist-dataset.html",
    )


def _cifar(
    name: str, names: tuple[str, ...], label_bytes: int, label: int, label_key: str, domains: tuple[str, ...] = ()
) -> PublishedSet:
    number = "10" if label_bytes == 1 else "100"
    bases = ("https://www.cs.toronto.edu/~kriz/",)
    sums = _CIFAR_SUMS[number]
    train, test = (tuple(f for f in sums if "test" not in f and "meta" not in f), tuple(f for f in sums if "test" in f))

    read = partial(
        read_cifar_split, n_label_bytes=label_bytes, label=label, label_key=label_key, subclasses=bool(domains)
    )
    binary = FileLayout(
        "binary",
        ("cifar-10-batches-bin",) if number == "10" else ("cifar-100-binary",),
        tuple(f"{file}.bin" for file in train),
        tuple(f"{file}.bin" for file in test),
        read,
        (Remote(f"cifar-{number}-binary.tar.gz", _CIFAR_ARCHIVES[number, "binary"], bases),),
    )
    python = FileLayout(
        "python",
        ("cifar-10-batches-py",) if number == "10" else ("cifar-100-python",),
        train,
        test,
        read,
        (Remote(f"cifar-{number}-python.tar.gz", _CIFAR_ARCHIVES[number, "python"], bases),),
        sums,
    )
    reference = "Krizhevsky, Learning multiple layers of features from tiny images, 2009"
    page = f"{bases[0]}cifar.html"
    published = PublishedSet(name, (3, 32, 32), names, 50_000, 10_000, (binary, python), reference, page)
    return replace(published, domain_names=domains)


def _tiny_imagenet() -> PublishedSet:
    layout = FileLayout(
        "jpeg",
        ("tiny-imagenet-200",),
        ("wnids.txt",),
        ("val/val_annotations.txt",),
        read_tiny_imagenet,
        (),
        read_test=read_tiny_imagenet_test,
    )
    return PublishedSet(
        "tiny-imagenet",
        SHAPE,
        _names.TINY_IMAGENET,
        100_000,
        10_000,
        (layout,),
        "Le and Yang, Tiny ImageNet visual recognition challenge, 2015",
        "http://cs231n.stanford.edu/tiny-imagenet-200.zip",
    )


def _fsdd_set(name: str, train: tuple[str, ...], test: tuple[str, ...], domains: tuple[str, ...] = ()) -> PublishedSet:
    folders = ("fsdd/recordings", "free-spoken-digit-dataset/recordings")
    layout = FileLayout("wav", folders, train, test, _fsdd.read_fsdd_split, ())
    return PublishedSet(
        name,
        _fsdd.FRONT.shape,
        _names.DIGITS,
        len(train),
        len(test),
        (layout,),
        "Jackson et al., Free Spoken Digit Dataset, 2018",
        "https://github.com/Jakobovski/free-spoken-digit-dataset",
        "CC BY-SA 4.0",
        domain_names=domains,
    )


def _hapt_set(name: str, n_train: int, n_test: int, people: bool = False) -> PublishedSet:
    texts = (_hapt.text_names(False, people), _hapt.text_names(True, people))
    npz, npz_test = (partial(_hapt.read_hapt_npz, test=test, people=people) for test in (False, True))
    layouts = (
        FileLayout("text", ("hapt",), *texts, _hapt.read_hapt_text, ()),
        FileLayout("npz", ("hapt",), ("hapt.npz",), ("hapt.npz",), npz, (), read_test=npz_test),
    )
    return PublishedSet(
        name,
        _hapt.FRONT.shape,
        _names.ACTIVITIES,
        n_train,
        n_test,
        layouts,
        "Reyes-Ortiz et al., Transition-aware human activity recognition using smartphones, 2016",
        "https://archive.ics.uci.edu/dataset/341",
        "CC BY 4.0",
        domain_names=tuple(f"user{user:02}" for user in _hapt.USERS) if people else (),
    )


def _gas_set(name: str, n_train: int, n_test: int, months: bool = False) -> PublishedSet:
    files = tuple(f"batch{number}.dat" for number in BATCHES)
    folders = ("gas-drift", "Dataset")
    layout = FileLayout("text", folders, files[:6], files[6:], read_gas_split, ())
    if months:
        read, read_test = (partial(read_gas_months, test=test) for test in (False, True))
        layout = FileLayout("text", folders, files, files, read, (), read_test=read_test)
    return PublishedSet(
        name,
        (FEATURES,),
        _names.GASES,
        n_train,
        n_test,
        (layout,),
        "Vergara et al., Chemical gas sensor drift compensation using classifier ensembles, 2012",
        "https://archive.ics.uci.edu/dataset/224",
        "CC BY 4.0",
        (-23_661.0, 670_688.0),
        tuple(Path(file).stem for file in files) if months else (),
    )


_CIFAR_ARCHIVES = {
    ("10", "binary"): "c32a1d4ab5d03f1284b67883e8d87530",
    ("10", "python"): "c58f30108f718f92721af3b95e74349a",
    ("100", "binary"): "03b5dce01913d631647c71ecec9e9cb8",
    ("100", "python"): "eb9058c3a382ffc7106e4002c42a8d85",
}
_CIFAR_SUMS = {
    "10": {
        "data_batch_1": "c99cafc152244af753f735de768cd75f",
        "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
        "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
        "data_batch_4": "634d18415352ddfa80567beed471001a",
        "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
        "test_batch": "40351d587109b95175f43aff81a1287e",
    },
    "100": {"train": "16019d7e3df5f24257cddd939b257f8d", "test": "f0ef6b0ae62326f3e7ffdfab6717acfc"},
}

SOURCES: dict[str, PublishedSet] = {
    source.name: source
    for source in (
        _mnist_like(
            "mnist",
            ("mnist", "MNIST/raw"),
            _names.DIGITS,
            (
                "https://yann.lecun.com/exdb/mnist/",
                "https://storage.googleapis.com/cvdf-datasets/mnist/",
                "https://ossci-datasets.s3.amazonaws.com/mnist/",
            ),
            "f68b3c2dcbeaaa9fbdd348bbdeb94873 d53e105ee54ea40749a09fcbcd1e9432 "
            "9fb629c4189551a2d022fa330f9573f3 ec29112dd5afa0611ce80d1b7f02629c",
            "LeCun, Cortes, Burges, The MNIST database of handwritten digits, 1998",
            "https://yann.lecun.com/exdb/mnist/",
        ),
        _mnist_like(
            "fashion-mnist",
            ("fashion-mnist", "FashionMNIST/raw"),
            _names.FASHION,
            (
                "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
                "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            ),
            "8d4fb7e6c68d591d4c3dfef9ec88bf0d 25c81989df183df01b3e8a0aad5dffbe "
            "bef4ecab320f06d8554ea6380940ec79 bb300cfdad3c16e7a12a480ee83cd310",
            "Xiao, Rasul, Vollgraf, Fashion-MNIST: a novel image dataset for benchmarking, 2017",
            "https://github.com/zalandoresearch/fashion-mnist",
            "MIT",
        ),
        _emnist("byclass", (*_names.DIGITS, *_names.UPPER, *_names.LOWER), 697_932, 116_323),
        _emnist("bymerge", _names.EMNIST_MERGED, 697_932, 116_323),
        _emnist("balanced", _names.EMNIST_MERGED, 112_800, 18_800),
        _emnist("letters", _names.UPPER, 124_800, 20_800),
        _emnist("digits", _names.DIGITS, 240_000, 40_000),
        _emnist("mnist", _names.DIGITS, 60_000, 10_000),
        _emnist_sample(),
        _notmnist(),
        _cifar("cifar10", _names.CIFAR10, 1, 0, "labels"),
        _cifar("cifar100", _names.CIFAR100, 2, 1, "fine_labels"),
        _cifar("cifar100-coarse", _names.CIFAR100_COARSE, 2, 0, "coarse_labels", _names.SUBCLASSES),
        _tiny_imagenet(),
        _fsdd_set(
            "fsdd",
            _fsdd.recording_names(_fsdd.SPEAKERS, _fsdd.TAKES[len(_fsdd.TEST_TAKES) :]),
            _fsdd.recording_names(_fsdd.SPEAKERS, _fsdd.TEST_TAKES),
            _fsdd.SPEAKERS,
        ),
        _fsdd_set(
            "fsdd-speakers",
            _fsdd.recording_names([name for name in _fsdd.SPEAKERS if name not in _fsdd.HELD_OUT], _fsdd.TAKES),
            _fsdd.recording_names(_fsdd.HELD_OUT, _fsdd.TAKES),
        ),
        _hapt_set("hapt", 9_049, 3_717),
        _hapt_set("hapt-people", 6_490, 6_276, people=True),
        _gas_set("gas-drift", 5_933, 764),
        _gas_set("gas-months", 5_355, 1_342, months=True),
    )
}

ALIASES = {
    "cifar-10": "cifar10",
    "cifar-100": "cifar100",
    "cifar-100-coarse": "cifar100-coarse",
    "fashion": "fashion-mnist",
    "fashionmnist": "fashion-mnist",
    "fmnist": "fashion-mnist",
    "emnist": "emnist-balanced",
    "tiny-imagenet-200": "tiny-imagenet",
}
