# SPDX-License-Identifier: Apache-2.0
"""Train the network of keyword_spotting.py and judge it, with speech that espeak-ng makes.

python train.py               # writes the weights and the two recordings (8 minutes of one core)
python train.py --evaluate    # says how often voices are understood that training did not hear
"""

from __future__ import annotations

import argparse
import sys
import wave
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

from cortexm_tools.ir import Array, Graph
from cortexm_tools.ir.interpreter import run_graph, run_sequence
from cortexm_tools.options.stream import Stream
from cortexm_tools.program import load_program
from cortexm_tools.simplify import simplify
from cortexm_tools.stream import stream_graph
from cortexm_tools.target import Target

sys.path.insert(0, str(Path(__file__).parent))
from keyword_spotting import (  # noqa: E402
    BANDS,
    CALIBRATION,
    CLASSES,
    FRAMES,
    HOP,
    POINTS,
    RATE,
    SAID,
    SPOKEN,
    WEIGHTS,
    WINDOW,
    KeywordSpotting,
    LogMel,
    ModelUnderTest,
)  # fmt: skip
from speech import (  # noqa: E402
    HEARD,
    HELD_OUT,
    NEW_OTHERS,
    OTHERS,
    Scene,
    Utterance,
    conversation,
    scene,
    utterances,
)  # fmt: skip

SECONDS = 3  # of each scene that is trained on
TALK = 20  # and of each one that the firmware is judged by
SCENES = 12000
EPOCHS = 26
BATCH = 64
SILENCE, UNKNOWN = CLASSES.index("silence"), CLASSES.index("unknown")
IGNORED, NO_WORD = -1, -2  # in place of a class: anything; silence or unknown
CALL = 320  # samples that the firmware takes at once
# As in main.c: calls whose probabilities are averaged, calls before a word may be heard again, and how
# probable it has to be.
SMOOTHED, PAUSE, CERTAIN = 10, 10, 0.7
# Seconds: a word is to be recognized from EARLY before its end to LATE behind it, not from GONE on.
EARLY, LATE, GONE = 0.06, 0.30, 0.45


def targets(made: Scene, frames: int) -> np.ndarray:
    """What is right at the frames that end a window.

    At the end of a word it is the word. While one is spoken, no keyword is: silence and unknown are
    both right. Around these everything is, as nobody can say where a word is over.
    """
    ends = (np.arange(frames) * HOP + POINTS) / RATE
    wanted = np.full(frames, SILENCE)
    for start, end, label in made.said:
        begin, until = start / RATE, end / RATE
        wanted[(ends > begin) & (ends <= until + GONE)] = IGNORED
        wanted[(ends > begin) & (ends < max(until - 0.15, (begin + until) / 2))] = NO_WORD
        wanted[(ends >= until - EARLY) & (ends <= until + LATE)] = label
    return wanted[FRAMES - 1 :]


def training_set(pool: Sequence[Utterance], seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Features [n, 40, frames] and what is right at all frames but the first 48."""
    random = np.random.default_rng(seed)
    log_mel, length = LogMel(), SECONDS * RATE
    frames = (length - POINTS) // HOP + 1
    features = torch.empty(SCENES, BANDS, frames)
    wanted = torch.empty(SCENES, frames - FRAMES + 1, dtype=torch.int64)
    for number in range(SCENES):
        quiet = number % 12 == 0
        said = [] if quiet else conversation(length, pool, random, (0.02, 0.7))
        made = scene(length, said, pool, random)
        features[number] = log_mel(torch.from_numpy(made.sound)[None])[0]
        wanted[number] = torch.from_numpy(targets(made, frames))
    return features, wanted


def loss_of(scores: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Cross entropy of scores [n, classes, frames], with weight on keywords, which are rarest."""
    logs = torch.log_softmax(scores, 1)
    none = -torch.logsumexp(logs[:, [SILENCE, UNKNOWN]], 1)
    known = nn.functional.nll_loss(logs, wanted.clamp(min=0), reduction="none")
    weight = torch.where(wanted > UNKNOWN, 2.0, torch.where(wanted == IGNORED, 0.0, 1.0))
    each = torch.where(wanted == NO_WORD, none, known)
    return (each * weight).sum() / weight.sum()


def train(features: torch.Tensor, wanted: torch.Tensor) -> KeywordSpotting:
    """The network, trained with a one-cycle schedule; parts of the features are masked."""
    model = KeywordSpotting()
    generator = torch.Generator().manual_seed(7)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.02)
    batches = len(features) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, EPOCHS * batches)
    for epoch in range(EPOCHS):
        total = 0.0
        for index in torch.randperm(len(features), generator=generator).split(BATCH)[:batches]:
            x = features[index]
            band, frame = (int(torch.randint(n, (), generator=generator)) for n in (34, 140))
            x = x.clone()
            x[:, band : band + 5] = x[:, band : band + 5].mean()
            x[:, :, frame : frame + 4] = x[:, :, frame : frame + 4].mean()
            loss = loss_of(model.scores(x), wanted[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total / batches:.3f}", flush=True)
    return model.eval()


def window_of(
    word: Utterance | None,
    babble: Sequence[Utterance],
    random: np.random.Generator,
    **scene_options: object,
) -> np.ndarray:
    """Sound of one window in which a word is over shortly before the end, or no word is."""
    if word is None:
        return scene(WINDOW, [], babble, random, **scene_options).sound
    end = WINDOW - int(random.uniform(0.04, 0.2) * RATE)
    word = Utterance(word.sound[-end:], word.label)
    return scene(WINDOW, [(end - len(word.sound), word)], babble, random, **scene_options).sound


def write_recordings(heard: Sequence[Utterance]) -> None:
    """What is calibrated with, by voices of training, and what the sample listens to, by others."""
    random = np.random.default_rng(3)
    others = utterances(HELD_OUT, 1, 3, OTHERS, seed=4)
    for path, pool, options in (
        (SPOKEN, others, {"loudness": (-12.0, -6.0), "snr": (20.0, 25.0)}),
        (CALIBRATION, heard, {}),
    ):
        order = list(random.permutation(len(pool)))
        said = [next(pool[i] for i in order if CLASSES[pool[i].label] == name) for name in SAID]
        sound = np.concatenate([window_of(word, pool, random, **options) for word in said])
        with wave.open(str(path), "wb") as file:
            file.setparams((1, 2, RATE, len(sound), "NONE", ""))
            file.writeframes((sound * 2**15).astype("<i2").tobytes())
        print(f"wrote {path.name}, {path.stat().st_size} bytes")


def held_out() -> tuple[np.ndarray, np.ndarray]:
    """Windows [n, WINDOW] with what voices say that training did not hear, or silence, and the classes."""
    random = np.random.default_rng(6)
    pool = utterances(HELD_OUT, 5, 20, OTHERS + NEW_OTHERS, seed=5)
    words = [*pool, *[None] * 100]
    sound = np.stack([window_of(word, pool, random) for word in words])
    return sound, np.array([SILENCE if word is None else word.label for word in words])


def spoken(codes: Array, scale: float, zero_point: int) -> list[tuple[int, int]]:
    """What main.c hears in the codes of all calls: the number of the call, and the class."""
    before = np.full((SMOOTHED - 1, codes.shape[1]), zero_point)
    sums = np.lib.stride_tricks.sliding_window_view(
        np.concatenate([before, codes]).astype(np.int64), SMOOTHED, axis=0
    ).sum(-1)
    certain = (
        np.float32(np.float32(CERTAIN) / np.float32(scale) + np.float32(zero_point)) * SMOOTHED
    )
    found, last, wait = [], 0, 0
    for call, row in enumerate(sums):
        best = UNKNOWN + 1 + int(row[UNKNOWN + 1 :].argmax())
        if row[best] < certain:
            wait -= wait > 0
            continue
        if wait == 0 or best != last:
            found.append((call, best))
        last, wait = best, PAUSE
    return found


def evaluate_stream(graph: Graph) -> None:
    """Prints which words the firmware hears in conversations, and which ones it hears that nobody said."""
    model = stream_graph(simplify(graph, io_codes=True), Stream(1, CALL))
    quant = model.graph.tensors[model.graph.outputs[0]].quant
    assert quant is not None
    pool, random = utterances(HELD_OUT, 2, 8, OTHERS + NEW_OTHERS, seed=8), np.random.default_rng(9)
    length = TALK * RATE
    said = heard = 0
    alarms = {"conversations": 0, "other words": 0, "noise": 0}
    for kind, count in (("conversations", 8), ("other words", 4), ("noise", 4)):
        known = [each for each in pool if kind == "conversations" or each.label == UNKNOWN]
        for _ in range(count):
            words = [] if kind == "noise" else conversation(length, known, random, (0.3, 1.5))
            made = scene(length, words, pool, random)
            calls = model.hops(((made.sound * 2**15).astype(np.int16)[None],))
            codes = np.concatenate([row[0] for row in run_sequence(model.graph, calls)])
            ends = [
                ((call + 1) * CALL, word)
                for call, word in spoken(codes, quant.scale, quant.zero_point)
            ]
            places = [place for place in made.said if place[2] > UNKNOWN]
            said += len(places)
            for begin, end, label in places:
                hits = [
                    each
                    for each in ends
                    if each[1] == label and begin < each[0] < end + RATE * 6 // 10
                ]
                heard += bool(hits)
                ends = [each for each in ends if each not in hits]
            alarms[kind] += len(ends)
        print(f"{count * TALK} s of {kind}: {alarms[kind]} false alarms", flush=True)
    print(f"the firmware hears {heard} of {said} keywords in conversations ({heard / said:.1%})")


def evaluate() -> None:
    """Prints how many windows are recognized, by the float model and by the firmware's integers."""
    sound, wanted = held_out()
    model = ModelUnderTest()
    with torch.no_grad():
        floats = torch.cat([model(part) for part in torch.from_numpy(sound).split(64)]).numpy()
    graph = load_program(
        Path(__file__).with_name("keyword_spotting.py"),
        name="keyword_spotting",
        target=Target.parse("cortex-m4"),
    ).graph()
    codes = np.concatenate([run_graph(graph, [row[None]])[0] for row in sound])
    kinds = {
        "keywords": wanted > UNKNOWN,
        "unknown words": wanted == UNKNOWN,
        "silence": wanted == SILENCE,
        "all": wanted >= 0,
    }
    for name, scores in (("float", floats), ("firmware", codes)):
        right = scores.argmax(1) == wanted
        shares = ", ".join(
            f"{right[kind].mean():.1%} of {kind.sum()} {of}" for of, kind in kinds.items()
        )
        print(f"{name}: {shares}")
    evaluate_stream(graph)
    print(
        f"{(floats.argmax(1) == codes.argmax(1)).mean():.1%} of the firmware's answers are the float model's"
    )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--evaluate", action="store_true", help="only judge what there is")
    given = parser.parse_args(arguments)
    torch.manual_seed(7)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    if given.evaluate:
        evaluate()
        return
    pool = utterances(HEARD, 4, 20, OTHERS, seed=1)
    print(f"{len(pool)} utterances by {len(HEARD)} voices", flush=True)
    model = train(*training_set(pool, seed=2))
    save_file(
        {k: v.contiguous() for k, v in model.state_dict().items() if "num_batches" not in k},
        WEIGHTS,
    )
    WEIGHTS.chmod(0o644)
    print(f"wrote {WEIGHTS.name}, {WEIGHTS.stat().st_size} bytes")
    write_recordings(pool)


if __name__ == "__main__":
    main(sys.argv[1:])
