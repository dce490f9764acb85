// Raises the author's countOfBooks with the book that was created, in the same transaction.
function countBook() {
  const book = getContext().getResponse().getBody();
  if (book.type !== "book") return;
  const items = getContext().getCollection();
  items.readDocument(items.getAltLink() + "/docs/author", (error, author) => {
    if (error) throw error;
    author.countOfBooks += 1;
    items.replaceDocument(author._self, author, (failed) => { if (failed) throw failed; });
  });
}
