"""What a unit answers at several places of a sample, pooled: vector operations for the layer of windows.

A unit's response at a place is the sum of its excitatory inputs less its inhibitory ones. The operations below add up
vectors that begin where the table `inputs` says, moved by an offset for each place. For blocks the
lanes of a vector are samples, for single samples they are neighbouring places.

Like those of `vector.py` they are written as LLVM vectors, take NumPy arrays whose last axis is contiguous and check
nothing.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from kenyon._kernels import LANES
from kenyon._kernels.vector import _count_loop, _item, _itemsize, _load, _row

_I32, _I64 = ir.IntType(32), ir.IntType(64)

PLACES = 16
"""Places of a single sample that are looked at side by side."""

TOGETHER = 4
"""Offsets for which an input's number is looked up once. `TOGETHER` responses of 16 bits must add up to less than 2^16
where they are summed."""


def _pooling(best):
    """The two operations, for the best response or for the sum of the positive ones."""

    @intrinsic
    def pool_block(typing, x, inputs, unit, n_excitatory, offsets, out):
        """`out[unit, :]`: the pooled response of a unit, a lane a sample.

        Args:
            x: (places, LANES), whole numbers of 16 or 32 bits or float32.
            inputs: (units, K), rows of `x`: the first `n_excitatory` are added in order, then the others subtracted.
            offsets: (1, n) int64, in rows of `x`; sums run over them in order.
            out: (units, LANES), int32 or float32.
        """
        signature = types.void(x, inputs, types.int64, types.int64, offsets, out)

        def codegen(context, builder, sig, args):
            x_type, inputs_type, _, _, offsets_type, out_type = sig.args
            x_array, inputs_array, unit, n_excitatory, offsets_array, out_array = args
            size = ir.Constant(_I64, LANES * _itemsize(x_type))
            zero, together = ir.Constant(_I64, 0), ir.Constant(_I64, TOGETHER)
            table = (inputs_type, inputs_array, unit, n_excitatory)
            unit_at = _Unit(context, builder, x_type, x_array, table, lambda k: builder.mul(k, size), LANES)
            target, vector = _row(context, builder, out_type, out_array, unit, LANES)
            n_offsets = _shape(context, builder, offsets_type, offsets_array)[1]

            def several(first, number):
                def body(i, total):
                    begin = builder.add(first, builder.mul(i, ir.Constant(_I64, number)))
                    numbers = [builder.add(begin, ir.Constant(_I64, n)) for n in range(number)]
                    offsets = [_item(context, builder, offsets_type, offsets_array, zero, n) for n in numbers]
                    responses = unit_at.responses([builder.mul(offset, size) for offset in offsets])
                    return _pool(builder, total, responses, best)

                return body

            n_whole = builder.udiv(n_offsets, together)
            whole = builder.mul(n_whole, together)
            begin = _neutral(unit_at.vector if best else vector, best)
            total = _count_loop(builder, n_whole, begin, several(zero, TOGETHER))
            total = _count_loop(builder, builder.sub(n_offsets, whole), total, several(whole, 1))
            builder.store(_widened(builder, total, vector), target).align = _itemsize(out_type)
            return context.get_dummy_value()

        return signature, codegen

    @intrinsic
    def pool_one(typing, x, inputs, unit, n_excitatory, offsets, lanes, out):
        """Pool the response of a unit to one sample into `out[unit]`, a lane a place.

        Args:
            x: (items,), whole numbers of 8, 16 or 32 bits or float32; bytes are summed in 16 bits.
            inputs: (units, K), items of `x` at which the inputs begin, in the order of `pool_block`.
            offsets: tuple of int64, in items of `x`: where PLACES places begin.
            lanes: tuple of int64, how many of those places there are. Sums run over them in order, offset by offset.
            out: (units,) int32 or float32.
        """
        signature = types.void(x, inputs, types.int64, types.int64, offsets, lanes, out)

        def codegen(context, builder, sig, args):
            x_type, inputs_type, _, _, _, _, out_type = sig.args
            x_array, inputs_array, unit, n_excitatory, offsets, lanes, out_array = args
            size = ir.Constant(_I64, _itemsize(x_type))
            table = (inputs_type, inputs_array, unit, n_excitatory)
            unit_at = _Unit(context, builder, x_type, x_array, table, lambda k: builder.mul(k, size), PLACES)
            responses = unit_at.responses(
                [builder.mul(offset, size) for offset in cgutils.unpack_tuple(builder, offsets)]
            )
            neutral = _neutral(unit_at.vector, best)
            numbers = ir.Constant(ir.VectorType(_I32, PLACES), list(range(PLACES)))
            there = [
                builder.icmp_signed("<", numbers, _spread(builder, builder.trunc(count, _I32), PLACES))
                for count in cgutils.unpack_tuple(builder, lanes)
            ]
            responses = [
                builder.select(mask, response, neutral) for mask, response in zip(there, responses, strict=True)
            ]
            place = builder.gep(context.make_array(out_type)(context, builder, out_array).data, [unit])
            total = builder.load(place)
            if best or not _real(unit_at.vector):
                vector = ir.VectorType(total.type, PLACES)
                begin = _neutral(unit_at.vector if best else vector, best)
                pooled = _pool(builder, begin, responses, best)
                total = _join(builder, total, _widened(builder, _across(builder, pooled, best), total.type), best)
            else:
                for response in responses:
                    total = _across_in_order(builder, total, _larger(builder, response, neutral))
            builder.store(total, place)
            return context.get_dummy_value()

        return signature, codegen

    return pool_block, pool_one


class _Unit:
    """One unit and the samples it looks at, while code for it is generated.

    Args:
        table: (type and array of inputs, unit, n_excitatory).
        place: from an input's number to where it begins, in bytes.
        lanes: of a vector.
    """

    def __init__(self, context, builder, x_type, x_array, table, place, lanes):
        self.context, self.builder, self.table, self.place = context, builder, table, place
        self.start = builder.ptrtoint(context.make_array(x_type)(context, builder, x_array).data, _I64)
        self.itemsize = _itemsize(x_type)
        self.stored = ir.VectorType(context.get_data_type(x_type.dtype), lanes)
        self.vector = ir.VectorType(ir.IntType(16), lanes) if self.itemsize == 1 else self.stored
        self.n_connections = _shape(context, builder, *table[:2])[1]

    def responses(self, offsets):
        """The responses at several offsets, in bytes: one vector each."""
        builder, n_excitatory = self.builder, self.table[3]
        starts = [builder.add(self.start, offset) for offset in offsets]
        add, subtract = (builder.fadd, builder.fsub) if _real(self.vector) else (builder.add, builder.sub)

        def add_up(number, totals, join):
            at = self.place(number)
            for n, start in enumerate(starts):
                pointer = builder.inttoptr(builder.add(start, at), self.stored.as_pointer())
                value = _load(builder, pointer, self.itemsize)
                value = builder.zext(value, self.vector) if self.itemsize == 1 else value
                totals = builder.insert_value(totals, join(builder.extract_value(totals, n), value), n)
            return totals

        def run(first, last, totals, join):
            def one(i, totals):
                return add_up(self._number(builder.add(first, i)), totals, join)

            def four(i, totals):
                for number in self._four_numbers(builder.add(first, builder.shl(i, ir.Constant(_I64, 2)))):
                    totals = add_up(number, totals, join)
                return totals

            count = builder.sub(last, first)
            fours = builder.lshr(count, ir.Constant(_I64, 2))
            totals = _count_loop(builder, fours, totals, four)
            done = builder.shl(fours, ir.Constant(_I64, 2))
            return _count_loop(builder, builder.sub(count, done), totals, lambda i, t: one(builder.add(done, i), t))

        zeros = ir.Constant.literal_struct([_constant(self.vector, 0)] * len(starts))
        totals = run(ir.Constant(_I64, 0), n_excitatory, zeros, add)
        totals = run(n_excitatory, self.n_connections, totals, subtract)
        return [builder.extract_value(totals, number) for number in range(len(starts))]

    def _number(self, k):
        """The number of input k."""
        inputs_type, inputs_array, unit, _ = self.table
        return self.builder.zext(_item(self.context, self.builder, inputs_type, inputs_array, unit, k), _I64)

    def _four_numbers(self, k):
        """The numbers of the inputs k to k + 3; those of 16 bits are loaded as one word, which is quicker."""
        inputs_type, inputs_array, unit, _ = self.table
        builder = self.builder
        if _itemsize(inputs_type) > 2:
            return [self._number(builder.add(k, ir.Constant(_I64, n))) for n in range(4)]
        view = self.context.make_array(inputs_type)(self.context, builder, inputs_array)
        stride = cgutils.unpack_tuple(builder, view.strides)[0]
        start = builder.add(builder.ptrtoint(view.data, _I64), builder.mul(unit, stride))
        start = builder.add(start, builder.shl(k, ir.Constant(_I64, 1)))
        word = _load(builder, builder.inttoptr(start, _I64.as_pointer()), 2)
        shifted = [builder.lshr(word, ir.Constant(_I64, 16 * n)) for n in range(4)]
        return [builder.and_(number, ir.Constant(_I64, 0xFFFF)) for number in shifted]


def _pool(builder, total, responses, best):
    """`total` pooled with responses, lane by lane and one after the other."""
    if best:
        for response in responses:
            total = _larger(builder, total, response)
        return total
    responses = [_larger(builder, response, _constant(response.type, 0)) for response in responses]
    if _real(total.type):
        for response in responses:
            total = builder.fadd(total, response)
        return total
    together = responses[0]
    for response in responses[1:]:
        together = builder.add(together, response)
    return builder.add(total, together if together.type == total.type else builder.zext(together, total.type))


def _across(builder, vector, best):
    """All lanes of a vector pooled, in any order."""
    kind = vector.type.element
    if best and _real(kind):
        operation, name = "fmax", "f32"
    else:
        operation, name = "smax" if best else "add", f"i{kind.width}"
    reduce = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(kind, [vector.type]),
        f"llvm.vector.reduce.{operation}.v{vector.type.count}{name}",
    )
    return builder.call(reduce, [vector])


def _across_in_order(builder, total, vector):
    """`total` plus each lane of a vector of floats, one after the other."""
    kind = vector.type.element
    reduce = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(kind, [kind, vector.type]),
        f"llvm.vector.reduce.fadd.v{vector.type.count}f32",
    )
    return builder.call(reduce, [total, vector])


def _join(builder, total, pooled, best):
    return _larger(builder, total, pooled) if best else builder.add(total, pooled)


def _widened(builder, value, kind):
    return value if value.type == kind else builder.sext(value, kind)


def _larger(builder, a, b):
    compare = builder.fcmp_ordered if _real(a.type) else builder.icmp_signed
    return builder.select(compare(">", a, b), a, b)


def _neutral(kind, best):
    """What pooling begins with."""
    if not best:
        return _constant(kind, 0)
    element = getattr(kind, "element", kind)
    return _constant(kind, float("-inf") if _real(kind) else -(1 << (element.width - 1)))


def _constant(kind, value):
    if _real(kind):
        value = float(value)
    return ir.Constant(kind, [value] * kind.count if isinstance(kind, ir.VectorType) else value)


def _real(kind):
    return isinstance(getattr(kind, "element", kind), ir.FloatType)


def _shape(context, builder, array_type, array):
    return cgutils.unpack_tuple(builder, context.make_array(array_type)(context, builder, array).shape)


def _spread(builder, value, lanes):
    """A vector with the same value in each lane."""
    vector = ir.VectorType(value.type, lanes)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, _I32(0))
    mask = ir.Constant(ir.VectorType(_I32, lanes), [0] * lanes)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), mask)


best_of_block, best_of_one = _pooling(True)
sum_of_block, sum_of_one = _pooling(False)


@intrinsic
def copy_eight(typing, source, at, target, to):
    """`target[to : to + 8] = source[at : at + 8]`."""
    signature = types.void(source, types.int64, target, types.int64)

    def codegen(context, builder, sig, args):
        places = []
        for array_type, array, index in ((sig.args[0], *args[:2]), (sig.args[2], *args[2:])):
            data = context.make_array(array_type)(context, builder, array).data
            vector = ir.VectorType(context.get_data_type(array_type.dtype), 8)
            places.append(builder.bitcast(builder.gep(data, [index]), vector.as_pointer()))
        value = _load(builder, places[0], _itemsize(sig.args[0]))
        builder.store(value, places[1]).align = _itemsize(sig.args[2])
        return context.get_dummy_value()

    return signature, codegen
