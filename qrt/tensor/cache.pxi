# The one cache: bound calls, each with the words by which it is found.

@cython.internal
@cython.final
cdef class CachedCall:
    """A call that runs on the arrays among its arguments, or the value of a key."""

    cdef tuple named  # objects that the words name by identity stay alive, so that no other object takes their places
    cdef uint64_t hash
    cdef uint64_t *word
    cdef int words
    cdef object value
    cdef KernelCall call
    cdef int inputs
    cdef int input[QRT_MAX_OPERANDS]  # which array each input is
    # The result, where none is given: an array, of a tensor of type `element` unless that is None.
    cdef int dtype, rank
    cdef cnp.npy_intp *dims
    cdef tuple shape
    cdef object element

    def __dealloc__(self):
        PyMem_Free(self.word)
        PyMem_Free(self.dims)


cdef inline uint64_t hash_of(const Arguments *given) noexcept:
    """A sum of independent products: one multiplication per word, none waits for another."""
    cdef uint64_t total = given.words
    cdef int i
    for i in range(given.words):
        total += given.word[i] * MULTIPLIERS[i]
    return total


cdef uint64_t MULTIPLIERS[MAX_WORDS]


cdef fill_multipliers():
    cdef uint64_t state = 0, mixed
    cdef int i
    for i in range(MAX_WORDS):  # splitmix64
        state += <uint64_t>0x9E3779B97F4A7C15
        mixed = (state ^ (state >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
        mixed = (mixed ^ (mixed >> 27)) * <uint64_t>0x94D049BB133111EB
        MULTIPLIERS[i] = mixed | 1


fill_multipliers()


@cython.final
cdef class CallCache:
    """Sets of a few calls, the latest used first in each. Only ever touched with the GIL held. `sets` is a power of 2.
    calls.pyi has the policy."""

    cdef PyObject **slot
    cdef int sets, ways
    cdef readonly int64_t hits
    cdef readonly cnp.ndarray constant
    cdef readonly int64_t number  # that no other tensor has; 0 where there is no constant
    cdef public object unpacked

    def __cinit__(self, int sets, int ways, cnp.ndarray constant=None):
        global constants
        cdef int i
        self.slot = <PyObject **>PyMem_Malloc(sets * ways * sizeof(PyObject *))
        if self.slot == NULL:
            raise MemoryError
        for i in range(sets * ways):
            self.slot[i] = NULL
        self.sets, self.ways = sets, ways
        if constant is not None:
            constants += 1
            self.constant, self.number = constant, constants

    def __dealloc__(self):
        cdef int i
        if self.slot != NULL:
            for i in range(self.sets * self.ways):
                if self.slot[i] != NULL:
                    Py_DECREF(<object>self.slot[i])
        PyMem_Free(self.slot)

    def __len__(self):
        cdef int i
        return sum([1 for i in range(self.sets * self.ways) if self.slot[i] != NULL])

    cdef PyObject **set_of(self, uint64_t hash) noexcept:
        return self.slot + ((hash >> 40) & <uint64_t>(self.sets - 1)) * self.ways

    cdef CachedCall find(self, const Arguments *given, uint64_t hash):
        cdef PyObject **first = self.set_of(hash)
        cdef PyObject *found
        cdef int i
        for i in range(self.ways):
            found = first[i]
            if found == NULL:
                return None
            if ((<CachedCall>found).hash == hash and (<CachedCall>found).words == given.words
                    and memcmp((<CachedCall>found).word, given.word, given.words * sizeof(uint64_t)) == 0):
                to_front(first, i)
                return <CachedCall>found
        return None

    cdef add(self, CachedCall cached, const Arguments *given, uint64_t hash):
        cdef PyObject **first = self.set_of(hash)
        cdef PyObject *oldest
        cdef int i
        if self.find(given, hash) is not None:  # another thread was faster
            return
        cached.word = <uint64_t *>PyMem_Malloc(given.words * sizeof(uint64_t))
        if cached.word == NULL:
            raise MemoryError
        memcpy(cached.word, given.word, given.words * sizeof(uint64_t))
        cached.hash, cached.words = hash, given.words
        cached.named = tuple([<object>given.type[i] for i in range(given.types)])
        oldest = first[self.ways - 1]
        Py_INCREF(cached)
        first[self.ways - 1] = <PyObject *>cached
        to_front(first, self.ways - 1)
        if oldest != NULL:
            Py_DECREF(<object>oldest)  # last: it may run other code

    def get(self, tuple key):
        cdef Arguments given
        cdef CachedCall cached = None
        if describe_key(&given, key):
            cached = self.find(&given, hash_of(&given))
        return None if cached is None else cached.value

    def put(self, tuple key, value):
        cdef Arguments given
        cdef CachedCall cached
        if describe_key(&given, key):
            cached = CachedCall.__new__(CachedCall)
            cached.value = value
            self.add(cached, &given, hash_of(&given))


cdef inline void to_front(PyObject **first, int i) noexcept:
    cdef PyObject *moved = first[i]
    while i > 0:
        first[i] = first[i - 1]
        i -= 1
    first[0] = moved
