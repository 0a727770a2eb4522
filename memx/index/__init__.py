"""The derived index: words (tantivy), meanings (vectors), and how both follow the files."""
