/* What the binding uses of Python's stable ABI (3.11 on), declared here so that a build needs no Python headers. */

#ifndef KENYON_PYTHON_H
#define KENYON_PYTHON_H

#include <stddef.h>
#include <stdint.h>

typedef intptr_t Py_ssize_t;
typedef struct kenyon_python_type PyTypeObject;
typedef struct {
    Py_ssize_t ob_refcnt;
    PyTypeObject *ob_type;
} PyObject;
struct kenyon_python_type {
    PyObject ob_base; /* and more, which nobody here looks at */
};

typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;

#define PyBUF_STRIDED_WITH_FORMAT 0x1c

typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);
typedef PyObject *(*PyCFunctionFast)(PyObject *, PyObject *const *, Py_ssize_t);

typedef struct {
    const char *ml_name;
    PyCFunction ml_meth;
    int ml_flags;
    const char *ml_doc;
} PyMethodDef;

#define METH_NOARGS 0x0004
#define METH_O 0x0008
#define METH_FASTCALL 0x0080

typedef struct {
    PyObject ob_base;
    PyObject *(*m_init)(void);
    Py_ssize_t m_index;
    PyObject *m_copy;
    const char *m_name, *m_doc;
    Py_ssize_t m_size;
    PyMethodDef *m_methods;
    void *m_slots, *m_traverse, *m_clear, *m_free;
} PyModuleDef;

#define PYTHON_STABLE_ABI 3

typedef struct {
    int slot;
    void *pfunc;
} PyType_Slot;

typedef struct {
    const char *name;
    int basicsize, itemsize;
    unsigned int flags;
    PyType_Slot *slots;
} PyType_Spec;

#define Py_tp_dealloc 52
#define Py_tp_doc 56
#define Py_tp_methods 64
#define Py_TPFLAGS_DEFAULT_NOT_MADE_BY_CALLS ((1u << 18) | (1u << 7))

#if defined(_WIN32)
#define PYTHON __declspec(dllimport)
#define EXPORTED __declspec(dllexport)
#else
#define PYTHON
#define EXPORTED __attribute__((visibility("default")))
#endif

PYTHON extern PyObject *PyExc_TypeError, *PyExc_ValueError;
PYTHON extern PyTypeObject PyFloat_Type, PyLong_Type;
PYTHON extern PyObject _Py_NoneStruct;

PYTHON int PyObject_GetBuffer(PyObject *, Py_buffer *, int);
PYTHON void PyBuffer_Release(Py_buffer *);
PYTHON int PyObject_CheckBuffer(PyObject *);
PYTHON PyObject *PyNumber_Index(PyObject *);
PYTHON int PyIndex_Check(PyObject *);
PYTHON long long PyLong_AsLongLong(PyObject *);
PYTHON unsigned long long PyLong_AsUnsignedLongLong(PyObject *);
PYTHON PyObject *PyLong_FromLongLong(long long);
PYTHON PyObject *PyLong_FromVoidPtr(void *);
PYTHON void *PyLong_AsVoidPtr(PyObject *);
PYTHON double PyFloat_AsDouble(PyObject *);
PYTHON PyObject *PyErr_Occurred(void);
PYTHON PyObject *PyErr_Format(PyObject *, const char *, ...);
PYTHON PyObject *PyErr_NoMemory(void);
PYTHON void PyErr_Clear(void);
PYTHON void *PyEval_SaveThread(void);
PYTHON void PyEval_RestoreThread(void *);
PYTHON PyObject *PyModule_Create2(PyModuleDef *, int);
PYTHON PyObject *PyModule_GetDict(PyObject *);
PYTHON PyObject *PyDict_New(void);
PYTHON int PyDict_SetItemString(PyObject *, const char *, PyObject *);
PYTHON int PyModule_AddObjectRef(PyObject *, const char *, PyObject *);
PYTHON PyObject *PyObject_GetAttrString(PyObject *, const char *);
PYTHON PyObject *PyCFunction_NewEx(PyMethodDef *, PyObject *, PyObject *);
PYTHON PyObject *PyType_FromSpec(PyType_Spec *);
PYTHON PyObject *PyType_GenericAlloc(PyTypeObject *, Py_ssize_t);
PYTHON PyObject *PyTuple_New(Py_ssize_t);
PYTHON int PyTuple_SetItem(PyObject *, Py_ssize_t, PyObject *);
PYTHON PyObject *PyUnicode_FromString(const char *);
PYTHON const char *PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *);
PYTHON void PyObject_Free(void *);
PYTHON void *PyMem_Malloc(size_t);
PYTHON void PyMem_Free(void *);
PYTHON void Py_IncRef(PyObject *);
PYTHON void Py_DecRef(PyObject *);

#endif
