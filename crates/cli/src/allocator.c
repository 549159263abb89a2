/* glibc gives a large block back to the system when it is freed, but raises the size from which blocks are large, up to
   32 MB, whenever one is: after a few large requests the next ones are kept in the heap of each thread, whole. A size
   that is set is not raised. What is kept of smaller blocks is kept in each heap, of which there are eight for each core.
   Both are set before the program begins, because Rust code here may not call C. */

#include <malloc.h>

/* The size in bytes from which blocks are large: the one that glibc begins with. */
enum { LARGE = 128 * 1024 };

/* The number of heaps: each may keep as much as the largest request took. Threads have small blocks of their own at
   hand, so that they seldom meet. */
enum { HEAPS = 4 };

__attribute__((constructor)) static void bound_what_is_kept(void) {
  mallopt(M_MMAP_THRESHOLD, LARGE);
  mallopt(M_ARENA_MAX, HEAPS);
}
