"""How decks are made; the other files here are nbconvert's template."""
