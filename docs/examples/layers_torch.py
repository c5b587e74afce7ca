"""A model whose convolutions are Halo's, and one convolution by itself."""
# [doc:program]
import halo_convolve
import torch

model = torch.nn.Sequential(torch.nn.Conv2d(3, 64, 7, stride=2, padding=3), torch.nn.ReLU(),
                            torch.nn.Conv2d(64, 64, 3, padding=1)).cuda().eval()
halo_convolve.replace(model)  # its nn.Conv2d layers that the library takes
with torch.inference_mode():
    print(model(torch.randn(8, 3, 224, 224, device="cuda")).shape)

x = torch.randn(1, 64, 56, 56, device="cuda", requires_grad=True)
weight = torch.randn(64, 64, 3, 3, device="cuda")
y = halo_convolve.conv2d(x, weight, padding=1)  # as torch.nn.functional.conv2d
y.sum().backward()
# [/doc:program]
