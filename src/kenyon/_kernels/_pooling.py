"""What a unit answers at several places of a sample, pooled: vector operations for the layer of windows.

A unit's response at a place is the sum of its excitatory inputs less its inhibitory ones. Both operations below add up
vectors that begin where the table `inputs` says, moved by an offset for each place. In `pool_block` the
lanes of a vector are samples, in `pool_one` they are neighbouring places of one sample.

Like those of `_vector.py` they are written as LLVM vectors, take NumPy arrays whose last axis is contiguous and check
nothing.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from kenyon._kernels import LANES
from kenyon._kernels._vector import _count_loop, _item, _itemsize, _load, _row

_I32, _I64 = ir.IntType(32), ir.IntType(64)

PLACES = 16
"""Places of a single sample that are looked at side by side."""

TOGETHER = 4
"""Offsets for which an input's number is looked up once. `TOGETHER` responses of 16 bits must add up to less than 2^16
where they are summed."""


def _pooling(best):
    """The two operations, for the best response or for the sum of the positive ones."""

    @intrinsic
    def pool_block(typing, x, inputs, unit, n_excitatory, offsets, out, row):
        """`out[row, :]`: the pooled response of a unit, a lane a sample.

        Args:
            x: (places, LANES), whole numbers of 16 or 32 bits or float32.
            inputs: (units, K), rows of `x`: the first `n_excitatory` are added in order, then the others subtracted.
            offsets: (groups, n) int64, in rows of `x`. A sum runs over the n of a group in order, then over the groups.
            out: (units, LANES), int32 or float32.
        """
        signature = types.void(x, inputs, types.int64, types.int64, offsets, out, types.int64)

        def codegen(context, builder, sig, args):
            x_type, inputs_type, _, _, offsets_type, out_type, _ = sig.args
            x_array, inputs_array, unit, n_excitatory, offsets_array, out_array, row = args
            size = ir.Constant(_I64, LANES * _itemsize(x_type))
            table = (inputs_type, inputs_array, unit, n_excitatory)
            unit_at = _Unit(context, builder, x_type, x_array, table, size, LANES)
            target, total_vector = _row(context, builder, out_type, out_array, row, LANES)
            n_groups, n_each = _shape(context, builder, offsets_type, offsets_array)

            def group(g, total):
                def start(i):
                    return builder.mul(_item(context, builder, offsets_type, offsets_array, g, i), size), None

                return _join(builder, total, unit_at.pooled(n_each, start, best, total_vector), best)

            total = _count_loop(builder, n_groups, _neutral(total_vector, best), group)
            builder.store(total, target).align = _itemsize(out_type)
            return context.get_dummy_value()

        return signature, codegen

    @intrinsic
    def pool_one(typing, x, stride, inputs, unit, n_excitatory, offsets, lanes, out):
        """The pooled response of a unit to one sample, a lane a place.

        Args:
            x: (items,), whole numbers of 16 or 32 bits or float32.
            stride: items of `x` from one number in `inputs` to the next.
            offsets: (groups, n) int64, in items of `x`: where PLACES places begin; order as in `pool_block`.
            lanes: (groups, n) int64, how many of those places there are.
            out: any array of the result's type, int32 or float32.
        """
        signature = out.dtype(x, types.int64, inputs, types.int64, types.int64, offsets, lanes, out)

        def codegen(context, builder, sig, args):
            x_type, _, inputs_type, _, _, offsets_type, lanes_type, out_type = sig.args
            x_array, stride, inputs_array, unit, n_excitatory, offsets_array, lanes_array, _ = args
            size = ir.Constant(_I64, _itemsize(x_type))
            table = (inputs_type, inputs_array, unit, n_excitatory)
            unit_at = _Unit(context, builder, x_type, x_array, table, builder.mul(stride, size), PLACES)
            scalar = context.get_data_type(out_type.dtype)
            total_vector = ir.VectorType(scalar, PLACES)
            n_groups, n_each = _shape(context, builder, offsets_type, offsets_array)

            def group(g, total):
                def start(i):
                    offset = builder.mul(_item(context, builder, offsets_type, offsets_array, g, i), size)
                    count = builder.trunc(_item(context, builder, lanes_type, lanes_array, g, i), _I32)
                    numbers = ir.Constant(ir.VectorType(_I32, PLACES), list(range(PLACES)))
                    return offset, builder.icmp_signed("<", numbers, _spread(builder, count, PLACES))

                return _across(builder, total, unit_at.pooled(n_each, start, best, total_vector), best)

            return _count_loop(builder, n_groups, _neutral(scalar, best), group)

        return signature, codegen

    return pool_block, pool_one


class _Unit:
    """One unit and the samples it looks at, while code for it is generated."""

    def __init__(self, context, builder, x_type, x_array, table, stride, lanes):
        inputs_type, inputs_array, _, _ = table
        self.context, self.builder, self.table, self.stride = context, builder, table, stride
        self.start = builder.ptrtoint(context.make_array(x_type)(context, builder, x_array).data, _I64)
        self.vector = ir.VectorType(context.get_data_type(x_type.dtype), lanes)
        self.itemsize = _itemsize(x_type)
        self.n_connections = _shape(context, builder, inputs_type, inputs_array)[1]

    def responses(self, offsets):
        """The responses at several offsets, in bytes: one vector each."""
        builder, (inputs_type, inputs_array, unit, n_excitatory) = self.builder, self.table
        starts = [builder.add(self.start, offset) for offset in offsets]
        add, subtract = (builder.fadd, builder.fsub) if _real(self.vector) else (builder.add, builder.sub)

        def run(first, last, totals, join):
            def body(i, totals):
                k = _item(self.context, builder, inputs_type, inputs_array, unit, builder.add(first, i))
                at = builder.mul(builder.zext(k, _I64), self.stride)
                for number, start in enumerate(starts):
                    pointer = builder.inttoptr(builder.add(start, at), self.vector.as_pointer())
                    value = _load(builder, pointer, self.itemsize)
                    totals = builder.insert_value(totals, join(builder.extract_value(totals, number), value), number)
                return totals

            return _count_loop(builder, builder.sub(last, first), totals, body)

        zeros = ir.Constant.literal_struct([_constant(self.vector, 0)] * len(starts))
        totals = run(ir.Constant(_I64, 0), n_excitatory, zeros, add)
        totals = run(n_excitatory, self.n_connections, totals, subtract)
        return [builder.extract_value(totals, number) for number in range(len(starts))]

    def pooled(self, count, start, best, total_vector):
        """The responses at offsets 0 .. count - 1, pooled lane by lane; `start(i)` gives (bytes, lanes that count)."""
        builder, together = self.builder, ir.Constant(_I64, TOGETHER)

        def several(number):
            def body(i, total):
                first = builder.mul(i, ir.Constant(_I64, number)) if number > 1 else builder.add(i, whole)
                places = [start(builder.add(first, ir.Constant(_I64, n))) for n in range(number)]
                responses = self.responses([offset for offset, _ in places])
                return self._add(total, responses, [mask for _, mask in places], best, total_vector)

            return body

        n_together = builder.udiv(count, together)
        whole = builder.mul(n_together, together)
        neutral = _neutral(self.vector if best else total_vector, best)
        total = _count_loop(builder, n_together, neutral, several(TOGETHER))
        total = _count_loop(builder, builder.sub(count, whole), total, several(1))
        return total if total.type == total_vector else builder.sext(total, total_vector)

    def _add(self, total, responses, masks, best, total_vector):
        builder = self.builder
        neutral = _neutral(self.vector, best)
        if not best:
            responses = [_larger(builder, response, neutral) for response in responses]
        responses = [
            response if mask is None else builder.select(mask, response, neutral)
            for response, mask in zip(responses, masks, strict=True)
        ]
        if best:
            for response in responses:
                total = _larger(builder, total, response)
            return total
        if _real(self.vector):
            for response in responses:
                total = builder.fadd(total, response)
            return total
        together = responses[0]
        for response in responses[1:]:
            together = builder.add(together, response)
        return builder.add(total, together if self.vector == total_vector else builder.zext(together, total_vector))


def _across(builder, total, vector, best):
    """`total` pooled with every lane of a vector, lane by lane in order."""
    kind = vector.type.element
    name = "f32" if _real(kind) else f"i{kind.width}"
    operation = ("fmax" if _real(kind) else "smax") if best else ("fadd" if _real(kind) else "add")
    ordered = operation == "fadd"
    signature = ir.FunctionType(kind, [kind, vector.type] if ordered else [vector.type])
    reduce = cgutils.get_or_insert_function(
        builder.module, signature, f"llvm.vector.reduce.{operation}.v{vector.type.count}{name}"
    )
    if ordered:
        return builder.call(reduce, [total, vector])
    return _join(builder, total, builder.call(reduce, [vector]), best)


def _join(builder, total, pooled, best):
    if best:
        return _larger(builder, total, pooled)
    return builder.fadd(total, pooled) if _real(total.type) else builder.add(total, pooled)


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
