/* The Python module: every entry of the table as a function of arrays and numbers.
 *
 * Arrays come by the buffer protocol, so that neither NumPy nor Python's headers are needed to build this. The GIL is
 * released while an entry runs. A Pack holds arrays and numbers that were taken apart once; its items stand in a call
 * where it stands. */

#include <stdlib.h>
#include <string.h>

#include "isas.h"
#include "python.h"
#include "value.h"

#define MOST_VALUES 64

/* ---- signatures */

typedef struct {
    char kind, ndim, writable, optional, strides; /* strides: 'c' contiguous, 'r' rows contiguous, 's' any */
    char types[12];
} parameter;

typedef struct {
    const kn_entry *own; /* of a table that was added; NULL for the core's, whose instruction set may change */
    int list, index;
    int n;
    parameter parameters[MOST_VALUES];
} signature;

static const kn_table *tables[KN_MOST_ISAS]; /* those that this machine runs, the best last */
static int n_tables;
static const kn_table *current;

/* One item of a signature: i, u, f, or [types]axes and flags. 0 where there is none or it is wrong. */
static const char *read_parameter(const char *text, parameter *to)
{
    memset(to, 0, sizeof *to);
    while (*text == ' ') {
        text++;
    }
    if (*text == 'i' || *text == 'u' || *text == 'f') {
        to->kind = *text++;
        return text;
    }
    if (*text++ != '[') {
        return NULL;
    }
    to->kind = 'a';
    to->strides = 'c';
    for (int n = 0; *text && *text != ']'; n++) {
        if (n == (int)sizeof to->types - 1) {
            return NULL;
        }
        to->types[n] = *text++;
    }
    if (*text++ != ']' || *text < '0' || *text > '0' + KN_AXES) {
        return NULL;
    }
    to->ndim = (char)(*text++ - '0');
    for (; *text && *text != ' '; text++) {
        if (*text == 'w') {
            to->writable = 1;
        } else if (*text == 'o') {
            to->optional = 1;
        } else if (*text == 'r' || *text == 's') {
            to->strides = *text;
        } else {
            return NULL;
        }
    }
    return text;
}

static int read_signature(const kn_entry *entry, signature *to)
{
    const char *text = entry->signature;
    for (to->n = 0; *text; to->n++) {
        if (to->n == MOST_VALUES || !(text = read_parameter(text, &to->parameters[to->n]))) {
            PyErr_Format(PyExc_ValueError, "%s has the signature '%s', which cannot be read", entry->name,
                         entry->signature);
            return -1;
        }
    }
    return 0;
}

/* ---- values */

/* The type of a buffer's items in one letter whatever the platform calls it, or 0. */
static char type_of(const Py_buffer *view)
{
    const char *format = view->format ? view->format : "B";
    if (*format == '@' || *format == '=') {
        format++;
    }
    if (!format[0] || format[1]) {
        return 0;
    }
    const int eights = view->itemsize == 8, fours = view->itemsize == 4;
    switch (*format) {
    case 'l':
    case 'n':
        return eights ? 'q' : fours ? 'i' : 0;
    case 'L':
    case 'N':
        return eights ? 'Q' : fours ? 'I' : 0;
    case '?':
    case 'B':
    case 'b':
    case 'H':
    case 'h':
    case 'I':
    case 'i':
    case 'Q':
    case 'q':
    case 'f':
    case 'd':
        return *format;
    default:
        return 0;
    }
}

/* Take an array apart; its buffer is held in `view`. NumPy's numbers are buffers too, of no axes: 1 for those. */
static int read_array(PyObject *from, kn_value *to, Py_buffer *view)
{
    if (PyObject_GetBuffer(from, view, PyBUF_STRIDED_WITH_FORMAT) < 0) {
        return -1;
    }
    if (view->ndim == 0) {
        PyBuffer_Release(view);
        return 1;
    }
    to->kind = 'a';
    to->type = type_of(view);
    if (!to->type || view->ndim > KN_AXES) {
        PyErr_Format(PyExc_TypeError, "an array has %d axes and items '%s': expected %d axes at most, of numbers",
                     view->ndim, view->format ? view->format : "B", KN_AXES);
        PyBuffer_Release(view);
        return -1;
    }
    to->readonly = (char)view->readonly;
    to->ndim = (char)view->ndim;
    to->itemsize = (int32_t)view->itemsize;
    to->data = view->buf;
    int64_t askew = (int64_t)((uintptr_t)view->buf % (uintptr_t)view->itemsize);
    for (int axis = 0; axis < view->ndim; axis++) {
        to->shape[axis] = view->shape[axis];
        to->strides[axis] = view->strides[axis];
        askew |= view->shape[axis] > 1 ? view->strides[axis] % view->itemsize : 0;
    }
    if (askew) {
        PyErr_Format(PyExc_TypeError, "an array of '%s' is not aligned to its items", view->format);
        PyBuffer_Release(view);
        return -1;
    }
    return 0;
}

static int read_number(PyObject *from, kn_value *to)
{
    if (from->ob_type == &PyFloat_Type || !PyIndex_Check(from)) {
        to->kind = 'f';
        to->number = PyFloat_AsDouble(from);
        return to->number == -1.0 && PyErr_Occurred() ? -1 : 0;
    } else {
        PyObject *number = PyNumber_Index(from);
        if (!number) {
            return -1;
        }
        to->kind = 'i';
        to->integer = PyLong_AsLongLong(number);
        if (to->integer == -1 && PyErr_Occurred()) { /* 63 bits do not hold it; 64 may, of a number from 0 on */
            PyErr_Clear();
            to->integer = (int64_t)PyLong_AsUnsignedLongLong(number);
            to->kind = 'u';
        }
        to->number = to->kind == 'i' ? (double)to->integer : (double)(uint64_t)to->integer;
        Py_DecRef(number);
        return to->integer == -1 && PyErr_Occurred() ? -1 : 0;
    }
}

static int contiguous(const kn_value *value, int first_axis)
{
    int64_t step = value->itemsize;
    for (int axis = 0; axis < value->ndim; axis++) {
        if (value->shape[axis] == 0) {
            return 1;
        }
    }
    for (int axis = value->ndim - 1; axis >= first_axis; axis--) {
        if (value->shape[axis] != 1 && value->strides[axis] != step) {
            return 0;
        }
        step *= value->shape[axis];
    }
    return 1;
}

/* Whether a value is what the entry wants; else an exception is set. */
static int fits(const kn_entry *entry, int number, const parameter *wanted, const kn_value *value)
{
    if (wanted->kind != 'a') {
        const int fit = wanted->kind == 'f'   ? value->kind != 'a' && value->kind != 'n'
                        : wanted->kind == 'i' ? value->kind == 'i'
                                              : value->kind == 'u' || (value->kind == 'i' && value->integer >= 0);
        if (!fit) {
            PyErr_Format(PyExc_TypeError, "%s: value %d is not %s", entry->name, number,
                         wanted->kind == 'f'   ? "a number"
                         : wanted->kind == 'i' ? "an integer of 64 bits"
                                               : "an integer from 0 to 2^64 - 1");
        }
        return fit;
    }
    if (value->kind == 'n' && wanted->optional) {
        return 1;
    }
    if (value->kind != 'a' || value->ndim != wanted->ndim || !strchr(wanted->types, value->type)) {
        PyErr_Format(PyExc_TypeError, "%s: value %d is not an array of %d axes with items [%s]", entry->name, number,
                     wanted->ndim, wanted->types);
        return 0;
    }
    if (wanted->writable && value->readonly) {
        PyErr_Format(PyExc_TypeError, "%s: value %d is read-only", entry->name, number);
        return 0;
    }
    if (wanted->strides != 's' && !contiguous(value, wanted->strides == 'r' ? wanted->ndim - 1 : 0)) {
        PyErr_Format(PyExc_TypeError, "%s: value %d is not contiguous", entry->name, number);
        return 0;
    }
    return 1;
}

/* ---- packs */

typedef struct {
    PyObject base;
    PyObject *items; /* the tuple that it was made of */
    int n, n_views;
    kn_value *values;
    Py_buffer *views;
} pack;

static PyTypeObject *pack_type;
static PyObject *pack_function;

static void free_pack(PyObject *self)
{
    pack *own = (pack *)self;
    for (int i = 0; i < own->n_views; i++) {
        PyBuffer_Release(&own->views[i]);
    }
    PyMem_Free(own->values);
    PyMem_Free(own->views);
    if (own->items) {
        Py_DecRef(own->items);
    }
    PyObject_Free(self);
    Py_DecRef((PyObject *)pack_type);
}

/* Take arguments apart. Returns the number of values, -1 where an exception is set; `views` are to be released. */
static int read_values(PyObject *const *arguments, Py_ssize_t n_arguments, kn_value *values, Py_buffer *views,
                       int *n_views)
{
    int n = 0;
    *n_views = 0;
    for (Py_ssize_t i = 0; i < n_arguments; i++) {
        PyObject *one = arguments[i];
        const int packed = one->ob_type == pack_type;
        if (n + (packed ? ((pack *)one)->n : 1) > MOST_VALUES) {
            PyErr_Format(PyExc_TypeError, "more than %d values", MOST_VALUES);
            return -1;
        }
        if (packed) {
            memcpy(values + n, ((pack *)one)->values, sizeof *values * (size_t)((pack *)one)->n);
            n += ((pack *)one)->n;
            continue;
        }
        kn_value *value = &values[n++];
        int number = 1;
        memset(value, 0, sizeof *value);
        if (one == &_Py_NoneStruct) {
            value->kind = 'n';
            continue;
        }
        if (one->ob_type != &PyFloat_Type && one->ob_type != &PyLong_Type && PyObject_CheckBuffer(one)) {
            number = read_array(one, value, &views[*n_views]);
            *n_views += number == 0;
        }
        if (number < 0 || (number && read_number(one, value) < 0)) {
            return -1;
        }
    }
    return n;
}

static PyObject *make_pack(PyObject *module, PyObject *const *arguments, Py_ssize_t n_arguments)
{
    kn_value values[MOST_VALUES];
    Py_buffer views[MOST_VALUES];
    int n_views;
    (void)module;
    const int n = read_values(arguments, n_arguments, values, views, &n_views);
    pack *own = n < 0 ? NULL : (pack *)PyType_GenericAlloc(pack_type, 0);
    if (own) {
        own->items = PyTuple_New(n_arguments);
        own->values = PyMem_Malloc(sizeof *values * (size_t)n + 1);
        own->views = PyMem_Malloc(sizeof *views * (size_t)n_views + 1);
        if (own->items && own->values && own->views) {
            for (Py_ssize_t i = 0; i < n_arguments; i++) {
                Py_IncRef(arguments[i]);
                PyTuple_SetItem(own->items, i, arguments[i]);
            }
            memcpy(own->values, values, sizeof *values * (size_t)n);
            memcpy(own->views, views, sizeof *views * (size_t)n_views);
            own->n = n;
            own->n_views = n_views;
            return (PyObject *)own;
        }
        Py_DecRef((PyObject *)own);
        PyErr_NoMemory();
    }
    while (n_views > 0) {
        PyBuffer_Release(&views[--n_views]);
    }
    return NULL;
}

/* A pack is copied and pickled as a call of `pack` with its items. */
static PyObject *reduce_pack(PyObject *self, PyObject *unused)
{
    PyObject *pair = PyTuple_New(2);
    (void)unused;
    if (!pair) {
        return NULL;
    }
    Py_IncRef(pack_function);
    PyTuple_SetItem(pair, 0, pack_function);
    Py_IncRef(((pack *)self)->items);
    PyTuple_SetItem(pair, 1, ((pack *)self)->items);
    return pair;
}

static PyMethodDef pack_methods[] = {
    {"__reduce__", reduce_pack, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot pack_slots[] = {
    {Py_tp_dealloc, (void *)free_pack},
    {Py_tp_methods, pack_methods},
    {Py_tp_doc, "Arrays and numbers that were taken apart once. In a call, its items stand where it stands."},
    {0, NULL},
};

static PyType_Spec pack_spec = {
    .name = "kenyon.core._core.Pack",
    .basicsize = sizeof(pack),
    .flags = Py_TPFLAGS_DEFAULT_NOT_MADE_BY_CALLS,
    .slots = pack_slots,
};

/* ---- calls */

static PyObject *call_entry(PyObject *self, PyObject *const *arguments, Py_ssize_t n_arguments)
{
    const signature *wanted = PyLong_AsVoidPtr(self);
    const kn_entry *entry = wanted->own ? wanted->own : &current->lists[wanted->list][wanted->index];
    kn_value values[MOST_VALUES];
    Py_buffer views[MOST_VALUES];
    int n_views, fit = 0;
    const int n = read_values(arguments, n_arguments, values, views, &n_views);
    if (n >= 0 && n != wanted->n) {
        PyErr_Format(PyExc_TypeError, "%s takes %d values: got %d", entry->name, wanted->n, n);
    } else if (n >= 0) {
        fit = 1;
        for (int i = 0; i < n && fit; i++) {
            fit = fits(entry, i, &wanted->parameters[i], &values[i]);
        }
    }
    int64_t result = 0;
    if (fit) {
        void *thread = PyEval_SaveThread();
        result = entry->function(values);
        PyEval_RestoreThread(thread);
    }
    while (n_views > 0) {
        PyBuffer_Release(&views[--n_views]);
    }
    return fit ? PyLong_FromLongLong(result) : NULL;
}

/* ---- instruction sets */

static PyObject *isa(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(current->isa);
}

static PyObject *isas(PyObject *module, PyObject *unused)
{
    PyObject *names = PyTuple_New(n_tables);
    (void)module;
    (void)unused;
    for (int i = 0; names && i < n_tables; i++) {
        PyTuple_SetItem(names, i, PyUnicode_FromString(tables[i]->isa));
    }
    return names;
}

static PyObject *use_isa(PyObject *module, PyObject *name)
{
    const char *wanted = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!wanted) {
        return NULL;
    }
    for (int i = 0; i < n_tables; i++) {
        if (!strcmp(tables[i]->isa, wanted)) {
            current = tables[i];
            return isa(module, NULL);
        }
    }
    return PyErr_Format(PyExc_ValueError, "the instruction set is '%s': expected one that this machine has", wanted);
}

/* ---- the module */

/* The entries of a list as functions, added to a dictionary; `own` where the instruction set does not change. */
static int add_list(const kn_entry *entries, int list, int own, PyObject *to)
{
    int n = 0;
    while (entries[n].name) {
        n++;
    }
    PyMethodDef *made = calloc((size_t)n + 1, sizeof *made); /* these live as long as the process */
    signature *signatures = calloc((size_t)n + 1, sizeof *signatures);
    if (!made || !signatures) {
        PyErr_NoMemory();
        return -1;
    }
    for (int i = 0; i < n; i++) {
        made[i].ml_name = entries[i].name;
        made[i].ml_meth = (PyCFunction)(void *)call_entry;
        made[i].ml_flags = METH_FASTCALL;
        made[i].ml_doc = entries[i].signature;
        signatures[i].own = own ? &entries[i] : NULL;
        signatures[i].list = list;
        signatures[i].index = i;
        PyObject *self = PyLong_FromVoidPtr(&signatures[i]);
        PyObject *function = self ? PyCFunction_NewEx(&made[i], self, NULL) : NULL;
        if (!function || read_signature(&entries[i], &signatures[i]) < 0 ||
            PyDict_SetItemString(to, entries[i].name, function) < 0) {
            return -1;
        }
        Py_DecRef(self);
        Py_DecRef(function);
    }
    return 0;
}

static int add_entries(const kn_table *table, int own, PyObject *to)
{
    for (int list = 0; list < KN_LISTS; list++) {
        if (table->lists[list] && add_list(table->lists[list], list, own, to) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *functions_at(PyObject *module, PyObject *address)
{
    const kn_table *table = PyLong_AsVoidPtr(address);
    PyObject *functions = table ? PyDict_New() : NULL;
    (void)module;
    if (functions && add_entries(table, 1, functions) < 0) {
        Py_DecRef(functions);
        return NULL;
    }
    return functions;
}

static PyMethodDef methods[] = {
    {"pack", (PyCFunction)(void *)make_pack, METH_FASTCALL, "Take arrays and numbers apart once, for many calls."},
    {"isa", isa, METH_NOARGS, "The instruction set in use."},
    {"isas", isas, METH_NOARGS, "The instruction sets that this machine has, the best last."},
    {"use_isa", use_isa, METH_O, "Use this instruction set from now on, in the whole process."},
    {"functions_at", functions_at, METH_O, "The functions of a table that another library has at this address."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {
    .ob_base = {1, NULL},
    .m_name = "kenyon.core._core",
    .m_doc = "The core's entries. See README.md beside it.",
    .m_size = -1,
    .m_methods = methods,
};

EXPORTED PyObject *PyInit__core(void);

EXPORTED PyObject *PyInit__core(void)
{
    PyObject *module = PyModule_Create2(&definition, PYTHON_STABLE_ABI);
    PyObject *type = module ? PyType_FromSpec(&pack_spec) : NULL;
    if (!type) {
        return NULL;
    }
    pack_type = (PyTypeObject *)type;
    n_tables = kn_isas_here(tables);
    current = tables[n_tables - 1];
    pack_function = PyObject_GetAttrString(module, "pack");
    if (!pack_function || PyModule_AddObjectRef(module, "Pack", type) < 0 || add_entries(current, 0, PyModule_GetDict(module)) < 0) {
        Py_DecRef(module);
        return NULL;
    }
    return module;
}
