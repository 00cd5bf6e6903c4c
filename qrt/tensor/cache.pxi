# The call cache: bound calls, and the words that are their keys.

@cython.internal
@cython.final
cdef class CachedCall:
    """A call that runs on the arrays among its arguments, or the value of a key."""

    cdef tuple named  # objects that the words name by identity stay alive, so that no other object takes their places
    cdef uint64_t hash
    cdef bytes words
    cdef object value
    cdef KernelCall call
    cdef int inputs
    cdef int input[QRT_MAX_OPERANDS]  # which array each input is
    # The result, where none is given: an array, of a tensor of type `element` unless that is None.
    cdef int dtype, rank
    cdef cnp.ndarray sizes
    cdef tuple shape
    cdef object element


cdef inline uint64_t hash_of(const Arguments *given) noexcept:
    """Return a sum of independent products: one multiplication per word, none of which waits for another."""
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
    """Sets of a few calls, each in the order of last use; `sets` is a power of 2. The GIL must be held for any access.

    calls.pyi describes the policy."""

    cdef list slots  # None, or a CachedCall
    cdef int sets, ways
    cdef readonly int64_t hits
    cdef readonly int64_t number  # that no other cache has
    cdef public object unpacked

    def __cinit__(self, int sets, int ways):
        global caches
        caches += 1
        self.slots, self.sets, self.ways, self.number = [None] * (sets * ways), sets, ways, caches

    def __len__(self):
        return len(self.slots) - self.slots.count(None)

    cdef int first_of(self, uint64_t hash) noexcept:
        return <int>((hash >> 40) & <uint64_t>(self.sets - 1)) * self.ways

    cdef CachedCall find(self, const Arguments *given, uint64_t hash):
        cdef int first = self.first_of(hash), i
        cdef Py_ssize_t size = given.words * sizeof(uint64_t)
        cdef CachedCall cached
        for i in range(first, first + self.ways):
            cached = <CachedCall>self.slots[i]
            if cached is None:
                return None
            if (cached.hash == hash and PyBytes_GET_SIZE(cached.words) == size
                    and memcmp(PyBytes_AS_STRING(cached.words), given.word, size) == 0):
                if i > first:
                    self.put_first(first, i, cached)
                return cached
        return None

    cdef put_first(self, int first, int i, CachedCall cached):
        """Put a call first in its set: the calls before index i move back by one, over the call at index i."""
        replaced = self.slots[i]  # goes last: it may run other code
        for i in range(i, first, -1):
            self.slots[i] = self.slots[i - 1]
        self.slots[first] = cached

    cdef add(self, CachedCall cached, const Arguments *given, uint64_t hash):
        cdef int first = self.first_of(hash)
        if self.find(given, hash) is not None:  # another thread was faster
            return
        cached.hash, cached.words = hash, (<const char *>given.word)[:given.words * sizeof(uint64_t)]
        cached.named = tuple([<object>given.type[i] for i in range(given.types)])
        self.put_first(first, first + self.ways - 1, cached)

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
