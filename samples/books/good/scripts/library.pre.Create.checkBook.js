// A book has a title and a year; an id is given where there is none.
function checkBook() {
  const request = getContext().getRequest();
  const book = request.getBody();
  if (book.type === "book" && !(book.title && Number.isInteger(book.year))) throw new Error("a book has a title and a year");
  request.setBody(book);
}
