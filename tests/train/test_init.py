"""``init``: training starts from the weights of a checkpoint, of the same encoding and architecture only."""

from __future__ import annotations

import pytest
import torch

from raccoon.contracts import RaccoonError
from raccoon.env.encoder import Encoder
from raccoon.model import checkpoint_file
from raccoon.train.run import _network


def test_weights_start_from_the_checkpoint_named_by_init(make_config, tmp_path):
    config = make_config()
    encoder = Encoder(config["encoder"].get("features"), config["encoder"].get("normalize", True))
    first = _network({**config, "seed": 1}, encoder)
    checkpoint_file.save(tmp_path / "net.pt", first, {})
    other = _network({**config, "seed": 2}, encoder)
    loaded = _network({**config, "seed": 2, "init": str(tmp_path / "net.pt")}, encoder)
    name, weight = next(iter(first.state_dict().items()))
    assert not torch.equal(other.state_dict()[name], weight)
    for key, value in loaded.state_dict().items():
        assert torch.equal(value, first.state_dict()[key]), key


def test_a_policy_head_that_the_model_has_not_is_left_out(make_config, tmp_path):
    config = make_config()
    encoder = Encoder(config["encoder"].get("features"), config["encoder"].get("normalize", True))
    both = _network({**config, "model": {**config["model"], "policy": True}}, encoder)
    checkpoint_file.save(tmp_path / "net.pt", both, {})
    alone = _network({**config, "model": {**config["model"], "policy": False}, "init": str(tmp_path / "net.pt")}, encoder)
    assert alone.policy is None
    for key, value in alone.state_dict().items():
        assert torch.equal(value, both.state_dict()[key]), key


def test_another_architecture_or_encoding_is_refused(make_config, tmp_path):
    config = make_config()
    encoder = Encoder(config["encoder"].get("features"), config["encoder"].get("normalize", True))
    checkpoint_file.save(tmp_path / "net.pt", _network(config, encoder), {})
    wanted = {**config, "init": str(tmp_path / "net.pt")}
    wider = {"_target_": "raccoon.model.MLP", "_partial_": True, "hidden": [7, 5]}
    with pytest.raises(RaccoonError, match=r"init=.*another architecture"):
        _network({**wanted, "model": {**config["model"], "backbone": wider}}, encoder)
    with pytest.raises(RaccoonError, match="layout"):
        _network(wanted, Encoder(features=["pip"]))
