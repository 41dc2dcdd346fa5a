"""The cache of exercise 3 of lesson 12, in which something is wrong."""
from d2lhelpers.torch.engine import Pages


class EarlyPages(Pages):
    """Pages that others may share as soon as somebody has them."""

    def make_room(self, request, tokens):
        """Give a request the pages that it needs for its next `tokens`, and let others find them."""
        fits = super().make_room(request, tokens)
        if fits:
            for number, page in enumerate(request.pages):
                start = tuple(request.tokens[:(number + 1) * self.size])
                self.known.setdefault(start, page)
        return fits
