"""What the command lines say of overrides that do not fit: what to write instead, in one line, without Hydra's inner workings."""

from __future__ import annotations

import pytest

from raccoon.cli.program.advice import advice, check_groups, check_missing
from raccoon.cli.program.composing import compose
from raccoon.contracts import RaccoonError

XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:4:2:0:7:10"
MODELS = "there are accumulator, mlp, mlp_small, prune, resnet10x256, resnet2x32, resnet4x64, resnet6x128"


@pytest.mark.parametrize(
    ("kind", "words", "told"),
    [
        ("evaluate", "evaluator.gmaes=5", "evaluator.gmaes: evaluator=vr_arena has no such key; did you mean evaluator.games?"),
        (
            "train",
            "trainer.max_epoch=3 logger=[csv,wandb]",
            "trainer.max_epoch: trainer=distill has no such key; did you mean trainer.max_epochs?",
        ),
        ("train", "data.games=5", "data.games: data=demo has no such key; did you mean data.source.games?"),
        ("train", "modle=resnet2x32", "modle: train.py has no modle; did you mean model?"),
        ("evaluate", "evalautor=vr_arena", "evalautor: evaluate.py has no evalautor; did you mean evaluator?"),
        ("evaluate", "model=mlp", "model: evaluate.py has no model; train.py has"),
        ("generate", "model.policy=true", "model.policy: python -m raccoon.cli.generate has no model; train.py has"),
        ("train", "epochs=3", "epochs: train.py has no epochs; did you mean trainer.max_epochs?"),
        ("evaluate", "evaluator=arena games=3", "games: evaluate.py has no games; did you mean evaluator.games?"),
        ("evaluate", "zzz=1", "zzz: evaluate.py has no zzz; --help lists what it has"),
        ("search", "search.ply=2", "search.ply: search=static has no such key; with it: search=expectimax, search=pruned"),
        ("evaluate", "evaluator.level=expert", "evaluator.level: evaluator=vr_arena has no such key; with it: evaluator=gnubg_harness"),
        ("evaluate", "search.zzz=5", "search.zzz: search=static has no such key; there are doubles"),
        ("search", "search.filter=union", "search.filter=union: the option of a group goes with a slash: search/filter=union"),
        (
            "search",
            "search.filter=onion",
            "search.filter=onion: search/filter has no such option; there are none, policy, prune, union, value",
        ),
        (
            "search",
            "search/filter=union",
            "search/filter: search=static has no such group; with it: "
            "search=expectimax, search=pruned, search=roller, search=roller_plus, search=roller_plusplus",
        ),
        ("evaluate", "player=gnubg0,gnubg1", "player=gnubg0,gnubg1: add -m for a run with each value"),
        ("train", "seed=1,2", "seed=1,2: add -m for a run with each value; a list goes in brackets: seed=[1,2]"),
        ("search", "position=4HPwATDgc/ABMA dice=2,1", "dice=2,1: a list goes in brackets: dice=[2,1]"),
        ("search", "player=gnubg0,gnubg1", "player=gnubg0,gnubg1: give one"),
        ("search", "4HPwATDgc/ABMA", "4HPwATDgc/ABMA: write position=4HPwATDgc/ABMA"),
        ("search", "4HPwATDgc/ABMA:cAkAAAAAAAAA dice=21", "4HPwATDgc/ABMA:cAkAAAAAAAAA: write position=4HPwATDgc/ABMA:cAkAAAAAAAAA"),
        ("search", XGID, f"XGID: write \"position='{XGID}'\""),
        ("search", f"position={XGID}", f"position={XGID}: a value with = or : in it goes in two kinds of quotes: \"position='{XGID}'\""),
        ("train", "debug", "debug: write KEY=VALUE or GROUP=OPTION (--help lists them)"),
        ("train", "model=resnet", f"model=resnet: no such option; {MODELS}; did you mean resnet10x256 or resnet2x32 or resnet4x64?"),
        ("train", "-m model=mlp,nlp", f"model=nlp: no such option; {MODELS}; did you mean mlp?"),
        ("train", "model=null", f"model=null: {MODELS}; ~model leaves the group out"),
    ],
)  # fmt: skip
def test_what_to_write_instead(kind: str, words: str, told: str) -> None:
    assert advice(kind, words.split()) == told


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("evaluate", "evaluator=cube_pr evaluator.compare=null"),
        ("evaluate", "-m player=gnubg0,gnubg1 evaluator.games=5,6"),
        ("search", "search=expectimax search/filter=union search.ply=2 dice=[2,1] --cfg job"),
        ("train", "~evaluator@final.vr_arena logger=[csv,wandb] engine@data.source.teacher=gnubg0 +mine=1 hydra.verbose=true"),
        ("evaluate", "--config-dir first --config-name config"),
    ],
)
def test_what_fits_is_left_alone(kind: str, words: str) -> None:
    assert advice(kind, words.split()) is None


def test_a_long_word_is_cut() -> None:
    told = advice("train", ["x" * 1000])
    assert told is not None
    assert len(told) < 200


def test_a_text_where_a_group_was_meant_is_refused_before_the_run() -> None:
    """With search=expectimax Hydra would put it there, and the search would be built from a text."""
    check_groups(["search=expectimax", "search/filter=union", "+mine=1", "~evaluator", "player=gnubg0,gnubg1"])
    with pytest.raises(RaccoonError, match="goes with a slash: search/filter=union"):
        check_groups(["search=expectimax", "search.filter=union"])


def test_what_an_option_needs_is_named() -> None:
    check_missing(compose("evaluate"))
    with pytest.raises(RaccoonError) as caught:
        check_missing(compose("evaluate", ["player=checkpoint"]))
    assert str(caught.value) == "player.checkpoint: needs a value; add player.checkpoint=..."
    check_missing(compose("evaluate", ["player=checkpoint", "player.checkpoint=net.pt"]))
