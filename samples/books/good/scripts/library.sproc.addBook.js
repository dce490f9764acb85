// Adds a book and raises its author's countOfBooks: both, or neither.
function addBook(book) {
  const items = getContext().getCollection();
  const link = items.getAltLink();
  items.readDocument(link + "/docs/author", (error, author) => {
    if (error) throw error;
    items.createDocument(link, { ...book, type: "book", author: author.author }, (failed) => {
      if (failed) throw failed;
      author.countOfBooks += 1;
      items.replaceDocument(author._self, author, (late) => {
        if (late) throw late;
        getContext().getResponse().setBody({ countOfBooks: author.countOfBooks });
      });
    });
  });
}
