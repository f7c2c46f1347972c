"""Pictures in a window, by pygame."""

from __future__ import annotations

from paplu_env.errors import PapluError
from paplu_env.render.canvas import Pixels

try:
    import pygame
except ImportError as error:
    raise ImportError("render_mode='human' needs pygame: pip install 'paplu-env[play]'") from error


class Window:
    """A window that shows one picture after another.

    Raises:
        PapluError: there is no display to open it on.
    """

    def __init__(self, width: int, height: int, title: str = "Paplu") -> None:
        try:
            pygame.display.init()
            self._surface = pygame.display.set_mode((width, height))
        except pygame.error as error:
            raise PapluError(
                f"no window can be opened ({error}): render_mode='rgb_array' or 'ansi' need no display"
            ) from error
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
