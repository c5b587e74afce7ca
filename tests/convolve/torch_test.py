#!/usr/bin/env python3
"""halo_convolve.conv2d beside PyTorch's own: values, shapes, gradients, streams, CUDA graphs, and what is refused.

    torch_test.py --library build/stages/convolve/library/libhalo-convolve.so.0

77, and NOT RUN with the reason, where there is no PyTorch 2.4 or no GPU that it can use."""
import argparse
import copy
import os
import pathlib
import runpy
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

SHAPES = [  # images, channels, height, width, filters, taps, stride, padding
    (2, 5, 9, 7, 6, 3, 1, 1), (1, 64, 56, 56, 64, 3, 1, 1), (8, 128, 28, 28, 256, 1, 1, 0), (4, 3, 64, 64, 32, 7, 2, 3),
    (1, 1, 33, 31, 4, 5, 1, 2), (16, 256, 14, 14, 32, 3, 1, 1),
]


def made(shape, **more):
    n, c, h, w, k, r, _, _ = shape
    return (torch.randn(n, c, h, w, device="cuda", **more), torch.randn(k, c, r, r, device="cuda", **more),
            torch.randn(k, device="cuda", **more))


class Operator(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(2024)

    def near(self, found, x, weight, bias, *more):
        """Within what products and sums of float can be off by, transforms too. `more` from the stride on."""
        true = functional.conv2d(x.double(), weight.double(), None if bias is None else bias.double(), *more)
        scale = functional.conv2d(x.double().abs(), weight.double().abs(), None, *more)
        self.assertEqual(found.shape, true.shape)
        self.assertLess(float(((found - true).abs() / scale.max()).max()), 1e-5)

    def test_values_are_those_of_the_definition(self):
        for shape in SHAPES:
            for bias in (True, False):
                for tensor_cores in (False, True):
                    with self.subTest(shape=shape, bias=bias, tensor_cores=tensor_cores):
                        x, weight, b = made(shape)
                        b = b if bias else None
                        found = halo_convolve.conv2d(x, weight, b, shape[6], shape[7], tensor_cores=tensor_cores)
                        self.near(found, x, weight, b, shape[6], shape[7])

    def test_groups_and_dilation(self):
        for shape, dilation, groups in [((2, 6, 13, 11, 12, 3, 1, 1), 1, 6), ((1, 64, 28, 28, 64, 3, 2, 1), 1, 64),
                                        ((4, 32, 14, 14, 64, 3, 1, 2), 2, 4), ((2, 16, 20, 23, 8, 3, 1, 3), 3, 1)]:
            with self.subTest(shape=shape, dilation=dilation, groups=groups):
                x, _, bias = made(shape)
                weight = torch.randn(shape[4], shape[1] // groups, shape[5], shape[5], device="cuda")
                more = (shape[6], shape[7], dilation, groups)
                self.near(halo_convolve.conv2d(x, weight, bias, *more), x, weight, bias, *more)
                layer = halo_convolve.Conv2d(shape[1], shape[4], shape[5], *more).cuda().eval()
                with torch.no_grad():
                    self.near(layer(x), x, layer.weight, layer.bias, *more)
                    self.near(layer(x), x, layer.weight, layer.bias, *more)
                ours = [x.clone().requires_grad_(), weight.clone().requires_grad_()]
                theirs = [x.clone().requires_grad_(), weight.clone().requires_grad_()]
                halo_convolve.conv2d(*ours, None, *more).square().sum().backward()
                functional.conv2d(*theirs, None, *more).square().sum().backward()
                for one, other in zip(ours, theirs):
                    torch.testing.assert_close(one.grad, other.grad, rtol=1e-3, atol=1e-3 * float(other.grad.abs().max()))

    def test_a_view_that_begins_anywhere_is_taken(self):
        x, weight, bias = made((3, 5, 9, 7, 6, 3, 1, 1))
        self.assertNotEqual(x[1:].data_ptr() % 256, 0)
        self.near(halo_convolve.conv2d(x[1:], weight, bias, 1, 1), x[1:], weight, bias, 1, 1)

    def test_a_stream_of_ones_own(self):
        x, weight, bias = made(SHAPES[1])
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            found = halo_convolve.conv2d(x, weight, bias, 1, 1)
        torch.cuda.current_stream().wait_stream(stream)
        self.near(found, x, weight, bias, 1, 1)

    def test_a_cuda_graph_computes_what_is_in_its_input_and_weight(self):
        for shape in SHAPES:
            with self.subTest(shape=shape), torch.no_grad():
                x, weight, bias = made(shape)
                layer = halo_convolve.Conv2d(shape[1], shape[4], shape[5], shape[6], shape[7]).cuda().eval()
                layer.weight.copy_(weight)
                layer.bias.copy_(bias)
                layer(x)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    found = layer(x)
                x.copy_(torch.randn_like(x))
                graph.replay()
                self.near(found, x, weight, bias, shape[6], shape[7])
                layer.weight.mul_(2)
                layer(x)
                graph.replay()
                self.near(found, x, 2 * weight, bias, shape[6], shape[7])

    def test_a_module_sees_a_new_weight(self):
        layer = halo_convolve.Conv2d(8, 16, 3, padding=1).cuda().eval()
        x = torch.randn(2, 8, 12, 12, device="cuda")
        with torch.no_grad():
            for _ in range(2):
                self.near(layer(x), x, layer.weight, layer.bias, 1, 1)
                layer.weight.add_(1)
            layer.weight = torch.nn.Parameter(torch.randn_like(layer.weight))
            self.near(layer(x), x, layer.weight, layer.bias, 1, 1)
            layer.weight.data.mul_(3)
            self.near(layer.eval()(x), x, layer.weight, layer.bias, 1, 1)
            other = copy.deepcopy(layer)
            other.weight.add_(1)
            self.near(other(x), x, other.weight, layer.bias, 1, 1)
        with torch.inference_mode():
            self.near(layer(x), x, layer.weight, layer.bias, 1, 1)

    def test_a_model_is_replaced_where_it_can_be(self):
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(),
                                    torch.nn.Conv2d(8, 8, 3, groups=8, padding="same"), torch.nn.Conv2d(8, 4, 1)).cuda().eval()
        x = torch.randn(2, 3, 20, 20, device="cuda")
        with torch.no_grad():
            before = model(x)
            halo_convolve.replace(model)
            self.assertEqual([type(one) is halo_convolve.Conv2d for one in model], [True, False, False, True])
            torch.testing.assert_close(model(x), before, rtol=1e-3, atol=1e-3)

    def test_gradients_are_those_of_pytorch(self):
        for shape in SHAPES[:1] + SHAPES[3:5]:
            with self.subTest(shape=shape):
                ours, theirs = made(shape, requires_grad=True), []
                theirs = [one.detach().clone().requires_grad_() for one in ours]
                halo_convolve.conv2d(*ours, shape[6], shape[7]).square().sum().backward()
                functional.conv2d(*theirs, shape[6], shape[7]).square().sum().backward()
                for one, other in zip(ours, theirs):
                    torch.testing.assert_close(one.grad, other.grad, rtol=1e-3, atol=1e-3 * float(other.grad.abs().max()))

    def test_pytorch_s_own_checks_of_operators(self):
        x, weight, bias = made(SHAPES[0], requires_grad=True)
        torch.library.opcheck(torch.ops.halo.conv2d.default, (x, weight, bias, [1, 1], [1, 1], [1, 1], 1, False, False),
                              test_utils=("test_schema", "test_autograd_registration", "test_faketensor"))

    def test_the_program_of_the_page(self):
        runpy.run_path(str(ROOT / "docs" / "examples" / "layers_torch.py"))

    def test_shapes_without_a_gpu(self):
        x, weight = torch.empty(2, 3, 10, 11, device="meta"), torch.empty(4, 3, 3, 5, device="meta")
        self.assertEqual(tuple(halo_convolve.conv2d(x, weight, stride=(2, 1), padding=(1, 2)).shape), (2, 4, 5, 11))

    def test_what_is_not_taken_is_one_line(self):
        x, weight, bias = made(SHAPES[0])
        for words, call in [
                ("call .float", lambda: halo_convolve.conv2d(x.half(), weight)),
                ("call .contiguous", lambda: halo_convolve.conv2d(x.to(memory_format=torch.channels_last), weight)),
                ("in 1 groups the two can't be", lambda: halo_convolve.conv2d(x, weight[:, :1].contiguous())),
                ("larger than the padded input", lambda: halo_convolve.conv2d(x[:, :, :2].contiguous(), weight)),
                ("by .cuda", lambda: halo_convolve.conv2d(x.cpu(), weight.cpu())),
                ("padding must be numbers", lambda: halo_convolve.Conv2d(4, 4, 3, padding="same"))]:
            with self.subTest(words=words), self.assertRaisesRegex(Exception, words) as caught:
                call()
            self.assertEqual(str(caught.exception).strip().count("\n"), 0, str(caught.exception))


def not_run(reason):
    print(f"torch_test: NOT RUN: {reason}")
    sys.exit(77)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    try:
        import torch
        import torch.nn.functional as functional
    except ImportError:
        not_run("PyTorch is not installed")
    if not hasattr(torch.library, "custom_op"):
        not_run(f"PyTorch {torch.__version__} has no torch.library.custom_op: 2.4 or newer has it")
    if not torch.cuda.is_available():
        not_run("PyTorch sees no GPU")
    os.environ["HALO_CONVOLVE_LIBRARY"] = str(arguments.library.resolve())
    sys.path.insert(0, str(ROOT / "stages" / "convolve" / "library"))
    import halo_convolve
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    result = unittest.main(argv=[sys.argv[0], "-v", *rest], exit=False).result
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
