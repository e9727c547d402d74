"""A PyTorch module whose attention is a spec: python torch_module.py [--device cpu|cuda]

The program is compiled once. The module runs eagerly, under torch.compile and exported, for any batch, length and
window.
"""
import argparse

import torch

import lacuna
import lacuna.torch

SPEC = """
func.func @window_attention(%q: tensor<?x{heads}x?x{dim}x{type}>, %k: tensor<?x{kv}x?x{dim}x{type}>,
                            %v: tensor<?x{kv}x?x{dim}x{type}>, %left: index) -> tensor<?x{heads}x?x{dim}x{type}> {{
  %near = sparsity.window left(%left) right(0)
  %o = attn.attend %q, %k, %v over %near
    : tensor<?x{heads}x?x{dim}x{type}>, tensor<?x{kv}x?x{dim}x{type}>, tensor<?x{kv}x?x{dim}x{type}>
    -> tensor<?x{heads}x?x{dim}x{type}>
  return %o : tensor<?x{heads}x?x{dim}x{type}>
}}
"""


class WindowAttention(torch.nn.Module):
    """Causal attention over the last `left` tokens, with grouped key heads."""

    def __init__(self, width: int, heads: int, kv_heads: int, target: str) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.dim = heads, kv_heads, width // heads
        self.project = torch.nn.Linear(width, (heads + 2 * kv_heads) * self.dim)
        self.merge = torch.nn.Linear(width, width)
        element = "bf16" if target == "cuda" else "f32"
        text = SPEC.format(heads=heads, kv=kv_heads, dim=self.dim, type=element)
        self.attend = lacuna.torch.operator(lacuna.compile(text, target=target), "example::window_attention")

    def forward(self, x: torch.Tensor, left: int) -> torch.Tensor:
        batch, n, width = x.shape
        # Heads stay where the projection puts them: programs take strides, so nothing is copied.
        parts = self.project(x).view(batch, n, self.heads + 2 * self.kv_heads, self.dim).transpose(1, 2)
        q, k, v = parts.split([self.heads, self.kv_heads, self.kv_heads], dim=1)
        return self.merge(self.attend(q, k, v, left).transpose(1, 2).reshape(batch, n, width))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", choices=("cpu", "cuda"))
    device = options.parse_args().device
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    module = WindowAttention(256, 4, 2, device).to(device, dtype)
    compiled = torch.compile(module, dynamic=True, backend="inductor" if device == "cuda" else "aot_eager")
    with torch.no_grad():
        for batch, n, left in ((1, 64, 15), (2, 200, 63), (1, 333, 1000)):
            x = torch.randn(batch, n, 256, device=device, dtype=dtype)
            eager, traced = module(x, left), compiled(x, left)
            print(f"batch={batch} n={n} left={left}: largest difference {(eager - traced).abs().max().item():.2e}")


if __name__ == "__main__":
    main()
