"""Halo's convolutions as PyTorch operators, through libhalo-convolve's C interface: nothing is compiled.

    import halo_convolve
    y = halo_convolve.conv2d(x, weight, bias, stride=1, padding=1)     # as torch.nn.functional.conv2d
    model = halo_convolve.replace(model)                               # its nn.Conv2d layers that can be

float32 on a GPU, NCHW, contiguous; any groups and dilation, zeros beyond the edges. Works under torch.compile, in CUDA graphs
and on any stream; gradients are PyTorch's own. Needs PyTorch 2.4 or newer. The library is the one beside which this file is
installed, or HALO_CONVOLVE_LIBRARY."""
import ctypes
import functools
import os
import pathlib

import torch

__all__ = ["Conv2d", "conv2d", "replace"]


class _Layer(ctypes.Structure):
    """halo_convolve_layer of halo/convolve.h; size tells the library if it is another one's."""
    _fields_ = [("size", ctypes.c_size_t)] + [(name, ctypes.c_int) for name in (
        "images", "channels", "height", "width", "filters", "filter_height", "filter_width", "stride_h", "stride_w",
        "padding_h", "padding_w", "dilation_h", "dilation_w", "groups", "bias", "tensor_cores", "measure", "filters_change")]


@functools.cache
def _library():
    beside = pathlib.Path(__file__).resolve().parent.parent / "libhalo-convolve.so.0"
    path = os.environ.get("HALO_CONVOLVE_LIBRARY") or (str(beside) if beside.exists() else "libhalo-convolve.so.0")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"halo_convolve: {error}: set HALO_CONVOLVE_LIBRARY to libhalo-convolve.so.0, and "
                          "LD_LIBRARY_PATH to the folder of libcudart.so.13") from None
    pointer = ctypes.c_void_p
    library.halo_convolve_last_error.restype = ctypes.c_char_p
    library.halo_convolve_kernel.restype = ctypes.c_char_p
    for name in ("packed_bytes", "workspace_bytes"):
        getattr(library, f"halo_convolve_{name}").restype = ctypes.c_size_t
        getattr(library, f"halo_convolve_{name}").argtypes = [pointer]
    library.halo_convolve_kernel.argtypes = [pointer]
    library.halo_convolve_create.argtypes = [ctypes.POINTER(pointer), ctypes.POINTER(_Layer)]
    library.halo_convolve_pack.argtypes = [pointer] * 4
    library.halo_convolve_run.argtypes = [pointer] * 4 + [ctypes.c_int] + [pointer] * 3
    return library


def _need(status):
    if status != 0:
        raise RuntimeError(_library().halo_convolve_last_error().decode())


class _Plan:
    """A plan of the library's for one layer on one device. Kept for as long as the process lives."""

    def __init__(self, layer):
        self.pointer = ctypes.c_void_p()
        _need(_library().halo_convolve_create(ctypes.byref(self.pointer), ctypes.byref(layer)))
        self.packed = _library().halo_convolve_packed_bytes(self.pointer)
        self.workspace = _library().halo_convolve_workspace_bytes(self.pointer)
        self.kernel = _library().halo_convolve_kernel(self.pointer).decode()


@functools.lru_cache(maxsize=None)
def _plan(device, input_shape, weight_shape, stride, padding, dilation, groups, bias, tensor_cores, measure,
          filters_change):
    del device  # the present one: another has plans of its own
    return _Plan(_Layer(ctypes.sizeof(_Layer), *input_shape, weight_shape[0], *weight_shape[2:], *stride, *padding,
                        *dilation, groups, bias, tensor_cores, measure, filters_change))


def _plan_for(x, weight, bias, stride, padding, dilation, groups, tensor_cores, measure, filters_change):
    return _plan(x.device.index, tuple(x.shape), tuple(weight.shape), tuple(stride), tuple(padding), tuple(dilation), groups,
                 int(bias is not None), int(tensor_cores), int(measure), int(filters_change))


def _check(x, weight, bias, stride, padding, dilation, groups):
    """Of tensors on any device, meta too; the shape of the output."""
    for name, tensor, dimensions in (("input", x, 4), ("weight", weight, 4), ("bias", bias, 1)):
        if tensor is None:
            continue
        if tensor.dim() != dimensions:
            raise ValueError(f"halo_convolve: {name} has {tensor.dim()} dimensions, not {dimensions}")
        if tensor.dtype != torch.float32:
            raise TypeError(f"halo_convolve: {name} is {tensor.dtype}: only torch.float32 is taken, call .float()")
        if tensor.device != x.device:
            raise ValueError(f"halo_convolve: {name} is on {tensor.device} and input on {x.device}: move one of them")
        if not tensor.is_contiguous():
            raise ValueError(f"halo_convolve: {name} is not contiguous in NCHW: call .contiguous()")
    if weight.shape[1] * groups != x.shape[1] or weight.shape[0] % groups != 0:
        raise ValueError(f"halo_convolve: input has {x.shape[1]} channels and weight {weight.shape[0]} filters of "
                         f"{weight.shape[1]}: in {groups} groups the two can't be")
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise ValueError(f"halo_convolve: bias has {bias.shape[0]} numbers for {weight.shape[0]} filters")
    taps = [(weight.shape[2 + i] - 1) * dilation[i] + 1 for i in (0, 1)]
    for i, size in enumerate(("high", "wide")):
        if taps[i] > x.shape[2 + i] + 2 * padding[i]:
            raise ValueError(f"halo_convolve: weight is {taps[i]} {size}, larger than the padded input: pad more")
    return [x.shape[0], weight.shape[0]] + [(x.shape[2 + i] + 2 * padding[i] - taps[i]) // stride[i] + 1 for i in (0, 1)]


def _on_gpu(x):
    if x.device.type != "cuda":
        raise ValueError(f"halo_convolve: input is on {x.device}: move it to a GPU, by .cuda()")


def _aligned(tensor):
    """At a multiple of 256 bytes: a view may begin anywhere."""
    return tensor if tensor is None or tensor.data_ptr() % 256 == 0 else tensor.clone()


def _floats(like, size):
    return torch.empty(size // 4, dtype=torch.float32, device=like.device)


def _pack(plan, weight, packed, stream):
    weight = _aligned(weight)
    _need(_library().halo_convolve_pack(plan.pointer, weight.data_ptr(), packed.data_ptr(), stream.cuda_stream))
    return packed


def _run(plan, x, packed, bias, shape, stream):
    x = _aligned(x)
    output = torch.empty(shape, dtype=torch.float32, device=x.device)
    workspace = _floats(x, plan.workspace) if plan.workspace else None
    _need(_library().halo_convolve_run(plan.pointer, x.data_ptr(), packed.data_ptr(),
                                       None if bias is None else bias.data_ptr(), 0, output.data_ptr(),
                                       None if workspace is None else workspace.data_ptr(), stream.cuda_stream))
    return output


@torch.library.custom_op("halo::conv2d", mutates_args=(), device_types="cuda",
                         schema="(Tensor x, Tensor weight, Tensor? bias, int[2] stride, int[2] padding, int[2] dilation, "
                                "int groups, bool tensor_cores, bool measure) -> Tensor")
def _conv2d(x, weight, bias, stride, padding, dilation, groups, tensor_cores, measure):
    shape = _check(x, weight, bias, stride, padding, dilation, groups)
    with torch.cuda.device(x.device):
        plan = _plan_for(x, weight, bias, stride, padding, dilation, groups, tensor_cores, measure, True)
        stream = torch.cuda.current_stream()
        filters = _pack(plan, weight, _floats(x, plan.packed), stream) if plan.packed else _aligned(weight)
        return _run(plan, x, filters, bias, shape, stream)


@_conv2d.register_fake
def _(x, weight, bias, stride, padding, dilation, groups, tensor_cores, measure):
    return x.new_empty(_check(x, weight, bias, stride, padding, dilation, groups))


def _keep(ctx, inputs, output):
    x, weight, bias, ctx.stride, ctx.padding, ctx.dilation, ctx.groups, _, _ = inputs
    ctx.bias_sizes = None if bias is None else list(bias.shape)
    ctx.save_for_backward(x, weight)


def _backward(ctx, gradient):
    x, weight = ctx.saved_tensors
    wanted = list(ctx.needs_input_grad[:2]) + [ctx.bias_sizes is not None and ctx.needs_input_grad[2]]
    found = torch.ops.aten.convolution_backward(gradient, x, weight, ctx.bias_sizes, ctx.stride, ctx.padding, ctx.dilation,
                                                False, [0, 0], ctx.groups, wanted)
    return (*found, None, None, None, None, None, None)


_conv2d.register_autograd(_backward, setup_context=_keep)


def _pair(value):
    return [value, value] if isinstance(value, int) else list(value)


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, *, tensor_cores=False, measure=False):
    """As torch.nn.functional.conv2d. The filters are packed in each call, by the kernel that is fastest so: Conv2d packs them
    once.

    tensor_cores allows kernels that multiply in three products of TF32, with nearly float's accuracy; measure times the most
    promising kernels when a layer that is not known is first used (not while a CUDA graph is captured)."""
    if x.device.type not in ("cuda", "meta"):
        _on_gpu(x)
    return torch.ops.halo.conv2d(x, weight, bias, _pair(stride), _pair(padding), _pair(dilation), groups, tensor_cores,
                                 measure)


class _Packed:
    """A plan, and the filters as its kernel reads them. They stay where they are, so that CUDA graphs which read them see a
    new weight too."""

    def __init__(self, plan, shape, weight):
        self.plan, self.shape, self.filters = plan, shape, _floats(weight, plan.packed)
        self.weight, self.of, self.stream, self.event = None, None, None, torch.cuda.Event()

    def pack(self, x, layer, stream):
        weight = layer.weight
        of = (weight.data_ptr(), weight._version)
        if self.weight is not weight or self.of != of:
            _check(x, weight, layer.bias, layer.stride, layer.padding, layer.dilation, layer.groups)
            _pack(self.plan, weight, self.filters, stream)
            # In a capture nothing has been packed yet.
            if not torch.cuda.is_current_stream_capturing():
                self.weight, self.of, self.stream = weight, of, stream
                self.event.record(stream)
        elif stream != self.stream and not torch.cuda.is_current_stream_capturing():
            stream.wait_event(self.event)
            self.filters.record_stream(stream)
        return self.filters


class Conv2d(torch.nn.Conv2d):
    """As torch.nn.Conv2d. Without gradients the filters are packed once, and again when the weight has changed. What is
    changed through weight.data is not seen: .eval() packs anew."""

    def __init__(self, *args, tensor_cores=False, measure=False, **more):
        super().__init__(*args, **more)
        why = _unsuited(self)
        if why:
            raise ValueError(f"halo_convolve: {why}")
        _set(self, tensor_cores, measure)

    def train(self, mode=True):
        for packed in getattr(self, "_packed", {}).values():
            packed.weight = None
        return super().train(mode)

    def __getstate__(self):
        return {**self.__dict__, "_packed": {}}  # a copy packs its own

    def forward(self, input):
        # A weight that is made under inference_mode has no version to see a change by.
        if torch.is_grad_enabled() or torch.compiler.is_compiling() or self.weight.is_inference():
            return conv2d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups,
                          tensor_cores=self.tensor_cores, measure=self.measure)
        _on_gpu(input)
        with torch.cuda.device(input.device):
            key = (input.shape, input.device, self.weight.shape, self.bias is None)
            known = self._packed.get(key)
            if known is None or input.dtype != torch.float32 or not input.is_contiguous():
                of = (input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
                shape = _check(*of)
                plan = _plan_for(*of, self.tensor_cores, self.measure, False)
                known = self._packed[key] = _Packed(plan, shape, self.weight)
            stream = torch.cuda.current_stream()
            return _run(known.plan, input, known.pack(input, self, stream), self.bias, known.shape, stream)


def _set(layer, tensor_cores, measure):
    layer.tensor_cores, layer.measure, layer._packed = tensor_cores, measure, {}


def _unsuited(layer):
    """Why a nn.Conv2d is none that the library computes; empty: it is."""
    if layer.padding_mode != "zeros" or isinstance(layer.padding, str):
        return "padding must be numbers, of zeros"
    return "" if layer.weight.dtype == torch.float32 else "the weight must be torch.float32"


def replace(model, *, tensor_cores=False, measure=False):
    """Makes each nn.Conv2d of a model that is suited a Conv2d, with the same parameters; returns the model."""
    for module in model.modules():
        if type(module) is torch.nn.Conv2d and not _unsuited(module):
            module.__class__ = Conv2d
            _set(module, tensor_cores, measure)
    return model
