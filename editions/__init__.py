"""How readers' copies, site, decks, student edition, translations and grades are made from the lessons."""
