"""How reader's copies, site, decks, student edition, translations and grades are made of the lessons."""
