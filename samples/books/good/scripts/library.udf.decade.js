function decade(year) {
  return Math.floor(year / 10) * 10;
}
