"""Vector operations that LLVM will not find by itself, written as LLVM vectors.

They are not tied to an instruction set: LLVM lowers them to whatever the processor has. All of them
take NumPy arrays whose last axis is contiguous and check nothing.
"""

from contextlib import contextmanager
from threading import RLock

from llvmlite import ir
from numba import carray, config
from numba.core import cgutils, types
from numba.extending import intrinsic, register_jitable
from numba.np.numpy_support import from_dtype

from kenyon._kernels import LANES

_I64 = ir.IntType(64)
_SWITCH = RLock()
"""Held while a switch of Numba's is turned, which all threads share."""


def _row(context, builder, array_type, array, index, lanes):
    """Pointer to `array[index, 0:lanes]` as one vector, and the vector's type."""
    view = context.make_array(array_type)(context, builder, array)
    stride = cgutils.unpack_tuple(builder, view.strides)[0]
    start = builder.ptrtoint(view.data, _I64)
    vector = ir.VectorType(context.get_data_type(array_type.dtype), lanes)
    pointer = builder.inttoptr(builder.add(start, builder.mul(index, stride)), vector.as_pointer())
    return pointer, vector


def _load(builder, pointer, itemsize):
    value = builder.load(pointer)
    value.align = itemsize  # rows are aligned to their items only
    return value


def _itemsize(array_type):
    return array_type.dtype.bitwidth // 8


def _count_loop(builder, count, start_value, body):
    """`value = body(i, value)` for i in 0 .. count - 1; returns the last value."""
    before = builder.block
    head = builder.append_basic_block("head")
    step = builder.append_basic_block("step")
    done = builder.append_basic_block("done")
    builder.branch(head)
    builder.position_at_end(head)
    i = builder.phi(_I64)
    value = builder.phi(start_value.type)
    i.add_incoming(ir.Constant(_I64, 0), before)
    value.add_incoming(start_value, before)
    builder.cbranch(builder.icmp_signed("<", i, count), step, done)
    builder.position_at_end(step)
    new_value = body(i, value)
    last = builder.block
    i.add_incoming(builder.add(i, ir.Constant(_I64, 1)), last)
    value.add_incoming(new_value, last)
    builder.branch(head)
    builder.position_at_end(done)
    return value


def _item(context, builder, array_type, array, row, column):
    """`array[row, column]` of a two-dimensional array."""
    view = context.make_array(array_type)(context, builder, array)
    stride = cgutils.unpack_tuple(builder, view.strides)[0]
    start = builder.add(builder.ptrtoint(view.data, _I64), builder.mul(row, stride))
    pointer = builder.inttoptr(start, context.get_data_type(array_type.dtype).as_pointer())
    return builder.load(builder.gep(pointer, [column]))


@intrinsic
def sum_rows(typing, x, inputs, unit, n_excitatory, out, row):
    """`out[row, :]` = sum of `x[inputs[unit, k], :]` over k < n_excitatory less that over the others, a lane a sample.

    Each sum runs over k in order and stays in registers; `x` has LANES columns and may be narrower than `out`.
    `lanes_of_sums` has the order in which the columns come out.
    """
    signature = types.void(x, inputs, types.int64, types.int64, out, types.int64)

    def codegen(context, builder, sig, args):
        x_type, inputs_type, _, _, out_type, _ = sig.args
        x_array, inputs_array, unit, n_excitatory, out_array, row = args
        target, vector = _row(context, builder, out_type, out_array, row, LANES)
        x_start = builder.ptrtoint(context.make_array(x_type)(context, builder, x_array).data, _I64)
        n_connections = cgutils.unpack_tuple(
            builder, context.make_array(inputs_type)(context, builder, inputs_array).shape
        )[1]
        add_up = _sum_byte_pairs if _in_pairs(x_type.dtype, out_type.dtype) else _sum_lanes

        def total(first, last):
            def source(i, vector):
                k = _item(context, builder, inputs_type, inputs_array, unit, builder.add(i, first))
                # a constant row size, since a multiplication an input would cost as much as the additions
                offset = builder.mul(builder.zext(k, _I64), ir.Constant(_I64, LANES * _itemsize(x_type)))
                return _load(builder, builder.inttoptr(builder.add(x_start, offset), vector.as_pointer()), 1)

            return add_up(context, builder, builder.sub(last, first), source, x_type.dtype, vector)

        subtract = builder.fsub if isinstance(out_type.dtype, types.Float) else builder.sub
        sums = subtract(total(ir.Constant(_I64, 0), n_excitatory), total(n_excitatory, n_connections))
        builder.store(sums, target).align = _itemsize(out_type)
        return context.get_dummy_value()

    return signature, codegen


def _sum_lanes(context, builder, count, source, dtype, vector):
    real = isinstance(dtype, types.Float)
    x_vector = ir.VectorType(context.get_data_type(dtype), LANES)

    def body(i, total):
        value = source(i, x_vector)
        if real:
            return builder.fadd(total, value)
        return builder.add(total, builder.zext(value, vector))

    return _count_loop(builder, count, ir.Constant(vector, [0.0 if real else 0] * LANES), body)


def _sum_byte_pairs(context, builder, count, source, dtype, vector):
    """Bytes in 16 bits, two to a word: fewer instructions than widening each.

    With w = low + 256 high, the sums of w and of high are kept, modulo 2^16; sum of low = sum of w - 256 sum of high,
    exact while it is below 2^16.
    """
    words = ir.VectorType(vector.element, LANES // 2)
    eight = ir.Constant(words, [8] * (LANES // 2))

    def body(i, sums):
        word = source(i, words)
        all_, high = (builder.extract_value(sums, part) for part in (0, 1))
        sums = builder.insert_value(sums, builder.add(all_, word), 0)
        return builder.insert_value(sums, builder.add(high, builder.lshr(word, eight)), 1)

    zero = ir.Constant(words, [0] * (LANES // 2))
    sums = _count_loop(builder, count, ir.Constant.literal_struct([zero, zero]), body)
    all_, high = (builder.extract_value(sums, part) for part in (0, 1))
    low = builder.sub(all_, builder.shl(high, eight))
    return builder.shuffle_vector(low, high, ir.Constant(ir.VectorType(ir.IntType(32), LANES), list(range(LANES))))


def _in_pairs(x_dtype, out_dtype):
    return x_dtype == types.uint8 and out_dtype == types.int16


def lanes_of_sums(x_dtype, out_dtype):
    """The column of `x` that each lane of `sum_rows` belongs to."""
    if not _in_pairs(from_dtype(x_dtype), from_dtype(out_dtype)):
        return list(range(LANES))
    return [*range(0, LANES, 2), *range(1, LANES, 2)]


@intrinsic
def add_moments(typing, x, row, moments, part):
    """`moments[part] += x[row]` and `moments[parts / 2 + part] += x[row] ** 2`, in the type of `moments`."""
    signature = types.void(x, types.int64, moments, types.int64)

    def codegen(context, builder, sig, args):
        x_type, _, sum_type, _ = sig.args
        x_array, row, sums, part = args
        source, _ = _row(context, builder, x_type, x_array, row, LANES)
        wide = ir.VectorType(context.get_data_type(sum_type.dtype), LANES)
        value = _load(builder, source, _itemsize(x_type))
        if isinstance(x_type.dtype, types.Float):
            value = builder.fpext(value, wide)
        elif isinstance(sum_type.dtype, types.Float):
            value = builder.sitofp(value, wide)
        else:
            value = builder.sext(value, wide)
        real = isinstance(sum_type.dtype, types.Float)
        add, multiply = (builder.fadd, builder.fmul) if real else (builder.add, builder.mul)
        n_rows = cgutils.unpack_tuple(builder, context.make_array(sum_type)(context, builder, sums).shape)[0]
        half = builder.lshr(n_rows, ir.Constant(_I64, 1))
        for index, term in ((part, value), (builder.add(half, part), multiply(value, value))):
            target, _ = _row(context, builder, sum_type, sums, index, LANES)
            total = add(_load(builder, target, _itemsize(sum_type)), term)
            builder.store(total, target).align = _itemsize(sum_type)
        return context.get_dummy_value()

    return signature, codegen


SQUARE_LANES = tuple(8 * group + 4 * half + lane for half in range(2) for group in range(4) for lane in range(4))
"""Which lane each sum of `add_squares` belongs to."""


@intrinsic
def add_squares(typing, x, row, sums):
    """`sums[0] += x[row] ** 2 + x[row + 1] ** 2` of 16-bit numbers in 32 bits.

    The sums come in the order of SQUARE_LANES: the lower and the upper halves of the squares, which a processor makes
    apart, are then put together without crossing the eighths of a row.
    """
    signature = types.void(x, types.int64, sums)

    def codegen(context, builder, sig, args):
        x_type, _, sum_type = sig.args
        x_array, row, sums = args
        whole, wide = (ir.VectorType(ir.IntType(bits), LANES) for bits in (16, 32))
        half = ir.VectorType(ir.IntType(32), LANES // 2)
        sixteen = ir.Constant(wide, [16] * LANES)
        squares = []
        for number in (row, builder.add(row, ir.Constant(_I64, 1))):
            pointer, _ = _row(context, builder, x_type, x_array, number, LANES)
            value = _load(builder, pointer, _itemsize(x_type))
            extended = builder.sext(value, wide)
            lower = builder.mul(value, value)
            upper = builder.trunc(builder.lshr(builder.mul(extended, extended), sixteen), whole)
            squares.append((lower, upper))
        start, _ = _row(context, builder, sum_type, sums, ir.Constant(_I64, 0), LANES // 2)
        for side in range(2):
            lanes = SQUARE_LANES[side * LANES // 2 : (side + 1) * LANES // 2]
            mixed = ir.Constant(wide, [place for lane in lanes for place in (lane, LANES + lane)])
            both = [builder.bitcast(builder.shuffle_vector(*parts, mixed), half) for parts in squares]
            target = builder.gep(start, [ir.Constant(_I64, side)])
            total = builder.add(_load(builder, target, 4), builder.add(*both))
            builder.store(total, target).align = 4
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def greater_mask(typing, x, row, threshold):
    """Bit b of the result is set where `x[row, b] > threshold[0, b]`."""
    signature = types.uint32(x, types.int64, threshold)

    def codegen(context, builder, sig, args):
        x_type, _, threshold_type = sig.args
        source, _ = _row(context, builder, x_type, args[0], args[1], LANES)
        limit, _ = _row(context, builder, threshold_type, args[2], ir.Constant(_I64, 0), LANES)
        left = _load(builder, source, _itemsize(x_type))
        right = _load(builder, limit, _itemsize(threshold_type))
        compare = builder.fcmp_ordered if isinstance(x_type.dtype, types.Float) else builder.icmp_signed
        return builder.bitcast(compare(">", left, right), ir.IntType(LANES))

    return signature, codegen


@intrinsic
def lowest_bit(typing, mask):
    """Position of the lowest set bit of a mask that is not zero."""

    def codegen(context, builder, sig, args):
        return builder.zext(builder.cttz(args[0], ir.Constant(ir.IntType(1), 1)), _I64)

    return types.int64(types.uint32), codegen


def _weighted_rows(lanes):
    @intrinsic
    def weighted_rows(typing, weights, column, units, values, sample, count, out):
        """`out[0, c + l] = sum over a of values[sample, a] * weights[units[sample, a], c + l]`."""
        signature = types.void(weights, types.int64, units, values, types.int64, types.int64, out)

        def codegen(context, builder, sig, args):
            weights_type, _, units_type, values_type, _, _, out_type = sig.args
            weights_array, column, units_array, values_array, sample, count, out_array = args
            size = ir.Constant(_I64, _itemsize(weights_type))

            def at_column(array_type, array, index):
                start, vector = _row(context, builder, array_type, array, index, lanes)
                address = builder.add(builder.ptrtoint(start, _I64), builder.mul(column, size))
                return builder.inttoptr(address, vector.as_pointer()), vector

            target, vector = at_column(out_type, out_array, ir.Constant(_I64, 0))
            zero = ir.Constant(vector, [0.0] * lanes)

            def body(i, total):
                unit = builder.zext(_item(context, builder, units_type, units_array, sample, i), _I64)
                source, _ = at_column(weights_type, weights_array, unit)
                row = _load(builder, source, _itemsize(weights_type))
                value = _item(context, builder, values_type, values_array, sample, i)
                first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.IntType(32)(0))
                mask = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
                spread = builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), mask)
                return builder.fadd(total, builder.fmul(row, spread))

            total = _count_loop(builder, count, zero, body)
            builder.store(total, target).align = _itemsize(out_type)
            return context.get_dummy_value()

        return signature, codegen

    return weighted_rows


weighted_rows_8 = _weighted_rows(8)
weighted_rows_16 = _weighted_rows(16)


@intrinsic
def _stack_floats(typing):
    """Room for eight float32 on the stack, which no array argument can overlap."""

    def codegen(context, builder, sig, args):
        room = cgutils.alloca_once(builder, ir.ArrayType(ir.FloatType(), 8))
        return builder.bitcast(room, ir.FloatType().as_pointer())

    return types.CPointer(types.float32)(), codegen


@register_jitable(inline="always")
def eight_floats():
    """A float32 array of eight that the compiler may keep in a register."""
    return carray(_stack_floats(), (8,))


@contextmanager
def lanes_side_by_side():
    """Compile what is compiled inside with LLVM's superword vectoriser, which Numba leaves off."""
    with _SWITCH:
        before = config.SLP_VECTORIZE
        config.SLP_VECTORIZE = 1
        try:
            yield
        finally:
            config.SLP_VECTORIZE = before
