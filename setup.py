"""The Python package, with the library inside its extension module."""
import pathlib

from skbuild import setup

source = pathlib.Path(__file__).resolve().parent
version = (source / "VERSION").read_text().strip()

setup(
    name="poise",
    version=version,
    description="Exact, fast, certified linear recommendation from implicit feedback",
    long_description=(source / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    packages=["poise"],
    package_dir={"": "python"},
    package_data={"poise": ["py.typed", "*.pyi"]},
    python_requires=">=3.9",
    install_requires=["numpy", "scipy"],
    extras_require={"pandas": ["pandas"]},
    zip_safe=False,
    cmake_args=[
        "-DPOISE_UNITY=ON",
        "-DPOISE_BUILD_APP=OFF",
        "-DPOISE_BUILD_TESTS=OFF",
        "-DPOISE_BUILD_BENCH=OFF",
        "-DPOISE_BUILD_PYTHON=ON",
    ],
)
