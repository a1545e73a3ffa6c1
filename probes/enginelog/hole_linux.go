package enginelog

// seekData moves a file's place to the first byte that is not in a hole (lseek(2)).
const seekData = 3
