"""Looking at an environment: render modes, Gymnasium's recorders, and machines without a display."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordEpisodeStatistics, RenderCollection, TimeLimit

from paplu_env.engine import DRAW_CLOSED
from paplu_env.envs import PapluEnv, PapluVectorEnv
from paplu_env.errors import PapluError
from tests.envs.players import pick

ROOT = Path(__file__).resolve().parents[2]
QUICK: dict[str, Any] = {"opponent": "random", "encoding": "cards-v1"}


def _run(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def test_a_picture_needs_no_display_and_no_library() -> None:
    code = (
        "import sys\n"
        "for name in ('pygame', 'PIL', 'cv2', 'matplotlib'):\n"
        "    sys.modules[name] = None\n"
        "import gymnasium\n"
        "env = gymnasium.make('paplu_env:Paplu-v0', opponent='random', encoding='cards-v1', render_mode='rgb_array')\n"
        "env.reset(seed=1)\n"
        "print(env.render().shape, env.render().dtype)"
    )
    assert _run(code, DISPLAY="", SDL_VIDEODRIVER="") == "(640, 1024, 3) uint8"


def test_a_window_without_pygame_names_the_extra() -> None:
    code = (
        "import sys\n"
        "sys.modules['pygame'] = None\n"
        "from paplu_env.envs import PapluEnv\n"
        "env = PapluEnv(opponent='random', encoding='cards-v1', render_mode='human')\n"
        "try:\n"
        "    env.reset(seed=1)\n"
        "except ImportError as error:\n"
        "    print(error)"
    )
    assert "paplu-env[play]" in _run(code)


def test_a_window_without_a_display_says_what_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "nothing of this name")
    env = PapluEnv(**QUICK, render_mode="human")
    with pytest.raises(PapluError, match=r"no window can be opened .*'rgb_array' or 'ansi' need no display"):
        env.reset(seed=1)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere a display is always there")
@pytest.mark.parametrize(
    "environment",
    [
        {"DISPLAY": "", "WAYLAND_DISPLAY": "", "SDL_VIDEODRIVER": ""},
        {"DISPLAY": ":987", "WAYLAND_DISPLAY": "nobody", "SDL_VIDEODRIVER": ""},
        {"DISPLAY": "", "WAYLAND_DISPLAY": "", "SDL_VIDEODRIVER": "offscreen"},
    ],
    ids=["none", "nobody answers", "asked for"],
)
def test_a_machine_without_a_display_opens_no_window_and_loads_no_second_llvm(environment: dict[str, str]) -> None:
    """SDL's driver for no display loads Mesa's LLVM; beside PyTorch's compiler the next training step would crash."""
    pytest.importorskip("pygame")
    code = (
        "from paplu_env.render.window import Window\n"
        "from paplu_env.errors import PapluError\n"
        "try:\n"
        "    Window(64, 64)\n"
        "except PapluError as error:\n"
        "    print(error)\n"
        "loaded = [line.split('/')[-1].strip() for line in open('/proc/self/maps')]\n"
        "print(sorted({name for name in loaded if name.startswith(('libLLVM', 'libEGL', 'libGL'))}))"
    )
    message, loaded = _run(code, PYGAME_HIDE_SUPPORT_PROMPT="1", **environment).splitlines()
    assert message.startswith("no window can be opened (")
    assert message.endswith("render_mode='rgb_array' or 'ansi' need no display")
    assert loaded == "[]"


def test_two_packages_of_one_module_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    from paplu_env.render import window

    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    window.Window(8, 8).close()
    monkeypatch.setattr(window.metadata, "version", lambda package: "2.5.6")
    with pytest.raises(PapluError, match="pygame and pygame-ce are both installed"):
        window.Window(8, 8)


def test_a_window_leaves_the_environment_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    from paplu_env.render.window import Window

    for name, value in {"SDL_VIDEODRIVER": "", "DISPLAY": ":987", "WAYLAND_DISPLAY": ""}.items():
        monkeypatch.setenv(name, value)
    before = dict(os.environ)
    with pytest.raises(PapluError, match="no window can be opened"):
        Window(64, 64)
    assert dict(os.environ) == before


def test_a_window_shows_the_picture_of_every_position(monkeypatch: pytest.MonkeyPatch) -> None:
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(PapluEnv.metadata, "render_fps", 1000)
    env, seen = PapluEnv(**QUICK, render_mode="human"), PapluEnv(**QUICK, render_mode="rgb_array")
    env.reset(seed=1), seen.reset(seed=1)
    for _ in range(2):
        shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
        np.testing.assert_array_equal(shown, seen.render())
        env.step(DRAW_CLOSED), seen.step(DRAW_CLOSED)
    assert env.render() is None
    twin = copy.deepcopy(env)  # has no window yet
    env.close()
    assert not pygame.display.get_init()
    env.close()
    twin.reset()
    twin.close()


def test_both_seats_see_their_own_hand_and_never_the_others() -> None:
    env = PapluEnv(opponent="self", encoding="cards-v1", render_mode="rgb_array")
    env.reset(seed=1)
    frames = [env.render()]
    env.step(DRAW_CLOSED)
    env.step(int(np.flatnonzero(env.action_masks())[0]))
    frames.append(env.render())
    assert not np.array_equal(frames[0], frames[1])
    before = env.render()
    env._core.dealt.states["hands"][0, 0] = 0  # the hand of the seat that doesn't look
    np.testing.assert_array_equal(env.render(), before)


def test_gymnasiums_recorders_and_limits_work_on_it() -> None:
    limited = TimeLimit(PapluEnv(**QUICK, rules="points:drop_allowed=false", render_mode="rgb_array"), 3)
    env = RecordEpisodeStatistics(RenderCollection(limited, pop_frames=True))
    generator = np.random.default_rng(0)
    _, info = env.reset(seed=1)
    for _ in range(3):
        _, _, terminated, truncated, info = env.step(pick(generator, info["action_mask"]))
    assert (terminated, truncated) == (False, True)
    assert info["episode"]["l"] == 3
    frames = env.render()
    assert len(frames) == 4
    assert all(frame.shape == (640, 1024, 3) for frame in frames)


def test_record_video_takes_its_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The frames alone are looked at: writing the file is a library's business that need not be here."""
    taken: list[np.ndarray] = []
    monkeypatch.setitem(sys.modules, "moviepy", sys.modules[__name__])  # the wrapper asks whether it is there
    recorder = gymnasium.wrappers.RecordVideo(
        gymnasium.make("Paplu-v0", **QUICK, render_mode="rgb_array"),
        str(tmp_path / "videos"),
        episode_trigger=lambda _: True,
    )

    def stop() -> None:
        taken.extend(recorder.recorded_frames)
        recorder.recorded_frames, recorder.recording = [], False

    monkeypatch.setattr(recorder, "stop_recording", stop)
    _, info = recorder.reset(seed=1)
    recorder.step(pick(np.random.default_rng(0), info["action_mask"]))
    recorder.stop_recording()
    assert len(taken) == 2
    assert all(frame.shape == (640, 1024, 3) for frame in taken)


def test_gymnasiums_checker_accepts_every_render_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # the checker opens a window too
    for mode in ("ansi", "rgb_array"):
        check_env(gymnasium.make("Paplu-v0", **QUICK, render_mode=mode).unwrapped, skip_render_check=False)


def test_a_vector_environment_gives_a_frame_for_each_game() -> None:
    env = PapluVectorEnv(3, **QUICK, render_mode="rgb_array")
    env.reset(seed=1)
    frames = env.render()
    assert frames is not None
    singles = [PapluEnv(**QUICK, render_mode="rgb_array") for _ in range(3)]
    for i, single in enumerate(singles):
        single.reset(seed=1 + i)
        np.testing.assert_array_equal(frames[i], single.render())
    with pytest.raises(PapluError, match="'human'"):
        PapluVectorEnv(3, **QUICK, render_mode="human")


def test_an_environment_with_a_render_mode_pickles() -> None:
    env = PapluEnv(**QUICK, render_mode="rgb_array")
    env.reset(seed=1)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(env)).render(), env.render())
