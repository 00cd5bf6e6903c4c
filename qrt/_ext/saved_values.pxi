# The decoder of a saved program's values; qrt/runtime/saved/values.py describes the encoding.

cdef extern from "numpy/arrayobject.h":
    cnp.ndarray PyArray_NewFromDescr(type subtype, cnp.dtype descr, int rank, cnp.npy_intp *shape,
                                     cnp.npy_intp *strides, void *data, int flags, object like)
    int PyArray_UpdateFlags(cnp.ndarray array, int mask)

cdef enum:
    HEAD_BYTES = 24
    MOST_NESTED = 64
    NONE = 0
    NO, YES, INTEGER, REAL, TEXT, INTEGERS, TUPLE, DICT, ARRAY, DTYPE


# The dtypes that a file can name. Two of C's types may have one name: the dtype is the one that NumPy reads from it, so
# that binding knows it.
cdef dict NAMED_DTYPES = {name: np.dtype(name) for name in {np.dtype(code).str for code in "?bhilqBHILQefd"}}
cdef frozenset SMALL_FLOATS = frozenset((
    "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
    "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"
))


@cython.final
cdef class _Decoder:
    cdef const unsigned char *kinds
    cdef const char *integers
    cdef int64_t kind_count, integer_count, kind, integer, memory_bytes
    cdef const unsigned char *data
    cdef object memory
    cdef list texts, keys, dtypes
    cdef int depth

    cdef int64_t number(self) except? -1:
        cdef int64_t found
        if self.integer >= self.integer_count:
            raise ValueError("an integer is missing")
        memcpy(&found, self.integers + 8 * self.integer, 8)
        self.integer += 1
        return found

    cdef int64_t index(self, int64_t count) except -1:
        cdef int64_t found = self.number()
        if not 0 <= found < count:
            raise ValueError(f"{found} is not below {count}")
        return found

    cdef object value(self):
        cdef int64_t bits
        cdef double real
        if self.kind >= self.kind_count:
            raise ValueError("a value is missing")
        cdef int kind = self.kinds[self.kind]
        self.kind += 1
        if kind == NONE:
            return None
        if kind == NO or kind == YES:
            return kind == YES
        if kind == INTEGER:
            return self.number()
        if kind == REAL:
            bits = self.number()
            memcpy(&real, &bits, 8)
            return real
        if kind == TEXT:
            return self.texts[self.index(len(self.texts))]
        if kind == INTEGERS:
            return tuple([self.number() for _ in range(self.index(self.integer_count + 1))])
        if kind == ARRAY:
            return self.array()
        if kind == DTYPE:
            return self.dtype()
        if kind == TUPLE or kind == DICT:
            self.depth += 1
            if self.depth > MOST_NESTED:
                raise ValueError("values are nested too deeply")
            made = self.items() if kind == TUPLE else self.fields()
            self.depth -= 1
            return made
        raise ValueError(f"there is no kind {kind} of values")

    cdef tuple items(self):
        return tuple([self.value() for _ in range(self.index(self.kind_count + 1))])

    cdef dict fields(self):
        return {key: self.value() for key in <list>self.keys[self.index(len(self.keys))]}

    cdef cnp.dtype dtype(self):
        cdef int64_t number = self.index(len(self.dtypes))
        if self.dtypes[number] is None:
            name = self.texts[number]
            found = NAMED_DTYPES.get(name)  # NumPy would read lists of types too, with Python's own errors
            if found is None:
                if name not in SMALL_FLOATS:
                    raise ValueError(f"there is no dtype {shown(name)}")
                import ml_dtypes

                found = np.dtype(getattr(ml_dtypes, name))
            self.dtypes[number] = found
        return self.dtypes[number]

    cdef cnp.ndarray array(self):
        cdef int64_t at = self.index(self.memory_bytes + 1), left = self.memory_bytes - at, size = 1
        cdef cnp.dtype dtype = self.dtype()
        cdef cnp.npy_intp shape[QRT_MAX_RANK]
        cdef int d, rank = self.index(QRT_MAX_RANK // 2 + 1)
        for d in range(rank):
            shape[d] = self.index(MAX_ELEMENTS + 1)
            if shape[d] and size > MAX_ELEMENTS // shape[d]:
                raise ValueError("an array is too large")
            size *= shape[d]
        if size * dtype.itemsize > left or at % dtype.alignment:
            raise ValueError("an array is not in the file")
        cnp.Py_INCREF(dtype)
        made = PyArray_NewFromDescr(np.ndarray, dtype, rank, shape, NULL, <void *>(self.data + at), 0, None)
        PyArray_UpdateFlags(made, cnp.NPY_ARRAY_UPDATE_ALL)
        cnp.set_array_base(made, self.memory)
        return made


def decode(const unsigned char[::1] content not None, memory):
    """Decode None, bools, integers, floats, texts, dtypes, and tuples, dicts and arrays of these.

    Arrays are views of the memory. Raise ValueError if the bytes are not such an encoding."""
    cdef _Decoder decoder = _Decoder.__new__(_Decoder)
    cdef int64_t head[3]
    cdef int64_t count = content.shape[0], texts
    cdef const unsigned char[::1] view = memory
    if count < HEAD_BYTES:
        raise ValueError("values are cut short")
    memcpy(head, &content[0], HEAD_BYTES)
    for texts in head[:3]:
        if not 0 <= texts <= count:
            raise ValueError("the lengths do not match")
    texts = HEAD_BYTES + (head[0] + 7) // 8 * 8 + 8 * head[1]
    if texts + head[2] != count:
        raise ValueError("the lengths do not match")
    decoder.kinds, decoder.kind_count = &content[0] + HEAD_BYTES, head[0]
    decoder.integers, decoder.integer_count = <const char *>&content[0] + texts - 8 * head[1], head[1]
    decoder.texts = bytes(content[texts:]).decode().split("\0")
    decoder.keys = [text.split("\1") if text else [] for text in decoder.texts]
    decoder.dtypes = [None] * len(decoder.texts)
    decoder.data, decoder.memory_bytes = &view[0] if view.shape[0] else NULL, view.shape[0]
    decoder.memory = memory
    return decoder.value()
