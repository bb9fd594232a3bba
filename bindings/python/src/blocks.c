/*
 * Which lease belongs to which `with` block.
 *
 * `with erp:` may be open many times at once: in threads, in tasks, in generators, and inside itself. __enter__ and __exit__
 * of one block are called from the same frame, whatever thread or context runs it, so the frame is the key; blocks
 * of one frame end in reverse order. A thread or a context variable is not: a generator, a fixture or a web framework's
 * dependency may be closed by another thread or task than the one that opened it.
 *
 * contextlib.ExitStack calls __enter__ from a frame that has ended when __exit__ is called. Such a frame is known by
 * nobody but us. The newest of those is taken where the closing frame has no block.
 */
#include "binding.h"

int blocks_push(Blocks* blocks, PyObject* frame, PyObject* lease) {
  if (blocks->count == blocks->capacity) {
    const Py_ssize_t capacity = blocks->capacity == 0 ? 4 : 2 * blocks->capacity;
    Block* items = PyMem_Realloc(blocks->items, (size_t)capacity * sizeof *items);
    if (items == NULL) {
      PyErr_NoMemory();
      return -1;
    }
    blocks->items = items;
    blocks->capacity = capacity;
  }
  Py_XINCREF(frame);
  Py_INCREF(lease);
  blocks->items[blocks->count].frame = frame;
  blocks->items[blocks->count].lease = lease;
  ++blocks->count;
  return 0;
}

static PyObject* take(Blocks* blocks, Py_ssize_t at) {
  PyObject* frame = blocks->items[at].frame;
  PyObject* lease = blocks->items[at].lease;
  --blocks->count;
  memmove(&blocks->items[at], &blocks->items[at + 1],
          (size_t)(blocks->count - at) * sizeof *blocks->items);
  Py_XDECREF(frame); /* Last: it may run code that changes the blocks. */
  return lease;
}

PyObject* blocks_pop(Blocks* blocks, PyObject* frame) {
  for (Py_ssize_t at = blocks->count; at-- > 0;) {
    if (blocks->items[at].frame == frame) return take(blocks, at);
  }
  for (Py_ssize_t at = blocks->count; at-- > 0;) {
    PyObject* opened_by = blocks->items[at].frame;
    if (opened_by == NULL || Py_REFCNT(opened_by) == 1) return take(blocks, at);
  }
  return NULL;
}

int blocks_traverse(Blocks* blocks, visitproc visit, void* arg) {
  for (Py_ssize_t at = 0; at < blocks->count; ++at) {
    Py_VISIT(blocks->items[at].frame);
    Py_VISIT(blocks->items[at].lease);
  }
  return 0;
}

void blocks_clear(Blocks* blocks) {
  Block* items = blocks->items;
  const Py_ssize_t count = blocks->count;
  blocks->items = NULL;
  blocks->count = blocks->capacity = 0;
  for (Py_ssize_t at = 0; at < count; ++at) {
    Py_XDECREF(items[at].lease);
    Py_XDECREF(items[at].frame);
  }
  PyMem_Free(items);
}
