/* Marks the ends of the candidate's thread-local variables, which are its __shared__ ones: linked once
   before the candidate (with WARPSMITH_MARK=begin) and once after it (end). */
#define CONCAT_INNER(a, b) a##b
#define CONCAT(a, b) CONCAT_INNER(a, b)
#define NAME CONCAT(warpsmith_shared_, WARPSMITH_MARK)

.section .tbss, "awT", @nobits
.globl NAME
.type NAME, @tls_object
.size NAME, 64
.balign 64
NAME:
  .zero 64
.section .note.GNU-stack, "", @progbits
