"""Networks of every kind: shapes, scales, heads, policy mask, seeds, folding, refusals."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from raccoon.contracts import OUTCOME_POINTS, RaccoonError
from raccoon.env.encoder import Encoder
from raccoon.env.half_moves import N_ACTIONS
from raccoon.model import MLP, Outcomes6, RaccoonNet, ResNet, Scalar, build_net
from raccoon.testing import sample_boards

MLP_BY_POSITION: Any = partial(MLP, Encoder(), [4])
BACKBONES = {"resnet": partial(ResNet, blocks=2, channels=16), "mlp": partial(MLP, hidden=[32, 24])}


def make(backbone: str = "resnet", head: Any = Outcomes6, **arguments: Any) -> RaccoonNet:
    """A small network in evaluation mode whose batch-norm statistics are not the trivial ones."""
    net = RaccoonNet(arguments.pop("encoder", Encoder()), BACKBONES[backbone], head, **arguments).eval()
    generator = torch.Generator().manual_seed(1)
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            assert module.running_mean is not None
            assert module.running_var is not None
            module.running_mean.uniform_(-0.5, 0.5, generator=generator)
            module.running_var.uniform_(0.5, 2.0, generator=generator)
    return net


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return sample_boards(50)


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("encoder", [Encoder(), Encoder([])], ids=["all", "base"])
def test_outcome_head(backbone: str, encoder: Encoder, boards: np.ndarray) -> None:
    net = make(backbone, encoder=encoder)
    x = net.prepare(boards)
    assert x.shape[1:] == ((encoder.n_channels, 2, 12) if backbone == "resnet" else (encoder.flat_size,))
    with torch.inference_mode():
        value, probs, logs, policy = net.value_equity(x), net.value_probs6(x), net.value_log_probs6(x), net.policy_logits(x)
        out = net(x)
    assert value.shape == (50,)
    assert policy.shape == (50, N_ACTIONS)
    assert value.std() > 1e-4
    torch.testing.assert_close(probs.sum(1), torch.ones(50))
    torch.testing.assert_close(probs, logs.exp())
    torch.testing.assert_close((probs.double() @ torch.from_numpy(OUTCOME_POINTS) / 3).float(), value)
    assert out.log_probs6 is not None
    assert out.policy is not None
    for ours, theirs in ((out.value, value), (out.log_probs6, logs), (out.policy, policy)):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_scalar_head(backbone: str, boards: np.ndarray) -> None:
    net = make(backbone, Scalar)
    value = net.value_equity(net.prepare(boards))
    assert value.shape == (50,)
    assert bool((value.abs() < 1).all())
    assert not net.has_probs
    assert net(net.prepare(boards)).log_probs6 is None
    with pytest.raises(RaccoonError, match="model/head=outcomes6"):
        net.value_probs6(net.prepare(boards))


def test_masked_policy(boards: np.ndarray) -> None:
    net = make()
    x = net.prepare(boards, dice=np.full((50, 2), 3), mid_doubles=np.arange(50) % 2 == 0)
    mask = torch.zeros(50, N_ACTIONS, dtype=torch.bool)
    mask[torch.arange(50), torch.arange(50) * 7] = True
    mask[:, 5] = True
    probs = net.policy_logits(x, mask).softmax(dim=1)
    assert not probs[~mask].any()
    torch.testing.assert_close(probs.sum(1), torch.ones(50))
    torch.testing.assert_close(net.policy_logits(x, mask)[mask], net.policy_logits(x)[mask])
    with pytest.raises(RaccoonError, match="expected"):
        net.policy_logits(x, mask[:, :100])
    mask[17] = False
    with pytest.raises(RaccoonError, match="row 17 has no legal action"):
        net.policy_logits(x, mask)


def test_policy_reads_the_dice_and_the_value_does_not_need_them(boards: np.ndarray) -> None:
    net = make()
    one, other = (net.policy_logits(net.prepare(boards, np.full((50, 2), d))) for d in (1, 6))
    assert not torch.equal(one, other)
    torch.testing.assert_close(net.prepare(boards, np.zeros((50, 2), np.int8)), net.prepare(boards))


def test_values_and_policy_are_trained_on_the_statistics_of_their_mixture(boards: np.ndarray) -> None:
    """Not on those of either alone: in evaluation there is one mean for both."""
    joint, cat = make(seed=3).train(), make(seed=3).train()
    x = joint.prepare(boards)
    decisions = joint.prepare(boards, np.full((len(boards), 2), 5))
    raw, logits = joint.value_and_policy(x, decisions)
    both = torch.cat([x, decisions])
    whole = cat.backbone(both)
    torch.testing.assert_close(raw, cat.head(torch.relu(cat.hidden(cat.neck(whole[: len(x)])))))  # type: ignore[misc]
    torch.testing.assert_close(logits, cat.policy(whole[len(x) :]))  # type: ignore[misc]
    for (name, one), other in zip(joint.named_buffers(), cat.buffers(), strict=True):
        torch.testing.assert_close(one, other, msg=name)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_policy_head_with_layers_of_its_own_reads_the_input_and_leaves_the_trunk_alone(backbone: str, boards: np.ndarray) -> None:
    net = make(backbone, policy={"hidden": [16, 8]})
    x, decisions = net.prepare(boards), net.prepare(boards, np.full((50, 2), 5))
    weights = [parameter.detach().numpy() for parameter in net.policy.parameters()]  # type: ignore[union-attr]
    features = decisions.flatten(1).numpy()
    for weight, bias in (weights[:2], weights[2:4]):
        features = np.maximum(features @ weight.T + bias, 0)
    expected = torch.from_numpy(features @ weights[4].T + weights[5])
    torch.testing.assert_close(net.policy_logits(decisions), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(net(decisions).policy, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(net.folded().policy_logits(decisions), expected, atol=1e-5, rtol=1e-5)
    raw, logits = net.value_and_policy(x, decisions)
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(raw, net.value_raw(x))
    logits.sum().backward()
    assert all(parameter.grad is None for parameter in net.backbone.parameters())
    again = build_net(net.config, net.encoder)
    again.load_state_dict(net.state_dict())
    assert again.config == net.config
    with pytest.raises(RaccoonError, match="this network reads"):
        net.policy_logits(x[:, :3])


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ({"hidden": 5}, "give true, false or \\{hidden: \\[widths\\]\\}"),
        ({"hiden": [5]}, "give true, false or"),
        ({"hidden": []}, "give one to 100 widths"),
        ({"hidden": [8, 0]}, "hidden=0: give a whole number, 1 or more"),
    ],
)
def test_a_policy_head_that_cannot_be_is_refused(policy: dict[str, Any], told: str) -> None:
    with pytest.raises(RaccoonError, match=rf"^model\.policy.*{told}"):
        make(policy=policy)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_without_policy_head(backbone: str, boards: np.ndarray) -> None:
    net = make(backbone, policy=False)
    assert net(net.prepare(boards)).policy is None
    with pytest.raises(RaccoonError, match=r"model\.policy=true"):
        net.policy_logits(net.prepare(boards))


@pytest.mark.parametrize("backbone", BACKBONES)
def test_tensors_and_arrays_are_prepared_alike(backbone: str, boards: np.ndarray) -> None:
    net = make(backbone)
    dice, mid = np.full((50, 2), 2), np.ones(50, bool)
    expected = net.prepare(boards, dice, mid)
    assert torch.equal(net.prepare(torch.from_numpy(boards), torch.from_numpy(dice), torch.from_numpy(mid)), expected)
    assert torch.equal(net.prepare(boards.astype(np.uint8), torch.from_numpy(dice), torch.from_numpy(mid)), expected)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_input_of_another_layout_is_refused_with_the_layout_named(backbone: str, boards: np.ndarray) -> None:
    net, other = make(backbone), make(backbone, encoder=Encoder([]))
    with pytest.raises(RaccoonError, match=f"26 planes.*{net.encoder.layout_hash}"):
        net.value_equity(other.prepare(boards))


@pytest.mark.parametrize("backbone", BACKBONES)
def test_folding_changes_nothing_but_rounding(backbone: str, boards: np.ndarray) -> None:
    net = make(backbone)
    folded, x = net.folded(), net.prepare(boards)
    assert not any(isinstance(module, nn.BatchNorm2d) for module in folded.modules())
    torch.testing.assert_close(folded.value_equity(x), net.value_equity(x), atol=1e-6, rtol=0)
    torch.testing.assert_close(folded.policy_logits(x), net.policy_logits(x), atol=1e-5, rtol=1e-5)
    assert any(isinstance(module, nn.BatchNorm2d) for module in net.modules()) == (backbone == "resnet")


def test_weights_come_from_the_seed_alone() -> None:
    state = torch.get_rng_state()
    first, second, other = (make(seed=seed).state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(first[key], second[key]) for key in first)
    assert any(not torch.equal(first[key], other[key]) for key in first)
    torch.set_rng_state(state)


def test_config_rebuilds_the_network(boards: np.ndarray) -> None:
    for backbone in BACKBONES:
        net = make(backbone, Scalar, policy=False)
        again = build_net(net.config, net.encoder)
        again.load_state_dict(net.state_dict())
        again.eval()
        assert again.config == net.config
        assert torch.equal(again.value_equity(again.prepare(boards)), net.value_equity(net.prepare(boards)))


def test_unusable_parts_are_refused() -> None:
    with pytest.raises(RaccoonError, match="blocks=-1"):
        ResNet(Encoder(), blocks=-1, channels=8)
    with pytest.raises(RaccoonError, match="hidden"):
        MLP(Encoder(), hidden=[])
    with pytest.raises(RaccoonError, match="cannot be named"):
        RaccoonNet(Encoder(), lambda encoder: MLP(encoder, [4]), Scalar)
    with pytest.raises(RaccoonError, match="by name"):
        RaccoonNet(Encoder(), MLP_BY_POSITION, Scalar)
    for target, message in (
        ("raccoon.testing.subjects.subject", "no class"),
        ("raccoon.executor.ProcessExecutor", "no network, backbone or value head"),
        ("raccoon.model.Scalar", "is no raccoon net"),
    ):
        with pytest.raises(RaccoonError, match=rf"^model.*{message}"):
            build_net({"_target_": target, "given": 3}, Encoder())
