# NumPy's protocols. Each function of NumPy has a rule, which takes any arguments. Where the operands are tensors of one
# type per layer, whose integers are not packed, NumPy's own routine may run on the storage: such a function has a Route.

cdef enum:
    MOST_BY_POSITION = 8
    KNOWN_PLAIN = 256
    DEEPEST = 4

cdef dict ROUTES = {}
cdef Calls KEPT_PLANS = Calls(SETS, WAYS)
cdef object LONG_WAY = None
cdef object in_words = None
cdef object storage_of_number = None
cdef object NOT_DONE = object()  # None is the result of a function that writes
cdef PyObject *plain_types[KNOWN_PLAIN]  # which the table keeps alive


@cython.final
@cython.internal
cdef class Route:
    """A function's rule and, unless it is None, what computes the same on storage."""

    cdef object rule, routine
    cdef object numbers  # what says of a type and a real number what stands for the number; None where none may stand
    cdef frozenset names
    cdef unsigned int tensors  # a bit for each place of a tensor among the arguments by position
    cdef int least, most  # how many arguments are taken by position
    cdef int lists  # how deep the lists are whose items are the tensors
    cdef bint is_moved  # whether the result holds elements of the tensors
    cdef bint plans  # whether a plan of its rule was kept


@cython.final
cdef class Planned:
    cdef readonly tuple operands
    cdef readonly object run, element
    cdef readonly bint holds_no_list

    def __init__(self, tuple operands not None, run not None, bint holds_no_list=False, element=None):
        self.operands, self.run, self.holds_no_list, self.element = operands, run, holds_no_list, element


cdef object run_plan(object run, object element, tuple operands):
    """What a plan gives: a tensor where its integers have a type, which holds them in 32 bits."""
    cdef cnp.ndarray integers
    result = run(operands)
    if element is None:
        return result
    integers = cnp.PyArray_FROMANY(result, cnp.NPY_INT32, 0, 0, cnp.NPY_ARRAY_FORCECAST)
    return tensor_of(integers, element, shape_of(integers))


cdef bint describe_items(Arguments *to, object value, int depth) noexcept:
    """As ``describe``, also of lists: their items are described each time, so that one that changed is another."""
    if not PyList_CheckExact(value):
        return describe(to, value)
    if depth == DEEPEST or not put(to, LIST | <uint64_t>len(value) << 8):
        return False
    for item in <list>value:
        if not describe_items(to, item, depth + 1):
            return False
    return True


cdef bint describe_arguments(Arguments *to, Route route, tuple args, dict kwargs) noexcept:
    """The words of a call that a rule plans: the rule, the ISA that `kernels.use` forces, the arguments, and which arrays
    are one."""
    cdef PyObject *isa = NULL
    cdef uint64_t same = 0
    cdef int i, j
    PyContextVar_Get(FORCED_ISA, NULL, &isa)
    Py_DECREF(<object>isa)  # the context keeps it
    to.words = to.types = to.arrays = 0
    to.keeper = NULL
    if not put_identity(to, INTERNED, route) or not put_identity(to, INTERNED, <object>isa):
        return False
    if not put(to, TUPLE | <uint64_t>len(args) << 8):
        return False
    for value in args:
        if not describe_items(to, value, 0):
            return False
    if kwargs is not None:
        for name, value in kwargs.items():
            if not describe_text(to, name) or not describe(to, value):
                return False
    for i in range(to.arrays):
        for j in range(i):
            if to.array[i] == to.array[j]:
                same |= <uint64_t>(j + 1) << 4 * i
                break
    return put(to, same)


cdef bint are_operands(const Arguments *given, tuple operands):
    """Whether each array of a call is that of an operand: the words do not hold the values of any other."""
    cdef int i
    for i in range(given.arrays):
        for operand in operands:
            if given.array[i] == <PyObject *>((<Tensor>operand)._data if is_tensor(operand) else operand):
                break
        else:
            return False
    return True


cdef object place_of(object operand, tuple args):
    """Where the operand stands: its place among the arguments, or that and the place in a list; None if nowhere."""
    cdef Py_ssize_t i, j
    for i in range(len(args)):
        if args[i] is operand:
            return i, None
        if PyList_CheckExact(args[i]):
            for j in range(len(<list>args[i])):
                if (<list>args[i])[j] is operand:
                    return i, j
    return None


cdef inline object at_place(tuple args, tuple place):
    value = args[<Py_ssize_t>place[0]]
    return value if place[1] is None else (<list>value)[<Py_ssize_t>place[1]]


cdef bint has_list(tuple args):
    for value in args:
        if PyList_CheckExact(value):
            return True
    return False


cdef object run_planned(Route route, tuple args, dict kwargs, Planned made):
    """The result of what a rule planned. It is kept by the arguments, if the operands are among these; not where bits are
    packed, for the words of a tensor have the shape of its memory."""
    cdef Arguments given
    cdef Kept kept
    cdef Py_ssize_t i
    cdef list places = []
    for operand in made.operands:
        place = None if is_tensor(operand) and has_packed_bits((<Tensor>operand).type) else place_of(operand, args)
        if place is None:
            break
        places.append(place)
    if not made.holds_no_list and (has_list(args) or (kwargs is not None and has_list(tuple(kwargs.values())))):
        return run_plan(made.run, made.element, made.operands)
    if (len(places) == len(made.operands) and describe_arguments(&given, route, args, kwargs)
            and are_operands(&given, made.operands)):
        kept = Kept.__new__(Kept)
        kept.value = made.run, tuple(places), made.element
        KEPT_PLANS.add(kept, &given, hash_of(&given))
        route.plans = True
    return run_plan(made.run, made.element, made.operands)


cdef object by_plan(Route route, tuple args, dict kwargs):
    """What a kept plan gives; NOT_DONE where none is kept."""
    cdef Arguments given
    cdef Kept kept
    cdef tuple places
    if not describe_arguments(&given, route, args, kwargs):
        return NOT_DONE
    kept = KEPT_PLANS.find(&given, hash_of(&given))
    if kept is None:
        return NOT_DONE
    run, places, element = <tuple>kept.value
    return run_plan(run, element, tuple([at_place(args, <tuple>place) for place in places]))


def set_protocol(long_way, reworded):
    global LONG_WAY, in_words
    LONG_WAY, in_words = long_way, reworded


def set_numbers(numbers):
    global storage_of_number
    storage_of_number = numbers


def set_rule(function, rule not None):
    cdef Route route = Route.__new__(Route)
    route.rule = rule
    ROUTES[function] = route


def set_routine(function, routine not None, tuple places not None, int most, frozenset names not None, int lists,
                bint is_moved, numbers=None):
    cdef Route route = <Route?>ROUTES[function]
    cdef int place
    if not 0 < most <= MOST_BY_POSITION or max(places) >= most or len(places) > (1 if lists else 3):
        raise ValueError(f"{function}: no route takes {most} arguments with tensors at {places}")
    for place in places:
        route.tensors |= 1 << place
    route.least, route.most, route.names = max(places) + 1, most, names
    route.lists, route.is_moved, route.routine, route.numbers = lists, is_moved, routine, numbers


cdef bint has_packed_bits(object element):
    return element.storage_type.width in (1, 2, 4)


cdef bint is_plain(object element):
    """Whether a type is per layer and its storage as NumPy has it. Types are told apart by identity."""
    cdef PyObject **known = &plain_types[(<uint64_t><PyObject *>element * <uint64_t>0x9E3779B97F4A7C15) >> 56]
    cdef PyObject *before = known[0]
    if before == <PyObject *>element:
        return True
    if element.axis is not None or element.block_sizes is not None or has_packed_bits(element):
        return False
    Py_INCREF(element)
    known[0] = <PyObject *>element
    if before != NULL:
        Py_DECREF(<object>before)  # last: it may run other code
    return True


cdef bint is_said(object value, int depth=0) noexcept:
    """Whether an argument is integers, text or an array, which the routine takes as the rule does."""
    if value is None or PyLong_CheckExact(value) or PyUnicode_CheckExact(value) or value is True or value is False:
        return True
    if cnp.PyArray_CheckExact(value):
        return not cnp.PyTypeNum_ISOBJECT(cnp.PyArray_TYPE(<cnp.ndarray>value))
    if depth < DEEPEST and PyTuple_CheckExact(value):
        for item in <tuple>value:
            if not is_said(item, depth + 1):
                return False
        return True
    if depth < DEEPEST and PyList_CheckExact(value):
        for item in <list>value:
            if not is_said(item, depth + 1):
                return False
        return True
    return False


cdef inline bint is_number(object value) noexcept:
    return PyFloat_CheckExact(value) or PyLong_CheckExact(value)


cdef inline bint is_tensor(object value) noexcept:
    return (<PyObject *>value).ob_type == tensor_class or isinstance(value, Tensor)


cdef tuple shape_of(cnp.ndarray array):
    cdef int d, rank = cnp.PyArray_NDIM(array)
    cdef tuple shape = PyTuple_New(rank)
    for d in range(rank):
        size = PyLong_FromSsize_t(cnp.PyArray_DIM(array, d))
        Py_INCREF(size)  # which the tuple steals
        PyTuple_SET_ITEM(shape, d, size)
    return shape


cdef object moved(object result, object element):
    """A tensor around storage that NumPy made, or tensors around parts of it; None where the parts are no views."""
    cdef list parts
    if cnp.PyArray_CheckExact(result):
        return tensor_of(<cnp.ndarray>result, element, shape_of(<cnp.ndarray>result))
    if cnp.PyArray_CheckScalar(result):
        return tensor_of(PyArray_FromScalar(result, NULL), element, NOTHING)
    parts = []
    for part in result:
        if not cnp.PyArray_CheckExact(part):
            return None  # a scalar, which is no view
        parts.append(tensor_of(<cnp.ndarray>part, element, shape_of(<cnp.ndarray>part)))
    return parts if PyList_CheckExact(result) else tuple(parts)


cdef object storage_of(object value, object element):
    """The memory of a tensor of the type, or of any plain type where that is None; None for anything else."""
    if not is_tensor(value) or (<Tensor>value)._data is None:
        return None
    if element is None:
        return (<Tensor>value)._data if is_plain((<Tensor>value).type) else None
    return (<Tensor>value)._data if (<Tensor>value).type is element else None


cdef list storages_of(object value, PyObject **element, int depth):
    """The memory of the tensors of nested lists, which are of one plain type; None for anything else."""
    cdef list parts = []
    if not PyList_CheckExact(value) or not len(<list>value):
        return None
    for item in <list>value:
        if depth > 1 and PyList_CheckExact(item):
            data = storages_of(item, element, depth - 1)
        else:
            data = storage_of(item, <object>element[0])
            element[0] = <PyObject *>(<Tensor>item).type if data is not None else element[0]
        if data is None:
            return None
        parts.append(data)
    return parts


cdef object by_routine(Route route, tuple args, dict kwargs):
    """What NumPy makes of storage, or NOT_DONE: then the rule says what else the arguments mean, or what is wrong."""
    cdef PyObject *given[MOST_BY_POSITION]
    cdef Py_ssize_t i, count = len(args)
    cdef object element = None, value, data, first = None, second = None, third = None, routine = route.routine
    cdef PyObject *found
    if not route.least <= count <= route.most:
        return NOT_DONE
    if kwargs is not None and len(kwargs):
        for name, value in kwargs.items():
            if name not in route.names or not is_said(value):
                return NOT_DONE
    for i in range(count):
        value = <object>PyTuple_GET_ITEM(args, i)
        if not route.tensors >> i & 1:
            if not is_said(value):
                return NOT_DONE
            given[i] = <PyObject *>value
            continue
        if not route.lists:
            if is_number(value) and route.numbers is not None and element is not None:
                try:
                    other, data = route.numbers(element, value)
                except Exception:
                    return NOT_DONE
                routine = routine if other is None else other
            else:
                data = storage_of(value, element)
                if data is None:
                    return NOT_DONE
                element = (<Tensor>value).type
            first, second, third = data, first, second  # held: another thread may give a tensor other data meanwhile
        else:
            found = <PyObject *>element
            first = data = storages_of(list(value) if route.lists == 1 and PyTuple_CheckExact(value) else value, &found,
                                       route.lists)
            if data is None:
                return NOT_DONE
            element = <object>found
        given[i] = <PyObject *>data
    try:
        result = PyObject_VectorcallDict(routine, given, count, <PyObject *>kwargs if kwargs else NULL)
    except Exception:
        return NOT_DONE
    if not route.is_moved:
        return result
    result = moved(result, element)
    return NOT_DONE if result is None else result


def call_rule(function, tuple args not None, dict kwargs):
    cdef Route route = <Route>ROUTES.get(function)
    if route is None:
        return LONG_WAY(function, args, kwargs or {})
    if route.routine is not None:
        result = by_routine(route, args, kwargs)
        if result is not NOT_DONE:
            return result
    try:
        if route.plans:
            result = by_plan(route, args, kwargs)
            if result is not NOT_DONE:
                return result
        result = PyObject_Call(route.rule, args, kwargs)
        return run_planned(route, args, kwargs, <Planned>result) if type(result) is Planned else result
    except Exception as error:
        in_words(function, error)
        raise
