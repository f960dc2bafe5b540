"""The export command: a smaller file that plays the same, and clear refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raccoon.cli import benchmark, dashboard, export
from raccoon.contracts import RaccoonError
from raccoon.engine.net import NetEngine
from raccoon.env.encoder import Encoder
from raccoon.model import build_net, checkpoint_file
from raccoon.testing import sample_boards

MLP = {
    "_target_": "raccoon.model.RaccoonNet",
    "backbone": {"_target_": "raccoon.model.MLP", "_partial_": True, "hidden": [32, 16]},
    "head": {"_target_": "raccoon.model.Outcomes6", "_partial_": True},
    "policy": False,
}


def test_the_export_is_half_the_size_and_has_the_same_values(tmp_path: Path) -> None:
    net = build_net(MLP, Encoder(), seed=3)
    checkpoint_file.save(tmp_path / "big.pt", net, {"seed": 3})
    text = export.run([str(tmp_path / "big.pt"), str(tmp_path / "small.pt")])
    assert "small.pt" in text
    assert (tmp_path / "small.pt").stat().st_size < 0.75 * (tmp_path / "big.pt").stat().st_size
    assert checkpoint_file.load(tmp_path / "small.pt")[1]["meta"] == {"seed": 3}
    boards = sample_boards(50)
    big, small = (NetEngine.load(str(tmp_path / name)).value(boards) for name in ("big.pt", "small.pt"))
    assert not np.array_equal(big, small)  # rounded
    np.testing.assert_allclose(small, big, atol=2e-3)


def test_missing_files_and_arguments_are_refused(tmp_path: Path, monkeypatch, capsys) -> None:
    with pytest.raises(RaccoonError, match="usage"):
        export.run(["one"])
    monkeypatch.setattr("sys.argv", ["export", str(tmp_path / "none.pt"), str(tmp_path / "out.pt")])
    with pytest.raises(SystemExit) as stop:
        export.main()
    assert stop.value.code == 2
    assert "none.pt" in capsys.readouterr().err
    assert not (tmp_path / "out.pt").exists()


def test_the_networks_that_ship_are_exported_by_name(tmp_path: Path) -> None:
    said = export.run(["prune", str(tmp_path / "mine.pt")])
    assert said.startswith(f"{tmp_path / 'mine.pt'}: ")
    boards = sample_boards(20)
    np.testing.assert_array_equal(NetEngine.load(str(tmp_path / "mine.pt")).value(boards), NetEngine.load("prune").value(boards))


@pytest.mark.parametrize(("program", "words", "right"), [
    (export, ["prune", "{}/net.ckpt"], "net.pt"),
    (benchmark, ["convert", "embedded", "{}/mine.json"], "mine.npz.xz"),
    (benchmark, ["build", "{}/mine.json.gz", "games=1"], "mine.json.npz.xz"),
    (dashboard, ["{}", "--out", "{}/page.pdf"], "page.html"),
])  # fmt: skip
def test_a_suffix_that_is_not_what_is_written_is_refused(program: Any, words: list[str], right: str, tmp_path: Path) -> None:
    with pytest.raises(RaccoonError, match=rf"what is written there is a .*; name it .*/{right}$"):
        program.run([word.format(tmp_path) for word in words])
    assert list(tmp_path.iterdir()) == []


def saved(path: Path, seed: int = 1, encoder: Encoder | None = None, **changes: Any) -> Path:
    checkpoint_file.save(path, build_net(MLP | changes, encoder or Encoder(), seed=seed), {"seed": seed})
    return path


def test_several_networks_become_the_mean_of_their_weights(tmp_path: Path) -> None:
    names = [str(saved(tmp_path / f"{seed}.pt", seed)) for seed in (1, 2, 3)]
    said = export.run([",".join(names), str(tmp_path / "mean.pt")])
    assert said.endswith(", the average of 3")
    net, header = checkpoint_file.load(tmp_path / "mean.pt")
    parents = [checkpoint_file.load(name) for name in names]
    for name, value in net.state_dict().items():
        wanted = np.mean([parent.state_dict()[name].numpy() for parent, _ in parents], axis=0)
        np.testing.assert_allclose(value.numpy(), wanted, rtol=1e-3, atol=1e-4)  # 16 bits
    assert header["meta"]["seed"] == 1
    wanted = [{"file": f"{seed}.pt", "digest": head["digest"]} for seed, (_, head) in zip((1, 2, 3), parents, strict=True)]
    assert header["meta"]["average"] == wanted


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"policy": True}, r"two\.pt: holds another architecture: model\.policy is True and False in .*one\.pt"),
        ({"backbone": MLP["backbone"] | {"hidden": [32, 8]}}, r"model\.backbone\.hidden is \[32, 8\] and \[32, 16\]"),
        ({"head": {"_target_": "raccoon.model.Scalar", "_partial_": True}}, r"model\.head\._target_"),
        ({"encoder": Encoder(["pip"])}, r"two\.pt: made for .*, but .*one\.pt for "),
    ],
)
def test_networks_of_another_kind_have_no_average(changes: dict[str, Any], told: str, tmp_path: Path) -> None:
    names = f"{saved(tmp_path / 'one.pt')},{saved(tmp_path / 'two.pt', **changes)}"
    with pytest.raises(RaccoonError, match=told):
        export.run([names, str(tmp_path / "mean.pt")])
    with pytest.raises(RaccoonError, match=r"three\.pt: no such checkpoint"):
        export.run([f"{tmp_path / 'one.pt'},three.pt", str(tmp_path / "mean.pt")])
    with pytest.raises(RaccoonError, match=r"an average becomes a \.pt first"):
        export.run([names, str(tmp_path / "mean.onnx")])
    assert not list(tmp_path.glob("mean*"))


def test_help_is_plain_text(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["export", "--help"])
    export.main()
    assert capsys.readouterr().out.startswith("usage: python -m raccoon.cli.export IN OUT: a checkpoint")


def test_names_of_files_may_hold_commas_and_spaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("a,b.pt", "c d.pt", "e.pt"), start=1):
        saved(Path(name), seed)
    assert "the average of 3" in export.run(["a,b.pt,c d.pt,e.pt", "out.pt"])
    assert [one["file"] for one in checkpoint_file.load("out.pt")[1]["meta"]["average"]] == ["a,b.pt", "c d.pt", "e.pt"]
    for words, named in [("a,b.pt,f.pt", r"f\.pt"), ("e.pt,", r"e\.pt,"), ("e.pt," + "x" * 400, r"x+\.*x+")]:
        with pytest.raises(RaccoonError, match=rf"^{named}: no such checkpoint"):
            export.run([words, "none.pt"])
