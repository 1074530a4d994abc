"""Package map and extras. Everything else stands in pyproject.toml.

Packages are listed by name. ``find_packages()`` would also ship the folder ``tokenizers/`` under
its own name and overwrite Hugging Face's package of that name in the user's site-packages; here it
ships as ``dataprep.tokenizers``, through the symbolic link ``dataprep/tokenizers``.
"""

from setuptools import setup

PACKAGES = [
    "dataprep",
    "dataprep.disk",
    "dataprep.readers",
    "dataprep.samples",
    "dataprep.samples.objectives",
    "dataprep.segment",
    "dataprep.tokenizers",
    "vocab",
    "zoo",
    "zoo.cli",
    "zoo.engine",
    "zoo.engine.oneflow",
    "zoo.engine.torch",
    "zoo.generation",
    "zoo.layers",
    "zoo.models",
    "zoo.models.gpt2",
    "zoo.parallel",
    "zoo.recipes",
    "zoo.training",
]

EXTRAS = {
    # OneFlow 0.9.0 is the newest wheel: CPython 3.7-3.10, Linux x86-64. It loads cuBLAS 11 and
    # cuDNN 8 at import, also without a GPU, and finds them beside itself in site-packages.
    "zoo": [
        "oneflow==0.9.0; python_version < '3.11'",
        "numpy<2; python_version < '3.11'",
        "protobuf<4; python_version < '3.11'",
        "nvidia-cublas-cu11; python_version < '3.11'",
        "nvidia-cudnn-cu11==8.9.*; python_version < '3.11'",
        "safetensors>=0.4",
        "matplotlib>=3.7",
    ],
    "torch": [
        "torch>=2.4",
        "safetensors>=0.4",
        "matplotlib>=3.7",
    ],
    # Chat templates are Jinja.
    "chat": [
        "jinja2>=3.1",
    ],
    # Datasets on S3 and the like; each kind of storage has a package of its own (s3fs, gcsfs).
    "remote": [
        "fsspec>=2023.6",
    ],
    # Traditional and simplified Chinese, for --simplify and --traditionalize: C++ with wheels for
    # CPython 3.10 to 3.14 since 1.3, no dependencies.
    "opencc": [
        "opencc>=1.3",
    ],
    # Peers that the tests compare with.
    "parity": [
        "transformers>=4.50",
        "datasets>=3",
        "pybind11>=2.11",
    ],
    "test": [
        "opencc>=1.3",
        "pytest>=8",
        "pytest-timeout>=2.3",
        "pytest-xdist>=3.6",
        "hypothesis>=6",
        "jinja2>=3.1",
        "fsspec>=2023.6",
        "setuptools>=71",  # the packaging tests build wheels
    ],
    "lint": [
        "ruff==0.17.*",
        "mypy==2.4.*",
    ],
}

setup(
    packages=PACKAGES,
    package_data={
        "dataprep": ["py.typed"],
        "vocab": ["*.toml", "py.typed"],
        "zoo": ["py.typed"],
        "zoo.recipes": ["*.toml"],
    },
    extras_require=EXTRAS,
)
