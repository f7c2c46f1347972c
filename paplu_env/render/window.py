"""Pictures in a window, by pygame."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Final

from paplu_env.errors import PapluError
from paplu_env.render.canvas import Pixels

try:
    import pygame
except ImportError as error:
    raise ImportError("render_mode='human' needs pygame: pip install 'paplu-env[play]'") from error

# Both packages write the same folder: with the second install, or on removal of either, files of the other are lost.
_PACKAGES: Final = ("pygame", "pygame-ce")
# SDL's drivers where X11 and Wayland are, with the variable that says that a server is there. X11 first: it is drawn to
# without OpenGL, of which Mesa's loads LLVM, and two LLVMs in a process (PyTorch's compiler brings its own) may crash.
_SERVERS: Final = {"x11": "DISPLAY", "wayland": "WAYLAND_DISPLAY"}
# Without a server SDL falls back on one that shows nothing and loads OpenGL.
_INVISIBLE: Final = "offscreen"


class Window:
    """A window that shows one picture after another.

    Raises:
        PapluError: there is no display to open it on, and then no driver of displays has been loaded; or both
            packages that bring the module ``pygame`` are installed.
    """

    def __init__(self, width: int, height: int, title: str = "Paplu") -> None:
        if all(_is_installed(package) for package in _PACKAGES):
            raise PapluError(
                "pygame and pygame-ce are both installed, and each overwrites the other: "
                "pip uninstall pygame pygame-ce, then pip install 'paplu-env[play]'"
            )
        refusal = ""
        for driver in _drivers():
            try:
                with _asking_for(driver):
                    pygame.display.init()
                    if pygame.display.get_driver() == _INVISIBLE:
                        raise pygame.error(f"SDL's driver is {_INVISIBLE}")
                    self._surface = pygame.display.set_mode((width, height))
                break
            except pygame.error as error:
                pygame.display.quit()
                refusal = str(error)
        else:
            raise PapluError(
                f"no window can be opened ({refusal or 'there is no display'}): "
                "render_mode='rgb_array' or 'ansi' need no display"
            )
        pygame.display.set_caption(title)
        self._clock = pygame.time.Clock()

    def show(self, picture: Pixels, frames_per_second: float) -> None:
        """Show a picture, at most ``frames_per_second`` of them."""
        pygame.event.pump()  # or the system takes the window for dead
        self._surface.blit(pygame.surfarray.make_surface(picture.swapaxes(0, 1)), (0, 0))
        pygame.display.flip()
        self._clock.tick(frames_per_second)

    def close(self) -> None:
        """Close the window."""
        pygame.display.quit()


def _is_installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def _drivers() -> list[str]:
    """The drivers to try: the one that ``SDL_VIDEODRIVER`` names, or those with a server; "" is whichever SDL takes."""
    if wish := os.environ.get("SDL_VIDEODRIVER"):
        return [wish] if wish != _INVISIBLE else []
    if sys.platform in ("darwin", "win32") or pygame.display.get_init():
        return [""]
    return [driver for driver, variable in _SERVERS.items() if os.environ.get(variable)]


@contextmanager
def _asking_for(driver: str) -> Iterator[None]:
    """Have SDL take this driver and no other; the environment is as before afterwards."""
    wanted = {"SDL_VIDEODRIVER": driver} if driver else {}
    if driver == "x11":
        wanted["SDL_FRAMEBUFFER_ACCELERATION"] = "0"  # or it draws by OpenGL
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
